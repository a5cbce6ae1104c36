"""Online learners against slow, obvious twins; the identities of the notes; the mistake bound."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import LinearClassifier, MulticlassPerceptron, losses, margins, solvers
from argmax.engines import cut
from argmax.engines.joining import joined
from argmax.passes import Problem
from argmax.passes.online import RowWalk
from argmax.records import Scores, Structures, Truth
from argmax.spaces import Classes
from tests import naive
from tests.laws import problems

RULES = ("perceptron", "perceptron_sum", "pa1", "pa2")
DESCENDED = (
    "log", "softmax_margin", "hinge", "weston_watkins", "squared_hinge", "squared", "ovr_log",
)  # fmt: skip


def walk(loss, kind="float64", k=3, *, n=40, compiled=False, intercept=True, weighted=False,
         average=True, prices=False, seed=0):  # fmt: skip
    """Weights on their way over random rows, from zero; and the rows and labels themselves."""
    rng = np.random.default_rng(seed)
    rows = problems.make_rows(kind, rng, n, 5)
    labels, loss = rng.integers(0, k, n), losses.get(loss)
    layout = problems.make_layout(rows, k, compiled, intercept)
    layout = replace(layout, free_intercept=loss.free_intercept)
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    cost = rng.uniform(0.5, 2.0, (k, k)) * (1 - np.eye(k)) if loss.takes_cost else None
    own = rng.uniform(0.0, 2.0, (n, k)) if prices else None
    truth = Truth(labels, weight, None if prices else cost, prices=own)
    shards = cut(Structures(rows), truth, layout)
    problem = Problem(Classes(k, compiled=compiled), layout, loss)
    found = RowWalk(joined(shards), problem, np.zeros(layout.size), average)
    found.compiled = compiled
    return found, problems.plain(rows), labels, weight


def coefficients(found, w):
    """(W (k, d), b (k,)) of a flat w; two classes as −½ and ½ of theirs."""
    named = found.layout.named(w)
    W, b = named["coef"], named["intercept"]
    return (
        (W, b)
        if found.layout.labels > 2
        else (np.vstack([-0.5 * W, 0.5 * W]), np.append(-b, b) / 2)
    )


# Updates


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("kind", problems.ROWS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("weighted", [True, False])
def test_updates_equal_the_naive_twin_step_for_step(rule, kind, weighted, compiled):
    found, X, y, weight = walk(rule, kind, k=5, compiled=compiled, weighted=weighted)
    W, b, total, count = np.zeros((5, 5)), np.zeros(5), np.zeros((5, 5)), 1
    rng = np.random.default_rng(1)
    for _ in range(3):
        for i in rng.permutation(len(y)):
            s = 1.0 if weight is None else weight[i]
            wrong = found.perceive(np.array([i]), C=0.3, rate=0.5)
            assert wrong == naive.online_step(rule, W, b, X[i], y[i], s, 0.3, 0.5)
            total, count = total + W, count + 1
            np.testing.assert_allclose(coefficients(found, found.flat())[0], W, atol=1e-6)
    np.testing.assert_allclose(coefficients(found, found.flat())[1], b, atol=1e-6)
    np.testing.assert_allclose(coefficients(found, found.mean())[0], total / count, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3, 9])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_many_rows_at_once_are_the_same_on_both_paths(rule, k, intercept, average):
    order = np.random.default_rng(2).permutation(40)
    ways = [
        walk(rule, "csr", k, compiled=compiled, intercept=intercept, average=average)[0]
        for compiled in (False, True)
    ]
    wrong = [[way.perceive(order) for _ in range(4)] for way in ways]
    assert wrong[0] == wrong[1]
    for of in (RowWalk.flat, RowWalk.mean):
        np.testing.assert_allclose(of(ways[0]), of(ways[1]), rtol=1e-9, atol=1e-9)


def test_kernels_take_over_in_the_middle_of_a_long_run(monkeypatch):
    slow, *_ = walk("perceptron", "csr", 4)
    late, *_ = walk("perceptron", "csr", 4)
    monkeypatch.setattr("argmax.passes.online.VISIT", 0)
    before = [slow.perceive(np.arange(40)) for _ in range(4)]
    monkeypatch.setattr("argmax.passes.online.VISIT", 1_000_000 // 100)
    after = []
    for _ in range(4):
        after.append(late.perceive(np.arange(40)))
    assert (slow.compiled, late.compiled) == (False, True)
    assert before == after
    np.testing.assert_allclose(late.mean(), slow.mean(), atol=1e-9)


def test_epochs_equal_the_notes_program():
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3, 4, (60, 4)).astype(float), rng.integers(0, 4, 60)
    for epochs, (W, b, wrong) in enumerate(naive.mc_perceptron(X, y, 4, 6), start=1):
        model = MulticlassPerceptron(average=False, shuffle=False, max_iter=epochs).fit(X, y)
        np.testing.assert_array_equal(model.coef_, W)
        np.testing.assert_array_equal(model.intercept_, b)
        assert model.solution_.mistakes[-1] == wrong


# Two classes are the textbook's


@pytest.mark.parametrize("rule", ["perceptron", "perceptron_sum"])
@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_two_classes_are_the_textbook_perceptron_with_rate_eta(rule, rate, route):
    """w ← w + η y x where sign(wᵀx) is not y, or (sum) where y wᵀx ≤ 0."""
    rng = np.random.default_rng(4)
    X, y = rng.integers(-2, 3, (50, 3)).astype(float), rng.integers(0, 2, 50)
    w = np.zeros(3)
    for x, sign in zip(X, 2 * y - 1, strict=True):
        score = w @ x
        wrong = (1 if score > 0 else -1) != sign if rule == "perceptron" else sign * score <= 0
        if wrong:
            old, w = w, w + rate * sign * x
            # The notes' identity: every update makes its own row more right.
            assert sign * w @ x == pytest.approx(sign * old @ x + rate * x @ x)
    solver = solvers.Perceptron(shuffle=False, average=False, rate=rate)
    model = LinearClassifier(loss=rule, solver=solver, fit_intercept=False, max_iter=1).fit(X, y)
    np.testing.assert_allclose(model.coef_, [w], atol=1e-12)


@pytest.mark.parametrize("rule", ["pa1", "pa2"])
def test_two_classes_are_the_textbook_passive_aggressive(rule, route):
    rng = np.random.default_rng(5)
    X, y, C = rng.normal(size=(50, 3)), rng.integers(0, 2, 50), 0.7
    w = np.zeros(3)
    for x, sign in zip(X, 2 * y - 1, strict=True):
        loss = max(0.0, 1.0 - sign * w @ x)
        tau = min(C, loss / (x @ x)) if rule == "pa1" else loss / (x @ x + 0.5 / C)
        w = w + tau * sign * x
    solver = solvers.PassiveAggressive(shuffle=False, average=False)
    model = LinearClassifier(rule, C, solver=solver, fit_intercept=False, max_iter=1).fit(X, y)
    np.testing.assert_allclose(model.coef_, [w], atol=1e-12)


def test_the_multiclass_perceptron_is_the_binary_one_on_differences():
    """w ← w + v where ⟨w, v⟩ is not positive, for v = ψ(x, y) − ψ(x, ŷ), ŷ the winner."""
    rng = np.random.default_rng(6)
    X, y, k = rng.normal(size=(40, 3)), rng.integers(0, 4, 40), 4

    def psi(x, c):
        return np.concatenate([x if c == j else np.zeros(3) for j in range(k)])

    w = np.zeros(3 * k)
    for x, label in zip(X, y, strict=True):
        winner = int(np.argmax([w @ psi(x, c) for c in range(k)]))
        v = psi(x, label) - psi(x, winner)
        if winner != label and w @ v <= 0:
            w = w + v
    model = MulticlassPerceptron(average=False, shuffle=False, fit_intercept=False, max_iter=1)
    np.testing.assert_allclose(model.fit(X, y).coef_, w.reshape(k, 3), atol=1e-12)


def test_a_passive_aggressive_step_ends_at_margin_one_by_the_shortest_way():
    found, *_ = walk("pa1", k=3, n=30, intercept=False, average=False)
    shard = found.shard
    for i in range(30):
        before = found.flat()
        found.perceive(np.array([i]), C=1e9)
        scores = shard.layout.scores(shard.structures[i : i + 1], found.flat()).node[0]
        label = shard.truth.labels[i]
        others = np.delete(scores, label)
        moved = found.flat() - before
        if moved.any():
            old = shard.layout.scores(shard.structures[i : i + 1], before).node[0]
            rival = int(np.argmax(np.where(np.arange(3) == label, -np.inf, old)))
            assert scores[label] - scores[rival] == pytest.approx(1.0)
            assert set(np.flatnonzero(moved.reshape(-1, 4).any(axis=0))) == {label, rival}
        else:
            assert scores[label] - others.max() >= 1.0 - 1e-12


# Gradient steps


@pytest.mark.parametrize("schedule", ["calibrated", "inverse", "inverse_sqrt", "constant"])
@pytest.mark.parametrize("kind", ["float64", "csr", "indicators"])
@pytest.mark.parametrize("loss", DESCENDED)
def test_gradient_steps_equal_the_recipe_step_for_step(loss, kind, schedule):
    """w ← w − η_t (∇ s_i loss_i(w) + λ w), every w kept, against the lazy ones on both paths."""
    eta, decay, k = 0.05, 0.02, 2 if schedule == "constant" else 4
    for compiled in (False, True):
        found, _, y, _ = walk(loss, kind, k, compiled=compiled, weighted=True)
        found.schedule = schedule
        layout, shard = found.layout, found.shard
        bias = slice(layout.features * layout.width, None)
        w, total, weights = np.zeros(layout.size), np.zeros(layout.size), 1.0
        order = np.random.default_rng(8).permutation(len(y))
        lost = found.descend(order, eta, decay)
        expected = 0.0
        for t, i in enumerate(order):
            one = slice(i, i + 1)
            scores = layout.scores(shard.structures[one], w)
            residual, gradient = Scores(np.empty((1, k))), np.zeros(layout.size)
            values = found.problem.loss.evaluate(
                found.problem.space, scores, shard.truth.block(one, one), residual
            )
            layout.adjoint(shard.structures[one], residual, gradient)
            rate = {
                "constant": eta, "inverse": 1 / (decay * (t + 1)), "inverse_sqrt": eta / np.sqrt(t + 1),
                "calibrated": eta / (1 + eta * decay * t),
            }[schedule]  # fmt: skip
            step = rate * gradient
            shrink = np.full(layout.size, 1 - rate * decay)
            if layout.free_intercept:
                shrink[bias] = 1.0
                if schedule == "inverse":
                    step[bias] *= min(1.0, 1 / (rate * np.sqrt(t + 1)))
            w = shrink * w - step
            share = t + 1.0 if schedule == "inverse" else 1.0
            total, weights, expected = total + share * w, weights + share, expected + values[0]
        scale = max(1.0, abs(w).max())
        np.testing.assert_allclose(found.flat(), w, atol=1e-8 * scale)
        np.testing.assert_allclose(found.mean(), total / weights, atol=1e-8 * scale)
        assert lost == pytest.approx(expected)


def test_costs_of_single_rows_reach_the_steps():
    ways = [
        walk("hinge", "csr", 4, compiled=compiled, prices=True)[0] for compiled in (False, True)
    ]
    lost = [way.descend(np.arange(40), 0.1, 0.01) for way in ways]
    assert lost[0] == pytest.approx(lost[1])
    np.testing.assert_allclose(ways[0].mean(), ways[1].mean(), atol=1e-9)
    assert lost[0] != walk("hinge", "csr", 4)[0].descend(np.arange(40), 0.1, 0.01)


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
def test_the_average_survives_a_vanishing_scale(compiled):
    found, *_ = walk("log", compiled=compiled)
    found.schedule = "constant"
    w, total = None, np.zeros(found.layout.size)
    single, *_ = walk("log", compiled=compiled)
    single.schedule = "constant"
    for i in range(40):  # each step shrinks w by 0.3: the scale is folded in several times
        single.descend(np.array([i]), 1.0, 0.7)
        w = single.flat()
        total += w
    found.descend(np.arange(40), 1.0, 0.7)
    np.testing.assert_allclose(found.flat(), w, atol=1e-12)
    np.testing.assert_allclose(found.mean(), total / 41, atol=1e-11)


@pytest.mark.parametrize("loss", DESCENDED)
def test_sgd_comes_near_the_optimum_and_says_how_near(loss):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 6)) / 2
    y = (X @ rng.normal(size=(6, 3)) + rng.gumbel(size=(300, 3))).argmax(axis=1)
    model = LinearClassifier(loss, C=0.1, solver="sgd", max_iter=60).fit(X, y)
    best = LinearClassifier(loss, C=0.1, tol=1e-6, max_iter=20_000).fit(X, y).solution_
    solution = model.solution_
    assert best.objective * (1 - 1e-6) <= solution.objective <= 1.02 * best.objective
    assert solution.objective - solution.gap <= best.objective * (1 + 1e-6)


# Mistakes


@pytest.mark.parametrize("n", [8, 32, 128])
@pytest.mark.parametrize("rule", ["perceptron", "perceptron_sum"])
def test_the_mistake_bound_is_attained_and_never_exceeded(n, rule, route):
    """Rows e₁ … e_n of class 1 and −e₁ of class 0: n mistakes, and γ = √(2/n), so that 2 (R/γ)² = n."""
    X = np.vstack([np.eye(n), -np.eye(n)[0]])
    y = np.append(np.ones(n, int), 0)
    # A weight vector for each class: the comparator is ±Σ e_j / √(2n), of unit norm.
    W = np.vstack([-np.ones(n), np.ones(n)]) / np.sqrt(2 * n)
    found = margins.of(X, y, W)
    assert found.gamma == pytest.approx(np.sqrt(2 / n))
    assert margins.mistake_bound(1.0, np.sqrt(2 / n)) == pytest.approx(n)
    model = MulticlassPerceptron(rule, fit_intercept=False, shuffle=False, max_iter=50).fit(X, y)
    assert sum(model.solution_.mistakes) == n
    assert model.solution_.status == "no mistakes"


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_no_order_makes_more_mistakes_than_the_bound(seed, k, intercept):
    rng = np.random.default_rng(seed)
    X, W, b = rng.normal(size=(400, 4)), rng.normal(size=(k, 4)), 0.3 * rng.normal(size=k)
    b *= intercept
    scores = np.sort(X @ W.T + b, axis=1)
    X = X[scores[:, -1] - scores[:, -2] > 0.2]  # a margin
    y = (X @ W.T + b).argmax(axis=1)
    coef, offset = (W, b) if k > 2 else (W[1:] - W[:1], b[1:] - b[:1])
    bound = margins.of(X, y, coef, offset if intercept else None).mistake_bound
    for order in range(3):
        model = MulticlassPerceptron(fit_intercept=intercept, random_state=order, max_iter=5000)
        solution = model.fit(X, y).solution_
        assert solution.status == "no mistakes"
        assert 0 < sum(solution.mistakes) <= bound


# partial_fit


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sparse", [False, True])
def test_partial_fit_that_grows_is_the_learner_with_columns_of_zeros(rule, sparse, route):
    """Classes arrive one by one, features too: the twin gives each its zeros when it first comes."""
    rng = np.random.default_rng(10)
    stages = [(2, 3), (3, 3), (3, 5), (5, 6)]  # classes and features known by then
    C = 0.4
    model = LinearClassifier(rule, C=C if rule.startswith("pa") else 1.0)
    model.set_params(solver=model_solver(rule))
    W, b = np.zeros((2, 3)), np.zeros(2)
    for k, d in stages:
        X, y = rng.normal(size=(20, d)), rng.integers(0, k, 20)
        y[:k] = np.arange(k)
        new = np.zeros((k, d))
        new[: W.shape[0], : W.shape[1]] = W
        W, b = new, np.append(b, np.zeros(k - len(b)))
        for x, label in zip(X, y, strict=True):
            # Two classes in one column move by C once, in two columns by C each: twice as far apart.
            cap = C / 2 if k == 2 else C
            naive.online_step(rule, W, b, x, label, C=cap)
        model.partial_fit(sp.csr_array(X) if sparse else X, y, grow=True)
        if k > 2:
            np.testing.assert_allclose(model.coef_, W, atol=1e-9)
            np.testing.assert_allclose(model.intercept_, b, atol=1e-9)
    assert model.n_features_in_ == 6
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.solution_.passes == 4


def model_solver(rule):
    kind = solvers.PassiveAggressive if rule.startswith("pa") else solvers.Perceptron
    return kind(shuffle=False, average=False)


def test_partial_fit_over_the_whole_is_an_epoch(route):
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    once = MulticlassPerceptron(shuffle=False, max_iter=3).fit(X, y)
    parts = MulticlassPerceptron(shuffle=False)
    for _ in range(3):
        parts.partial_fit(X[:25], y[:25], classes=[0, 1, 2]).partial_fit(X[25:], y[25:])
    np.testing.assert_allclose(parts.coef_, once.coef_, atol=1e-12)
    assert sum(parts.solution_.mistakes) == sum(once.solution_.mistakes)


@pytest.mark.parametrize("loss", ["log", "hinge", "squared_hinge"])
def test_partial_fit_of_a_minimised_loss_learns(loss):
    rng = np.random.default_rng(12)
    X = rng.normal(size=(600, 5))
    y = (X @ rng.normal(size=(5, 3))).argmax(axis=1)
    model = LinearClassifier(loss, random_state=0)
    for first in range(0, 600, 100):
        model.partial_fit(X[first : first + 100], y[first : first + 100], classes=[0, 1, 2])
    assert model.score(X, y) > 0.9
    assert model.solution_.solver == "sgd"


# Peers


def test_the_average_beats_one_vs_rest_perceptrons_on_letters(shared):
    from sklearn.linear_model import Perceptron

    with np.load(shared("flat/uci_small.npz")) as arrays:
        X, y = arrays["letter_X"].astype(float), arrays["letter_y"]
    ours = MulticlassPerceptron(max_iter=10).fit(X[:16000], y[:16000])
    theirs = Perceptron(random_state=0).fit(X[:16000], y[:16000])
    assert ours.score(X[16000:], y[16000:]) > theirs.score(X[16000:], y[16000:]) + 0.02


@pytest.mark.parametrize(
    ("rule", "scale"),
    [("perceptron", 1.0), ("perceptron", 1e-5), ("perceptron", 1e-20), ("perceptron_sum", 1e-5)],
)
def test_no_mistakes_is_said_of_the_weights_that_predict(rule, scale, route):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = scale * (5.0 * np.eye(3)[y] + 0.3 * rng.normal(size=(200, 3)))
    mean = LinearClassifier(rule, max_iter=200).fit(X, y)
    assert mean.solution_.status == "no mistakes"
    assert mean.score(X, y) == 1.0
    # As many epochs, and the last weights instead of their mean.
    solver = solvers.Perceptron(average=False)
    last = LinearClassifier(rule, solver=solver, max_iter=200).fit(X, y)
    assert last.n_iter_ == mean.n_iter_
    assert scale < 1.0 or not np.array_equal(mean.coef_, last.coef_)
