"""Nothing that is not finite leaves an answer: rows near the end of the numbers, and models from files."""

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from argmax import (
    GraphLabeler,
    JointClassifier,
    LinearClassifier,
    MulticlassSVM,
    MultiLabelClassifier,
    OneVsOne,
    OneVsRest,
    OutputCode,
    bayes,
    load,
)
from argmax.calibration import Calibrated, Readout
from argmax.errors import ArgmaxError, InvalidInput, NumericalFailure
from argmax.reductions import ScalarCode
from tests.faults.cases import problem, refuses
from tests.faults.harness import alone
from tests.fuzz import model_files

ANSWERS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "score_distribution",
    "predict_marginals", "span_confidence", "span_scores",
)  # fmt: skip
SIZES = (1e100, 1e154, 1e160, 1e200, 1e300, 1.7e308)


def numbers(answer):
    """All floats of an answer, however deep."""
    if isinstance(answer, list | tuple):
        for part in answer:
            yield from numbers(part)
    elif isinstance(answer, float) or getattr(answer, "dtype", np.dtype("O")).kind == "f":
        yield np.ravel(answer)


def ends(model, rows, asked=ANSWERS):
    """How each question ends: an error of ours, or finite numbers. Warnings are errors here."""
    found = []
    for name in asked:
        question = getattr(model, name, None)
        if question is None:
            continue
        try:
            answer = question(rows)
        except ArgmaxError:
            found.append("refused")
        else:
            assert all(np.isfinite(part).all() for part in numbers(answer)), (model, name)
            found.append("answered")
    return found


def classifiers():
    yield from (LinearClassifier(), LinearClassifier("ovr_log"), MulticlassSVM())
    for decision in ("votes", "scores", "tournament", "probability"):
        yield OneVsOne(decision=decision)
    for decoding in ("hamming", "log", "hinge", "exponential", "probability"):
        yield OutputCode(decoding=decoding)
    yield from (
        OneVsRest(),
        OneVsRest(LinearSVC()),
        OneVsOne(LinearSVC()),
        OneVsOne(together=False),
    )
    yield from (
        OneVsRest(LinearClassifier("hinge")),
        ScalarCode(),
        OutputCode(LogisticRegression()),
    )
    for structure in ("full", "kron", "diag", "low_rank"):
        yield bayes.BayesianClassifier(held_out=None, structure=structure)
    for predictive in ("probit", "mean_field", "map"):
        yield bayes.BayesianClassifier(held_out=None, predictive=predictive)
    for method in ("temperature", "matrix", "dirichlet", "isotonic", "top_label"):
        yield Calibrated(LinearClassifier(), method, cv=2)
        yield Calibrated(LinearSVC(), method, cv=2)


@alone
def test_rows_near_the_end_of_the_numbers_get_finite_answers_or_an_error():
    X, y = problem()
    found = set()
    for model in classifiers():
        model.fit(X, y)
        for size in SIZES:
            rows = X / np.abs(X).max() * size
            for form in (np.asarray, sp.csr_array):
                found.update(ends(model, form(rows)))
    binary = bayes.BayesianClassifier(held_out=None).fit(X, y > 0)
    sets = MultiLabelClassifier().fit(X, np.eye(3, dtype=int)[y])
    graphs = GraphLabeler().fit([(X, np.array([[0, 1], [1, 2]]))], [y])
    for size in SIZES:
        rows = X / np.abs(X).max() * size
        found.update(ends(binary, rows), ends(sets, rows))
        found.update(ends(graphs, [(rows, np.array([[0, 1], [1, 2]]))]))
    assert found == {"refused", "answered"}


