"""Weights of rows against the exact density ratio, and what weighted rows say of the target."""

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import SoftmaxRegression, shift
from argmax.errors import InvalidInput, Unsupported


@pytest.fixture(scope="module")
def normals():
    """x from N(0, 1), z from N(0.6, 1) in three dimensions, and the exact weights of x."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(1500, 3)), rng.normal(0.6, 1.0, size=(1500, 3))
    exact = np.exp((0.6 * x - 0.18).sum(axis=1))
    return x, z, exact / exact.mean()


@pytest.mark.parametrize(
    ("method", "least"),
    [("gaussian", 0.97), ("discriminator", 0.97), ("ulsif", 0.6), ("kliep", 0.75)],
)
def test_weights_are_the_density_ratio(normals, method, least):
    x, z, exact = normals
    found = shift.covariate(x, z, method=method)
    assert found.values.mean() == pytest.approx(1)
    assert np.corrcoef(found.values, exact)[0, 1] > least
    moved = np.average(x, axis=0, weights=found.values)
    assert np.abs(moved - z.mean(axis=0)).max() < 0.2


def test_identical_sets_have_even_weights():
    x = np.random.default_rng(1).normal(size=(1000, 3))
    for method in ("gaussian", "discriminator", "ulsif", "kliep"):
        assert shift.covariate(x[:500], x[500:], method=method).effective > 400


def test_effective_rows_and_power(normals):
    x, z, exact = normals
    found = shift.covariate(x, z)
    assert found.effective == pytest.approx(1500 / np.mean(exact**2), rel=0.2)
    assert shift.covariate(x, z, power=0.0).effective == pytest.approx(1500)
    assert shift.covariate(x, z, clip=2.0).clipped > 0
    assert found.overlap
    assert "possible" in str(found)


@pytest.mark.parametrize("clip", [1.0, 1.5, 4.0, 50.0])
def test_no_weight_is_above_its_limit_and_the_order_stays(normals, clip):
    """Also where a few rows have nearly all of the weight: scaling back must not undo the cut."""
    x, _, _ = normals
    far = np.full((200, 3), 3.0) + np.random.default_rng(9).normal(scale=0.1, size=(200, 3))
    found = shift.covariate(x, far, clip=clip)
    assert found.values.mean() == pytest.approx(1)
    assert found.values.max() <= clip * (1 + 1e-9)
    free = shift.covariate(x, far, clip=None).values
    below = found.values < clip * (1 - 1e-9)
    ratio = found.values[below] / free[below]
    assert ratio == pytest.approx(np.full(below.sum(), ratio.mean() if below.any() else 1.0))
    assert found.clipped == (~below).sum() or clip == 1.0


def test_no_overlap_is_said(normals):
    x, _, _ = normals
    found = shift.covariate(x, x + 6.0)
    assert not found.overlap
    assert "0% of the target" in str(found)
    assert "Label some of them" in str(found)


def test_the_risk_where_the_target_is(normals):
    """E_te[loss] = E_tr[w · loss]: the training side is weighted, as CORRECTIONS (a) says."""
    x, _, exact = normals
    loss, there = x[:, 0] ** 2, 1 + 0.6**2
    weighted = shift.weighted_risk(loss, exact)
    assert there in weighted
    assert there not in shift.weighted_risk(loss, np.ones(len(x)))


@pytest.mark.parametrize("wrong", ["weights", "expected"])
def test_doubly_robust_needs_one_of_two(normals, wrong):
    x, z, exact = normals
    loss = x[:, 0] + np.random.default_rng(2).normal(size=len(x))
    weights = np.ones(len(x)) if wrong == "weights" else exact
    m, there = (x[:, 0], z[:, 0]) if wrong == "weights" else (0 * x[:, 0], 0 * z[:, 0])
    assert shift.doubly_robust(loss, weights, m, there).value == pytest.approx(0.6, abs=0.2)


def test_what_is_expected_only_helps_by_how_it_differs_between_rows():
    """A constant in m cancels; m = 0 is plain weighting; m = loss is the mean over the target."""
    rng = np.random.default_rng(8)
    loss, w, m, there = rng.random(50), rng.random(50), rng.random(50), rng.random(20)
    one, other = (shift.doubly_robust(loss, w, m + c, there + c) for c in (0.0, 5.0))
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    plain, zero = shift.weighted_risk(loss, w), shift.doubly_robust(loss, w, 0 * m, 0 * there)
    assert (zero.value, zero.low, zero.high) == pytest.approx((plain.value, plain.low, plain.high))
    known = shift.doubly_robust(loss, w, loss, there)
    assert known.value == pytest.approx(there.mean())
    assert known.high - known.low == pytest.approx(2 * 1.959964 * there.std() / np.sqrt(20))


def test_weighted_training_helps_a_model_that_is_too_simple():
    """Labels by a curve, a linear classifier, and target rows on one side of it."""
    rng = np.random.default_rng(3)

    def rows(centre, n):
        x = rng.normal(centre, 1.0, size=(n, 2))
        return x, (x[:, 1] > 0.5 * x[:, 0] ** 2 - 1) * 1

    (X, y), (Z, z) = rows(0.0, 3000), rows((1.2, 0.0), 3000)
    found = shift.covariate(X, Z)
    plain = SoftmaxRegression().fit(X, y).score(Z, z)
    weighted = SoftmaxRegression().fit(X, y, sample_weight=found.values).score(Z, z)
    assert weighted > plain + 0.01


def test_sparse_rows_are_for_the_discriminator(normals):
    x, z, _ = normals
    a, b = sp.csr_matrix(x[:200] > 1), sp.csr_matrix(z[:200] > 1)
    assert shift.covariate(a * 1.0, b * 1.0).effective > 20
    with pytest.raises(Unsupported, match="dense rows"):
        shift.covariate(a, b, method="kliep")


def test_wrong_use_is_said(normals):
    x, z, _ = normals
    with pytest.raises(InvalidInput, match="same columns"):
        shift.covariate(x, z[:, :2])
    with pytest.raises(InvalidInput, match="losses must be"):
        shift.weighted_risk([], [])
