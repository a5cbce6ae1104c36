"""What comes out of a file, taken only as what it must be."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelFileError
from .container import Tensors

__all__ = ["Room", "bounded", "finite", "flags", "same_keys", "take"]


LARGEST = 1e30
"""Sums of a few hundred weights must be numbers in single precision."""


@final
class Room:
    """What Python objects made from a file may take: half as much again as the file, and 16 MiB.

    Tensors take as much as the file, weights ready for use at most 1.8 times that (``layouts.padded``), and
    never both for all of it: four times the file in all.
    """

    def __init__(self, size: int) -> None:
        self.left = 1.5 * size + 2**24

    def use(self, needed: float, what: str) -> None:
        """Refuse objects that the size of the file does not cover, before they are made."""
        self.left -= needed
        if self.left < 0:
            raise ModelFileError(f"has more or longer {what} than its size allows.")


def same_keys(what: str, given: Any, expected: Collection[str]) -> dict[str, Any]:
    """A JSON object with these names and no others."""
    if not isinstance(given, dict) or given.keys() != set(expected):
        raise ModelFileError(f"has a {what} that argmax did not write.")
    return given


def flags(what: str, given: Any, expected: Collection[str]) -> dict[str, bool]:
    """A JSON object with these names, all of them true or false."""
    found = same_keys(what, given, expected)
    if not all(isinstance(flag, bool) for flag in found.values()):
        raise ModelFileError(f"has a {what} that argmax did not write.")
    return found


def take(tensors: Tensors, name: str, dtype: Any, *shape: int | None) -> NDArray[Any]:
    """The tensor of that name, out of the others; None in the shape stands for any length."""
    array = tensors.pop(name, None)
    if array is None or array.dtype != np.dtype(dtype) or array.ndim != len(shape):
        kind = np.dtype(dtype).name
        raise ModelFileError(f"has no tensor {name!r} of {len(shape)} dimensions and type {kind}.")
    if any(n is not None and n != found for n, found in zip(shape, array.shape, strict=True)):
        raise ModelFileError(f"has a tensor {name!r} of shape {array.shape}, which does not fit.")
    return array


def finite(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """An array without infinity and without what is no number."""
    with np.errstate(over="ignore", invalid="ignore"):
        quick = np.isfinite(array.sum())  # no temporary of the size of the weights
    if not quick and not np.isfinite(array).all():
        raise ModelFileError(f"has values in {name!r} that are not finite.")
    return array


def bounded(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Weights whose sums over a structure cannot overflow."""
    finite(name, array)
    if array.size and max(array.max(), -array.min()) > LARGEST:
        raise ModelFileError(f"has values in {name!r} that are too large.")
    return array