@alone
def test_regression_answers_with_finite_numbers_or_an_error():
    X, _ = problem()
    t = X @ [1.0, 2.0, -1.0, 0.0, 0.5] + 0.1 * X[:, 0] ** 2
    priors = (
        {},
        {"prior_covariance": "ard"},
        {"prior_covariance": math.inf},
        {"fit_intercept": False},
    )
    for options in priors:
        model = bayes.GaussianRegression(**options).fit(X, t)
        usual = model.predict(X)
        for size in SIZES:
            ends(model, X / np.abs(X).max() * size, ("predict", "score_of"))
            assert np.isfinite(model.predict(X * 1e200)).all()  # the mean needs no square
            refuses(model.predictive, X * 1e200, says=("Scale",), error=NumericalFailure)
            refuses(model.score, X * 1e200, t, says=("Scale",), error=NumericalFailure)
        for rows, targets in ((1e50, 1.0), (1e-60, 1.0), (1.0, 1e60), (1.0, 1e-60), (1e60, 1e60)):
            model = bayes.GaussianRegression(**options).fit(X * rows, t * targets)
            answer = model.predict(X * rows) / targets
            np.testing.assert_allclose(answer, usual, rtol=1e-5, atol=1e-6 * np.abs(usual).max())
        for rows, targets in (
            (1e-155, 1.0),
            (1.0, 1e160),
            (1.0, 1e-160),
            (1e-60, 1e60),
            (1e90, 1.0),
        ):
            fresh = bayes.GaussianRegression(**options)
            refuses(fresh.fit, X * rows, t * targets, says=(), error=ArgmaxError)
            assert not hasattr(fresh, "coef_")


@alone
def test_models_from_files_with_huge_weights_answer_with_finite_numbers_or_an_error():
    rng, found = np.random.default_rng(0), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.argmax"
        for data, rows in model_files.seeds():
            for share, size in ((1.0, 1e308), (0.3, 1.7e308), (0.3, 1e155)):
                path.write_bytes(model_files.with_digest(enlarged(rng, data, share, size)))
                try:
                    model = load(path)
                except ArgmaxError:
                    found.append("not loaded")
                else:
                    found += ends(model, rows)
    assert {"not loaded", "refused", "answered"} == set(found)
    assert found.count("refused") + found.count("answered") > 100


def enlarged(rng, data, share, size):
    """A model file in which a share of the weights are ±size."""
    header, payload = model_files.header_of(data), bytearray(model_files.payload_of(data))
    for name, entry in header["tensors"].items():
        start, stop = entry["data_offsets"]
        if entry["dtype"] == "F64" and "factors" not in name:  # those of a text have bounds
            weights = np.frombuffer(bytes(payload[start:stop]))
            signs = rng.choice([-1.0, 1.0], len(weights))
            weights = np.where(rng.random(len(weights)) < share, size * signs, weights)
            payload[start:stop] = weights.tobytes()
    return model_files.with_header(data, header, bytes(payload))


def test_features_of_pairs_that_are_not_finite_are_refused_by_name():
    X, y = ["a", "b", "c"] * 5, [0, 1, 2] * 5

    def psi(value):
        return lambda x, label: {f"{x}{label}": 1.0, f"b{label}": value if x == "a" else 1.0}

    fitted = JointClassifier(psi(1.0)).fit(X, y)
    for value in (np.nan, np.inf, -np.inf):
        model = JointClassifier(psi(value))
        refuses(model.fit, X, y, says=("feature 'b0'", "finite", str(value)))
        assert not hasattr(model, "w_")
        fitted.joint_.psi = psi(value)
        refuses(fitted.predict_proba, ["a"], says=("feature 'b0'", str(value)))
    fitted.joint_.psi = psi(1e308)
    fitted.w_ = fitted.w_ * 1e9
    refuses(fitted.predict, ["a"], says=("overflow", "Scale"), error=NumericalFailure)


def test_a_readout_of_scores_that_overflow_is_an_error():
    scores = np.array([[1e308, -1e308, 0.0]])
    steep = Readout(np.array(2.0), np.zeros(3))
    for question in (steep, steep.probabilities, steep.log_probabilities):
        refuses(question, scores, says=("overflow",), error=NumericalFailure)
    plain = Readout(np.array(1.0), np.zeros(3))
    assert plain.probabilities(scores).tolist() == [[1.0, 0.0, 0.0]]
    refuses(plain.log_probabilities, 1.7 * scores, says=("overflow",), error=NumericalFailure)


def test_averages_over_scores_that_are_not_finite_are_refused():
    mean, spread = np.zeros((1, 3)), np.eye(3)[None]
    for method in ("probit", "mean_field", "sampling"):
        for bad in (np.nan, np.inf):
            with pytest.raises(InvalidInput, match="covariance must be finite"):
                bayes.average_softmax(mean, np.full((1, 3, 3), bad), method)
        p = bayes.average_softmax(mean, spread * 1e300, method)
        np.testing.assert_allclose(p, 1 / 3, atol=0.05)
    with pytest.raises(InvalidInput, match="positive semi-definite"):
        bayes.average_softmax(mean, -spread, "sampling")
