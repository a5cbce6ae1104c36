"""Dual ascent in blocks: each is what its definition says, and fits end where single visits end."""

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import SoftmaxRegression, objective, solvers
from argmax.checks import compressed
from argmax.engines import Threads
from argmax.engines.columns import OWNERS
from argmax.engines.dealt import deal, hands
from argmax.errors import NotConverged
from argmax.kernels import dealt as dealt_kernels
from argmax.kernels import dual, dual_blocks, turns
from argmax.kernels.dealt import GROUP
from argmax.layouts import csr_arguments, padded
from argmax.solvers import Report
from argmax.solvers import ascent as ascents
from argmax.solvers import dual as dual_solver
from tests.laws import problems
from tests.laws.fits import bits
from tests.laws.problems import make_rows, plain


@pytest.fixture(autouse=True)
def _blocks(monkeypatch):
    """Whatever is sparse is visited in blocks, by as many threads as are asked for."""
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    monkeypatch.setattr(objective, "SMALL_WORK", 0)
    monkeypatch.setattr(ascents, "WORTH", 0)
    monkeypatch.setattr(ascents, "SHARE", 8)
    monkeypatch.setattr("argmax.checks.resources.joblib.cpu_count", lambda: 64)


def in_turn(piece, count):
    return [piece(i) for i in range(count)]


