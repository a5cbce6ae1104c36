"""Faults 4 to 9: labels, weights, lengths, and the names of the columns."""

import decimal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from argmax import (
    LinearClassifier,
    MultiLabelClassifier,
    OneVsRest,
    SoftmaxRegression,
    load,
    save,
)
from argmax.calibration import Calibrated
from argmax.errors import ArgmaxError
from tests.faults.cases import problem, refuses
from tests.faults.harness import alone


@alone
def test_4_one_class_is_refused_by_name():
    X, y = problem()
    names = np.array(["cat", "dog", "ship"])[y]
    model = SoftmaxRegression().fit(X, names)
    refuses(model.fit, X, ["cat"] * len(X), says=("one class: 'cat'",))
    refuses(model.fit, X, np.zeros(len(X), int), says=("one class: 0",))
    refuses(model.fit, X, names, (names == "dog") * 1.0, says=("one class: 'dog'",))
    only_ship = LinearClassifier(class_weight={"cat": 0, "dog": 0.0})
    refuses(only_ship.fit, X, names, says=("one class: 'ship'",))
    nothing = LinearClassifier(class_weight={"cat": 0, "dog": 0, "ship": 0})
    refuses(nothing.fit, X, names, says=("at least two classes", "none"))


@alone
def test_5_class_weights_of_absent_classes_are_refused_by_name():
    X, y = problem()
    weights = {0: 1.0, 7: 2.0, "ship": 1.0}
    refuses(SoftmaxRegression(class_weight=weights).fit, X, y, says=("7, 'ship'", "0, 1, 2"))
    for value in (np.nan, np.inf, -1.0, "heavy", None):
        model = SoftmaxRegression(class_weight={1: value})
        refuses(model.fit, X, y, says=("class_weight[1]",), error=ArgmaxError)
    for setting in ("balance", [1.0, 2.0, 3.0], 3):
        model = SoftmaxRegression(class_weight=setting)
        refuses(model.fit, X, y, says=("class_weight", "balanced"), error=ArgmaxError)


@alone
def test_5_balanced_weights_count_only_classes_that_are_there():
    X, y = problem()
    balanced = LinearClassifier(class_weight="balanced")
    there = y != 1
    model = balanced.fit(X, y, there * 1.0)
    removed = LinearClassifier(class_weight="balanced").fit(X[there], y[there])
    assert np.array_equal(model.classes_, removed.classes_)
    np.testing.assert_allclose(model.coef_, removed.coef_, atol=1e-7)


@alone
def test_6_labels_that_cannot_name_a_class_are_refused_with_an_example():
    X, y = problem()
    y = np.roll(y, 1)
    model = SoftmaxRegression().fit(X, y)
    names = np.array(["cat", "dog", "ship"])[y]

    def with_one(value):
        changed = names.astype(object)
        changed[5] = value
        return changed

    unknown = [
        (with_one(None), "None in row 5"),
        (with_one(np.nan), "nan in row 5"),
        (with_one(3), "3 in row 5"),
        (with_one(b"cat"), "b'cat' in row 5"),
        (with_one([1]), "[1] in row 5"),
        (with_one(3).tolist(), "3 in row 5"),
        (with_one(np.nan).tolist(), "nan in row 5"),
        (names.astype("S"), "b'"),
        (y + 0.5, ".5 in row 0"),
        ((y + 0.5).tolist(), ".5 in row 0"),
        (np.where(y == 2, np.nan, y), "nan in row"),
        (np.where(y == 2, np.inf, y), "inf in row"),
        (np.array([decimal.Decimal(1), decimal.Decimal(2)])[y % 2], "Decimal"),
        (np.array(["NaT", "2020", "2021"], "M8[D]")[y], "None in row"),
        (y.astype(object) + 0.25, ".25 in row 0"),
    ]
    for labels, example in unknown:
        refuses(model.fit, X, labels, says=("Unknown label type", example))
    masked = np.ma.masked_equal(y, 1)
    others = (None, "text", y + 1j, [[1], [2, 3]] * 60, np.c_[y, y], y[:, None, None], masked)
    for labels in (*others, sp.csr_array(y[:, None])):
        refuses(model.fit, X, labels, says=(), error=ArgmaxError)


@alone
def test_6_a_column_of_labels_warns_and_fits():
    X, y = problem()
    with pytest.warns(UserWarning, match="column-vector y"):
        column = SoftmaxRegression().fit(X, y[:, None])
    assert np.array_equal(column.coef_, SoftmaxRegression().fit(X, y).coef_)
    objects = SoftmaxRegression().fit(X, y.astype(object))  # whole numbers, held as objects
    assert objects.classes_.dtype.kind == "i"
    for labels in (y > 0, y.astype(np.float16), y - 5, np.array(["", "b", "ç"])[y]):
        assert np.isin(SoftmaxRegression().fit(X, labels).predict(X), labels).all()


@alone
def test_7_lengths_that_differ_are_all_named():
    X, y = problem()
    model = SoftmaxRegression().fit(X, y)
    for form in (np.asarray, sp.csr_array, np.ndarray.tolist):
        refuses(model.fit, form(X), y[:-3], says=("X has 120", "y has 117"))
        refuses(model.fit, form(X), y, np.ones(7), says=("X has 120", "sample_weight has 7"))
        says = ("X has 120", "y has 5", "sample_weight has 7")
        refuses(model.fit, form(X), y[:5].tolist(), [1.0] * 7, says=says)
    with pytest.raises(ValueError, match=r"5, 120"):
        model.score(X, y[:5])


