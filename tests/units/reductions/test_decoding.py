"""Distances of words, against sums written out."""

import itertools
import math

import numpy as np
import pytest

from argmax.reductions.decoding import DECODINGS, distance, squashed

LOSS = {
    "exponential": lambda z: math.exp(-z),
    "hinge": lambda z: max(0.0, 1.0 - z),
    "log": lambda z: math.log1p(math.exp(-z)),
    "probability": lambda z: math.log1p(math.exp(-z)),
    "hamming": lambda z: 0.5 * (1.0 - (z > 0) + (z < 0)),
}


@pytest.mark.parametrize("decoding", DECODINGS)
def test_distances_equal_the_sums(decoding):
    rng = np.random.default_rng(0)
    code, scores = rng.integers(-1, 2, (4, 6)), rng.normal(size=(5, 6))
    found = distance(code, scores, decoding)
    for i, r in itertools.product(range(5), range(4)):
        expected = sum(LOSS[decoding](m * f) for m, f in zip(code[r], scores[i], strict=True))
        if decoding == "hamming":
            expected -= squashed(np.array(code[r] @ scores[i]))
        assert found[i, r] == pytest.approx(expected)


def test_one_wrong_bit_outweighs_any_confidence():
    code = np.array([[1, 1, 1], [1, 1, -1]])
    assert distance(code, np.array([[1e9, 1e9, -1e-9]]), "hamming").argmin() == 1


def test_equal_hamming_distances_go_by_the_scores():
    code = np.array([[1, -1], [-1, 1]])
    assert distance(code, np.array([[2.0, 3.0]]), "hamming").argmin() == 1
    assert distance(code, np.array([[3.0, 2.0]]), "hamming").argmin() == 0
    assert distance(code, np.array([[2.0, 2.0]]), "hamming").argmin() == 0


def test_certain_wrong_bits_do_not_overflow():
    found = distance(np.array([[1], [-1]]), np.array([[1e6]]), "exponential")
    assert np.isfinite(found).all()
    assert found.argmin() == 0
