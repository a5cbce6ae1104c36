"""Whose turn it is: everybody once, in any order, and nobody for ever."""

from collections import Counter

import numpy as np
import pytest

from argmax.kernels import waiting


def test_those_that_wait_no_longer_come_once_each():
    rest = np.array([0, 3, -1, 1, 0, 0])
    order = np.empty(6, np.int64)
    count = waiting.due(rest, 5, order)
    assert sorted(order[:count]) == [0, 2, 4, 5]
    assert rest.tolist() == [-1, 2, -2, 0, -1, -1]


def test_every_order_is_as_likely():
    seen: Counter[tuple[int, ...]] = Counter()
    rng = np.random.RandomState(0)
    for _ in range(6000):
        order = np.empty(3, np.int64)
        waiting.due(np.zeros(3, np.int64), rng.randint(2**32, dtype=np.int64), order)
        seen[tuple(order.tolist())] += 1
    assert len(seen) == 6
    assert max(seen.values()) < 1150  # five standard deviations more than 1000
    assert min(seen.values()) > 850


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_many_are_shuffled_within_their_range(seed):
    order = np.empty(100_000, np.int64)
    assert waiting.due(np.zeros(100_000, np.int64), seed, order) == 100_000
    np.testing.assert_array_equal(np.sort(order), np.arange(100_000))
    assert abs(np.corrcoef(order, np.arange(100_000))[0, 1]) < 0.02


def test_those_that_add_little_wait_twice_as_long():
    wait, rest = np.array([0, 1, 3, 6, 9]), np.zeros(5, np.int64)
    waiting.schedule(np.arange(5), np.array([0.1, 0.1, 0.1, 0.1, 2.0]), 1.0, 10, wait, rest)
    assert wait.tolist() == rest.tolist() == [1, 3, 7, 10, 0]
