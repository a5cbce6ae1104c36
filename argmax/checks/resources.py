"""Checks of what a machine can hold."""

from __future__ import annotations

import math
import os

import joblib

from ..errors import InvalidInput, ResourceLimit
from .parameters import positive_integer

__all__ = ["available_memory", "cores", "memory", "threads"]

MOST_THREADS = 1024
"""Threads of one pool: more than nearly all machines have cores, and still started in seconds."""


TRIFLE = 2**24
"""Bytes that are not worth a look at what is free: looking takes longer than tagging a sentence."""


def memory(needed: float, what: str, advice: str) -> None:
    """Refuse work that cannot fit, before it starts."""
    if needed <= TRIFLE:
        return
    available = available_memory()
    if needed > available:
        raise ResourceLimit(
            f"{what} needs about {needed / 2**30:.2f} GiB but {available / 2**30:.2f} GiB are "
            f"available. {advice}"
        )


def available_memory() -> float:
    """Bytes this process may still take: physical memory, control group and address-space limit."""
    limits = [math.inf]
    try:
        with open("/proc/meminfo") as lines:
            fields = dict(line.split(":") for line in lines)
        limits.append(1024.0 * float(fields["MemAvailable"].split()[0]))
        with open("/proc/self/statm") as line:
            pages = line.read().split()
        page = os.sysconf("SC_PAGE_SIZE")
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append(soft - page * float(pages[0]))
        with open("/sys/fs/cgroup/memory.max") as line:
            group = line.read().strip()
        if group != "max":
            limits.append(float(group) - page * float(pages[1]))
    except (OSError, ImportError, KeyError, ValueError):
        pass  # not Linux, or a container without these files: the limits found so far hold
    return max(min(limits), 0.0)


def cores() -> int:
    """As many cores as this process may use."""
    try:
        return int(joblib.cpu_count())
    except OSError:  # no descriptor is left to look at the limits of a container
        return os.cpu_count() or 1


def threads(n_threads: int | None) -> int:
    """``n_threads``, or as many as this process may use cores."""
    if n_threads is None:
        return cores()
    found = positive_integer("n_threads", n_threads)
    if found > MOST_THREADS:
        raise InvalidInput(
            f"n_threads must be at most {MOST_THREADS}; got {found}. More threads than cores (here "
            f"{cores()}) gain nothing: use n_threads=None for one on each."
        )
    return found
