"""Numbers in rising order, against NumPy's."""

import numpy as np
import pytest

from argmax.kernels.sorting import ENDS, SHORT, sort


@pytest.mark.parametrize("n", [0, 1, 2, SHORT, SHORT + 1, 100, 4097])
@pytest.mark.parametrize("kind", ["drawn", "rising", "falling", "alike", "few", "waves"])
def test_numbers_rise(n, kind):
    rng = np.random.default_rng(n)
    numbers = {
        "drawn": rng.standard_normal(n),
        "rising": np.arange(n, dtype=float),
        "falling": -np.arange(n, dtype=float),
        "alike": np.ones(n),
        "few": rng.integers(0, 3, n).astype(float),
        "waves": np.arange(n, dtype=float) % 17,
    }[kind]
    numbers[: n // 10] = np.inf
    found = np.append(numbers, -5.0)  # what lies behind the first n stays where it is
    sort(found, n, np.empty(ENDS, np.int64))
    np.testing.assert_array_equal(found, np.append(np.sort(numbers), -5.0))


def test_numbers_that_are_none_do_not_lead_outside():
    numbers = np.array([2.0, np.nan, 1.0, np.nan] * 50 + [0.0])
    around = np.concatenate([[7.0] * 4, numbers, [7.0] * 4])
    sort(around[4:-4], len(numbers), np.empty(ENDS, np.int64))
    assert np.isnan(around).sum() == 100
    np.testing.assert_array_equal(np.r_[around[:4], around[-4:]], 7.0)
