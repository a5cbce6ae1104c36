"""From tagged sequences to a fitted tagger: C chosen if it is not given, then a fit on all of them.

Each C is judged by what people will judge the tagger by: F1 of spans where labels mark spans, else the share
of tokens that are right, on sequences that the trial did not learn from.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from ... import losses, metrics
from ...errors import InvalidInput, NotConverged
from ...estimators import SequenceTagger
from ...features import Tokens
from ..console import Console, Stage
from ..journal import Journal
from .parts import held_out, without
from .survey import scheme_of

__all__ = ["Choice", "Fitted", "fit", "fit_on"]

GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

LOOSE = 1e-2
"""``tol`` of a trial: enough to compare, and quick."""

SHARE = 0.2
"""Of the sequences, those that trials are judged on."""

FEWEST = 3
"""Sequences to judge by, below which C is 1."""

TIME = 0.6
"""Of a time limit, what trials may take."""

MEASURES: dict[bool, tuple[str, Callable[..., float]]] = {
    True: ("F1 of spans", metrics.span_f1),
    False: ("accuracy of tokens", metrics.token_accuracy),
}


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """What was tried, by which measure, and what is best."""

    C: float
    measure: str
    trials: list[tuple[float, float]]


@final
@dataclass(frozen=True, slots=True)
class Fitted:
    """The tagger, what was tried for C (None: nothing to choose), and seconds by stage."""

    tagger: SequenceTagger
    choice: Choice | None
    seconds: dict[str, float]


def fit(
    tokens: Tokens,
    label: str,
    tagger: SequenceTagger,
    C: float | None,
    seed: int,
    limit: float | None,
    journal: Journal,
    console: Console,
) -> Fitted:
    """Fit on all sequences. ``limit`` is in seconds, for everything together."""
    began, taken = time.monotonic(), {}
    choice = None
    held = held_out(len(tokens), SHARE, seed + 1)
    # The perceptron has no C, and few sequences give nothing to choose it by.
    if C is None and losses.get(tagger.loss).name != "perceptron" and held.sum() >= FEWEST:
        with console.stage("Choosing C") as stage:
            parts = tokens.take(~held), tokens.take(held)
            choice = _chosen(*parts, label, tagger, limit, journal, stage)
            stage.done = f"Chose C = {choice.C:g} of {len(choice.trials)} tried"
        taken["choose C"] = stage.seconds
    final = copy.copy(tagger)
    with console.stage("Fitting") as stage:
        left = None if limit is None else max(0.0, limit - (time.monotonic() - began))
        callbacks = [*journal.keeper(), _follower(stage, "")]
        final.set_params(C=_value(C, choice), time_limit=left, callbacks=callbacks)
        fit_on(final, tokens, label)
        stage.done = f"Fitted {len(tokens):,} sequences"
    taken["fit"] = stage.seconds
    final.set_params(callbacks=None, engine=None, time_limit=None)
    return Fitted(final, choice, taken)


def _value(C: float | None, choice: Choice | None) -> float:
    return C if C is not None else 1.0 if choice is None else choice.C


def _chosen(
    learn: Tokens,
    judge: Tokens,
    label: str,
    tagger: Any,
    limit: float | None,
    journal: Journal,
    stage: Stage,
) -> Choice:
    """The C of the best score; of equals the smaller one. The journal knows trials of an earlier run."""
    began, truth = time.monotonic(), judge.sequences(label)
    name, measure = MEASURES[scheme_of(str(v) for labels in truth for v in labels) is not None]
    model, trials = copy.copy(tagger), journal.trials
    for C in GRID[len(trials) :]:
        left = None if limit is None else TIME * limit - (time.monotonic() - began)
        if trials and ((left is not None and left <= 0) or _is_over(trials)):
            break
        stage.update(f"C = {C:g}")
        callbacks = [*journal.keeper(), _follower(stage, f"C = {C:g}, ")]
        model.set_params(C=C, tol=LOOSE, time_limit=left, callbacks=callbacks)
        fit_on(model, learn, label)
        journal.scored(C, measure(truth, model.predict(without(judge, label))))
    best = max(trials, key=lambda trial: trial[1])[0]
    return Choice(best, name, list(trials))


def _is_over(trials: list[tuple[float, float]]) -> bool:
    """Whether two in a row are worse than the best.

    >>> from argmax.cli.sequences.fitting import _is_over
    >>> [_is_over(list(enumerate(s))) for s in ([0.8, 0.9], [0.9, 0.8], [0.9, 0.8, 0.85])]
    [False, False, True]
    """
    scores = [score for _, score in trials]
    return len(scores) > 2 and max(scores[-2:]) < max(scores)


def fit_on(tagger: Any, tokens: Tokens, label: str) -> None:
    """Fit on tokens, of which one column holds the labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # the exit code says so
        try:
            tagger.fit(without(tokens, label), tokens.column(label))
        except InvalidInput as error:
            if "at least two different labels" not in str(error):
                raise
            raise InvalidInput(
                f"the sequences to learn from have too few different labels in {label!r}: {error}"
            ) from error


def _follower(stage: Stage, what: str) -> Callable[[Any], None]:
    """A callback that tells a stage how far a fit is."""

    def tell(progress: Any) -> None:
        stage.update(f"{what}pass {progress.passes}, objective {progress.objective:.6g}")

    return tell
