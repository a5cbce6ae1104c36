"""The data sets of the comparisons, as scikit-learn and we both receive them."""

from __future__ import annotations

import json
import lzma
import os
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .common import ROOT

QUICK_ROWS = 500


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and labels; ``extraction`` is the seconds that making the training rows from text took."""

    name: str
    X: Any  # (n, d) float64, C-ordered or CSR
    y: Any  # (n,) codes 0 … k−1
    X_test: Any = None
    extraction: float = 0.0
    y_test: Any = None

    @property
    def k(self) -> int:
        return int(self.y.max()) + 1

    def describe(self) -> str:
        n, d = self.X.shape
        sparse = not isinstance(self.X, np.ndarray)
        kind = f"sparse, {self.X.nnz / n:.0f} entries a row" if sparse else "dense"
        return f"{n} × {d}, k = {self.k}, {kind}"


def folder() -> Path:
    """Where the data are: ARGMAX_DATA, or ``../shared/data`` beside the repository."""
    return Path(os.environ.get("ARGMAX_DATA") or ROOT / ".." / "shared" / "data")


def missing() -> str | None:
    """Why there is nothing to measure on, or None."""
    place = folder() / "flat"
    return (
        None
        if place.is_dir()
        else f"no data in {place}. Set ARGMAX_DATA to the folder that holds flat/."
    )


@lru_cache(maxsize=2)
def load(name: str, quick: bool = False) -> Table:
    """A data set by name; quick ones keep a few hundred rows."""
    base = name.removesuffix("-scaled")
    if base == "mnist":
        return _mnist(quick)
    if base in ("20news", "clinc150"):
        return _text(base, quick)
    return _uci(base, name != base, quick)


def _mnist(quick: bool) -> Table:
    def numbers(name: str, header: int) -> Any:
        with lzma.open(folder() / "flat" / f"mnist-{name}-ubyte.xz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    keep = QUICK_ROWS if quick else None
    X, X_test = (
        numbers(f"{part}-images-idx3", 16).reshape(-1, 784)[:keep] / 255.0
        for part in ("train", "t10k")
    )
    y, y_test = (numbers(f"{part}-labels-idx1", 8)[:keep].astype(int) for part in ("train", "t10k"))
    return Table("mnist", X, y, X_test, y_test=y_test)


def _text(name: str, quick: bool) -> Table:
    """tf-idf of the published training split; text and label are the last and second fields."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    with lzma.open(folder() / "flat" / _TEXT_FILES[name], "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    train = [row for row in rows if row[0] == "train"]
    test = [row for row in rows if row[0] == "test"]
    if quick:
        train, test = train[:: len(train) // QUICK_ROWS], test[:100]
    began = time.perf_counter()
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    X = vectorizer.fit_transform([row[-1] for row in train])
    seconds = time.perf_counter() - began
    classes, y = np.unique([row[1] for row in train], return_inverse=True)
    y_test = np.searchsorted(classes, [row[1] for row in test])
    X_test = vectorizer.transform([row[-1] for row in test])
    return Table(name, X, y, X_test, seconds, y_test)


_TEXT_FILES = {"20news": "20news-bydate.jsonl.xz", "clinc150": "clinc150.jsonl.xz"}


def _uci(base: str, scaled: bool, quick: bool) -> Table:
    """Raw columns; or, scaled, each multiplied by 10^u with u uniform in (−2, 2), seed 0."""
    with np.load(folder() / "flat" / "uci_small.npz") as arrays:
        X = np.ascontiguousarray(arrays[f"{base}_X"], dtype=float)
        y = np.unique(arrays[f"{base}_y"], return_inverse=True)[1]
    if quick:
        X, y = X[:QUICK_ROWS], np.unique(y[:QUICK_ROWS], return_inverse=True)[1]
    if scaled:
        X = X * 10.0 ** np.random.RandomState(0).uniform(-2, 2, X.shape[1])
    return Table(f"{base}-scaled" if scaled else base, X, y)
