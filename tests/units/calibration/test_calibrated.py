"""Calibrated and CalibratedTagger: the contract, out-of-fold scores, prefit, selection, what is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron, RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from argmax import CRFTagger, LinearClassifier, SequenceTagger, calibration, metrics, save, shift
from argmax.calibration import Calibrated, CalibratedTagger
from argmax.errors import InvalidInput, Unsupported


@parametrize_with_checks(
    [
        Calibrated(LinearClassifier(), method="temperature"),
        Calibrated(LinearClassifier(), method="temperature", ensemble=False),
    ]
)
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[::3] / 16, y[::3], X[1::3] / 16, y[1::3]


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVC(dual=False),
        Perceptron(random_state=0),
        GaussianNB(),
        RidgeClassifier(),
        RandomForestClassifier(20, random_state=0),
        OneVsOneClassifier(LinearSVC(dual=False)),
    ],
)
def test_any_classifier_gets_probabilities_better_than_the_frequencies(digits, estimator):
    X, y, X_test, y_test = digits
    model = Calibrated(estimator, cv=3).fit(X, y)
    p = model.predict_proba(X_test)
    assert p.sum(axis=1) == pytest.approx(np.ones(len(p)))
    assert metrics.log_loss(y_test, p, model.classes_) < 1.0
    assert model.selection_.name == min(
        model.selection_.log_loss, key=model.selection_.log_loss.get
    )


def test_a_frozen_model_and_a_prefit_one_are_the_same(digits):
    X, y, X_test, y_test = digits
    fitted = LinearSVC(dual=False).fit(X, y)
    one = Calibrated(fitted, "temperature", cv="prefit").fit(X_test, y_test)
    other = Calibrated(FrozenEstimator(fitted), "temperature").fit(X_test, y_test)
    assert one.calibrator_.temperature_ == pytest.approx(other.calibrator_.temperature_, rel=1e-9)


def test_a_temperature_leaves_the_answers_alone(digits):
    X, y, X_test, _ = digits
    model = Calibrated(LinearSVC(dual=False), "temperature", cv=3, ensemble=False).fit(X, y)
    assert np.array_equal(model.predict(X_test), model.estimator_.predict(X_test))


def test_a_class_of_one_row_is_learned_and_never_left_out():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    names[0] = "rare"
    model = Calibrated(LinearClassifier(), "bias_corrected").fit(X, names)
    assert model.predict_proba(X).shape == (150, 4)


def test_names_and_weights_pass_through(digits):
    pd = pytest.importorskip("pandas")
    X, y, *_ = digits
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(64)])
    model = Calibrated(RidgeClassifier(), "vector", cv=2).fit(frame, y, np.ones(len(y)))
    assert model.n_features_in_ == 64
    assert model.feature_names_in_[3] == "pixel 3"


@pytest.mark.parametrize(
    ("options", "weight", "error", "says"),
    [
        ({"method": "none"}, None, InvalidInput, "method must be one of"),
        ({"cv": "twice"}, None, InvalidInput, "cv must be one of"),
        ({"cv": 1}, None, InvalidInput, "two folds"),
        ({"ensemble": "often"}, None, InvalidInput, "ensemble must be one of"),
    ],
)
def test_what_makes_no_sense_is_refused(digits, options, weight, error, says):
    X, y, *_ = digits
    with pytest.raises(error, match=says):
        Calibrated(**{"estimator": RidgeClassifier()} | options).fit(X, y, weight)


@pytest.mark.parametrize("given", [4, 100])
def test_more_folds_than_a_class_has_rows_are_refused(given):
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 20 + ["b"] * 3 + ["c"])  # a single row is never left out
    X = rng.normal(size=(len(y), 2))
    with pytest.raises(InvalidInput, match=rf"cv={given}: class 'b' has 3 rows.*Use cv=3 or less"):
        Calibrated(RidgeClassifier(), "temperature", cv=given).fit(X, y)
    for folds in (3, None):
        model = Calibrated(RidgeClassifier(), "temperature", cv=folds).fit(X, y)
        assert len(model.estimators_) == 3


def test_more_folds_than_sequences_are_refused():
    X, y = [["the", "cat"], ["a", "dog"], ["the", "dog"]], [["O", "B-A"]] * 3
    with pytest.raises(InvalidInput, match="got cv=4 and 3 sequences"):
        CalibratedTagger(SequenceTagger(), "temperature", cv=4).fit(X, y)
    with pytest.raises(InvalidInput, match="got cv=1 and 1 sequences"):
        CalibratedTagger(SequenceTagger(), "temperature").fit(X[:1], y[:1])
    assert CalibratedTagger(SequenceTagger(), "temperature").fit(X, y).predict(X) == y


def test_a_classifier_without_scores_is_refused(digits):
    X, y, *_ = digits

    class Bare(RidgeClassifier):
        decision_function = None

    with pytest.raises(Unsupported, match="nothing to calibrate"):
        Calibrated(Bare(), cv=2).fit(X, y)


def test_clones_forget(digits):
    X, y, *_ = digits
    model = Calibrated(RidgeClassifier(), "temperature", cv=2).fit(X, y)
    assert not hasattr(clone(model), "calibrator_")


@pytest.mark.parametrize("n", [300, 3000])
def test_selection_finds_what_the_scores_lack(n):
    rng = np.random.default_rng(0)
    S = rng.normal(size=(n, 4))
    tilted = 2 * S + np.array([2.0, 0.0, -1.0, 0.0])
    p = np.exp(tilted) / np.exp(tilted).sum(axis=1, keepdims=True)
    truth = (rng.random((n, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    found = calibration.choose(S, truth)
    assert found.name != "temperature"
    assert found.log_loss[found.name] < found.log_loss["temperature"] - 0.05


# Taggers


def sentences(n=120, seed=0):
    """Words whose label is uncertain: B-X in seven of ten places."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = [f"w{i}" for i in rng.integers(0, 6, 6)]
        X.append(words)
        y.append(["B-X" if w in ("w0", "w1") and rng.random() < 0.7 else "O" for w in words])
    return X, y


