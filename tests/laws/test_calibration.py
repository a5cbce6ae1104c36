"""Real data: calibration not worse than the peer's best, and costs that fall when decisions know them."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import LinearSVC

from argmax import LinearClassifier, calibration, decisions, metrics


@pytest.fixture(scope="module")
def letter(shared):
    """2,000 rows to learn from and 3,000 to judge by, of 26 classes."""
    given = np.load(shared("flat/uci_small.npz"))
    X, y = given["letter_X"].astype(float), given["letter_y"]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = np.random.default_rng(0).permutation(len(y))[:5000]
    X, y = X[order], y[order]
    return X[:2000], y[:2000], X[2000:], y[2000:]


def test_auto_is_not_above_the_peers_best(letter):
    X, y, X_test, y_test = letter
    ours = calibration.Calibrated(LinearSVC(dual=False, C=0.1), cv=3).fit(X, y)
    p = ours.predict_proba(X_test)
    for method in ("sigmoid", "temperature"):
        peer = CalibratedClassifierCV(LinearSVC(dual=False, C=0.1), method=method, cv=3).fit(X, y)
        apart = metrics.difference(
            metrics.log_loss, y_test, p, peer.predict_proba(X_test), classes=ours.classes_
        )
        assert apart.low <= 0.0, method


def test_decisions_that_know_that_one_error_is_dear_save_costs(letter):
    """A G that is taken for a C costs 20, and every other error 1."""
    X, y, X_test, y_test = letter
    model = LinearClassifier(C=1.0).fit(X, y)
    classes = model.classes_
    cost = 1.0 - np.eye(len(classes))
    cost[ord("G") - ord("A"), ord("C") - ord("A")] = 20.0
    p = model.predict_proba(X_test)
    bayes, plain = decisions.decide(p, cost, classes), decisions.decide(p, classes=classes)
    assert decisions.saving(y_test, bayes, plain, cost, classes).low > 0.0
