"""Dask: shards on the workers of a cluster, weights sent to them once a pass.

    driver    solver, w, sums in the order of the shards
    workers   rows, and what a task left behind; a worker that knows nothing computes it anew

Plain tasks, no actors: a shard is the result of a task that any worker can run again, so a worker that dies
takes nothing with it that cannot be had again. Tasks are alike whoever runs them, and their sums are added in
one fixed shape: the number of workers changes the time, never the bits.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import itertools
import pickle
import queue
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, final

from .. import checks
from ..errors import MissingExtra, Unsupported, WorkerLost, WrongType
from .base import BRANCHES, Engine, Sums, Task, add_up
from .examples import Examples
from .machine import Machine, difference, machine
from .remote import Parcel, Remote, copied, load, look, summed, work
from .shards import Shard
from .threads import Threads

__all__ = ["Dask"]

VECTORS = 8
"""Long vectors that stay on the cluster for the next pass, which often needs one of them again."""

SIGN_OF_LIFE = 5.0
"""Seconds that a worker has to say that it is there, once answers are overdue."""


@final
class Dask(Engine):
    """A cluster, through the caller's own ``distributed.Client``.

    ``timeout``: seconds without any answer after which the shards that are due count as late. They are
    loaded once more, on other workers; if no answer comes for as long again, or there is no other worker,
    ``WorkerLost`` names the shard. ``mixed`` allows workers with different versions or processors, whose
    bits may differ.

    Rows: in memory (sent once), a ``Stored`` set in a folder that the workers can read, dask arrays, or
    dask dataframes of numbers.

    >>> from argmax import LinearClassifier, engines
    >>> from distributed import Client  # doctest: +SKIP
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> model = LinearClassifier(engine=engines.Dask(client)).fit(X, y)  # doctest: +SKIP
    """

    random_access = False

    def __init__(self, client: Any, timeout: float = 120.0, mixed: bool = False) -> None:
        _check_client(client)
        self._client, self.mixed = client, mixed
        self.timeout = checks.number("timeout", timeout, 0.0, open_low=True)
        self._begin()

    def _begin(self) -> None:
        self._like: Machine | None = None
        self._late: set[str] = set()  # workers that once did not answer
        self._sent: dict[str, Any] = {}  # futures of long vectors
        self._turn = itertools.count()

    def __repr__(self) -> str:
        return f"Dask({self._client!r})"

    @property
    def client(self) -> Any:
        """The caller's client; a copy that was pickled has none."""
        if self._client is None:
            raise Unsupported(
                "this engine was pickled, and a connection to a cluster cannot be. Connect again, and use "
                "set_params(engine=engines.Dask(client))."
            )
        return self._client

    def __getstate__(self) -> dict[str, Any]:
        return {"timeout": self.timeout, "mixed": self.mixed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._client, self.timeout, self.mixed = None, state["timeout"], state["mixed"]
        self._begin()

    def __deepcopy__(self, memo: Any) -> Dask:
        return self  # clone(estimator) means the same cluster

    @contextmanager
    def open(self) -> Iterator[Threads]:
        self._like = None if self.mixed else self._compare()
        with Threads(1).open() as crew:
            try:
                yield crew
            finally:
                self._sent.clear()
                self._late.clear()

    def collect(self, X: Any, y: Any, sample_weight: Any) -> Examples | None:
        from .partitions import Partitions, is_collection

        return Partitions(self, X, y, sample_weight) if is_collection(X) else None

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
        tops = self._answers(task, shards, arguments, joined=True)
        return add_up(copied(self.result(future)) for future in tops)

    def each(self, task: Task, shards: Sequence[Any], *arguments: Any) -> Iterator[Sums]:
        futures = self._answers(task, shards, arguments, joined=False)
        while futures:
            yield self.result(futures.pop(0))

    # Workers

    def workers(self) -> dict[str, int]:
        """The workers that answer, and how many threads each has."""
        found = self._ask(self.client.scheduler.ncores)
        return {address: found[address] for address in sorted(found) if address not in self._late}

    def _ask(self, question: Callable[..., Any], **arguments: Any) -> Any:
        """The scheduler's answer, or an error in time."""
        try:
            return self.client.sync(question, callback_timeout=self.timeout, **arguments)
        except (OSError, TimeoutError) as error:
            raise WorkerLost(
                f"the scheduler did not answer within {self.timeout:g} s. Check that it is running, or "
                "raise timeout."
            ) from error

    def _looks(self, addresses: list[str]) -> list[Any]:
        """A small task for each of the workers: it answers with what that worker is."""
        name = f"argmax-look-{uuid.uuid4().hex}"
        return [
            self.client.submit(look, key=f"{name}-{i}", workers=[address], pure=False)
            for i, address in enumerate(addresses)
        ]

    def _compare(self) -> Machine:
        """What all workers are; raises where two of them differ."""
        addresses = list(self.workers())
        if not addresses:
            raise WorkerLost("the cluster has no workers. Start some, then fit.")
        looks = self._looks(addresses)
        if self.missing(looks):
            silent = next(
                a for a, f in zip(addresses, looks, strict=True) if f.status != "finished"
            )
            raise WorkerLost(
                f"worker {silent} did not answer within {self.timeout:g} s. Remove it, or raise timeout."
            )
        machines: list[Machine] = [self.result(future) for future in looks]
        first = machines[0]
        for address, other in zip(addresses, machines, strict=True):
            if found := difference(first, other):
                raise Unsupported(
                    f"the workers {addresses[0]} and {address} differ: {found}. The bits would depend on "
                    "who answers. Make them equal, or pass mixed=True."
                )
        if first["argmax"] != machine()["argmax"]:
            raise Unsupported(
                "the workers run another version of argmax than this process. Install the same one."
            )
        return first

    # Sending

    def _loading(self, shard: Shard) -> Callable[[list[str] | None, int], Any]:
        """A shard in files: the worker reads it. Its key says what it is, so that fits can share it."""
        digest = hashlib.blake2b(pickle.dumps(shard), digest_size=16).hexdigest()

        def make(workers: list[str] | None, attempt: int) -> Any:
            return self.client.submit(
                load, shard, key=f"argmax-load-{digest}-{attempt}", workers=workers
            )

        return make

    def _sending(self, shard: Shard) -> Callable[[list[str] | None, int], Any]:
        """A shard in the memory of this process: it is sent, as a copy without what tasks left here."""
        return lambda workers, attempt: self.scatter(copy.copy(shard), workers)

    def scatter(self, value: Any, workers: list[str] | None = None) -> Any:
        """Put a value on one worker; others fetch it from there, and from each other."""
        choice = list(self.workers()) if workers is None else workers
        while choice:
            target = choice[next(self._turn) % len(choice)]
            # A list of one: the parts of anything that can be iterated would land on several workers.
            options = {"workers": [target], "hash": False, "asynchronous": True}
            send = functools.partial(self.client.scatter, [value], **options)
            try:
                (future,) = self.client.sync(send, callback_timeout=self.timeout)
                return future
            except (OSError, TimeoutError):
                self._late.add(target)
                choice.remove(target)
        raise WorkerLost("the cluster has no workers that answer.")

    def _post(self, task: Task, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """A task and its arguments, as what ``work`` takes; long vectors are on the cluster then."""
        parcel = Parcel.pack((task, arguments))
        futures = {
            name: self._sent.pop(name, None) or self.scatter(vector)
            for name, vector in parcel.vectors.items()
        }
        self._sent |= futures
        while len(self._sent) > max(VECTORS, len(futures)):
            del self._sent[next(iter(self._sent))]
        return {
            "content": parcel.content,
            "names": list(futures),
            "vectors": list(futures.values()),
            "like": self._like,
        }

    def _submit(
        self, shards: Sequence[Remote], task: Task, arguments: tuple[Any, ...]
    ) -> list[Any]:
        workers, sent = self.workers(), self._post(task, arguments)
        allowed = list(workers) if self._late else None
        name = f"argmax-{task.__name__}-{uuid.uuid4().hex}"
        futures: list[Any] = self.client.map(
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
            futures = [self.client.submit(summed, *group, pure=False) for group in groups]
        return futures

    # Waiting

    def _answers(
        self, task: Task, shards: Sequence[Remote], arguments: tuple[Any, ...], joined: bool
    ) -> list[Any]:
        """Finished futures: one a shard, or sums of several; what is lost or late is asked for twice."""
        leaves = self._submit(shards, task, arguments)
        tops = self._joined(leaves) if joined else leaves
        try:
            if self.missing([*leaves, *tops]):
                lost = self._lost(shards, leaves)
                self._again(shards, leaves, lost, task, arguments)
                tops = self._joined(leaves) if joined else leaves
                if self.missing([*leaves, *tops]):
                    self._give_up(shards, leaves, "nor again elsewhere")
        except BaseException:
            self._cancel([*leaves, *tops])
            raise
        return list(tops)

    def _lost(self, shards: Sequence[Remote], leaves: list[Any]) -> list[int]:
        """Which shards to ask for again, after a look at who is still there."""
        here = list(self.workers())
        looks = self._looks(here)
        self.missing(looks, min(self.timeout, SIGN_OF_LIFE))
        silent = {a for a, look in zip(here, looks, strict=True) if look.status != "finished"}
        self._cancel(looks)
        if not silent:  # everybody is there, so it is the tasks that hang
            due = {leaf.key for leaf in leaves if leaf.status == "pending"}
            running = self._ask(self.client.scheduler.processing)
            silent = {address for address, keys in running.items() if due & {*map(_key, keys)}}
        self._late |= silent
        keys = [future.key for future in (*leaves, *(shard.future(None) for shard in shards))]
        held = self._ask(self.client.scheduler.who_has, keys=keys)

        def gone(future: Any) -> bool:
            return future.status != "finished" or not set(held.get(future.key, ())) - self._late

        for shard in shards:
            if gone(shard.future(None)):
                shard.lose()
        return [i for i, leaf in enumerate(leaves) if gone(leaf)]

    def _again(
        self,
        shards: Sequence[Remote],
        leaves: list[Any],
        lost: list[int],
        task: Task,
        arguments: tuple[Any, ...],
    ) -> None:
        """Ask for the lost ones again, from the workers that are left."""
        if not self.workers():
            self._give_up(shards, leaves, "and there is no other worker")
        self._sent.clear()
        self._cancel([leaves[i] for i in lost])
        if lost:
            futures = self._submit([shards[i] for i in lost], task, arguments)
            for i, future in zip(lost, futures, strict=True):
                leaves[i] = future

    def _cancel(self, futures: list[Any]) -> None:
        """Nobody wants these any more; a queue of them must not keep a worker busy once it wakes up."""
        stop = functools.partial(self.client.cancel, futures, asynchronous=True)
        with suppress(Exception):
            self.client.sync(stop, callback_timeout=self.timeout)

    def _give_up(self, shards: Sequence[Remote], leaves: list[Any], also: str) -> None:
        due = [s.where for s, leaf in zip(shards, leaves, strict=True) if leaf.status != "finished"]
        what = due[0] if due else "the sum over all shards"
        raise WorkerLost(
            f"{what} did not come back within {self.timeout:g} s of the last answer, {also}. Look at the "
            "logs of the workers, or raise timeout."
        )

    def missing(self, futures: Sequence[Any], timeout: float | None = None) -> bool:
        """Wait for all; True as soon as one is lost, or none has come for ``timeout`` seconds.

        An error of a task itself is raised here.
        """
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        waiting = {future.key: future for future in futures}
        for future in waiting.values():
            future.add_done_callback(done.put)
        patience = timeout or self.timeout
        deadline = time.monotonic() + patience
        while waiting:
            try:
                future = done.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                return True
            if future.status == "error":
                _raise(future)
            if future.status != "finished":
                return True
            del waiting[future.key]
            deadline = time.monotonic() + patience
        return False

    def gathered(self, futures: Sequence[Any], what: str) -> None:
        """Wait for all, or raise that one of them did not come."""
        if self.missing(futures):
            due = next((i for i, f in enumerate(futures) if f.status != "finished"), 0)
            raise WorkerLost(
                f"{what} {due} did not come within {self.timeout:g} s of the last answer. Look at the logs "
                "of the workers, or raise timeout."
            )

    def result(self, future: Any) -> Any:
        """What a finished future holds, brought here in time."""
        try:
            return future.result(timeout=self.timeout)
        except (OSError, TimeoutError) as error:
            raise WorkerLost(
                f"a result did not arrive within {self.timeout:g} s. Look at the logs of the workers, or "
                "raise timeout."
            ) from error


def _key(key: Any) -> str:
    return str(key)


def _raise(future: Any) -> None:
    """The error of a task: its own, or ours where it killed the workers that ran it."""
    from distributed.scheduler import KilledWorker

    error = future.exception()
    if isinstance(error, KilledWorker):
        raise WorkerLost(
            f"{error.args[0]!r} ended every worker that ran it. Look at their logs: they may be out of "
            "memory."
        ) from error
    raise error


def _check_client(client: Any) -> None:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra(
            'engines.Dask needs dask and distributed: pip install "argmax[dask]".'
        ) from error
    if not isinstance(client, Client) or client.asynchronous:
        raise WrongType(f"client must be a distributed.Client (not asynchronous); got {client!r}.")
