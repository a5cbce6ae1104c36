"""Evaluations: filled from models and tables, and refused where the parts do not fit."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from argmax import SoftmaxRegression, report
from argmax.errors import InvalidInput, WrongType
from argmax.records import Strings
from argmax.report.evaluation import digest, versions
from argmax.report.measures import Measures
from argmax.report.tables import described, lines
from tests.units.report.pages import digits, frame, text, two


def test_a_pipeline_is_taken_apart():
    model, X, y = text()
    found = report.of(model, X, y)
    assert found.model.name == "SoftmaxRegression"
    assert found.estimator == "model[-1]"
    assert list(found.model.feature_names) == list(model[:-1].get_feature_names_out())
    assert found.previews[3] == X[3]
    assert found.columns[0].kind == "text"


def test_steps_without_names_give_numbered_features():
    _, X, y = digits()
    model = make_pipeline(FunctionTransformer(), SoftmaxRegression(C=1e-4)).fit(X, y)
    assert report.of(model, X, y).model.feature_names is None


def test_a_frame_gives_names_columns_and_lines():
    model, X, y = frame()
    found = report.of(model, X, y)
    assert list(found.model.feature_names) == list(X.columns)
    assert [column.name for column in found.columns] == list(X.columns)
    assert found.previews[0].startswith("alcohol: ")


def test_facts_fill_or_replace_fields():
    model, X, y = digits()
    found = report.of(model, X, y, title="Digits", findings=["nothing"], date="")
    assert (found.title, found.findings, found.date) == ("Digits", ["nothing"], "")
    with pytest.raises(TypeError, match="no_such_field"):
        report.of(model, X, y, no_such_field=1)


def test_a_model_without_probabilities_is_refused():
    _, X, y = digits()
    with pytest.raises(WrongType, match="LinearSVC has no predict_proba"):
        report.of(LinearSVC().fit(X, y), X, y)


def test_strings_serve_as_truth_and_previews():
    found = report.Evaluation(
        classes=["a", "b"],
        truth=Strings.of(["a", "b"]),
        probabilities=[[0.4, 0.6], [0.3, 0.7]],
        previews=Strings.of(["first row", None]),
    )
    assert found.truth.tolist() == ["a", "b"]
    assert "first row" in report.render(found)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"truth": ["a"]}, "shape (1, 2)"),
        ({"rows": [1]}, "rows has 1"),
        ({"previews": ["x"]}, "previews has 1"),
        ({"training_counts": [1, 2, 3]}, "training_counts has 3"),
        ({"truth": [1, 2]}, "holds strings but truth numbers"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changed, says):
    fields = {"classes": ["a", "b"], "truth": ["a", "b"], "probabilities": np.eye(2)}
    with pytest.raises(InvalidInput) as caught:
        report.Evaluation(**(fields | changed))
    assert says in str(caught.value)


@pytest.mark.parametrize("case", [digits, text, frame, two])
def test_drivers_add_up_to_the_difference_of_the_scores(case):
    """Where a row has few features they are all listed, and their sum is what the model computed."""
    model, X, y = case()
    found = Measures(report.of(model, X, y))
    estimator = model[-1] if hasattr(model, "steps") else model
    names = found.evaluation.model.feature_names
    for s in found.surprises:
        row = found.evaluation.features[s.position]
        row = row.toarray().ravel() if sp.issparse(row) else row
        best, rival = (
            np.flatnonzero(estimator.classes_ == c)[0] for c in (found.answer[s.position], s.rival)
        )
        w = estimator.coef_
        weights = w[0] * (1 if best == 1 else -1) if len(w) == 1 else w[best] - w[rival]
        contributions = weights * row
        for driver in s.toward + s.against:
            j = int(driver.feature[1:]) if names is None else list(names).index(driver.feature)
            assert driver.value == pytest.approx(contributions[j])
        listed = [driver.value for driver in s.toward]
        assert listed == pytest.approx(sorted(contributions[contributions > 0])[::-1][:6])


def test_an_unseen_truth_is_compared_with_the_runner_up():
    model, X, y = text()
    found = Measures(report.of(model, X, ["new"] * len(y)))
    p = found.evaluation.probabilities[found.surprises[0].position]
    assert found.surprises[0].rival == model.classes_[np.argsort(p)[-2]]


def test_a_digest_tells_arrays_apart():
    X = sp.random_array((5, 5), density=0.5, rng=np.random.default_rng(0), format="csr")
    arrays = [np.zeros(3), np.zeros(3, np.float32), np.zeros((3, 1)), X, ["a", "b"], ["a", "c"]]
    assert len({digest(array) for array in arrays}) == len(arrays)
    assert digest(X) == digest(X.copy())


def test_versions_name_what_matters():
    assert {"Python", "argmax", "numpy", "scikit-learn"} <= versions().keys()


def test_columns_of_a_frame_are_described():
    table = pd.DataFrame({"size": [1.0, None, 3.0], "city": ["Rome", "Rome", None]})
    size, city = described(table)
    assert (size.kind, size.missing, size.distinct) == ("number", 1, 2)
    assert (city.kind, city.missing, city.distinct, city.examples) == ("category", 1, 1, ("Rome",))
    assert lines(table)[:2] == ["size: 1, city: Rome", "city: Rome"]


def test_wide_and_sparse_tables_have_no_lines():
    assert lines(np.zeros((2, 100))) is None
    assert lines(sp.csr_array(np.eye(3))) is None
    assert described(sp.csr_array(np.eye(3))) == []
