"""Means and scales: right, and the same bits however rows come."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from argmax.errors import InvalidInput
from argmax.features.numbers import Moments, Numbers, NumbersIn, block_rows


def moments_of(*parts, names=None):
    moments = Moments(names or [f"x{j}" for j in range(parts[0].shape[1])])
    for part in parts:
        moments.add(NumbersIn(part, len(part)))
    moments.close()
    return moments


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 5)) * [1, 1e-6, 1e6, 1, 1] + [0, 3, 1e9, 0, -7]
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 3] = 2.5
    return X


def test_moments_are_numpys(X):
    found = moments_of(X)
    np.testing.assert_allclose(found.mean, np.nanmean(X, axis=0), rtol=1e-14)
    np.testing.assert_allclose(found.variance, np.nanvar(X, axis=0), rtol=1e-9, atol=1e-20)
    np.testing.assert_array_equal(found.count, (~np.isnan(X)).sum(axis=0))


@pytest.mark.parametrize(
    "cuts", [[1], [4096], [4095, 4097], [10, 20, 30, 8999], range(100, 9000, 777)]
)
def test_bits_do_not_depend_on_batches(X, cuts):
    whole, parts = moments_of(X), moments_of(*np.split(X, list(cuts)))
    columns = Moments(whole.names)
    columns.add(NumbersIn(list(np.asfortranarray(X).T), len(X)))
    columns.close()
    for other in (parts, columns):
        np.testing.assert_array_equal(other.mean, whole.mean)
        np.testing.assert_array_equal(other.variance, whole.variance)


def test_standardising_is_scikit_learns(X):
    numbers = Numbers.of(moments_of(X), standardise=True)
    out, missing = numbers.transform(NumbersIn(X, len(X)), np.float64)
    theirs = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(out[:, :5], np.nan_to_num(theirs), atol=1e-7)
    np.testing.assert_array_equal(missing, np.isnan(X).sum(axis=0))
    assert [numbers.name(j, {"x0": "first"}) for j in (0, 5)] == ["first", "first=<missing>"]


def test_without_standardising_values_stay(X):
    numbers = Numbers.of(moments_of(X), standardise=False)
    out, _ = numbers.transform(NumbersIn(X, len(X)), np.float64)
    present = ~np.isnan(X)
    np.testing.assert_array_equal(out[:, :5][present], X[present])
    np.testing.assert_array_equal(out[0, :5][~present[0]], numbers.mean[~present[0]])


def test_constant_columns_keep_their_scale():
    X = np.full((5000, 3), [0.1, 1e8 + 0.1, 0.0])
    numbers = Numbers.of(moments_of(X), standardise=True)
    assert numbers.scale.tolist() == [1, 1, 1]
    out, _ = numbers.transform(NumbersIn(X, len(X)), np.float64)
    np.testing.assert_allclose(out, 0, atol=1e-6)


def test_infinity_is_named():
    X = np.zeros((6000, 2))
    X[5000, 1] = np.inf
    with pytest.raises(InvalidInput, match=r"'x1' contains infinity.* in row 5000"):
        moments_of(X)
    numbers = Numbers.of(moments_of(np.arange(8.0).reshape(4, 2)), standardise=True)
    with pytest.raises(InvalidInput, match=r"'x1' contains infinity.* in row 5000"):
        numbers.transform(NumbersIn(X, len(X)), np.float64)


def test_squares_that_overflow_are_refused():
    with pytest.raises(InvalidInput, match=r"'x0' has values up to 1e\+200"):
        moments_of(np.array([[1e200], [-1e200]]))


def test_too_large_for_float32():
    numbers = Numbers.of(moments_of(np.array([[1e39], [2e39]])), standardise=False)
    with pytest.raises(InvalidInput, match="'x0' contains infinity, or a value too large"):
        numbers.transform(NumbersIn(np.array([[1e39]]), 1), np.float32)


def test_a_column_without_any_value():
    numbers = Numbers.of(moments_of(np.full((3, 1), np.nan)), standardise=True)
    out, missing = numbers.transform(NumbersIn(np.array([[np.nan], [2.0]]), 2), np.float64)
    assert out.tolist() == [[0, 1], [2, 0]]
    assert missing.tolist() == [1]


def test_blocks_stay_small():
    assert block_rows(1) == 4096
    assert 8 * block_rows(10**5) * 10**5 <= 2**23
    assert block_rows(10**7) == 1
