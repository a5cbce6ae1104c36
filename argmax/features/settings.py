"""The options of a table, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput, Unsupported, WrongType
from .kinds import KINDS
from .text import TextOptions

__all__ = ["Settings", "kinds_given", "plain", "settings"]

MOST_BITS = 30
MOST_UNITS = 100


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may choose; ``Table`` explains it."""

    standardise: bool
    missing: str
    category_min_count: int
    text: TextOptions
    dtype: np.dtype[Any]
    threads: int | None


def settings(given: Mapping[str, Any]) -> Settings:
    """The parameters of a table, each looked at, and those that exclude each other refused."""
    return Settings(
        _flag(given, "standardise"),
        checks.choice("missing", given["missing"], ("mean", "refuse")),
        checks.positive_integer("category_min_count", given["category_min_count"]),
        _text(given),
        _dtype(given["dtype"]),
        _threads(given["n_threads"]),
    )


def plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Checked parameters as JSON can hold them, without ``n_threads``, which changes nothing."""
    kinds = None if given["kinds"] is None else kinds_given(given["kinds"])
    special = {
        "kinds": kinds,
        "ngrams": tuple(given["ngrams"]),
        "dtype": _dtype(given["dtype"]).name,
    }
    return {name: value for name, value in ({**given, **special}).items() if name != "n_threads"}


def kinds_given(kinds: Any) -> dict[str, str]:
    """``kinds`` as a dict: nothing for None."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise WrongType(f"kinds must be None or a dict from column to kind; got {kinds!r}.")
    return {
        str(name): checks.choice(f"kinds[{name!r}]", kind, KINDS) for name, kind in kinds.items()
    }


def _text(given: Mapping[str, Any]) -> TextOptions:
    limit, bits = given["max_features"], given["hash_bits"]
    options = TextOptions(
        checks.choice("analyzer", given["analyzer"], ("word", "char", "char_wb")),
        _ngrams(given["ngrams"]),
        _flag(given, "lowercase"),
        checks.positive_integer("min_count", given["min_count"]),
        checks.number("max_share", given["max_share"], 0.0, 1.0, open_low=True),
        None if limit is None else checks.positive_integer("max_features", limit),
        checks.choice("weight", given["weight"], ("tfidf", "counts", "binary")),
        _flag(given, "sublinear"),
        _flag(given, "smooth"),
        checks.choice("norm", given["norm"], ("l2", None)),
        None if bits is None else _bits(bits),
        _flag(given, "signed"),
        _examples(given["examples"]),
    )
    if bits is None and (options.signed or options.examples):
        name = "signed" if options.signed else "examples"
        raise Unsupported(f"{name} is about hashed text. Set hash_bits as well, or leave it out.")
    if bits is not None and limit is not None:
        raise Unsupported(
            "max_features needs a dictionary, and hash_bits keeps none. Use one of the two."
        )
    return options


def _flag(given: Mapping[str, Any], name: str) -> bool:
    return bool(checks.choice(name, given[name], (True, False)))


def _threads(value: Any) -> int | None:
    return None if value is None else checks.threads(value)


def _ngrams(value: Any) -> tuple[int, int]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidInput(f"ngrams must be a pair such as (1, 2); got {value!r}.")
    least, most = (checks.positive_integer("ngrams", n) for n in value)
    if least > most:
        raise InvalidInput(f"ngrams must not fall; got {value!r}. Write ({most}, {least}).")
    if most > MOST_UNITS:  # every length is tried for every text, however short it is
        raise InvalidInput(f"ngrams must be at most {MOST_UNITS} long; got {value!r}.")
    return least, most


def _bits(value: Any) -> int:
    bits = checks.positive_integer("hash_bits", value)
    if bits > MOST_BITS:
        raise InvalidInput(
            f"hash_bits must be at most {MOST_BITS} (2^{MOST_BITS} columns); got {bits}."
        )
    return bits


def _examples(value: Any) -> int:
    return 0 if value == 0 else checks.positive_integer("examples", value)


def _dtype(value: Any) -> np.dtype[Any]:
    return checks.float_type("dtype", value)
