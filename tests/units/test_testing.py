"""The checks for other people's spaces, losses and taggers: right ones pass, wrong ones are named."""

import numpy as np
import pytest

from argmax import SequenceTagger
from argmax.errors import InvalidInput
from argmax.losses import Log
from argmax.records import Answer, Scores, Value
from argmax.spaces import Chain, Classes, Space
from argmax.testing import (
    BruteForce,
    check_loss,
    check_sequence_estimator,
    check_space,
    random_scores,
)


class Wrapped(Space):
    """Classes, asked through another object, so that one answer at a time can be spoilt."""

    def __init__(self, k):
        self.k, self.inner = k, Classes(k)
        self.curved = True

    def argmax(self, scores):
        return self.inner.argmax(scores)

    def logz(self, scores):
        return self.inner.logz(scores)

    def marginals(self, scores, weight=None, out=None):
        return self.inner.marginals(scores, weight, out)

    def score(self, scores, labels):
        return self.inner.score(scores, labels)

    def parts(self, scores, labels, weight, out):
        self.inner.parts(scores, labels, weight, out)

    def nll(self, scores, labels, weight, out):
        return self.inner.nll(scores, labels, weight, out)

    def sample(self, scores, n, rng):
        return self.inner.sample(scores, n, rng)

    def top_k(self, scores, k):
        return self.inner.top_k(scores, k)

    def curvature(self, marginals, weight, direction, out):
        self.inner.curvature(marginals, weight, direction, out)


class LastOfEquals(Wrapped):
    def argmax(self, scores):
        labels = self.k - 1 - scores.node[:, ::-1].argmax(axis=1)
        value = scores.node.max(axis=1)
        self.inner.argmax(scores)
        return Answer(labels, value, value)


class LowBound(Wrapped):
    def argmax(self, scores):
        found = self.inner.argmax(scores)
        return Answer(found.labels, found.value, found.value - 1.0)


class LogzOff(Wrapped):
    def logz(self, scores):
        return Value(self.inner.logz(scores).value + 0.1)


class IgnoresWeights(Wrapped):
    def marginals(self, scores, weight=None, out=None):
        return self.inner.marginals(scores, None, out)


class IgnoresOut(Wrapped):
    def marginals(self, scores, weight=None, out=None):
        return self.inner.marginals(scores, weight)


class ScoreOff(Wrapped):
    def score(self, scores, labels):
        return self.inner.score(scores, labels) + 1.0


class PartsAdded(Wrapped):
    def parts(self, scores, labels, weight, out):
        out.node[np.arange(len(labels)), labels] += 1.0 if weight is None else weight


class NllUnweighted(Wrapped):
    def nll(self, scores, labels, weight, out):
        return self.inner.nll(scores, labels, None, out)


class UniformSamples(Wrapped):
    def sample(self, scores, n, rng):
        return rng.integers(0, self.k, (n, len(scores.node)))


class TopKRepeats(Wrapped):
    def top_k(self, scores, k):
        labels, values = self.inner.top_k(scores, k)
        return np.where(labels >= 0, labels[0], labels), values


class CurvatureOff(Wrapped):
    def curvature(self, marginals, weight, direction, out):
        self.inner.curvature(marginals, 2 * weight, direction, out)


class AnswersNothing(Wrapped):
    def argmax(self, scores):
        labels, value = scores.node.argmax(axis=1), scores.node.max(axis=1)
        return Answer(labels, value, value)


def test_a_right_space_passes():
    check_space(Wrapped)
    check_space(BruteForce, (3, 2))
    check_space(lambda k: BruteForce(k, edges=[(0, 1), (0, 2)]), (3,), edges=[(0, 1), (0, 2)])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (LastOfEquals, "argmax: labels .of equals"),
        (LowBound, "bound is no upper bound"),
        (LogzOff, "logz"),
        (IgnoresWeights, "weighted marginals: node"),
        (IgnoresOut, "written into out"),
        (ScoreOff, "score"),
        (PartsAdded, "parts: node"),
        (NllUnweighted, "nll: value"),
        (UniformSamples, "sample: shares"),
        (TopKRepeats, "top_k"),
        (CurvatureOff, "curvature"),
        (AnswersNothing, "argmax: every score is −inf, yet it answers"),
    ],
)
def test_a_wrong_answer_is_named(make, words):
    with pytest.raises(AssertionError, match=words):
        check_space(make)


def test_a_chain_that_forgets_its_edges_is_named():
    class NoEdges(Wrapped):
        def __init__(self, k):
            self.k, self.inner, self.curved = k, Chain(k), False

        def argmax(self, scores):
            return self.inner.argmax(Scores(scores.node, None, scores.offsets))

    with pytest.raises(AssertionError, match=r"argmax: .*shared edge scores"):
        check_space(NoEdges, (3, 2))


