"""The instrument itself: draws repeat, every family makes rows that can be fitted, the judge agrees."""

import numpy as np
import pytest

from argmax import LinearClassifier
from benchmarks.zoo import judge, page
from benchmarks.zoo.families import FAMILIES, draw
from benchmarks.zoo.fits import Fit, Record
from benchmarks.zoo.judge import Problem
from benchmarks.zoo.plan import LOSSES, SPARSE_LOSSES, Plan
from benchmarks.zoo.rows import Rows, load

LARGE = "tall", "many_classes"


def values(X):
    return X if isinstance(X, np.ndarray) else X.data


@pytest.mark.parametrize("family", FAMILIES)
def test_draws_repeat_by_their_seed_and_differ_between_seeds(family):
    X, y, weight = draw(family, 3)
    again, labels, weights = draw(family, 3)
    np.testing.assert_array_equal(values(X), values(again))
    np.testing.assert_array_equal(y, labels)
    assert (weight is None) == (weights is None)
    if weight is not None:
        np.testing.assert_array_equal(weight, weights)
    other, _, _ = draw(family, 4)
    assert other.shape != X.shape or not np.array_equal(values(other), values(X))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_makes_finite_rows_of_two_classes_or_more(family):
    for seed in range(1 if family in LARGE else 20):
        X, y, weight = draw(family, seed)
        assert X.shape[0] == len(y)
        assert X.shape[1] > 0
        assert np.isfinite(values(X)).all()
        np.testing.assert_array_equal(np.unique(y), np.arange(y.max() + 1))
        assert y.max() >= 1
        if weight is not None:
            assert weight.shape == y.shape
            assert ((weight > 0) & (weight < np.inf)).all()


def test_a_name_says_all_about_rows():
    rows = load("weights#5")
    X, y, weight = draw("weights", 5)
    np.testing.assert_array_equal(rows.X, X)
    np.testing.assert_array_equal(rows.weight, weight)
    assert rows.work == X.size * (y.max() + 1)
    assert load("sklearn-iris/std").X.std(axis=0) == pytest.approx(1.0)
    with pytest.raises(SystemExit, match="no set 'nowhere'"):
        load("nowhere")


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_judge_finds_the_objective_of_the_library(loss, k):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % k
    rows = Rows("", X, y, rng.uniform(0.1, 10, 60))
    for share in (0.0, 1.0, 0.3) if loss in SPARSE_LOSSES else (0.0,):
        penalty = {0.0: "l2", 1.0: "l1"}.get(share, "elasticnet")
        ratio = share if penalty == "elasticnet" else None
        model = LinearClassifier(loss, C=0.7, penalty=penalty, l1_ratio=ratio, tol=1e-9)
        solution = model.fit(X, y, sample_weight=rows.weight).solution_
        problem = Problem(loss, 0.7, share)
        found = judge.objective(rows, problem, model.coef_, model.intercept_)
        assert found == pytest.approx(solution.objective, rel=1e-10)
        zero = judge.at_zero(rows, problem)
        assert solution.gap == pytest.approx(solution.relative_gap * zero, rel=1e-8, abs=0.0)


def test_the_judge_looks_at_blocks_of_rows_as_at_all_of_them(monkeypatch):
    rows = load("weights#1")
    W, b = np.ones((rows.k, rows.X.shape[1])), np.arange(rows.k)
    whole = judge.objective(rows, Problem("hinge", 2.0), W, b)
    monkeypatch.setattr(judge, "BLOCK", 50)
    assert judge.objective(rows, Problem("hinge", 2.0), W, b) == pytest.approx(whole, rel=1e-12)


def test_a_plan_takes_a_set_through_all_pairs_of_loss_and_strength():
    plan = Plan(seed=3, chosen=("sklearn-iris", "plain"))
    whole = list(plan)
    pairs = {(p.loss, p.C) for rows, p in whole if rows == "sklearn-iris" and not p.l1}
    assert len(pairs) == len(LOSSES) * 6
    assert {p.l1 for _, p in whole if p.loss == "hinge"} == {0.0}
    assert len({rows for rows, _ in whole if rows.startswith("plain#")}) == 6
    assert whole == list(plan)
    assert whole != list(Plan(seed=4, chosen=("sklearn-iris", "plain")))


def records(seconds, statuses):
    fit = Fit("tiny#1", Problem("log", 1.0))
    return [
        Record(fit, status, work=100.0, seconds=s)
        for s, status in zip(seconds, statuses, strict=True)
    ]


def test_promises_count_the_late_and_those_that_did_not_converge():
    some = records([1.0, 6.0, 31.0, 1.0], ["converged", "converged", "converged", "stalled"])
    within, easy = page.promises(some)
    assert (within.figure, within.verdict) == ("50.0 % (2 of 4)", "not met")
    assert (easy.figure, easy.verdict) == ("25.0 % (1 of 4)", "not met")
    good = page.promises(records([1.0], ["converged"]))
    assert [check.verdict for check in good] == ["met", "met"]
    noisy = records([1.0], ["converged"])
    noisy[0].warnings = ["RuntimeWarning: overflow"]
    assert page.promises(noisy)[0].verdict == "not met"
