"""What a model file gives back may be anything: values and arrays, taken one by one and checked."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..records import Floats, Strings
from .hashing import Collisions
from .sorting import ascending

__all__ = ["Arrays", "bytes_and_offsets", "collisions_of", "same_keys", "whole"]


def bytes_and_offsets(name: str, strings: Strings) -> dict[str, NDArray[Any]]:
    """Strings as two arrays."""
    low, high = strings.offsets[0], strings.offsets[-1]
    return {f"{name}.data": strings.data[low:high], f"{name}.offsets": strings.offsets - low}


def same_keys(what: str, given: Mapping[str, Any], expected: Any) -> None:
    """Raise unless a mapping has these keys and no others."""
    if set(given) != set(expected):
        odd = sorted(map(str, set(given) ^ set(expected)))
        raise InvalidInput(f"{what} must have the keys {sorted(expected)}; look at {odd[:5]}")


def whole(what: str, value: Any) -> int:
    """A whole number, 0 or more."""
    if type(value) is not int or not 0 <= value < 2**62:
        raise InvalidInput(f"{what} must be a whole number; got {value!r}")
    return value


def collisions_of(given: Mapping[str, Any]) -> Collisions:
    """Collisions from what ``asdict`` made of them."""
    counts = [whole(f"collisions {name}", given[name]) for name in ("distinct", "used", "shared")]
    same_keys("collisions", given, ("distinct", "exact", "used", "shared"))
    return Collisions(counts[0], bool(given["exact"]), counts[1], counts[2])


@final
class Arrays:
    """The arrays of a file, each taken once, with the type and length it must have."""

    def __init__(self, given: Mapping[str, NDArray[Any]]) -> None:
        self._given = dict(given)

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def take(self, name: str, dtype: Any) -> NDArray[Any]:
        """A 1-D array of this type."""
        array = self._given.pop(name, None)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise InvalidInput(f"tensor {name} must be a 1-D array of {np.dtype(dtype).name}")
        return np.ascontiguousarray(array)

    def floats(self, name: str, length: int) -> Floats:
        """So many finite numbers."""
        array = self.take(name, np.float64)
        if len(array) != length or not np.isfinite(array).all():
            raise InvalidInput(f"tensor {name} must hold {length} finite numbers")
        return array

    def strings(self, name: str, sort: bool = False) -> Strings:
        """Valid UTF-8 in ``name``.data, cut at ``name``.offsets; ``sort``: rising, so without repeats."""
        data, offsets = self.take(f"{name}.data", np.uint8), self.take(f"{name}.offsets", np.int64)
        complete = len(offsets) and offsets[0] == 0 and offsets[-1] == len(data)
        if not complete or np.any(np.diff(offsets) < 0):
            raise InvalidInput(
                f"tensor {name}.offsets must rise from 0 to the {len(data)} bytes of data"
            )
        decoder = codecs.getincrementaldecoder("utf-8")()
        for start in range(0, len(data), 2**20):
            decoder.decode(data[start : start + 2**20].tobytes())
        decoder.decode(b"", final=True)
        inside = offsets[:-1][np.diff(offsets) > 0]
        if np.any((data[inside] & 0xC0) == 0x80):
            raise InvalidInput(f"tensor {name}.offsets must not cut a character")
        strings = Strings(data, offsets)
        if sort and not ascending(strings):
            raise InvalidInput(f"the strings of {name} must be sorted and differ")
        return strings

    def nothing_left(self) -> None:
        """Raise unless every array was taken."""
        if self._given:
            raise InvalidInput(f"unknown tensors {sorted(self._given)[:5]}")
