"""Parameters of an estimator as strict JSON, and back.

Numbers, words, flags and None are stored as they are; infinity as ``{"number": "inf"}``. A solver or a loss
of this library is stored by its name, with its options; ``class_weight`` as pairs of label and weight. What
belongs to a process and not to a model (``engine``, ``callbacks``) is left out, and the file says so.
Everything else is refused by its name.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import losses, solvers
from ..errors import InvalidInput, ModelFileError, Unsupported

__all__ = ["decoded", "encoded"]

LEFT_OUT = ("engine", "callbacks")


def encoded(estimator: Any) -> tuple[dict[str, Any], list[str]]:
    """The parameters, and the names of those left out."""
    given = estimator.get_params(deep=False)
    left_out = [name for name in LEFT_OUT if given.get(name) is not None]
    kept = {name: value for name, value in given.items() if name not in LEFT_OUT}
    return {name: _value(name, value) for name, value in kept.items()}, left_out


def _value(name: str, value: Any) -> Any:
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return {"number": "inf" if value > 0 else "-inf"}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if name == "dtype":
        return np.dtype(value).name
    if name == "class_weight":
        return {"pairs": [[_value(name, part) for part in pair] for pair in value.items()]}
    if name == "solver" and type(value) is type(_known(solvers.get, value)):
        options = {key: _option(name, part) for key, part in vars(value).items()}
        return {"solver": value.name, "options": options}
    if name == "loss" and type(value) is type(_known(losses.get, value)):
        return str(value.name)
    raise Unsupported(
        f"{name}={value!r} cannot be stored in a model file. Set it to a name, a number or None first, "
        f"with set_params({name}=...)."
    )


def _option(name: str, value: Any) -> Any:
    return (
        [_value(name, part) for part in value] if isinstance(value, tuple) else _value(name, value)
    )


def _known(get: Callable[[str], Any], value: Any) -> Any:
    """What this library has under the name of a value; None if it has no such thing."""
    try:
        return get(str(getattr(value, "name", value)))
    except InvalidInput:
        return None


def decoded(kind: type, given: Any) -> Any:
    """An estimator with these parameters, each checked as ``fit`` would check it."""
    known = inspect.signature(kind).parameters
    if not isinstance(given, dict) or not given.keys() <= known.keys():
        raise ModelFileError(f"has parameters that {kind.__name__} does not have.")
    return kind(**{name: _parameter(name, value) for name, value in given.items()})


def _parameter(name: str, value: Any) -> Any:
    if not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        if value.keys() == {"number"} and value["number"] in ("inf", "-inf"):
            return float(value["number"])
        if name == "solver" and value.keys() == {"solver", "options"}:
            return _solver(value["solver"], value["options"])
        if name == "class_weight" and value.keys() == {"pairs"}:
            return _pairs(value["pairs"])
    raise ModelFileError(f"has a parameter {name!r} that argmax did not write.")


def _solver(name: Any, options: Any) -> Any:
    plain = _known(solvers.get, name)
    if plain is None or not isinstance(options, dict) or options.keys() != vars(plain).keys():
        raise ModelFileError("has a solver that this version does not have.")
    values = {key: tuple(part) if isinstance(part, list) else part for key, part in options.items()}
    if not all(_plain(part) for value in values.values() for part in _flat(value)):
        raise ModelFileError("has a solver with options that argmax did not write.")
    return type(plain)(**values)


def _flat(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _pairs(given: Any) -> dict[Any, Any]:
    paired = isinstance(given, list) and all(isinstance(p, list) and len(p) == 2 for p in given)
    if not paired or not all(_plain(part) for pair in given for part in pair):
        raise ModelFileError("has a class_weight that argmax did not write.")
    return dict(given)
