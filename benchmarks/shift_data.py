"""Data of the comparison of shifts: scored sets, rows with drawn priors, digits, and kinds of shift."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import softmax

from argmax import SoftmaxRegression

from .common import Options
from .data import folder, load

STRENGTHS: dict[str, float | None] = {
    "Dirichlet 0.1": 0.1, "Dirichlet 0.3": 0.3, "Dirichlet 1": 1.0, "Dirichlet 10": 10.0, "none": None,
}  # fmt: skip
ROWS = 1000
"""Target rows of a draw."""

MOST = 30_000
"""Rows of a set; of more, some by chance."""

PENALTY = {"mnist": 0.01, "letter": 1.0, "clinc150": 10.0, "20news": 10.0}


def times(options: Options, quick: int, plain: int, full: int) -> int:
    """How often something is repeated."""
    return quick if options.quick else full if options.full else plain


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores by one model: of validation rows with truth, and of rows to draw targets from."""

    name: str
    scores: Any  # (n, k)
    truth: Any  # (n,)
    new: Any  # (m, k)
    hidden: Any  # (m,)

    @property
    def k(self) -> int:
        return int(self.scores.shape[1])

    def probabilities(self) -> tuple[Any, Any]:
        return softmax(self.scores, axis=1), softmax(self.new, axis=1)

    def source(self) -> Any:
        return np.bincount(self.truth, minlength=self.k) / len(self.truth)

    def drawn(self, strength: float | None, rows: int, rng: Any) -> tuple[Any, Any]:
        """Numbers of target rows whose classes follow drawn priors, and the priors."""
        priors = self.source() if strength is None else rng.dirichlet(np.full(self.k, strength))
        classes = rng.choice(self.k, rows, p=priors)
        chosen = np.empty(rows, dtype=int)
        for c in np.unique(classes):
            here = classes == c
            chosen[here] = rng.choice(np.flatnonzero(self.hidden == c), here.sum())
        return chosen, priors


def scored(name: str, quick: bool, model: Any = None, seed: int = 0) -> Scored:
    """A model on 40 % of a set, validation scores of 20 %, and scores of the rest."""
    X, y = _pooled(name, quick)
    order = np.random.default_rng(seed).permutation(len(y))[:MOST]
    learn, check, rest = np.split(order, [int(0.4 * len(order)), int(0.6 * len(order))])
    fit = (SoftmaxRegression(C=PENALTY[name]) if model is None else model).fit(X[learn], y[learn])
    return Scored(
        name, fit.decision_function(X[check]), y[check], fit.decision_function(X[rest]), y[rest]
    )


@lru_cache(maxsize=1)
def _pooled(name: str, quick: bool) -> tuple[Any, Any]:
    """All labelled rows of a set: the published splits differ by more than their labels."""
    if name in ("clinc150", "20news"):
        return _texts(name, quick)
    table = load(name, quick)
    if table.X_test is None:
        spread = table.X.std(axis=0)
        return (table.X - table.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), table.y
    return np.concatenate([table.X, table.X_test]), np.concatenate([table.y, table.y_test])


def _texts(name: str, quick: bool) -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    file = {"clinc150": "clinc150.jsonl.xz", "20news": "20news-bydate.jsonl.xz"}[name]
    with lzma.open(folder() / "flat" / file, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row[1] != "oos"]
    if quick:
        few = sorted({row[1] for row in rows})[:5]
        rows = [row for row in rows if row[1] in few][:1000]
    y = np.unique([row[1] for row in rows], return_inverse=True)[1]
    return TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform([r[-1] for r in rows]), y


# Digits


@dataclass(frozen=True, eq=False)
class Digits:
    """A model of digits, validation rows, and images to make targets of."""

    model: Any
    scores: Any
    truth: Any
    images: Any  # (m, 28, 28), or (m, 16, 16)
    labels: Any

    def of(self, images: Any) -> Any:
        return self.model.decision_function(images.reshape(len(images), -1))


