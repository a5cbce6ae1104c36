"""How many rows: the smallest n at which what a bound adds to the observed mistakes is at most ε.

test         √[log(1/δ) / 2n]                         rows to judge by, whatever the mistakes
             the exact bound less ``error``           fewer, where mistakes are expected to be rare
finite       √[(log |H| + log(2/δ)) / 2n]             rows to learn from
vc           √[8 (log Π(2n) + log(4/δ)) / n]
rademacher   √[2 log Π(n) / n] + √[log(1/δ) / 2n]
margin       c R / (ρ√n) + √[log(1/δ) / 2n]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import checks
from ..errors import InvalidInput
from .held_out import upper_limit
from .margins import margin
from .promise import level
from .uniform import finite, growth_complexity, rademacher, vc

__all__ = ["sample_size"]

NEEDS = {
    "test": (),
    "finite": ("log_size",),
    "vc": ("dimension",),
    "rademacher": ("dimension",),
    "margin": ("radius", "rho"),
}
MAY_HAVE = {
    "test": ("error",),
    "vc": ("classes",),
    "rademacher": ("classes",),
    "margin": ("classes",),
}
MOST = 2**60


def sample_size(
    kind: str,
    epsilon: float,
    *,
    delta: float = 0.05,
    error: float | None = None,
    log_size: float | None = None,
    dimension: int | None = None,
    classes: int | None = None,
    radius: float | None = None,
    rho: float | None = None,
) -> int:
    """How many rows for a gap of at most ε with probability at least 1 − δ.

    ``kind`` and what it needs to know: "test" (if you like ``error``, the share of mistakes expected, which
    makes it exact), "finite" (``log_size``), "vc" and "rademacher" (``dimension``, ``classes``), "margin"
    (``radius``, ``rho``, ``classes``). The gap is what the bound adds to the mistakes that are observed.

    >>> from argmax import bounds
    >>> bounds.sample_size("test", 0.02), bounds.sample_size("test", 0.02, error=0.05)
    (3745, 464)
    >>> (
    ...     bounds.sample_size("vc", 0.1, dimension=31),
    ...     bounds.sample_size("rademacher", 0.1, dimension=31),
    ... )
    (270536, 58780)
    >>> bounds.sample_size("margin", 0.1, radius=1.0, rho=0.2)  # whatever the number of features
    12598
    """
    epsilon = checks.number("epsilon", epsilon, 0.0, 1.0, open_low=True)
    checks.choice("kind", kind, tuple(NEEDS))
    delta = level(delta)
    given = {
        "error": error, "log_size": log_size, "dimension": dimension, "classes": classes,
        "radius": radius, "rho": rho,
    }  # fmt: skip
    known = _complete(kind, {name: value for name, value in given.items() if value is not None})
    if kind == "test" and error is None:
        return math.ceil(math.log(1 / delta) / (2 * epsilon**2))
    return _smallest(_gap(kind, delta, known), epsilon)


def _complete(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """What was given, if it is all that this kind needs and nothing that it would ignore."""
    known = NEEDS[kind] + MAY_HAVE.get(kind, ())
    if absent := [name for name in NEEDS[kind] if name not in given]:
        raise InvalidInput(f"kind {kind!r} needs {' and '.join(absent)}.")
    if other := [name for name in given if name not in known]:
        listed = ", ".join(known) or "nothing"
        raise InvalidInput(f"kind {kind!r} would ignore {other[0]}. It takes {listed}.")
    return given


def _gap(kind: str, delta: float, of: dict[str, Any]) -> Callable[[int], float]:
    """n -> what the bound adds."""
    if kind == "test":
        error = checks.number("error", of["error"], 0.0, 1.0)
        return lambda n: upper_limit(error * n, n, delta) - error
    if kind == "finite":
        return lambda n: finite(0, n, of["log_size"], delta=delta).value
    if kind == "vc":
        return lambda n: vc(0, n, **of, delta=delta).value
    if kind == "rademacher":
        return lambda n: rademacher(0.0, n, growth_complexity(n, **of), delta=delta).value
    one = margin([2.0 * of["rho"]], **of, delta=delta).value
    return lambda n: one / math.sqrt(n)


def _smallest(gap: Callable[[int], float], epsilon: float) -> int:
    """The least n with gap(n) ≤ ε, by doubling and halving: gaps fall with n, but for ripples."""
    high = 1
    while gap(high) > epsilon:
        high *= 2
        if high > MOST:
            raise InvalidInput("no number of rows is enough: ask for a larger epsilon.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gap(middle) > epsilon else (low, middle)
    return high
