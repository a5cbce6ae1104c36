"""What a fit learned, as options and arrays, and back. What comes back may be anything, and is checked."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgmaxError, InvalidInput
from ..records import Floats, Strings
from .categories import Category
from .encoding import Encoding, Sparse
from .hashing import Collisions, Slots
from .kinds import KINDS
from .numbers import Numbers
from .settings import Settings, kinds_given, settings
from .sorting import ascending
from .text import Text, TextOptions
from .vocabulary import Vocabulary, joined

__all__ = ["State", "options", "rebuilt", "tensors"]

FORMAT = 1


@final
@dataclass(frozen=True, slots=True)
class State:
    """What a fit learned, and the parameters it was made with (as JSON holds them)."""

    parameters: dict[str, Any]
    settings: Settings
    kinds: dict[str, str]
    missing: dict[str, int]
    named: bool
    encoding: Encoding
    collisions: dict[str, Collisions]


# Out


def options(state: State) -> dict[str, Any]:
    """All but the arrays."""
    encoding = state.encoding
    return {
        "format": FORMAT,
        "parameters": state.parameters,
        "named": state.named,
        "columns": [
            {"name": name, "kind": kind, "missing": state.missing[name]}
            for name, kind in state.kinds.items()
        ],
        "sparse": {name: part.width for name, part in encoding.sparse.items()},
        "missing_categories": [name for name, part in encoding.categories.items() if part.missing],
        "collisions": {name: asdict(found) for name, found in state.collisions.items()},
    }


def tensors(state: State) -> dict[str, NDArray[Any]]:
    """The arrays, by a name that says whose they are."""
    encoding, found = state.encoding, dict[str, NDArray[Any]]()
    numbers = encoding.numbers
    if numbers.names:
        found["numbers.mean"] = numbers.mean
        if numbers.scale is not None:
            found["numbers.scale"] = numbers.scale
    for i, category in enumerate(encoding.categories.values()):
        found |= _bytes_and_offsets(f"category.{i}", category.values.strings)
    for i, text in enumerate(encoding.texts.values()):
        found |= _text_tensors(f"text.{i}", text)
    return found


def _bytes_and_offsets(name: str, strings: Strings) -> dict[str, NDArray[Any]]:
    low, high = strings.offsets[0], strings.offsets[-1]
    return {f"{name}.data": strings.data[low:high], f"{name}.offsets": strings.offsets - low}


def _text_tensors(name: str, text: Text) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = (
        {} if text.factors is None else {f"{name}.factors": text.factors}
    )
    if isinstance(text.keys, Vocabulary):
        return found | _bytes_and_offsets(name, text.keys.strings)
    if text.examples:
        pairs = [(slot, value) for slot in sorted(text.examples) for value in text.examples[slot]]
        found[f"{name}.slots"] = np.array([slot for slot, _ in pairs], np.int64)
        found |= _bytes_and_offsets(name, joined([value.encode("utf-8") for _, value in pairs]))
    return found


# Back


def rebuilt(given: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> State:
    """The state that these came from; InvalidInput, with the name of what is wrong, for all others.

    Asks for no more memory than a small multiple of what it is given.
    """
    try:
        return _rebuilt(given, _Arrays(arrays))
    except (ArgmaxError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"the saved table is not valid: {error}") from error


def _rebuilt(given: Mapping[str, Any], arrays: _Arrays) -> State:
    _same_keys("options", given, _OPTIONS)
    if given["format"] != FORMAT:
        raise InvalidInput(f"its format is {given['format']!r}; this version reads {FORMAT}")
    parameters = dict(given["parameters"])
    parameters["ngrams"] = tuple(parameters["ngrams"])
    chosen = settings(parameters | {"n_threads": 1})
    kinds_given(parameters["kinds"])
    kinds, missing = _columns(given["columns"])
    sparse = {
        str(name): Sparse(_whole(f"sparse {name!r}", width))
        for name, width in given["sparse"].items()
    }
    numbers = [n for n, kind in kinds.items() if kind == "number" and n not in sparse]
    if any(kinds.get(name) != "number" for name in sparse):
        raise InvalidInput("sparse columns must be columns of numbers")
    names = [name for name, kind in kinds.items() if kind == "category"]
    absent = set(given["missing_categories"])
    if not absent <= set(names):
        raise InvalidInput("missing_categories must be columns of categories")
    encoding = Encoding(
        _numbers({name: missing[name] for name in numbers}, chosen.standardise, arrays),
        sparse,
        {
            name: Category(Vocabulary(arrays.strings(f"category.{i}", sort=True)), name in absent)
            for i, name in enumerate(names)
        },
        {
            name: _text(f"text.{i}", chosen.text, arrays)
            for i, name in enumerate(name for name, kind in kinds.items() if kind == "text")
        },
    )
    arrays.nothing_left()
    collisions = {str(name): _collisions(found) for name, found in given["collisions"].items()}
    if not collisions.keys() <= encoding.texts.keys():
        raise InvalidInput("collisions must be of columns of text")
    return State(parameters, chosen, kinds, missing, bool(given["named"]), encoding, collisions)


_OPTIONS = (
    "format", "parameters", "named", "columns", "sparse", "missing_categories", "collisions",
)  # fmt: skip


def _same_keys(what: str, given: Mapping[str, Any], expected: Any) -> None:
    if set(given) != set(expected):
        odd = sorted(map(str, set(given) ^ set(expected)))
        raise InvalidInput(f"{what} must have the keys {sorted(expected)}; look at {odd[:5]}")


def _whole(what: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise InvalidInput(f"{what} must be a whole number; got {value!r}")
    return value


def _columns(given: Any) -> tuple[dict[str, str], dict[str, int]]:
    kinds, missing = dict[str, str](), dict[str, int]()
    for column in given:
        _same_keys("a column", column, ("name", "kind", "missing"))
        name, kind = column["name"], column["kind"]
        if not isinstance(name, str) or name in kinds or kind not in KINDS:
            raise InvalidInput(f"column {name!r} of kind {kind!r} is repeated or unknown")
        kinds[name], missing[name] = kind, _whole(f"missing of {name!r}", column["missing"])
    return kinds, missing


def _collisions(given: Mapping[str, Any]) -> Collisions:
    counts = [_whole(f"collisions {name}", given[name]) for name in ("distinct", "used", "shared")]
    _same_keys("collisions", given, ("distinct", "exact", "used", "shared"))
    return Collisions(counts[0], bool(given["exact"]), counts[1], counts[2])


def _numbers(missing: dict[str, int], standardise: bool, arrays: _Arrays) -> Numbers:
    p, marked = len(missing), np.flatnonzero(list(missing.values()))
    if not p:
        return Numbers([], np.zeros(0), np.zeros(0) if standardise else None, marked)
    mean = arrays.floats("numbers.mean", p)
    scale = arrays.floats("numbers.scale", p) if standardise else None
    if scale is not None and not np.all(scale > 0):
        raise InvalidInput("numbers.scale must be positive")
    return Numbers(list(missing), mean, scale, marked)


def _text(name: str, chosen: TextOptions, arrays: _Arrays) -> Text:
    if chosen.hash_bits is None:
        vocabulary = Vocabulary(arrays.strings(name, sort=True))
        factors = (
            arrays.floats(f"{name}.factors", len(vocabulary)) if chosen.weight == "tfidf" else None
        )
        return Text(chosen, vocabulary, factors)
    slots = Slots(chosen.hash_bits, chosen.signed)
    factors = arrays.floats(f"{name}.factors", len(slots)) if chosen.counts_documents else None
    return Text(chosen, slots, factors, _examples(name, slots, arrays))


def _examples(name: str, slots: Slots, arrays: _Arrays) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    if f"{name}.slots" in arrays:
        where, strings = arrays.take(f"{name}.slots", np.int64), arrays.strings(name)
        if len(where) != len(strings) or np.any((where < 0) | (where >= len(slots))):
            raise InvalidInput(f"{name}.slots must have the column of each example")
        for slot, value in zip(where.tolist(), strings.tolist(), strict=True):
            found.setdefault(slot, []).append(str(value))
    return found


@final
class _Arrays:
    """The arrays of a file, each taken once, with the type and length it must have."""

    def __init__(self, given: Mapping[str, NDArray[Any]]) -> None:
        self._given = dict(given)

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def take(self, name: str, dtype: Any) -> NDArray[Any]:
        array = self._given.pop(name, None)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise InvalidInput(f"tensor {name} must be a 1-D array of {np.dtype(dtype).name}")
        return np.ascontiguousarray(array)

    def floats(self, name: str, length: int) -> Floats:
        array = self.take(name, np.float64)
        if len(array) != length or not np.isfinite(array).all():
            raise InvalidInput(f"tensor {name} must hold {length} finite numbers")
        return array

    def strings(self, name: str, sort: bool = False) -> Strings:
        """Valid UTF-8 in ``name``.data, cut at ``name``.offsets; ``sort``: rising, so without repeats."""
        data, offsets = self.take(f"{name}.data", np.uint8), self.take(f"{name}.offsets", np.int64)
        whole = len(offsets) and offsets[0] == 0 and offsets[-1] == len(data)
        if not whole or np.any(np.diff(offsets) < 0):
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
        if self._given:
            raise InvalidInput(f"unknown tensors {sorted(self._given)[:5]}")