def text(n=700, d=400, k=5, seed=0, values=True):
    """Rows that have little in common, and labels that they tell something about."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.03, rng=rng, format="csr")
    X.data = rng.normal(size=X.nnz) if values else np.ones(X.nnz)
    y = (X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    return X, y


class Setting:
    """Everything that ``sweep_blocks`` is given, at a random μ, U and h in agreement with it."""

    def __init__(self, k, kind="csr", n=70, d=30, dtype=np.float64, seed=0):
        rng = np.random.default_rng(seed)
        self.rows, self.k = make_rows(kind, rng, n, d, density=0.15), k
        self.X, self.scale = plain(self.rows), 0.5 if k == 2 else 1.0
        self.labels, self.c = rng.integers(0, k, n), rng.uniform(0.5, 2.0, n)
        self.mu = rng.dirichlet(np.ones(k), n)
        self.v, self.b = np.log(self.mu), rng.normal(size=k)
        self.q = self.scale * (self.X**2).sum(axis=1)
        self.B = 0.1 * self.q.mean()
        residual = self.c[:, None] * self.scale * (np.eye(k)[self.labels] - self.mu)
        self.h, self.U = residual.sum(axis=0), np.zeros((d, padded(max(k, 4))))
        self.U[:, :k] = self.X.T @ residual
        self.hands = hands(self.rows)
        self.dealt = deal(self.rows, self.hands, dtype, in_turn)
        self.places = np.zeros((self.hands.size, self.U.shape[1]), dtype)
        self.places[self.hands.place] = self.U

    def sweep(self, groups, block, threads=1, pieces=16):
        P, dtype = self.U.shape[1], self.places.dtype
        steps = np.zeros(turns.steps_shape(pieces), np.int64)
        gaps, parts = np.zeros(len(groups) * GROUP), np.empty((OWNERS, block * P + 16), dtype)
        moved, shifts = np.zeros((block, P), dtype), np.zeros((OWNERS, self.k))

        def work(_):
            dual_blocks.sweep_blocks(
                steps, pieces, threads, groups, block, *self.dealt.arguments(), self.q, self.c, self.scale,
                self.B, self.places, self.b, self.h, self.v, self.mu, gaps, parts, moved, shifts,
            )  # fmt: skip

        engine = Threads(threads)
        with engine.open():
            engine.run(work, threads)
        return gaps.sum()

    def members(self, groups):
        order = self.dealt.order
        return np.concatenate([order[g * GROUP : (g + 1) * GROUP] for g in groups])

    def one_by_one(self, groups, block):
        """The same by single visits, each with the U and h from before its block; returns the gap."""
        gap, some = 0.0, block // GROUP
        for at in range(0, len(groups), some):
            U, h = self.U.copy(), self.h.copy()
            for i in self.members(groups[at : at + some]):
                own, mine = self.U.copy(), self.h.copy()
                gap += dual.sweep(
                    np.array([i]), *csr_arguments(self.rows), self.q, self.c, self.scale, self.B, own, self.b,
                    mine, self.v, self.mu,
                )  # fmt: skip
                U, h = U + own - self.U, h + mine - self.h
            self.U, self.h = U, h
        return gap


@pytest.mark.parametrize("k", [2, 3, 7, 20, 40])
@pytest.mark.parametrize("kind", ["csr", "indicators"])
@pytest.mark.parametrize("block", [16, 32, 64])
def test_a_block_is_visited_with_the_weights_from_before_it(k, kind, block):
    left, right = Setting(k, kind), Setting(k, kind)
    groups = np.random.default_rng(1).permutation(left.dealt.groups)
    found, expected = left.sweep(groups, block), right.one_by_one(groups, block)
    assert found == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(left.places[left.hands.place], right.U, atol=1e-10)
    np.testing.assert_allclose(left.h, right.h, atol=1e-10)
    np.testing.assert_allclose(left.mu, right.mu, atol=1e-12)
    np.testing.assert_allclose(left.v, right.v, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("threads", "pieces"), [(2, 2), (4, 4), (3, 16), (7, 16), (8, 8), (16, 16)]
)
def test_neither_threads_nor_pieces_change_a_bit(dtype, threads, pieces):
    one, many = Setting(5, dtype=dtype, n=300), Setting(5, dtype=dtype, n=300)
    groups = np.arange(one.dealt.groups)
    assert one.sweep(groups, 32, 1, 1) == many.sweep(groups, 32, threads, pieces)
    for name in ("places", "h", "v", "mu"):
        assert getattr(one, name).tobytes() == getattr(many, name).tobytes(), name


@pytest.mark.parametrize("kind", ["csr", "indicators"])
def test_sums_of_classes_by_owners(kind):
    found = Setting(3, kind)
    places, expected = np.zeros_like(found.places), np.zeros_like(found.U)
    dual.class_sums(*csr_arguments(found.rows), found.c, found.labels, expected)
    for low, high in ((0, 1), (1, 9), (9, 16)):
        arguments = *found.dealt.arguments(), found.c, found.labels, places
        dealt_kernels.class_sums(low, high, OWNERS, *arguments)
    np.testing.assert_allclose(places[found.hands.place], expected, atol=1e-13)


@pytest.mark.parametrize("n", [40, 5000])
def test_coherence_is_the_share_of_the_direction_that_rows_share_most(n):
    rng = np.random.default_rng(0)
    X = sp.random_array((n, 50), density=0.2, rng=rng, format="csr") + 0.0
    squares = np.square(np.linalg.svd(X.toarray(), compute_uv=False))
    found = ascents._coherence(compressed(X))
    assert found == pytest.approx(squares[0] / squares.sum(), rel=0.02 if n == 40 else 0.1)


def test_coherence_of_twins_of_strangers_and_of_nothing():
    one = sp.csr_array(np.ones((1, 5)))
    assert ascents._coherence(compressed(sp.vstack([one] * 30))) == pytest.approx(1.0)
    assert ascents._coherence(compressed(sp.eye_array(30, format="csr"))) == pytest.approx(1 / 30)
    assert ascents._coherence(compressed(sp.csr_array((30, 4)))) == 0.0


# Fits


def fit(X, y, threads=1, **settings):
    settings = {"C": 0.3, "tol": 1e-6, "solver": "dual", **settings}
    return SoftmaxRegression(engine=Threads(threads), **settings).fit(X, y)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-10])
def test_fits_end_where_single_visits_end(k, values, tol, monkeypatch):
    X, y = text(k=k, values=values)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    blocks = SoftmaxRegression(C=0.3, tol=tol, solver="dual").fit(X, y, weight).solution_
    monkeypatch.setattr(ascents, "WORTH", np.inf)
    single = SoftmaxRegression(C=0.3, tol=1e-12, solver="dual").fit(X, y, weight).solution_
    assert blocks.status == single.status == "converged"
    assert blocks.objective - blocks.gap <= single.objective * (1 + 1e-12)
    assert single.objective * (1 - 1e-12) <= blocks.objective <= single.objective * (1 + tol)


@pytest.mark.parametrize("k", [2, 5])
def test_fits_have_the_same_bits_for_any_number_of_threads(k):
    X, y = text(k=k)
    one, two, seven = (bits(fit(X, y, n)) for n in (1, 2, 7))
    assert one == two == seven


def count(monkeypatch, module, name):
    """How often a kernel is called."""
    calls, original = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: (calls.append(1), original(*given))[1])
    return calls


def test_blocks_take_no_more_sweeps_where_rows_have_little_in_common(monkeypatch):
    X, y = text(n=3000, d=2000)
    single_visits = count(monkeypatch, dual, "sweep")
    blocks = fit(X, y).n_iter_
    assert not single_visits
    monkeypatch.setattr(ascents, "WORTH", np.inf)
    assert blocks <= fit(X, y).n_iter_ + 2
    assert single_visits


def test_rows_that_pull_the_same_way_are_visited_one_by_one(monkeypatch):
    """Twins: a block of them would go as many times too far as it has rows."""
    X, y = text(n=12)
    X, y = sp.vstack([X] * 60, format="csr"), np.tile(y, 60)
    single_visits = count(monkeypatch, dual, "sweep")
    found = fit(X, y).solution_
    assert found.status == "converged"
    assert single_visits


@pytest.mark.parametrize("C", [0.01, 0.3])
def test_an_intercept_that_all_rows_share_does_not_swing(C, monkeypatch):
    """Long rows and few labels: with the usual B a block would overshoot again and again."""
    X, y = text(n=3000, d=2000, k=3)
    X.data *= 5.0
    blocks = fit(X, y, C=C / 25, tol=1e-4).n_iter_
    monkeypatch.setattr(ascents, "WORTH", np.inf)
    assert blocks <= fit(X, y, C=C / 25, tol=1e-4).n_iter_ + 2


def test_a_gap_that_grows_makes_blocks_smaller_and_ends_them(monkeypatch):
    X, y = text(n=3000, d=2000)
    blocks, visit = [], ascents._Examples._visit

    def growing(self, held, ascent, groups):
        visit(self, held, ascent, groups)
        blocks.append(ascent.block)
        return 10.0 ** len(blocks)

    monkeypatch.setattr(ascents._Examples, "_visit", growing)
    single_visits = count(monkeypatch, dual, "sweep")
    found = fit(X, y).solution_
    assert found.status == "converged"
    assert blocks[0] == blocks[1] > blocks[-1] >= ascents.BLOCK[0]
    assert single_visits


@pytest.mark.parametrize("k", [2, 5])
def test_a_look_reads_rows_as_they_are_dealt_and_sees_the_same(k, monkeypatch):
    monkeypatch.setattr("argmax.engines.shards.BLOCK_WORK", (500, 8000))
    monkeypatch.setattr("argmax.engines.shards.PART_BYTES", 1)  # owners of columns
    F = problems.classes("csr", 90, 30, k, compiled=True, weighted=True)
    w = problems.random_w(F.problem.full, np.random.default_rng(0))
    (shard,) = F.shards
    assert shard.by_columns
    calls, plain_look = count(monkeypatch, dealt_kernels, "adjoint"), F.settled(w, seldom=True)
    shard.dealt = deal(shard.structures.rows, hands(shard.structures.rows), np.float32, in_turn)
    look = F.settled(w, seldom=True)
    assert len(calls) == (k > 2)  # two classes have one column, which is not worth it
    assert look.value == plain_look.value
    np.testing.assert_allclose(look.gradient, plain_look.gradient, atol=1e-12)


def test_dense_rows_are_not_dealt(monkeypatch):
    X, y = text()
    dealt = count(monkeypatch, ascents, "deal")
    fit(X.toarray(), y, tol=0.1)
    assert not dealt
    fit(X, y, tol=0.1)
    assert dealt


@pytest.mark.parametrize("k", [2, 5])
def test_where_float32_stalls_float64_goes_on_in_blocks(k, monkeypatch):
    monkeypatch.setattr(dual_solver, "PRECISE", 0.0)
    X, y = text(k=k)
    found = fit(X, y, tol=1e-15, max_iter=300).solution_
    assert found.relative_gap <= 1e-14


def test_several_shards_are_visited_as_one(monkeypatch):
    X, y = text()
    one = fit(X, y, tol=1e-9)
    monkeypatch.setattr("argmax.engines.shards.SHARD_BYTES", 40_000)
    several = fit(X, y, tol=1e-9)
    assert several.n_iter_ == one.n_iter_
    np.testing.assert_allclose(several.coef_, one.coef_, rtol=1e-9, atol=1e-12)


def test_a_warm_start_goes_on_in_blocks(monkeypatch):
    X, y = text()
    model = SoftmaxRegression(C=0.3, tol=1e-6, solver="dual", warm_start=True).fit(X, y)
    single_visits = count(monkeypatch, dual, "sweep")
    assert model.fit(X, y).n_iter_ <= 2
    assert not single_visits


@pytest.mark.parametrize("k", [2, 5])
def test_a_run_goes_on_from_a_snapshot_with_the_same_bits(k, monkeypatch):
    monkeypatch.setattr(dual_solver, "PATIENCE", (0.0, 0.0))
    F, kept = problems.classes("csr", 300, 60, k, compiled=True, weighted=True, C=0.03), []
    keep = [lambda progress: kept.append(progress.snapshot())]
    whole = solvers.Dual().minimise(F, np.zeros(F.size), Report(1e-6, callbacks=keep))
    cuts = [snapshot for snapshot in kept if snapshot is not None]
    assert cuts[0].values["block"] > 1
    for cut in cuts:
        rest = solvers.Dual().minimise(F, np.zeros(F.size), Report(1e-6), cut)
        assert rest.w.tobytes() == whole.w.tobytes()


def test_a_time_limit_ends_a_sweep_in_blocks(monkeypatch):
    monkeypatch.setattr(ascents, "SHARED_CHUNK", 1)
    X, y = text()
    with pytest.warns(NotConverged, match="time_limit"):
        found = fit(X, y, tol=1e-12, time_limit=1e-9).solution_
    assert found.status == "time_limit"
    assert np.isfinite(found.objective)
