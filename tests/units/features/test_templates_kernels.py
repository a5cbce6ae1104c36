"""Every kernel of templates equals its naive twin."""

import numpy as np
import pytest

from argmax.kernels import templates
from tests import naive


def same(kernel, twin, *arguments):
    left, right = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in "ab")
    answers = kernel(*left), twin(*right)
    for found, expected in [*zip(left, right, strict=True), answers]:
        assert np.array_equal(found, expected) or (found is None and expected is None)


def offsets_of(*lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@pytest.mark.parametrize("relative", [[0], [0, 1], [0, -2, 3]])
@pytest.mark.parametrize(("low", "extra"), [(0, 0), (-2, 3), (1, 2)])
@pytest.mark.parametrize(("left", "right"), [(0, 0), (4, 5), (1, 0)])
def test_look(relative, low, extra, left, right):
    rng, offsets = np.random.default_rng(0), offsets_of(3, 0, 1, 5)
    codes = rng.integers(-2, 9, (len(relative), 9)).astype(np.int32)
    keys = np.empty((9 + 4 * extra, len(relative)), np.int32)
    same(
        templates.look,
        naive.look,
        codes,
        offsets,
        np.array(relative),
        low,
        extra,
        left,
        right,
        keys,
    )


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 500])
def test_learn_and_find(m, size):
    rng = np.random.default_rng(m * size)
    keys = rng.integers(-2, 6, (size, m)).astype(np.int32)
    numbers = np.empty(size, np.int32)
    same(templates.learn, naive.learn, keys, numbers)
    known = templates.learn(keys, numbers)
    slots = templates.index(known, 1 << 12)
    others = rng.integers(-2, 9, (200, m)).astype(np.int32)
    for given in (keys, others):
        same(templates.find, naive.find, given, known, slots, np.empty(len(given), np.int32))


def test_a_dictionary_of_tuples_grows():
    keys = np.stack([np.arange(30_000), np.arange(30_000) % 7], axis=1).astype(np.int32)
    keys = np.concatenate([keys, keys[::-1]])
    numbers = np.empty(len(keys), np.int32)
    known = templates.learn(keys, numbers)
    assert np.array_equal(known, keys[:30_000])
    assert np.array_equal(numbers, np.r_[np.arange(30_000), np.arange(30_000)[::-1]])


@pytest.mark.parametrize("skip", [0, 1])
def test_count_and_rows(skip):
    rng, offsets = np.random.default_rng(1), offsets_of(3, 0, 1, 5)
    firsts, extras, starts = np.array([0, 11, 12]), np.array([0, 2, 2]), np.array([0, 4, 10])
    cells = rng.integers(-2, 4, 9 + 17 + 3).astype(np.int32)
    same(
        templates.count,
        naive.template_count,
        *(cells, offsets, skip, firsts, extras, starts, np.zeros(16, np.int32)),
    )
    tables = rng.integers(-1, 30, 16).astype(np.int32)
    rows = int(np.maximum(np.diff(offsets) - skip, 0).sum())
    given = cells, offsets, skip, firsts, extras, starts, tables, np.zeros(3, np.int64)

    def filled(kernel):  # what is behind the last entry has no meaning
        indptr, indices = np.empty(rows + 1, np.int32), np.empty(3 * rows + 1, np.int32)
        entries = kernel(*given, indptr, indices)
        return given[-1].tolist(), indptr.tolist(), indices[:entries].tolist()

    assert filled(templates.rows) == filled(naive.template_rows)


def test_rows_of_a_long_sequence():
    N = 1000
    cells, offsets = np.arange(N, dtype=np.int32) % 7, offsets_of(N)
    tables, zero = np.array([3, -1, 2, -1, 0, 1, 4], np.int32), np.zeros(1, np.int64)
    indptr, indices = np.empty(N + 1, np.int32), np.empty(N + 1, np.int32)
    entries = templates.rows(
        cells, offsets, 0, zero, zero, zero, tables, np.zeros(1, np.int64), indptr, indices
    )
    expected = tables[cells]
    assert np.array_equal(indices[:entries], expected[expected >= 0])
    assert np.array_equal(np.diff(indptr), expected >= 0)
