"""What a fit learned, as options and arrays, and back. What comes back may be anything, and is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ...errors import ArgmaxError, InvalidInput
from ...records import Strings
from ..arrays import Arrays, bytes_and_offsets, collisions_of, same_keys, whole
from ..hashing import Collisions
from ..vocabulary import Vocabulary, joined
from .dictionary import Chosen, Dictionary
from .hashed import Hashed
from .keys import Keys, Numbered
from .language import parse_all
from .tuples import Tuples
from .vectors import Vectors
from .windows import Layer, Plan

__all__ = ["State", "options", "rebuilt", "tensors"]

FORMAT = 1
PARAMETERS = ("templates", "columns", "min_count", "outside", "hash_bits", "examples", "dense")


@final
@dataclass(frozen=True, slots=True)
class State:
    """What a fit learned, and the parameters it was made with (as JSON holds them)."""

    parameters: dict[str, Any]
    keys: Keys
    vectors: Vectors
    collisions: Collisions | None


# Out


def options(state: State) -> dict[str, Any]:
    """All but the arrays."""
    return {
        "format": FORMAT,
        "parameters": state.parameters,
        "vectors": dict(state.vectors.widths),
        "collisions": None if state.collisions is None else asdict(state.collisions),
    }


def tensors(state: State) -> dict[str, NDArray[Any]]:
    """The arrays, by a name that says whose they are."""
    keys, found = state.keys, dict[str, NDArray[Any]]()
    if isinstance(keys, Hashed):
        return _example_tensors("node", keys.examples) | _example_tensors(
            "edge", keys.edge_examples
        )
    assert isinstance(keys, Dictionary)
    for i, strings in enumerate(keys.known.values):
        if strings is not None:
            found |= bytes_and_offsets(f"values.{i}", strings)
    for i, tuples in enumerate(keys.known.tuples):
        if tuples is not None:
            found[f"tuples.{i}"] = tuples.keys.reshape(-1)
    for name, chosen in (("node", keys.node), ("edge", keys.edge)):
        found |= {f"{name}.starts": chosen.starts, f"{name}.tuples": chosen.tuples}
    return found


def _example_tensors(name: str, examples: dict[int, list[str]]) -> dict[str, NDArray[Any]]:
    pairs = [(slot, value) for slot in sorted(examples) for value in examples[slot]]
    strings = joined([value.encode("utf-8") for _, value in pairs])
    slots = np.array([slot for slot, _ in pairs], np.int64)
    return {f"{name}.slots": slots, **bytes_and_offsets(f"{name}.examples", strings)}


# Back


def rebuilt(given: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> State:
    """The state that these came from; InvalidInput, with the name of what is wrong, for all others."""
    try:
        return _rebuilt(given, Arrays(arrays))
    except (ArgmaxError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"the saved templates are not valid: {error}") from error


def _rebuilt(given: Mapping[str, Any], arrays: Arrays) -> State:
    same_keys("options", given, ("format", "parameters", "vectors", "collisions"))
    if given["format"] != FORMAT:
        raise InvalidInput(f"their format is {given['format']!r}; this version reads {FORMAT}")
    parameters = dict(given["parameters"])
    same_keys("parameters", parameters, PARAMETERS)
    _check_parameters(parameters)
    plan = Plan.of(parse_all(parameters["templates"]), parameters["outside"] == "mark")
    bits = parameters["hash_bits"]
    keys: Keys = _dictionary(plan, arrays) if bits is None else _hashed(plan, bits, arrays)
    arrays.nothing_left()
    widths = {
        str(name): whole(f"vectors {name!r}", width) for name, width in given["vectors"].items()
    }
    collisions = None if given["collisions"] is None else collisions_of(given["collisions"])
    return State(parameters, keys, Vectors(widths), collisions)


def _check_parameters(given: dict[str, Any]) -> None:
    """What nothing else looks at before ``transform`` does."""
    checks.choice("outside", given["outside"], ("mark", "skip"))
    checks.positive_integer("min_count", given["min_count"])
    whole("examples", given["examples"])
    for name in ("templates", "columns", "dense"):
        value = given[name]
        listed = isinstance(value, list) and all(isinstance(part, str) for part in value)
        if not (listed or value is None or (name == "dense" and isinstance(value, str))):
            raise InvalidInput(f"{name} must be a list of strings; got {repr(value)[:60]}")


def _dictionary(plan: Plan, arrays: Arrays) -> Dictionary:
    values = tuple(
        None if source.column is None else _strings(f"values.{i}", arrays)
        for i, source in enumerate(plan.sources)
    )
    known = Numbered(plan, values, ())
    tuples = tuple(
        _tuples(f"tuples.{i}", [known.codes(source) for source in window.sources], arrays)
        if len(window.sources) > 1
        else None
        for i, window in enumerate(plan.windows)
    )
    known = Numbered(plan, values, tuples)
    return Dictionary(
        known,
        _chosen("node", plan.node, known, arrays),
        _chosen("edge", plan.edge, known, arrays),
    )


def _strings(name: str, arrays: Arrays) -> Strings:
    strings = arrays.strings(name)
    if np.any(Vocabulary(strings).find(strings) != np.arange(len(strings))):
        raise InvalidInput(f"the strings of {name} must differ")
    return strings


def _tuples(name: str, sizes: list[int], arrays: Arrays) -> Tuples:
    flat = arrays.take(name, np.int32)
    if len(flat) % len(sizes):
        raise InvalidInput(f"tensor {name} must hold tuples of {len(sizes)} numbers")
    keys = flat.reshape(-1, len(sizes))
    if np.any((keys < 0) | (keys >= np.array(sizes))):
        raise InvalidInput(f"tensor {name} must hold codes of known strings")
    tuples = Tuples(keys)
    if np.any(tuples.find(keys) != np.arange(len(keys))):
        raise InvalidInput(f"the tuples of {name} must differ")
    return tuples


def _chosen(name: str, layer: Layer, known: Numbered, arrays: Arrays) -> Chosen:
    starts, tuples = (
        arrays.take(f"{name}.starts", np.int64),
        arrays.take(f"{name}.tuples", np.int32),
    )
    complete = len(starts) == len(layer) + 1 and starts[0] == 0 and starts[-1] == len(tuples)
    if not complete or np.any(np.diff(starts) < 0):
        raise InvalidInput(f"tensor {name}.starts must rise from 0 to the {len(tuples)} attributes")
    chosen = Chosen(starts, tuples)
    for j, size in enumerate(known.sizes(layer)):
        own = chosen.of(j)
        if np.any(own < 0) or np.any(own >= size) or np.any(np.diff(own) <= 0):
            raise InvalidInput(f"tensor {name}.tuples must rise within each template")
    return chosen


def _hashed(plan: Plan, bits: Any, arrays: Arrays) -> Hashed:
    checks.number("hash_bits", whole("hash_bits", bits), 1, 30)
    node, edge = (_examples(name, 1 << bits, arrays) for name in ("node", "edge"))
    return Hashed(plan, bits, node, edge)


def _examples(name: str, width: int, arrays: Arrays) -> dict[int, list[str]]:
    slots, strings = arrays.take(f"{name}.slots", np.int64), arrays.strings(f"{name}.examples")
    if len(slots) != len(strings) or np.any((slots < 0) | (slots >= width)):
        raise InvalidInput(f"tensor {name}.slots must have the attribute of each example")
    found: dict[int, list[str]] = {}
    for slot, value in zip(slots.tolist(), strings.tolist(), strict=True):
        found.setdefault(slot, []).append(str(value))
    return found