def digits(quick: bool, small: bool = False) -> Digits:
    """MNIST, its two parts mixed: a model of 20,000 images, 10,000 for validation, 10,000 for targets.

    Mixed, because other people wrote the published test images, and that is a shift.
    """
    X, y = _pooled("mnist", quick)
    order = np.random.default_rng(7).permutation(len(y))
    images = X[order].reshape(-1, 28, 28)
    images, y = shrunk(images) if small else images, y[order]
    n, m = min(20_000, len(y) // 2), min(10_000, len(y) // 4)
    flat = images.reshape(len(images), -1)
    model = SoftmaxRegression(C=PENALTY["mnist"]).fit(flat[:n], y[:n])
    check, new = slice(n, n + m), slice(n + m, n + 2 * m)
    return Digits(model, model.decision_function(flat[check]), y[check], images[new], y[new])


def shrunk(images: Any) -> Any:
    """28 × 28 to 16 × 16: two pixels of margin, then means of four."""
    wide = np.pad(images, ((0, 0), (2, 2), (2, 2)))
    return wide.reshape(len(images), 16, 2, 16, 2).mean(axis=(2, 4))


def usps() -> Any:
    """Other digits (m, 16, 16) in the same range."""
    with np.load(folder() / "flat" / "usps.npz") as arrays:
        return (arrays["X_test"].astype(float) / 1000 + 1).reshape(-1, 16, 16) / 2


def blurred(images: Any) -> Any:
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(images, sigma=(0, 1, 1))


# Kinds of shift: Rabanser, Günnemann, Lipton, Failing loudly, 2019, section 4

Shifted = Callable[[Any, float, Any], tuple[Any, Any]]


def kinds(found: Digits) -> dict[str, Shifted]:
    """Name ↦ (rows, share, rng) ↦ images of those rows and numbers of the rows kept.

    The share says how many of the rows are changed. Adversarial images are by the sign of the gradient of the
    linear model itself.
    """
    rng = np.random.default_rng(0)
    changed = {f"{name} noise": _noisy(found.images, size / 255, rng)
               for name, size in (("small", 1), ("medium", 10), ("large", 100))}  # fmt: skip
    changed |= {f"{name} image": _moved(found.images, turn, step, zoom, rng)
                for name, turn, step, zoom in (("small", 10, 0.05, 0.1), ("medium", 40, 0.2, 0.4),
                                               ("large", 90, 0.4, 0.6))}  # fmt: skip
    changed["adversarial"] = _adversarial(found)
    made: dict[str, Shifted] = {name: _replaced(found, new) for name, new in changed.items()}
    medium = changed["medium image"]
    made["knock-out"] = _knocked_out(found, found.images)
    made["medium image and knock-out"] = _knocked_out(found, medium, 0.5)
    made["medium image and only zeros"] = _only_zeros(found, medium)
    return made


def _replaced(found: Digits, new: Any) -> Shifted:
    def shifted(rows: Any, share: float, rng: Any) -> tuple[Any, Any]:
        which = rng.random(len(rows)) < share
        return np.where(which[:, None, None], new[rows], found.images[rows]), rows

    return shifted


def _knocked_out(found: Digits, new: Any, moved: float = 0.0) -> Shifted:
    """Rows of class 0 are left out, by the share; of the rest some are changed."""

    def shifted(rows: Any, share: float, rng: Any) -> tuple[Any, Any]:
        kept = rows[(found.labels[rows] != 0) | (rng.random(len(rows)) >= share)]
        return _replaced(found, new)(kept, moved, rng)

    return shifted


def _only_zeros(found: Digits, new: Any) -> Shifted:
    def shifted(rows: Any, share: float, rng: Any) -> tuple[Any, Any]:
        zeros = rows[found.labels[rows] == 0]
        return _replaced(found, new)(zeros, share, rng)

    return shifted


def _noisy(images: Any, size: float, rng: Any) -> Any:
    return np.clip(images + rng.normal(scale=size, size=images.shape), 0.0, 1.0)


def _moved(images: Any, turn: float, step: float, zoom: float, rng: Any) -> Any:
    """Turned by up to ``turn`` degrees, moved by up to ``step`` of the width, scaled by up to ``zoom``."""
    from scipy.ndimage import affine_transform

    new, side = np.empty_like(images), images.shape[1]
    middle = (side - 1) / 2
    for i, image in enumerate(images):
        angle = np.deg2rad(rng.uniform(-turn, turn))
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        matrix = rotation / rng.uniform(1 - zoom, 1 + zoom)
        offset = middle - matrix @ (middle + side * rng.uniform(-step, step, 2))
        new[i] = affine_transform(image, matrix, offset, order=1)
    return new


def _adversarial(found: Digits, size: float = 0.1) -> Any:
    flat = found.images.reshape(len(found.images), -1)
    W = found.model.coef_
    p = softmax(found.model.decision_function(flat), axis=1)
    gradient = p @ W - W[found.labels]
    return np.clip(flat + size * np.sign(gradient), 0.0, 1.0).reshape(found.images.shape)
