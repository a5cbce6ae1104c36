"""Parameters of an estimator as strict JSON, and back.

Numbers, words, flags and None are stored as they are; infinity as ``{"number": "inf"}``. A solver or a loss
of this library is stored by its name, with its options; ``class_weight`` as pairs of label and weight. What
belongs to a process and not to a model (``engine``, ``callbacks``) is left out, and the file says so.
Everything else is refused by its name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import losses, solvers
from ..errors import ArgmaxError, InvalidInput, ModelFileError, Unsupported

__all__ = ["checked", "decoded", "encoded"]

LEFT_OUT = ("engine", "callbacks")

FLAG, WHOLE, REAL, WORD, NOTHING = (bool, int), (int,), (int, float), (str,), (type(None),)
TYPES: dict[str, tuple[type, ...]] = {
    "loss": WORD,
    "C": REAL,
    "penalty": WORD + NOTHING,
    "l1_ratio": REAL + NOTHING,
    "cost": NOTHING,
    "cost_per": WORD,
    "fit_intercept": FLAG,
    "average": FLAG,
    "shuffle": FLAG,
    "pairs": WORD,
    "constraints": WORD + NOTHING,
    "order": WHOLE,
    "start": FLAG,
    "decoding": WORD,
    "labels": NOTHING,
    "edges": WORD,
    "sweeps": WHOLE,
    "damping": REAL,
    "table_limit": WHOLE,
    "early_stopping": FLAG,
    "validation_fraction": REAL,
    "n_iter_no_change": WHOLE,
    "class_weight": (dict, *WORD, *NOTHING),
    "solver": (solvers.Solver, *WORD),
    "tol": REAL,
    "max_iter": WHOLE,
    "time_limit": REAL + NOTHING,
    "warm_start": FLAG,
    "n_threads": WHOLE + NOTHING,
    "dtype": WORD + NOTHING,
    "random_state": WHOLE + NOTHING,
    "verbose": FLAG,
}


# Out


def encoded(estimator: Any, apart: Collection[str] = ()) -> tuple[dict[str, Any], list[str]]:
    """The parameters but for those stored ``apart``, and the names of those left out."""
    given = estimator.get_params(deep=False)
    left_out = [name for name in LEFT_OUT if given.pop(name, None) is not None]
    return {n: _stored(n, value) for n, value in given.items() if n not in apart}, left_out


def _stored(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return {"number": "inf" if value > 0 else "-inf"}
    if _plain(value):
        return value
    if name == "dtype":
        return np.dtype(value).name
    if name == "class_weight":
        return {"pairs": [[_stored(name, part) for part in pair] for pair in value.items()]}
    if name == "loss" and type(value) is type(_known(losses.get, value)):
        return str(value.name)
    if name == "solver" and type(value) is type(_known(solvers.get, value)):
        options = {
            key: list(part) if isinstance(part, tuple) else _stored(key, part)
            for key, part in vars(value).items()
        }
        return {"solver": value.name, "options": options}
    raise Unsupported(
        f"{name}={value!r} cannot be stored in a model file. Set it to a name, a number or None first, "
        f"with set_params({name}=...)."
    )


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _known(get: Callable[[str], Any], value: Any) -> Any:
    """What this library has under the name of a value; None if it has no such thing."""
    try:
        return get(str(getattr(value, "name", value)))
    except InvalidInput:
        return None


# Back


def decoded(kind: type, given: Any, **apart: Any) -> Any:
    """An estimator with these parameters, checked as ``fit`` would check them."""
    known = kind().get_params(deep=False).keys()
    possible = known - LEFT_OUT - apart.keys()
    if not isinstance(given, dict) or not given.keys() <= possible or not apart.keys() <= known:
        raise ModelFileError(f"has parameters that {kind.__name__} does not have.")
    estimator = kind(**{name: _read(name, value) for name, value in given.items()}, **apart)
    with checked():
        estimator._settings()
        estimator._seed()
        estimator._report([])
    return estimator


@contextmanager
def checked() -> Iterator[None]:
    """What a check refuses, as an error about the file."""
    try:
        yield
    except ArgmaxError as error:
        raise ModelFileError(f"has a parameter that does not do: {error}") from error


def _read(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        value = _unfolded(value)
    if not isinstance(value, TYPES[name]):
        raise ModelFileError(f"has a parameter that does not do: {name}={repr(value)[:100]}.")
    return value


def _unfolded(value: dict[str, Any]) -> Any:
    if value.keys() == {"number"} and value["number"] in ("inf", "-inf"):
        return float(value["number"])
    if value.keys() == {"solver", "options"}:
        return _solver(value["solver"], value["options"])
    if value.keys() == {"pairs"}:
        return _pairs(value["pairs"])
    raise ModelFileError("has a parameter that argmax did not write.")


def _solver(name: Any, options: Any) -> Any:
    plain = _known(solvers.get, name)
    # Options that the writer's version did not have yet take their defaults.
    if plain is None or not isinstance(options, dict) or not options.keys() <= vars(plain).keys():
        raise ModelFileError("has a solver that this version does not have.")
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    parts = [part for v in values.values() for part in (v if isinstance(v, tuple) else (v,))]
    if not all(_plain(part) for part in parts):
        raise ModelFileError("has a solver with options that argmax did not write.")
    return type(plain)(**values)


def _pairs(given: Any) -> dict[Any, Any]:
    paired = isinstance(given, list) and all(isinstance(p, list) and len(p) == 2 for p in given)
    if not paired or not all(_plain(part) for pair in given for part in pair):
        raise ModelFileError("has a class_weight that argmax did not write.")
    return dict(given)
