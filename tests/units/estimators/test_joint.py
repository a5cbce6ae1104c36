"""The classifier over ψ(x, y): softmax regression as its special case, and labels never seen."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from argmax import JointClassifier, SoftmaxRegression
from argmax.errors import InvalidInput, NotConverged
from argmax.features import crossed

ROWS, Y = load_iris(return_X_y=True)
ROWS, Y = ROWS[::3], Y[::3]
INPUTS = [{f"x{j}": value for j, value in enumerate(row)} for row in ROWS]


def test_with_a_block_for_each_label_it_is_softmax_regression():
    joint = JointClassifier(C=0.5, tol=1e-10).fit(INPUTS, Y)
    plain = SoftmaxRegression(C=0.5, tol=1e-10, fit_intercept=False).fit(ROWS, Y)
    np.testing.assert_allclose(joint.predict_proba(INPUTS), plain.predict_proba(ROWS), atol=1e-5)


def test_the_certificate_holds():
    loose, tight = (JointClassifier(tol=tol).fit(INPUTS, Y) for tol in (1e-2, 1e-12))

    def value(model):
        logs = np.log(model.predict_proba(INPUTS)[np.arange(len(Y)), Y])
        return -logs.sum() + 0.5 * model.w_ @ model.w_

    assert 0.0 <= value(loose) - value(tight) + 1e-9 <= loose.gap_ + 1e-8


def test_weights_equal_repetition():
    times = np.random.default_rng(0).integers(1, 3, len(Y))
    weighted = JointClassifier(tol=1e-12).fit(INPUTS, Y, sample_weight=times)
    repeated = JointClassifier(tol=1e-12).fit(
        [x for x, t in zip(INPUTS, times, strict=True) for _ in range(t)], np.repeat(Y, times)
    )
    np.testing.assert_allclose(weighted.w_, repeated.w_, atol=1e-5)


COLOURS = {"crimson": ["red", "dark"], "pink": ["red", "light"], "navy": ["blue", "dark"]}
NEW = {"azure": ["blue", "light"]}


def test_a_label_never_seen_is_scored_through_its_features():
    traits = COLOURS | NEW
    psi = crossed(of_label=lambda y: traits[y])
    inputs = [["warm", "deep"], ["warm", "pale"], ["cold", "deep"]] * 5
    model = JointClassifier(psi, C=10.0).fit(inputs, ["crimson", "pink", "navy"] * 5)
    assert model.score(inputs, ["crimson", "pink", "navy"] * 5) == 1.0
    everything = list(traits)
    assert model.predict([["cold", "pale"]], labels=everything).tolist() == ["azure"]
    assert model.predict([["warm", "pale"]], labels=everything).tolist() == ["pink"]
    assert model.predict_proba([["cold", "pale"]], everything).sum() == pytest.approx(1.0)


def test_observed_names_are_fewer_than_all():
    observed, every = (
        JointClassifier(pairs=pairs).fit(["a", "b"], ["p", "q"]) for pairs in ("observed", "all")
    )
    assert observed.joint_.names_ == ["a×p", "b×q"]
    assert len(every.joint_.names_) == 4
    assert set(observed.weights()) == {"a×p", "b×q"}


def test_hashed_names_learn_as_well():
    model = JointClassifier(hash_bits=12).fit(INPUTS, Y)
    assert model.score(INPUTS, Y) > 0.9
    with pytest.raises(InvalidInput, match="no names"):
        model.weights()


def test_refusals():
    with pytest.raises(InvalidInput, match="two classes"):
        JointClassifier().fit(["a"], ["p"])
    with pytest.raises(InvalidInput, match="pairs must be one of"):
        JointClassifier(pairs="some").fit(["a", "b"], ["p", "q"])
    with pytest.raises(InvalidInput, match="labels is empty"):
        JointClassifier().fit(["a", "b"], ["p", "q"]).predict(["a"], labels=[])
    with pytest.warns(NotConverged, match="Raise max_iter"):
        JointClassifier(max_iter=1, tol=1e-9).fit(INPUTS, Y)
