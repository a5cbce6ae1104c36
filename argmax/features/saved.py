"""What a fit learned, as options and arrays, and back. What comes back may be anything, and is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgmaxError, InvalidInput
from ..records import Floats
from .arrays import Arrays, bytes_and_offsets, collisions_of, same_keys, whole
from .categories import Category
from .encoding import Encoding, Sparse
from .hashing import Collisions, Slots
from .kinds import KINDS
from .numbers import Numbers
from .settings import Settings, kinds_given, settings
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
        found |= bytes_and_offsets(f"category.{i}", category.values.strings)
    for i, text in enumerate(encoding.texts.values()):
        found |= _text_tensors(f"text.{i}", text)
    return found


def _text_tensors(name: str, text: Text) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = (
        {} if text.factors is None else {f"{name}.factors": text.factors}
    )
    if isinstance(text.keys, Vocabulary):
        return found | bytes_and_offsets(name, text.keys.strings)
    if text.examples:
        pairs = [(slot, value) for slot in sorted(text.examples) for value in text.examples[slot]]
        found[f"{name}.slots"] = np.array([slot for slot, _ in pairs], np.int64)
        found |= bytes_and_offsets(name, joined([value.encode("utf-8") for _, value in pairs]))
    return found


# Back


def rebuilt(given: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> State:
    """The state that these came from; InvalidInput, with the name of what is wrong, for all others.

    Asks for no more memory than a small multiple of what it is given.
    """
    try:
        return _rebuilt(given, Arrays(arrays))
    except (ArgmaxError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"the saved table is not valid: {error}") from error


def _rebuilt(given: Mapping[str, Any], arrays: Arrays) -> State:
    same_keys("options", given, _OPTIONS)
    if given["format"] != FORMAT:
        raise InvalidInput(f"its format is {given['format']!r}; this version reads {FORMAT}")
    parameters = dict(given["parameters"])
    parameters["ngrams"] = tuple(parameters["ngrams"])
    chosen = settings(parameters | {"n_threads": 1})
    kinds_given(parameters["kinds"])
    kinds, missing = _columns(given["columns"])
    sparse = {
        str(name): Sparse(whole(f"sparse {name!r}", width))
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
    collisions = {str(name): collisions_of(found) for name, found in given["collisions"].items()}
    if not collisions.keys() <= encoding.texts.keys():
        raise InvalidInput("collisions must be of columns of text")
    return State(parameters, chosen, kinds, missing, bool(given["named"]), encoding, collisions)


MOST_IDF = 45.0
"""log(2⁶³) + 1, rounded up: documents are counted in 64 bits."""

_OPTIONS = (
    "format", "parameters", "named", "columns", "sparse", "missing_categories", "collisions",
)  # fmt: skip


def _columns(given: Any) -> tuple[dict[str, str], dict[str, int]]:
    kinds, missing = dict[str, str](), dict[str, int]()
    for column in given:
        same_keys("a column", column, ("name", "kind", "missing"))
        name, kind = column["name"], column["kind"]
        if not isinstance(name, str) or name in kinds or kind not in KINDS:
            raise InvalidInput(f"column {name!r} of kind {kind!r} is repeated or unknown")
        kinds[name], missing[name] = kind, whole(f"missing of {name!r}", column["missing"])
    return kinds, missing


def _numbers(missing: dict[str, int], standardise: bool, arrays: Arrays) -> Numbers:
    p, marked = len(missing), np.flatnonzero(list(missing.values()))
    if not p:
        return Numbers([], np.zeros(0), np.zeros(0) if standardise else None, marked)
    mean = arrays.floats("numbers.mean", p)
    scale = arrays.floats("numbers.scale", p) if standardise else None
    if scale is not None and not np.all(scale > 0):
        raise InvalidInput("numbers.scale must be positive")
    return Numbers(list(missing), mean, scale, marked)


def _text(name: str, chosen: TextOptions, arrays: Arrays) -> Text:
    if chosen.hash_bits is None:
        vocabulary = Vocabulary(arrays.strings(name, sort=True))
        factors = _factors(name, len(vocabulary), arrays) if chosen.weight == "tfidf" else None
        return Text(chosen, vocabulary, factors)
    slots = Slots(chosen.hash_bits, chosen.signed)
    factors = _factors(name, len(slots), arrays) if chosen.counts_documents else None
    return Text(chosen, slots, factors, _examples(name, slots, arrays))


def _factors(name: str, length: int, arrays: Arrays) -> Floats:
    """What the columns of a text are multiplied by: no number of documents makes an idf above 45."""
    factors = arrays.floats(f"{name}.factors", length)
    if not np.all((factors >= 0.0) & (factors <= MOST_IDF)):
        raise InvalidInput(f"{name}.factors must lie between 0 and {MOST_IDF:g}")
    return factors


def _examples(name: str, slots: Slots, arrays: Arrays) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    if f"{name}.slots" in arrays:
        where, strings = arrays.take(f"{name}.slots", np.int64), arrays.strings(name)
        if len(where) != len(strings) or np.any((where < 0) | (where >= len(slots))):
            raise InvalidInput(f"{name}.slots must have the column of each example")
        for slot, value in zip(where.tolist(), strings.tolist(), strict=True):
            found.setdefault(slot, []).append(str(value))
    return found
