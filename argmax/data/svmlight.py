"""svmlight and LIBSVM files: ``label index:value index:value … # comment``.

Index j is column j, as written: a file that counts from 1 leaves column 0 empty, and one that counts
from 0 does not. So a file means the same whatever stands in another, which no rule that guesses can say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, Unsupported
from ..records import Csr, Strings
from .blocks import Block
from .cells import Cell, shown
from .readers import Piece, Reader, TextPiece, Way

__all__ = ["SvmLight", "looks_like"]

LABEL, FEATURES = "label", "features"

_LINE = re.compile(rb"[ \t]*+([^\s:#]++)((?:[ \t]++\d{1,18}:[-+.\deE]++)*+)[ \t\r]*+(?:#.*)?")


def looks_like(head: bytes) -> bool:
    """Whether a file may start like this: every line a label and pairs, some with pairs.

    >>> looks_like(b"spam 1:0.5 7:1\\nham 2:1\\n"), looks_like(b"id text\\n1 hello\\n")
    (True, False)
    """
    lines = [line for line in head.split(b"\n") if not _skipped(line)][:20]
    found = [_LINE.fullmatch(line) for line in lines]
    return bool(found) and all(found) and any(match and match[2] for match in found)


def _skipped(line: bytes) -> bool:
    return not line.strip() or line.lstrip().startswith(b"#")


@final
class SvmLight(Reader):
    """Two columns: ``label``, and ``features``, which is all the numbers of a row."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self.names = (LABEL, FEATURES)
        self.fixed = {LABEL: "category", FEATURES: "number"}

    def pieces(
        self, columns: Sequence[str], rows: int, *, strict: bool = False, last: bool = False
    ) -> Iterator[Piece]:
        width = 0
        for block in self._way.blocks(last):
            found = [
                (number, line)
                for number, line in enumerate(block.data.split(b"\n"), block.line)
                if not _skipped(line)
            ]
            for start in range(0, len(found), rows):
                piece = self._piece(found[start : start + rows], block, width)
                width = piece.features.width
                yield piece

    def _piece(self, group: list[tuple[int, bytes]], block: Block, width: int) -> _SvmPiece:
        lines = [number for number, _ in group]
        matches = [_LINE.fullmatch(line) for _, line in group]
        if None in matches:
            at = matches.index(None)
            raise self._malformed(group[at][1], lines[at], block)
        parts = [match.groups() for match in matches if match]
        pairs = [part[1] for part in parts]
        try:
            labels: list[Cell] = [part[0].decode("utf-8") for part in parts]
        except UnicodeDecodeError:
            block.text()  # says which byte is wrong
            raise
        column = TextPiece(self._way, {LABEL: labels}, lines, sum(map(len, pairs)))
        return _SvmPiece(self._way, column, pairs, self._rows(pairs, lines, width))

    def _rows(self, pairs: list[bytes], lines: list[int], width: int) -> Csr:
        indptr = np.zeros(len(pairs) + 1, np.int64)
        np.cumsum([pair.count(b":") for pair in pairs], out=indptr[1:])
        flat = b"".join(pairs).replace(b":", b" ").split()
        indices = np.fromiter(map(int, flat[0::2]), np.int64, len(flat) // 2)
        try:
            values = np.fromiter(map(float, flat[1::2]), np.float64, len(flat) // 2)
        except ValueError:
            values = np.array([_float(value) for value in flat[1::2]])
        self._check(indptr, indices, values, flat, lines)
        width = max(width, int(indices.max(initial=-1)) + 1)
        kind = np.int32 if width < 2**31 else np.int64
        return Csr(indptr.astype(kind), indices.astype(kind), values, width)

    def _check(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int64],
        values: NDArray[np.float64],
        flat: list[bytes],
        lines: list[int],
    ) -> None:
        def line_of(entry: int) -> int:
            return lines[int(np.searchsorted(indptr, entry, side="right")) - 1]

        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            value = flat[2 * int(wrong[0]) + 1].decode()
            raise self._bad(f"{shown(value)} is not a finite number.", line_of(wrong[0]))
        starts = np.zeros(len(indices) + 1, np.bool_)
        starts[indptr] = True
        falls = np.flatnonzero((np.diff(indices) <= 0) & ~starts[1:-1])
        if len(falls):
            before, after = indices[falls[0]], indices[falls[0] + 1]
            raise self._bad(
                f"index {after} comes after {before}. The indices of a line must rise.",
                line_of(falls[0]),
            )
        limits = self._way.limits
        if indices.max(initial=0) > limits.features:
            at = int(indices.argmax())
            what = f"{self._way.path}, line {line_of(at)}: the index {indices[at]:,} is too large"
            raise limits.exceeded("features", what)

    def _malformed(self, line: bytes, number: int, block: Block) -> BadFile:
        block.text()
        text = line.decode("utf-8").partition("#")[0]
        token = next((token for token in text.split()[1:] if not _is_pair(token)), None)
        if token is None:
            return self._bad("there is no label before the first pair.", number)
        if token.startswith("qid:"):
            return self._bad("qid is for ranking, which this is not. Remove it.", number)
        cut = " The file may be cut off: its last line has no end." if block.cut else ""
        problem = (
            f"{shown(token)} is not a pair index:value with a whole number before the colon.{cut}"
        )
        return self._bad(problem, number)

    def _bad(self, problem: str, line: int) -> BadFile:
        return BadFile(problem, path=self._way.path, line=line)


def _is_pair(token: str) -> bool:
    return _LINE.fullmatch(b"x " + token.encode("utf-8")) is not None


def _float(value: bytes) -> float:
    try:
        return float(value)
    except ValueError:
        return np.nan


@final
class _SvmPiece(Piece):
    """The labels, and the pairs as they stand and as sparse rows."""

    def __init__(self, way: Way, labels: TextPiece, pairs: list[bytes], features: Csr) -> None:
        self._way, self._labels, self._pairs, self.features = way, labels, pairs, features

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def weight(self) -> int:
        return self._labels.weight

    def numbers(self, name: str) -> NDArray[np.float64] | Csr:
        return self.features if name == FEATURES else self._labels.numbers(name)

    def strings(self, name: str) -> Strings:
        if name == FEATURES:
            raise Unsupported("the features of an svmlight file are numbers, not strings.")
        return self._labels.strings(name)

    def sample(self, name: str) -> Sequence[Cell]:
        if name == FEATURES:
            return [pairs.decode("ascii").strip() for pairs in self._pairs]
        return self._labels.sample(name)

    def _place(self, row: int) -> tuple[int | None, str]:
        return self._labels._place(row)
