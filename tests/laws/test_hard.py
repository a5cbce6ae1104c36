"""Default fits of hard problems: they end, soon enough, and their certificates hold."""

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp

from argmax import LinearClassifier
from argmax.solvers import Auto, Dual

LOSSES = (
    "log", "softmax_margin", "ovr_log", "hinge", "weston_watkins", "squared_hinge", "squared",
)  # fmt: skip
MARGINS = "hinge", "weston_watkins", "squared_hinge"


def labelled(X, k, rng, noise=0.3):
    """Labels of a linear model with noise; every class has a row."""
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300)
    y = (Z @ rng.normal(size=(X.shape[1], k)) + noise * rng.gumbel(size=(len(X), k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


def rare_columns(rng):
    """Three columns that are set in a single odd row each, as standardised one-hot columns are."""
    X = rng.normal(size=(1200, 20))
    y = X[:, :4].argmax(axis=1)
    Z = np.hstack([X, np.zeros((1200, 3))])
    for j in range(3):
        Z[2 * j + 1, 20 + j] = 1200**0.5
    return Z, y


def scales(rng):
    return labelled(rng.normal(size=(150, 6)) * 10.0 ** rng.uniform(-6, 6, 6), 3, rng)


def offsets(rng):
    return labelled(rng.normal(size=(150, 4)) + 10.0 ** rng.uniform(0, 6, 4), 3, rng)


def nearly_equal_columns(rng):
    X = rng.normal(size=(150, 4))
    return labelled(np.hstack([X, X[:, :2] * (1 + 1e-9 * rng.normal(size=(150, 2)))]), 3, rng)


def heavy_tails(rng):
    return labelled(rng.standard_t(1.2, size=(200, 5)), 3, rng)


def rare_classes(rng):
    X, y = labelled(rng.normal(size=(200, 4)), 2, rng)
    y[:2] = 2, 3
    return X, y


def separable(rng):
    return labelled(rng.normal(size=(150, 5)), 3, rng, noise=0.0)


FAMILIES = (
    rare_columns, scales, offsets, nearly_equal_columns, heavy_tails, rare_classes, separable,
)  # fmt: skip


def value(model, X, y, loss, C):
    """F in plain NumPy, for three classes and more."""
    own = np.arange(len(y)), y
    scores = X @ model.coef_.T + model.intercept_
    behind = scores - scores[own][:, None]
    sign = np.where(np.arange(scores.shape[1]) == y[:, None], 1.0, -1.0)
    cost = 1.0 - np.eye(scores.shape[1])[y]
    losses = {
        "log": lambda: logsumexp(behind, axis=1),
        "softmax_margin": lambda: logsumexp(behind + cost, axis=1),
        "ovr_log": lambda: np.logaddexp(0.0, -sign * scores).sum(axis=1),
        "hinge": lambda: (behind + cost).max(axis=1),
        "weston_watkins": lambda: np.maximum((behind + 1.0) * cost, 0.0).sum(axis=1),
        "squared_hinge": lambda: (np.maximum(1.0 - sign * scores, 0.0) ** 2).sum(axis=1),
        "squared": lambda: 0.5 * ((sign * scores - 1.0) ** 2).sum(axis=1),
    }
    squares = (model.coef_**2).sum()
    squares += (model.intercept_**2).sum() if loss in MARGINS else 0.0
    return C * losses[loss]().sum() + 0.5 * squares


@pytest.mark.parametrize("C", [1e-2, 1e2])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_default_ends_with_a_certificate_that_holds(family, loss, C):
    X, y = family(np.random.default_rng(7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearClassifier(loss, C=C, n_threads=1, time_limit=60.0).fit(X, y)
    assert model.solution_.status == "converged"
    closer = LinearClassifier(loss, C=C, n_threads=1, tol=1e-8, time_limit=60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = value(closer.fit(X, y), X, y, loss, C)
    here = value(model, X, y, loss, C)
    assert here == pytest.approx(model.solution_.objective, rel=1e-6)
    assert here - best <= model.solution_.gap + 1e-7 * abs(here)


def test_columns_that_a_sample_of_the_rows_does_not_hold():
    """The preconditioner of L-BFGS is formed of a sample; what it misses is noticed, and mended."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 60))
    y = X[:, :8].argmax(axis=1)
    Z = np.hstack([X, np.zeros((4000, 3))])
    for j in range(3):
        Z[1 + 2 * j, 60 + j] = 4000**0.5
    for solver in ("lbfgs", "newton_cg", "auto"):
        model = LinearClassifier(C=100.0, solver=solver).fit(Z, y)
        assert model.solution_.status == "converged"
        assert model.score(Z, y) > 0.99


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("loss", ["log", "squared_hinge"])
@pytest.mark.parametrize("C", [0.05, 1e3])
def test_rounded_corners_and_proximal_steps_reach_one_objective(loss, ratio, C):
    X, y = labelled(np.random.default_rng(3).normal(size=(120, 8)), 3, np.random.default_rng(4))
    options = {"C": C, "penalty": "elasticnet", "l1_ratio": ratio, "tol": 1e-6}
    found = {
        solver: LinearClassifier(loss, solver=solver, **options).fit(X, y)
        for solver in ("newton_l1", "proximal")
    }
    zero = C * {"log": 120 * np.log(3), "squared_hinge": 360.0}[loss]
    values = [model.solution_.objective for model in found.values()]
    assert abs(values[0] - values[1]) <= 1e-6 * zero
    if ratio == 1.0 and C < 1.0:
        zeros = [(model.coef_ == 0).sum() for model in found.values()]
        assert zeros[0] == zeros[1] > 0


@pytest.mark.parametrize("loss", ["hinge", "weston_watkins"])
def test_a_fit_that_is_handed_on_says_so(loss, monkeypatch):
    """The dual crawls where C · ‖x‖² is large; others end the fit, whoever began it."""
    X, y = heavy_tails(np.random.default_rng(5))
    direct = LinearClassifier(loss, C=1e4, solver="interior_point").fit(X, y)
    monkeypatch.setattr(Auto, "choose", lambda self, objective: (Dual(seed=0), "asked for"))
    model = LinearClassifier(loss, C=1e4).fit(X, y)
    assert model.solution_.status == "converged"
    assert model.solution_.message.startswith("dual handed its point to")
    slack = model.solution_.gap + direct.solution_.gap
    assert abs(model.solution_.objective - direct.solution_.objective) <= slack
