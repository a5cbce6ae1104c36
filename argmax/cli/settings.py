"""Words typed after options -> values, each with a sentence for what cannot be one."""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..checks import available_memory
from ..errors import InvalidInput
from ..features import Table

__all__ = [
    "feature_options",
    "memory_limit",
    "penalty",
    "template_options",
    "test_share",
]

FEATURES = tuple(
    name
    for name in inspect.signature(Table).parameters
    if name not in ("kinds", "n_threads", "dtype")
)

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

SHARE = 0.5
"""Of the memory that is left, what a fit may take unless told otherwise."""


TEMPLATES = ("min_count", "outside", "hash_bits", "examples")


def template_options(options: Iterable[str]) -> dict[str, Any]:
    """``--features min_count=2`` as parameters of ``features.Templates``.

    >>> from argmax.cli.settings import template_options
    >>> template_options(["min_count=2", "outside=skip"])
    {'min_count': 2, 'outside': 'skip'}
    """
    return _named(options, TEMPLATES)


def feature_options(options: Iterable[str]) -> dict[str, Any]:
    """``--features ngrams=1-2 --features hash_bits=18`` as parameters of ``features.Table``.

    >>> from argmax.cli.settings import feature_options
    >>> feature_options(["ngrams=1-2", "lowercase=no", "max_features=5000"])
    {'ngrams': (1, 2), 'lowercase': False, 'max_features': 5000}
    """
    return _named(options, FEATURES)


def _named(options: Iterable[str], names: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or name not in names:
            raise InvalidInput(
                f"--features must be name=value with a name of {', '.join(names)}; got {option!r}."
            )
        found[name] = _value(value)
    return found


def _value(text: str) -> Any:
    """A number, a pair, a truth value, None, or a word."""
    words = {"yes": True, "true": True, "no": False, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    if pair := re.fullmatch(r"(\d+)[-,](\d+)", text):
        return int(pair[1]), int(pair[2])
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def memory_limit(text: str | None) -> float:
    """``--memory 2G`` in bytes; without it, half of what is left.

    >>> from argmax.cli.settings import memory_limit
    >>> memory_limit("1.5G") == 1.5 * 2**30
    True
    """
    if text is None:
        return SHARE * available_memory()
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if not found or float(found[1]) <= 0:
        raise InvalidInput(f"--memory must be a size such as 500M or 4G; got {text!r}.")
    return float(found[1]) * UNITS[found[2].upper()]


def penalty(text: str) -> float | None:
    """``--C``: a positive number, or None for "auto"."""
    if text == "auto":
        return None
    try:
        C = float(text)
    except ValueError:
        C = math.nan
    if not C > 0:
        raise InvalidInput(f"--C must be auto or a positive number; got {text!r}.")
    return C


def test_share(text: str) -> float | None:
    """``--test``: a share of the rows, or None for a file."""
    if os.path.exists(text):
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(
            f"--test must be a file or a share of the rows such as 0.2; there is no file {text!r}."
        ) from None
