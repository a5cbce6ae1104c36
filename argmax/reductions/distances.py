"""What makes a code usable: words far apart, and columns that ask something.

Distances are Hamming's, a 0 counting ½ (Allwein, Schapire and Singer 2000, JMLR 1): with the least distance d
between two rows, ⌊(d − 1)/2⌋ wrong bits can be corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

__all__ = ["Code", "Distances", "alike", "checked", "distances", "useful"]

Code = NDArray[np.int8]


@final
@dataclass(frozen=True, slots=True)
class Distances:
    """How far apart the rows of a code are, and how many wrong bits that corrects.

    >>> from argmax.reductions import codes
    >>> codes.distances(codes.exhaustive(4))
    Distances(classes=4, length=7, least=4.0, correctable=1)
    """

    classes: int
    length: int
    least: float
    correctable: int


def distances(code: Any) -> Distances:
    """The least distance d between two rows, and ⌊(d − 1)/2⌋.

    >>> from argmax.reductions import codes
    >>> codes.distances(codes.one_vs_rest(10))  # corrects nothing: any two rows differ in two bits
    Distances(classes=10, length=10, least=2.0, correctable=0)
    """
    code = np.asarray(code, dtype=float)
    k, length = code.shape
    between = (length - code @ code.T) / 2.0
    least = float(between[np.triu_indices(k, 1)].min())
    return Distances(k, length, least, max(int((least - 1) // 2), 0))


def checked(code: Any, k: int) -> Code:
    """A matrix of the user's, or what is wrong with it."""
    matrix = np.asarray(code)
    if matrix.ndim != 2 or len(matrix) != k or not np.isin(matrix, (-1, 0, 1)).all():
        raise InvalidInput(
            f"code must be a name or a matrix of −1, 0 and 1 with a row for each of the {k} classes; got "
            f"shape {matrix.shape}. Write 2 * bits − 1 for bits of 0 and 1."
        )
    matrix = matrix.astype(np.int8)
    if (pair := alike(matrix)) is not None:
        raise InvalidInput(
            f"code: no column tells rows {pair[0]} and {pair[1]} apart. Give every class bits of its own."
        )
    kept = useful(matrix).shape[1]
    if kept < matrix.shape[1]:
        raise InvalidInput(
            f"code has {matrix.shape[1] - kept} column(s) without both bits, or equal or opposite to an "
            "earlier one. Remove them: each costs a fit and says nothing new."
        )
    return matrix


def alike(code: Code) -> tuple[int, int] | None:
    """Two rows without opposite bits in any column, if there are."""
    ones, zeros = (code == 1).astype(np.int64), (code == -1).astype(np.int64)
    apart = ones @ zeros.T + zeros @ ones.T
    first, second = np.triu_indices(len(code), 1)
    same = apart[first, second] == 0
    at = int(np.argmax(same)) if same.any() else -1
    return None if at < 0 else (int(first[at]), int(second[at]))


def useful(code: Code) -> Code:
    """The columns in which both bits occur, each question once."""
    both = (code == 1).any(axis=0) & (code == -1).any(axis=0)
    code = code[:, both]
    lead = code[np.argmax(code != 0, axis=0), np.arange(code.shape[1])]
    questions = np.ascontiguousarray((code * lead).T)
    first: dict[bytes, int] = {}
    for column, question in enumerate(questions):
        first.setdefault(question.tobytes(), column)
    return np.ascontiguousarray(code[:, list(first.values())])
