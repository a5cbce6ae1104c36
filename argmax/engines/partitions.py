"""Dask arrays and dataframes as examples: their partitions are cut anew into shards, on the workers."""

from __future__ import annotations

import copy
import sys
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from .. import checks
from ..errors import InvalidInput, WrongType
from ..layouts import Layout, as_matrix
from ..records import Csr, Floats, Ints, Rows, Structures, Truth
from .cluster import Cluster
from .examples import Examples
from .reading import Reading, chosen
from .remote import Remote
from .shards import Shard, shard_ranges

__all__ = ["Partitions", "is_collection"]


def is_collection(X: Any) -> bool:
    """Whether X is a dask array or dataframe. Imports nothing: if dask is not there, X is neither.

    >>> from argmax.engines.partitions import is_collection
    >>> is_collection([[1.0, 2.0]])
    False
    """
    return isinstance(X, (*_kinds("dask.array", "Array"), *_kinds("dask.dataframe", "DataFrame")))


def _kinds(module: str, *names: str) -> tuple[Any, ...]:
    found = sys.modules.get(module)
    return () if found is None else tuple(getattr(found, name) for name in names)


@final
class Partitions(Examples):
    """What a dask collection holds, once each partition has been looked at on its worker."""

    def __init__(self, cluster: Cluster, X: Any, y: Any, sample_weight: Any) -> None:
        self._cluster, self._reading = cluster, Reading()
        self._delayed, self.names = _delayed(X, y, sample_weight)
        self._futures: dict[int, Any] = {}
        looks = cluster.client.map(_described, self._taken(range(len(self._delayed))), pure=False)
        cluster.wait(looks, "partition")
        about = [cluster.result(look) for look in looks]
        full = [each for each in about if each.rows]
        if not full:
            raise InvalidInput("X has no rows (or none with a positive weight).")
        _alike(about)
        self._rows = [each.rows for each in about]
        self.shape = sum(self._rows), full[0].columns
        self.entries = sum(each.entries for each in about)
        self.sparse, self.dtype = full[0].sparse, full[0].dtype
        self.weighted = any(each.weighted for each in full)
        self.labelled = y is not None
        self.classes = _union([each.classes for each in full]) if self.labelled else np.zeros(1)
        self._totals = self._weigh(about)

    @property
    def totals(self) -> Floats:
        return self._totals

    def check(self) -> None:
        """The workers have looked at it."""

    def prepared(self, factors: Floats | None = None, scale: Floats | None = None) -> Partitions:
        other = copy.copy(self)
        if factors is not None:
            other._totals = self._totals * factors
            other._reading = replace(other._reading, factors=factors)
        if scale is not None:
            other._reading = replace(other._reading, scale=scale)
        return other

    def cut(self, layout: Layout) -> list[Any]:
        n, ends = self.shape[0], np.cumsum([0, *self._rows])
        size = self.entries * (self.dtype.itemsize + (4 if self.sparse else 0))
        work = self.entries * layout.width
        shards = []
        for start, stop in shard_ranges(n, n, size, layout):
            share = work * stop // n - work * start // n
            make = self._assembling(start, stop, ends, layout)
            shards.append(Remote(make, stop - start, share, self.sparse, self.dtype))
        for shard in shards:
            shard.future(None)
        # From here on the workers hold the shards; a lost one is made again from the collection.
        self._futures.clear()
        return shards

    def _assembling(
        self, start: int, stop: int, ends: Ints, layout: Layout
    ) -> Callable[[list[str] | None, int], Any]:
        """How the shard of the rows start … stop−1 is put together from what it needs of partitions."""
        pieces = {
            i: (max(start, int(a)) - int(a), min(stop, int(b)) - int(a))
            for i, (a, b) in enumerate(pairwise(ends))
            if max(start, a) < min(stop, b)
        }
        plan = _Plan(
            tuple(pieces.values()),
            self.classes,
            self.labelled,
            self.weighted,
            self._reading,
            layout,
        )
        name = f"argmax-shard-{uuid.uuid4().hex}"

        def make(workers: list[str] | None, attempt: int) -> Any:
            parts = self._taken(pieces, workers)
            return self._cluster.client.submit(
                _assembled, plan, *parts, key=f"{name}-{attempt}", workers=workers, pure=False
            )

        return make

    def _taken(self, wanted: Iterable[int], workers: list[str] | None = None) -> list[Any]:
        """Futures of some partitions, checked and in the form of rows."""
        missing = [i for i in wanted if i not in self._futures]
        made = self._cluster.client.compute([self._delayed[i] for i in missing], workers=workers)
        self._futures.update(zip(missing, made, strict=True))
        return [self._futures[i] for i in wanted]

    def _weigh(self, about: list[_About]) -> Floats:
        """The weight of each class, added row by row from the first partition to the last."""
        totals = np.zeros(len(self.classes))
        if not self.labelled:
            return totals
        if not self.weighted:
            for each in about:
                totals[np.searchsorted(self.classes, each.classes)] += each.counts
            return totals
        client, future = self._cluster.client, None
        for part in self._taken(range(len(self._delayed))):
            future = client.submit(_weighed, future, part, self.classes, pure=False)
        self._cluster.wait([future], "partition")
        return np.asarray(self._cluster.result(future))


