"""Every compiled kernel equals its naive twin."""

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from argmax.checks import compressed
from argmax.kernels import (
    classes,
    dual,
    fused,
    gram,
    products,
    quadratic,
    simd,
    sparse_rows,
    structure,
    triangular,
    turns,
    vectors,
)
from argmax.layouts import csr_arguments, padded
from argmax.solvers.quadratic import minimise_quadratic
from tests import naive
from tests.laws.problems import make_rows, plain

WIDTHS = [1, 3, 4, 5, 8, 11, 16, 17, 22, 26, 33]


def both(kernel, twin, *arguments):
    """Run both on copies; return what each left behind in its arrays, and its answer."""
    left = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    right = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    answers = kernel(*left), twin(*right)
    left.append(0.0 if answers[0] is None else answers[0])
    right.append(0.0 if answers[1] is None else answers[1])
    return zip(left, right, strict=True)


def same(kernel, twin, *arguments, tol=1e-12):
    for found, expected in both(kernel, twin, *arguments):
        np.testing.assert_allclose(found, expected, rtol=tol, atol=tol)


def sparse(rng, n=13, d=9, values=True, kind=np.float64):
    X = np.round(rng.normal(size=(n, d)), 3) * (rng.random((n, d)) < 0.4)
    X[0] = 0.0  # an empty row
    rows = compressed(sp.csr_array(X.astype(kind)))
    return csr_arguments(rows)[:2] + ((rows.values, 1) if values else (np.ones(1, kind), 0))


def weights(rng, d, m, dtype=np.float64):
    W = np.zeros((d, padded(m)), dtype)
    W[:, :m] = rng.normal(size=(d, m))
    return W


@pytest.mark.parametrize("m", WIDTHS)
@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_csr_scores(m, values, kind):
    rng = np.random.default_rng(m)
    rows, W = sparse(rng, values=values, kind=kind), weights(rng, 9, m)
    same(products.csr_scores, naive.csr_scores, *rows, W, rng.normal(size=m), np.empty((13, m)))


@pytest.mark.parametrize("m", WIDTHS)
@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_csr_adjoint(m, values, bias):
    rng = np.random.default_rng(m)
    rows, G, b = sparse(rng, values=values), weights(rng, 9, m), np.ones(m if bias else 0)
    same(products.csr_adjoint, naive.csr_adjoint, *rows, rng.normal(size=(13, m)), G, b)


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_csr_norms(values, kind):
    indptr, _, x, step = sparse(np.random.default_rng(0), n=40, d=30, values=values, kind=kind)
    found = np.empty(40)
    products.csr_norms(indptr, x, step, found)
    expected = [sum(float(x[t * step]) ** 2 for t in range(a, b)) for a, b in pairwise(indptr)]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("values", [True, False])
def test_csr_squares(values):
    rng = np.random.default_rng(0)
    rows = sparse(rng, values=values)
    same(products.csr_squares, naive.csr_squares, *rows, rng.uniform(size=9), np.empty(13))


@pytest.mark.parametrize("m", [m for m in WIDTHS if m > 1])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 6), (6, 7), (13, 9), (40, 17)])
@pytest.mark.parametrize(("kind", "tol"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_dense_scores(m, n, d, kind, tol):
    rng = np.random.default_rng(m)
    X, W, b = rng.normal(size=(n, d)).astype(kind), weights(rng, d, m, kind), np.ones(m, kind)
    same(products.dense_scores, naive.dense_scores, X, W, b, np.empty((n, m), kind), tol=tol)


@pytest.mark.parametrize("m", [m for m in WIDTHS if m > 1])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 6), (16, 7), (13, 9), (40, 17)])
@pytest.mark.parametrize(("kind", "tol"), [(np.float64, 1e-12), (np.float32, 3e-5)])
def test_dense_adjoint(m, n, d, kind, tol):
    rng = np.random.default_rng(m)
    X, G = rng.normal(size=(n, d)).astype(kind), weights(rng, d, m, kind)
    R, b = rng.normal(size=(n, m)).astype(kind), np.ones(m if m % 2 else 0, kind)
    same(products.dense_adjoint, naive.dense_adjoint, X, R, G, b, tol=tol)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 600])
