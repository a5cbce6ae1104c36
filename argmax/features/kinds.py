"""What a column is: the one rule that readers of files and ``Table`` share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "SAMPLE", "infer_kind", "is_number"]

KINDS = ("number", "category", "text", "id", "ignore")

SAMPLE = 10_000
"""Rows from the top of a table that are looked at, so that the answer does not depend on batches."""

FEW = 20
"""Values below which nothing is concluded from all of them being different."""

_NUMBER = re.compile(
    r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)\s*", re.A | re.I
)
_NAMED_ID = re.compile(r"(?i:(?:.*[^a-z])?(?:id|uuid|guid|rowid))|.*[a-z](?:Id|ID)", re.DOTALL)
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u2e80-\U0003ffff]")
"""Letters of scripts that are written without spaces: Thai, Lao, Burmese, Chinese, Japanese, …"""


def is_number(value: str) -> bool:
    """Whether a string is one plain number: ``-1``, ``2.5``, ``1e-3``, ``nan``, ``inf``; not ``1,5``.

    >>> from argmax.features import is_number
    >>> [is_number(value) for value in ("-1", " 2.5e3", "1,5", "1_000", "")]
    [True, True, False, False, False]
    """
    return _NUMBER.fullmatch(value) is not None


def infer_kind(values: Sequence[str | None] | NDArray[Any], *, rows: int, name: str = "") -> str:
    """The kind of a column, from a sample of its values: one of ``KINDS``.

    ``values`` are the sampled values in the order of the table: strings, with None or blank for missing, or
    an array of numbers with NaN for missing. ``rows`` is how many rows were sampled: those that ``values``
    leaves out are missing as well. The first line that fits decides:

    1. *ignore*: no value is present; or at least two rows hold one and the same value and none is missing.
    2. *id*: whole numbers that rise from each row to the next in at least 20 rows, by 10 or less on average,
       with none missing: a row number.
    3. *number*: every value present is a number (``is_number``), and the column is not named like an
       identifier (``id``, ``user_id``, ``userId``, ``uuid``).
    4. *category*: values repeat: at most half as many different values as values, and either single words
       (fewer than three on average) or at most 100 different values.
    5. *text*: more than 1.5 words a value on average. Scripts without spaces count two letters as a word.
    6. *id*: at least 20 values, all different.
    7. *category*: what remains.

    >>> from argmax.features import infer_kind
    >>> infer_kind(["1", "2.5", None], rows=3)
    'number'
    >>> infer_kind(["red", "blue", "red"], rows=3)
    'category'
    >>> infer_kind(["where is my parcel", "I cannot log in"], rows=2)
    'text'
    >>> infer_kind([f"A-{i}" for i in range(50)], rows=50)
    'id'
    >>> infer_kind(["same", "same"], rows=2)
    'ignore'
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        present = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        return _from_numbers(present.astype(np.float64), rows - len(present), name)
    texts = [str(value) for value in values if value is not None and str(value).strip()]
    if texts and all(map(is_number, texts)):
        numbers = np.array(texts, dtype=np.float64)
        present = numbers[~np.isnan(numbers)]
        return _from_numbers(present, rows - len(present), name)
    return _from_strings(texts, rows - len(texts))


def _from_numbers(present: NDArray[np.float64], missing: int, name: str) -> str:
    distinct = len(np.unique(present))
    if _says_nothing(len(present), distinct, missing):
        return "ignore"
    if not missing and _counts_up(present):
        return "id"
    if _NAMED_ID.fullmatch(name) and bool(np.all(present == np.floor(present))):
        return _from_strings([f"{value:.0f}" for value in present], missing)
    return "number"


def _from_strings(present: list[str], missing: int) -> str:
    count, distinct = len(present), len(set(present))
    if _says_nothing(count, distinct, missing):
        return "ignore"
    words = sum(map(_words, present)) / count
    if 2 * distinct <= count and (words < 3 or distinct <= 100):
        return "category"
    if words > 1.5:
        return "text"
    return "id" if distinct == count >= FEW else "category"


def _says_nothing(count: int, distinct: int, missing: int) -> bool:
    return count == 0 or (distinct == 1 and count >= 2 and not missing)


def _counts_up(values: NDArray[np.float64]) -> bool:
    if len(values) < FEW or not np.all(np.isfinite(values)) or np.any(values != np.floor(values)):
        return False
    steps = np.diff(values)
    return bool(steps.min() > 0 and steps.mean() <= 10)


def _words(value: str) -> float:
    return len(value.split()) + len(_NO_SPACES.findall(value)) / 2
