"""Shards: examples in order, cut by bytes from the data alone, so every engine sees the same pieces."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, final

import numpy as np

from ..kernels import compiled
from ..layouts import Layout, as_matrix, csr_arguments
from ..records import Csr, Floats, Ints, Rows, Structures, Truth, aligned
from .columns import Run, Splits, columns_on_disk, split
from .dealt import Dealt
from .files import Scratch
from .reading import Reading
from .slots import Slots

__all__ = ["Shard", "cut", "row_bytes"]

SHARD_BYTES = 2**29
"""A shard is as large as a worker likes to load at once, with the scores that tasks leave there."""

GRADIENTS = 4
"""A shard is at least as large as so many gradients: adding up its own must not be the main work."""

BLOCK_WORK = 500_000, 50_000_000
"""Multiply-adds of a block of rows: enough to hide the call, short enough to interrupt (some 20 ms)."""

PIECES = 64
"""At most so many pieces of work in a shard are worth making: four for each of sixteen cores."""

PARTS, FEW = 128, 8
"""Row parts in which losses and gradients are summed: many, because cores are not equally fast. So many of
their gradients, each in memory of its own that is used again, are in use at least."""

TAPER = 0.85
"""The first part is larger than the mean by this share of it, the last one smaller."""

TOGETHER = 48
"""Dense rows that kernels take at once (``products.AT_ONCE``): of other numbers some would be left over."""

PART_BYTES = 2**24
"""What ``FEW`` of those gradients may take together at most (never more than 1/256 of the rows, or 1 MiB, or
for dense rows half of what the residuals take, which owners of columns would need); beyond it columns get
owners."""

NARROW = 48
"""Dense columns of a range at least: products of fewer are slow, and threads get in each other's way."""


