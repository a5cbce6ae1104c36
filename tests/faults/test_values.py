"""Faults 1, 2, 3 and 10: what may stand in X, how large it is, and how it lies in memory."""

import tempfile
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from argmax import (
    GraphLabeler,
    JointClassifier,
    LinearClassifier,
    MulticlassPerceptron,
    MulticlassSVM,
    MultiLabelClassifier,
    OneVsRest,
    SoftmaxRegression,
)
from argmax.engines import Stored
from argmax.errors import ArgmaxError, NotConverged, NumericalFailure
from tests.faults.cases import problem, refuses, routes
from tests.faults.harness import alone

ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
FORMS = (np.asarray, sp.csr_array)


@alone
def test_1_nan_or_infinity_names_count_row_and_column():
    X, y = problem()
    for _ in routes():
        model = SoftmaxRegression().fit(X, y)
        for value, name in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
            bad = X.copy()
            bad[7, 3] = bad[7, 4] = bad[90, 1] = value
            for form in (*FORMS, np.float32, sp.csc_matrix, sp.coo_array):
                says = (name, "3 value(s)", "row 7, column 3")
                refuses(model.fit, form(bad), y, says=says)
                for answer in ANSWERS:
                    refuses(getattr(model, answer), form(bad), says=says)
            refuses(model.score, bad, y, says=(name,))


@alone
def test_1_infinities_that_cancel_are_found_at_predict():
    X, y = problem()
    bad = X.copy()
    bad[7, 2], bad[7, 3] = np.inf, -np.inf
    for _ in routes():
        for labels in (y, y > 0):
            model = LinearClassifier(n_threads=1).fit(X, labels)
            for form in FORMS:
                refuses(model.predict, form(bad), says=("2 value(s)", "row 7, column 2"))
        flat = SoftmaxRegression().fit(X * [1, 1, 0, 0, 1], y)  # a weight of zero hides no infinity
        refuses(flat.predict, bad, says=("2 value(s)",))


@alone
def test_2_overflowing_values_are_refused():
    X, y = problem()
    one = X.copy()
    one[3, 1] = 1e300
    for _ in routes():
        model = SoftmaxRegression().fit(X, y)
        for form in FORMS:
            for rows in (X * 1e150, X * 1e300, one, (X * 1e30).astype(np.float32)):
                refuses(model.fit, form(rows), y, says=("overflow", "Scale your features"))
            largest = form(np.full((2, 5), np.finfo(float).max))
            refuses(model.predict, largest, says=("Scale",), error=NumericalFailure)
            assert np.isfinite(model.predict_proba(form(X * 1e300))).all()


@pytest.mark.parametrize(
    "solver",
    [
        "lbfgs",
        "newton_cg",
        "newton",
    ],
)
@alone
def test_2_large_columns_and_mixed_scales_are_fitted_right(solver):
    X, y = problem()
    for scale in (np.full(5, 1e10), np.full(5, 1e15), np.array([1e10, 1.0, 1e-10, 1e15, 1e-3])):
        value, scores = reference_fit(X, y, scale)
        for form in FORMS:
            model = fitted(SoftmaxRegression(solver=solver), form(X * scale), y)
            assert model.solution_.objective == pytest.approx(value, rel=1e-8)
            p = model.predict_proba(X * scale)
            np.testing.assert_allclose(p, softmax(scores, axis=1), atol=1e-4)


@alone
def test_2_units_do_not_matter_without_a_penalty():
    X, y = problem()
    for _ in routes():
        reference = SoftmaxRegression(C=np.inf).fit(X, y).predict_proba(X)
        for scale in (1e-6, 1e-300, 1e15, np.array([1e10, 1.0, 1e-10, 1e15, 1e-3])):
            for form in FORMS:
                rows, told = form(X * scale), []
                model = LinearClassifier(penalty=None, warm_start=True, callbacks=[told.append])
                assert model.fit(rows, y).solution_.converged
                np.testing.assert_allclose(model.predict_proba(rows), reference, atol=1e-4)
                assert told[-1].w.max() == pytest.approx(model.solution_.w.max(), rel=1e-2)
                assert model.fit(rows, y).n_iter_ <= 3  # it starts where it ended


@alone
def test_2_denormals_are_small_numbers_and_never_a_silent_uniform_model():
    X, y = problem()
    prior = np.tile(np.bincount(y) / len(y), (len(y), 1))
    for _ in routes():
        for size in (1e-300, 1e-310, 5e-324):
            model = SoftmaxRegression().fit(X * size, y)  # the penalty leaves them no weight
            np.testing.assert_allclose(model.predict_proba(X * size), prior, rtol=1e-6)
        free = SoftmaxRegression(C=np.inf)
        refuses(free.fit, X * 1e-312, y, says=("Scale",), error=NumericalFailure)


