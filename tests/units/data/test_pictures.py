"""A picture to segment, with and without Pillow."""

import sys

import numpy as np

from argmax.data import pictures


def test_petals_are_labelled_and_the_halves_make_the_whole():
    picture = pictures.flower()
    assert set(np.unique(picture.labels)) == {0, 1}
    left, right = picture.halves()
    np.testing.assert_array_equal(np.hstack([left.pixels, right.pixels]), picture.pixels)
    np.testing.assert_array_equal(np.hstack([left.labels, right.labels]), picture.labels)


def test_without_pillow_a_flower_is_drawn(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    picture = pictures.flower(noise=0.0)
    assert "pip install pillow" in picture.source
    assert 0.1 < picture.labels.mean() < 0.6


def test_masks_as_text():
    assert pictures.drawn(np.eye(3)) == ["▀▄ ", "  ▀"]
