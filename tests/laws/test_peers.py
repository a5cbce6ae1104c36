"""scikit-learn as an oracle: never more than 1e-9 above the best of its solvers, on the same objective."""

import json
import lzma
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from scipy.special import logsumexp
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.utils.class_weight import compute_sample_weight

from argmax import LinearClassifier

OLD = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 8)


def objective(coef, intercept, X, y, C, ratio=0.0, weight=None):
    """C Σ s_i (log Σ exp scores − score of the truth) + ratio ‖w‖₁ + (1 − ratio) ½ ‖w‖², in plain NumPy."""
    classes, codes = np.unique(y, return_inverse=True)
    scores = X @ coef.T + intercept
    if len(classes) == 2:
        scores = np.hstack([np.zeros_like(scores), scores])
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(y)), codes]
    total = losses.sum() if weight is None else losses @ weight
    return C * total + ratio * np.abs(coef).sum() + (1 - ratio) * 0.5 * (coef**2).sum()


def peer(X, y, solver, C, ratio, weight, intercept, class_weight):
    options = {"l1_ratio": ratio, **({"penalty": "elasticnet"} if OLD and ratio else {})}
    model = LogisticRegression(
        C=C, solver=solver, tol=1e-12, max_iter=1000, fit_intercept=intercept,
        class_weight=class_weight, random_state=0, **options,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # its line searches overflow at times
        return model.fit(X, y, weight)


def compare(X, y, *, C=1.0, ratio=0.0, weight=None, intercept=True, class_weight=None, peers=None):
    """Our value and the lowest of the peers', on one function of ours."""
    if peers is None:
        few = X.shape[1] * len(np.unique(y)) <= 200
        peers = ("saga",) if ratio else ("newton-cholesky",) if few else ("lbfgs",)
    penalty = {"penalty": "elasticnet", "l1_ratio": ratio} if ratio else {}
    ours = LinearClassifier(
        C=C,
        tol=1e-8 if ratio else 1e-10,
        fit_intercept=intercept,
        class_weight=class_weight,
        **penalty,
    ).fit(X, y, weight)
    total = np.ones(len(y)) if weight is None else weight
    if class_weight is not None:
        total = total * compute_sample_weight(class_weight, y)

    def value(model):
        return objective(model.coef_, model.intercept_, X, y, C, ratio, total)

    found = [
        value(peer(X, y, solver, C, ratio, weight, intercept, class_weight)) for solver in peers
    ]
    assert ours.solution_.objective == pytest.approx(value(ours), rel=1e-10)
    return value(ours), min(found)


def holds(ours, best, slack=1e-6):
    assert ours <= best * (1 + 1e-9)
    assert ours >= best * (1 - slack), "the peer is far from the optimum: this proves nothing"


def synthetic(seed=0, **options):
    return make_classification(**{"n_samples": 300, "random_state": seed, **options})


def toy(load):
    X, y = load(return_X_y=True)
    return scale(X), y


def many_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 10))
    return X, np.r_[np.arange(150), (X @ rng.normal(size=(10, 150))).argmax(axis=1)[150:]]


def sparse(k, values=True, n=400, d=300):
    rng = np.random.default_rng(k)
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.04)
    y = (X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    return sp.csr_array(X if values else (X > 0).astype(float)), y


DENSE = {
    "iris": lambda: load_iris(return_X_y=True),
    "iris, two classes": lambda: tuple(a[50:] for a in load_iris(return_X_y=True)),
    "wine": lambda: toy(load_wine),
    "cancer": lambda: toy(load_breast_cancer),
    "digits": lambda: (load_digits().data[:200] / 16, load_digits().target[:200]),
    "two classes": lambda: synthetic(n_features=12, flip_y=0.1),
    "imbalanced": lambda: synthetic(weights=[0.95], flip_y=0.05),
    "five classes": lambda: synthetic(n_classes=5, n_informative=8, n_features=15),
    "more features than rows": lambda: synthetic(n_samples=60, n_features=100, n_informative=10),
    "redundant": lambda: synthetic(n_informative=3, n_redundant=15, n_features=18, n_classes=3),
    "far from zero": lambda: (synthetic()[0] + 30.0, synthetic()[1]),
}
SPARSE = {
    "sparse, two classes": lambda: sparse(2),
    "sparse, seven classes": lambda: sparse(7),
    "indicators": lambda: sparse(3, values=False),
}


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_dense(name, C):
    holds(*compare(*DENSE[name](), C=C))


@pytest.mark.parametrize("name", ["iris", "cancer", "five classes"])
def test_a_large_C(name):
    holds(*compare(*DENSE[name](), C=1e4))


def test_150_classes():
    holds(*compare(*many_classes(), C=0.5), slack=1e-5)


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("C", [0.1, 5.0])
def test_sparse(name, C):
    holds(*compare(*SPARSE[name](), C=C))


@pytest.mark.parametrize("name", ["iris", "cancer"])
def test_compiled(name, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    holds(*compare(*DENSE[name](), C=0.3))


@pytest.mark.parametrize("name", ["iris", "imbalanced", "sparse, seven classes"])
def test_weighted(name):
    X, y = {**DENSE, **SPARSE}[name]()
    weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    holds(*compare(X, y, weight=weight))


@pytest.mark.parametrize("name", ["imbalanced", "five classes", "sparse, two classes"])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 1: 0.5}])
def test_class_weight(name, class_weight):
    X, y = {**DENSE, **SPARSE}[name]()
    holds(*compare(X, y, class_weight=class_weight))


