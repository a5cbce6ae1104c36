"""The linear map Ψ and its adjoint: one identity, and three ways to compute them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.layouts import Full
from argmax.records import Scores, Structures
from tests.laws.problems import ROWS, make_layout, make_rows, plain, random_w

SHAPES = [(1, 1, 3), (7, 6, 2), (20, 5, 3), (33, 13, 5), (50, 30, 11), (17, 4, 26)]
loose = {"float32": 2e-5}


def random_residual(layout, n, rng, offsets=None):
    K = layout.labels
    edge = rng.normal(size=(layout.edge_kinds, K, K)) if layout.edge_kinds else None
    return Scores(rng.normal(size=(n, K)), edge, offsets)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_adjoint_identity(kind, n, d, k, intercept, compiled):
    """⟨Ψw, r⟩ = ⟨w, Ψᵀr⟩"""
    rng = np.random.default_rng(n * d + k)
    rows = make_rows(kind, rng, n, d)
    layout = make_layout(rows, k, compiled, intercept)
    w, residual, out = random_w(layout, rng), random_residual(layout, n, rng), np.zeros(layout.size)
    left = np.vdot(layout.scores(Structures(rows), w).node, residual.node)
    layout.adjoint(Structures(rows), residual, out)
    assert left == pytest.approx(w @ out, rel=loose.get(kind, 1e-10), abs=loose.get(kind, 1e-10))


@pytest.mark.parametrize("kind", ROWS)
def test_adjoint_identity_with_edges(kind):
    rng, offsets = np.random.default_rng(3), np.array([0, 3, 4, 9])
    rows = make_rows(kind, rng, 9, 4)
    layout = Full(4, 3, intercept=False, edge_kinds=1)
    w, residual = random_w(layout, rng), random_residual(layout, 9, rng, offsets)
    scores, out = layout.scores(Structures(rows, offsets), w), np.zeros(layout.size)
    layout.adjoint(Structures(rows, offsets), residual, out)
    left = np.vdot(scores.node, residual.node) + np.vdot(scores.edge, residual.edge)
    assert left == pytest.approx(w @ out, rel=1e-5 if kind == "float32" else 1e-10)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_scores_are_the_product_written_out(kind, n, d, k, compiled):
    rng = np.random.default_rng(n)
    rows = make_rows(kind, rng, n, d)
    layout = make_layout(rows, k, compiled)
    w = random_w(layout, rng)
    parts = layout.named(w)
    expected = (plain(rows) @ parts["coef"].T + parts["intercept"]) @ layout.label_matrix.T
    found = layout.scores(Structures(rows), w).node
    tol = loose.get(kind, 1e-11)
    np.testing.assert_allclose(found, expected, rtol=tol, atol=tol)


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_the_adjoint_has_three_equal_forms(kind, n, d, k):
    """NumPy, compiled by rows, and by owners of columns."""
    rng = np.random.default_rng(d)
    rows = make_rows(kind, rng, n, d)
    residual = Scores(rng.normal(size=(n, k)))
    found = []
    for compiled in (False, True):
        layout = make_layout(rows, k, compiled)
        out = np.zeros(layout.size)
        layout.adjoint(Structures(rows), residual, out)
        found.append(out)
        found.append(by_columns(layout, rows, residual))
    tol = loose.get(kind, 1e-11)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=tol, atol=tol * 10)


def by_columns(layout, rows, residual):
    from argmax.engines import Shard, Threads
    from argmax.records import Truth

    shard = Shard(Structures(rows), Truth(np.zeros(len(rows), np.intp)), layout)
    out, node = np.zeros(layout.size), np.zeros((len(rows), layout.width))
    node[:, : layout.columns] = layout.reduced(residual.node)
    layout.adjoint_shared(node[:, : layout.columns], None, out)
    columns = shard.by_column(Threads(1).run)
    for owned in shard.column_ranges(columns):
        layout.adjoint_columns(columns, node, out, owned)
    return out


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ROWS)
def test_adjoint_adds_to_what_is_there(kind, compiled):
    rng = np.random.default_rng(8)
    rows = make_rows(kind, rng, 19, 7)
    layout = make_layout(rows, 3, compiled)
    residual, once = random_residual(layout, 19, rng), np.zeros(layout.size)
    layout.adjoint(Structures(rows), residual, once)
    twice = once.copy()
    layout.adjoint(Structures(rows), residual, twice)
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-6 if kind == "float32" else 1e-12)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("k", [2, 3, 5, 11])
def test_padding_stays_zero(kind, k, compiled):
    rng = np.random.default_rng(k)
    rows = make_rows(kind, rng, 21, 8)
    layout = make_layout(rows, k, compiled)
    out = np.zeros(layout.size)
    layout.adjoint(Structures(rows), random_residual(layout, 21, rng), out)
    assert not layout.matrix(out)[:, layout.columns :].any()


@given(st.integers(0, 2**32 - 1), st.sampled_from(ROWS), st.booleans())
def test_a_block_of_rows_is_a_view_with_the_same_scores(seed, kind, compiled):
    rng = np.random.default_rng(seed)
    rows = make_rows(kind, rng, 23, 5)
    layout = make_layout(rows, 3, compiled)
    w, (start, stop) = random_w(layout, rng), sorted(rng.integers(0, 24, 2))
    whole = layout.scores(Structures(rows), w).node
    part = layout.scores(Structures(rows)[slice(int(start), int(stop))], w).node
    np.testing.assert_allclose(part, whole[start:stop], rtol=loose.get(kind, 1e-12), atol=1e-6)


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("k", [2, 4])
def test_norms_bound_the_feature_vectors(kind, k):
    """‖x‖² a row; two classes share one vector x/2, −x/2, and so half of it."""
    rows = make_rows(kind, np.random.default_rng(0), 12, 6)
    layout = make_layout(rows, k, False)
    expected = (plain(rows) ** 2).sum(axis=1) * (0.5 if k == 2 else 1.0)
    np.testing.assert_allclose(layout.norms(Structures(rows)), expected, rtol=1e-6)
