"""All bounds for one fitted linear model, from training rows and, better, from rows held out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from ..errors import InvalidInput
from .gaussian import pac_bayes
from .held_out import test_set
from .linear import Linear, View
from .margins import BEFOREHAND, WITHIN, fat_shattering, margin
from .mistakes import Mistakes, perceptron
from .promise import FIXED_FEATURES, INDEPENDENT, Assumption, Bound
from .uniform import finite, growth_complexity, rademacher, vc

__all__ = ["Report", "report"]

BITS = 64
"""Of a weight: what makes the linear classifiers on a computer a finite class."""


@final
@dataclass(frozen=True, slots=True)
class Report:
    """What is promised for one model: ``bounds`` from the most to the least telling kind, and mistakes.

    >>> from argmax import bounds
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = LogisticRegression(C=0.01).fit(X[:400], y[:400])
    >>> found = bounds.report(model, X[:400], y[:400], test=(X[400:], y[400:]))
    >>> print(found["test set"])
    test set: 0.046, a promise
      held-out mistakes 0.018 + uncertainty 0.027
      ? the rows were drawn independently from the distribution that the promise is about
      ? the model was chosen without these rows
    >>> [bound.name for bound in found if not bound.vacuous and bound.defined]
    ['test set', 'PAC-Bayes', 'Rademacher']
    """

    bounds: tuple[Bound, ...]
    mistakes: Mistakes

    def __iter__(self) -> Iterator[Bound]:
        return iter(self.bounds)

    def __len__(self) -> int:
        return len(self.bounds)

    def __getitem__(self, name: str) -> Bound:
        for bound in self.bounds:
            if bound.name == name:
                return bound
        listed = ", ".join(repr(bound.name) for bound in self.bounds)
        raise InvalidInput(f"there is no bound {name!r} in this report. It has {listed}.")

    @property
    def best(self) -> Bound | None:
        """The one to quote: the first that says something and has no assumption crossed; None if none does.

        The order is fixed, rows held out before all arguments about classes. To pick the smallest of m
        after looking at all of them, ask for δ/m.
        """
        return next((bound for bound in self.bounds if bound.verdict == "a promise"), None)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.bounds), str(self.mistakes)])


def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    test: tuple[Any, Any] | None = None,
    delta: float = 0.05,
    radius: float | None = None,
    rho: float | None = None,
    fixed_features: bool | None = None,
    independent: bool | None = None,
    unseen: bool | None = None,
    passes: int = 20,
) -> Report:
    """Every bound for a fitted linear classifier (``coef_``, ``intercept_``, ``classes_``) on training rows.

    ``test`` are rows that it was not fitted on, which give the bound to quote. What you know and the data
    cannot tell ticks or crosses assumptions: ``radius`` (no row is ever longer; None: the longest here is
    taken), ``rho`` (a margin fixed beforehand, of weights of length 1), ``fixed_features``, ``independent``,
    ``unseen``. ``passes`` is how long a perceptron may run beside its bound.

    >>> from argmax import SoftmaxRegression, bounds
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxRegression().fit(X[::2], y[::2])
    >>> found = bounds.report(model, X[::2], y[::2], test=(X[1::2], y[1::2]), unseen=True)
    >>> found.best.name, found.best.shown, found["VC dimension"].verdict
    ('test set', '0.101', 'vacuous')
    """
    linear = Linear.fitted(model)
    bias = 1.0 if linear.intercept.any() else 0.0
    view = linear.view(X, y, bias)
    longest = view.radius if radius is None else math.hypot(radius, bias)
    known = (
        Assumption(INDEPENDENT, independent),
        Assumption(FIXED_FEATURES, fixed_features),
        Assumption(WITHIN, None if radius is None else longest >= view.radius),
    )
    found = [] if test is None else [_held_out(linear, test, delta, unseen)]
    found += _from_training(linear, view, longest, rho, delta)
    return Report(
        tuple(_informed(bound, known) for bound in found),
        perceptron(X, y, coef=linear.coef, intercept=linear.intercept, classes=linear.classes,
                   bias=bias, passes=passes),
    )  # fmt: skip


def _held_out(linear: Linear, test: tuple[Any, Any], delta: float, unseen: bool | None) -> Bound:
    X, y = test
    return test_set(linear.wrong(X, y), len(y), delta=delta, unseen=unseen)


def _from_training(
    linear: Linear, view: View, radius: float, rho: float | None, delta: float
) -> list[Bound]:
    n, k, p, wrong = len(view.codes), linear.k, linear.dimension, view.mistakes
    in_advance = Assumption(BEFOREHAND, True)
    in_bits = Assumption(f"a weight is a number of {BITS} bits", True)
    fixed = [] if rho is None else [margin(view.margins, radius, rho=rho, classes=k, delta=delta)]
    return [
        pac_bayes(*view.normalised, delta=delta),
        rademacher(wrong / n, n, growth_complexity(n, p, k), delta=delta),
        *(bound.given(in_advance) for bound in fixed),
        margin(view.margins, radius, classes=k, delta=delta),
        fat_shattering(view.margins, radius, classes=k, delta=delta),
        vc(wrong, n, p, classes=k, delta=delta),
        finite(wrong, n, BITS * linear.numbers * math.log(2), delta=delta).given(in_bits),
    ]


def _informed(bound: Bound, known: tuple[Assumption, ...]) -> Bound:
    """The bound, with those of its assumptions marked about which something is known."""
    own = {assumption.text for assumption in bound.assumptions}
    return bound.given(*(assumption for assumption in known if assumption.text in own))
