"""Real sets: the tables and texts of the data folder, scikit-learn's, and those of a package of data.

Tables come raw and standardised, texts as counts and as tf-idf; nothing is cut but MNIST (to 6,000 rows).
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .. import data
from .packages import packaged
from .rows import Rows

__all__ = ["names", "read"]

TEXTS = {"20news": "20news-bydate", "clinc150": "clinc150", "trec": "trec_qc"}
BUNDLED = "iris", "wine", "digits", "breast_cancer"
MNIST_ROWS = 6000


def names() -> list[str]:
    """All sets that can be read here, by name."""
    tables = [f"{name}{way}" for name in _tables() for way in ("", "/std")]
    texts = [f"{name}/{way}" for name in TEXTS for way in ("counts", "tfidf")]
    return tables + (texts if data.missing() is None else [])


@lru_cache(maxsize=64)
def read(name: str) -> Rows:
    """The rows of a set."""
    base, _, way = name.partition("/")
    if base in TEXTS:
        return Rows(name, *_text(base, way))
    if base not in (tables := _tables()):
        raise SystemExit(f"no set {name!r}. There are {', '.join(names())}.")
    X, y = tables[base]()
    X = np.ascontiguousarray(X, dtype=float)
    if way == "std":
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return Rows(name, X, np.unique(y, return_inverse=True)[1])


Reader = Callable[[], tuple[Any, Any]]


@lru_cache(maxsize=1)
def _tables() -> dict[str, Reader]:
    """Name to reader of every table at hand."""
    readers: dict[str, Reader] = {f"sklearn-{name}": _bundled(name) for name in BUNDLED}
    if data.missing() is None:
        readers |= dict(_local())
    known = {name.removeprefix("sklearn-") for name in readers}
    more = packaged()
    return readers | {name: more[name] for name in more if name.split("-", 1)[1] not in known}


def _bundled(name: str) -> Reader:
    def read() -> tuple[Any, Any]:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, y

    return read


def _local() -> Iterator[tuple[str, Reader]]:
    flat, shift = data.folder() / "flat", data.folder() / "shift"
    for file in ("uci_small", "hard"):
        with np.load(flat / f"{file}.npz") as arrays:
            found = [key[:-2] for key in arrays.files if key.endswith("_X")]
        for name in found:
            yield name, _arrays(flat / f"{file}.npz", f"{name}_X", f"{name}_y")
    yield "usps", _arrays(flat / "usps.npz", "X_train", "y_train")
    yield "mnist", _mnist
    yield "elec2", _arrays(shift / "elec2.npz", "X", "y")
    for domain in ("amazon", "caltech10", "dslr", "webcam"):
        office = shift / "office_caltech10_surf.npz"
        yield f"office-{domain}", _arrays(office, f"X_{domain}", f"y_{domain}")


def _arrays(path: Path, rows: str, labels: str) -> Reader:
    def read() -> tuple[Any, Any]:
        with np.load(path) as arrays:
            return arrays[rows].astype(float), arrays[labels]

    return read


def _mnist() -> tuple[Any, Any]:
    whole = data.load("mnist")
    step = len(whole.y) // MNIST_ROWS
    return whole.X[::step][:MNIST_ROWS], whole.y[::step][:MNIST_ROWS]


@lru_cache(maxsize=6)
def _text(base: str, way: str) -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    with lzma.open(data.folder() / "flat" / f"{TEXTS[base]}.jsonl.xz", "rt", encoding="utf-8") as f:
        rows = [row for row in map(json.loads, f) if row[0] == "train"]
    kind = CountVectorizer() if way == "counts" else TfidfVectorizer(sublinear_tf=True)
    X = kind.fit_transform([row[-1] for row in rows]).astype(float)
    return X, np.unique([row[1] for row in rows], return_inverse=True)[1]