@pytest.mark.parametrize("name", ["iris", "two classes", "sparse, seven classes"])
def test_without_an_intercept(name):
    X, y = {**DENSE, **SPARSE}[name]()
    holds(*compare(X, y, intercept=False))


@pytest.mark.parametrize("name", ["iris", "wine", "cancer", "two classes", "sparse, two classes"])
@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_l1_and_elastic_net(name, ratio):
    X, y = {**DENSE, **SPARSE}[name]()
    X = X if sp.issparse(X) else scale(X)
    holds(*compare(X, y, C=0.1, ratio=ratio), slack=1e-3)


def test_l1_zeros_are_those_of_liblinear():
    """A coordinate method with exact zeros; it penalises an intercept, so there is none."""
    X, y = DENSE["cancer"]()
    options = {"penalty": "l1"} if OLD else {"l1_ratio": 1.0}
    theirs = LogisticRegression(
        C=0.1, solver="liblinear", tol=1e-10, max_iter=10_000, fit_intercept=False, **options
    ).fit(X, y)
    ours = LinearClassifier(C=0.1, penalty="l1", fit_intercept=False, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(ours.coef_ != 0, theirs.coef_ != 0)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("name", ["two classes", "cancer", "sparse, two classes"])
def test_two_classes_have_scikit_learns_shapes_and_signs(name):
    X, y = {**DENSE, **SPARSE}[name]()
    ours = LinearClassifier(tol=1e-12).fit(X, y)
    theirs = peer(X, y, "newton-cg", 1.0, 0.0, None, True, None)
    assert ours.coef_.shape == theirs.coef_.shape == (1, X.shape[1])
    assert ours.intercept_.shape == theirs.intercept_.shape == (1,)
    scores = ours.decision_function(X)
    assert scores.shape == (X.shape[0],)
    np.testing.assert_allclose(scores, theirs.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["iris", "five classes"])
def test_many_classes_have_scikit_learns_coefficients(name):
    X, y = DENSE[name]()
    ours = LinearClassifier(tol=1e-12).fit(X, y)
    theirs = peer(X, y, "newton-cholesky", 1.0, 0.0, None, True, None)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    shift = theirs.intercept_.mean()  # only differences matter; ours have mean zero
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_ - shift, atol=1e-5)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-5)


# Real data


@pytest.mark.parametrize(
    ("name", "rows"),
    [("letter", 400), ("satimage", 300), ("segment", 400), ("dna", 300), ("vowel", 400),
     ("vehicle", 400), ("glass", 214)],
)  # fmt: skip
def test_uci(shared, name, rows):
    data = np.load(shared("flat/uci_small.npz"))
    X, y = data[f"{name}_X"].astype(float), data[f"{name}_y"]
    chosen = np.random.default_rng(0).permutation(len(y))[:rows]
    X, y = X[chosen], y[chosen]
    X = scale(X[:, X.std(axis=0) > 0])
    holds(*compare(X, y, C=0.5))


def test_usps(shared):
    data = np.load(shared("flat/usps.npz"))
    X, y = data["X_train"][:200] / 1000.0, data["y_train"][:200]
    holds(*compare(X, y, C=0.05))


def test_electricity(shared):
    data = np.load(shared("shift/elec2.npz"))
    chosen = np.random.default_rng(0).permutation(len(data["y"]))[:1500]
    X = data["X"][chosen][:, [1, 2, 4, 5, 6, 7]].astype(float)
    holds(*compare(scale(X), data["y"][chosen]))


def test_questions_as_text(shared):
    with lzma.open(shared("flat/trec_qc.jsonl.xz"), "rt", encoding="utf-8") as lines:
        table = [json.loads(line) for line, _ in zip(lines, range(300), strict=False)]
    X = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform([text for *_, text in table])
    y = np.array([label.split(":")[0] for _, label, _ in table])
    holds(*compare(X, y))