@alone
def test_2_a_fit_worse_than_no_weights_is_an_error():
    X, y = problem()
    for size in np.logspace(5, 12, 8):
        rows = (X * size / np.abs(X).max()).astype(np.float32)
        try:
            model = fitted(SoftmaxRegression(), rows, y)
        except NumericalFailure:
            continue
        assert model.solution_.objective < len(y) * np.log(3)
        assert model.score(rows, y) > 0.6


@alone
def test_3_no_rows_or_no_columns_are_refused():
    X, y = problem()
    model = SoftmaxRegression().fit(X, y)
    for form in FORMS:
        refuses(model.fit, form(X[:0]), y[:0], says=("0 sample(s)",))
        refuses(model.fit, form(X[:, :0]), y, says=("0 feature(s)",))
        refuses(model.predict, form(X[:0]), says=("0 sample(s)",))
        refuses(model.predict, form(X[:, :0]), says=("0 feature(s)",))
    masked = np.ma.masked_greater(X, 2)
    for rows in (X[0], 3.0, X[None], None, "text", {}, [[1, 2], [3]], [["a"] * 5] * 120, masked):
        refuses(model.fit, rows, y, says=(), error=ArgmaxError)
        refuses(model.predict, rows, says=(), error=ArgmaxError)


@alone
def test_3_all_zero_rows_get_the_answer_of_the_intercept():
    X, y = problem()
    X[::4] = 0.0
    prior = [np.bincount(y) / len(y)]
    for _ in routes():
        for form in FORMS:
            model = SoftmaxRegression().fit(form(X), y)
            p = model.predict_proba(form(np.zeros((2, 5))))
            np.testing.assert_allclose(p, np.tile(softmax(model.intercept_), (2, 1)), rtol=1e-12)
            nothing = SoftmaxRegression().fit(form(0 * X), y)
            np.testing.assert_allclose(nothing.predict_proba(form(X[:1])), prior, rtol=1e-9)


@alone
def test_10_the_same_numbers_in_other_memory_give_the_same_answer():
    X, y = problem()
    X = np.round(X * 16) / 16  # exact in float16
    with tempfile.TemporaryDirectory() as folder:
        for _ in routes():
            reference = SoftmaxRegression(solver="newton").fit(X, y)
            expected = reference.predict_proba(X)
            for name, rows in in_other_memory(X, folder):
                before, tolerance = memory_of(rows), 1e-5 if name == "float32" else 1e-10
                p = reference.predict_proba(rows)
                np.testing.assert_allclose(p, expected, 0, tolerance, err_msg=name)
                p = SoftmaxRegression(solver="newton").fit(rows, y).predict_proba(X)
                np.testing.assert_allclose(p, expected, 0, tolerance, err_msg=name)
                assert memory_of(rows) == before, f"{name} was written to"


def in_other_memory(X, folder):
    """The same numbers, each time held in another way."""
    wide = np.zeros((2 * len(X), 3 * X.shape[1]))
    wide[::2, ::3] = X
    np.save(f"{folder}/rows.npy", X)
    csr = sp.csr_array(X)
    yield "fortran", np.asfortranarray(X)
    yield "strided", wide[::2, ::3]
    yield "reversed", X[::-1].copy()[::-1]
    yield "read-only file", np.load(f"{folder}/rows.npy", mmap_mode="r")
    yield "big-endian", X.astype(">f8")
    yield "longdouble", X.astype(np.longdouble)
    yield "object", X.astype(object)
    yield "list", X.tolist()
    yield "float16", X.astype(np.float16)
    yield "float32", X.astype(np.float32)
    yield "csr of longdouble", sp.csr_array(X.astype(np.longdouble))
    yield "csr of int64 indices", with_indices(csr.copy(), np.int64)
    yield "csr of big-endian indices", with_indices(csr.copy(), ">i4")
    yield from ((form, csr.asformat(form)) for form in ("csr", "csc", "coo", "bsr", "lil", "dok"))


def with_indices(matrix, dtype):
    matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    return matrix


def memory_of(rows):
    """The bytes that hold the rows."""
    if sp.issparse(rows):
        return rows.toarray().tobytes()
    return repr(rows) if isinstance(rows, list) else rows.tobytes() + str(rows.dtype).encode()


@alone
def test_10_true_and_false_are_one_and_zero_and_nothing_is_written_to():
    X, y = problem()
    weight = np.linspace(0, 2, len(y))
    for array in (X, y, weight):
        array.flags.writeable = False
    for _ in routes():
        plain = SoftmaxRegression(solver="newton").fit((X > 0).astype(float), y, weight)
        for form in FORMS:
            for dtype in (bool, np.int8, np.uint64):
                rows = form((X > 0).astype(dtype))
                model = SoftmaxRegression(solver="newton").fit(rows, y, weight)
                np.testing.assert_allclose(model.coef_, plain.coef_, 0, 1e-10)
                np.testing.assert_allclose(plain.predict_proba(rows), plain.predict_proba(X > 0))


