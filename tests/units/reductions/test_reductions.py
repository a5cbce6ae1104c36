"""The three reductions over bases of ours and of scikit-learn: answers, ties, weights, refusals."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from argmax import LinearClassifier, OneVsOne, OneVsRest, OutputCode
from argmax.errors import InvalidInput, NotConverged, Unsupported, WrongType
from argmax.reductions import ScalarCode

FACES = [OneVsRest, OneVsOne, OutputCode]
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(
    "base",
    [
        LinearSVC(),
        Ridge(),
        GaussianNB(),
        DecisionTreeClassifier(random_state=0),
        KNeighborsClassifier(),
    ],
    ids=lambda base: type(base).__name__,
)
def test_any_base_will_do(face, base):
    model = face(base).fit(X, NAMES)
    assert model.score(X, NAMES) > 0.8
    assert set(model.predict(X)) <= set(NAMES)
    assert hasattr(model, "predict_proba") == hasattr(base, "predict_proba")


@pytest.mark.parametrize("face", FACES)
def test_probabilities_are_probabilities(face):
    p = face(LogisticRegression(max_iter=1000)).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert p.min() >= 0.0
    assert (p.argmax(axis=1) == Y).mean() > 0.9


def test_the_answers_are_those_of_scikit_learn():
    base = LogisticRegression(C=0.5, max_iter=2000)
    ours, theirs = OneVsRest(base).fit(X, Y), OneVsRestClassifier(base).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    pairs, peer = OneVsOne(base).fit(X, Y), OneVsOneClassifier(base).fit(X, Y)
    assert np.array_equal(pairs.predict(X), peer.predict(X))
    assert OutputCode(base).fit(X, Y).score(X, Y) >= OutputCodeClassifier(base, random_state=0).fit(
        X, Y
    ).score(X, Y)


@pytest.mark.parametrize("code", ["one_vs_rest", "all_pairs"])
def test_the_classic_reductions_are_codes(code):
    as_code = OutputCode(code=code, decoding="hamming").fit(X, Y)
    classic = (OneVsRest() if code == "one_vs_rest" else OneVsOne()).fit(X, Y)
    assert (as_code.predict(X) == classic.predict(X)).mean() > 0.98


def test_probabilistic_decoding_of_a_logistic_base_is_that_of_its_loss():
    log, probability = (OutputCode(decoding=name).fit(X, Y) for name in ("log", "probability"))
    np.testing.assert_allclose(
        log.decision_function(X), probability.decision_function(X), rtol=1e-6
    )


@pytest.mark.parametrize("decoding", ["hamming", "log", "hinge", "exponential", "probability"])
@pytest.mark.parametrize("code", ["exhaustive", "random_sparse"])
def test_every_decoding_finds_the_classes(decoding, code):
    assert OutputCode(code=code, decoding=decoding).fit(X, Y).score(X, Y) > 0.85


def test_a_good_code_corrects_what_a_minimal_one_cannot():
    rows, labels = load_digits(return_X_y=True)
    rows = rows / 16
    minimal, bch = (
        OutputCode(code=code).fit(rows[::2], labels[::2]) for code in ("minimal", "bch")
    )
    assert minimal.distances_.correctable == 0
    assert bch.score(rows[1::2], labels[1::2]) > minimal.score(rows[1::2], labels[1::2]) + 0.05


def test_a_scalar_code_loses_the_class_in_the_middle():
    centres = [[0, 0], [4, 0], [2, 4]]
    rows, labels = make_blobs(300, centers=centres, cluster_std=0.4, random_state=0)
    assert OneVsRest().fit(rows, labels).score(rows, labels) > 0.99
    line = np.array([[0.0], [2.0], [1.0]])  # class 2 lies between 0 and 1
    assert (
        ScalarCode().fit(np.repeat(line, 5, axis=0), np.repeat([0, 1, 2], 5)).score(line, [0, 1, 2])
        < 0.5
    )


def test_three_ways_to_decide_among_pairs():
    model = OneVsOne(LinearSVC()).fit(X, Y)
    for fitted, margin in zip(model.estimators_, (0.1, -3.0, 2.5), strict=True):
        fitted.coef_, fitted.intercept_ = np.zeros((1, 4)), np.array([margin])
    # h_01 = 0.1, h_02 = −3, h_12 = 2.5: one win each.
    assert model.set_params(decision="scores").predict(X[:1]).tolist() == [1]  # −2.9, 2.4, 0.5
    assert model.set_params(decision="votes").predict(X[:1]).tolist() == [
        1
    ]  # the tie goes by scores
    assert model.set_params(decision="tournament").predict(X[:1]).tolist() == [
        2
    ]  # 0 beats 1, 2 beats 0
    assert model.decision_function(X[:1]).tolist() == [[2.0, 1.0, 3.0]]


def test_equal_scores_go_to_the_first_class():
    model = OneVsRest(LinearSVC()).fit(X, Y)
    for fitted in model.estimators_:
        fitted.coef_, fitted.intercept_ = np.zeros((1, 4)), np.zeros(1)
    assert model.predict(X[:2]).tolist() == [0, 0]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(
    "base", [None, LogisticRegression(tol=1e-10, max_iter=5000)], ids=["ours", "theirs"]
)
def test_weights_equal_repetition(face, base):
    rng = np.random.default_rng(0)
    times = rng.integers(0, 3, len(X))
    weighted = face(base).fit(X, Y, sample_weight=times)
    repeated = face(base).fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("face", FACES)
def test_two_classes_have_one_score(face):
    labels = np.where(Y == 0, "b", "a")
    model = face().fit(X, labels)
    scores = model.decision_function(X)
    assert scores.shape == (len(X),)
    assert np.array_equal(model.predict(X), np.where(scores > 0, "b", "a"))


def test_texts_pass_through_to_a_pipeline():
    texts = ["good film", "bad film", "so so", "good good", "bad bad", "so so film"]
    labels = ["up", "down", "even"] * 2
    base = make_pipeline(CountVectorizer(), LogisticRegression(C=100.0))
    assert OneVsRest(base).fit(texts, labels).predict(["very good"]).tolist() == ["up"]


def test_sparse_and_dense_rows_agree():
    rows = sp.csr_array(np.where(np.abs(X - X.mean(axis=0)) > 0.5, X, 0.0))
    for face in FACES:
        dense, sparse = face().fit(rows.toarray(), Y), face().fit(rows, Y)
        np.testing.assert_allclose(
            dense.decision_function(rows.toarray()), sparse.decision_function(rows), atol=1e-4
        )


def test_it_survives_a_pickle_and_a_clone():
    model = OneVsRest().fit(X, Y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert clone(OutputCode(code="bch", length=15)).get_params()["length"] == 15


def test_a_failed_fit_changes_nothing():
    model = OneVsRest().fit(X, Y)
    before = model.predict(X)
    with pytest.raises(InvalidInput, match="two classes"):
        model.fit(X[:5], Y[:5])
    assert np.array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (OneVsRest(LinearSVC), WrongType, "must be an estimator or None"),
        (
            OneVsRest(LinearSVC(), together=True),
            Unsupported,
            "LinearSVC is not a linear classifier",
        ),
        (OneVsRest(LinearClassifier(penalty="l1"), together=True), Unsupported, "penalty='l2'"),
        (OneVsRest(LinearClassifier(solver="lbfgs"), together=True), Unsupported, "solver='lbfgs'"),
        (OneVsRest(together="yes"), InvalidInput, "together must be one of"),
        (OneVsRest(LinearClassifier(C=-1)), InvalidInput, "C must be greater than 0"),
        (OneVsOne(decision="luck"), InvalidInput, "decision must be one of"),
        (OneVsOne(LinearSVC(), decision="probability"), Unsupported, "needs probabilities"),
        (OutputCode(decoding="viterbi"), InvalidInput, "decoding must be one of"),
        (OutputCode(LinearSVC(), decoding="probability"), Unsupported, "needs probabilities"),
        (OutputCode(code="gray"), InvalidInput, "code must be one of"),
    ],
)
def test_refusals(model, error, message):
    with pytest.raises(error, match=message):
        model.fit(X, Y)


def test_a_base_without_weights_refuses_them():
    with pytest.raises(Unsupported, match="KNeighborsClassifier takes none"):
        OneVsRest(KNeighborsClassifier()).fit(X, Y, sample_weight=np.ones(len(Y)))


def test_a_limit_is_reported():
    with pytest.warns(NotConverged, match="of 3 binary problems"):
        model = OneVsRest(LinearClassifier(max_iter=1, C=1000.0)).fit(X, Y)
    assert model.solution_.status == "max_iter"


def test_attributes_say_how_it_was_solved():
    together, apart = OneVsRest().fit(X, Y), OneVsRest(together=False).fit(X, Y)
    assert together.coef_.shape == (3, 4)
    assert len(apart.estimators_) == 3
    with pytest.raises(AttributeError, match="solved together"):
        together.estimators_  # noqa: B018
    with pytest.raises(AttributeError, match="one by one"):
        apart.coef_  # noqa: B018
