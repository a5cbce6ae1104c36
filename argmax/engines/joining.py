"""Shards in memory as one: for solvers that visit single examples, and must not visit shard after shard.

What the rows of one shard teach, those of the next would half undo, and where rows are many against their
features a hundred sweeps would do what five do in an order that mixes them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib.stride_tricks import as_strided

from .. import checks
from ..layouts import as_matrix
from ..records import Csr, Rows, Structures, Truth
from .shards import Shard

__all__ = ["joined"]

BY_EXAMPLE = "labels", "weight", "allowed", "cost_scale", "prices"
"""What a truth has for each example."""


def joined(shards: Sequence[Shard]) -> Shard:
    """All examples of these shards, one node each, in their order. What was cut is not copied.

    >>> import numpy as np
    >>> from argmax.engines import Shard
    >>> from argmax.engines.joining import joined
    >>> from argmax.layouts import Full
    >>> from argmax.records import Structures, Truth
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    >>> parts = [Shard(Structures(X[s]), Truth(y[s]), Full(1, 3)) for s in (slice(2), slice(2, 3))]
    >>> whole = joined(parts)
    >>> whole.truth.labels, np.shares_memory(whole.structures.rows, X)
    (array([0, 1, 2]), True)
    """
    if len(shards) == 1:
        return shards[0]
    truths = [shard.truth for shard in shards]
    kept = {name: _joined([getattr(truth, name) for truth in truths]) for name in BY_EXAMPLE}
    rows = _joined_rows([shard.structures.rows for shard in shards])
    return Shard(Structures(rows), Truth(**kept, cost=truths[0].cost), shards[0].layout)


def _joined_rows(parts: Sequence[Any]) -> Rows:
    first, last = parts[0], parts[-1]
    if not isinstance(first, Csr):
        return np.asarray(_joined(parts))
    if all(a.indices is b.indices and a.indptr[-1] == b.indptr[0] for a, b in pairwise(parts)):
        starts = [part.indptr[:-1] for part in parts]
        return replace(first, indptr=np.concatenate([*starts, last.indptr[-1:]]))
    return checks.compressed(sp.vstack([as_matrix(part) for part in parts], format="csr"))


def _joined(parts: Sequence[Any]) -> Any:
    """The arrays one after another: a view where they lie so in memory. None where there are none."""
    first = parts[0]
    if first is None:
        return None
    if not all(_follows(a, b) for a, b in pairwise(parts)):
        return np.concatenate(parts)
    return as_strided(first, (sum(map(len, parts)), *first.shape[1:]), first.strides)


def _follows(a: Any, b: Any) -> bool:
    """Whether b begins where a ends, both of them views of the same array."""
    contiguous = a.flags.c_contiguous and b.flags.c_contiguous
    return bool(
        contiguous
        and a.base is not None
        and a.base is b.base
        and a.ctypes.data + a.nbytes == b.ctypes.data
    )
