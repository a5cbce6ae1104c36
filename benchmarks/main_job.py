"""The main job as a user has it done: a file in, a chosen and fitted model and its held-out scores out.

One process against another, from its start to its end, imports included.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import data
from .common import (
    ROOT,
    Check,
    Options,
    Outcome,
    child_environment,
    median,
    note_ratio,
    progress,
    say,
    spread,
    table,
    verdict,
)

FLOOR = 3.0
ROUNDS = 3
TICKETS = 50_000

EXPLANATION = f"""\
Fresh processes, timed from start to end. Ours: `argmax train`, which checks the data, makes features, chooses
C on a validation part, fits on all rows to learn from, scores the rows held out with bootstrap intervals, and
writes the model and a report. Theirs: a scikit-learn script (main_job_peer.py) that reads with pandas, makes
the same features once, tries the same C on the same rows with LogisticRegression, stops trying by the same
rule, fits on all rows to learn from, and scores the same rows held out; it computes no intervals and writes
nothing. Kernels and bytecode are compiled before. Medians of {ROUNDS} rounds in turn; a peer that takes more
than a minute runs once, unless --full. CPU seconds, of all threads, beside the clock."""


@dataclass(frozen=True)
class Job:
    """A file, what is in it, and (where there is one) the file that is held out."""

    name: str
    path: Path
    target: str
    columns: dict[str, list[str]]  # by kind
    test: Path | None = None


@dataclass(frozen=True)
class Run:
    """What one process took, and what it says of its model."""

    seconds: float
    cpu: float
    accuracy: float
    low: float
    log_loss: float
    C: float


def run(options: Options) -> Outcome:
    outcome = Outcome("main_job")
    say(EXPLANATION)
    with tempfile.TemporaryDirectory() as folder:
        for make in _jobs(options):
            job = make(Path(folder), options.quick)
            if job is not None:
                _measure(outcome, job, Path(folder), options)
    return outcome


def _jobs(options: Options) -> list[Callable[[Path, bool], Job | None]]:
    named = {"20news": _news, "letter": _letter, "tickets": _tickets}
    return [make for name, make in named.items() if not options.data or name in options.data]


# The files


def _news(folder: Path, quick: bool) -> Job | None:
    import lzma

    source = data.folder() / "flat" / "20news-bydate.jsonl.xz"
    if not source.exists():
        say(f"Left out: 20news ({data.missing() or source})")
        return None
    found: dict[str, list[str]] = {"train": [], "test": []}
    with lzma.open(source, "rt", encoding="utf-8") as lines:
        for part, group, _, text in map(json.loads, lines):
            row = {"group": group, "text": text}
            found[part].append(json.dumps(row, ensure_ascii=False) + "\n")
    paths = {part: folder / f"news_{part}.jsonl" for part in found}
    for part, rows in found.items():
        paths[part].write_text("".join(rows[:: 20 if quick else 1]), encoding="utf-8")
    return Job("20news", paths["train"], "group", {"text": ["text"]}, paths["test"])


def _letter(folder: Path, quick: bool) -> Job | None:
    import numpy as np

    if why := data.missing():
        say(f"Left out: letter ({why})")
        return None
    with np.load(data.folder() / "flat" / "uci_small.npz") as arrays:
        X, y = arrays["letter_X"], arrays["letter_y"]
    if quick:
        X, y = X[:2500], y[:2500]
    names = [f"f{j}" for j in range(X.shape[1])]
    path = folder / "letter.csv"
    rows = (
        ",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    path.write_text("\n".join([",".join([*names, "letter"]), *rows]) + "\n", encoding="utf-8")
    return Job("letter", path, "letter", {"number": names})


def _tickets(folder: Path, quick: bool) -> Job:
    from argmax.data.samples import write_tickets

    path = folder / "tickets.csv"
    write_tickets(path, 2500 if quick else TICKETS)
    columns = {
        "number": ["opened", "waiting_minutes"],
        "category": ["channel", "customer_tier"],
        "text": ["text"],
    }
    return Job("tickets", path, "team", columns)


# The two processes


def _measure(outcome: Outcome, job: Job, folder: Path, options: Options) -> None:
    split = _split(job, folder)
    progress(f"{job.name}: a first run, so that nothing is compiled in the others")
    _ours(job, folder, options.threads)
    runs: dict[str, list[Run]] = {"argmax train": [], "scikit-learn": []}
    rounds = 1 if options.quick else ROUNDS
    for i in range(rounds):
        progress(f"{job.name}: round {i + 1} of {rounds}")
        runs["argmax train"].append(_ours(job, folder, options.threads))
        if not runs["scikit-learn"] or options.full or runs["scikit-learn"][0].seconds < 60:
            runs["scikit-learn"].append(_theirs(job, split, options.threads))
    _tell(outcome, job, runs)


def _split(job: Job, folder: Path) -> Path:
    """The rows that ``argmax train`` holds out, tries C on, and judges it by, for the peer's use."""
    import numpy as np

    from argmax.cli.rows import STRETCH
    from argmax.cli.splitting import Draws, HeldOut
    from argmax.cli.survey import Labels
    from argmax.data import open_table

    labels = Labels()
    batches = open_table(job.path).batches([job.target], strings=[job.target])
    codes = np.concatenate([labels.codes(batch, job.target) for batch in batches])
    held = HeldOut(0.0 if job.test else 0.2, 0)(codes)
    learned = np.flatnonzero(~held)
    rest = Draws(STRETCH, 1)(codes[learned]) == 0
    path = folder / f"{job.name}.npz"
    np.savez(path, test=np.flatnonzero(held), part=learned[~rest], rest=learned[rest])
    return path


