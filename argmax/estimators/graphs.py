"""What users give as graphs and labels, checked and stacked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import checks
from ..errors import InvalidInput, WrongType
from ..records import Ints, Structures

__all__ = ["known_codes", "stacked", "stacked_labels"]


def stacked(
    graphs: Any, features: int | None = None, edge_features: int | None = None
) -> Structures:
    """One stack of graphs. Given each as (rows, edges) or (rows, edges, edge rows).

    ``features`` and ``edge_features`` are those of the fit, where there was one.
    """
    items = _listed(graphs)
    rows: list[Any] = []
    edges: list[Any] = []
    edge_rows: list[Any] = []
    first = 0
    for i, item in enumerate(items):
        parts = _parts(item, i)
        node = _numbers(parts[0], f"the node features of graph {i}")
        pairs = checks.array(f"the edges of graph {i}", parts[1])
        pairs = checks.node_pairs(
            pairs.reshape(0, 2) if not pairs.size else pairs, np.zeros(len(node), int)
        )
        _same(rows[0].shape[1] if rows else features, node.shape[1], i, "node")
        rows.append(node)
        edges.append(pairs + first)
        if len(parts) > 2 and parts[2] is not None:
            given = _numbers(parts[2], f"the edge features of graph {i}")
            checks.lengths(**{f"edges of graph {i}": len(pairs), "their features": len(given)})
            _same(
                edge_features or (edge_rows[0].shape[1] if edge_rows else None),
                given.shape[1],
                i,
                "edge",
            )
            edge_rows.append(given)
        first += len(node)
    if edge_rows and len(edge_rows) < len(items):
        raise InvalidInput("either all graphs have edge features, or none; some have them here.")
    if edge_features not in (None, 0) and not edge_rows:
        raise InvalidInput(
            f"graphs must have {edge_features} edge features, as in the fit; got none."
        )
    if edge_features == 0 and edge_rows:
        raise InvalidInput("graphs must have no edge features, as in the fit.")
    offsets = np.concatenate([[0], np.cumsum([len(node) for node in rows])])
    return Structures(
        np.vstack(rows),
        offsets,
        np.vstack(edges),
        edge_rows=np.vstack(edge_rows) if edge_rows else None,
    )


def _listed(graphs: Any) -> list[Any]:
    if isinstance(graphs, (str, bytes, np.ndarray)) or not isinstance(graphs, Iterable):
        raise WrongType(
            f"X must be a list of graphs, each (features, edges) or (features, edges, edge features); got "
            f"{type(graphs).__name__}."
        )
    items = list(graphs)
    if not items:
        raise InvalidInput("X must hold at least one graph; got none.")
    return items


def _parts(item: Any, i: int) -> tuple[Any, ...]:
    if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
        raise WrongType(
            f"graph {i} must be (features, edges) or (features, edges, edge features); got "
            f"{type(item).__name__}."
        )
    return tuple(item)


def _numbers(values: Any, what: str) -> Any:
    array = checks.array(what, values)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InvalidInput(
            f"{what} must be numbers (rows, features); got {array.dtype} of shape {array.shape}."
        )
    array = array.astype(float)
    if not np.isfinite(array).all():
        raise InvalidInput(f"{what} contain NaN or infinity. Impute or remove them first.")
    return array


def _same(expected: int | None, got: int, i: int, what: str) -> None:
    if expected is not None and expected != got:
        raise InvalidInput(
            f"graph {i} has {got} {what} features, but {expected} are expected, as in the other graphs."
        )


def stacked_labels(y: Any, structures: Structures) -> Any:
    """One label a node, all graphs together."""
    if y is None:
        raise InvalidInput("requires y to be passed, but the target y is None.")
    if not isinstance(y, Iterable):
        raise WrongType(f"y must be a list with the labels of each graph; got {type(y).__name__}.")
    assert structures.offsets is not None
    parts = [checks.array(f"the labels of graph {i}", part) for i, part in enumerate(y)]
    checks.lengths(X=len(structures), y=len(parts))
    for i, (part, size) in enumerate(zip(parts, np.diff(structures.offsets).tolist(), strict=True)):
        if part.shape != (size,):
            raise InvalidInput(
                f"y must have one label a node: graph {i} has {size} nodes, and its labels have shape "
                f"{part.shape}."
            )
    return np.concatenate(parts)


def known_codes(labels: Any, classes: Any) -> Ints:
    """The place of each label among the classes."""
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    unknown = classes[places] != labels
    if unknown.any():
        raise InvalidInput(f"y has a label that the fit did not see: {labels[unknown][0]!r}.")
    return np.asarray(places)