@pytest.mark.parametrize("intercept", [0, 1])
@pytest.mark.parametrize("edges", [(0, 9), (0, 4, 9), (0, 3, 5, 9), (0, 3, 8, 9)])
@pytest.mark.parametrize(("kind", "tol"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_gram_tiles(n, intercept, edges, kind, tol):
    """Chunks of 256 rows, the last one not full; what is there already stays, above the diagonal too."""
    rng = np.random.default_rng(n)
    X, c = rng.normal(size=(n, 9 - intercept)), rng.random(n)
    ends, widest = np.array(edges), max(np.diff(edges))
    total, copied = np.ones((9, 9), kind), np.zeros((len(edges) - 1, gram.ROWS, widest), kind)
    given = np.zeros(turns.SHAPE, np.int64), X, c, ends, copied, total
    while gram.tiles(True, 2, *given):
        pass
    whole = np.hstack([X, np.ones((n, intercept))])
    filled = np.searchsorted(ends, np.arange(9), side="right")
    filled = filled[:, None] >= filled  # by tiles
    expected = 1 + np.where(filled, (whole * c[:, None]).T @ whole, 0.0)
    np.testing.assert_allclose(total, expected, rtol=tol, atol=40 * tol)


@pytest.mark.parametrize("m", WIDTHS)
@pytest.mark.parametrize("values", [True, False])
def test_gather_and_scatter(m, values):
    rng = np.random.default_rng(m)
    indptr, indices, data, step = sparse(rng, values=values)
    P = padded(m)
    for i in (0, 1, 7):
        ends = int(indptr[i]), int(indptr[i + 1])
        row, W = rng.normal(size=P), rng.normal(size=9 * P)
        same(sparse_rows.gather, naive.gather, indices, data, step, *ends, W, P, row)
        same(sparse_rows.scatter, naive.scatter, indices, data, step, *ends, W, P, row)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_indices_of_either_width(kind):
    rng = np.random.default_rng(0)
    indptr, indices, values, step = sparse(rng)
    rows = (indptr.astype(kind), indices.astype(kind), values, step)
    W = weights(rng, 9, 5)
    same(products.csr_scores, naive.csr_scores, *rows, W, np.zeros(5), np.empty((13, 5)))


# classes


@pytest.mark.parametrize("K", [1, 2, 3, 10, 150])
@pytest.mark.parametrize("size", [1.0, 30.0, 500.0])
def test_marginals(K, size):
    S = size * np.random.default_rng(K).normal(size=(17, K))
    same(classes.marginals, naive.marginals, S, np.empty((17, K)), np.empty(17))


@pytest.mark.parametrize("K", [2, 3, 10])
def test_marginals_where_labels_are_not_allowed(K):
    S = np.random.default_rng(K).normal(size=(17, K))
    S[::2, 0] = -np.inf
    same(classes.marginals, naive.marginals, S, np.empty((17, K)), np.empty(17))


@pytest.mark.parametrize("K", [1, 2, 3, 10, 150])
@pytest.mark.parametrize("weighted", [True, False])
def test_nll(K, weighted):
    rng = np.random.default_rng(K)
    S, y = 3 * rng.normal(size=(17, K)), rng.integers(0, K, 17)
    weight = rng.uniform(0, 3, 17) if weighted else np.ones(1)
    same(classes.nll, naive.nll, S, y, weight, np.empty((17, K)), np.empty(17))


@pytest.mark.parametrize("K", [1, 2, 3, 10])
def test_argmax_takes_the_first_of_equals(K):
    S = np.random.default_rng(K).integers(0, 3, (40, K)).astype(float)
    same(classes.argmax, naive.argmax, S, np.empty(40, np.intp), np.empty(40))


@pytest.mark.parametrize("K", [1, 2, 3, 10])
def test_curvature(K):
    rng = np.random.default_rng(K)
    P = rng.dirichlet(np.ones(K), 17)
    arguments = (P, rng.uniform(0, 3, 17), rng.normal(size=(17, K)), np.empty((17, K)))
    same(classes.curvature, naive.curvature, *arguments)


@pytest.mark.parametrize("K", [1, 2, 3, 10, 150])
@pytest.mark.parametrize("n", [1, 64, 65, 130])
def test_spread(K, n):
    same(classes.spread, naive.spread, np.random.default_rng(K).normal(size=(n, K)), np.empty(n))


@pytest.mark.parametrize("K", [2, 3, 10])
@pytest.mark.parametrize("n", [1, 64, 130])
@pytest.mark.parametrize("weighted", [True, False])
def test_shifted(K, n, weighted):
    rng = np.random.default_rng(K)
    S, move, y = rng.normal(size=(n, K)), rng.normal(size=K), rng.integers(0, K, n)
    weight = rng.uniform(0, 3, n) if weighted else np.ones(1)
    sums = (rng.normal(size=K), rng.normal(size=(K, K)))
    same(classes.shifted, naive.shifted, S, move, y, weight, *sums)


# fused


@pytest.mark.parametrize("K", [3, 5, 11, 17])
@pytest.mark.parametrize("n", [1, 13, 48, 49, 100])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ready", [True, False])
def test_fused_kernels(K, n, weighted, intercept, ready):
    rng = np.random.default_rng(K)
    X, W = rng.normal(size=(n, 9)), weights(rng, 9, K)
    y, weight = rng.integers(0, K, n), rng.uniform(0, 3, n) if weighted else np.ones(1)
    rest = (W, rng.normal(size=K), y, weight, ready, rng.normal(size=(n, K)))
    gradient = (weights(rng, 9, K), np.ones(K if intercept else 0))
    same(fused.dense_log, naive.dense_log, X, *rest, *gradient)
    rows = sparse(rng, n)
    same(fused.csr_log, naive.csr_log, *rows, *rest, *gradient)
    residual = np.full((n, padded(K)), 7.0)
    same(fused.csr_residuals, naive.csr_residuals, *rows, *rest, residual, gradient[1])


@pytest.mark.parametrize("K", [3, 5, 11])
@pytest.mark.parametrize("n", [1, 48, 100])
@pytest.mark.parametrize("intercept", [True, False])
def test_fused_curvature(K, n, intercept):
    rng = np.random.default_rng(K)
    rows, V, v = sparse(rng, n), weights(rng, 9, K), rng.normal(size=K)
    p, weight = rng.dirichlet(np.ones(K), n), rng.uniform(0, 3, n)
    residual, bias = np.full((n, padded(K)), 7.0), np.ones(K if intercept else 0)
    same(fused.csr_curvature, naive.csr_curvature, *rows, V, v, p, weight, residual, bias)


def test_fused_kernel_in_float32():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(50, 9)).astype("f4"), weights(rng, 9, 5, np.float32)
    rest = (W, np.ones(5, "f4"), rng.integers(0, 5, 50), np.ones(1), False, np.empty((50, 5)))
    gradient = (weights(rng, 9, 5, np.float32), np.ones(5))
    same(fused.dense_log, naive.dense_log, X, *rest, *gradient, tol=3e-5)


# vectors


@pytest.mark.parametrize("n", [0, 1, 7, 100])
def test_vectors(n):
    x, y, z, u = np.random.default_rng(n).normal(size=(4, n))
    same(vectors.combine, naive.combine, 0.3, x, -2.0, y, z)
    starts, stops, out = np.array([0, n // 3]), np.array([n // 3, n]), np.empty(2)
    same(vectors.dots, naive.dots, x, y, starts, stops, out)
    same(vectors.conjugate_steps, naive.conjugate_steps, 0.7, x, y, z, u, starts, stops, out)
    table = np.random.default_rng(n).normal(size=(n, 5))
    same(vectors.scale_rows, naive.scale_rows, table, x, np.empty((n, 5)))


# triangular


@pytest.mark.parametrize("n", [1, 3, 4, 10])
@pytest.mark.parametrize("P", [4, 8, 12, 28, 60])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_triangular_systems(n, P, dtype):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, 2 * n))
    A = A @ A.T + np.eye(n)
    L = np.linalg.cholesky(A).astype(dtype) + np.triu(np.full((n, n), np.nan, dtype), 1)
    B = rng.normal(size=(n, P)).astype(dtype)
    expected = np.linalg.solve(A, B)
    triangular.solve(L, B)
    np.testing.assert_allclose(B, expected, atol=1e-4 if dtype == "f4" else 1e-12)


# quadratic


@pytest.mark.parametrize("p", [1, 2, 7])
@pytest.mark.parametrize("l1", [0.0, 0.5, 100.0])
def test_quadratic_sweep(p, l1):
    rng = np.random.default_rng(p)
    A = rng.normal(size=(p, p))
    H, r, u = A @ A.T + np.eye(p), 3 * rng.normal(size=p), rng.normal(size=p)
    same(quadratic.sweep, naive.quadratic_sweep, H, r, u, l1 * rng.uniform(0, 1, p))


@pytest.mark.parametrize("compiled", [False, True])
def test_the_quadratic_with_l1_is_minimised_to_rounding(compiled):
    """No other u is better: not a random one near by, nor any single weight moved alone."""
    rng = np.random.default_rng(0)
    for p in (1, 3, 12):
        A = rng.normal(size=(p, p))
        H, g, w = A @ A.T + 0.1 * np.eye(p), 3 * rng.normal(size=p), rng.normal(size=p)
        l1 = np.where(np.arange(p) == p - 1, 0.0, 1.0)

        def value(u, H=H, g=g, w=w, l1=l1):
            return g @ (u - w) + 0.5 * (u - w) @ H @ (u - w) + l1 @ abs(u)

        u = minimise_quadratic(H, g, w, l1, compiled)
        best = value(u)
        for size in (1e-6, 1e-3, 1.0):
            assert all(best <= value(u + size * rng.normal(size=p)) + 1e-12 for _ in range(20))
            assert all(best <= value(u + size * e) + 1e-12 for e in np.eye(p))
            assert all(best <= value(u - size * e) + 1e-12 for e in np.eye(p))


# structure


def test_duplicates():
    rng, answers = np.random.default_rng(0), []
    for _ in range(60):
        indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, 5))])
        indices = rng.integers(0, 9, indptr[-1])
        answers.append(structure.has_duplicates(indptr, indices, 9))
        assert answers[-1] == naive.has_duplicates(indptr, indices, 9)
    assert len(set(answers)) == 2


