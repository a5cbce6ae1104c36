"""Label shift from scores: estimates, intervals, tests and adapters."""

import dataclasses

import numpy as np
import pytest

import argmax
from argmax import SoftmaxRegression, shift
from argmax.calibration import Calibrated, Readout
from argmax.errors import InvalidInput, ModelFileError, Unsupported
from argmax.persist.calibrated import calibration_parts, rebuilt_calibrated
from argmax.persist.checked import Room
from argmax.shift.gate import label_shift_test

MEANS = np.array([[0.0, 2.0], [2.0, 0.0], [-1.0, -1.0]])


def sample(rng, priors, n):
    y = rng.choice(3, size=n, p=priors)
    return MEANS[y] + rng.normal(size=(n, 2)), y


@pytest.fixture(scope="module")
def world():
    """A model, validation rows, and rows of which most are of one class."""
    rng = np.random.default_rng(0)
    X, y = sample(rng, [1 / 3] * 3, 600)
    model = SoftmaxRegression().fit(X, y)
    return model, sample(rng, [1 / 3] * 3, 800), sample(rng, [0.8, 0.15, 0.05], 600)


@pytest.fixture(scope="module")
def found(world):
    model, (X, y), (Z, _) = world
    return shift.label(model.decision_function(X), y, model.decision_function(Z), model.classes_)


@pytest.mark.parametrize("method", ["adjusted_counts", "black_box", "regularised"])
def test_every_method_finds_the_priors(world, method):
    model, (X, y), (Z, z) = world
    scores, new = model.decision_function(X), model.decision_function(Z)
    got = shift.label(scores, y, new, method=method, resamples=20)
    share = np.bincount(z, minlength=3) / len(z)
    assert np.abs(got.priors - share).sum() < 0.12
    assert (got.low <= got.priors).all()
    assert (got.priors <= got.high).all()


def test_maximum_likelihood_is_the_default_and_close(found, world):
    share = np.bincount(world[2][1], minlength=3) / 600
    assert found.method == "maximum_likelihood"
    assert np.abs(found.priors - share).sum() < 0.08
    assert found.advised
    assert 0 < found.singular <= 1
    assert "→" in str(found)


def test_scores_or_probabilities_are_the_same(world):
    model, (X, y), (Z, _) = world
    ways = {"scores": model.decision_function, "probabilities": model.predict_proba}
    one, other = (
        shift.label(of(X), y, of(Z), on=on, calibrate="bias_corrected", resamples=2).priors
        for on, of in ways.items()
    )
    assert one == pytest.approx(other, abs=1e-6)


def test_intervals_cover_the_priors():
    """Nineteen in twenty, within what twelve intervals can show."""
    rng = np.random.default_rng(5)
    hits = []
    for _ in range(12):
        y, new = rng.integers(2, size=150), (rng.random(150) < 0.8) * 1
        x, z = rng.normal(2.0 * y - 1), rng.normal(2.0 * new - 1)
        got = shift.label(2 * x, y, 2 * z, resamples=100, calibrate="bias_corrected")
        hits.append(0.8 in got.interval(1))
    assert np.mean(hits) >= 0.7


def test_the_gate_has_its_size_and_sees_what_priors_do_not_explain():
    rng = np.random.default_rng(6)
    wrong, seen = [], []
    for seed in range(40):
        X, y = sample(rng, [1 / 3] * 3, 300)
        Z, _ = sample(rng, rng.dirichlet(np.ones(3)), 100)
        p, q = (softmax(2 * x @ MEANS.T) for x in (X, Z))
        wrong.append(label_shift_test(p, y, q, resamples=39, seed=seed).rejected())
        seen.append(label_shift_test(p, y, softmax(0.6 * Z @ MEANS.T), 39, seed).rejected())
    assert np.mean(wrong) <= 0.1
    assert np.mean(seen) >= 0.9


def test_the_gate_needs_four_validation_rows():
    p, q = np.tile([[0.9, 0.1], [0.1, 0.9]], (2, 1)), np.full((20, 2), 0.5)
    few = label_shift_test(p[:3], np.array([0, 1, 0]), q)
    assert (few.size, few.p_value) == (0.0, 1.0)
    assert label_shift_test(p, np.array([0, 1, 0, 1]), q).size > 0.0


def softmax(scores):
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def test_adapting_is_advised_from_four_target_rows_a_class_on(found):
    assert dataclasses.replace(found, rows=(800, 12)).advised
    assert not dataclasses.replace(found, rows=(800, 11)).advised


# Adapters


