"""Codes: distinct rows, useful columns, distances; the notes' table; what a code cannot be."""

import itertools

import numpy as np
import pytest

from argmax.errors import InvalidInput
from argmax.reductions import codes
from argmax.reductions.decoding import distance

# The printed table of the notes: eight classes, six bits.
PRINTED = np.array([[int(bit) for bit in word] for word in (
    "000100", "100000", "011010", "110000", "110010", "001101", "001000", "010100"
)])  # fmt: skip


def opposite_somewhere(code):
    return all(((a * b) < 0).any() for a, b in itertools.combinations(code.astype(int), 2))


def asked_once(code):
    seen = {tuple(column) for column in code.T} | {tuple(-column) for column in code.T}
    return len(seen) == 2 * code.shape[1]


@pytest.mark.parametrize("name", sorted(codes.CODES))
@pytest.mark.parametrize("k", [2, 3, 4, 7, 10])
def test_rows_are_distinct_and_columns_useful(name, k):
    code = codes.get(name, k)
    assert code.shape[0] == k
    assert code.dtype == np.int8
    assert opposite_somewhere(code)
    assert all({-1, 1} <= set(column.tolist()) for column in code.T)
    assert asked_once(code)


@pytest.mark.parametrize(
    ("name", "k", "length", "least"),
    [
        ("one_vs_rest", 6, 6, 2),
        ("all_pairs", 4, 6, 3.5),  # one opposite bit, five counted one half
        ("exhaustive", 5, 15, 8),
        ("hadamard", 8, 7, 4),
        ("bch", 26, 63, 31),
        ("minimal", 8, 3, 1),
    ],
)
def test_distances_are_the_known_ones(name, k, length, least):
    found = codes.distances(codes.get(name, k))
    assert (found.length, found.least) == (length, least)
    assert found.correctable == max((int(np.ceil(least)) - 1) // 2, 0)


@pytest.mark.parametrize(("m", "k", "designed"), [(4, 32, 7), (5, 64, 15), (6, 128, 31)])
def test_bch_words_keep_the_designed_distance(m, k, designed):
    from argmax.reductions.bch import words

    code = 2 * words(m, k).astype(int) - 1
    assert codes.distances(code).least >= designed


def test_the_printed_table_of_the_notes_corrects_nothing():
    found = codes.distances(2 * PRINTED - 1)
    assert (found.least, found.correctable) == (1.0, 0)
    between = (PRINTED[:, None] != PRINTED).sum(axis=2)
    assert between[1, 3] == between[3, 4] == 1


def test_the_received_word_of_the_notes_is_class_three():
    received = 2.0 * np.array([[0, 1, 1, 0, 1, 1]]) - 1
    found = distance(2 * PRINTED - 1, received, "hamming")[0]
    assert found.argmin() == 2
    assert found.round()[2] == 1


@pytest.mark.parametrize("name", ["random_dense", "random_sparse"])
def test_random_codes_repeat_and_differ_by_seed(name):
    first, again, other = (codes.get(name, 8, 20, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_tightest_random_code_still_tells_all_classes_apart():
    assert opposite_somewhere(codes.random_dense(8, 3, seed=0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gray", 4), "code must be one of"),
        (("hadamard", 4, 7), "a length of its own"),
        (("random_dense", 8, 2), "at least 3"),
        (("random_dense", 4, 8), "at most 7"),
        (("exhaustive", 20), "up to 14"),
        (([[0, 1], [1, 0]], 2), "no column tells rows 0 and 1 apart"),
        (([[1, 2], [-1, 0]], 2), "−1, 0 and 1"),
        (([[1], [-1]], 3), "each of the 3 classes"),
        (([[1, 1], [1, 1], [-1, 1]], 3), "rows 0 and 1"),
        (([[1, -1], [-1, 1]], 2), "equal or opposite"),
        (([[1, -1], [-1, 1]], 2, 2), "length belongs to a code by name"),
    ],
)
def test_what_a_code_cannot_be(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        codes.get(*arguments)