def _ours(job: Job, folder: Path, threads: int) -> Run:
    kinds = ",".join(f"{name}={kind}" for kind, names in job.columns.items() for name in names)
    test = [] if job.test is None else ["--test", str(job.test)]
    words = [
        "train",
        str(job.path),
        "--target",
        job.target,
        "--kinds",
        kinds,
        *test,
        "--json",
        "-q",
        "--force",
    ]
    outputs = ["-o", str(folder / "model.argmax"), "--report", str(folder / "report.html")]
    code = f"import sys; sys.argv[1:] = {[*words, *outputs]!r}; from argmax.cli import main; main()"
    seconds, cpu, told = _timed(["-c", code], threads)
    scores = told["test"]["scores"]
    accuracy = scores["Accuracy"]
    return Run(
        seconds, cpu, accuracy["value"], accuracy["low"], scores["Log-loss"]["value"], told["C"]
    )


def _theirs(job: Job, split: Path, threads: int) -> Run:
    given = {
        "path": str(job.path),
        "target": job.target,
        "columns": job.columns,
        "split": str(split),
        "test": None if job.test is None else str(job.test),
    }
    script = str(ROOT / "benchmarks" / "main_job_peer.py")
    seconds, cpu, told = _timed([script, json.dumps(given)], threads)
    return Run(seconds, cpu, told["accuracy"], told["accuracy"], told["log_loss"], told["C"])


def _timed(arguments: list[str], threads: int) -> tuple[float, float, dict[str, Any]]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=child_environment(threads),
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"a process failed:\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told: dict[str, Any] = json.loads(done.stdout)
    return seconds, cpu, told


# What came of it


def _tell(outcome: Outcome, job: Job, runs: dict[str, list[Run]]) -> None:
    rows = []
    for name, taken in runs.items():
        clock, cpu, last = [r.seconds for r in taken], [r.cpu for r in taken], taken[-1]
        rows.append(
            [
                name, f"{median(clock):.1f}", spread(clock), f"{median(cpu):.1f}", f"{last.C:g}",
                f"{last.accuracy:.4f}", f"{last.log_loss:.4f}",
            ]
        )  # fmt: skip
    size = os.path.getsize(job.path) / 2**20
    heads = ["", "seconds", "range", "CPU", "C", "accuracy", "log-loss"]
    table(f"{job.name} ({size:.1f} MiB)", heads, rows)
    ours, theirs = runs["argmax train"], runs["scikit-learn"]
    ratio = median([r.seconds for r in theirs]) / median([r.seconds for r in ours])
    cpu = median([r.cpu for r in theirs]) / median([r.cpu for r in ours])
    figure = f"{note_ratio(ratio)} (CPU {note_ratio(cpu)})"
    outcome.checks.append(
        Check(f"{job.name}: file to scores", figure, f"{FLOOR:g}×", verdict(ratio, FLOOR))
    )
    better = ours[-1].accuracy >= theirs[-1].accuracy
    agree = better or ours[-1].low <= theirs[-1].accuracy <= 2 * ours[-1].accuracy - ours[-1].low
    figure = f"{ours[-1].accuracy:.4f} against {theirs[-1].accuracy:.4f}"
    outcome.checks.append(
        Check(f"{job.name}: accuracy", figure, "within the interval", "met" if agree else "not met")
    )
    outcome.figures.append(
        {"what": job.name, "runs": {name: [vars(r) for r in taken] for name, taken in runs.items()}}
    )