def test_an_adapted_model_gains_and_only_intercepts_change(found, world):
    model, _, (Z, z) = world
    adapted = shift.adapt(model, found)
    assert adapted.score(Z, z) > model.score(Z, z)
    before = shift.undo(adapted)
    assert adapted.coef_ == pytest.approx(before.coef_)
    change = adapted.intercept_ - before.intercept_
    assert change == pytest.approx(np.log(found.ratios))
    assert before.predict_proba(Z) == pytest.approx(
        found.calibrated.probabilities(model.decision_function(Z))
    )


def test_an_adapted_model_is_saved_with_its_note_and_serves_single_rows(found, world, tmp_path):
    model, _, (Z, _) = world
    adapted = shift.adapt(model, found, "June")
    path = tmp_path / "adapted.argmax"
    argmax.save(adapted, path)
    again = argmax.load(path)
    assert again.calibrator_.note == "June"
    assert (again.predict_proba(Z) == adapted.predict_proba(Z)).all()
    assert again.predict_proba(Z[:1]) == pytest.approx(adapted.predict_proba(Z)[:1])
    assert shift.undo(again).predict_proba(Z) == pytest.approx(shift.undo(adapted).predict_proba(Z))
    plain = model.read_out(again.calibrator_.readout_)
    assert plain.predict_proba(Z) == pytest.approx(adapted.predict_proba(Z))


@pytest.mark.parametrize(
    "change",
    [
        {"priors": [0.5, 0.5]},
        {"priors": "all"},
        {"priors": [2.0, -0.5, -0.5]},
        {"note": 3},
        {"note": "x" * 20_000},
        {"source": None},
        {"base": "magic"},
    ],
)
def test_a_file_with_other_priors_is_refused(found, world, change):
    model = world[0]
    document, tensors = calibration_parts(shift.adapt(model, found))
    document["options"] |= change
    with pytest.raises(ModelFileError):
        rebuilt_calibrated(document, model, tensors, Room(10_000))


def test_class_weights_are_undone_by_stating_the_priors():
    """Trained on balanced rows, used where one in ten is positive: probabilities are right again."""
    rng = np.random.default_rng(7)
    y = (rng.random(20_000) < 0.1) * 1
    x = rng.normal(2.0 * y - 1)
    exact = np.stack([-2 * x / 2, 2 * x / 2], axis=1)  # log-odds 2x of balanced classes
    found = shift.NewPriors([0.9, 0.1], source=[0.5, 0.5], base="identity").fit(exact, y)
    p = found.predict_proba(exact)[:, 1]
    assert p.mean() == pytest.approx(0.1, abs=0.01)
    high = p > 0.5
    assert y[high].mean() == pytest.approx(p[high].mean(), abs=0.03)


def test_priors_of_rows_are_their_mean_prediction():
    scores = np.log([[0.8, 0.2], [0.4, 0.6]])
    found = shift.NewPriors([0.6, 0.4], base="identity").fit(scores, [0, 1])
    assert found.source_ == pytest.approx([0.6, 0.4])
    assert found.predict_proba(scores) == pytest.approx(np.exp(scores))


def test_wrong_use_is_said(found, world):
    model, (X, y), (Z, _) = world
    scores, new = model.decision_function(X), model.decision_function(Z)
    with pytest.raises(InvalidInput, match="3 columns of scores; got 2"):
        shift.label(scores, y, new[:, :2])
    with pytest.raises(InvalidInput, match="at least one row"):
        shift.label(scores, y, new[:0])
    with pytest.raises(InvalidInput, match="method must be one of"):
        shift.label(scores, y, new, method="magic")
    with pytest.raises(InvalidInput, match="must be a scaling"):
        shift.label(scores, y, new, calibrate="isotonic")
    with pytest.raises(InvalidInput, match="sum to 1"):
        shift.NewPriors([0.5, 0.1]).fit([[0.0, 1.0]], [1])
    with pytest.raises(InvalidInput, match="source is missing"):
        shift.NewPriors([0.5, 0.5]).adopt(Readout(np.array(1.0), np.zeros(2)))
    with pytest.raises(Unsupported, match="nothing to undo"):
        shift.undo(model)
    with pytest.raises(InvalidInput, match="scaling of scores"):
        shift.NewPriors([0.5, 0.5], base="isotonic").fit([[0.0, 1.0], [1.0, 0.0]], [1, 0])
    two = SoftmaxRegression().fit(X, y > 0)
    with pytest.raises(InvalidInput, match="other classes"):
        shift.adapt(two, found)


def test_a_calibrated_model_is_adapted_from_its_own_scores(found, world):
    model, (X, y), (Z, _) = world
    honest = Calibrated(model, "temperature", cv="prefit").fit(X, y)
    assert shift.adapt(honest, found).predict_proba(Z) == pytest.approx(
        shift.adapt(model, found).predict_proba(Z)
    )