@final
class Shard:
    """Some consecutive examples, how they are cut into blocks, and what earlier tasks left here.

    ``slots`` holds arrays stamped with the point they belong to: scores for a line search, marginals
    for a Hessian product. A task finding no slot, or one with another stamp, computes it anew.

    ``part_starts`` says where the row parts begin in which losses and gradients are summed, and where the
    last one ends.

    ``dealt`` are the rows as a solver has dealt them out to visit them; other passes may read them so, too.

    With ``reading`` the structures and the truth lie in files, and a block is read when it is opened;
    slots then wait in ``scratch`` from one task to the next.

    >>> import numpy as np
    >>> from argmax.engines import Shard
    >>> from argmax.layouts import Full
    >>> from argmax.records import Structures, Truth
    >>> rows, truth = Structures(np.zeros((4, 2))), Truth(np.zeros(4, int))
    >>> Shard(rows, truth, Full(2, 3)).blocks
    [(0, 4)]
    """

    def __init__(
        self,
        structures: Structures,
        truth: Truth,
        layout: Layout,
        reading: Reading | None = None,
        scratch: Scratch | None = None,
    ) -> None:
        self.structures, self.truth, self.layout = aligned(structures), aligned(truth), layout
        self.reading, self._scratch = reading, scratch
        self.work = entries(structures.rows) * layout.width
        self.blocks = _blocks(structures, self.work)
        residuals = 0 if self.sparse else 8 * structures.nodes * layout.width
        private = min(PART_BYTES, max(2**20, row_bytes(structures.rows) // 256, residuals // 2))
        self.by_columns = _by_columns(self.work, 8 * layout.size, private)
        together = 1 if self.sparse or structures.offsets is not None else TOGETHER
        self.part_starts = _tapered(len(self), self._parts(8 * layout.size), together)
        self.parts = len(self.part_starts) - 1
        self.slots = Slots(scratch)
        self.lock = threading.Lock()
        self._transposed: Csr | None = None
        self.dealt: Dealt | None = None
        self.groups = _groups(self.blocks, self.work)
        self._opened: dict[tuple[int, int], tuple[Structures, Truth, slice]] = {}
        self._made: dict[Any, Any] = {}

    def _parts(self, gradient: int) -> int:
        """How many row parts there are; where they have gradients, adding those must stay cheap."""
        parts = min(max(self.work // BLOCK_WORK[0], 1), PARTS)
        if self.by_columns:
            return parts
        return max(min(FEW, parts), min(parts, self.work // (FEW * gradient)))

    def __len__(self) -> int:
        return len(self.structures)

    @property
    def on_disk(self) -> bool:
        """Whether a block is read from files when it is opened."""
        return self.reading is not None

    @property
    def sparse(self) -> bool:
        return isinstance(self.structures.rows, Csr)

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the rows."""
        return self.structures.rows.dtype

    def open(self, block: int) -> tuple[Structures, Truth, slice]:
        """Structures and truth of a block, and where its nodes are in the shard."""
        return self._open(self.blocks[block])

    def spans(self, part: int, pieces: bool = False) -> list[tuple[Structures, Truth, slice]]:
        """What ``open`` gives, of a row part: whole, or in ``pieces`` where it is much work."""
        first, last = (int(start) for start in self.part_starts[part : part + 2])
        count = max(1, self.work // self.parts // BLOCK_WORK[1]) if pieces else 1
        bounds = [first + (last - first) * i // count for i in range(count + 1)]
        return [self._open((a, b)) for a, b in pairwise(bounds) if a < b]

    def between(self, first: int, last: int) -> tuple[Structures, Truth, slice]:
        """What ``open`` gives, of any consecutive examples."""
        return self._open((first, last))

    def at_once(self, pieces: int, work: int | None = None) -> int:
        """Of so many pieces of a pass (or other work) those that a thread may do before it looks around."""
        return max(1, BLOCK_WORK[1] * pieces // max(self.work if work is None else work, 1))

    def group(self, group: int) -> tuple[Structures, Truth, slice]:
        """The same for a group of blocks: larger pieces for lighter work."""
        return self._open(self.groups[group])

    def answers(self, group: int) -> tuple[Truth, slice, Ints | None]:
        """The truth, the nodes and the offsets of a group, for work that does not look at x."""
        if self.reading is None:
            structures, truth, nodes = self._open(self.groups[group])
            return truth, nodes, structures.offsets
        nodes = slice(*self.groups[group])
        return self.reading.truth(self.truth.block(nodes, nodes)), nodes, None

    def _open(self, bounds: tuple[int, int]) -> tuple[Structures, Truth, slice]:
        # Kept, because while one thread makes views the others wait for the interpreter's lock.
        found = self._opened.get(bounds)
        if found is None:
            nodes, examples = slice(*self.structures.node_range(*bounds)), slice(*bounds)
            structures, truth = self.structures[examples], self.truth.block(examples, nodes)
            if self.reading is not None:
                rows = self.reading.rows(structures.rows)
                return Structures(rows), self.reading.truth(truth), nodes
            found = structures, truth, nodes
            self._opened[bounds] = found
        return found

    def every(self, step: int) -> Floats:
        """Every ``step``-th dense row, from the first on."""
        rows = self.structures.rows
        assert not isinstance(rows, Csr)
        return np.asarray(rows[::step] if self.reading is None else self.reading.rows(rows[::step]))

    def weights(self) -> Floats | None:
        """The weights of all examples, or None where all are 1."""
        return self.truth.weight if self.reading is None else self.reading.truth(self.truth).weight

    def made(
        self, name: Any, make: Callable[[], Any], fits: Callable[[Any], bool] | None = None
    ) -> Any:
        """What was made of the rows under this name; made now if it was not, or no longer ``fits``."""
        if name in self._made and fits is not None and not fits(self._made[name]):
            del self._made[name]
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def splits(self, run: Run) -> Splits | None:
        """``columns.split`` of the sparse rows, once."""
        rows = self.structures.rows
        assert isinstance(rows, Csr)
        found: Splits | None = self.made("splits", lambda: split(rows, run))
        return found

    def forget_entries(self) -> None:
        """Let go of the entries of sparse rows in memory: what was made of them is all that is asked for.

        How many rows there are stays known. Such a shard cannot travel any more.
        """
        rows = self.structures.rows
        assert isinstance(rows, Csr)
        assert not self.on_disk
        nothing = np.broadcast_to(rows.indptr[:1] * 0, rows.indptr.shape)
        empty = Csr(nothing, rows.indices[:0].copy(), None, rows.width)
        self.structures = replace(self.structures, rows=empty)
        self._opened.clear()

    def drop(self, name: str, stamp: Any) -> None:
        """Give back the memory of what was left under this name for this point."""
        self.slots.drop(name, stamp)

    def rest(self) -> None:
        """Between two tasks: give back what memory can be given back."""
        self.slots.rest()

    def loaded(self) -> Shard:
        """This shard with all of it in memory."""
        if self.reading is None:
            return self
        rows, truth = self.reading.rows(self.structures.rows), self.reading.truth(self.truth)
        return Shard(Structures(rows), truth, self.layout)

    # A copy that travels to another process leaves behind what tasks left here.

    def __getstate__(self) -> tuple[Any, ...]:
        return self.structures, self.truth, self.layout, self.reading

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)

    def __sizeof__(self) -> int:
        return 0 if self.on_disk else row_bytes(self.structures.rows)  # what dask goes by

    def padded_residual(self, width: int) -> Floats:
        """Memory for residuals (N, width); columns beyond the labels are cleared once and stay zero."""
        residual: Floats = self.slots.zeros("residual", (self.structures.nodes, width))
        return residual

    def tables(self, count: int) -> Floats:
        """Memory for so many gradients of row parts (count, size), as the last task left it.

        Kept for the next pass: new memory would come page by page, and threads queue for pages.
        """
        tables: Floats = self.slots.zeros("gradients", (count, self.layout.size))
        return tables

    def by_column(self, run: Run) -> Rows:
        """What an owner of features reads: sparse rows transposed (once), dense rows as they are."""
        rows = self.structures.rows
        if not isinstance(rows, Csr):
            return rows if self.reading is None else self.reading.rows(rows)
        if self._transposed is None and self._scratch is not None:
            self._transposed = columns_on_disk(
                self._sparse_blocks, rows, self._scratch, str(id(self))
            )
        if self._transposed is None:
            starts = [self.structures.node_range(*group)[0] for group in self.groups]
            self._transposed = transposed(rows, starts, run)
        return self._transposed

    def _sparse_blocks(self) -> Iterator[tuple[int, Csr]]:
        for first, last in self.blocks:
            rows = self._open((first, last))[0].rows
            assert isinstance(rows, Csr)
            yield first, rows

    def columns(self, rows: Rows, columns: slice) -> Rows:
        """Some of the columns of ``by_column``: what one owner reads."""
        if not isinstance(rows, Csr):
            return rows[:, columns]
        piece = rows[columns]
        if self._scratch is None:
            return piece
        first, last = int(piece.indptr[0]), int(piece.indptr[-1])
        indices = self._scratch.fetch(rows.indices[first:last])
        values = None if rows.values is None else self._scratch.fetch(rows.values[first:last])
        return Csr((piece.indptr - first).astype(indices.dtype), indices, values, rows.width)

    def column_ranges(self, rows: Rows, most: int = PIECES) -> list[slice]:
        """Consecutive features of ``by_column``, with about the same number of entries in each range."""
        low, _ = BLOCK_WORK
        count = int(np.clip(self.work // low, 1, most))
        if isinstance(rows, Csr):
            bounds = np.searchsorted(rows.indptr, np.linspace(0, rows.entries, count + 1))
            bounds[0], bounds[-1] = 0, len(rows)
        else:
            count = min(count, max(rows.shape[1] // NARROW, 1))
            bounds = np.linspace(0, rows.shape[1], count + 1).astype(int)
        return [slice(int(a), int(b)) for a, b in pairwise(np.unique(bounds))]


def transposed(rows: Csr, starts: list[int], run: Run) -> Csr:
    """The columns of some rows, each in the order of the rows; ``starts`` cut the work into pieces.

    >>> import numpy as np
    >>> from argmax.engines.shards import transposed
    >>> from argmax.records import Csr
    >>> rows = Csr(np.array([0, 2, 3]), np.array([0, 2, 2]), None, 3)
    >>> columns = transposed(rows, [0], lambda piece, count: [piece(i) for i in range(count)])
    >>> columns.indptr, columns.indices
    (array([0, 1, 1, 3]), array([0, 0, 1]))
    """
    kind, ends = rows.indices.dtype, [*starts[1:], len(rows)]
    if not compiled(rows.entries):
        columns = as_matrix(rows).tocsc()
        indices, indptr = columns.indices.astype(kind), columns.indptr.astype(kind)
        return Csr(indptr, indices, None if rows.values is None else columns.data, len(rows))
    from ..kernels import structure

    pieces = [rows[a:b] for a, b in zip(starts, ends, strict=True)]
    counts = np.zeros((len(pieces) + 1, rows.width), kind)
    run(
        lambda i: structure.count_columns(pieces[i].indptr, rows.indices, counts[i + 1]),
        len(pieces),
    )
    np.cumsum(counts, axis=0, out=counts)
    indptr = np.zeros(rows.width + 1, kind)
    np.cumsum(counts[-1], out=indptr[1:])
    counts += indptr[:-1]  # now: where each piece's entries of each column begin
    indices = np.empty(rows.entries, kind)
    values = None if rows.values is None else np.empty(rows.entries, rows.values.dtype)

    def place(i: int) -> None:
        out = np.empty(0) if values is None else values
        structure.transpose(*csr_arguments(pieces[i]), starts[i], counts[i], indices, out)

    run(place, len(pieces))
    return Csr(indptr, indices, values, len(rows))


def entries(rows: Rows) -> int:
    """Numbers that the rows store."""
    return rows.entries if isinstance(rows, Csr) else int(rows.size)


def row_bytes(rows: Rows) -> int:
    """Bytes that the rows take."""
    return entries(rows) * (rows.dtype.itemsize + (4 if isinstance(rows, Csr) else 0))


def _blocks(structures: Structures, work: int) -> list[tuple[int, int]]:
    """Ranges of examples: at most PIECES unless that would make them too large."""
    low, high = BLOCK_WORK
    return _ranges(len(structures), max(min(work // low, PIECES), work // high))


def _ranges(n: int, count: int) -> list[tuple[int, int]]:
    """n things in so many ranges of about the same length, none of them empty."""
    count = max(min(count, n), 1)
    return [(n * i // count, n * (i + 1) // count) for i in range(count)] if n else []


def _groups(blocks: list[tuple[int, int]], work: int) -> list[tuple[int, int]]:
    """Blocks joined into some 16 pieces, unless those would take too long to be interrupted."""
    _, high = BLOCK_WORK
    count = min(max(16, work // high), len(blocks))
    firsts = [i * len(blocks) // count for i in range(count + 1)]
    return [(blocks[a][0], blocks[b - 1][1]) for a, b in pairwise(firsts)]


def _tapered(n: int, parts: int, together: int = 1) -> Ints:
    """Where n examples are cut into parts, the last ones smaller: so that threads end at the same time.

    Where there are many, parts begin at multiples of ``together``, and may be fewer.

    >>> from argmax.engines.shards import _tapered
    >>> _tapered(100, 4)
    array([  0,  41,  71,  91, 100])
    """
    t = np.arange(parts + 1) / parts
    starts: Ints = (n * t * (1.0 + TAPER * (1.0 - t))).round().astype(np.int64)
    if n >= 8 * together:
        starts[:-1] -= starts[:-1] % together
    return np.unique(starts)


def _by_columns(work: int, gradient: int, private: int) -> bool:
    """Whether each feature has one owner in the adjoint, instead of each row part its own gradient.

    Filling and adding those gradients (of so many bytes each) must stay small against the work itself; and
    FEW of them may take ``private`` bytes.
    """
    few = min(FEW, work // BLOCK_WORK[0])
    return few > 1 and few * gradient > min(private, work)


def cut(
    structures: Structures,
    truth: Truth,
    layout: Layout,
    reading: Reading | None = None,
    scratch: Scratch | None = None,
) -> list[Shard]:
    """The shards of a data set: views, no copies. With ``reading`` it lies in files.

    >>> import numpy as np
    >>> from argmax.engines import cut
    >>> from argmax.layouts import Full
    >>> from argmax.records import Structures, Truth
    >>> [
    ...     len(shard)
    ...     for shard in cut(Structures(np.zeros((4, 2))), Truth(np.zeros(4, int)), Full(2, 3))
    ... ]
    [4]
    """
    ranges = shard_ranges(len(structures), structures.nodes, row_bytes(structures.rows), layout)
    shards = []
    for start, stop in ranges:
        examples, nodes = slice(start, stop), slice(*structures.node_range(start, stop))
        part = structures if len(ranges) == 1 else structures[examples]
        shards.append(Shard(part, truth.block(examples, nodes), layout, reading, scratch))
    return shards


def shard_ranges(n: int, nodes: int, row_bytes: int, layout: Layout) -> list[tuple[int, int]]:
    """Where the shards of n examples begin and end, from their sizes alone.

    >>> from argmax.engines.shards import shard_ranges
    >>> from argmax.layouts import Full
    >>> shard_ranges(1000, 1000, 2**31, Full(2, 3))
    [(0, 200), (200, 400), (400, 600), (600, 800), (800, 1000)]
    """
    size = max(SHARD_BYTES, GRADIENTS * 8 * layout.size)
    count = -(-(row_bytes + 8 * nodes * layout.kept) // size)
    return _ranges(n, count)