# exp


def test_exp_is_right_to_1e_14():
    x = np.concatenate([np.linspace(-700, 700, 20_001), [0.0, -0.0, 1e-300, -1e-17, 709.0, 1.0]])
    found, expected = x.copy(), x.copy()
    simd.exp_in_place(found)
    naive.exp_in_place(expected)
    assert np.abs(found / expected - 1.0).max() <= 1e-14
    assert found[-6] == found[-5] == 1.0


def test_exp_far_below_is_zero_and_of_nan_is_nan():
    x = np.array([-708.5, -1e4, -1e300, -np.inf, np.nan])
    simd.exp_in_place(x)
    assert x[:4].tolist() == [0.0] * 4
    assert math.isnan(x[4])


def test_exp_is_monotone_where_probabilities_are_compared():
    x = np.linspace(-40.0, 0.0, 100_001)
    simd.exp_in_place(x)
    assert (np.diff(x) >= 0).all()
    assert x[-1] == 1.0


# dual


def dual_problem(k, seed, C=1.0, intercept=True, kind="csr"):
    """Arguments of ``sweep`` at a random μ, with U and h in agreement with it."""
    rng = np.random.default_rng(seed)
    n, d, scale = 12, 5, 0.5 if k == 2 else 1.0
    rows = make_rows(kind, rng, n, d)
    X, labels, c = plain(rows), rng.integers(0, k, n), C * rng.uniform(0.5, 2.0, n)
    mu = rng.dirichlet(np.ones(k), n)
    residual = c[:, None] * scale * (np.eye(k)[labels] - mu)
    U = np.zeros((d, padded(k)))
    U[:, :k] = X.T @ residual
    q = scale * (X**2).sum(axis=1)
    B = 0.1 * q.mean() if intercept else 0.0
    b = rng.normal(size=k) if intercept else np.zeros(k)
    tail = (q, c, scale, B, U, b, residual.sum(axis=0), np.log(mu), mu)
    return X, labels, csr_arguments(rows), tail


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_visiting_one_row_again_and_again_ends_at_the_exact_block_step(k, C):
    """A block's optimum does not depend on where the block stands: bisection finds it in one visit."""
    for seed in range(4):
        _, _, rows, tail = dual_problem(k, seed, C)
        left, right = [[np.copy(a) for a in tail] for _ in range(2)]
        dual.sweep(np.full(8, 3), *rows, *left[:2], tail[2], tail[3], *left[4:])
        naive.sweep([3], *rows, *right[:2], tail[2], tail[3], *right[4:])
        for name, at in (("U", 4), ("h", 6), ("v", 7), ("mu", 8)):
            np.testing.assert_allclose(left[at], right[at], rtol=1e-9, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("Q", [1e-6, 0.1, 10.0, 1e4])
def test_the_careful_block_step_equals_bisection(k, Q):
    rng = np.random.default_rng(k)
    for size in (1.0, 50.0):
        s, mu = size * rng.normal(size=k), rng.dirichlet(np.ones(k))
        new, exps = np.empty(k), np.empty(k)
        dual._careful(s, mu, Q, new, exps)
        np.testing.assert_allclose(exps, naive.block_step(s, mu, Q), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_sweep_raises_the_dual_and_keeps_its_books(k, C, intercept):
    X, labels, rows, (q, c, scale, B, U, b, h, v, mu) = dual_problem(k, 1, C, intercept)
    value = naive.lagrangian(X, labels, c, scale, B, b, mu)
    for _ in range(6):
        dual.sweep(np.arange(len(c)), *rows, q, c, scale, B, U, b, h, v, mu)
        after = naive.lagrangian(X, labels, c, scale, B, b, mu)
        assert after >= value - 1e-10 * abs(value)
        value = after
    residual = c[:, None] * scale * (np.eye(k)[labels] - mu)
    np.testing.assert_allclose(mu.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(np.exp(v), mu, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(U[:, :k], X.T @ residual, atol=1e-9 * C)
    np.testing.assert_allclose(h, residual.sum(axis=0), atol=1e-9 * C)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_a_sweep_in_single_precision_is_one_in_double_but_for_rounding(k):
    _, _, rows, tail = dual_problem(k, 1)
    left, right = [[np.copy(a) for a in tail] for _ in range(2)]
    left[4] = left[4].astype(np.float32)
    for arguments in (left, right):
        dual.sweep(np.arange(12), *rows, *arguments[:2], tail[2], tail[3], *arguments[4:])
    for single, double in zip(left[4:], right[4:], strict=True):
        np.testing.assert_allclose(single, double, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("values", [True, False])
def test_class_sums_and_their_contrasts(kind, values):
    rng = np.random.default_rng(0)
    rows, labels, c = sparse(rng, values=values), rng.integers(0, 3, 13), rng.uniform(size=13)
    U = np.zeros((9, 4), kind)
    dual.class_sums(*rows, c, labels, U)
    expected = np.zeros((9, 4))
    naive.csr_adjoint(*rows, c[:, None] * np.eye(3)[labels], expected, np.zeros(0))
    np.testing.assert_allclose(U, expected, atol=1e-6 if kind == np.float32 else 1e-14)
    found = dual.against_others(U, 3, 0.5)
    away = [0.5 * (expected[:, k] - np.delete(expected[:, :3], k, 1).mean(1)) for k in range(3)]
    np.testing.assert_allclose(U[:, :3], np.transpose(away), atol=1e-6)
    assert not U[:, 3].any()
    assert found == pytest.approx(np.square(away).sum(), rel=1e-6)


@pytest.mark.parametrize("K", [2, 3, 20])
def test_where_dual_variables_begin(K):
    y = np.arange(50) % K
    mu, v = np.empty((50, K)), np.empty((50, K))
    dual.begin(0.75, y, mu, v)
    np.testing.assert_array_equal(mu[np.arange(50), y], 0.75)
    np.testing.assert_allclose(mu.sum(axis=1), 1.0, rtol=1e-14)
    assert len(np.unique(mu)) == 2
    np.testing.assert_allclose(np.exp(v), mu, rtol=1e-14)


@pytest.mark.parametrize("k", [2, 3])
def test_the_gap_a_sweep_returns_is_that_of_the_twin(k):
    """To second order in the moves of the rows before: with a small C they hardly move."""
    _, _, rows, tail = dual_problem(k, 2, C=1e-3)
    left, right = [[np.copy(a) for a in tail] for _ in range(2)]
    order = np.arange(12)
    found = dual.sweep(order, *rows, *left[:2], tail[2], tail[3], *left[4:])
    expected = naive.sweep(order, *rows, *right[:2], tail[2], tail[3], *right[4:])
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 40])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_magnitude(n, kind):
    x = np.random.default_rng(n).normal(size=n).astype(kind)
    for sign in (1.0, -1.0):
        assert vectors.magnitude((sign * x).astype(kind)) == np.abs(x).max()
    for at in {0, n // 2, n - 1}:
        for bad in (np.nan, np.inf, -np.inf):
            spoilt = x.copy()
            spoilt[at] = bad
            assert np.isnan(vectors.magnitude(spoilt))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 100])
def test_squares(n):
    rng = np.random.default_rng(n)
    x, y, out = rng.normal(size=n), rng.normal(size=n), np.zeros(2)
    vectors.squares(x, 0.7, y, np.array([0, n // 3]), np.array([n // 3, n]), out)
    parts = np.split((x + 0.7 * y) ** 2, [n // 3])
    np.testing.assert_allclose(out, [part.sum() for part in parts], rtol=1e-13, atol=1e-15)
