"""Is label shift compatible with the rows? A test whose null hypothesis is that P(x | y) has stayed.

Under label shift the target rows are a mixture of the classes' own rows. So the energy distance between them
and validation rows, weighted by the priors estimated, is as small as chance allows. What chance allows is
seen on sets drawn from *other* validation rows with those priors, for each of which the priors are
estimated anew:

    validation   reference V | pool U      both halves, class by class
    observed     E(target, V weighted by π̂)
    chance       E(T, V weighted by π̂(T)),   T drawn from U, classes by π̂, as many rows as the target has

To draw T from the reference itself would be wrong: such sets resemble it more than any new rows do.
"""

from __future__ import annotations

import numpy as np

from ..records import Floats, Ints
from . import energy
from .priors import em
from .tests import Evidence

__all__ = ["label_shift_test"]

POOL, NEW = 3000, 1000
"""Validation and target rows that distances are computed of; of more, some by chance."""

LIGHT = 0.01
"""Shrinkage of priors here: what they lose in precision, the sets drawn lose as well."""

FEWEST = 4
"""Validation rows below which nothing can be refuted."""

CLOSE = 1e-4
"""How exactly priors of drawn sets are solved: far below their own noise."""


def label_shift_test(
    p: Floats, truth: Ints, q: Floats, resamples: int = 199, seed: int = 0
) -> Evidence:
    """Test P(x | y) unchanged, on calibrated probabilities p (n, k) with their truth (n,) and q (m, k).

    A small p-value says that no change of priors explains the target rows. Of fewer than four validation
    rows it is 1.
    """
    if len(p) < FEWEST:
        return Evidence("label shift", 0.0, 1.0)
    rng = np.random.default_rng(seed)
    source = p.mean(axis=0)
    kept, new = energy.thinned(len(p), POOL, rng), energy.thinned(len(q), NEW, rng)
    p, truth, q = p[kept], truth[kept], q[new]
    pool = _half(truth, rng)
    priors = em(q / source, np.ones((1, len(q))), source, LIGHT)
    priors = _known(priors, truth[pool], truth[~pool])
    drawn = _drawn(truth[pool], priors[0], len(q), resamples, rng)
    redone = em(p[pool] / source, drawn, source, LIGHT, priors[0], CLOSE)
    reference = _weighted(truth[~pool], np.concatenate([priors, redone]))
    D = energy.pairwise(energy.log_outputs(np.concatenate([p[~pool], p[pool], q])))
    v, u = len(reference[0]), int(pool.sum())
    weights = np.zeros((2, resamples + 1, len(D)))
    weights[0, :, :v] = reference
    weights[1, 1:, v : v + u] = drawn
    weights[1, 0, v + u :] = 1.0
    found = energy.between(D, weights[0], weights[1])
    size = float(np.sqrt(max(found[0] - np.median(found[1:]), 0.0) / max(D.mean(), 1e-300)))
    return Evidence("label shift", min(size, 1.0), float((found >= found[0]).mean()))


def _half(truth: Ints, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Every second row of each class, by chance."""
    order = rng.permutation(len(truth))
    order = order[np.argsort(truth[order], kind="stable")]
    pool = np.zeros(len(truth), np.bool_)
    pool[order[1::2]] = True
    return pool


def _known(priors: Floats, pool: Ints, rest: Ints) -> Floats:
    """Priors of the classes that both halves have."""
    k = priors.shape[1]
    there = (np.bincount(pool, minlength=k) > 0) & (np.bincount(rest, minlength=k) > 0)
    found = priors * there
    total = found.sum(axis=1, keepdims=True)
    return np.where(total > 0, found / np.where(total > 0, total, 1.0), there / max(there.sum(), 1))


def _drawn(truth: Ints, priors: Floats, m: int, sets: int, rng: np.random.Generator) -> Floats:
    """How often each row is in each of the sets (sets, n): classes by the priors, rows of a class alike."""
    chance = _weighted(truth, priors[None, :])[0]
    return rng.multinomial(m, chance / chance.sum(), size=sets).astype(float)


def _weighted(truth: Ints, priors: Floats) -> Floats:
    """Weights (b, n) of rows, which give each class its prior (b, k)."""
    counts = np.bincount(truth, minlength=priors.shape[1])
    return np.asarray((priors / np.maximum(counts, 1))[:, truth])
