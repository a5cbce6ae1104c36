"""What the comparisons share: options, tables, verdicts, and repeating things in turn."""

from __future__ import annotations

import ctypes
import gc
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    full: bool = False
    threads: int = 1
    data: tuple[str, ...] = ()
    limit: float | None = None
    own: dict[str, Any] = field(default_factory=dict)
    """What only one comparison asks for, by name."""


@dataclass(frozen=True)
class Check:
    """One promise: a figure, the floor it must keep, and whether it does."""

    what: str
    figure: str
    floor: str
    verdict: str  # "met", "not met", "peer wins", or "open" with a reason


@dataclass
class Outcome:
    """What a comparison hands back: its promises, and all its figures for ``--json``."""

    name: str
    checks: list[Check] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)


def verdict(ratio: float, floor: float, bound: bool = False) -> str:
    """A ratio (peer over us: larger is better for us) against its floor.

    With ``bound`` the ratio is only known to be at least this, because the peer was cut off.

    >>> verdict(12.0, 8.0), verdict(3.0, 8.0), verdict(0.9, 8.0), verdict(3.0, 8.0, bound=True)
    ('met', 'not met', 'peer wins', 'open: the peer was cut off; raise --limit')
    """
    if ratio >= floor:
        return "met"
    if bound:
        return "open: the peer was cut off; raise --limit"
    return "not met" if ratio >= 1.0 else "peer wins"


def note_ratio(ratio: float) -> str:
    """A ratio as it is printed; below 1 the peer wins, and the line says so.

    >>> note_ratio(12.34), note_ratio(0.5), note_ratio(float("inf"))
    ('12.3×', '0.50× (peer wins)', 'only we get there')
    """
    if math.isinf(ratio):
        return "only we get there"
    digits = 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:.{digits}f}×" + ("" if ratio >= 1 else " (peer wins)")


REST = 0.05  # seconds


def in_turn(entries: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each entry in each round: a b c, a b c, …, so that a slow spell hits all alike.

    A short rest comes before each: the threads of a BLAS stay awake, on a core of their own, for some
    25 ms after a call, and nobody shall pay for another's.
    """
    taken: dict[str, list[float]] = {name: [] for name in entries}
    for _ in range(rounds):
        for name, entry in entries.items():
            time.sleep(REST)
            began = time.perf_counter()
            entry()
            taken[name].append(time.perf_counter() - began)
    return taken


def per_call(
    calls: dict[str, Callable[[], Any]], rounds: int, least: float = 0.05
) -> dict[str, list[float]]:
    """Seconds of one call of each, in turn; short calls are looped until a round lasts ``least``."""
    numbers = {}
    for name, call in calls.items():
        call()
        alone = in_turn({"": call}, 3)[""]
        numbers[name] = max(1, math.ceil(least / max(min(alone), 1e-9)))

    def loop(call: Callable[[], Any], number: int) -> Callable[[], None]:
        def looped() -> None:
            for _ in range(number):
                call()

        return looped

    taken = in_turn({name: loop(call, numbers[name]) for name, call in calls.items()}, rounds)
    return {name: [s / numbers[name] for s in seconds] for name, seconds in taken.items()}


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float]) -> str:
    """Smallest and largest, to judge the median by.

    >>> spread([0.12, 0.1])
    '0.1–0.12'
    """
    return f"{min(values):.3g}–{max(values):.3g}"


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine(threads: int) -> str:
    """One line about where the figures come from."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    versions = ", ".join(f"{name} {_version(name)}" for name in names)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
    return (
        f"{_cpu()}, {os.cpu_count()} cores, load {load:.2f} at the start; {threads} threads for everybody; "
        f"Python {platform.python_version()}, {versions}."
    )


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "(version unknown)"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


class Neighbours:
    """How many cores other programs used meanwhile: figures taken in company deserve less trust.

    ``with Neighbours() as others: …`` and then ``str(others)``; empty where the system does not tell.
    """

    def __enter__(self) -> Neighbours:
        self._before, self.cores = self._read(), math.nan
        return self

    def __exit__(self, *_: object) -> None:
        wall, busy, own = (b - a for a, b in zip(self._before, self._read(), strict=True))
        self.cores = max(busy - own, 0.0) / wall if wall > 0.5 else math.nan

    @staticmethod
    def _read() -> tuple[float, float, float]:
        """Seconds: on the clock, busy on all cores, ours and our children's."""
        used, now = os.times(), time.perf_counter()
        try:
            fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
            busy = (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            busy = math.nan
        return now, busy, sum(used[:4])

    def __str__(self) -> str:
        if math.isnan(self.cores):
            return ""
        warning = " NOT A QUIET MACHINE: do not trust these figures." if self.cores > 0.2 else ""
        return f"Other programs used {self.cores:.2f} cores meanwhile.{warning}"


class Side:
    """A process of one library's own, that is asked to do things: nobody's threads are in another's way.

    ``prepare`` is called there first; it and what is asked for are functions of a module.
    """

    def __init__(self, prepare: Callable[..., None], *arguments: Any) -> None:
        # Not multiprocessing.Pool, which starts a process that cannot be prepared again and again.
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), prepare, arguments)

    def ask(self, what: Callable[..., Any], *arguments: Any) -> Any:
        return self._pool.submit(what, *arguments).result()

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)


def child_environment(threads: int, **more: str) -> dict[str, str]:
    """The environment of a fresh process that finds this package and keeps to the threads.

    Bytecode is written: the peers have theirs since they were installed.
    """
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": ""}
    return {**os.environ, **own, **thread_variables(threads), **more}


def thread_variables(threads: int) -> dict[str, str]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def fresh_peak() -> float:
    """Resident megabytes now, with free memory given back and the peak forgotten. Linux only."""
    gc.collect()
    # With another C library a little of what was freed may be used again.
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    return before


def peak() -> float:
    """The most resident megabytes since ``fresh_peak``."""
    return _status("VmHWM")


def no_peaks() -> str | None:
    """Why the peak of a process cannot be measured here, or None."""
    return None if Path("/proc/self/clear_refs").exists() else "this needs Linux."


def _status(field: str) -> float:
    """A line of /proc/self/status, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def progress(text: str) -> None:
    """News for whoever waits, away from the results."""
    print(f"  … {text}", file=sys.stderr, flush=True)


def say(text: str = "") -> None:
    """A paragraph of the results."""
    print(text, flush=True)


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = True
) -> None:
    """A table; with rich where it is installed (it comes with typer), in plain columns elsewhere."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        _plain(title, columns, rows)
        return
    grid = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        grid.add_column(column, justify="right" if numbers and i else "left", overflow="fold")
    for row in rows:
        grid.add_row(*row)
    terminal = sys.stdout.isatty()
    Console(width=None if terminal else 120, markup=False, highlight=False).print(grid)


def _plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    say(title)
    for row in [columns, *rows]:
        say("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))


def summary(outcomes: Sequence[Outcome]) -> None:
    """Every promise, on one page."""
    checks = [(outcome.name, check) for outcome in outcomes for check in outcome.checks]
    rows = [[name, c.what, c.figure, c.floor, c.verdict] for name, c in checks]
    if rows:
        table("Promises", ["comparison", "what", "measured", "promised", "verdict"], rows, False)


def write_json(path: str | Path, about: str, outcomes: Sequence[Outcome]) -> None:
    content = {"machine": about, "comparisons": [asdict(outcome) for outcome in outcomes]}
    Path(path).write_text(json.dumps(content, indent=1, default=float), encoding="utf-8")
