"""LinearClassifier and MulticlassSVM with every loss: what they take, refuse and answer."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from argmax import LinearClassifier, MulticlassSVM, costs, losses
from argmax.engines import Stored
from argmax.errors import InvalidInput, NoProbabilities, Unsupported
from argmax.records import Scores, Truth
from argmax.spaces import Classes

X, Y = load_iris(return_X_y=True)
MARGINS = ("hinge", "weston_watkins", "squared_hinge")
EVERY = ("log", "softmax_margin", *MARGINS, "squared", "ovr_log")


@pytest.mark.parametrize("loss", EVERY)
def test_dense_and_sparse_rows_have_one_optimum(loss):
    dense = LinearClassifier(loss, C=0.1, tol=1e-8).fit(X, Y)
    sparse = LinearClassifier(loss, C=0.1, tol=1e-8).fit(sp.csr_array(X), Y)
    assert sparse.solution_.objective == pytest.approx(dense.solution_.objective, rel=1e-7)
    assert dense.score(X, Y) > 0.6
    np.testing.assert_array_equal(dense.predict(X), dense.decision_function(X).argmax(axis=1))


@pytest.mark.parametrize("loss", EVERY)
def test_class_weights_are_weights_of_rows(loss):
    weight = {0: 1.0, 1: 3.0, 2: 0.5}
    named = LinearClassifier(loss, class_weight=weight).fit(X, Y)
    rows = LinearClassifier(loss).fit(X, Y, np.array([weight[y] for y in Y]))
    np.testing.assert_allclose(named.coef_, rows.coef_, atol=1e-6)


@pytest.mark.parametrize("loss", ["log", "softmax_margin", "ovr_log"])
@pytest.mark.parametrize("k", [2, 3])
def test_probabilities_add_up_and_agree_with_their_logarithms(loss, k):
    model = LinearClassifier(loss).fit(X[k > Y], Y[k > Y])
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(X), atol=1e-9)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("loss", [*MARGINS, "squared"])
def test_the_others_say_where_probabilities_come_from(loss):
    model = LinearClassifier(loss).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NoProbabilities, match=r"calibration\.Calibrated, or use loss='log'"):
        model.predict_proba(X)


@pytest.mark.parametrize("loss", ["log", "ovr_log", "squared"])
def test_an_intercept_without_a_penalty_leaves_no_gradient(loss):
    """The residuals of each class add up to zero, however strong the penalty on the weights is."""
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], y[:120]  # 50, 50 and 20 rows: classes that differ in size need an intercept
    model = LinearClassifier(loss, C=0.01, tol=1e-10).fit(X, y)
    residual = Scores(np.empty((len(y), 3)))
    scores = Scores(np.ascontiguousarray(model.decision_function(X)))
    losses.get(loss).evaluate(Classes(3), scores, Truth(y), residual)
    assert residual.node.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-5)


def test_costs_move_the_boundary():
    cost = costs.zero_one(3)
    cost[1, 2] = 20.0
    for loss in ("hinge", "softmax_margin"):
        plain, careful = (
            LinearClassifier(loss).fit(X, Y),
            LinearClassifier(loss, cost=cost).fit(X, Y),
        )
        wrong = [int(((Y == 1) & (m.predict(X) == 2)).sum()) for m in (plain, careful)]
        assert wrong[1] < wrong[0]


@pytest.mark.parametrize("loss", ["hinge", "softmax_margin"])
def test_a_table_is_the_same_cost_for_every_example_of_a_class(loss):
    cost = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    table = LinearClassifier(loss, cost=cost).fit(X, Y)
    rows = LinearClassifier(loss).fit(X, Y, example_cost=cost[Y])
    np.testing.assert_allclose(table.coef_, rows.coef_, atol=1e-7)


def test_rows_without_weight_take_their_costs_with_them():
    used = Y != 1
    price = np.ones((150, 3)) - np.eye(3)[Y]
    model = MulticlassSVM().fit(X, Y, used.astype(float), example_cost=price)
    same = MulticlassSVM().fit(X[used], Y[used])
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-7)


@pytest.mark.parametrize(
    ("options", "more", "error", "says"),
    [
        ({"loss": "log", "cost": costs.zero_one(3)}, {}, Unsupported, "has no cost and would ignore it"),
        ({"loss": "weston_watkins", "cost": costs.zero_one(3)}, {}, Unsupported, "has no cost"),
        ({"loss": "hinge", "cost": costs.zero_one(2)}, {}, InvalidInput, "each of the 3 labels"),
        ({"loss": "hinge", "penalty": "l1"}, {}, Unsupported, "only against penalty='l2'"),
        ({"loss": "hinge", "penalty": None}, {}, Unsupported, "only against penalty='l2'"),
        ({"loss": "hinge", "solver": "lbfgs"}, {}, Unsupported, "needs a smooth loss; 'hinge' is not"),
        ({"loss": "squared", "solver": "dual"}, {}, Unsupported, "has no step for loss 'squared'"),
        ({"loss": "hinged"}, {}, InvalidInput, "loss must be one of"),
        ({"loss": "log"}, {"example_cost": np.ones((150, 3))}, Unsupported, "would be ignored"),
        ({"loss": "hinge"}, {"example_cost": np.ones((3, 3))}, InvalidInput, "a row for each of the 150"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_sentence(options, more, error, says):
    model = LinearClassifier(**options)
    with pytest.raises(error, match=says):
        model.fit(X, Y, **more)
    assert not hasattr(model, "coef_")


def test_the_face_has_three_losses():
    with pytest.raises(InvalidInput, match="loss must be"):
        MulticlassSVM("log").fit(X, Y)


def test_costs_need_rows_in_memory(tmp_path):
    stored = Stored.write(tmp_path / "set", [(X, Y)])
    with pytest.raises(Unsupported, match="need rows in the memory"):
        LinearClassifier("softmax_margin").fit(stored)
    assert LinearClassifier("ovr_log").fit(stored).score(X, Y) > 0.9


@pytest.mark.parametrize("loss", ["hinge", "weston_watkins", "log"])
@pytest.mark.parametrize("solver", ["auto", "dual"])
def test_weights_next_to_nothing_are_none(loss, solver):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    weight = np.where(np.arange(60) < 20, 5e-324, 1.0)
    given = {"loss": loss, "solver": solver, "tol": 1e-10}
    some = LinearClassifier(**given).fit(X, y, weight)
    without = LinearClassifier(**given).fit(X[20:], y[20:])
    np.testing.assert_allclose(some.coef_, without.coef_, atol=1e-4)
    with pytest.raises(InvalidInput, match="at least 1e-300"):
        LinearClassifier(loss).fit(X, y, np.full(60, 5e-324))
