"""Do two sets of rows follow one law? Tests with a p-value and a size that does not grow with the rows.

    outputs       what a model says of them: the default
    black_box     the same by Kolmogorov–Smirnov of each class and Bonferroni ("Failing loudly")
    classifier    can a classifier tell the two sets apart?
    features      which features moved, with Holm's correction for their number

References: Rabanser, Günnemann, Lipton, Failing loudly, NeurIPS 2019; Pettitt, A two-sample Anderson–Darling
rank statistic, 1976; Lopez-Paz and Oquab, Revisiting classifier two-sample tests, ICLR 2017; Holm, A simple
sequentially rejective multiple test procedure, 1979.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from .. import checks
from ..calibration.base import as_scores
from ..errors import InvalidInput
from ..records import Floats, Ints
from . import energy

__all__ = ["Evidence", "Moved", "black_box", "classifier", "features", "outputs"]

ROOM = 2**18
"""Numbers of a column-wise permutation test; of more, rows are left out by chance."""

RARE = 5
"""Rows in which a word must occur for its frequency to be compared."""


@final
@dataclass(frozen=True, slots=True)
class Evidence:
    """A p-value, and how large the difference is whatever the number of rows.

    ``size`` is 0 for none and 1 for as much as there can be.

    >>> from argmax.shift import Evidence
    >>> found = Evidence("outputs", 0.31, 0.005)
    >>> found.rejected(), str(found)
    (True, 'outputs: size 0.310, p = 0.005')
    """

    name: str
    size: float
    p_value: float

    def rejected(self, level: float = 0.05) -> bool:
        """Whether the p-value is at most ``level``."""
        return self.p_value <= level

    def __str__(self) -> str:
        return f"{self.name}: size {self.size:.3f}, p = {self.p_value:.3g}"


def outputs(
    validation: Any, target: Any, *, on: str = "probabilities", resamples: int = 199, seed: int = 0
) -> Evidence:
    """Whether a model's answers have moved: probabilities (n, k) against (m, k).

    Anderson and Darling's statistic, added up over the classes and the top probability, by permutation,
    which is exact for any number of rows. It weighs differences in the tails, where a few rows that moved
    stand, and hears what several classes say together. ``size`` is the largest Kolmogorov–Smirnov distance.

    >>> import numpy as np
    >>> from argmax import shift
    >>> p = np.random.default_rng(0).dirichlet([1, 1, 1], size=400)
    >>> shift.outputs(p[:200], p[200:]).rejected()
    False
    >>> shift.outputs(p[:200], p[200:] ** 2 / (p[200:] ** 2).sum(axis=1, keepdims=True)).rejected()
    True
    """
    p, q = _tables(validation, target, on)
    rng, b = np.random.default_rng(seed), checks.positive_integer("resamples", resamples)
    return Evidence("outputs", *_apart(_with_top(p), _with_top(q), b, rng))


def black_box(validation: Any, target: Any, *, on: str = "probabilities") -> Evidence:
    """Kolmogorov–Smirnov for each class, the least p-value times k: the soft test of "Failing loudly".

    >>> import numpy as np
    >>> from argmax import shift
    >>> p = np.random.default_rng(0).dirichlet([1, 1, 1], size=400)
    >>> shift.black_box(p[:200], p[200:]).rejected()
    False
    """
    from scipy.stats import ks_2samp

    p, q = _tables(validation, target, on)
    found = [ks_2samp(a, b, method="asymp") for a, b in zip(p.T, q.T, strict=True)]
    least = min(float(one.pvalue) for one in found)
    largest = max(float(one.statistic) for one in found)
    return Evidence("black box", largest, min(1.0, p.shape[1] * least))


def classifier(validation: Any, target: Any, *, C: float = 1.0, seed: int = 0) -> Evidence:
    """Whether a linear classifier can tell rows X (n, d) from rows (m, d), dense or sparse.

    It learns on half of the rows and is judged on the other half, by ranks (Mann and Whitney). ``size`` is
    2·AUC − 1.

    >>> import numpy as np
    >>> from argmax import shift
    >>> X = np.random.default_rng(0).normal(size=(400, 5))
    >>> (
    ...     shift.classifier(X[:200], X[200:]).rejected(),
    ...     shift.classifier(X[:200], X[200:] + 0.5).rejected(),
    ... )
    (False, True)
    """
    from scipy.stats import mannwhitneyu

    from .covariate import discriminator

    validation, target = _matrices(validation, target)
    rng = np.random.default_rng(seed)
    halves = [rng.permutation(part.shape[0]) for part in (validation, target)]
    if min(map(len, halves)) < 4:
        raise InvalidInput("each of the two sets needs at least 4 rows to tell them apart.")
    learn, judge = ([h[i::2] for h in halves] for i in (0, 1))
    odds = discriminator(validation[learn[0]], target[learn[1]], C=C)
    before, after = odds(validation[judge[0]]), odds(target[judge[1]])
    found = mannwhitneyu(after, before, alternative="greater")
    auc = float(found.statistic) / (len(before) * len(after))
    return Evidence("classifier", max(0.0, 2 * auc - 1), float(found.pvalue))


@final
@dataclass(frozen=True, slots=True)
class Moved:
    """The features of two sets, those that moved most first.

    ``p_values`` are corrected for the number of features, so that ``level`` is the chance of a single false
    one among all.
    """

    columns: Ints
    sizes: Floats
    p_values: Floats

    def rejected(self, level: float = 0.05) -> Ints:
        """The columns that moved."""
        return self.columns[self.p_values <= level]


def features(validation: Any, target: Any) -> Moved:
    """Which columns of X (n, d) moved: Kolmogorov–Smirnov where dense, shares of nonzeros where sparse.

    >>> import numpy as np
    >>> from argmax import shift
    >>> X = np.random.default_rng(0).normal(size=(400, 5))
    >>> shift.features(X[:200], X[200:] + [0, 0, 1, 0, 0]).rejected()
    array([2])
    """
    validation, target = _matrices(validation, target)
    compared = _shares if sp.issparse(validation) else _columns
    columns, sizes, p = compared(validation, target)
    order = np.lexsort((columns, -sizes, p))
    many = np.arange(len(p), 0, -1)
    held = np.minimum(np.maximum.accumulate(p[order] * many), 1.0) if len(p) else p
    return Moved(columns[order], sizes[order], held)


def _matrices(validation: Any, target: Any) -> tuple[Any, Any]:
    """Rows of features of both sets, dense or sparse, with the same columns."""
    one, other = checks.matrix(validation, "validation"), checks.matrix(target, "target")
    if one.shape[1] != other.shape[1]:
        raise InvalidInput(
            f"both sets must have the same columns; got {one.shape[1]} and {other.shape[1]}."
        )
    return one, other


def _columns(one: Floats, other: Floats) -> tuple[Ints, Floats, Floats]:
    from scipy.stats import ks_2samp

    pairs = zip(np.asarray(one).T, np.asarray(other).T, strict=True)
    found = [ks_2samp(a, b, method="asymp") for a, b in pairs]
    sizes = np.array([float(f.statistic) for f in found])
    return np.arange(len(found)), sizes, np.array([float(f.pvalue) for f in found])


def _shares(one: Any, other: Any) -> tuple[Ints, Floats, Floats]:
    """Of each column, the difference of the shares of rows that have it, as Cohen's h, and its p-value."""
    n, m = one.shape[0], other.shape[0]
    a, b = (np.bincount(X.tocsr().indices, minlength=X.shape[1]) for X in (one, other))
    columns = np.flatnonzero(a + b >= RARE)
    a, b = a[columns], b[columns]
    pooled = (a + b) / (n + m)
    spread = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-300) * (1 / n + 1 / m))
    arc = np.abs(np.arcsin(np.sqrt(a / n)) - np.arcsin(np.sqrt(b / m))) * 2 / np.pi
    return columns, arc, 2 * ndtr(-np.abs(a / n - b / m) / spread)