@pytest.mark.parametrize(
    "tagger", [CRFTagger(C=100.0), SequenceTagger(loss="perceptron", solver="perceptron")]
)
def test_tokens_and_spans_become_honest(tagger):
    X, y = sentences()
    X_new, y_new = sentences(400, seed=1)
    model = CalibratedTagger(tagger, "temperature", cv=3).fit(X, y)
    assert model.predict(X_new[:3]) == model.estimator_.predict(X_new[:3])
    truth = np.array([label for labels in y_new for label in labels])
    p = np.concatenate(model.predict_marginals(X_new))
    raw = np.exp(np.concatenate(model.estimator_.decision_function(X_new)))
    losses = [metrics.log_loss(truth, table, model.classes_) for table in (p, raw)]
    assert losses[0] <= losses[1] + 0.01
    spans = [(s, labels) for s, labels in zip(model.span_confidence(X_new), y_new, strict=True)]
    sure = [span[3] for found, _ in spans for span in found]
    right = [labels[span[0]] == "B-X" for found, labels in spans for span in found]
    assert np.mean(sure) == pytest.approx(np.mean(right), abs=0.1)


def test_a_prefit_tagger_is_calibrated_on_other_sequences():
    X, y = sentences()
    fitted = CRFTagger().fit(X[:60], y[:60])
    model = CalibratedTagger(fitted, cv="prefit").fit(X[60:], y[60:])
    assert model.estimator_ is fitted
    assert model.score(X, y) == fitted.score(X, y)


def test_an_ensemble_answers_with_the_mean_over_its_folds():
    X, y = load_digits(return_X_y=True)
    model = Calibrated(RidgeClassifier(), "temperature", cv=3).fit(X[::4], y[::4])
    assert len(model.estimators_) == 3
    calibrated = [
        model.calibrator_.predict_proba(one.decision_function(X[1:9])) for one in model.estimators_
    ]
    p = model.predict_proba(X[1:9])
    assert p == pytest.approx(np.mean(calibrated, axis=0))
    assert (model.predict(X[1:9]) == model.classes_[p.argmax(axis=1)]).all()
    assert model.n_features_in_ == 64
    with pytest.raises(AttributeError, match="ensemble=False"):
        model.coef_  # noqa: B018
    with pytest.raises(InvalidInput, match="ensemble=False"):
        Calibrated(model.estimators_[0], cv="prefit", ensemble=True).fit(X, y)


def test_one_model_of_all_rows_answers_alone(digits):
    X, y, X_test, _ = digits
    model = Calibrated(RidgeClassifier(), "temperature", cv=3, ensemble=False).fit(X, y)
    whole = RidgeClassifier().fit(X, y)
    assert np.array_equal(model.estimator_.coef_, whole.coef_)
    given = model.calibrator_.predict_proba(whole.decision_function(X_test))
    assert np.array_equal(model.predict_proba(X_test), given)


def test_an_ensemble_is_adapted_as_a_whole(digits, tmp_path):
    X, y, X_test, y_test = digits
    model = Calibrated(LinearClassifier(), "temperature", cv=2).fit(X, y)
    p = model.predict_proba(X_test)
    found = shift.label(np.log(p[::2]), y_test[::2], np.log(p[1::2]), resamples=2)
    adapted = shift.adapt(model, found)
    assert adapted.estimator_ is model
    assert np.array_equal(
        adapted.predict_proba(X_test), adapted.calibrator_.predict_proba(np.log(p))
    )
    with pytest.raises(Unsupported, match="ensemble=False"):
        save(adapted, tmp_path / "model.argmax")


def test_a_tagger_is_calibrated_on_the_labels_that_it_knows():
    X, y = sentences()
    fitted = CRFTagger().fit(X[:60], y[:60])
    strange = [["B-Z", *labels[1:]] for labels in y[60:]]
    model = CalibratedTagger(fitted, "temperature", cv="prefit").fit(X[60:], strange)
    assert model.predict_marginals(X[:2])[0].shape == (6, 2)
    plain = [["T" if label == "O" else "N" for label in labels] for labels in y]
    named = CalibratedTagger(SequenceTagger(loss="hinge", tol=0.1), "temperature", cv=2).fit(
        X, plain
    )
    assert named.spans_ is None
    assert named.explain(X[:1])[0][0].label == named.predict(X[:1])[0][0]
