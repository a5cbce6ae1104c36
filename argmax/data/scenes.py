"""A table with several labels a row that the library writes itself: what is seen in street scenes.

A caption names most of what is there. A car goes with a bus: a caption that does not say whether there is one
still tells something.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator

import numpy as np

__all__ = ["LABELS", "scenes", "write_scenes"]

LABELS = ("bus", "car", "sky", "tree")
WORDS = {
    "bus": ("bus", "stop", "road"),
    "car": ("wheel", "road"),
    "sky": ("cloud", "blue"),
    "tree": ("leaf", "wood"),
}
FILLING = ("the", "a", "of", "old", "new", "view")
SAID = 0.75
"""Chance that a caption says what there is."""


def scenes(n: int, seed: int = 0) -> Iterator[tuple[list[str], str, float]]:
    """n scenes: their labels, a caption, and how light it is.

    >>> from argmax.data.scenes import scenes
    >>> next(scenes(1))
    (['car', 'sky', 'tree'], 'old new wood', -0.265)
    """
    rng = np.random.default_rng(seed)
    for _ in range(n):
        bus, sky, tree = (rng.random(3) < (0.3, 0.5, 0.4)).tolist()
        car = bool(rng.random() < (0.85 if bus else 0.15))
        there = zip(LABELS, (bus, car, sky, tree), strict=True)
        labels = [name for name, seen in there if seen]
        words = [str(rng.choice(WORDS[name])) for name in labels if rng.random() < SAID]
        words += rng.choice(FILLING, 2).tolist()
        light = round(float(rng.normal() + sky), 3)
        yield labels, " ".join(rng.permutation(words).tolist()), light


def write_scenes(
    path: str | os.PathLike[str], n: int, seed: int = 0, *, columns: bool = False
) -> None:
    """n scenes as CSV: labels listed in one column, or (``columns``) a column of 0 and 1 for each.

    >>> import pathlib, tempfile
    >>> from argmax.data.scenes import write_scenes
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scenes.csv"
    >>> write_scenes(path, 2)
    >>> path.read_text().splitlines()[:2]
    ['tags,text,light', 'car|sky|tree,old new wood,-0.265']
    """
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*(LABELS if columns else ["tags"]), "text", "light"])
        for labels, text, light in scenes(n, seed):
            flags = [int(name in labels) for name in LABELS]
            lines.writerow([*(flags if columns else ["|".join(labels)]), text, light])