class Spoilt(Log):
    """Not final to Python; here one answer of it is wrong."""

    def __init__(self, **change):
        self.change = change

    def evaluate(self, space, scores, truth, residual):
        values = super().evaluate(space, scores, truth, residual)
        residual.node[:] *= self.change.get("residual", 1.0)
        residual.node[:] += self.change.get("shift", 0.0)
        if self.change.get("sign"):
            residual.node[:] *= -1.0
            return -values
        if self.change.get("weights"):
            return values / truth.weight if truth.weight is not None else values
        return values

    def conjugate(self, space, scores, truth, scale):
        return super().conjugate(space, scores, truth, scale) + self.change.get("conjugate", 0.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"residual": 1.01}, "slope of the loss"),
        ({"shift": 0.1}, "sum over the labels"),
        ({"sign": True}, "below the tangent"),
        ({"weights": True}, "values with weights"),
        ({"conjugate": 0.1}, "conjugate of the residuals"),
        ({"conjugate": -0.1}, "conjugate"),
    ],
)
def test_a_wrong_loss_is_named(change, words):
    check_loss(Spoilt())
    with pytest.raises(AssertionError, match=words):
        check_loss(Spoilt(**change))


# BruteForce and random_scores themselves


def test_enumeration_on_paper():
    """Two nodes, two labels: four sums, written out."""
    scores = Scores(np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([[[0.0, -2.0], [5.0, 0.0]]]),
                    np.array([0, 2]))  # fmt: skip
    space = BruteForce(2)
    assert space.argmax(scores).labels.tolist() == [1, 0]
    assert space.argmax(scores).value.tolist() == [7.0]
    labels, values = space.top_k(scores, 5)
    assert values[:, 0].tolist() == [7.0, 5.0, 2.0, 1.0, -np.inf]
    assert labels.tolist() == [[1, 0], [1, 1], [0, 1], [0, 0], [-1, -1]]
    z = np.exp([1.0, 2.0, 7.0, 5.0]).sum()
    value, p = space.marginals(scores)
    assert value.value[0] == pytest.approx(np.log(z))
    assert p.node[0, 0] == pytest.approx((np.e + np.exp(2.0)) / z)
    assert p.edge[0, 1, 0] == pytest.approx(np.exp(7.0) / z)


def test_too_many_labellings_are_refused():
    scores = Scores(np.zeros((20, 4)), None, np.array([0, 20]))
    with pytest.raises(InvalidInput, match="too many labellings"):
        BruteForce(4).logz(scores)


@pytest.mark.parametrize("edge", [None, "shared", "each"])
def test_random_scores_always_leave_an_answer(edge):
    for seed in range(30):
        scores = random_scores(np.random.default_rng(seed), 3, (3, 1, 2), edge, forbidden=0.9)
        assert np.isneginf(scores.node).any()
        assert np.isfinite(BruteForce(3).argmax(scores).value).all()


def test_random_scores_repeat_and_refuse_an_unknown_kind_of_edge():
    one, two = (random_scores(np.random.default_rng(3), 4, (2, 2), "each") for _ in range(2))
    np.testing.assert_array_equal(one.node, two.node)
    np.testing.assert_array_equal(one.edge, two.edge)
    with pytest.raises(InvalidInput, match="edge must be one of"):
        random_scores(np.random.default_rng(3), 4, edge="potts")


# Taggers


class ForgetsEmpty(SequenceTagger):
    def predict(self, X, **options):
        return [labels for labels in super().predict(X, **options) if labels]


class ChangesItself(SequenceTagger):
    def fit(self, X, y, **options):
        self.C = 2.0 * self.C
        return super().fit(X, y, **options)


class IgnoresWeights(SequenceTagger):
    def fit(self, X, y, *, lengths=None, sample_weight=None):
        return super().fit(X, y, lengths=lengths)


class ForgetsAFitThatFails(SequenceTagger):
    def fit(self, X, y, **options):
        self.__dict__.pop("coef_", None)
        return super().fit(X, y, **options)


class PadsLabels(SequenceTagger):
    def fit(self, X, y, **options):
        padded = [[*b, *a[:0], *b[-1:] * (len(a) - len(b))] for a, b in zip(X, y, strict=False)]
        return super().fit(X, padded, **options)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (ForgetsEmpty, "must be one empty sequence"),
        (ChangesItself, "fit changes parameters"),
        (IgnoresWeights, "weights are repetitions"),
        (ForgetsAFitThatFails, "a failed fit"),
        (PadsLabels, "must raise, and answers"),
    ],
)
def test_a_tagger_without_manners_is_named(wrong, words):
    with pytest.raises(AssertionError, match=words):
        check_sequence_estimator(wrong())
