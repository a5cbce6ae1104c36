"""``argmax demo``: the main job on data that scikit-learn carries."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from .. import SoftmaxRegression

__all__ = ["run"]

CS = (0.0001, 0.001, 0.01, 0.1, 1.0)


@dataclass(frozen=True)
class Row:
    """One fitted model, measured on rows it has not seen."""

    C: float
    accuracy: float
    log_loss: float
    seconds: float
    certificate: float
    message: str


def run(as_json: bool) -> int:
    """Train, measure, print; the exit code is 3 if a fit did not converge."""
    X, y = load_digits(return_X_y=True)
    split = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    models = SoftmaxRegression().path(split[0], split[2], CS)
    rows = [_measure(model, split[1], split[3]) for model in models]
    best = min(rows, key=lambda row: row.log_loss)
    if as_json:
        print(json.dumps({"data": "digits", "models": [asdict(r) for r in rows], "best": best.C}))
    else:
        _show(rows, best, len(split[0]), len(split[1]))
    return 0 if all(model.solution_.converged for model in models) else 3


def _measure(model: Any, X: Any, y: Any) -> Row:
    solution = model.solution_
    return Row(
        C=model.C,
        accuracy=float(model.score(X, y)),
        log_loss=float(log_loss(y, model.predict_proba(X))),
        seconds=solution.seconds,
        certificate=solution.relative_gap,
        message=solution.message,
    )


def _show(rows: list[Row], best: Row, trained: int, tested: int) -> None:
    from rich.console import Console
    from rich.table import Table

    print(
        f"Softmax regression on handwritten digits: {trained} rows to learn from, {tested} held out.",
        file=sys.stderr,
    )
    table = Table()
    for title in ("C", "accuracy", "log-loss", "seconds", "certificate"):
        table.add_column(title, justify="right")
    for row in rows:
        cells = (f"{row.C:g}", f"{row.accuracy:.4f}", f"{row.log_loss:.4f}", f"{row.seconds:.3f}",
                 f"{row.certificate:.1e}")  # fmt: skip
        table.add_row(*cells, style="bold" if row is best else None)
    Console().print(table)
    print(f"Best held-out log-loss at C = {best.C:g}. Why that fit stopped:\n  {best.message}")
    print(
        "The certificate is a proof: no weights at all have an objective lower by more than that share\n"
        "of its value at zero weights.\n"
        f"Next, in Python:  from argmax import SoftmaxRegression; "
        f"SoftmaxRegression(C={best.C:g}).fit(X, y)"
    )