def fitted(model, X, y):
    """A fit that may say that rounding hides its certificate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return model.fit(X, y)


def reference_fit(X, y, scale):
    """min Σ loss + ½ Σ w² for rows X · scale, by SciPy; its value and scores.

    In the variables u = w · scale · t with t = max(1, 1 / scale) nothing is large or small.
    """
    d, k = X.shape[1], y.max() + 1
    truth, t = np.eye(k)[y], np.maximum(1, 1 / scale)[:, None]

    def scores(flat):
        return (X / t.T) @ flat[: d * k].reshape(d, k) + flat[d * k :]

    def value_and_gradient(flat):
        U, S = flat[: d * k].reshape(d, k), scores(flat)
        price = 1 / (t * scale[:, None]) ** 2
        residual = softmax(S, axis=1) - truth
        value = 0.5 * (price * U**2).sum() - (log_softmax(S, axis=1) * truth).sum()
        gradient = (X / t.T).T @ residual + price * U
        return value, np.concatenate([gradient.ravel(), residual.sum(axis=0)])

    found = minimize(
        value_and_gradient,
        np.zeros(d * k + k),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000},
    )
    return found.fun, scores(found.x)


@pytest.mark.parametrize(
    "make", [LinearClassifier, MulticlassSVM, MulticlassPerceptron, MultiLabelClassifier, OneVsRest]
)
def test_10_types_that_would_cut_or_round_the_numbers_are_refused(make):
    X, y = problem()
    for dtype in (
        "int",
        "int8",
        "uint8",
        "bool",
        "float16",
        "longdouble",
        "object",
        "complex",
        "S3",
        5,
        "none",
    ):
        model = OneVsRest(LinearClassifier(dtype=dtype)) if make is OneVsRest else make(dtype=dtype)
        refuses(model.fit, X, y, says=("dtype must be", "'float32' or 'float64'", repr(dtype)))
        assert not hasattr(model, "classes_")
        if hasattr(model, "partial_fit"):
            refuses(model.partial_fit, X, y, says=("dtype must be", repr(dtype)))
    for dtype in ("float32", np.float64, np.dtype("float32"), "f4", float):
        model = OneVsRest(LinearClassifier(dtype=dtype)) if make is OneVsRest else make(dtype=dtype)
        assert model.fit(X, y).score(X, y) > 0.5


def test_10_stored_rows_are_not_cut_either(tmp_path):
    X, y = problem()
    for dtype in ("int8", "float16", "object"):
        with pytest.raises(ArgmaxError, match="dtype must be None, 'float32' or 'float64'"):
            Stored.write(tmp_path / dtype, [(X, y)], dtype=dtype)
    rows = Stored.write(tmp_path / "rows", [(X, y)])
    refuses(LinearClassifier(dtype="int8").fit, rows, says=("dtype must be",))


def drowned(make, given, y, sizes=(1.0, 1e3, 1e5, 1e8, 1e10, 1e20, 1e60, 1e100, 1e160)):
    """Fits on larger and larger numbers: each learns, or is an error that says what to do."""
    learned, refused = [], []
    for size in sizes:
        model = make()
        try:
            fitted(model, given(size), y)
        except ArgmaxError as error:
            refused.append((size, str(error)))
            assert not hasattr(model, "classes_")
        else:
            assert model.score(given(size), y) > 0.6, size
            learned.append(size)
    assert learned == sorted(sizes)[: len(learned)]
    assert {1.0, 1e3, 1e5} <= set(learned)
    assert {1e100, 1e160} <= {size for size, _ in refused}
    assert all("Scale" in message for _, message in refused)


@alone
def test_2_large_columns_of_other_models_are_learned_or_refused():
    X, y = problem()
    sets = (X @ np.random.default_rng(1).normal(size=(5, 4)) > 0).astype(int)
    chain = np.array([[i, i + 1] for i in range(5)])
    pieces = [slice(i, i + 6) for i in range(0, 120, 6)]

    def graphs(size):
        return [(X[piece] * size, chain) for piece in pieces]

    for pairs in ("tree", "all"):
        drowned(lambda pairs=pairs: MultiLabelClassifier(pairs), lambda size: X * size, sets)
    for loss in ("log", "pseudo"):
        drowned(lambda loss=loss: GraphLabeler(loss), graphs, [y[piece] for piece in pieces])
    edges = [(X[piece], chain, np.full((5, 1), 1e100)) for piece in pieces]
    refuses(GraphLabeler().fit, edges, [y[piece] for piece in pieces], says=("Scale",))

    def named(x, label):
        return {f"{i}|{label}": value for i, value in enumerate(x)}

    drowned(lambda: JointClassifier(named), lambda size: [list(row) for row in X * size], y)
