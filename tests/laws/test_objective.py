"""The objective: derivatives by finite differences, lines by points, and the certificate by its meaning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax import passes
from argmax.engines import shards as shard_sizes
from argmax.errors import Unsupported
from argmax.passes.hessians import spread_out
from argmax.solvers import Newton, Proximal, Report
from argmax.solvers.factored import Factored, ridge_of
from argmax.testing import BruteForce
from tests.laws import problems
from tests.laws.problems import random_w

KINDS = ["float64", "csr", "indicators"]
MANY = [
    {"k": k, "kind": kind, "compiled": compiled, "weighted": weighted, "intercept": intercept}
    for k, kind, weighted, intercept in [
        (2, "float64", False, True),
        (2, "csr", True, False),
        (3, "float64", True, True),
        (3, "csr", False, True),
        (4, "indicators", True, True),
        (5, "float64", False, False),
    ]
    for compiled in (False, True)
]
every_problem = pytest.mark.parametrize(
    "options", MANY, ids=lambda o: "-".join(map(str, o.values()))
)
PENALTIES = {"l2": (0.0, 1.0), "l1": (1.0, 0.0), "elastic net": (0.4, 0.6)}


@pytest.fixture
def many_blocks(monkeypatch):
    """Cut even small data into many blocks and parts."""
    monkeypatch.setattr(shard_sizes, "BLOCK_WORK", (40, 400))


def slope_by_differences(f, h=1e-5):
    return (f(h) - f(-h)) / (2 * h)


@every_problem
def test_the_gradient_is_the_slope_of_the_value(options, many_blocks):
    objective, rng = problems.classes(**options), np.random.default_rng(0)
    layout = objective.problem.layout
    w, v = random_w(layout, rng), random_w(layout, rng)
    slope = slope_by_differences(lambda h: objective.at(w + h * v).value)
    assert objective.at(w).gradient @ v == pytest.approx(slope, rel=1e-7)


@every_problem
def test_the_hessian_product_is_the_slope_of_the_gradient(options, many_blocks):
    objective, rng = problems.classes(**options), np.random.default_rng(1)
    layout = objective.problem.layout
    w, v = random_w(layout, rng), random_w(layout, rng)
    change = slope_by_differences(lambda h: objective.at(w + h * v).gradient)
    np.testing.assert_allclose(objective.at(w).hvp(v), change, rtol=1e-6, atol=1e-7)


@every_problem
def test_hessian_products_are_symmetric_and_positive(options):
    objective, rng = problems.classes(**options), np.random.default_rng(2)
    layout = objective.problem.layout
    w, u, v = (random_w(layout, rng) for _ in range(3))
    point = objective.at(w)
    assert point.hvp(u) @ v == pytest.approx(point.hvp(v) @ u, rel=1e-10)
    assert point.hvp(v) @ v > 0


@every_problem
def test_the_full_hessian_gives_the_same_products(options, many_blocks):
    objective, rng = problems.classes(**options), np.random.default_rng(2)
    layout = objective.problem.layout
    w, v = random_w(layout, rng), random_w(layout, rng)
    point = objective.at(w)
    pairs, columns = objective.fold(passes.hessian, point.stamp)["pairs"], layout.columns
    side = layout.features + int(layout.intercept)
    H = objective.C * spread_out(pairs, side, columns, layout.compiled)
    product = H @ layout.matrix(v)[:, :columns].ravel()
    expected = layout.matrix(point.hvp(v) - objective.l2 * objective.bound(v))[:, :columns]
    np.testing.assert_allclose(product, expected.ravel(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("loss", ["log", "softmax_margin", "ovr_log", "squared", "squared_hinge"])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("d", [4, 40], ids=["a tile", "tiles"])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_factored_hessian_undoes_its_products(loss, k, d, compiled):
    objective = problems.classes(k=k, d=d, n=700, weighted=True, compiled=compiled, loss=loss)
    layout, rng = objective.problem.layout, np.random.default_rng(5)
    point, v = objective.at(0.1 * random_w(layout, rng)), random_w(layout, rng)
    free = layout.matrix(v)[layout.features, : layout.columns]
    if layout.columns > 1 and objective.problem.loss.relative:
        free -= free.mean()  # a shift of all intercepts changes no product
    crossed = objective.problem.curvature.crossed
    pairs = objective.C * objective.fold(passes.hessian, point.stamp)["pairs"]
    solve = Factored(layout, pairs, ridge_of(objective), crossed)
    found = solve(layout.matrix(point.hvp(v))[:, : layout.columns])
    np.testing.assert_allclose(found, layout.matrix(v)[:, : layout.columns], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("d", [7, 150], ids=["a tile", "tiles"])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_gram_matrix_is_the_sum_of_squares(k, intercept, threads, d, compiled):
    """½ Σ s_i x̃ x̃ᵀ, halved again for two classes: the Böhning bound; its diagonal by another way."""
    options = {"k": k, "intercept": intercept, "threads": threads, "d": d, "compiled": compiled}
    objective = problems.classes(n=300, weighted=True, **options)
    point, shard = objective.at(np.zeros(objective.size)), objective.shards[0]
    X, s = shard.structures.rows, shard.truth.weight
    X = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    share = s * (0.25 if k == 2 else 0.5)
    with objective.engine.open():
        sums = objective.fold(passes.gram, point.stamp, 1, False)
        diagonal = objective.fold(passes.diagonal, point.stamp, False)["diagonal"]
    expected = X.T @ (X * share[:, None])
    np.testing.assert_allclose(np.tril(sums["gram"]), np.tril(expected), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(diagonal, np.diag(expected), rtol=1e-10)
    assert sums["rows"] == pytest.approx(s.sum())
    every = objective.fold(passes.gram, point.stamp, 3, False)
    chosen = X[::3].T @ (X[::3] * share[::3, None])
    np.testing.assert_allclose(np.tril(every["gram"]), np.tril(chosen), rtol=1e-10, atol=1e-12)


@every_problem
@pytest.mark.parametrize("step", [0.0, -0.7, 1.0, 3.0])
def test_a_line_agrees_with_the_points_on_it(options, step, many_blocks):
    objective, rng = problems.classes(**options), np.random.default_rng(3)
    layout = objective.problem.layout
    w, v = random_w(layout, rng), random_w(layout, rng)
    value, slope = objective.at(w).line(v)(step)
    there = objective.at(w + step * v)
    assert value == pytest.approx(there.value, rel=1e-11)
    assert slope == pytest.approx(there.gradient @ v, rel=1e-9, abs=1e-9)


@every_problem
def test_blocks_and_owners_change_nothing_but_the_order_of_sums(options, monkeypatch):
    whole = problems.classes(**options)
    w = random_w(whole.problem.layout, np.random.default_rng(4))
    expected = whole.at(w)
    for work, part_bytes in [
        ((40, 400), 2**24),
        ((40, 400), 1),
    ]:  # many row parts; owners of columns
        monkeypatch.setattr(shard_sizes, "BLOCK_WORK", work)
        monkeypatch.setattr(shard_sizes, "PART_BYTES", part_bytes)
        point = problems.classes(**options).at(w)
        assert point.value == pytest.approx(expected.value, rel=1e-12)
        np.testing.assert_allclose(point.gradient, expected.gradient, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 11])
@pytest.mark.parametrize("intercept", [True, False])
def test_compiled_and_numpy_passes_agree(kind, k, intercept, many_blocks):
    options = {"kind": kind, "k": k, "intercept": intercept, "weighted": True}
    plain, quick = (problems.classes(compiled=compiled, **options) for compiled in (False, True))
    rng, layout = np.random.default_rng(0), plain.problem.layout
    w, v = random_w(layout, rng), random_w(layout, rng)
    here, there = plain.at(w), quick.at(w)
    assert here.value == pytest.approx(there.value, rel=1e-12)
    assert here.gap == pytest.approx(there.gap, rel=1e-10)
    np.testing.assert_allclose(here.gradient, there.gradient, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(here.hvp(v), there.hvp(v), rtol=1e-10, atol=1e-10)
    assert here.line(v)(0.7) == pytest.approx(there.line(v)(0.7), rel=1e-10)


@every_problem
def test_several_shards_are_one(options, monkeypatch):
    whole = problems.classes(**options)
    monkeypatch.setattr(shard_sizes, "SHARD_BYTES", 300)
    cut = problems.classes(**options)
    w = random_w(whole.problem.layout, np.random.default_rng(4))
    assert len(cut.shards) > 1
    assert cut.at(w).value == pytest.approx(whole.at(w).value, rel=1e-12)
    np.testing.assert_allclose(cut.at(w).gradient, whole.at(w).gradient, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("compiled", [False, True])
def test_float32_rows_differ_by_rounding_only(k, compiled):
    exact, short = (
        problems.classes(kind, k=k, compiled=compiled) for kind in ("float64", "float32")
    )
    w = random_w(exact.problem.layout, np.random.default_rng(0))
    assert short.at(w).value == pytest.approx(exact.at(w).value, rel=1e-5)
    np.testing.assert_allclose(short.at(w).gradient, exact.at(w).gradient, rtol=1e-3, atol=1e-4)


def penalties_seen(size):
    """By how much the penalties change when the intercept does."""
    found = []
    for l1, l2 in PENALTIES.values():
        objective, rng = problems.classes(l1=l1, l2=l2), np.random.default_rng(0)
        layout = objective.problem.layout
        w = random_w(layout, rng)
        moved = w.copy()
        moved[layout.free] = size
        found.append(abs(objective.penalty(moved) / objective.penalty(w) - 1.0))
    return max(found)


def test_the_penalty_does_not_see_the_intercept():
    assert penalties_seen(10.0) < 1e-12


def test_the_penalty_does_not_see_a_large_intercept():
    assert penalties_seen(1e9) < 1e-12


# What a pass leaves behind


def test_products_survive_other_passes_in_between():
    objective, rng = problems.classes(), np.random.default_rng(5)
    w, v = (random_w(objective.problem.layout, rng) for _ in range(2))
    point = objective.at(w)
    before = point.hvp(v)
    objective.at(2 * w).hvp(v)
    np.testing.assert_array_equal(point.hvp(v), before)


def test_a_line_survives_other_passes_in_between():
    objective, rng = problems.classes(), np.random.default_rng(5)
    w, v = (random_w(objective.problem.layout, rng) for _ in range(2))
    line = objective.at(w).line(v)
    before = line(0.5)
    objective.at(2 * w)
    assert line(0.5) == before


def test_two_lines_from_one_point_do_not_mix():
    objective, rng = problems.classes(), np.random.default_rng(5)
    w, u, v = (random_w(objective.problem.layout, rng) for _ in range(3))
    point = objective.at(w)
    first = point.line(u)
    before = first(0.5)
    point.line(v)(0.5)
    assert first(0.5) == before


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_shifted_intercept_needs_no_product(k, kind, many_blocks):
    objective, rng = problems.classes(kind, k=k, weighted=True), np.random.default_rng(6)
    layout = objective.problem.layout
    w, shift = random_w(layout, rng), rng.normal(size=layout.columns)
    moved = w.copy()
    moved[layout.free] += shift
    quick = objective.at(moved, objective.at(w).stamp, shift)
    assert quick.value == pytest.approx(objective.at(moved).value, rel=1e-12)
    np.testing.assert_allclose(quick.gradient, objective.at(moved).gradient, atol=1e-9)


@every_problem
def test_settling_solves_for_the_free_entries(options):
    objective, rng = problems.classes(**options), np.random.default_rng(7)
    layout = objective.problem.layout
    w = random_w(layout, rng, size=2.0)
    point = objective.settled(w)
    assert np.abs(point.gradient[layout.free]).sum() < 1e-9
    assert point.value <= objective.at(w).value + 1e-12
    np.testing.assert_array_equal(objective.bound(point.w), objective.bound(w))


@pytest.mark.parametrize("size", [0.01, 0.3, 3.0])
def test_settling_many_rows_stops_in_time_and_not_too_early(size):
    objective = problems.classes(n=8000, d=5, k=4)
    assert not objective.small
    layout = objective.problem.layout
    point = objective.settled(random_w(layout, np.random.default_rng(3), size))
    assert point.settled
    assert np.abs(point.data_gradient[layout.free]).max() <= 1e-9 * objective.C * objective.weight


@pytest.mark.parametrize("k", [2, 3])
def test_settling_from_far_away_settles_or_promises_nothing(k):
    objective = problems.classes(k=k)
    best, layout = optimum(objective), objective.problem.layout
    w = np.zeros(layout.size)
    w[layout.free] = 300.0 * np.arange(1, layout.columns + 1)
    point = objective.settled(w)
    assert point.value - point.gap <= best


# The certificate


def optimum(objective):
    solver = Proximal() if objective.l1 else Newton()
    start = np.zeros(objective.size)
    return solver.minimise(objective, start, Report(tol=1e-13, max_iter=300)).objective


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_gap_bounds_the_distance_to_the_optimum(penalty, k, C, intercept):
    l1, l2 = PENALTIES[penalty]
    objective = problems.classes(k=k, C=C, l1=l1, l2=l2, weighted=True, intercept=intercept)
    best, rng = optimum(objective), np.random.default_rng(8)
    for size in (0.0, 1e-3, 0.1, 1.0, 10.0):
        w = random_w(objective.problem.layout, rng, size)
        point = objective.settled(w)
        assert point.value - best <= point.gap * (1 + 1e-9) + 1e-9 * abs(best)
        assert point.value >= best * (1 - 1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
@given(st.integers(0, 2**32 - 1))
def test_every_dual_value_lies_below_every_primal_value(penalty, seed):
    l1, l2 = PENALTIES[penalty]
    rng = np.random.default_rng(seed)
    objective = problems.classes(
        seed=seed % 1000, n=15, d=3, l1=l1, l2=l2, C=10 ** rng.uniform(-2, 2)
    )
    layout, sizes = objective.problem.layout, 10 ** rng.uniform(-3, 1, 2)
    here, there = (objective.settled(random_w(layout, rng, size)) for size in sizes)
    assert here.value - here.gap <= there.value * (1 + 1e-10) + 1e-10
    assert there.value - there.gap <= here.value * (1 + 1e-10) + 1e-10


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("k", [2, 3])
def test_the_gap_closes_at_the_optimum(penalty, k):
    l1, l2 = PENALTIES[penalty]
    objective = problems.classes(k=k, l1=l1, l2=l2)
    solver = Proximal() if l1 else Newton()
    report = Report(tol=1e-12, max_iter=300)
    solution = solver.minimise(objective, np.zeros(objective.size), report)
    reach = 1e-8 if l2 == 0 else 1e-12  # a scaled dual point is only first order in the error
    assert solution.gap <= reach * objective.zero


def test_without_a_penalty_there_is_no_certificate():
    objective = problems.classes(C=np.inf)
    assert not objective.penalised
    assert objective.at(np.zeros(objective.size)).gap == np.inf


def test_at_zero_is_the_yardstick():
    objective = problems.classes(k=3, weighted=True, C=2.5)
    weight = sum(shard.truth.weight.sum() for shard in objective.shards)
    assert objective.zero == pytest.approx(2.5 * weight * np.log(3))
    assert objective.zero == pytest.approx(objective.at(np.zeros(objective.size)).value)


# Sequences


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_of_a_chain_is_the_slope_of_its_value(kind, weighted, many_blocks):
    objective, rng = problems.chain(kind=kind, weighted=weighted, k=3), np.random.default_rng(0)
    layout = objective.problem.layout
    w, v = random_w(layout, rng), random_w(layout, rng)
    slope = slope_by_differences(lambda h: objective.at(w + h * v).value)
    assert objective.at(w).gradient @ v == pytest.approx(slope, rel=1e-7)
    value, ahead = objective.at(w).line(v)(0.3)
    there = objective.at(w + 0.3 * v)
    assert value == pytest.approx(there.value, rel=1e-11)
    assert ahead == pytest.approx(there.gradient @ v, rel=1e-9)


def test_a_chain_equals_its_enumeration():
    quick, slow = problems.chain(weighted=True), problems.chain(weighted=True, space=BruteForce(2))
    w = random_w(quick.problem.layout, np.random.default_rng(1))
    assert quick.at(w).value == pytest.approx(slow.at(w).value, rel=1e-12)
    np.testing.assert_allclose(quick.at(w).gradient, slow.at(w).gradient, rtol=1e-9, atol=1e-11)


def test_the_gap_of_a_chain_with_l1_is_true_or_refused():
    """Labels that stay the same all along: node by node they are even, together they are not."""
    objective = problems.chain((6,) * 20, d=1, l1=1.0, labels=np.repeat(np.arange(20) % 2, 6))
    stay, layout = np.eye(2)[None], objective.problem.layout
    points = [objective.at(layout.pack(np.zeros((2, 1)), None, t * stay)) for t in range(6)]
    try:
        below = [point.value - point.gap for point in points]
    except Unsupported:
        return
    assert max(below) <= min(point.value for point in points)
