"""Scoring single rows: the same answers as the tables give."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from argmax import SoftmaxRegression
from argmax.errors import InvalidInput

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def model(request):
    keep = np.isin(Y, range(3 - request.param, 3))
    return SoftmaxRegression().fit(X[keep], NAMES[Y[keep]])


def test_scores_are_those_of_the_table(model):
    score, table = model.row_scorer(), model.decision_function(X)
    found = np.array([score(x) for x in X])
    if table.ndim == 1:
        found = found[:, 1] - found[:, 0]
    np.testing.assert_allclose(found, table, rtol=1e-10, atol=1e-12)


def test_answers_and_probabilities_are_those_of_the_table(model):
    score = model.row_scorer()
    assert [score.predict(x) for x in X] == model.predict(X).tolist()
    found = np.array([score.probabilities(x) for x in X])
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-9)


def test_sparse_rows_are_dense_rows_without_their_zeros(model):
    score, rows = model.row_scorer(), sp.csr_array(np.where(X > 2.0, X, 0.0))
    for i in range(0, 150, 10):
        inside = slice(rows.indptr[i], rows.indptr[i + 1])
        found = score.sparse(rows.indices[inside], rows.data[inside])
        np.testing.assert_allclose(found, score(rows[[i]].toarray()[0]), rtol=1e-12)
    np.testing.assert_allclose(score.sparse([], []), score(np.zeros(4)), rtol=1e-12)


def test_a_predicted_class_is_a_plain_python_value():
    assert type(SoftmaxRegression().fit(X, Y).row_scorer().predict(X[0])) is int


def test_a_row_of_another_length_is_refused(model):
    with pytest.raises(InvalidInput, match="the row has 3 features; the model has 4"):
        model.row_scorer()(X[0, :3])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_is_refused(model, bad):
    with pytest.raises(InvalidInput, match="NaN or infinite"):
        model.row_scorer()(np.array([1.0, bad, 1.0, 1.0]))


def test_a_feature_that_is_not_there_is_an_error(model):
    with pytest.raises((IndexError, InvalidInput)):
        model.row_scorer().sparse([4], [1.0])
