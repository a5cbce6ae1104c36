"""Fault 14: a bad table of costs."""

import numpy as np
import pytest

from argmax import LinearClassifier
from tests.faults.cases import problem, refuses
from tests.faults.harness import alone

GOOD = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])


def changed(value):
    table = GOOD.copy()
    table[0, 1] = value
    return table


@alone
def test_14_a_bad_table_of_costs_is_refused():
    X, y = problem()
    for solver in ("auto", "sgd"):
        for cost, words in (
            (GOOD[:2], "shape (2, 3)"),
            (GOOD[:, :2], "shape (3, 2)"),
            (np.ones(3), "shape (3,)"),
            (changed(np.nan), "finite and not negative"),
            (changed(np.inf), "finite and not negative"),
            (changed(-1.0), "finite and not negative"),
        ):
            model = LinearClassifier("hinge", cost=cost, solver=solver)
            refuses(model.fit, X, y, says=("cost must", words))


@alone
def test_14_a_diagonal_that_exceeds_its_row_is_a_warning():
    X, y = problem()
    model = LinearClassifier("hinge", cost=GOOD + 5 * np.eye(3), solver="sgd", max_iter=5)
    with pytest.warns(UserWarning, match="right answers cost more than wrong ones"):
        model.fit(X, y)
    assert model.predict(X).shape == y.shape
