"""Dask: shards on the workers of a cluster, weights sent to them once a pass.

    driver    solver, w, sums in the order of the shards
    workers   rows, and what a task left behind; a worker that knows nothing computes it anew

Plain tasks, no actors: a shard is the result of a task that any worker can run again, so a worker that dies
takes nothing with it that cannot be had again. Tasks are alike whoever runs them, and their sums are added in
one fixed shape: the number of workers changes the time, never the bits.
"""

from __future__ import annotations

import copy
import hashlib
import pickle
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

from .. import checks
from ..errors import Unsupported, WorkerLost
from ..records import aligned
from .base import BRANCHES, Engine, Sums, Task, add_up
from .cluster import Cluster, check_client
from .examples import Examples
from .machine import Machine
from .remote import Parcel, Remote, copied, load, summed, work
from .shards import Shard
from .threads import Threads

__all__ = ["Dask"]

VECTORS = 8
"""Long vectors that stay on the cluster for the next pass, which often needs one of them again."""


@final
class Dask(Engine):
    """A cluster, through the caller's own ``distributed.Client``.

    ``timeout``: seconds without any answer after which the shards that are due count as late. They are
    loaded once more, on other workers; if no answer comes for as long again, or there is no other worker,
    ``WorkerLost`` names the shard: after three such times and ten seconds at most. ``mixed`` allows workers
    with different versions or processors, whose bits may differ.

    Rows: in memory (sent once), a ``Stored`` set in a folder that the workers can read, dask arrays, or
    dask dataframes of numbers.

    >>> from argmax import LinearClassifier, engines
    >>> from distributed import Client  # doctest: +SKIP
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> model = LinearClassifier(engine=engines.Dask(client)).fit(X, y)  # doctest: +SKIP
    """

    random_access = False

    def __init__(self, client: Any, timeout: float = 120.0, mixed: bool = False) -> None:
        check_client(client)
        self.timeout = checks.number("timeout", timeout, 0.0, open_low=True)
        self.mixed = mixed
        self._cluster: Cluster | None = Cluster(client, self.timeout)
        self._like: Machine | None = None
        self._sent: dict[str, Any] = {}  # futures of long vectors

    def __repr__(self) -> str:
        client = None if self._cluster is None else self._cluster.client
        return f"Dask({client!r}, timeout={self.timeout:g})"

    @property
    def cluster(self) -> Cluster:
        """The connection; a copy that was pickled has none."""
        if self._cluster is None:
            raise Unsupported(
                "this engine was pickled, and a connection to a cluster cannot be. Connect again, and use "
                "set_params(engine=engines.Dask(client))."
            )
        return self._cluster

    def __getstate__(self) -> dict[str, Any]:
        return {"timeout": self.timeout, "mixed": self.mixed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.timeout, self.mixed = state["timeout"], state["mixed"]
        self._cluster, self._like, self._sent = None, None, {}

    def __deepcopy__(self, memo: Any) -> Dask:
        return self  # clone(estimator) means the same cluster

    @contextmanager
    def open(self) -> Iterator[Threads]:
        with self.cluster.connected():
            self._like = None if self.mixed else self.cluster.compare()
        with Threads(1).open() as crew:
            try:
                yield crew
            finally:
                self._sent.clear()
                self.cluster.late.clear()

    def collect(self, X: Any, y: Any, sample_weight: Any) -> Examples | None:
        from .partitions import Partitions, is_collection

        return Partitions(self.cluster, X, y, sample_weight) if is_collection(X) else None

    def place(self, shards: Sequence[Any]) -> list[Any]:
        """Each shard as something that workers can be asked for."""
        placed, first = [], 0
        for i, shard in enumerate(shards):
            last = first + len(shard) - 1
            if isinstance(shard, Shard):
                make = self._loading(shard) if shard.on_disk else self._sending(shard)
                shard = Remote(make, len(shard), shard.work, shard.sparse, shard.dtype)
            shard.where = f"shard {i + 1} of {len(shards)} (rows {first} to {last})"
            placed.append(shard)
            first = last + 1
        return placed

    def fold(self, task: Task, shards: Sequence[Any], *arguments: Any) -> Sums:
        with self.cluster.connected():
            tops = self._answers(task, shards, arguments, joined=True)
            return add_up(copied(self.cluster.result(future)) for future in tops)

    def each(self, task: Task, shards: Sequence[Any], *arguments: Any) -> Iterator[Sums]:
        with self.cluster.connected():
            futures = self._answers(task, shards, arguments, joined=False)
        while futures:
            with self.cluster.connected():
                found = self.cluster.result(futures.pop(0))
            yield {name: aligned(value) for name, value in found.items()}

    # Sending

    def _loading(self, shard: Shard) -> Callable[[list[str] | None, int], Any]:
        """A shard in files: the worker reads it. Its key says what it is, so that fits can share it."""
        digest = hashlib.blake2b(pickle.dumps(shard), digest_size=16).hexdigest()

        def make(workers: list[str] | None, attempt: int) -> Any:
            key = f"argmax-load-{digest}-{attempt}"
            return self.cluster.client.submit(load, shard, key=key, workers=workers)

        return make

    def _sending(self, shard: Shard) -> Callable[[list[str] | None, int], Any]:
        """A shard in the memory of this process: it is sent, as a copy without what tasks left here."""
        return lambda workers, attempt: self.cluster.scatter(copy.copy(shard), workers)

    def _post(self, task: Task, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """A task and its arguments, as what ``work`` takes; long vectors are on the cluster then."""
        parcel = Parcel.pack((task, arguments))
        futures = {
            name: self._sent.pop(name, None) or self.cluster.scatter(vector)
            for name, vector in parcel.vectors.items()
        }
        self._sent |= futures
        while len(self._sent) > max(VECTORS, len(futures)):
            del self._sent[next(iter(self._sent))]
        names, vectors = list(futures), list(futures.values())
        return {"content": parcel.content, "names": names, "vectors": vectors, "like": self._like}

    def _submit(
        self, shards: Sequence[Remote], task: Task, arguments: tuple[Any, ...]
    ) -> list[Any]:
        sent, workers = self._post(task, arguments), self.cluster.workers()
        allowed = None
        if self.cluster.late:
            allowed = list(workers)
            self._lose_shards(shards)
        name = f"argmax-{task.__name__}-{uuid.uuid4().hex}"
        futures: list[Any] = self.cluster.client.map(
            work,
            [shard.future(allowed) for shard in shards],
            key=[f"{name}-{i}" for i in range(len(shards))],
            threads=max(1, sum(workers.values()) // len(shards)),
            workers=allowed,
            pure=False,
            **sent,
        )
        return futures

    def _joined(self, futures: list[Any]) -> list[Any]:
        """Sums of eight consecutive ones, and so on, on the workers, until the driver has few to add."""
        while len(futures) > BRANCHES:
            groups = [futures[i : i + BRANCHES] for i in range(0, len(futures), BRANCHES)]
            allowed = list(self.cluster.workers()) if self.cluster.late else None
            futures = [
                self.cluster.client.submit(summed, *group, workers=allowed, pure=False)
                for group in groups
            ]
        return futures

    # Waiting

    def _answers(
        self, task: Task, shards: Sequence[Remote], arguments: tuple[Any, ...], joined: bool
    ) -> list[Any]:
        """Finished futures: one a shard, or sums of several; what is lost or late is asked for twice."""
        cluster = self.cluster
        leaves = self._submit(shards, task, arguments)
        tops = self._joined(leaves) if joined else leaves
        try:
            if missing := cluster.missing([*leaves, *tops]):
                if missing == "late":
                    cluster.find_late(leaves)
                lost = self._lose(shards, leaves)
                if lost:
                    again = self._submit([shards[i] for i in lost], task, arguments)
                    for i, future in zip(lost, again, strict=True):
                        leaves[i] = future
                tops = self._joined(leaves) if joined else leaves
                if cluster.missing([*leaves, *tops]):
                    self._give_up(shards, leaves, "nor again elsewhere")
        except BaseException:
            cluster.cancel([*leaves, *tops])
            raise
        return list(tops)

    def _lose(self, shards: Sequence[Remote], leaves: list[Any]) -> list[int]:
        """Which answers to ask for again; shards and vectors that are gone are given up as well."""
        cluster = self.cluster
        if not cluster.workers():
            self._give_up(shards, leaves, "and there is no other worker")
        self._sent.clear()
        self._lose_shards(shards)
        lost = [i for i, gone in enumerate(cluster.gone(leaves)) if gone]
        cluster.cancel([leaves[i] for i in lost])
        return lost

    def _lose_shards(self, shards: Sequence[Remote]) -> None:
        """Give up the shards that nobody holds any more who answers."""
        made = [shard for shard in shards if shard.made]
        for shard, gone in zip(
            made, self.cluster.gone([s.future(None) for s in made]), strict=True
        ):
            if gone:
                shard.lose()

    def _give_up(self, shards: Sequence[Remote], leaves: list[Any], also: str) -> None:
        due = [s.where for s, leaf in zip(shards, leaves, strict=True) if leaf.status != "finished"]
        what = due[0] if due else "the sum over all shards"
        raise WorkerLost(
            f"{what} did not come back within {self.timeout:g} s of the last answer, {also}. Look at the "
            "logs of the workers, or raise timeout."
        )
