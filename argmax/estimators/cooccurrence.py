"""Which labels go together: the tree of pairs that says most, and the set of labels of best expected F1."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from ..records import Floats, Ints

__all__ = ["best_expected_f1", "every_pair", "likeliest_tree"]


def every_pair(k: int) -> Ints:
    """All pairs of k labels (k (k − 1) / 2, 2)."""
    return np.stack(np.triu_indices(k, 1), axis=1)


def likeliest_tree(labels: Ints, weight: Floats) -> Ints:
    """The tree over labels (n, k) that fits them best without looking at x: edges (k − 1, 2).

    Of all trees, the one with the largest sum of mutual informations; labels that are independent of all
    others are left alone. Chow and Liu 1968 (IEEE Transactions on Information Theory 14).

    >>> import numpy as np
    >>> from argmax.estimators.cooccurrence import likeliest_tree
    >>> y = np.array([[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]])
    >>> likeliest_tree(y, np.ones(4))
    array([[0, 1]])
    """
    information = np.triu(mutual_information(labels, weight), 1)
    # A spanning tree of least weight takes zeros for missing edges, and smaller weights first.
    tree = minimum_spanning_tree(sp.csr_array(-information)).tocoo()
    edges = np.sort(np.stack([tree.row, tree.col], axis=1), axis=1).astype(np.int64)
    return edges[np.lexsort(edges.T[::-1])]


def mutual_information(labels: Ints, weight: Floats) -> Floats:
    """I(y_a; y_b) of all pairs (k, k), in nats, of the labels as they were counted; 0 below rounding."""
    share = weight / weight.sum()
    on = labels.astype(float)
    both = (on * share[:, None]).T @ on
    p = both.diagonal()
    total = np.zeros_like(both)
    for joint, left, right in (
        (both, p, p),
        (p[:, None] - both, p, 1.0 - p),
        (p - both, 1.0 - p, p),
        (1.0 - p[:, None] - p + both, 1.0 - p, 1.0 - p),
    ):
        expected = np.outer(left, right)
        seen = (joint > 1e-15) & (expected > 0.0)
        total[seen] += joint[seen] * np.log(joint[seen] / expected[seen])
    return np.where(total > 1e-12, total, 0.0)


def best_expected_f1(draws: Ints) -> Ints:
    """The sets h (n, k) that maximise the mean of F1(y, h) over draws y (m, n, k) of the model.

        F1(y, h) = 2 |y ∩ h| / (|y| + |h|), and 1 where both are empty

    For each size of h the best set is that of the labels with the largest mean of 2 y_j / (|y| + size): exact
    for the draws. Waegeman, Dembczyński, Jachnik, Cheng and Hüllermeier 2014 (JMLR 15), algorithm 1.

    >>> import numpy as np
    >>> from argmax.estimators.cooccurrence import best_expected_f1
    >>> y = np.array([[[1, 1, 0]], [[1, 0, 0]], [[0, 0, 1]]])  # three draws of one example
    >>> best_expected_f1(y)
    array([[1, 0, 1]])
    """
    m, n, k = draws.shape
    answers = np.zeros((n, k), np.int64)
    sizes = np.arange(1, k + 1)
    for i in range(n):
        drawn = draws[:, i].astype(float)
        count = drawn.sum(axis=1)
        gain = drawn.T @ (2.0 / (count[:, None] + sizes)) / m  # (k, size)
        order = np.argsort(-gain, axis=0, kind="stable")
        sums = np.cumsum(np.take_along_axis(gain, order, axis=0), axis=0).diagonal()
        best = int(sums.argmax())
        if sums[best] > (count == 0).mean():
            answers[i, order[: best + 1, best]] = 1
    return answers
