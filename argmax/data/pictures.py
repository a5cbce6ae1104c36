"""A small picture to segment: scikit-learn's photograph of a flower, or a drawn one where Pillow is missing.

flower()        noisy pixels, which of them are petals, and where they come from
drawn(marks)    a mask as lines of text, two rows of pixels in each
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..records import Floats, Ints

__all__ = ["Picture", "drawn", "flower"]

NOISE = 0.35
BLOCKS = np.array([[" ", "▄"], ["▀", "█"]])  # by upper and lower pixel


@final
@dataclass(frozen=True)
class Picture:
    """Pixels (height, width, 3), labels (height, width) of zeros and ones, and what the picture is."""

    pixels: Floats
    labels: Ints
    source: str

    def halves(self) -> tuple[Picture, Picture]:
        """The left half and the right one: to learn from, and to try it on."""
        middle = self.labels.shape[1] // 2
        return (
            Picture(self.pixels[:, :middle], self.labels[:, :middle], self.source),
            Picture(self.pixels[:, middle:], self.labels[:, middle:], self.source),
        )


def flower(noise: float = NOISE, seed: int = 0) -> Picture:
    """A flower of 32 × 40 pixels in noise; petals, which are red in the clear picture, are labelled 1.

    >>> from argmax.data import pictures
    >>> picture = pictures.flower()
    >>> picture.pixels.shape, picture.labels.shape
    ((32, 40, 3), (32, 40))
    """
    clear, source = _photograph()
    labels = (clear[..., 0] > clear[..., 1] + 0.1).astype(np.int64)
    noisy = clear + np.random.default_rng(seed).normal(scale=noise, size=clear.shape)
    return Picture(noisy, labels, source)


def _photograph() -> tuple[Floats, str]:
    try:
        from sklearn.datasets import load_sample_image

        found = load_sample_image("flower.jpg")
    except ImportError:  # scikit-learn reads pictures with Pillow, which it does not install
        return _painting(), "a drawn flower (scikit-learn's photograph needs: pip install pillow)"
    return found[80:400:10, 120:520:10] / 255.0, "scikit-learn's flower.jpg"


def _painting() -> Floats:
    """Eight red petals on green."""
    y, x = np.mgrid[-1.0:1.0:32j, -1.25:1.25:40j]
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    petals = radius < 0.55 + 0.3 * np.cos(8 * angle)
    return np.where(petals[..., None], [0.75, 0.25, 0.45], [0.2, 0.35, 0.15])


def drawn(marks: Any) -> list[str]:
    """A mask (height, width) as lines of text, two rows of pixels in each.

    >>> from argmax.data import pictures
    >>> pictures.drawn([[0, 1, 1], [0, 0, 1]])
    [' ▀█']
    """
    mask = np.asarray(marks).astype(int)
    if len(mask) % 2:
        mask = np.vstack([mask, np.zeros((1, mask.shape[1]), int)])
    return ["".join(line) for line in BLOCKS[mask[::2], mask[1::2]]]
