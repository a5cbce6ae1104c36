"""The pieces of the chain kernels against their naive twins, and the words they are written in."""

import numpy as np
import pytest

from argmax.kernels import chain, simd
from argmax.kernels.compile import kernel
from tests import naive

WIDTHS = [8, 24, 40]
lanes = pytest.mark.parametrize("count", WIDTHS)
dtypes = pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-12), (np.float32, 2e-5)])


# Words


@kernel
def all_words(a, b, scalar, out, LANES):
    """Each word into a row of out (13, count)."""
    n, x, y = len(LANES), simd.load(a, 0, LANES), simd.load(b, 0, LANES)
    simd.store(out, 0, simd.zeros(a, LANES))
    simd.store(out, n, simd.add(x, y))
    simd.store(out, 2 * n, simd.mul(x, y))
    simd.store(out, 3 * n, simd.divide(x, y))
    simd.store(out, 4 * n, simd.maximum(x, y))
    simd.store(out, 5 * n, simd.minimum(x, y))
    simd.store(out, 6 * n, simd.plus(scalar, x))
    simd.store(out, 7 * n, simd.times(scalar, x))
    simd.store(out, 8 * n, simd.fma(scalar, x, y))
    out[9 * n] = simd.total(x)
    out[10 * n] = simd.largest(x)
    out[11 * n] = simd.first_equal(x, simd.largest(x))
    out[12 * n] = simd.first_equal(x, simd.largest(x) + 1)


@pytest.mark.parametrize("count", [1, 3, 4, 8, 24, 56, 88, 100])
@dtypes
def test_words(count, dtype, tol):
    rng = np.random.default_rng(count)
    a, b = rng.integers(-3, 4, count).astype(dtype), rng.uniform(1, 2, count).astype(dtype)
    out, scalar = np.zeros((13, count), dtype), dtype(0.37)
    all_words(a, b, scalar, out.ravel(), simd.Lanes(count))
    maximum, minimum = np.maximum(a, b), np.minimum(a, b)
    rows = [0 * a, a + b, a * b, a / b, maximum, minimum, scalar + a, scalar * a, scalar * a + b]
    np.testing.assert_allclose(out[:9], rows, rtol=tol, atol=tol)
    np.testing.assert_allclose(out[9:13, 0], [a.sum(), a.max(), a.argmax(), count], atol=tol)


@kernel
def exp_of(flat, LANES):
    for k in range(0, len(flat), len(LANES)):
        simd.store(flat, k, simd.exp(simd.load(flat, k, LANES)))


@pytest.mark.parametrize(
    ("dtype", "least", "tol"), [(np.float64, -700.0, 1e-14), (np.float32, -85.0, 1e-6)]
)
def test_exp(dtype, least, tol):
    x = np.concatenate([np.linspace(least, 0.0, 24 * 400 - 4), [-0.0, -1e-30, -1e-8, -1e-3]])
    found = x.astype(dtype)
    expected = np.exp(found.astype(float))
    exp_of(found, simd.Lanes(24))
    np.testing.assert_allclose(found, expected, rtol=tol)


@dtypes
def test_exp_of_what_is_forbidden_not_a_number_or_too_small(dtype, tol):
    x = np.full(8, -1e30, dtype)
    x[:2] = -np.inf, np.nan
    exp_of(x, simd.Lanes(8))
    assert x[0] == 0.0
    assert np.isnan(x[1])
    assert (x[2:] > 0.0).all()
    assert (x[2:] < 1e-36).all()


# Pieces


def lattice(count, dtype, L=6, K=None, seed=0):
    """K labels in P lanes: scores (L, P) with −inf beyond K, and a table of transitions (K, K)."""
    rng, K = np.random.default_rng(seed), count - 3 if K is None else K
    s = np.full((L, count), -np.inf, dtype)
    s[:, :K] = rng.normal(size=(L, K))
    return s.ravel(), rng.normal(size=(K, K)), L, K


def summed(count, dtype, L=6):
    """Everything forward–backward is given, by the twins."""
    s, edge, L, K = lattice(count, dtype, L)
    E, Et = np.empty(count**2, dtype), np.empty(count**2, dtype)
    naive.tables(edge, E, Et)
    naive.exp_rows(s, L, count, None)
    return s, E, Et, L, K