def _delayed(X: Any, y: Any, weight: Any) -> tuple[list[Any], tuple[str, ...] | None]:
    """One delayed part for each partition of rows, and the names of the columns."""
    from dask.delayed import delayed

    names, chunks = None, None
    if isinstance(X, _kinds("dask.dataframe", "DataFrame")):
        names, parts = tuple(map(str, X.columns)), X.to_delayed()
    else:
        if X.ndim != 2:
            raise InvalidInput(f"X must be 2-D; got a dask array of shape {X.shape}.")
        X = X.rechunk({1: X.shape[1]})
        chunks, parts = X.chunks[0], X.to_delayed().ravel().tolist()
    columns = [
        _beside(name, column, chunks, len(parts))
        for name, column in (("y", y), ("sample_weight", weight))
    ]
    taken = delayed(_taken, pure=False)
    return [taken(i, *row) for i, row in enumerate(zip(parts, *columns, strict=True))], names


def _beside(name: str, column: Any, chunks: Any, count: int) -> list[Any]:
    """The partitions of a column that belong to those of X."""
    if column is None:
        return [None] * count
    arrays, series = _kinds("dask.array", "Array"), _kinds("dask.dataframe", "Series")
    known = chunks is not None and not np.isnan(chunks).any()
    if isinstance(column, arrays) and column.ndim == 1:
        if known and not np.isnan(column.chunks[0]).any():
            checks.lengths(X=sum(chunks), **{name: sum(column.chunks[0])})
            column = column.rechunk((chunks,))
        parts = column.to_delayed().ravel().tolist()
    elif isinstance(column, series):
        parts = column.to_delayed()
    elif known and not isinstance(column, arrays):
        values = np.asarray(column)
        checks.lengths(X=sum(chunks), **{name: len(values)})
        bounds = np.cumsum([0, *chunks])
        parts = [values[a:b] for a, b in pairwise(bounds)]
    else:
        raise WrongType(
            f"{name} must be a dask array (n,) or series, with the partitions of X; got "
            f"{type(column).__name__}."
        )
    checks.lengths(**{"partitions of X": count, f"partitions of {name}": len(parts)})
    return list(parts)


def _alike(about: list[_About]) -> None:
    kinds = [(each.sparse, each.columns, each.dtype) for each in about]
    for i, kind in enumerate(kinds):
        if kind != kinds[0]:
            forms = [
                f"{'sparse' if s else 'dense'} with {d} columns of {t}"
                for s, d, t in (kinds[0], kind)
            ]
            raise InvalidInput(f"X: partition 0 is {forms[0]}, but partition {i} is {forms[1]}.")


