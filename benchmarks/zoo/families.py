"""Families of generated problems. Every draw is another problem, sizes and all, and repeats by its seed.

    >>> from benchmarks.zoo.families import draw
    >>> X, y, weight = draw("plain", seed=1)

A family takes a random generator and gives rows, labels and weights (or None). Most start from ``_base``,
clusters or a noisy linear rule, and then do to the columns what the family is about.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import sparse

__all__ = ["FAMILIES", "draw", "log_uniform", "scaled", "whole"]

Drawn = tuple[Any, Any, Any]

WORK = 3e7
"""Multiply-adds of all scores up to which ``_sizes`` draws: a fit is to take seconds at most."""


def draw(family: str, seed: int) -> Drawn:
    """Rows X, labels y (0 … k−1, all of them present) and weights or None."""
    rng = np.random.default_rng([zlib.crc32(family.encode()), seed])
    X, y, weight = FAMILIES[family](rng)
    return X, _two_at_least(y), weight


# What families share


def log_uniform(rng: Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def whole(rng: Generator, low: float, high: float) -> int:
    return round(log_uniform(rng, low, high))


def _sizes(
    rng: Generator,
    n: tuple[float, float] = (30, 20_000),
    d: tuple[float, float] = (1, 300),
    k: tuple[float, float] = (2, 30),
) -> tuple[int, int, int]:
    """Rows, columns and classes, each log-uniform, two classes in a third of the draws."""
    while True:
        rows, columns = whole(rng, *n), whole(rng, *d)
        classes = 2 if rng.random() < 1 / 3 and k[0] <= 2 else whole(rng, *k)
        if rows * columns * classes <= WORK and classes <= rows:
            return rows, columns, classes


def _two_at_least(y: Any) -> Any:
    """Codes without gaps; where all labels are the same, the last row gets another."""
    y = np.unique(y, return_inverse=True)[1]
    if y.max() == 0:
        y[-1] = 1
    return y


def _labels(rng: Generator, X: Any, k: int, noise: float) -> Any:
    """A linear rule with Gumbel noise, as large as ``noise`` times the scores."""
    scores = X @ rng.standard_normal((X.shape[1], k))
    scores = np.asarray(scores) / max(float(np.std(scores)), 1e-300)
    scores = scores + rng.standard_normal(k) * rng.uniform(0, 1)
    return np.argmax(scores + noise * rng.gumbel(size=scores.shape), axis=1)


def _base(rng: Generator, noise: float | None = None, **sizes: Any) -> tuple[Any, Any]:
    """Clusters, or a noisy linear rule on correlated columns."""
    n, d, k = _sizes(rng, **sizes)
    if rng.random() < 0.5:
        y = rng.integers(k, size=n)
        centres = rng.standard_normal((k, d)) * log_uniform(rng, 0.1, 10)
        X = centres[y] + rng.standard_normal((n, d))
        return X, y
    decay = np.arange(1, d + 1) ** -rng.uniform(0, 1)
    X = (rng.standard_normal((n, d)) * decay) @ rng.standard_normal((d, d)) / np.sqrt(d)
    return X, _labels(rng, X, k, log_uniform(rng, 0.01, 3) if noise is None else noise)


def _some(rng: Generator, d: int, least: int = 1) -> Any:
    """A drawn choice of columns."""
    return rng.choice(d, size=min(d, whole(rng, least, max(d, least))), replace=False)


# What is done to columns: X (n, d) to X (n, d')


def _constant(rng: Generator, X: Any) -> Any:
    values = rng.choice([0.0, 1.0, -3.0, 1e-6, 1e6], size=whole(rng, 1, 10))
    X = np.hstack([X, np.tile(values, (len(X), 1))])
    return X[:, rng.permutation(X.shape[1])]


def _duplicate(rng: Generator, X: Any) -> Any:
    chosen = rng.choice(X.shape[1], size=whole(rng, 1, 2 * X.shape[1]))
    factors = rng.choice([1.0, 1.0, -1.0, 2.0, 1e-3], size=len(chosen))
    return np.hstack([X, X[:, chosen] * factors])


def _collinear(rng: Generator, X: Any) -> Any:
    more = X @ rng.standard_normal((X.shape[1], whole(rng, 1, 50)))
    noise = 0.0 if rng.random() < 0.5 else log_uniform(rng, 1e-12, 1e-3)
    return np.hstack([X, more + noise * rng.standard_normal(more.shape)])


def _lone(rng: Generator, X: Any) -> Any:
    """Columns with one entry that is not zero."""
    more = np.zeros((len(X), whole(rng, 1, 30)))
    at = rng.integers(len(X), size=more.shape[1])
    more[at, np.arange(more.shape[1])] = np.exp(rng.uniform(-3, 8, more.shape[1]))
    return np.hstack([X, more])


def scaled(rng: Generator, X: Any) -> Any:
    return X * 10.0 ** rng.uniform(-6, 6, X.shape[1])


def _offset(rng: Generator, X: Any) -> Any:
    """Offsets far beyond the spread: times of day in seconds since 1970, years, prices, temperatures."""
    X = X.copy()
    for column in _some(rng, X.shape[1]):
        spread = log_uniform(rng, 1e-3, 1e5)
        X[:, column] = X[:, column] * spread + spread * 10.0 ** rng.uniform(1, 6)
    if rng.random() < 0.5:
        X[:, rng.integers(X.shape[1])] = 1.7e9 + 1e4 * rng.standard_normal(len(X))
    return X


def _heavy(rng: Generator, X: Any) -> Any:
    """Cauchy noise, or a lognormal column of a standard deviation of 1 to 4 on the logarithmic scale."""
    X = X.copy()
    for column in _some(rng, X.shape[1]):
        if rng.random() < 0.5:
            X[:, column] += rng.standard_cauchy(len(X)) * log_uniform(rng, 0.1, 10)
        else:
            centred = X[:, column] - X[:, column].mean()
            spread = float(centred.std()) or 1.0
            X[:, column] = np.exp(np.clip(rng.uniform(1, 4) * centred / spread, -30, 30))
    return X


def _counts(rng: Generator, X: Any) -> Any:
    """Poisson counts whose logarithmic rates follow the columns."""
    rates = np.exp(np.clip(X * rng.uniform(0.1, 1), -20, 8) + rng.uniform(-3, 4, X.shape[1]))
    return rng.poisson(np.minimum(rates, 1e7)).astype(float)


def _one_hot(rng: Generator, X: Any) -> Any:
    """Each of some columns cut into levels, one column a level."""
    blocks = []
    for column in _some(rng, X.shape[1])[:12]:
        levels = whole(rng, 2, 60)
        edges = np.quantile(X[:, column], np.sort(rng.random(levels - 1)))
        blocks.append(np.eye(levels)[np.searchsorted(edges, X[:, column])])
    rest = X[:, _some(rng, X.shape[1])] if rng.random() < 0.5 else X[:, :0]
    return np.hstack([*blocks, rest])


TRANSFORMS: dict[str, Callable[[Generator, Any], Any]] = {
    "constant_columns": _constant,
    "duplicate_columns": _duplicate,
    "collinear_columns": _collinear,
    "lone_entries": _lone,
    "scales": scaled,
    "offsets": _offset,
    "heavy_tails": _heavy,
    "counts": _counts,
    "one_hot": _one_hot,
}


def _transformed(name: str) -> Callable[[Generator], Drawn]:
    def family(rng: Generator) -> Drawn:
        X, y = _base(rng)
        return TRANSFORMS[name](rng, X), y, None

    return family


def _several(rng: Generator) -> Drawn:
    """Two to four of the transforms, one after another, and sometimes weights."""
    X, y = _base(rng)
    for name in rng.choice(sorted(TRANSFORMS), size=rng.integers(2, 5), replace=False):
        X = TRANSFORMS[name](rng, X)
    X = X[:, rng.permutation(X.shape[1])[:500]]
    return X, y, _spread_weights(rng, len(X)) if rng.random() < 0.25 else None


def _spread_weights(rng: Generator, n: int) -> Any:
    """Over six orders of magnitude."""
    return 10.0 ** rng.uniform(-3, 3, n)


# The other families


def _plain(rng: Generator) -> Drawn:
    return *_base(rng), None


def _nearly_separable(rng: Generator) -> Drawn:
    X, y = _base(rng, noise=log_uniform(rng, 1e-3, 0.05))
    return X, y, None


def _separable(rng: Generator) -> Drawn:
    """A rule without noise; rows near a border moved away from it, by a drawn distance."""
    n, d, k = _sizes(rng, d=(2, 300))
    X, W = rng.standard_normal((n, d)), rng.standard_normal((d, k))
    y = np.argmax(X @ W, axis=1)
    return (
        X + log_uniform(rng, 1e-3, 3) * W[:, y].T / np.linalg.norm(W, axis=0)[y][:, None],
        y,
        None,
    )


def _rare_classes(rng: Generator) -> Drawn:
    """Shares that fall as a power, and one to five classes of a single row."""
    n, d, k = _sizes(rng, n=(100, 30_000), k=(3, 40))
    shares = np.arange(1, k + 1) ** -rng.uniform(1, 4)
    y = rng.choice(k, size=n, p=shares / shares.sum())
    for label in range(int(rng.integers(1, 6))):
        y[rng.integers(n)] = k + label
    centres = rng.standard_normal((k + 5, d)) * log_uniform(rng, 0.1, 5)
    return centres[y] + rng.standard_normal((n, d)), y, None


def _wide(rng: Generator) -> Drawn:
    """More columns than rows."""
    n, d, k = _sizes(rng, n=(10, 500), d=(500, 20_000), k=(2, 10))
    y = rng.integers(k, size=n)
    X = rng.standard_normal((n, d))
    X[:, : max(d // 50, 1)] += rng.standard_normal((k, max(d // 50, 1)))[y]
    return X, y, None


def _class_for_each_row(rng: Generator) -> Drawn:
    """As many classes as rows, or half as many."""
    n, d = whole(rng, 10, 400), whole(rng, 2, 200)
    y = rng.permutation(n) if rng.random() < 0.5 else rng.integers(max(n // 2, 2), size=n)
    return rng.standard_normal((n, d)), y, None


def _many_classes(rng: Generator) -> Drawn:
    n, d, k = whole(rng, 3000, 15_000), whole(rng, 5, 50), whole(rng, 300, 3000)
    y = rng.integers(k, size=n)
    X = rng.standard_normal((k, d))[y] * log_uniform(rng, 0.5, 3) + rng.standard_normal((n, d))
    return X, y, None


def _tall(rng: Generator) -> Drawn:
    """A million rows, more or less, of five columns, more or less."""
    n, d, k = whole(rng, 200_000, 1_200_000), whole(rng, 3, 8), whole(rng, 2, 6)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2, 2, d)
    return X, _labels(rng, X / X.std(axis=0), k, log_uniform(rng, 0.05, 2)), None


def _tiny(rng: Generator) -> Drawn:
    X, y = _base(rng, n=(4, 60), d=(1, 20), k=(2, 5))
    return X, y, None


def _repeated_rows(rng: Generator) -> Drawn:
    """Few distinct rows, each many times, with labels that contradict each other."""
    X, y = _base(rng, n=(3, 50), d=(1, 50), k=(2, 6))
    again = rng.integers(len(X), size=whole(rng, 100, 10_000))
    y = np.where(rng.random(len(again)) < rng.uniform(0, 0.4), rng.permutation(y[again]), y[again])
    return X[again], y, None


def _rare_positives(rng: Generator) -> Drawn:
    """Two classes, one of them in 1 % of the rows or fewer."""
    n, d, _ = _sizes(rng, n=(500, 50_000), d=(2, 100), k=(2, 2))
    y = (rng.random(n) < log_uniform(rng, 1e-3, 1e-2)).astype(int)
    return (
        rng.standard_normal((n, d)) + np.outer(y, rng.standard_normal(d) * rng.uniform(0, 2)),
        y,
        None,
    )


def _weights(rng: Generator) -> Drawn:
    X, y = _base(rng)
    return X, y, _spread_weights(rng, len(X))


def _single_precision(rng: Generator) -> Drawn:
    """float32 rows, sometimes on scales and offsets that it hardly holds."""
    X, y = _base(rng)
    if rng.random() < 0.5:
        X = (scaled if rng.random() < 0.5 else _offset)(rng, X)
    return X.astype(np.float32), y, None


def _text(rng: Generator) -> tuple[Any, Any]:
    """Counts of words (CSR): Zipf over a vocabulary, its head common to all classes, its tail their own."""
    n, k, words = whole(rng, 50, 8000), whole(rng, 2, 60), whole(rng, 200, 30_000)
    y = rng.integers(min(k, n), size=n)
    lengths = np.minimum(rng.lognormal(rng.uniform(1.5, 4.5), 0.8, n).astype(int) + 1, 400)
    owner = np.repeat(np.arange(n), lengths)
    rank = (words ** rng.random(len(owner)) - 1).astype(int)  # log-uniform ranks: Zipf
    own = rng.random(len(owner)) < rng.uniform(0.05, 0.5)
    rank = np.where(own, (rank * 31 + y[owner] * 7919) % words, rank)
    X = sparse.coo_array((np.ones(len(owner)), (owner, rank)), shape=(n, words)).tocsr()
    return sparse.csr_array(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape
    ), y


def _text_counts(rng: Generator) -> Drawn:
    return *_text(rng), None


def _text_tfidf(rng: Generator) -> Drawn:
    from sklearn.feature_extraction.text import TfidfTransformer

    X, y = _text(rng)
    return TfidfTransformer(sublinear_tf=bool(rng.random() < 0.5)).fit_transform(X), y, None


def _sparse_scales(rng: Generator) -> Drawn:
    """Sparse rows with numbers on any scale among indicators."""
    X, y = _text(rng)
    dense = rng.standard_normal((X.shape[0], whole(rng, 1, 8)))
    dense *= 10.0 ** rng.uniform(-4, 5, dense.shape[1])
    return sparse.hstack([sparse.csr_array(dense), X > 0], format="csr", dtype=float), y, None


def _categories(rng: Generator) -> Drawn:
    """Sparse indicators alone: columns of words, each with up to thousands of them, most of them rare."""
    n, k = whole(rng, 200, 30_000), whole(rng, 2, 8)
    y = np.zeros((n, k))
    blocks = []
    for _ in range(whole(rng, 2, 20)):
        levels = whole(rng, 2, 5000)
        level = np.minimum((levels ** rng.random(n)).astype(int), levels) - 1
        y += rng.standard_normal((levels, k))[level]
        blocks.append(sparse.csr_array((np.ones(n), level, np.arange(n + 1)), (n, levels)))
    y += log_uniform(rng, 0.1, 3) * rng.gumbel(size=y.shape)
    return sparse.hstack(blocks, format="csr"), np.argmax(y, axis=1), None


def _sparse_single(rng: Generator) -> Drawn:
    """Sparse float32 rows, with weights in half of the draws."""
    X, y, _ = (_text_tfidf if rng.random() < 0.5 else _sparse_scales)(rng)
    return X.astype(np.float32), y, _spread_weights(rng, len(y)) if rng.random() < 0.5 else None


FAMILIES: dict[str, Callable[[Generator], Drawn]] = {
    "plain": _plain,
    "tiny": _tiny,
    "nearly_separable": _nearly_separable,
    "separable": _separable,
    "rare_classes": _rare_classes,
    "rare_positives": _rare_positives,
    **{name: _transformed(name) for name in TRANSFORMS},
    "several": _several,
    "repeated_rows": _repeated_rows,
    "wide": _wide,
    "class_for_each_row": _class_for_each_row,
    "many_classes": _many_classes,
    "tall": _tall,
    "text_counts": _text_counts,
    "text_tfidf": _text_tfidf,
    "sparse_scales": _sparse_scales,
    "sparse_single": _sparse_single,
    "categories": _categories,
    "single_precision": _single_precision,
    "weights": _weights,
}
