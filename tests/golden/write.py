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
from argmax.calibration import Calibrated, CalibratedTagger
from argmax.calibration.tagger import token_scores
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
SPANS = [["O", "B-X", "O"], ["O", "B-X", "O"], ["B-X", "O"], ["O", "B-X"]]
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
        "calibrated": (
            Calibrated(SoftmaxRegression(), "vector", cv=2, ensemble=False).fit(X, Y),
            X,
        ),
        "folds": (Calibrated(SoftmaxRegression(), "vector", cv=2).fit(X, Y), X),
        "rest": (
            Pipeline([("t", Table(KINDS)), ("m", OneVsRest(SoftmaxRegression(C=2.0)))]).fit(
                FRAME, Y
            ),
            FRAME,
        ),
        "pairs": (OneVsOne(MulticlassSVM(), decision="scores").fit(X, words), X),
        "code": (OutputCode(code=[[1, 1, 0], [-1, 0, 1], [0, -1, -1]]).fit(X, Y), X),
        "curves": (
            Calibrated(SoftmaxRegression(), "isotonic", cv=2, ensemble=False).fit(X, Y),
            X,
        ),
        "calibrated-tagger": (
            CalibratedTagger(
                SequenceTagger(loss="perceptron", max_iter=3), "temperature", cv=2
            ).fit(SENTENCES, SPANS),
            SENTENCES,
        ),
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
        chances = [np.exp(scores) for scores in token_scores(model, rows)]
        return {
            **found,
            "labels": model.predict(rows),
            "probabilities": np.concatenate(chances).tolist(),
        }
    if isinstance(model, MulticlassSVM | OneVsOne):
        return {**found, "scores": model.decision_function(rows).tolist()}
    return {**found, "probabilities": model.predict_proba(rows).tolist()}


def rows_of(name: str) -> Any:
    """The rows that the model of a file is asked about."""
    if "tagger" in name or name.endswith("templates"):
        return SENTENCES
    if name.endswith("graphs"):
        return GRAPHS
    return FRAME if name.endswith(("table", "hashed", "named-sets", "rest")) else X


def labels_of(name: str, classes: Any) -> Any:
    """Labels of these rows to fit the model again with, in as many kinds as it knows."""
    if name.endswith("sets"):
        return SETS
    if name.endswith("graphs"):
        return GRAPH_LABELS
    if rows_of(name) is SENTENCES:
        return SPANS if "calibrated" in name else TAGS
    return classes[np.arange(20) % len(classes)]


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
