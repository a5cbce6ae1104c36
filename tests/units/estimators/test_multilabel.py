"""MultiLabelClassifier: scikit-learn's contract, its objective, its decodings, and real data."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from argmax import MultiLabelClassifier
from argmax.errors import InvalidInput, NotConverged
from argmax.estimators.cooccurrence import best_expected_f1, likeliest_tree, mutual_information

X, Y = make_multilabel_classification(n_samples=60, n_features=6, n_classes=4, random_state=0)
SUBSETS = np.array(list(product((0, 1), repeat=4)))


@pytest.mark.filterwarnings("ignore::argmax.errors.NotConverged")
@parametrize_with_checks([MultiLabelClassifier()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def joint(model, rows):
    """log P(y | x) of all subsets (n, 2^k), from the public attributes alone."""
    pairs = SUBSETS[:, model.pairs_[:, 0]] * SUBSETS[:, model.pairs_[:, 1]]
    scores = (rows @ model.coef_.T + model.intercept_) @ SUBSETS.T + pairs @ model.pair_weights_
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


def test_answers_are_those_of_the_distribution_over_all_sets():
    model = MultiLabelClassifier(C=0.3).fit(X, Y)
    log_p = joint(model, X)
    assert len(model.pairs_) == 3
    np.testing.assert_allclose(model.predict_proba(X), np.exp(log_p) @ SUBSETS)
    np.testing.assert_array_equal(model.predict(X), SUBSETS[log_p.argmax(axis=1)])
    own = (SUBSETS[None] == Y[:, None]).all(axis=2).argmax(axis=1)
    np.testing.assert_allclose(model.log_likelihood(X, Y), log_p[np.arange(len(X)), own])
    odds = model.decision_function(X)
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), model.predict_proba(X))
    hamming = clone(model).set_params(decoding="hamming").fit(X, Y)
    np.testing.assert_array_equal(hamming.predict(X), (model.predict_proba(X) > 0.5).astype(int))
    assert model.score(X, Y) == (model.predict(X) == Y).all(axis=1).mean()


def test_the_weights_minimise_the_objective():
    """Against SciPy on the sum over all sets."""
    model = MultiLabelClassifier(C=0.5, tol=1e-10).fit(X, Y)
    own = (SUBSETS[None] == Y[:, None]).all(axis=2).argmax(axis=1)
    sizes = np.cumsum([model.coef_.size, 4])

    def value(w):
        coef, b, J = np.split(w, sizes)
        pairs = SUBSETS[:, model.pairs_[:, 0]] * SUBSETS[:, model.pairs_[:, 1]]
        scores = (X @ coef.reshape(4, -1).T + b) @ SUBSETS.T + pairs @ J
        logz = np.logaddexp.reduce(scores, axis=1)
        return 0.5 * (logz - scores[np.arange(len(X)), own]).sum() + 0.5 * w @ w

    best = minimize(value, np.zeros(sizes[-1] + 3), options={"gtol": 1e-7})
    assert model.solution_.objective == pytest.approx(best.fun, rel=1e-8)
    assert model.solution_.objective - best.fun <= model.solution_.gap + 1e-7


def test_without_pairs_it_is_a_logistic_regression_for_each_label():
    model = MultiLabelClassifier(pairs="none", fit_intercept=False, tol=1e-12).fit(X, Y)
    for j in range(4):
        peer = LogisticRegression(fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, Y[:, j])
        np.testing.assert_allclose(model.coef_[j], peer.coef_[0], atol=1e-5)


def test_pairs_may_be_given():
    model = MultiLabelClassifier(pairs=[(3, 0), (1, 2)]).fit(X, Y)
    np.testing.assert_array_equal(model.pairs_, [[0, 3], [1, 2]])
    assert model.pair_weights_.shape == (2,)
    with pytest.raises(InvalidInput, match="pairs must be one of"):
        MultiLabelClassifier(pairs="forest").fit(X, Y)


def test_all_pairs_are_learned_by_pseudo_likelihood():
    """Against SciPy; answers over all sets are those of the weights."""
    model = MultiLabelClassifier(pairs="all", C=0.5, tol=1e-10).fit(X, Y)
    assert len(model.pairs_) == 6
    log_p = joint(model, X)
    np.testing.assert_allclose(model.predict_proba(X), np.exp(log_p) @ SUBSETS)
    np.testing.assert_array_equal(model.predict(X), SUBSETS[log_p.argmax(axis=1)])
    sizes = np.cumsum([model.coef_.size, 4])

    def value(w):
        coef, b, pairs = np.split(w, sizes)
        J = np.zeros((4, 4))
        J[tuple(model.pairs_.T)] = pairs
        logits = X @ coef.reshape(4, -1).T + b + Y @ (J + J.T)
        return 0.5 * (np.logaddexp(0, logits) - Y * logits).sum() + 0.5 * w @ w

    best = minimize(value, np.zeros(sizes[-1] + 6), options={"gtol": 1e-7})
    assert model.solution_.objective == pytest.approx(best.fun, rel=1e-8)


def test_sparse_labels_and_rows_and_weights_change_nothing():
    plain = MultiLabelClassifier(C=0.5, tol=1e-8).fit(X, Y)
    other = MultiLabelClassifier(C=0.5, tol=1e-8).fit(sp.csr_array(X), sp.csr_array(Y))
    np.testing.assert_allclose(plain.coef_, other.coef_, atol=1e-4)
    twice = MultiLabelClassifier(C=0.5, tol=1e-8).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    heavy = MultiLabelClassifier(C=0.5, tol=1e-8).fit(X, Y, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_allclose(twice.coef_, heavy.coef_, atol=1e-4)


def test_a_warm_start_has_nothing_left_to_do():
    model = MultiLabelClassifier(warm_start=True, tol=1e-6).fit(X, Y)
    assert model.fit(X, Y).solution_.passes <= 2


def test_the_tree_is_that_of_the_largest_mutual_information():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (300, 4))
    labels[:, 2] = np.where(rng.random(300) < 0.9, labels[:, 0], labels[:, 2])
    labels[:, 3] = np.where(rng.random(300) < 0.8, labels[:, 2], labels[:, 3])
    weight = rng.uniform(0.5, 2.0, 300)
    information = mutual_information(labels, weight)
    counts = np.zeros((2, 2))
    np.add.at(counts, (labels[:, 0], labels[:, 2]), weight / weight.sum())
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    assert information[0, 2] == pytest.approx((counts * np.log(counts / expected)).sum())

    def spans(pairs):
        reached = {0}
        for _ in range(4):
            reached |= {v for pair in pairs for v in pair if set(pair) & reached}
        return len(reached) == 4

    every = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    trees = [chosen for chosen in product(every, repeat=3) if spans(chosen)]
    best = max(trees, key=lambda chosen: sum(information[pair] for pair in chosen))
    assert {tuple(edge) for edge in likeliest_tree(labels, weight)} == set(best)


def test_labels_that_never_vary_stay_alone():
    labels = np.array([[1, 0, 0], [1, 1, 1], [1, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(likeliest_tree(labels, np.ones(4)), [[1, 2]])
    model = MultiLabelClassifier().fit(X[:4], labels)
    assert (model.predict(X[:4])[:, 0] == 1).all()


def test_the_best_expected_f1_is_the_best_of_all_sets():
    rng = np.random.default_rng(1)
    draws = (rng.random((40, 6, 4)) < rng.random((6, 4))).astype(int)
    found = best_expected_f1(draws)
    for i in range(6):
        common = draws[:, i] @ SUBSETS.T
        sizes = draws[:, i].sum(axis=1)[:, None] + SUBSETS.sum(axis=1)
        means = np.where(sizes == 0, 1.0, 2 * common / np.maximum(sizes, 1)).mean(axis=0)
        own = (found[i] == SUBSETS).all(axis=1).argmax()
        assert means[own] == pytest.approx(means.max())


def test_the_f1_decoding_has_the_higher_f1():
    model = MultiLabelClassifier(C=0.1).fit(X, Y)
    plain = f1_score(Y, model.predict(X), average="samples", zero_division=1)
    better = f1_score(
        Y, model.set_params(decoding="f1").predict(X), average="samples", zero_division=1
    )
    assert better > plain


def test_draws_repeat_and_have_the_marginals():
    model = MultiLabelClassifier().fit(X, Y)
    draws = model.sample(X[:5], 3000)
    np.testing.assert_array_equal(draws, model.sample(X[:5], 3000))
    p = model.predict_proba(X[:5])
    assert (np.abs(draws.mean(axis=0) - p) < 5 * np.sqrt(p * (1 - p) / 3000) + 1e-3).all()


def test_it_searches():
    search = GridSearchCV(MultiLabelClassifier(), {"C": [0.01, 0.1]}, cv=3).fit(X, Y)
    assert search.best_estimator_.predict(X).shape == Y.shape


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (Y * 2, "zeros and ones"),
        (Y.astype(float) / 3, "zeros and ones"),
        (Y[:-1], "inconsistent|has 60 rows|59"),
        (None, "target y is None"),
        (np.zeros(len(Y)), "one class"),
    ],
)
def test_labels_that_are_none_are_refused(y, words):
    with pytest.raises(InvalidInput, match=words):
        MultiLabelClassifier().fit(X, y)


def test_answers_to_other_labels_are_refused():
    model = MultiLabelClassifier().fit(X, Y)
    with pytest.raises(InvalidInput, match="4 columns"):
        model.log_likelihood(X, Y[:, :3])
    with pytest.raises(InvalidInput, match="decoding"):
        model.set_params(decoding="best").predict(X)
    single = MultiLabelClassifier().fit(X, Y.sum(axis=1))
    with pytest.raises(InvalidInput, match="did not see"):
        single.log_likelihood(X, np.full(len(X), 99))


def test_a_fit_that_is_cut_short_says_so():
    with pytest.warns(NotConverged, match="max_iter"):
        MultiLabelClassifier(max_iter=1).fit(X, Y)


def load(path):
    data = np.load(path)
    shape = len(data["Y_indptr"]) - 1, int(data["n_labels"])
    ones = np.ones(len(data["Y_indices"]))
    labels = sp.csr_matrix((ones, data["Y_indices"], data["Y_indptr"]), shape=shape).toarray()
    return data["X"], labels.astype(int), int(data["n_train"])


def test_on_real_data_the_tree_beats_binary_relevance(shared):
    rows, labels, n = load(shared("multilabel/emotions.npz"))
    rows = StandardScaler().fit(rows[:n]).transform(rows)
    tree, apart = (
        MultiLabelClassifier(pairs=pairs, C=0.1).fit(rows[:n], labels[:n])
        for pairs in ("tree", "none")
    )
    held = rows[n:], labels[n:]
    assert tree.score(*held) > apart.score(*held)
    assert tree.log_likelihood(*held).mean() > apart.log_likelihood(*held).mean()


def test_labels_have_the_names_that_they_are_given():
    names = ["d", "c", "b", "a"]
    model = MultiLabelClassifier(labels=names).fit(X, Y)
    assert model.classes_.tolist() == names
    np.testing.assert_array_equal(model.predict(X), MultiLabelClassifier().fit(X, Y).predict(X))
    frame = pytest.importorskip("pandas").DataFrame(Y, columns=names)
    assert MultiLabelClassifier().fit(X, frame).classes_.tolist() == names
    for wrong, says in (
        (["a"], "each of the 4 columns"),
        (["a", "a", "b", "c"], "different"),
        ([[1]], "name"),
    ):
        with pytest.raises(InvalidInput, match=says):
            MultiLabelClassifier(labels=wrong).fit(X, Y)
    with pytest.raises(InvalidInput, match="one label a row"):
        MultiLabelClassifier(labels=names).fit(X, Y[:, 0])


def test_the_likeliest_sets_in_order():
    model = MultiLabelClassifier().fit(X, Y)
    sets, p = model.predict_top_k(X, 20)
    assert sets.shape == (20, 60, 4)
    log_p = joint(model, X)
    np.testing.assert_allclose(p[:16], -np.sort(-np.exp(log_p), axis=1).T)
    assert (sets[16:] == -1).all()
    assert (p[16:] == 0).all()
    np.testing.assert_array_equal(sets[0], model.predict(X))


def test_a_warm_start_keeps_the_pairs_that_are_still_there():
    model = MultiLabelClassifier(warm_start=True).fit(X, Y)
    model.set_params(pairs=[tuple(pair) for pair in model.pairs_[::-1]]).fit(X, Y)
    assert model.solution_.passes <= 2
