"""Shards: examples in order, cut by bytes from the data alone, so every engine sees the same pieces."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, final

import numpy as np

from ..layouts import Layout, as_matrix
from ..records import Csr, Floats, Ints, Rows, Structures, Truth

__all__ = ["Shard", "cut", "row_bytes"]

SHARD_BYTES = 2**30
"""A shard is as large as a worker likes to load at once."""

BLOCK_WORK = 500_000, 50_000_000
"""Multiply-adds of a block of rows: enough to hide the call, short enough to interrupt (some 20 ms)."""

PIECES = 64
"""At most so many pieces of work in a shard are worth making: four for each of sixteen cores."""

PART_BYTES = 2**24
"""What private gradients of row parts may take together at most (never more than 1/128 of the rows, or
1 MiB); beyond it columns get owners."""


@final
class Shard:
    """Some consecutive examples, how they are cut into blocks, and what earlier tasks left here.

    ``slots`` holds arrays stamped with the point they belong to: scores for a line search, marginals
    for a Hessian product. A task finding no slot, or one with another stamp, computes it anew.

    >>> import numpy as np
    >>> from argmax.engines import Shard
    >>> from argmax.layouts import Layout
    >>> from argmax.records import Structures, Truth
    >>> rows, truth = Structures(np.zeros((4, 2))), Truth(np.zeros(4, int))
    >>> Shard(rows, truth, Layout(2, 3)).blocks
    [(0, 4)]
    """

    def __init__(self, structures: Structures, truth: Truth, layout: Layout) -> None:
        self.structures, self.truth = structures, truth
        self.work = entries(structures.rows) * layout.width
        self.blocks = _blocks(structures, self.work)
        private = min(PART_BYTES, max(2**20, row_bytes(structures.rows) // 128))
        self.parts = _parts(self.work, 8 * layout.size, private, len(self.blocks))
        self.slots: dict[str, tuple[Any, Any]] = {}
        self._transposed: Csr | None = None
        self.groups = _groups(self.blocks, self.work)
        self._opened: dict[tuple[int, int], tuple[Structures, Truth, slice]] = {}

    def __len__(self) -> int:
        return len(self.structures)

    @property
    def by_columns(self) -> bool:
        """Whether each feature has one owner in the adjoint, instead of each part its own gradient."""
        return self.parts == 0

    def open(self, block: int) -> tuple[Structures, Truth, slice]:
        """A block: its structures, its truth, and the range of its nodes in the shard."""
        return self._open(self.blocks[block])

    def group(self, group: int) -> tuple[Structures, Truth, slice]:
        """The same for a group of blocks: larger pieces for lighter work."""
        return self._open(self.groups[group])

    def _open(self, bounds: tuple[int, int]) -> tuple[Structures, Truth, slice]:
        # Kept, because while one thread makes views the others wait for the interpreter's lock.
        found = self._opened.get(bounds)
        if found is None:
            nodes, examples = slice(*self.structures.node_range(*bounds)), slice(*bounds)
            found = self.structures[examples], self.truth.block(examples, nodes), nodes
            self._opened[bounds] = found
        return found

    def kept(self, name: str, stamp: Any) -> Any:
        """What a task left under this name for this point, or None."""
        found = self.slots.get(name)
        return found[1] if found is not None and found[0] is stamp else None

    def keep(self, name: str, stamp: Any, shape: tuple[int, ...]) -> Any:
        """An array to fill under this name for this point; the memory of an older one is used again."""
        found = self.slots.get(name)
        array = np.empty(shape) if found is None or found[1].shape != shape else found[1]
        self.slots[name] = (stamp, array)
        return array

    def padded_residual(self, width: int) -> Floats:
        """Memory for residuals (N, width); columns beyond the labels are cleared once and stay zero."""
        shape = (self.structures.nodes, width)
        found = self.slots.get("residual")
        if found is None or found[1].shape != shape:
            self.slots["residual"] = (None, np.zeros(shape))
        residual: Floats = self.slots["residual"][1]
        return residual

    @property
    def by_column(self) -> Rows:
        """What an owner of features reads: sparse rows transposed (once), dense rows as they are."""
        rows = self.structures.rows
        if not isinstance(rows, Csr):
            return rows
        if self._transposed is None:
            columns = as_matrix(rows).tocsc()
            kind = rows.indices.dtype
            self._transposed = Csr(
                columns.indptr.astype(kind, copy=False),
                columns.indices.astype(kind, copy=False),
                columns.data,
                len(rows),
            )
        return self._transposed

    def column_ranges(self) -> list[slice]:
        """Consecutive features, with about the same number of entries in each range."""
        low, _ = BLOCK_WORK
        count = int(np.clip(self.work // low, 1, PIECES))
        rows = self.by_column
        if isinstance(rows, Csr):
            bounds = np.searchsorted(rows.indptr, np.linspace(0, rows.entries, count + 1))
            bounds[0], bounds[-1] = 0, len(rows)
        else:
            bounds = np.linspace(0, rows.shape[1], count + 1).astype(int)
        return [slice(int(a), int(b)) for a, b in pairwise(np.unique(bounds))]


def entries(rows: Rows) -> int:
    return rows.entries if isinstance(rows, Csr) else int(rows.size)


def row_bytes(rows: Rows) -> int:
    """Bytes that the rows take."""
    return entries(rows) * (rows.dtype.itemsize + (4 if isinstance(rows, Csr) else 0))


def _blocks(structures: Structures, work: int) -> list[tuple[int, int]]:
    """Ranges of examples: at most PIECES unless that would make them too large."""
    n, (low, high) = len(structures), BLOCK_WORK
    count = max(min(work // low, PIECES), work // high, 1)
    bounds = np.unique(np.linspace(0, n, int(min(count, n)) + 1).astype(int))
    return [(int(a), int(b)) for a, b in pairwise(bounds)]


def _groups(blocks: list[tuple[int, int]], work: int) -> list[tuple[int, int]]:
    """Blocks joined into some 16 pieces, unless those would take too long to be interrupted."""
    _, high = BLOCK_WORK
    count = min(max(16, work // high), len(blocks))
    firsts = [i * len(blocks) // count for i in range(count + 1)]
    return [(blocks[a][0], blocks[b - 1][1]) for a, b in pairwise(firsts)]


def _parts(work: int, gradient: int, private: int, blocks: int) -> int:
    """Into how many row parts with private gradients the adjoint is split; 0 means by columns.

    Filling and adding the private gradients (of so many bytes each) must stay small against the work
    itself; and together they may take ``private`` bytes.
    """
    parts = min(PIECES, blocks)
    while parts > 1 and parts * gradient > min(private, work):
        parts //= 2
    return parts if parts >= min(8, blocks) else 0


def cut(structures: Structures, truth: Truth, layout: Layout) -> list[Shard]:
    """The shards of a data set held in memory: views, no copies.

    >>> import numpy as np
    >>> from argmax.engines import cut
    >>> from argmax.layouts import Layout
    >>> from argmax.records import Structures, Truth
    >>> [
    ...     len(shard)
    ...     for shard in cut(Structures(np.zeros((4, 2))), Truth(np.zeros(4, int)), Layout(2, 3))
    ... ]
    [4]
    """
    count = -(-row_bytes(structures.rows) // SHARD_BYTES)
    bounds: Ints = np.unique(np.linspace(0, len(structures), max(count, 1) + 1).astype(int))
    shards = []
    for start, stop in pairwise(bounds):
        examples = slice(int(start), int(stop))
        nodes = slice(*structures.node_range(int(start), int(stop)))
        part = structures if count <= 1 else structures[examples]
        shards.append(Shard(part, truth.block(examples, nodes), layout))
    return shards
