"""The bound to quote: mistakes on rows that had no part in the fit are a binomial count.

    P(Binomial(n, p) ≤ m) ≥ δ    the largest such p is the bound

Reference: Clopper and Pearson, The use of confidence or fiducial limits, Biometrika 26 (1934); Langford,
Tutorial on practical prediction theory for classification, JMLR 6 (2005).
"""

from __future__ import annotations

from typing import Any

from scipy.special import betaincinv

from .promise import Assumption, Bound, counted, level, sampled

__all__ = ["test_set", "upper_limit"]

UNSEEN = "the model was chosen without these rows"


def test_set(
    mistakes: Any,
    n: Any,
    *,
    delta: float = 0.05,  # noqa: PT028, this is not a test
    unseen: bool | None = None,  # noqa: PT028
) -> Bound:
    """At most this share of mistakes, given ``mistakes`` on n rows that the model has not seen.

    Exact: nothing is approximated, and no other bound from these two numbers is smaller. ``unseen`` says
    whether the model was really chosen without these rows.

    >>> from argmax import bounds
    >>> round(bounds.test_set(5, 171).value, 4)
    0.0605
    >>> round(bounds.test_set(0, 100).value, 3)  # the rule of three: about 3 / n
    0.03
    """
    mistakes, n = counted(mistakes, n)
    delta = level(delta)
    value = upper_limit(mistakes, n, delta)
    return Bound(
        "test set",
        value,
        {"held-out mistakes": mistakes / n, "uncertainty": value - mistakes / n},
        sampled(Assumption(UNSEEN, unseen), fixed_features=False),
        delta,
        "Clopper and Pearson 1934",
        {"mistakes": mistakes, "rows": n},
    )


def upper_limit(mistakes: float, n: int, delta: float) -> float:
    """The largest p with P(Binomial(n, p) ≤ mistakes) ≥ δ: a quantile of Beta(mistakes + 1, n − mistakes)."""
    return 1.0 if mistakes >= n else float(betaincinv(mistakes + 1, n - mistakes, 1.0 - delta))


test_set.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name starts with
