"""Small problems of every kind, for the laws to hold on."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from argmax import costs, losses
from argmax.checks import compressed
from argmax.engines import Threads, cut
from argmax.layouts import Full, two_classes
from argmax.losses import Log
from argmax.objective import Objective
from argmax.passes import Problem
from argmax.records import Csr, Structures, Truth
from argmax.spaces import Chain, Classes

ROWS = ("float64", "float32", "csr", "indicators")


def make_rows(kind, rng, n, d, density=0.4):
    """n rows of d features, as one of ROWS."""
    if kind in ("float64", "float32"):
        return rng.normal(size=(n, d)).astype(kind)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    rows = compressed(sp.csr_array(X))
    return rows if kind == "csr" else replace(rows, values=None)


def plain(rows):
    """The rows as a float64 table."""
    if not isinstance(rows, Csr):
        return rows.astype(float)
    table = np.zeros(rows.shape)
    for i in range(len(rows)):
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            table[i, rows.indices[t]] += 1.0 if rows.values is None else rows.values[t]
    return table


def make_layout(rows, k, compiled, intercept=True, label_features="two", free=True):
    """The classifier's layout; label_features None gives two classes a row each."""
    return Full(
        rows.shape[1],
        k,
        two_classes() if k == 2 and label_features == "two" else None,
        intercept=intercept,
        free_intercept=free,
        sparse=isinstance(rows, Csr),
        compiled=compiled,
    )


def random_w(layout, rng, size=1.0):
    """Random weights; zeros stay where the layout pads."""
    m, K = layout.columns, layout.labels
    edge = rng.normal(size=(layout.edge_kinds, K, K)) if layout.edge_kinds else None
    return size * layout.pack(rng.normal(size=(m, layout.features)), rng.normal(size=m), edge)


def classes(
    kind="float64", n=40, d=5, k=3, *, seed=0, compiled=False, intercept=True, weighted=False,
    threads=1, C=1.0, l1=0.0, l2=1.0, label_features="two", loss="log",
):  # fmt: skip
    """The objective of a classifier on random rows; every class occurs."""
    rng = np.random.default_rng(seed)
    rows = make_rows(kind, rng, n, d)
    truth = rng.normal(size=(d, k))
    labels = (plain(rows) @ truth + rng.gumbel(size=(n, k))).argmax(axis=1)
    labels[:k] = np.arange(k)
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    loss = losses.get(loss)
    layout = make_layout(rows, k, compiled, intercept, label_features, loss.free_intercept)
    problem = Problem(Classes(k, compiled=compiled), layout, loss)
    cost = costs.zero_one(k) if loss.takes_cost else None
    shards = cut(Structures(rows), Truth(labels, weight, cost), layout)
    return Objective(problem, shards, Threads(threads), C, l1, l2)


def chain(
    lengths=(4, 1, 3, 5), d=3, k=2, *, seed=0, space=None, weighted=False, compiled=False, C=1.0,
    edge_kinds=1, kind="float64", threads=1, l1=0.0, labels=None,
):  # fmt: skip
    """The objective of a linear-chain CRF on random sequences."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = make_rows(kind, rng, int(offsets[-1]), d)
    labels = rng.integers(0, k, len(rows)) if labels is None else labels
    weight = rng.uniform(0.2, 3.0, len(lengths)) if weighted else None
    layout = Full(d, k, intercept=False, edge_kinds=edge_kinds, compiled=compiled)
    problem = Problem(space or Chain(k), layout, Log())
    shards = cut(Structures(rows, offsets), Truth(labels, weight), layout)
    return Objective(problem, shards, Threads(threads), C, l1, 1.0 - l1)
