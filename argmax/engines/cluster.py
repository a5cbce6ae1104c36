"""A dask cluster, asked within limits of time: every question gets an answer, or an error that says so."""

from __future__ import annotations

import functools
import itertools
import queue
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, final

from ..errors import MissingExtra, Unsupported, WorkerLost, WrongType
from . import limits
from .machine import Machine, difference, machine
from .remote import look

__all__ = ["Cluster", "check_client"]

SIGN_OF_LIFE = 5.0
"""Seconds that a worker has to say that it is there, once answers are overdue."""


def check_client(client: Any) -> None:
    """Refuse what is not a client, and say how to get one."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra(
            'engines.Dask needs dask and distributed: pip install "argmax[dask]".'
        ) from error
    if not isinstance(client, Client) or client.asynchronous:
        raise WrongType(f"client must be a distributed.Client (not asynchronous); got {client!r}.")


@final
class Cluster:
    """The scheduler and the workers behind a client; ``late`` are workers that once did not answer.

    Late workers are asked for nothing any more. Their tasks may still run, and their memory is not
    ours to free: whoever runs the cluster decides about them.
    """

    def __init__(self, client: Any, timeout: float) -> None:
        self.client, self.timeout = client, timeout
        self.late: set[str] = set()
        self._turn = itertools.count()

    def workers(self) -> dict[str, int]:
        """The workers that are not late, and how many threads each has."""
        found = self.ask(self.client.scheduler.ncores)
        return {address: found[address] for address in sorted(found) if address not in self.late}

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Within, whatever a client says that was closed meanwhile is ``WorkerLost``."""
        try:
            yield
        except Exception as error:
            if isinstance(error, WorkerLost) or self.client.status not in ("closing", "closed"):
                raise
            raise WorkerLost(
                "the client was closed while its cluster was at work. Connect again, and use "
                "set_params(engine=engines.Dask(client))."
            ) from error

    def ask(self, question: Callable[..., Any], **arguments: Any) -> Any:
        """The scheduler's answer."""
        try:
            return self.client.sync(question, callback_timeout=self.timeout, **arguments)
        except (OSError, TimeoutError) as error:
            raise WorkerLost(
                f"the scheduler did not answer within {self.timeout:g} s. Check that it is running, or "
                "raise timeout."
            ) from error

    def scatter(self, value: Any, workers: list[str] | None = None) -> Any:
        """Put a value on one of the workers; others fetch it from there, and from each other."""
        choice = list(self.workers() if workers is None else workers)
        while choice:
            target = choice[next(self._turn) % len(choice)]
            # A list of one: the parts of anything that can be iterated would land on several workers.
            options = {"workers": [target], "hash": False, "asynchronous": True}
            send = functools.partial(self.client.scatter, [value], **options)
            try:
                (future,) = self.client.sync(send, callback_timeout=self.timeout)
                return future
            except (OSError, TimeoutError):
                self.late.add(target)
                self.find_late([])  # one wait for all who hang, not one for each
                choice = [address for address in choice if address not in self.late]
        raise WorkerLost("the cluster has no workers that answer.")

    def cancel(self, futures: list[Any]) -> None:
        """Nobody wants these any more; a queue of them must not keep a worker busy once it wakes up."""
        stop = functools.partial(self.client.cancel, futures, asynchronous=True)
        with suppress(Exception):
            self.client.sync(stop, callback_timeout=self.timeout)

    # Waiting

    def missing(self, futures: Sequence[Any], timeout: float | None = None) -> str:
        """Wait for all. "lost" as soon as one is, "late" if none has come for ``timeout`` seconds, or "".

        An error of a task itself is raised here.
        """
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        waiting = {future.key: future for future in futures}
        for future in waiting.values():
            future.add_done_callback(done.put)
        patience = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + patience
        while waiting:
            limits.look()
            patient = max(deadline - time.monotonic(), 0.0)
            try:
                future = done.get(timeout=max(min(patient, limits.left()), 0.0))
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue  # not late: out of time
                return "late"
            if future.status == "error":
                _raise(future)
            if future.status != "finished":
                return "lost"
            del waiting[future.key]
            deadline = time.monotonic() + patience
        return ""

    def wait(self, futures: Sequence[Any], what: str) -> None:
        """Wait for all, or raise which of them did not come."""
        if self.missing(futures):
            due = next((i for i, f in enumerate(futures) if f.status != "finished"), 0)
            raise WorkerLost(
                f"{what} {due} did not come within {self.timeout:g} s of the last answer. Look at the logs "
                "of the workers, or raise timeout."
            )

    def result(self, future: Any) -> Any:
        """What a finished future holds, brought here."""
        try:
            return future.result(timeout=self.timeout)
        except (OSError, TimeoutError) as error:
            raise WorkerLost(
                f"a result did not arrive within {self.timeout:g} s. Look at the logs of the workers, or "
                "raise timeout."
            ) from error

    # Who is there

    def _looks(self, addresses: list[str]) -> list[Any]:
        """A small task for each of the workers: it answers with what that worker is."""
        name = f"argmax-look-{uuid.uuid4().hex}"
        return [
            self.client.submit(look, key=f"{name}-{i}", workers=[address], pure=False)
            for i, address in enumerate(addresses)
        ]

    def compare(self) -> Machine:
        """What all workers are; raises where two of them differ."""
        addresses = list(self.workers())
        if not addresses:
            raise WorkerLost("the cluster has no workers. Start some, then fit.")
        looks = self._looks(addresses)
        if self.missing(looks):
            silent = [a for a, f in zip(addresses, looks, strict=True) if f.status != "finished"]
            raise WorkerLost(
                f"worker {silent[0]} did not answer within {self.timeout:g} s. Remove it, or raise timeout."
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

    def find_late(self, due: list[Any]) -> None:
        """Note who does not say a word; or, if all do, those who do not come to an end with ``due``."""
        here = list(self.workers())
        looks = self._looks(here)
        self.missing(looks, min(self.timeout, SIGN_OF_LIFE))
        silent = {a for a, answer in zip(here, looks, strict=True) if answer.status != "finished"}
        self.cancel(looks)
        if not silent:
            keys = {future.key for future in due if future.status == "pending"}
            running = self.ask(self.client.scheduler.processing)
            silent = {address for address, found in running.items() if keys & set(found)}
        self.late |= silent

    def gone(self, futures: list[Any]) -> list[bool]:
        """Whether each is unfinished, or in the hands of late workers only."""
        held = self.ask(self.client.scheduler.who_has, keys=[future.key for future in futures])
        return [
            future.status != "finished" or not set(held.get(future.key, ())) - self.late
            for future in futures
        ]


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
