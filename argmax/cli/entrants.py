"""What ``argmax compare`` compares: losses of one model for all classes, and reductions to two classes.

In the order in which they are tried: what is quick comes first, so that a time limit leaves out what is slow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, final

from .. import losses
from ..errors import InvalidInput
from ..estimators import LinearClassifier
from ..reductions import OneVsOne, OneVsRest, OutputCode
from .selection import EPOCHS, STEPS

__all__ = ["ENTRANTS", "REDUCTIONS", "Entrant", "Terms", "admitted", "named"]

PATH = (0.01, 0.1, 1.0, 10.0, 100.0)
"""C that are tried, from strong to weak penalty."""

PASSES = 1000
"""Passes of a fit at most: what is slower by far is no choice for these rows."""

PAIRED = 2**22
"""Weights of all pairs of classes, up to which one-vs-one is tried: 32 MiB, and some seconds."""


@final
@dataclass(frozen=True, slots=True)
class Terms:
    """How a fit is to be done: C, tol, seconds that it may take, who is told of its passes, and the seed.

    ``watch`` is a plain function, called after every pass of a fit that reports them.
    """

    C: float
    tol: float
    seconds: float | None
    watch: Callable[[Any], bool]
    seed: int


@final
@dataclass(frozen=True, slots=True)
class Entrant:
    """A way to learn: what to call it, what it is, how to make its estimator, and how to write that.

    ``probable`` says whether it has probabilities of its own; ``Cs`` are tried, and one alone is no choice;
    ``warm`` says whether a fit may start at the weights of the C before.
    """

    name: str
    what: str
    make: Callable[[Terms], Any]
    python: str
    probable: bool
    Cs: tuple[float, ...] = PATH
    warm: bool = False


def _loss(name: str, what: str, Cs: tuple[float, ...] = PATH) -> Entrant:
    found = losses.get(name)
    passes = EPOCHS if found.online else PASSES

    def make(terms: Terms) -> Any:
        return LinearClassifier(
            loss=name, C=terms.C, tol=terms.tol, max_iter=passes, time_limit=terms.seconds,
            callbacks=[terms.watch], random_state=terms.seed,
        )  # fmt: skip

    epochs = f", max_iter={EPOCHS}" if found.online else ""
    python = f"LinearClassifier(loss={name!r}, C={{C:g}}{epochs})"
    return Entrant(name, what, make, python, found.probabilities, Cs, not found.online)


def _base(terms: Terms) -> LinearClassifier:
    """A logistic regression for two classes. Without callbacks, many of them are solved together."""
    return LinearClassifier(
        C=terms.C, tol=terms.tol, max_iter=PASSES, time_limit=terms.seconds, random_state=terms.seed
    )


def _one_vs_rest(terms: Terms) -> Any:
    return OneVsRest(_base(terms))


def _one_vs_one(terms: Terms) -> Any:
    return OneVsOne(_base(terms), decision="probability")  # answers and log-loss of the same rule


def _output_code(terms: Terms) -> Any:
    return OutputCode(_base(terms))


ENTRANTS = (
    _loss("log", "multinomial logistic regression"),
    _loss("squared", "least squares on codes ±1"),
    _loss("perceptron", f"averaged perceptron, {EPOCHS} epochs", (1.0,)),
    _loss("pa1", f"averaged passive-aggressive steps, {EPOCHS} epochs", STEPS),
    Entrant(
        "one_vs_rest",
        "a logistic regression for each class: the model of ovr_log",
        _one_vs_rest,
        "OneVsRest(LinearClassifier(C={C:g}))",
        True,
    ),
    _loss("squared_hinge", "a squared hinge for each class"),
    _loss("softmax_margin", "logistic regression with a margin"),
    _loss("ovr_log", "a logistic loss for each class"),
    # It answers with the nearest word; how near is a score, and becomes a probability as a margin does.
    Entrant(
        "output_code",
        "logistic regressions, bits of a random code",
        _output_code,
        "OutputCode(LinearClassifier(C={C:g}))",
        False,
    ),
    _loss("hinge", "SVM of Crammer and Singer"),
    _loss("weston_watkins", "SVM of Weston and Watkins"),
    Entrant(
        "one_vs_one",
        "logistic regressions, each pair of classes",
        _one_vs_one,
        "OneVsOne(LinearClassifier(C={C:g}), decision='probability')",
        True,
    ),
)
REDUCTIONS = ("one_vs_rest", "one_vs_one", "output_code")
"""What ``argmax train --loss`` has no name for."""


def named(typed: Sequence[str]) -> list[str]:
    """``--methods log,hinge --methods pa1`` as names of entrants; none means all.

    >>> from argmax.cli.entrants import named
    >>> named(["log, hinge", "pa1"])
    ['log', 'hinge', 'pa1']
    """
    known = [entrant.name for entrant in ENTRANTS]
    found = [name.strip() for names in typed for name in names.split(",")]
    for name in found:
        if name not in known:
            raise InvalidInput(f"--methods must be of {', '.join(known)}; got {name!r}.")
    return found


def admitted(
    wanted: Sequence[str], classes: int, features: int
) -> tuple[list[Entrant], dict[str, str]]:
    """Those to try, and why others are left out. What is ``wanted`` by name is tried however large it is.

    >>> from argmax.cli.entrants import admitted
    >>> tried, left_out = admitted([], classes=2, features=10)
    >>> len(tried), sorted(left_out)
    (9, ['one_vs_one', 'one_vs_rest', 'output_code'])
    """
    chosen = [entrant for entrant in ENTRANTS if not wanted or entrant.name in wanted]
    reasons = {e.name: _obstacle(e.name, wanted, classes, features) for e in chosen}
    left_out = {name: reason for name, reason in reasons.items() if reason}
    tried = [entrant for entrant in chosen if entrant.name not in left_out]
    if not tried:
        raise InvalidInput(f"--methods leaves nothing to compare: {'; '.join(left_out.values())}.")
    return tried, left_out


def _obstacle(name: str, wanted: Collection[str], classes: int, features: int) -> str:
    if name in REDUCTIONS and classes == 2:
        return "two classes are one problem, which log solves"
    pairs = classes * (classes - 1) // 2
    if name == "one_vs_one" and name not in wanted and pairs * features > PAIRED:
        return f"{pairs:,} pairs of classes with {features:,} weights each; name it in --methods to try it"
    return ""
