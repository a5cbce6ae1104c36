"""Taking up a fit that was cut off: which problem this is, and whether a keeper has a snapshot of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engines import Crew, Shard
from ..engines.base import Sums
from ..objective import Objective
from ..records import Csr, Structures, Truth
from ..solvers import Keeper, Snapshot, Solver
from ..spaces import Chain, Space

__all__ = ["described", "fingerprint", "found"]


def found(callbacks: Iterable[Any], objective: Objective, solver: Solver) -> Snapshot | None:
    """The snapshot to go on from. Without a keeper among the callbacks, nothing is computed."""
    keepers = [callback for callback in callbacks if isinstance(callback, Keeper)]
    problem = described(objective, solver) if keepers else {}
    snapshots = [keeper.found(problem) for keeper in keepers]  # all are told
    return next((snapshot for snapshot in snapshots if snapshot is not None), None)


def described(objective: Objective, solver: Solver) -> dict[str, Any]:
    """All that decides where a run goes, as JSON can hold it.

    Not the seed, whose order of visits a snapshot holds, nor ``tol`` and the limits, which only decide
    where a run ends.
    """
    layout, shards = objective.problem.layout, objective.shards
    options = [f"{name}={value!r}" for name, value in vars(solver).items() if name != "seed"]
    digest = hashlib.blake2b(digest_size=32)
    for part in objective.engine.each(fingerprint, shards):
        digest.update(part["digest"])
    return {
        "loss": objective.problem.loss.name,
        "C": objective.C,
        "l1": objective.l1,
        "l2": objective.l2,
        "fit_intercept": layout.intercept,
        "solver": f"{solver.name}({', '.join(options)})",
        "rows": sum(len(shard) for shard in shards),
        "features": layout.features,
        "classes": layout.labels,
        "weights": layout.size,
        "answers": _answers(objective.problem.space),
        "data": digest.hexdigest(),
    }


def _answers(space: Space) -> str:
    """The space, with a digest of its constraints."""
    rules = space.constraints if isinstance(space, Chain) else None
    if rules is None:
        return repr(space)
    masks = b"".join(mask.tobytes() for mask in (rules.start, rules.end, rules.follow))
    return f"{space!r}, constraints {hashlib.blake2b(masks, digest_size=8).hexdigest()}"


def fingerprint(shard: Shard, crew: Crew) -> Sums:
    """{"digest": of all the rows, labels and weights of a shard, whichever engine holds it}."""
    blocks = crew.run(lambda i: _digest(*shard.open(i)[:2]), len(shard.blocks))
    return {"digest": b"".join(blocks)}


def _digest(structures: Structures, truth: Truth) -> bytes:
    digest, rows = hashlib.blake2b(digest_size=32), structures.rows
    arrays = [truth.labels.astype(np.int64), truth.weight]
    arrays += [array for array in (truth.cost, truth.cost_scale) if array is not None]
    if isinstance(rows, Csr):
        used = slice(int(rows.indptr[0]), int(rows.indptr[-1]))
        arrays += [np.diff(rows.indptr).astype(np.int64), rows.indices[used].astype(np.int64)]
        arrays += [None if rows.values is None else rows.values[used]]
    else:
        arrays += [rows]
    for array in arrays:
        digest.update(b"|" if array is None else array.dtype.str.encode())
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return digest.digest()
