"""What ``main_job`` is compared with: the same job as a careful script of scikit-learn's parts.

python main_job_peer.py '{"path": …, "target": …, "columns": {kind: [names]}, "split": …, "test": …}'
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

GRID = 10.0 ** np.arange(-3, 4)
MUCH = 1.1


def read(path: str) -> Any:
    if path.endswith(".jsonl"):
        return pd.read_json(path, lines=True, dtype=False, convert_dates=False)
    return pd.read_csv(path)


def features(columns: dict[str, list[str]]) -> Any:
    parts: list[Any] = [
        (name, TfidfVectorizer(sublinear_tf=True, min_df=2), name)
        for name in columns.get("text", [])
    ]
    if names := columns.get("category"):
        parts.append(("categories", OneHotEncoder(handle_unknown="ignore"), names))
    if names := columns.get("number"):
        scaled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
        parts.append(("numbers", scaled, names))
    return ColumnTransformer(parts)


def chosen(X: Any, y: Any, rest: Any) -> float:
    """The C of the smallest log-loss on the rest."""
    losses: list[float] = []
    for C in GRID:
        model = LogisticRegression(C=C, max_iter=1000).fit(X[~rest], y[~rest])
        losses.append(log_loss(y[rest], model.predict_proba(X[rest]), labels=model.classes_))
        if losses[-1] > MUCH * min(losses) or min(losses[-2:]) > min(losses):
            break
    return float(GRID[int(np.argmin(losses))])


def main(given: dict[str, Any]) -> None:
    frame, target = read(given["path"]), given["target"]
    with np.load(given["split"]) as split:
        learned = np.sort(np.concatenate([split["part"], split["rest"]]))
        rest = np.isin(learned, split["rest"])
        test = frame.iloc[split["test"]] if given["test"] is None else read(given["test"])
    rows = frame.iloc[learned]
    transformer = features(given["columns"])
    X, y = transformer.fit_transform(rows), rows[target].to_numpy().astype(str)
    C = chosen(X, y, rest)
    model = LogisticRegression(C=C, max_iter=1000).fit(X, y)
    truth = test[target].to_numpy().astype(str)
    table = model.predict_proba(transformer.transform(test))
    answer = model.classes_[table.argmax(axis=1)]
    scores = {
        "accuracy": accuracy_score(truth, answer),
        "f1": f1_score(truth, answer, average="macro"),
        "log_loss": log_loss(truth, table, labels=model.classes_),
    }
    print(json.dumps({"C": C, **scores}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