def same(kernel, twin, arguments, count, tol, skip=()):
    """Run both on copies; everything they leave behind and return must agree."""
    left = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    right = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    answers = kernel(*left, simd.Lanes(count)), twin(*right, None)
    for found, expected in zip([*left, answers[0] or 0], [*right, answers[1] or 0], strict=True):
        np.testing.assert_allclose(found, expected, rtol=tol, atol=tol)
    return right


@lanes
@dtypes
def test_tables(count, dtype, tol):
    _, edge, _, _ = lattice(count, dtype)
    found, expected = np.ones((2, 2, count**2), dtype)
    assert chain.tables(edge, *found) == naive.tables(edge, *expected)
    np.testing.assert_allclose(found, expected, rtol=tol)


def test_tables_tell_forbidden_from_unlikely():
    edge = np.array([[0.0, -np.inf], [-1e4, -1.0]])
    E, Et = np.empty(64), np.empty(64)
    chain.tables(edge, E, Et)
    assert E[1] == 0.0
    assert 0.0 < E[8] < 1e-300  # forward errs upwards
    assert Et[1] == 0.0  # backward errs downwards


@lanes
@dtypes
def test_exp_rows(count, dtype, tol):
    s, _, L, _ = lattice(count, dtype)
    same(chain.exp_rows, naive.exp_rows, (s, L, count), count, tol)


@lanes
@dtypes
@pytest.mark.parametrize("L", [1, 2, 40])
def test_forward_backward_and_expectations(count, dtype, tol, L):
    s, E, Et, L, K = summed(count, dtype, L)
    alpha, inverse, beta = (
        np.empty(L * count, dtype),
        np.empty(L, dtype),
        np.empty(L * count, dtype),
    )
    given = (s, E, alpha, inverse, L, K, count)
    _, _, alpha, inverse, *_ = same(chain.forward, naive.forward, given, count, tol)
    given = (s, Et, alpha, inverse, beta, L, K, count)
    g, _, u, _, beta, *_ = same(chain.backward, naive.backward, given, count, 10 * tol)
    real = (np.arange(L * count) % count) < K
    np.testing.assert_allclose((u * beta)[real].reshape(L, K).sum(axis=1), 1.0, rtol=10 * tol)
    T = np.random.default_rng(0).normal(size=count**2).astype(dtype)
    T.reshape(count, count)[K:] = 0.0
    same(chain.transitions, naive.transitions, (u, g, T, L, K, count), count, 10 * tol)
    same(chain.expected, naive.expected, (u, beta, dtype(1.7), L, count), count, 10 * tol)


@pytest.mark.parametrize("count", [8, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("L", [1, 2, 5])
def test_viterbi(count, dtype, K, L):
    rng = np.random.default_rng(K)
    for _ in range(20):
        s = np.full((L, count), -np.inf, dtype)
        s[:, :K] = rng.integers(-1, 2, (L, K))  # full of ties
        M = np.zeros((count, count), dtype)
        M[:K, :K] = rng.integers(-1, 2, (K, K))
        found, expected = np.empty((2, L), np.intp)
        best = naive.viterbi(s.ravel(), M.ravel(), expected, L, K, count)
        tables = M.ravel(), np.ascontiguousarray(M.T).ravel()
        value = chain.viterbi(s.ravel(), *tables, found, L, K, count, simd.Lanes(count))
        assert value == best
        np.testing.assert_array_equal(found, expected)


def test_rounding_is_put_right_along_a_long_sequence():
    L, count = 20_000, 8
    s, E, Et, L, K = summed(count, np.float32, L)
    alpha, inverse, beta = (np.empty(size, np.float32) for size in (L * count, L, L * count))
    chain.forward(s, E, alpha, inverse, L, K, count, simd.Lanes(count))
    assert chain.backward(s, Et, alpha, inverse, beta, L, K, count, simd.Lanes(count))
    p = (alpha * beta).reshape(L, count)[:, :K]
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("K", [1, 8, 9, 22, 40, 41, 88, 89, 100, 300])
@pytest.mark.parametrize("itemsize", [4, 8])
def test_rows_hold_all_labels_in_tiles_that_fit_the_registers(K, itemsize):
    LANES, P = chain.width(K, itemsize)
    assert P % len(LANES) == 0
    assert P >= K + K % 2  # an odd number of labels takes in one lane more
    assert len(LANES) * itemsize <= 32 * chain.REGISTERS
    assert 8 * (P // len(LANES)) > P - K
