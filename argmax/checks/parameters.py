"""Checks of single settings."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any

import numpy as np

from ..errors import InvalidInput, WrongType
from .refusals import as_ours

__all__ = [
    "array",
    "callables",
    "choice",
    "estimator",
    "file_name",
    "float_type",
    "number",
    "positive_integer",
    "seed",
]


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


def array(name: str, values: Any, dtype: Any = None) -> Any:
    """A new array of numbers, of any shape; rows of different lengths are none."""
    try:
        with as_ours():
            found = np.array(values, dtype=dtype)
    except (InvalidInput, WrongType) as error:
        raise InvalidInput(
            f"{name} must be an array of numbers, with rows of one length. It cannot be made one: {error}"
        ) from error
    return found


def file_name(value: Any, name: str = "path") -> str:
    """The name of a file, from a string or a Path."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise WrongType(f"{name} must be the name of a file; got {value!r}.") from None


def seed(value: Any) -> int:
    """random_state as a seed; None is 0, so that what is drawn repeats to the bit."""
    if value is None:
        return 0
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**31))
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31))
    if not isinstance(value, numbers.Integral) or not 0 <= int(value) < 2**32:
        raise InvalidInput(
            "random_state must be None, a whole number from 0 to 4294967295, a RandomState or a Generator; "
            f"got {value!r}."
        )
    return int(value)


def callables(name: str, value: Any) -> tuple[Any, ...]:
    """Functions to call; None is none."""
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)) or not all(map(callable, value)):
        raise WrongType(f"{name} must be a list of functions, or None; got {value!r}.")
    return tuple(value)


def estimator(name: str, value: Any, what: str = "an estimator") -> Any:
    """An object that can be fitted, and not its class."""
    if isinstance(value, type) or getattr(value, "fit", None) is None:
        raise WrongType(f"{name} must be {what}; got {value!r}.")
    return value
