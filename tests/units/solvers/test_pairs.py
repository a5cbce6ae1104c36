"""The pairs of L-BFGS in the upper halves of float32: rounded, and otherwise as good as whole ones."""

from itertools import pairwise

import numpy as np
import pytest

from argmax.solvers import pairs
from argmax.solvers.pairs import Products

SIZE, MEMORY = 12, 3


class Whole:
    """As much of an objective as the products need: one range of weights."""

    size = SIZE

    def sweep(self, piece):
        return [piece(slice(0, SIZE))]

    def dot(self, a, b):
        return float(a @ b)


class At:
    def __init__(self, w, gradient):
        self.w, self.gradient = w, gradient


def filled(halves, monkeypatch, diagonal=None):
    """Pairs of the quadratic ½ wᵀAw, more of them than are kept."""
    monkeypatch.setattr(pairs, "RANGE", 0 if halves else SIZE)
    rng = np.random.default_rng(0)
    root = rng.standard_normal((SIZE, SIZE))
    A = root @ root.T + np.eye(SIZE)
    products = Products(Whole(), MEMORY, diagonal)
    points = [At(w, A @ w) for w in rng.standard_normal((MEMORY + 3, SIZE))]
    for before, after in pairwise(points):
        products.add(before, after)
    return products


def inverse(products):
    """H, column by column."""
    return -np.stack([products.direction(unit) for unit in np.eye(SIZE)], axis=1)


@pytest.mark.parametrize("scaled", [False, True])
def test_h_is_symmetric_positive_and_near_that_of_whole_pairs(scaled, monkeypatch):
    diagonal = np.linspace(1.0, 30.0, SIZE) if scaled else None
    whole = inverse(filled(False, monkeypatch, diagonal))
    H = inverse(filled(True, monkeypatch, diagonal))
    size = np.abs(H).max()
    np.testing.assert_allclose(H, H.T, atol=1e-5 * size)
    assert np.linalg.eigvalsh((H + H.T) / 2).min() > 0
    np.testing.assert_allclose(H, whole, atol=0.05 * size)


def test_the_newest_secant_holds_for_what_is_kept(monkeypatch):
    """H y = s, for the pair as it was rounded: the condition that makes it L-BFGS."""
    products = filled(True, monkeypatch)
    slot = products._slots[-1]
    s, y = pairs._numbers(products._rows[2 * slot : 2 * slot + 2]).astype(float)
    np.testing.assert_allclose(-products.direction(y), s, rtol=1e-4, atol=1e-5)


def test_numbers_are_rounded_to_the_nearest_half():
    rng = np.random.default_rng(1)
    given = (rng.standard_normal(1000) * 10.0 ** rng.integers(-30, 30, 1000)).astype(np.float32)
    rows = np.empty(1000, np.uint16)
    pairs._write(given, rows)
    found = pairs._numbers(rows)
    np.testing.assert_allclose(found, given, rtol=2.0**-8)
    again = np.empty_like(rows)
    pairs._write(found, again)
    assert np.array_equal(again, rows)  # what was kept once is kept as it is


@pytest.mark.parametrize("halves", [False, True])
def test_a_snapshot_brings_the_same_bits_back(halves, monkeypatch):
    diagonal = np.linspace(1.0, 30.0, SIZE)
    products = filled(halves, monkeypatch, diagonal)
    again = Products(Whole(), MEMORY, np.ones(SIZE))
    again.restore(products.values())
    gradient = np.random.default_rng(2).standard_normal(SIZE)
    assert np.array_equal(products.direction(gradient), again.direction(gradient))


@pytest.mark.parametrize("halves", [False, True])
def test_pairs_in_another_scale_are_the_same_pairs(halves, monkeypatch):
    products, diagonal = filled(halves, monkeypatch), np.geomspace(1e-3, 1e3, SIZE)
    fresh = filled(halves, monkeypatch, diagonal)
    products.rescale(diagonal)
    direct, size = inverse(fresh), np.abs(inverse(fresh)).max()
    np.testing.assert_allclose(inverse(products), direct, atol=(0.05 if halves else 1e-4) * size)
