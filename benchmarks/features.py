"""Text to rows: our Table against scikit-learn's vectorisers, for the same features."""

from __future__ import annotations

import json
import lzma
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from argmax.features import Table

from . import data
from .common import (
    Check,
    Options,
    Outcome,
    median,
    note_ratio,
    progress,
    say,
    spread,
    table,
    verdict,
)

FILE = "20news-bydate.jsonl.xz"
FLOOR = 3.0
ROUNDS = 5
PLAIN = {"weight": "counts", "sublinear": False, "min_count": 1}

EXPLANATION = f"""\
20news, lists of strings in, CSR matrices out: fit_transform on the training texts, transform on the test
texts. The matrices are compared before anything is timed: the same columns, values equal to 1e-12. Our Table
uses the threads stated above; scikit-learn's vectorisers have one. Wall is what a user waits, CPU time what
the machine works. Medians of {ROUNDS} rounds taken in turn, kernels compiled before."""


@dataclass(frozen=True)
class Features:
    """One set of features, as each side asks for it."""

    name: str
    ours: dict[str, Any]
    theirs: Any
    floor: float | None = FLOOR


def cases(full: bool) -> list[Features]:
    found = [
        Features("words, tf-idf", {"min_count": 1}, TfidfVectorizer(sublinear_tf=True)),
        Features(
            "words and pairs, tf-idf",
            {"ngrams": (1, 2)},
            TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        ),
        Features(
            "words hashed to 2^18",
            {"hash_bits": 18, **PLAIN},
            HashingVectorizer(n_features=2**18, alternate_sign=False),
        ),
    ]
    if full:
        characters = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, min_df=2
        )
        ours = {"analyzer": "char_wb", "ngrams": (3, 5)}
        found.append(Features("characters in words, 3 to 5", ours, characters))
    return found


def run(options: Options) -> Outcome:
    outcome = Outcome("features")
    if why := data.missing():
        say(f"Left out: {why}")
        return outcome
    say(EXPLANATION)
    train, test = texts(options.quick)
    rows = []
    for case in cases(options.full):
        progress(case.name)
        ours = Table(**case.ours, n_threads=options.threads)
        same_features(case.name, ours.fit_transform(train), case.theirs.fit_transform(train))
        calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "fit_transform": (
                lambda ours=ours: ours.fit_transform(train),
                lambda theirs=case.theirs: theirs.fit_transform(train),
            ),
            "transform": (
                lambda ours=ours: ours.transform(test),
                lambda theirs=case.theirs: theirs.transform(test),
            ),
        }
        for method, (mine, yours) in calls.items():
            taken = clocked({"argmax": mine, "scikit-learn": yours}, 3 if options.quick else ROUNDS)
            what = f"{case.name}: {method}"
            rows.append(_row(what, taken))
            outcome.figures.append({"what": what, "seconds": taken})
            outcome.checks.append(_check(what, taken, case.floor))
    columns = ["", "argmax s", "range", "scikit-learn s", "range", "wall", "CPU"]
    table("Text to rows, seconds on the clock; ratios peer/us", columns, rows)
    return outcome


def texts(quick: bool) -> tuple[list[str], list[str]]:
    """The published training and test texts."""
    with lzma.open(data.folder() / "flat" / FILE, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    train = [row[-1] for row in rows if row[0] == "train"]
    test = [row[-1] for row in rows if row[0] == "test"]
    return (train[:500], test[:100]) if quick else (train, test)


def same_features(what: str, X: Any, Y: Any) -> None:
    """Refuse to time two different things."""
    Y.sort_indices()
    alike = X.shape == Y.shape and np.array_equal(X.indptr, Y.indptr)
    alike = alike and np.array_equal(X.indices, Y.indices)
    if not alike or not np.allclose(X.data, Y.data, rtol=1e-12, atol=0):
        raise RuntimeError(f"{what}: the features differ.")


Times = dict[str, list[tuple[float, float]]]


def clocked(calls: dict[str, Callable[[], Any]], rounds: int) -> Times:
    """(wall, CPU) seconds of each call in each round, in turn."""
    taken: Times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            taken[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return taken


def _ratios(taken: Times) -> tuple[float, float]:
    wall, cpu = (
        median([t[i] for t in taken["scikit-learn"]]) / median([t[i] for t in taken["argmax"]])
        for i in range(2)
    )
    return wall, cpu


def _row(what: str, taken: Times) -> list[str]:
    cells = [what]
    for name in ("argmax", "scikit-learn"):
        wall = [seconds for seconds, _ in taken[name]]
        cells += [f"{median(wall):.3g}", spread(wall)]
    return [*cells, *map(note_ratio, _ratios(taken))]


def _check(what: str, taken: Times, floor: float | None) -> Check:
    wall, cpu = _ratios(taken)
    figure = f"{note_ratio(wall)} on the clock, {note_ratio(cpu)} in CPU time"
    if floor is None:
        return Check(what, figure, "", "")
    return Check(what, figure, f"{floor:g}×", verdict(wall, floor))
