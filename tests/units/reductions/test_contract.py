"""scikit-learn's own checks of the three reductions, with an empty list of expected failures."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from argmax import OneVsOne, OneVsRest, OutputCode

ESTIMATORS = [
    OneVsRest(),
    OneVsOne(),
    OutputCode(),
    OneVsRest(LogisticRegression()),
]


@pytest.mark.filterwarnings("ignore::argmax.errors.NotConverged")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_contract(estimator, check):
    check(estimator)
