"""Small problems to fit, and everything a fit leaves behind as bytes."""

import numpy as np
import scipy.sparse as sp

from argmax import LinearClassifier

__all__ = ["bits", "data", "fit"]


def data(kind, k, n=250, d=12, seed=0):
    """Rows of a kind and labels drawn from a softmax model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    if kind == "csr":
        X *= rng.random((n, d)) < 0.6
        return sp.csr_array(X), y
    return X.astype(kind), y


def bits(model):
    """Everything a fit leaves behind, but for what depends on the clock."""
    s = model.solution_
    values = np.array([row[1:] for row in s.history if s.solver != "dual"])  # news after some time
    arrays = (model.coef_, model.intercept_, s.w, np.array([s.objective, s.gap]), values)
    return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


def fit(X, y=None, sample_weight=None, threads=None, tol=1e-6, C=0.1, **options):
    model = LinearClassifier(C=C, n_threads=threads, tol=tol, **options)
    return model.fit(X, y, sample_weight)
