"""Laws of the reductions: together equals one by one, certificates hold, coupling inverts."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.linear_model import LogisticRegression

from argmax import LinearClassifier, OneVsOne, OneVsRest, OutputCode
from argmax.checks import compressed
from argmax.engines import Threads
from argmax.reductions import codes, newton, of_code, pairwise, together
from argmax.reductions.bits import Bits
from argmax.reductions.shared import SharedRows
from argmax.reductions.together import minimise
from tests import naive


def problem(seed, n=60, d=5, k=4, sparse=False):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    X = rng.normal(size=(n, d)) + 0.8 * rng.normal(size=(k, d))[y]
    return (sp.csr_array(X * (rng.random((n, d)) < 0.5)) if sparse else X), y, rng


def objective(X, y, code, coef, intercept, C, weight):
    """Σ_l F_l, written out."""
    m, S = code[y], X @ coef.T + intercept
    losses = weight[:, None] * np.abs(m) * np.logaddexp(0.0, -m * S)
    return C * losses.sum() + 0.5 * (coef**2).sum()


def bits_of(y, code, C, weight):
    return Bits(code.astype(float), np.abs(code).astype(float), C, y, weight)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["one_vs_rest", "random_sparse"])
@pytest.mark.parametrize("d", [5, 70])
def test_together_reaches_the_optimum_of_one_by_one(route, sparse, name, d):
    X, y, rng = problem(3, d=d, sparse=sparse)
    weight = rng.integers(1, 4, len(y)).astype(float)
    base = LinearClassifier(C=0.3, tol=1e-9)
    make = lambda together: OutputCode(base, code=name, together=together)  # noqa: E731
    both = [make(together).fit(X, y, sample_weight=weight) for together in (True, False)]
    alone = np.vstack([model.coef_ for model in both[1].estimators_])
    np.testing.assert_allclose(both[0].coef_, alone, atol=3e-4)
    np.testing.assert_allclose(
        both[0].decision_function(X), both[1].decision_function(X), atol=3e-3
    )


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_certificate_is_true(route, sparse, C, intercept):
    X, y, rng = problem(5, sparse=sparse)
    weight, code = rng.random(len(y)) + 0.5, codes.one_vs_rest(4)
    rows = compressed(X.tocsr()) if sparse else X
    given = bits_of(y, code, C, weight)
    tight = minimise(rows, given, intercept, Threads(1), 1e-10)[2]
    coef, b, loose = minimise(rows, given, intercept, Threads(1), 1e-2)
    value = objective(X, y, code, coef, b, C, weight)
    assert loose.objective == pytest.approx(value, rel=1e-9)
    assert loose.objective - loose.gap <= tight.objective * (1 + 1e-9)
    assert tight.objective <= loose.objective * (1 + 1e-9)
    assert tight.status == loose.status == "converged"


def test_the_optimum_is_that_of_scikit_learn():
    X, y, rng = problem(19)
    weight = rng.random(len(y)) + 0.5
    ours = OneVsRest(LinearClassifier(C=0.7, tol=1e-10)).fit(X, y, sample_weight=weight)
    for label in range(4):
        peer = LogisticRegression(C=0.7, tol=1e-10, max_iter=10_000)
        peer.fit(X, y == label, sample_weight=weight)
        np.testing.assert_allclose(ours.coef_[label], peer.coef_[0], atol=1e-5)
        np.testing.assert_allclose(ours.intercept_[label], peer.intercept_[0], atol=1e-5)


@pytest.mark.parametrize("setting", ["balanced", {0: 1.0, 1: 3.0}])
def test_class_weights_are_those_of_each_problem(setting):
    X, y, _ = problem(7)
    base = LinearClassifier(class_weight=setting, tol=1e-9)
    together, apart = (OneVsRest(base, together=t).fit(X, y) for t in (True, False))
    np.testing.assert_allclose(
        together.coef_, np.vstack([m.coef_ for m in apart.estimators_]), atol=1e-4
    )


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_any_number_of_threads_gives_the_same_bits(route, sparse):
    X, y, _ = problem(11, n=400, d=70, sparse=sparse)
    one, three = (OneVsRest(LinearClassifier(n_threads=n, tol=1e-6)).fit(X, y) for n in (1, 3))
    assert np.array_equal(one.coef_, three.coef_)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_products_and_their_adjoint(route, sparse):
    X, _, rng = problem(13, sparse=sparse)
    dense = X.toarray() if sparse else X
    for transposed in (True, False):
        rows = compressed(X.tocsr()) if sparse else X
        shared = SharedRows(rows, 3, True, Threads(1), transposed)
        table, residual = shared.table(), shared.padded()
        table[:, :3], residual[:, :3] = rng.normal(size=(6, 3)), rng.normal(size=(60, 3))
        np.testing.assert_allclose(shared.scores(table), dense @ table[:-1, :3] + table[-1, :3])
        found = shared.adjoint(residual)[:, :3]
        np.testing.assert_allclose(found[:-1], dense.T @ residual[:, :3], atol=1e-12)
        np.testing.assert_allclose(found[-1], residual[:, :3].sum(axis=0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("L", [1, 3, 9])
def test_evaluate_equals_its_twin(weighted, L):
    from argmax.kernels import bits

    rng = np.random.default_rng(L)
    n, k = 700, 4
    code = rng.choice([-1.0, 0.0, 1.0], size=(k, L))
    share = np.abs(code) * (rng.random((k, L)) + 0.5 if weighted else 1.0)
    weight = rng.random(n) + 0.5 if weighted else np.ones(1)
    S, y = 6.0 * rng.normal(size=(n, L)), rng.integers(0, k, n)
    left = [np.empty((n, L)), np.empty((n, L)), np.empty(L)]
    right = [np.empty((n, L)), np.empty((n, L)), np.empty(L)]
    bits.evaluate(S, code, share, 0.7, y, weight, *left)
    naive.bits_evaluate(S, code, share, 0.7, y, weight, *right)
    for found, expected in zip(left, right, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def test_a_sweep_of_ascent_raises_the_dual_and_keeps_its_weights_in_step():
    from argmax.kernels import bits
    from argmax.layouts import csr_arguments

    X, y, rng = problem(17, n=40, sparse=True)
    rows, code, C, L = compressed(X.tocsr()), codes.one_vs_rest(4).astype(float), 2.0, 4
    mu = rng.uniform(0.05, 0.95, (40, L))
    U, h = np.zeros((5, 4)), np.zeros(L)
    U[:] = X.T @ (C * code[y] * mu)

    def dual():
        entropy = -(xlogy(mu, mu) + xlogy(1 - mu, 1 - mu)).sum()
        return C * entropy - 0.5 * (U**2).sum()

    q, v, b = np.asarray((X * X).sum(axis=1)).ravel(), np.log(mu) - np.log1p(-mu), np.zeros(L)
    values = [dual()]
    for _ in range(30):
        bits.ascend(
            rng.permutation(40), *csr_arguments(rows), q, code, np.ones((4, L)), C, y, np.ones(1),
            0.0, U, b, h, v, mu, np.zeros(L),
        )  # fmt: skip
        values.append(dual())
    assert np.all(np.diff(values) >= -1e-9)
    np.testing.assert_allclose(U, X.T @ (C * code[y] * mu), atol=1e-9)
    primal = objective(X, y, code, U.T, 0.0, C, np.ones(40))
    assert primal - values[-1] <= 1e-5 * primal


@pytest.mark.parametrize("path", ["always", "never"])
@pytest.mark.parametrize("sparse", [False, True])
def test_pairs_on_their_own_rows_reach_the_optimum_of_fits_of_their_own(sparse, path, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", path)
    X, y, rng = problem(5, n=150, d=70 if sparse else 6, sparse=sparse)
    weight = rng.integers(1, 4, len(y)).astype(float)
    base = LinearClassifier(tol=1e-9, class_weight="balanced", n_threads=2)
    together = OneVsOne(base).fit(X, y, weight)
    apart = OneVsOne(base, together=False).fit(X, y, weight)
    assert together.solution_.status == "converged"
    np.testing.assert_allclose(
        together.coef_, np.vstack([m.coef_ for m in apart.estimators_]), atol=1e-4
    )
    total = sum(m.solution_.objective for m in apart.estimators_)
    assert together.solution_.objective == pytest.approx(total, rel=1e-7)
    np.testing.assert_allclose(together.predict_proba(X), apart.predict_proba(X), atol=1e-4)
    for decision in ("votes", "scores", "tournament", "probability"):
        answers = [m.set_params(decision=decision).predict(X) for m in (together, apart)]
        assert np.array_equal(*answers)
    assert np.array_equal(answers[0], together.predict_proba(X).argmax(axis=1))


@pytest.mark.parametrize("path", ["always", "never"])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_coupling_finds_the_probabilities_behind_the_bits(k, path, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", path)
    rng = np.random.default_rng(k)
    p = rng.dirichlet(np.ones(k), size=20) + 1e-3
    p /= p.sum(axis=1, keepdims=True)
    r = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    np.testing.assert_allclose(pairwise(r), p, atol=1e-8)
    for name in ("one_vs_rest", "all_pairs", "exhaustive"):
        code = codes.get(name, k)
        ones = p @ (code == 1)
        chance = ones / (ones + p @ (code == -1))
        np.testing.assert_allclose(of_code(code, chance), p, atol=2e-6)


@pytest.mark.parametrize("name", ["random_dense", "random_sparse", "all_pairs", "minimal"])
def test_no_probabilities_have_bits_nearer_to_the_estimated_ones(name, monkeypatch):
    rng, code = np.random.default_rng(0), codes.get(name, 7).astype(float)
    chance = rng.beta(0.3, 0.3, (40, code.shape[1])).clip(1e-9, 1 - 1e-9)
    monkeypatch.setenv("ARGMAX_COMPILED", "never")
    plain = of_code(code, chance)
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    p = of_code(code, chance)

    def divergence(p):
        s, ones = p @ np.abs(code), p @ np.maximum(code, 0.0)
        parts = ((chance, ones), (1.0 - chance, s - ones))
        return sum((q * s * np.log(q * s / mass)).sum(axis=1) for q, mass in parts)

    np.testing.assert_allclose(divergence(p), divergence(plain), atol=1e-6)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 1e-7 / 7).all()
    for spread in (
        0.01,
        0.1,
        1.0,
        10.0,
    ):  # towards corners, edges and the middle, and some way there
        for part in (1e-3, 0.1, 1.0):
            other = (1 - part) * p + part * rng.dirichlet(np.full(7, spread), 40)
            assert (divergence(p) <= divergence(other.clip(1e-12)) + 1e-6).all()


def test_coupling_is_fair_to_inconsistent_pairs():
    r = np.random.default_rng(0).uniform(0.05, 0.95, (30, 5, 5))
    r = r / (r + np.swapaxes(r, 1, 2))
    p = pairwise(r)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    order = [2, 0, 4, 1, 3]
    np.testing.assert_allclose(pairwise(r[:, order][:, :, order]), p[:, order], atol=1e-9)


def test_newton_takes_over_where_the_ascent_takes_too_long(monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    X, y, _ = problem(80, n=300, d=80, sparse=True)
    given, rows = bits_of(y, codes.one_vs_rest(4), 1.0, np.ones(1)), compressed(X.tocsr())
    patient = minimise(rows, given, True, Threads(1), 1e-8)[2]
    monkeypatch.setattr(together, "SWEEPS", 2)
    impatient = minimise(rows, given, True, Threads(1), 1e-8)[2]
    assert impatient.status == patient.status == "converged"
    assert impatient.objective == pytest.approx(patient.objective, rel=1e-6)


def test_hessians_of_a_sample_lead_to_the_same_optimum(monkeypatch):
    X, y, _ = problem(23, n=700, d=70)
    given = bits_of(y, codes.one_vs_rest(4), 1.0, np.ones(1))
    every_row = minimise(X, given, True, Threads(1), 1e-7)[2]
    monkeypatch.setattr(newton, "SAMPLE", 2)
    monkeypatch.setattr(newton, "LEAST", 1)
    sample = minimise(X, given, True, Threads(1), 1e-7)[2]
    assert sample.status == every_row.status == "converged"
    assert sample.objective == pytest.approx(every_row.objective, rel=1e-6)