# Permutations


def _tables(validation: Any, target: Any, on: str) -> tuple[Floats, Floats]:
    from scipy.special import softmax

    given = [softmax(as_scores(part, on), axis=1) for part in (validation, target)]
    if given[0].shape[1] != given[1].shape[1] or not (len(given[0]) and len(given[1])):
        raise InvalidInput(
            f"validation and target must have rows, and the same classes; got {given[0].shape} and "
            f"{given[1].shape}."
        )
    return given[0], given[1]


def _with_top(p: Floats) -> Floats:
    return np.column_stack([p, p.max(axis=1)])


def _apart(p: Floats, q: Floats, resamples: int, rng: np.random.Generator) -> tuple[float, float]:
    """The largest Kolmogorov–Smirnov distance over columns, and a p-value by permutation."""
    most = max(2, ROOM // p.shape[1] // 2)
    p, q = (t[energy.thinned(len(t), most, rng)] for t in (p, q))
    new = np.arange(len(p) + len(q)) >= len(p)
    # Row 0 are the rows as they came, all others a permutation of which are new.
    signs = np.array([new, *(rng.permutation(new) for _ in range(resamples))])
    steps = np.where(signs, 1 / len(q), -1 / len(p)).astype(np.float32)
    furthest, tails = zip(*(_distances(c, steps) for c in np.concatenate([p, q]).T), strict=True)
    return max(furthest), _p_value(np.sum(tails, axis=0))


def _distances(column: Floats, steps: Any) -> tuple[float, Floats]:
    """Of rows as they came max |F − G|, and of all permutations (b,) ∫ (F − G)² / H(1 − H) dH.

    F and G are the distribution functions of the column in the two sets, and H the one in both together;
    ``steps`` (b, n) are those of F − G at the rows.
    """
    order = np.argsort(column)
    ends = np.flatnonzero(
        np.diff(column[order]) > 0
    )  # ties count together; at the last value F = G
    if not len(ends):
        return 0.0, np.zeros(len(steps))
    apart = np.cumsum(steps[:, order], axis=1)[:, ends]
    H = (ends + 1) / len(column)
    weights = np.diff(H, prepend=0.0) / (H * (1 - H))
    return float(np.abs(apart[0]).max()), np.asarray(apart**2 @ weights.astype(np.float32))


def _p_value(statistics: Floats) -> float:
    """The share of all statistics that reach the first; a hair of rounding counts as reaching."""
    return float((statistics >= statistics[0] * (1 - 1e-6)).mean())
