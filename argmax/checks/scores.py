"""Checks of scores, and of what is asked about them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, NoLegalLabelling, NumericalFailure
from ..records import Floats, Ints, Scores

__all__ = [
    "edge_scores",
    "edge_tables",
    "finite_scores",
    "label_mask",
    "node_pairs",
    "node_scores",
    "sequence_offsets",
    "some_answer",
    "span_labels",
]


def node_scores(scores: Scores, k: int) -> Floats:
    if scores.node.ndim != 2 or scores.node.shape[1] != k:
        raise InvalidInput(
            f"scores.node must have shape (nodes, {k}) for this space; got {scores.node.shape}."
        )
    return scores.node


def sequence_offsets(scores: Scores) -> Ints:
    """Where each sequence starts (n + 1,); without offsets every node is a sequence of its own."""
    if scores.offsets is None:
        return np.arange(len(scores.node) + 1)
    offsets = np.asarray(scores.offsets)
    whole = offsets.ndim == 1 and offsets.size > 0 and offsets.dtype.kind in "iu"
    if not whole or offsets[0] != 0 or offsets[-1] != len(scores.node):
        raise InvalidInput(
            f"scores.offsets must be whole numbers from 0 to {len(scores.node)}, the number of nodes; "
            f"got {offsets!r}."
        )
    offsets = offsets.astype(np.int64)
    if (np.diff(offsets) < 0).any():
        at = int(np.argmax(np.diff(offsets) < 0))
        raise InvalidInput(f"scores.offsets must never fall; it does after entry {at}.")
    return offsets


def edge_scores(scores: Scores, states: int, k: int, edges: int) -> Floats:
    """Tables of transitions: one for all edges, or one for each of them."""
    edge = scores.edge
    if edge is None:
        return np.zeros((1, states, k))
    if edge.ndim != 3 or edge.shape[1:] != (states, k) or len(edge) not in (1, edges):
        raise InvalidInput(
            f"scores.edge must have shape (1, {states}, {k}), or ({edges}, {states}, {k}) with a table "
            f"for each of the {edges} edges; got {edge.shape}."
        )
    if not (edge < np.inf).all():
        raise NumericalFailure("scores.edge has NaN or +inf. Scale your features.")
    return edge


def node_pairs(edges: Any, example: Ints) -> Ints:
    """Edges (E, 2): two different nodes of one example each. Given the example of each node."""
    if edges is None:
        return np.empty((0, 2), np.int64)
    pairs = np.asarray(edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and pairs.dtype.kind not in "iu"):
        raise InvalidInput(
            f"edges must be pairs of whole numbers, (E, 2); got {pairs.dtype} of shape {pairs.shape}."
        )
    pairs = pairs.astype(np.int64)
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(example):
        raise InvalidInput(
            f"edges must name nodes 0 … {len(example) - 1}; got {pairs.min()} … {pairs.max()}."
        )
    left, right = pairs.T
    for wrong, problem in (
        (left == right, "joins a node with itself"),
        (example[left] != example[right], "joins nodes of two examples"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InvalidInput(
                f"edges: edge {at}, {tuple(pairs[at].tolist())}, {problem}. Leave it out."
            )
    return pairs


def edge_tables(scores: Scores, k: int, edges: int) -> tuple[Floats, Ints]:
    """Tables (T, k, k) and the one that each edge uses (E,): one for all, for each edge, or of its kind."""
    kind = scores.edge_kind
    if scores.edge is None:
        return np.zeros((1, k, k)), np.zeros(edges, np.int64)
    tables = len(scores.edge) if scores.edge.ndim else 0
    if kind is None:
        shared = np.zeros(edges, np.int64) if tables == 1 else np.arange(edges)
        return edge_scores(scores, k, k, edges), shared
    kind = np.asarray(kind)
    whole = kind.shape == (edges,) and (kind.dtype.kind in "iu" or not edges)
    if not whole or (edges and not 0 <= kind.min() <= kind.max() < tables):
        raise InvalidInput(
            f"edge_kind must be {edges} whole numbers, one an edge, that name one of the {tables} tables of "
            f"scores.edge; got {kind!r}."
        )
    return edge_scores(scores, k, k, tables), kind.astype(np.int64)


def finite_scores(values: Floats) -> Floats:
    """Raise unless every score is finite: an overflow on the way is an error, and never an answer."""
    with np.errstate(invalid="ignore", over="ignore"):
        quick = np.isfinite(values.sum())  # one reduction, no temporary of the size of the scores
    if not quick and not np.isfinite(values).all():
        raise NumericalFailure("the scores are not finite (overflow). Scale your features.")
    return values


def label_mask(allowed: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which labels each node may take: booleans (N, k)."""
    mask = np.asarray(allowed)
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise InvalidInput(
            f"allowed must be booleans of shape {shape}, one row a node and one column a label; got "
            f"{mask.dtype} of shape {mask.shape}."
        )
    return mask


def span_labels(labels: Any, spans: Any, k: int, offsets: Ints) -> tuple[Ints, Ints]:
    """Labels (N,) in 0 … k−1, and spans (m, 2) of nodes, none empty, each within one sequence."""
    labels, spans = np.asarray(labels), np.asarray(spans)
    if labels.shape != (offsets[-1],) or labels.dtype.kind not in "iu":
        raise InvalidInput(
            f"labels must be {offsets[-1]} whole numbers, one a node; got {labels!r}."
        )
    if len(labels) and not 0 <= labels.min() <= labels.max() < k:
        raise InvalidInput(f"labels must lie in 0 … {k - 1}; got {labels.min()} … {labels.max()}.")
    if spans.ndim != 2 or spans.shape[1] != 2 or spans.dtype.kind not in "iu":
        raise InvalidInput(
            f"spans must be pairs of whole numbers, (m, 2); got shape {spans.shape}."
        )
    start, stop = spans.T
    sequence = np.searchsorted(offsets, start, "right")
    good = (start >= 0) & (start < stop) & (start < offsets[-1])
    good &= stop <= offsets[np.minimum(sequence, len(offsets) - 1)]
    if not good.all():
        at = int(np.argmin(good))
        raise InvalidInput(
            f"spans must hold at least one node and stay within one sequence; span {at} is "
            f"{start[at]} … {stop[at]}."
        )
    return labels, spans


def some_answer(value: Floats) -> Floats:
    """Raise unless every example has an answer with a finite score."""
    finite = np.isfinite(value)
    if np.all(finite):
        return value
    first = int(np.argmin(finite)) if np.ndim(value) else 0
    if np.any(np.isneginf(value)):
        raise NoLegalLabelling(
            f"example {first} has no legal labelling: every answer has a score of −inf. "
            "Allow at least one label at each node, and one transition between neighbours."
        )
    raise NumericalFailure(f"the scores of example {first} are not finite. Scale your features.")
