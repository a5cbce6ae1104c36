"""What ``MultiLabelClassifier`` is given, as zeros and ones: which labels there are, and which are joined."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import checks, engines, losses, passes
from ..errors import InvalidInput
from ..kernels import compiled
from ..layouts import Full
from ..records import Floats, Ints, Rows
from ..spaces import Sets
from . import cooccurrence

__all__ = ["Labelled", "joined", "known", "labelled", "posed"]


class Labelled(NamedTuple):
    """The labels that there are, which of them apply to each row (n, k), and how they were given."""

    classes: Any
    matrix: Ints
    multilabel: bool  # whether y was a matrix, and not one label a row


def labelled(estimator: Any, y: Any, n: int) -> Labelled:
    """y of a fit: a matrix of zeros and ones, or one label a row."""
    if y is None:
        raise InvalidInput("requires y to be passed, but the target y is None.")
    if checks.is_label_matrix(y):
        matrix = checks.label_matrix(y, n)
        return Labelled(_names(estimator.labels, y, matrix.shape[1]), matrix, True)
    if estimator.labels is not None:
        raise InvalidInput(
            "labels names the columns of a matrix y, but y has one label a row. Use labels=None."
        )
    classes, codes = checks.labels(estimator, y, n)
    if len(classes) < 2:
        raise InvalidInput(f"y must have at least two classes; got one class: {classes[0]!r}.")
    return Labelled(classes, _indicators(classes, codes), False)


def _names(given: Any, y: Any, k: int) -> Any:
    """The names given, those of the columns of a table, or 0 … k−1."""
    columns = getattr(y, "columns", None)
    if given is None and columns is not None and all(isinstance(name, str) for name in columns):
        given = list(columns)
    if given is None:
        return np.arange(k)
    names = checks.array("labels", given)
    if names.shape != (k,) or names.dtype.kind not in "OUiu":
        raise InvalidInput(
            f"labels must name each of the {k} columns of y; got {names.dtype} of shape {names.shape}."
        )
    if len(set(names.tolist())) < k:
        raise InvalidInput("labels must be different from each other.")
    return names


def known(estimator: Any, y: Any, n: int) -> Ints:
    """Labels (n, k) among those of the fit."""
    classes = estimator.classes_
    if estimator.multilabel_:
        return checks.label_matrix(y, n, len(classes))
    found, codes = checks.labels(estimator, y, n)
    unknown = ~np.isin(found, classes)
    if unknown.any():
        raise InvalidInput(f"y has a label that the fit did not see: {found[unknown][0]!r}.")
    return _indicators(classes, np.searchsorted(classes, found)[codes])


def _indicators(classes: Any, codes: Ints) -> Ints:
    """One label a row as zeros and ones: a column for each class, or one for the second of two."""
    columns = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
    return np.asarray(codes[:, None] == columns, np.int64)


def joined(pairs: Any, matrix: Ints, weight: Floats) -> Ints:
    """The pairs of labels (E, 2) that ``pairs`` stands for, given labels (n, k) and weights (n,)."""
    k = matrix.shape[1]
    if not isinstance(pairs, str):
        return np.array(Sets(k, pairs).edges, np.int64).reshape(-1, 2)
    checks.choice("pairs", pairs, ("tree", "none", "all"))
    if pairs == "none":
        return np.empty((0, 2), np.int64)
    if pairs == "all":
        return cooccurrence.every_pair(k)
    return cooccurrence.likeliest_tree(matrix, weight)


def posed(rows: Rows, k: int, edges: Ints, loss: losses.Loss, intercept: bool) -> passes.Problem:
    """Space, layout and loss of a fit on these rows, k labels and pairs of them."""
    entries = engines.entries(rows)
    fast = compiled(entries * k)
    layout = Full(
        int(rows.shape[1]),
        k,
        intercept=intercept,
        free_intercept=False,
        edge_kinds=len(edges),
        edge_states=1,
        sparse=not isinstance(rows, np.ndarray),
        precise=not fast,  # a small problem can afford it
        compiled=fast,
    )
    checks.memory(
        8.0 * (30 * layout.size + 4 * len(rows) * k),
        f"fitting {len(rows)} rows, {layout.features} features and {k} labels",
        "Reduce the features (for example by hashing or selection) or the labels.",
    )
    # Decided here for all blocks: each of them is small.
    on_trees = compiled(entries * k + 32 * len(rows) * k)
    return passes.Problem(Sets(k, edges, compiled=on_trees), layout, loss)