@alone
def test_8_weights_without_meaning_are_refused():
    X, y = problem()
    model = SoftmaxRegression().fit(X, y)
    refuses(model.fit, X, y, np.where(y == 0, np.nan, 1.0), says=("NaN", "value(s)", "row 0"))
    refuses(model.fit, X, y, np.where(y == 1, -np.inf, 1.0), says=("infinity", "row 1"))
    refuses(model.fit, X, y, np.where(y == 1, -2.0, 1.0), says=("negative", "-2 at row 1"))
    refuses(model.fit, X, y, np.zeros(120), says=("zero everywhere",))
    for C in (1.0, np.inf):
        for huge in (1e300, 1e308):
            heavy = SoftmaxRegression(C=C)
            refuses(heavy.fit, X, y, np.full(120, huge), says=("at most 1e100", "smaller weights"))
    heavy = SoftmaxRegression(class_weight={0: 1e300})
    refuses(heavy.fit, X, y, np.full(120, 1e300), says=("at most 1e100",))
    ragged = [[1], [2, 3]] * 60
    for weight in ("a", ["a"] * 120, np.ones((120, 1)), np.ones(120) + 1j, ragged, [10**400] * 120):
        refuses(model.fit, X, y, weight, says=(), error=ArgmaxError)


@alone
def test_8_weights_of_zero_remove_and_whole_weights_repeat():
    X, y = problem()
    weight = np.arange(len(y)) % 4
    for form in (np.asarray, sp.csr_array):
        for solver in ("auto", "lbfgs", "newton_cg", "dual"):
            weighted = SoftmaxRegression(solver=solver, C=0.1).fit(form(X), y, weight)
            again = form(np.repeat(X, weight, axis=0))
            repeated = SoftmaxRegression(solver=solver, C=0.1).fit(again, np.repeat(y, weight))
            np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
            kept = SoftmaxRegression(solver=solver, C=0.1).fit(form(X), y, weight > 0)
            removed = SoftmaxRegression(solver=solver, C=0.1).fit(
                form(X[weight > 0]), y[weight > 0]
            )
            assert np.array_equal(kept.coef_, removed.coef_)


@alone
def test_9_arrays_with_another_number_of_columns_are_refused():
    X, y = problem()
    model = SoftmaxRegression().fit(X, y)
    for form in (np.asarray, sp.csr_array, np.ndarray.tolist):
        refuses(model.predict, form(X[:, :3]), says=("3 features", "5 features"))
        refuses(model.predict_proba, form(np.c_[X, X]), says=("10 features", "5 features"))


@alone
def test_9_frames_with_other_columns_are_refused_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = problem()
    frame = pandas.DataFrame(X, columns=["age", "height", "weight", "pulse", "dose"])
    model = SoftmaxRegression().fit(frame, y)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    refuses(model.predict, frame.drop(columns="pulse"), says=("missing", "pulse"))
    refuses(model.predict, frame.assign(extra=1.0), says=("unseen", "extra"))
    refuses(model.predict, frame.rename(columns={"dose": "drug"}), says=("drug", "dose"))
    refuses(model.predict, frame[frame.columns[::-1]], says=("same order",))
    refuses(model.fit, frame.assign(age="old"), y, says=("old",))
    twice = frame.set_axis(["age", "age", "a", "b", "c"], axis=1)
    refuses(model.fit, twice, y, says=("age",), error=ArgmaxError)
    gaps = frame.astype("Float64").mask(frame > 2)
    refuses(model.fit, gaps, y, says=("NaN", "row"))
    labels = pandas.Series(np.array(["a", "b", "c"])[y], dtype="string").mask(y == 1)
    refuses(model.fit, frame, labels, says=("Unknown label type",))


@pytest.mark.parametrize(
    ("kind", "plain"), [("Int64", "int64"), ("Int8", "int8"), ("boolean", "bool")]
)
def test_nullable_labels_of_pandas_keep_their_kind(kind, plain, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = problem()
    column = pandas.Series(y > 0 if kind == "boolean" else y, dtype=kind)
    bases = (LinearClassifier(), OneVsRest(), OneVsRest(LinearSVC()), MultiLabelClassifier())
    wrapped = [
        Calibrated(LinearClassifier(), "temperature", cv=2, ensemble=e) for e in (True, False)
    ]
    for model in (*bases, *wrapped, Calibrated(LinearSVC(), "temperature", cv=2)):
        model.fit(X, column)
        assert model.classes_.dtype == model.predict(X).dtype == plain, model
        assert model.score(X, column) > 0.5
    for model in (bases[0], *wrapped):
        save(model, tmp_path / "model.argmax", overwrite=True)
        again = load(tmp_path / "model.argmax")
        assert again.classes_.dtype == plain
        assert again.predict(X).tolist() == model.predict(X).tolist()
    prefit = Calibrated(bases[0], "temperature", cv="prefit").fit(X, column)
    assert prefit.classes_.dtype == plain
    column[3] = pandas.NA
    for model in (*bases, *wrapped, prefit):
        refuses(model.fit, X, column, says=("nan", "row 3"), error=ArgmaxError)
