"""Calibration by scaling: optima, invariances, what is never worse, both paths, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax

from argmax import calibration
from argmax.calibration import temperature
from argmax.calibration.passes import Rows
from argmax.errors import InvalidInput

SCALINGS = [
    calibration.Temperature,
    calibration.BiasCorrected,
    calibration.Vector,
    calibration.Matrix,
    calibration.Dirichlet,
]


def scored(n=400, k=4, seed=0, sharp=2.5):
    """Scores that are too sure and shifted, and truths."""
    rng = np.random.default_rng(seed)
    honest = rng.normal(size=(n, k)) * 1.5
    truth = (rng.random((n, 1)) < softmax(honest, axis=1).cumsum(axis=1)).argmax(axis=1)
    return sharp * honest + rng.normal(size=k), truth


def loss(p, truth):
    return -np.log(p[np.arange(len(truth)), truth]).mean()


@pytest.mark.parametrize("factor", [1e-14, 1.0, 1e6])
def test_a_temperature_is_solved_to_rounding(route, factor):
    scores, truth = scored()
    found = calibration.Temperature().fit(factor * scores, truth)
    rows = Rows.of(scores, truth)
    slope = factor / found.temperature_
    assert abs(rows.tempered(slope)[1]) / len(truth) < 1e-8
    peer = minimize_scalar(
        lambda t: -log_softmax(scores * np.exp(t), axis=1)[np.arange(len(truth)), truth].mean(),
        bounds=(-5, 5),
        options={"xatol": 1e-12},
    )
    assert slope == pytest.approx(np.exp(peer.x), rel=1e-5)


@pytest.mark.parametrize("kind", SCALINGS)
@pytest.mark.parametrize("seed", range(5))
def test_never_worse_than_the_identity_on_its_own_rows(kind, seed):
    scores, truth = scored(n=60, seed=seed, sharp=[0.1, 0.5, 1.0, 1.5, 8.0][seed])
    p = kind().fit(scores, truth).predict_proba(scores)
    assert loss(p, truth) <= loss(softmax(scores, axis=1), truth) + 1e-12


def test_many_rows_begin_on_some_of_them_and_end_at_the_same_optimum(monkeypatch):
    scores, truth = scored(n=3000)
    whole = calibration.Temperature().fit(scores, truth).temperature_
    monkeypatch.setattr(temperature, "MANY", 1)
    assert calibration.Temperature().fit(scores, truth).temperature_ == pytest.approx(whole, 1e-9)


def test_scores_that_are_always_right_get_a_finite_temperature():
    truth = np.arange(30) % 3
    found = calibration.Temperature().fit(np.eye(3)[truth], truth)
    assert 0.0 < found.temperature_ < 1.0
    assert np.isfinite(np.log(found.predict_proba(np.eye(3)))).all()


@pytest.mark.parametrize("n", [1, 4, 30, 1000])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_rows_that_are_always_right_and_one_blind_row_more(n, k):
    """The truth of n rows in n + 1 is the answer, and a blind label is the answer one time in k."""
    truth = np.arange(n) % k
    scores = 0.3 * np.eye(k)[truth]
    p = calibration.Temperature().fit(scores, truth).predict_proba(scores)
    assert p[np.arange(n), truth] == pytest.approx(np.full(n, (n + 1 / k) / (n + 1)), rel=1e-7)


def test_some_rows_that_say_the_opposite_do_not_decide(monkeypatch):
    scores, truth = scored(n=320)
    some = slice(None, None, 16)
    scores[some] = -np.eye(4)[truth[some]]
    whole = calibration.Temperature().fit(scores, truth).temperature_
    monkeypatch.setattr(temperature, "MANY", 1)
    assert calibration.Temperature().fit(scores, truth).temperature_ == pytest.approx(whole, 1e-9)


def test_scores_that_say_the_opposite_get_no_say():
    truth = np.arange(30) % 3
    found = calibration.Temperature().fit(-np.eye(3)[truth], truth)
    assert found.temperature_ == np.inf
    assert found.predict_proba(np.eye(3)) == pytest.approx(np.full((3, 3), 1 / 3))


@pytest.mark.parametrize(
    "kind", [calibration.BiasCorrected, calibration.Vector, calibration.Matrix]
)
def test_the_optimum_is_that_of_a_general_minimiser(route, kind):
    scores, truth = scored(n=300, k=3)
    given = kind(penalty=2.0)
    found = given.fit(scores, truth).readout_
    slope = 1.0 / calibration.Temperature().fit(scores, truth).temperature_
    if kind is calibration.Matrix:
        scores = scores - scores.mean(axis=1, keepdims=True)
        slope = 1.0 / calibration.Temperature().fit(scores, truth).temperature_
    k = 3
    shapes = {"BiasCorrected": 1 + k, "Vector": 2 * k, "Matrix": k * k + k}

    def parts(x):
        b = x[-k:]
        if kind is calibration.BiasCorrected:
            return (1 + x[0]) * np.eye(k), b, 0.0
        if kind is calibration.Vector:
            return np.diag(1 + x[:k]), b, x[:k] @ x[:k]
        M = x[: k * k].reshape(k, k)
        return np.eye(k) + M, b, (M**2 * np.where(np.eye(k) > 0, 1, k)).sum()

    def objective(x):
        A, b, deviation = parts(x)
        z = slope * scores @ A.T + b
        total = -log_softmax(z, axis=1)[np.arange(len(truth)), truth].sum()
        return total + 0.5 * 2.0 * (deviation + b @ b)

    peer = minimize(objective, np.zeros(shapes[kind.__name__]), method="BFGS")
    A, b, _ = parts(peer.x)
    expected = softmax(slope * scores @ A.T + b, axis=1)
    assert found.probabilities(scores) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("kind", SCALINGS)
def test_compiled_and_plain_agree(kind, monkeypatch):
    scores, truth = scored(n=200, k=9)
    weight = np.random.default_rng(1).random(200)
    answers = []
    for forced in ("always", "never"):
        monkeypatch.setenv("ARGMAX_COMPILED", forced)
        found = kind().fit(scores, truth, sample_weight=weight)
        answers.append(found.predict_proba(scores))
    assert answers[0] == pytest.approx(answers[1], abs=1e-5)


@pytest.mark.parametrize("kind", [*SCALINGS, calibration.Isotonic, calibration.TopLabel])
def test_weights_are_repetitions(kind):
    scores, truth = scored(n=80, k=3)
    times = np.random.default_rng(0).integers(0, 3, 80)
    one = kind().fit(scores, truth, sample_weight=times)
    other = kind().fit(np.repeat(scores, times, axis=0), np.repeat(truth, times))
    clipped = 1e-2 if kind in (calibration.Isotonic, calibration.TopLabel) else 1e-5
    assert one.predict_proba(scores) == pytest.approx(other.predict_proba(scores), abs=clipped)


@pytest.mark.parametrize("kind", [*SCALINGS, calibration.Isotonic, calibration.TopLabel])
def test_probabilities_in_are_log_scores_in(kind):
    scores, truth = scored(n=100, k=3)
    p = softmax(scores, axis=1)
    one = kind(on="probabilities").fit(p, truth).predict_proba(p)
    other = kind().fit(np.log(p), truth).predict_proba(np.log(p))
    assert one == pytest.approx(other, abs=1e-9)
    assert one.sum(axis=1) == pytest.approx(np.ones(100))


def test_two_classes_may_be_one_column():
    scores, truth = scored(n=100, k=2)
    lead = scores[:, 1] - scores[:, 0]
    one = calibration.Vector().fit(lead, truth)
    two = calibration.Vector().fit(np.column_stack([-lead / 2, lead / 2]), truth)
    assert np.array_equal(one.predict_proba(lead), two.predict_proba(np.outer(lead, [-0.5, 0.5])))


@pytest.mark.parametrize("kind", SCALINGS[:-1])
@pytest.mark.parametrize("k", [2, 4])
def test_a_linear_model_read_out_is_a_linear_model(kind, k):
    rng = np.random.default_rng(0)
    X, W, c = rng.normal(size=(50, 5)), rng.normal(size=(k, 5)), rng.normal(size=k)
    if k == 2:
        W, c = np.outer([-0.5, 0.5], W[0]), np.array([-0.5, 0.5]) * c[0]
    scores = X @ W.T + c
    truth = scores.argmax(axis=1)
    truth[:5] = (truth[:5] + 1) % k
    readout = kind().fit(scores, truth).readout_
    given = (2 * W[1:], 2 * c[1:]) if k == 2 else (W, c)
    coef, intercept = readout.folded(*given)
    z = X @ coef.T + intercept
    z = np.hstack([-z / 2, z / 2]) if k == 2 else z
    assert softmax(z, axis=1) == pytest.approx(readout.probabilities(scores), abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "truth", "options", "says"),
    [
        ([[1.0, 2.0]], [5], {}, "truth must hold labels of the classes; row 0 has 5"),
        ([[1.0, np.nan]], [0], {}, "scores must be finite; row 0"),
        ([[1.0]], [0], {}, r"shape \(n, k\)"),
        ([[1.0, 2.0]], [0, 1], {}, "inconsistent"),
        ([[1.0, 2.0]], ["a"], {"classes": ["a"]}, "classes must name the 2 columns"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(scores, truth, options, says):
    with pytest.raises(InvalidInput, match=says):
        calibration.Temperature().fit(scores, truth, **options)
