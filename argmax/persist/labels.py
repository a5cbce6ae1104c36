"""Class labels and names as tensors, and back: text as bytes and offsets, numbers as they are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelFileError, Unsupported
from ..records import Strings
from .checked import Room, take
from .container import Tensors

__all__ = ["label_tensors", "label_values", "labels", "name_tensors", "names"]

OBJECT = 72
"""Bytes of a short Python string and of the place that points to it."""

NUMBERS = [np.dtype(kind).name for kind in "?bhiqBHIQefd"]


def name_tensors(prefix: str, values: Iterable[str]) -> Tensors:
    """``prefix``.data and ``prefix``.offsets of strings."""
    try:
        strings = Strings.of(values)
    except UnicodeEncodeError as error:
        raise Unsupported(
            f"{prefix} hold characters that no text has: {error.object!r}."
        ) from error
    return {f"{prefix}.data": strings.data, f"{prefix}.offsets": strings.offsets}


def names(tensors: Tensors, prefix: str, room: Room) -> list[str]:
    """The strings of ``name_tensors``, out of the others."""
    data = take(tensors, f"{prefix}.data", np.uint8, None)
    offsets = take(tensors, f"{prefix}.offsets", np.int64, None)
    whole = len(offsets) and offsets[0] == 0 and offsets[-1] == len(data)
    if not whole or np.any(offsets[1:] < offsets[:-1]):
        raise ModelFileError(f"has strings under {prefix!r} whose offsets do not fit.")
    room.use(OBJECT * len(offsets) + 4 * len(data), prefix)
    text = data.tobytes()
    try:
        return [text[a:b].decode("utf-8") for a, b in pairwise(offsets.tolist())]
    except UnicodeDecodeError as error:
        raise ModelFileError(f"has strings under {prefix!r} that are not UTF-8.") from error


def label_tensors(classes: NDArray[Any]) -> tuple[str, Tensors]:
    """The name of the dtype of ``classes_``, and its tensors."""
    dtype, values = classes.dtype.newbyteorder("="), classes.tolist()
    if dtype.kind in "OU" and all(isinstance(label, str) for label in values):
        return ("object" if dtype.kind == "O" else "str"), name_tensors("classes", values)
    if dtype.name in NUMBERS:
        return dtype.name, {"classes": classes.astype(dtype)}
    raise Unsupported(
        f"classes of dtype {classes.dtype} cannot be stored in a model file. Fit with labels that are "
        "strings, numbers or truth values."
    )


def labels(dtype: Any, tensors: Tensors, room: Room) -> NDArray[Any]:
    """``classes_``: at least two different labels, sorted."""
    classes = label_values(dtype, tensors, room)
    if len(classes) < 2 or not np.all(classes[1:] > classes[:-1]):
        raise ModelFileError("has classes that are not sorted, not different, or fewer than two.")
    return classes


def label_values(dtype: Any, tensors: Tensors, room: Room) -> NDArray[Any]:
    """The labels of ``label_tensors`` as they are, out of the others."""
    if dtype in ("object", "str"):
        found = names(tensors, "classes", room)
        room.use(4 * len(found) * max(map(len, found), default=0), "classes")
        return np.array(found, dtype=object if dtype == "object" else str)
    if dtype in NUMBERS:
        return take(tensors, "classes", dtype, None)
    raise ModelFileError("has classes of a kind that argmax does not store.")
