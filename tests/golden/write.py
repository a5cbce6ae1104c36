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

from argmax import (
    CRFTagger,
    GraphLabeler,
    LinearClassifier,
    MulticlassSVM,
    MultiLabelClassifier,
    OneVsOne,
    OneVsRest,
    OutputCode,
    SequenceTagger,
    SoftmaxRegression,
    save,
    solvers,
)
from argmax.calibration import Calibrated
from argmax.features import Table, Templates
from argmax.persist.container import SCHEMA

FOLDER = Path(__file__).parent

X = np.round(np.sin(np.arange(60.0)).reshape(20, 3), 3)
Y = np.arange(20) % 3
FRAME = {
    "size": X[:, 0].tolist(),
    "city": [["Oslo", "Rome", "Zürich"][i % 3] for i in range(20)],
    "note": [["a good day", "a bad day", "naïve night", "good night"][i % 4] for i in range(20)],
}
SENTENCES = [["the", "dog", "barks"], ["a", "Hund", "schläft"], ["dogs", "bark"], ["the", "dog"]]
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "N"]]
SETS = np.stack([Y > 0, Y != 1, np.arange(20) % 4 == 0], axis=1).astype(int)
GRAPHS = [(X[i : i + 4], np.array([[0, 1], [1, 2], [0, 2], [2, 3]])) for i in range(0, 20, 4)]
GRAPH_LABELS = [Y[i : i + 4] for i in range(0, 20, 4)]
KINDS = {"size": "number", "city": "category", "note": "text"}


def models() -> dict[str, tuple[Any, Any]]:
    """Every kind of model, and the rows it is asked about."""
    words = np.array(["a", "b", "ça"])[Y]
    hashed = Table(KINDS, hash_bits=4, examples=1)
    lbfgs = solvers.LBFGS(memory=5)
    named = MultiLabelClassifier(labels=["bus", "car", "ça"])
    return {
        "whole-numbers": (SoftmaxRegression().fit(X, Y), X),
        "flags": (LinearClassifier(C=30.0, penalty="l1", fit_intercept=False).fit(X, Y > 0), X),
        "words": (LinearClassifier(class_weight={"a": 2.0}, solver=lbfgs).fit(X, words), X),
        "objects": (LinearClassifier(C=np.inf).fit(X, words.astype(object)), X),
        "table": (Pipeline([("t", Table(KINDS)), ("m", LinearClassifier())]).fit(FRAME, Y), FRAME),
        "hashed": (Pipeline([("t", hashed), ("m", SoftmaxRegression())]).fit(FRAME, Y), FRAME),
        "margin": (MulticlassSVM(cost=[[0, 2, 1], [1, 0, 1], [3, 1, 0]]).fit(X, Y), X),
        "calibrated": (Calibrated(SoftmaxRegression(), "vector", cv=2).fit(X, Y), X),
        "rest": (
            Pipeline([("t", Table(KINDS)), ("m", OneVsRest(SoftmaxRegression(C=2.0)))]).fit(
                FRAME, Y
            ),
            FRAME,
        ),
        "pairs": (OneVsOne(MulticlassSVM(), decision="scores").fit(X, words), X),
        "code": (OutputCode(code=[[1, 1, 0], [-1, 0, 1], [0, -1, -1]]).fit(X, Y), X),
        "sets": (MultiLabelClassifier(decoding="f1", C=3.0).fit(X, SETS), X),
        "named-sets": (Pipeline([("t", Table(KINDS)), ("m", named)]).fit(FRAME, SETS), FRAME),
        "graphs": (GraphLabeler(edges="potts").fit(GRAPHS, GRAPH_LABELS), GRAPHS),
        "tagger": (CRFTagger(constraints=[("V", "D")]).fit(SENTENCES, TAGS), SENTENCES),
        "templates": (
            SequenceTagger(
                Templates(["word[0]", "suffix(word[0],1)"], hash_bits=6), loss="hinge"
            ).fit(SENTENCES, TAGS),
            SENTENCES,
        ),
    }


def answers_of(model: Any, rows: Any) -> dict[str, Any]:
    """What a model says of these rows: labels of tokens with chances, chances of classes, or scores."""
    found = {"classes": model.classes_.tolist()}
    if rows is GRAPHS:
        chances = np.concatenate(model.predict_marginals(rows)).tolist()
        labels = np.concatenate(model.predict(rows)).tolist()
        return {**found, "labels": labels, "probabilities": chances}
    if rows is SENTENCES:
        chances = np.concatenate(model.predict_marginals(rows)).tolist()
        return {**found, "labels": model.predict(rows), "probabilities": chances}
    if isinstance(model, MulticlassSVM | OneVsOne):
        return {**found, "scores": model.decision_function(rows).tolist()}
    return {**found, "probabilities": model.predict_proba(rows).tolist()}


def rows_of(name: str) -> Any:
    """The rows that the model of a file is asked about."""
    kinds = {
        "table": FRAME,
        "hashed": FRAME,
        "rest": FRAME,
        "tagger": SENTENCES,
        "templates": SENTENCES,
    }
    kinds |= {"named-sets": FRAME, "graphs": GRAPHS}
    return kinds.get(name.split("-", 2)[2], X)


def main() -> None:
    for name, (model, rows) in models().items():
        path = FOLDER / f"schema-{SCHEMA}-{name}.argmax"
        if not path.exists():
            save(model, path)
            answers = json.dumps(answers_of(model, rows), ensure_ascii=False)
            path.with_suffix(".json").write_text(answers + "\n", encoding="utf-8")
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
