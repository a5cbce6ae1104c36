"""Small mistakes in the source, one at a time, and whether a test notices each.

    python -m tests.mutations --seed 7 --count 60 --only metrics
    python -m tests.mutations --count 1000 --list         the mutants alone; nothing is run
    python -m tests.mutations --only shift/monitor --count 1000

All work is done on a copy of the package and its tests in a temporary folder. The tests that are concerned by
a module (``concern.py``) are run: all near files, but for those that take more than ``--budget`` seconds
without a mistake; and where these notice nothing, far files for about as many seconds. A mutant is noticed if
they fail, or if they take more than four times as long and ten seconds more.
Kernels are left out: to compile one takes longer than to test it, and the laws hold each to a slow twin.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutations.concern import concerned
from tests.mutations.equivalent import EQUIVALENT
from tests.mutations.mutants import LAST_OF_EQUALS, Mutant, mutants

__all__ = ["AREAS", "Copy", "chosen", "main", "modules", "run"]

ROOT = Path(__file__).resolve().parents[2]
AREAS = ("losses", "spaces", "solvers", "metrics", "shift", "bounds", "decisions")
COPIED = ("argmax", "tests", "benchmarks", "examples", "docs", "pyproject.toml", "README.md")
LEAST_MEMORY = 2**33
"""Bytes of address space that tests may take at least; a mistake in a loop must not fill the machine."""

Say = Callable[[str], None]


def modules(root: Path, only: Sequence[str] = AREAS) -> list[str]:
    """The sources of areas (``metrics``) or of single modules (``metrics/scores``), relative to the root."""
    found = []
    for name in only:
        place = root / "argmax" / name.removesuffix(".py").rstrip("/")
        here = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        if not here or not here[0].exists():
            raise SystemExit(f"--only must name a folder or a module of argmax; got {name!r}.")
        if "kernels" in place.relative_to(root).parts:
            raise SystemExit("--only must not name kernels: they are compiled, and left out.")
        found += [path.relative_to(root).as_posix() for path in here]
    return list(dict.fromkeys(found))


def chosen(root: Path, paths: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """A fair sample of the mutants of all these sources; a larger one begins with the smaller."""
    every = []
    for path in paths:
        source = (root / path).read_text(encoding="utf-8")
        for mutant in mutants(source, path):
            if (path, *mutant.lines(source)) not in EQUIVALENT:
                every.append(mutant)
    random.Random(seed).shuffle(every)
    return every[:count]


@dataclass
class Copy:
    """A copy of the package and its tests; ``outcome`` tries a mistake there."""

    folder: Path
    budget: float = 60.0
    say: Say = lambda line: None
    _seconds: dict[str, float | None] = field(default_factory=dict)
    _tests: dict[tuple[str, bool], list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path, folder: Path, budget: float, say: Say) -> Copy:
        """Copy what tests read. ARGMAX_DATA defaults to where the checkout's tests look."""
        for name in COPIED:
            if (root / name).is_dir():
                shutil.copytree(
                    root / name,
                    folder / name,
                    ignore=shutil.ignore_patterns("__pycache__", "_build"),
                )
            elif (root / name).exists():
                shutil.copy2(root / name, folder / name)
        (folder / "last_of_equals.py").write_text(LAST_OF_EQUALS, encoding="utf-8")
        return cls(folder, budget, say)

    def tests(self, path: str, *, far: bool) -> list[str]:
        """The concerned files that pass without a mistake, quick ones first: all near ones that fit
        into the budget one by one, and so many far ones as fit into it together.
        """
        if (path, far) not in self._tests:
            left, kept = self.budget, []
            for file in concerned(self.folder, path)[far]:
                if left <= 0.0:
                    break
                if (seconds := self._measured(file)) is not None:
                    kept.append(file)
                    left -= seconds * far
            # Quick ones first: most mistakes are noticed by any of them.
            self._tests[path, far] = sorted(kept, key=lambda file: self._seconds[file] or 0.0)
        return self._tests[path, far]

    def outcome(self, mutant: Mutant) -> str:
        """What came of it: noticed, timed out, survived; or untested, where no file is concerned."""
        outcome = "untested"
        for far in (False, True):
            if files := self.tests(mutant.path, far=far):
                outcome = self._tried(mutant, files)
            if outcome in {"noticed", "timed out"}:
                break
        return outcome

    def _tried(self, mutant: Mutant, files: list[str]) -> str:
        limit = 10.0 + 4.0 * sum(self._seconds[file] or 0.0 for file in files)
        path = self.folder / mutant.path
        source, stamp = path.read_text(encoding="utf-8"), path.stat().st_mtime
        path.write_text(mutant.applied(source), encoding="utf-8")
        # Python tells a stale .pyc by size and whole seconds: give every mistake a time of its own.
        os.utime(path, (stamp + 3600.0, stamp + 3600.0))
        try:
            status = self._pytest(files, limit, write=False)
        finally:
            path.write_text(source, encoding="utf-8")
            os.utime(path, (stamp, stamp))
        return {None: "timed out", 0: "survived"}.get(status, "noticed")

    def _measured(self, file: str) -> float | None:
        """Seconds that a file takes without a mistake; None if it fails, or takes more than the budget."""
        if file not in self._seconds:
            start = time.monotonic()
            status = self._pytest([file], self.budget, write=True)
            taken = time.monotonic() - start
            self._seconds[file] = taken if status == 0 else None
            if status != 0:
                slow = f"takes more than --budget, {self.budget:.0f} s,"
                why = slow if status is None else "fails"
                self.say(f"left out: {file} {why} without a mistake")
        return self._seconds[file]

    def _pytest(self, files: list[str], limit: float, *, write: bool) -> int | None:
        """pytest's exit status, or None where the time is up."""
        data = os.environ.get("ARGMAX_DATA", str(ROOT.parent / "shared" / "data"))
        own = {"PYTHONPATH": str(self.folder), "ARGMAX_DATA": data}
        if not write:
            own["PYTHONDONTWRITEBYTECODE"] = "1"
        # A module with examples is imported after its package, whose names it must not replace.
        packages = [".".join(Path(file).parts[:-1]) for file in files if file.startswith("argmax/")]
        plugins = [f"-p{name}" for name in ("no:cacheprovider", *packages)]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-x", "-q", *plugins, *files],
            cwd=self.folder,
            env=os.environ | own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_limit_memory,
        )
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:  # the tests' own processes end with them
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _limit_memory() -> None:
    import resource  # not on every system

    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most = max(LEAST_MEMORY, whole // 2)
    with suppress(OSError, ValueError):  # systems that know no such limit
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run(
    root: Path, only: Sequence[str], count: int, seed: int, budget: float, say: Say = print
) -> dict[str, Counter[str]]:
    """Try a sample of mutants, and say which survived; for each area, how many came to what."""
    sample = chosen(root, modules(root, only), count, seed)
    found: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory(prefix="argmax-mutations-") as folder:
        copy = Copy.of(root, Path(folder), budget, say)
        for number, mutant in enumerate(sample, start=1):
            start = time.monotonic()
            outcome = copy.outcome(mutant)
            area = mutant.path.split("/")[1].removesuffix(".py")
            found.setdefault(area, Counter())[outcome] += 1
            place = f"{mutant.path}:{mutant.line}"
            say(
                f"{number:>5}/{len(sample)}  {outcome:9}  {time.monotonic() - start:6.1f} s  {place}"
            )
            if outcome in {"survived", "untested"}:
                before, after = mutant.lines((root / mutant.path).read_text(encoding="utf-8"))
                say(f"      - {before}\n      + {after}")
    for line in _table(found):
        say(line)
    return found


def _table(found: dict[str, Counter[str]]) -> list[str]:
    outcomes = ("noticed", "timed out", "survived", "untested")
    total = sum(found.values(), Counter[str]())
    lines = ["", f"{'area':12}" + "".join(f"{name:>11}" for name in outcomes) + f"{'share':>9}"]
    for area, counts in [*sorted(found.items()), ("all", total)]:
        share = (counts["noticed"] + counts["timed out"]) / (counts.total() or 1)
        figures = "".join(f"{counts[name]:>11}" for name in outcomes)
        lines.append(f"{area:12}{figures}{share:>9.1%}")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if a mutant survived, 0 if each was noticed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutations",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--count", type=int, default=40, help="how many mutants (40)")
    parser.add_argument(
        "--only", nargs="+", default=AREAS, metavar="PART",
        help=f"areas or modules, such as metrics or metrics/scores ({', '.join(AREAS)})",
    )  # fmt: skip
    parser.add_argument(
        "--budget",
        type=float,
        default=60.0,
        help="seconds of a near file, and of all far files together (60)",
    )
    parser.add_argument("--list", action="store_true", help="show the sample and run nothing")
    given = parser.parse_args(arguments)
    if given.count < 1:
        parser.error(f"--count must be at least 1; got {given.count}.")
    if given.list:
        for mutant in chosen(ROOT, modules(ROOT, given.only), given.count, given.seed):
            before, after = mutant.lines((ROOT / mutant.path).read_text(encoding="utf-8"))
            print(f"{mutant.path}:{mutant.line}\n      - {before}\n      + {after}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # no test and no folder is left behind
    found = run(
        ROOT,
        given.only,
        given.count,
        given.seed,
        given.budget,
        lambda line: print(line, flush=True),
    )
    return int(any(counts["survived"] + counts["untested"] for counts in found.values()))