def _union(classes: list[Any]) -> Any:
    if len({found.dtype.kind in "UTO" for found in classes}) > 1:
        raise InvalidInput("y mixes strings with numbers among its partitions. Use one of them.")
    return np.unique(np.concatenate(classes))


# On the workers


@final
@dataclass(frozen=True)
class _Part:
    """A partition: rows of positive weight, the classes there and their codes, weights."""

    rows: Rows
    classes: Any
    codes: Ints
    weight: Floats


@final
@dataclass(frozen=True)
class _About:
    """What the driver must know of a partition."""

    rows: int
    columns: int
    entries: int
    sparse: bool
    dtype: np.dtype[Any]
    weighted: bool
    classes: Any
    counts: Floats


@final
@dataclass(frozen=True)
class _Plan:
    """How to make a shard of parts: their ranges, and what all of them have in common."""

    ranges: tuple[tuple[int, int], ...]
    classes: Any
    labelled: bool
    weighted: bool
    reading: Reading
    layout: Layout


def _taken(i: int, X: Any, y: Any, sample_weight: Any) -> _Part:
    try:
        rows = checks.block(X)
        n = len(rows)
        weight = checks.sample_weight(sample_weight, n, all_zero=True)
        labelled = y is not None and n > 0
        classes, codes = checks.labels(None, y, n) if labelled else (np.zeros(0), np.zeros(n, int))
    except InvalidInput as error:
        raise InvalidInput(f"partition {i}: {error}") from error
    used = weight > 0
    if not used.all():  # a row without weight is a row that is not there
        rows, codes, weight = chosen(rows, used), codes[used], weight[used]
    if labelled:
        present, codes = np.unique(codes, return_inverse=True)
        classes = classes[present]
    return _Part(rows, classes, codes, weight)


def _described(part: _Part) -> _About:
    rows = part.rows
    sparse = isinstance(rows, Csr)
    entries = rows.entries if isinstance(rows, Csr) else int(rows.size)
    counts = np.bincount(part.codes, minlength=len(part.classes)).astype(float)
    weighted = bool(np.any(part.weight != 1.0))
    shape = len(rows), int(rows.shape[1])
    return _About(*shape, entries, sparse, rows.dtype, weighted, part.classes, counts)


def _weighed(totals: Floats | None, part: _Part, classes: Any) -> Floats:
    """The totals of the partitions before, and this one's rows one after the other."""
    result = np.zeros(len(classes)) if totals is None else totals.copy()
    np.add.at(result, np.searchsorted(classes, part.classes)[part.codes], part.weight)
    return result


def _assembled(plan: _Plan, *parts: _Part) -> Shard:
    """The shard that lies in these ranges of the parts."""
    cuts = [slice(*bounds) for bounds in plan.ranges]
    pieces: list[Any] = [part.rows[cut] for part, cut in zip(parts, cuts, strict=True)]
    if isinstance(pieces[0], Csr):
        stacked = sp.vstack([as_matrix(piece) for piece in pieces], format="csr")
        rows: Rows = checks.compressed(stacked, sum_duplicates=False)
    else:
        rows = np.ascontiguousarray(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))
    weight = np.concatenate([part.weight[cut] for part, cut in zip(parts, cuts, strict=True)])
    truth = Truth(_labels(plan, parts, cuts, len(rows)), weight if plan.weighted else None)
    reading = plan.reading
    return Shard(Structures(reading.rows(rows)), reading.truth(truth), plan.layout)


def _labels(plan: _Plan, parts: tuple[_Part, ...], cuts: list[slice], n: int) -> Ints:
    if not plan.labelled:
        return np.zeros(n, np.intp)
    places = [np.searchsorted(plan.classes, part.classes) for part in parts]
    codes = [at[part.codes[cut]] for at, part, cut in zip(places, parts, cuts, strict=True)]
    return np.concatenate(codes).astype(np.intp)
