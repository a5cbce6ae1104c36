"""Checks of single settings."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from ..errors import InvalidInput, WrongType

__all__ = ["choice", "float_type", "number", "positive_integer"]


def number(
    name: str, value: Any, low: float, high: float = math.inf, *, open_low: bool = False
) -> float:
    """A real number in [low, high], or (low, high] with ``open_low``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise WrongType(f"{name} must be a number; got {value!r}.")
    result = float(value)
    if math.isnan(result) or result > high or result < low or (open_low and result == low):
        kind = "greater than" if open_low else "at least"
        upper = "" if high == math.inf else f" and at most {high:g}"
        raise InvalidInput(f"{name} must be {kind} {low:g}{upper}; got {value!r}.")
    return result


def positive_integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise WrongType(f"{name} must be a whole number; got {value!r}.")
    if value < 1:
        raise InvalidInput(f"{name} must be at least 1; got {value}.")
    return int(value)


def choice(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if not any(value is option or value == option for option in allowed):
        listed = ", ".join(repr(option) for option in allowed)
        raise InvalidInput(f"{name} must be one of {listed}; got {value!r}.")
    return value


def float_type(name: str, value: Any, others: str = "") -> np.dtype[Any]:
    """float32 or float64: types that would cut or round the numbers more, or that no kernel has, are not.

    ``others`` is what the argument may be besides.
    """
    try:
        found: np.dtype[Any] | None = None if value is None else np.dtype(value)
    except (TypeError, ValueError):
        found = None
    if found is None or found not in (np.float32, np.float64):
        raise InvalidInput(f"{name} must be {others}'float32' or 'float64'; got {value!r}.")
    return found
