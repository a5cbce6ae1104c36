"""Golden model files: one of each kind and schema, and what their models answered when they were written.

    python -m tests.golden.write

writes those of the present schema that are not there yet. What is there stays: later versions must read it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from argmax import LinearClassifier, SoftmaxRegression, save, solvers
from argmax.features import Table
from argmax.persist.container import SCHEMA

FOLDER = Path(__file__).parent

X = np.round(np.sin(np.arange(60.0)).reshape(20, 3), 3)
Y = np.arange(20) % 3
FRAME = {
    "size": X[:, 0].tolist(),
    "city": [["Oslo", "Rome", "Zürich"][i % 3] for i in range(20)],
    "note": [["a good day", "a bad day", "naïve night", "good night"][i % 4] for i in range(20)],
}
KINDS = {"size": "number", "city": "category", "note": "text"}


def models() -> dict[str, tuple[Any, Any]]:
    """Every kind of model, and the rows it is asked about."""
    words = np.array(["a", "b", "ça"])[Y]
    hashed = Table(KINDS, hash_bits=4, examples=1)
    lbfgs = solvers.LBFGS(memory=5)
    return {
        "whole-numbers": (SoftmaxRegression().fit(X, Y), X),
        "flags": (LinearClassifier(C=30.0, penalty="l1", fit_intercept=False).fit(X, Y > 0), X),
        "words": (LinearClassifier(class_weight={"a": 2.0}, solver=lbfgs).fit(X, words), X),
        "objects": (LinearClassifier(C=np.inf).fit(X, words.astype(object)), X),
        "table": (Pipeline([("t", Table(KINDS)), ("m", LinearClassifier())]).fit(FRAME, Y), FRAME),
        "hashed": (Pipeline([("t", hashed), ("m", SoftmaxRegression())]).fit(FRAME, Y), FRAME),
    }


def main() -> None:
    for name, (model, rows) in models().items():
        path = FOLDER / f"schema-{SCHEMA}-{name}.argmax"
        if not path.exists():
            save(model, path)
            answers = {
                "classes": model.classes_.tolist(),
                "probabilities": model.predict_proba(rows).tolist(),
            }
            path.with_suffix(".json").write_text(json.dumps(answers) + "\n", encoding="utf-8")
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
