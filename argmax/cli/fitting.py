"""From rows to a fitted classifier: C chosen if it is not given, then a fit on all rows to learn from."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from .. import losses
from ..engines import Engine
from ..errors import InvalidInput, MissingExtra, NotConverged
from ..estimators import LinearClassifier
from .console import Console, Stage
from .journal import Journal
from .rows import Rows
from .selection import EPOCHS, GRID, LOOSE, STEPS, Choice, chosen, take

__all__ = ["Fitted", "cluster", "fit", "follower"]

EASY = 10.0
"""C up to which a fit may start anywhere. Beyond, sparse rows are all but separable: weights of other rows
are a bad start, and a path of fits from C = 1 on gets there in half the time."""


WITHOUT_C = ("perceptron", "perceptron_sum")
"""Losses whose steps nothing limits, so that there is no C to choose."""


@final
@dataclass(frozen=True, slots=True)
class Fitted:
    """The classifier, what was tried for C (None: it was given), and seconds by stage."""

    classifier: LinearClassifier
    choice: Choice | None
    seconds: dict[str, float]


def fit(
    rows: Rows,
    C: float | None,
    parameters: dict[str, Any],
    journal: Journal,
    limit: float | None,
    console: Console,
) -> Fitted:
    """Fit on all rows. ``limit`` is in seconds, for everything together."""
    began, taken = time.monotonic(), {}
    # This solver never visits single rows, so it gives the same bits wherever the rows are: the memory limit
    # and the cluster change the time that a fit takes, and not the model.
    loss = losses.get(parameters["loss"])
    solver = "newton_cg" if rows.sparse and loss.smooth and not loss.online else "auto"
    passes: dict[str, Any] = {"max_iter": EPOCHS} if loss.online else {}
    classifier, choice = LinearClassifier(solver=solver, **passes, **parameters), None
    if C is None and loss.name in WITHOUT_C:
        C = 1.0
    if C is None:
        with console.stage("Choosing C") as stage:
            grid = STEPS if loss.online else GRID
            trial, tell = copy.copy(classifier), follower(stage)
            choice = chosen(rows, trial, journal, limit, stage, tell, grid)
            stage.done = f"Chose C = {choice.C:g} of {len(choice.trials)} tried"
        C, taken["choose C"] = choice.C, stage.seconds
    with console.stage("Fitting") as stage:
        hard = rows.sparse and C > EASY and solver == "newton_cg"
        steps = [step for step in GRID if 1.0 <= step < C] if hard else []
        if not loss.online:  # which would go on learning from the weights of another fit
            _start(classifier, journal, None if steps or choice is None else choice.start)
        for step in [*steps[len(journal.steps) :], C]:
            left = None if limit is None else max(0.0, limit - (time.monotonic() - began))
            tol = parameters["tol"] if step == C else max(parameters["tol"], LOOSE)
            told = follower(stage)(f"C = {step:g}")
            classifier.set_params(C=step, tol=tol, time_limit=left)
            _fit(classifier, rows, [*journal.keeper(), told])
            if step != C:
                journal.climbed(step, copy.copy(classifier))
        stage.done = f"Fitted {rows.count:,} rows"
    taken["fit"] = stage.seconds
    classifier.set_params(callbacks=None, engine=None, warm_start=False, time_limit=None)
    return Fitted(classifier, choice, taken)


def _start(classifier: Any, journal: Journal, trial: Any) -> None:
    """Where a run left off, or the weights of a trial, or none."""
    known = journal.models["last"] if journal.steps else trial
    if known is not None:
        take(classifier, known)


def _fit(classifier: Any, rows: Rows, callbacks: list[Any]) -> None:
    classifier.set_params(callbacks=callbacks, warm_start=hasattr(classifier, "solution_"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # the exit code says so
        classifier.fit(*rows.whole())


def follower(stage: Stage) -> Callable[[str], Callable[[Any], None]]:
    """Makes callbacks that tell a stage how far a fit is."""

    def follow(what: str) -> Callable[[Any], None]:
        def tell(progress: Any) -> None:
            stage.update(
                f"{what}, pass {progress.passes}, objective {progress.objective:.6g}, "
                f"certificate {progress.relative_gap:.0e}"
            )

        return tell

    return follow


@contextmanager
def cluster(address: str | None) -> Iterator[Engine | None]:
    """The engine of a Dask cluster at this address, or None for this machine."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra('--cluster needs Dask: pip install "argmax[dask]".') from error
    from ..engines import Dask

    try:
        client: Any = Client(address, timeout="20s", set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise InvalidInput(
            f"--cluster: no scheduler answers at {address!r} ({error}). Start one with `dask scheduler`."
        ) from error
    try:
        yield Dask(client)
    finally:
        client.close()
