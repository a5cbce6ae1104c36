"""Steps between corners: compiled and plain ones, and the certificate of a fit over wide graphs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax import GraphLabeler
from argmax.errors import NotConverged
from argmax.features import grid_graph
from argmax.kernels.corners import move
from argmax.solvers.blocks import _moved


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([move, _moved]))
def test_steps_end_where_no_corner_is_better_than_those_in_use(seed, corners, steps):
    rng, l2 = np.random.default_rng(seed), 0.7
    w, costs, alpha = rng.normal(size=(corners, 4)), rng.normal(size=corners), np.eye(corners)[0]
    gram = w @ w.T
    slope = costs - l2 * gram @ alpha
    assert steps(gram, slope, alpha, l2, 1e-6, 100_000) < 100_000
    np.testing.assert_allclose(slope, costs - l2 * gram @ alpha, atol=1e-8)
    np.testing.assert_allclose(alpha.sum(), 1.0)
    assert alpha.min() >= 0.0
    assert slope.max() - slope[alpha > 0.0].min() <= 1e-6


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_a_compiled_step_is_the_plain_one(seed, corners):
    rng = np.random.default_rng(seed)
    w, slope, alpha = rng.normal(size=(corners, 4)), rng.normal(size=corners), rng.random(corners)
    here, there = (slope.copy(), alpha.copy()), (slope.copy(), alpha.copy())
    assert move(w @ w.T, *here, 0.7, 1e-3, 1) == _moved(w @ w.T, *there, 0.7, 1e-3, 1)
    np.testing.assert_allclose(here, there, atol=1e-12)


@pytest.mark.parametrize("compiled", ["always", "never"])
def test_training_on_wide_graphs_is_certified(compiled, monkeypatch):
    """Messages alone leave a doubt here; with a search every argmax is exact, so that tol can be met."""
    monkeypatch.setenv("ARGMAX_COMPILED", compiled)
    rng = np.random.default_rng(0)
    y = [rng.integers(0, 4, 30) for _ in range(4)]
    X = [grid_graph((rng.normal(size=(30, 4)) + np.eye(4)[part]).reshape(5, 6, 4)) for part in y]
    model = GraphLabeler(loss="hinge", C=0.3, table_limit=2**12, tol=1e-4).fit(X, y)
    assert model.solution_.status == "converged"
    assert model.solution_.relative_gap <= 1e-4
    blind = GraphLabeler(loss="hinge", C=0.3, table_limit=0, tol=1e-4, max_iter=20)
    with pytest.warns(NotConverged):
        blind.fit(X, y)
    assert blind.solution_.relative_gap > 1e-4
    assert blind.solution_.objective - blind.solution_.gap <= model.solution_.objective + 1e-9
