"""Brute force and the laws: for people who add a space or a loss, and for this library's own tests.

    BruteForce(k)          a space that answers every question by listing all k^L labellings
    random_scores(rng, k)  scores to try a space on, some of them −inf, some of them equal
    check_space(make)      every oracle of a space against BruteForce
    check_loss(loss)       residuals against finite differences; convexity; weights; the conjugate

The checks return None, or raise an AssertionError that says which oracle, on which scores, by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np

from . import checks
from .errors import InvalidInput, NoLegalLabelling
from .losses import Loss
from .records import Answer, Floats, Ints, Scores, Truth, Value
from .spaces import Classes, Space

__all__ = ["BruteForce", "check_loss", "check_space", "random_scores"]

LIMIT = 200_000
"""Labellings of one example that are still listed."""

EDGES = (None, "shared", "each")
"""The kinds of edge scores: none, one table for all edges, one table for each edge."""


@dataclass(frozen=True, slots=True)
class _Listing:
    """One example with all its labellings (A, L) in lexicographic order and their scores (A,)."""

    nodes: Ints  # (L,) positions in scores.node
    left: Ints  # (e,) positions in ``nodes`` of the first end of each edge
    right: Ints  # (e,)
    tables: Ints  # (e,) positions in scores.edge
    labels: Ints  # (A, L)
    values: Floats  # (A,)


@final
class BruteForce(Space):
    """Every oracle by listing all labellings: k^L of them, so for a handful of nodes only.

    ``edges`` (E, 2) are pairs of nodes of the whole stack; None joins consecutive nodes of an example,
    as in a chain. An edge belongs to the example of its first node. ``scores.edge`` holds one table for
    all edges, or one for each.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.testing import BruteForce
    >>> triangle = BruteForce(2, edges=[(0, 1), (1, 2), (0, 2)])
    >>> differ = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> scores = Scores(np.zeros((3, 2)), differ, np.array([0, 3]))
    >>> triangle.argmax(scores)
    Answer(labels=array([0, 0, 1]), value=array([2.]), bound=array([2.]))
    >>> bool(np.isclose(triangle.logz(scores).value[0], np.log(6 * np.exp(2) + 2)))
    True
    """

    def __init__(self, k: int, edges: Any = None) -> None:
        self.k = checks.positive_integer("k", k)
        self.edges = None if edges is None else [(int(a), int(b)) for a, b in edges]

    def _edges(self, offsets: Ints) -> list[tuple[int, int]]:
        if self.edges is not None:
            return self.edges
        starts = set(offsets.tolist())
        return [(t, t + 1) for t in range(int(offsets[-1]) - 1) if t + 1 not in starts]

    def _examples(self, scores: Scores) -> Iterator[_Listing]:
        node = checks.node_scores(scores, self.k)
        offsets = np.arange(len(node) + 1) if scores.offsets is None else scores.offsets
        edges = self._edges(offsets)
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            if self.k ** (stop - start) > LIMIT:
                raise InvalidInput(
                    f"an example of {stop - start} nodes and {self.k} labels has too many labellings "
                    f"to list (at most {LIMIT}). Use fewer nodes."
                )
            mine = [(e, a, b) for e, (a, b) in enumerate(edges) if start <= a < stop]
            which, left, right = np.array(mine, np.intp).reshape(-1, 3).T
            tables = (
                np.zeros_like(which) if scores.edge is not None and len(scores.edge) == 1 else which
            )
            listed = list(product(range(self.k), repeat=stop - start))
            labels = np.array(listed, np.intp).reshape(len(listed), stop - start)
            values = node[np.arange(start, stop), labels].sum(axis=1)
            left, right = left - start, right - start
            if scores.edge is not None:
                values = values + scores.edge[tables, labels[:, left], labels[:, right]].sum(axis=1)
            yield _Listing(np.arange(start, stop), left, right, tables, labels, values)

    def argmax(self, scores: Scores) -> Answer:
        labels, best = np.empty(len(scores.node), np.intp), []
        for example in self._examples(scores):
            first = int(example.values.argmax())
            labels[example.nodes] = example.labels[first]
            best.append(example.values[first])
        value = checks.some_answer(np.array(best))
        return Answer(labels, value, value)

    def logz(self, scores: Scores) -> Value:
        tops = checks.some_answer(np.array([e.values.max() for e in self._examples(scores)]))
        sums = [
            np.exp(e.values - top).sum()
            for e, top in zip(self._examples(scores), tops, strict=True)
        ]
        return Value(tops + np.log(sums))

    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        total = self.logz(scores)
        out = _like(scores) if out is None else out
        out.node[:] = 0.0
        if out.edge is not None:
            out.edge[:] = 0.0
        for i, example in enumerate(self._examples(scores)):
            share = 1.0 if weight is None else float(weight[i])
            for y, value in zip(example.labels, example.values, strict=True):
                _add(example, y, share * float(np.exp(value - total.value[i])), out)
        return total, out

    def score(self, scores: Scores, labels: Ints) -> Floats:
        values = []
        for example in self._examples(scores):
            same = (example.labels == labels[example.nodes]).all(axis=1)
            values.append(example.values[int(same.argmax())])
        return np.array(values)

    def parts(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> None:
        for i, example in enumerate(self._examples(scores)):
            share = 1.0 if weight is None else float(weight[i])
            _add(example, labels[example.nodes], -share, out)

    def nll(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        total, _ = self.marginals(scores, weight, out)
        self.parts(scores, labels, weight, out)
        share = np.ones(len(scores)) if weight is None else weight
        values: Floats = share * (total.value - self.score(scores, labels))
        return values

    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        total, draws = self.logz(scores).value, np.empty((n, len(scores.node)), np.intp)
        for i, example in enumerate(self._examples(scores)):
            p = np.exp(example.values - total[i])
            chosen = rng.choice(len(p), n, p=p / p.sum())
            draws[:, example.nodes] = example.labels[chosen]
        return draws

    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        k = checks.positive_integer("k", k)
        labels = np.full((k, len(scores.node)), -1)
        values = np.full((k, len(scores)), -np.inf)
        for i, example in enumerate(self._examples(scores)):
            order = np.argsort(-example.values, kind="stable")[:k]
            order = order[~np.isneginf(example.values[order])]
            labels[: len(order), example.nodes] = example.labels[order]
            values[: len(order), i] = example.values[order]
        return labels, values


def _add(example: _Listing, y: Ints, amount: float, out: Scores) -> None:
    """out += amount · indicator of the parts of y."""
    out.node[example.nodes, y] += amount
    if out.edge is not None:
        np.add.at(out.edge, (example.tables, y[example.left], y[example.right]), amount)


def _like(scores: Scores, fill: float = 0.0) -> Scores:
    edge = None if scores.edge is None else np.full(scores.edge.shape, fill)
    return Scores(np.full(scores.node.shape, fill), edge, scores.offsets)


# Scores to try things on


def random_scores(
    rng: np.random.Generator,
    k: int,
    lengths: Sequence[int] = (1, 1, 1),
    edge: str | None = None,
    *,
    forbidden: float = 0.0,
    whole: bool = False,
    n_edges: int | None = None,
) -> Scores:
    """Scores of examples with so many nodes each, drawn at random.

    ``edge`` is None, "shared" or "each" (one table for each edge; ``n_edges`` of them, or those of a
    chain). A share ``forbidden`` of all scores is −inf, but at least one labelling of every example stays
    legal. ``whole`` numbers are exact and full of ties.

    >>> import numpy as np
    >>> from argmax.testing import random_scores
    >>> scores = random_scores(np.random.default_rng(0), 3, (2, 4), "shared", forbidden=0.3)
    >>> scores.node.shape, scores.edge.shape, scores.offsets
    ((6, 3), (1, 3, 3), array([0, 2, 6]))
    """
    if edge not in EDGES:
        raise InvalidInput(f"edge must be one of {EDGES}; got {edge!r}.")
    offsets = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.intp))])
    chain = sum(max(length - 1, 0) for length in lengths)
    tables = 0 if edge is None else 1 if edge == "shared" else chain if n_edges is None else n_edges

    def draw(*shape: int) -> Floats:
        values = rng.integers(-1, 2, shape) if whole else 2.0 * rng.normal(size=shape)
        return np.where(rng.random(shape) < forbidden, -np.inf, values.astype(float))

    node, table = draw(int(offsets[-1]), k), draw(tables, k, k)
    legal = int(rng.integers(k))  # this label, all along, is always allowed
    node[:, legal] = np.where(np.isneginf(node[:, legal]), 0.0, node[:, legal])
    table[:, legal, legal] = np.where(
        np.isneginf(table[:, legal, legal]), 0.0, table[:, legal, legal]
    )
    alone = all(length == 1 for length in lengths)
    return Scores(node, None if edge is None else table, None if alone else offsets)


# The laws of a space


def check_space(
    make: Callable[[int], Space],
    lengths: Sequence[int] = (1, 1, 1),
    *,
    edges: Any = None,
    sizes: Sequence[int] = (1, 2, 3),
    seed: int = 0,
) -> None:
    """Compare every oracle of ``make(k)`` with brute force, for each k in ``sizes``.

    ``lengths`` are the numbers of nodes of the examples to try: all ones for spaces of a single label.
    ``edges`` are the pairs of nodes that the space joins (None: consecutive ones).

    >>> from argmax.spaces import Chain, Classes
    >>> from argmax.testing import check_space
    >>> check_space(Classes)
    >>> check_space(Chain, lengths=(3, 1, 2))
    """
    rng = np.random.default_rng(seed)
    kinds = EDGES if edges is not None or max(lengths) > 1 else (None,)
    n_edges = None if edges is None else len(edges)
    for k, edge, forbidden, whole in product(sizes, kinds, (0.0, 0.3), (False, True)):
        space, truth = make(k), BruteForce(k, edges)
        scores = random_scores(
            rng, k, lengths, edge, forbidden=forbidden, whole=whole, n_edges=n_edges
        )
        where = (
            f"{space!r}, lengths {tuple(lengths)}, {edge or 'no'} edge scores, "
            f"{'whole' if whole else 'real'} scores, {forbidden:.0%} of them −inf"
        )
        _check_argmax(space, truth, scores, where, ties=whole)
        _check_sums(space, truth, scores, where, rng)
        _check_labels(space, truth, scores, where, rng)
        _check_top_k(space, truth, scores, where)
        _check_slope(space, scores, where, rng)
        _check_curvature(space, scores, where, rng)
    space = make(2)
    _check_sample(space, random_scores(rng, 2, lengths, kinds[-1], n_edges=n_edges), rng)
    _check_no_answer(space, random_scores(rng, 2, lengths, n_edges=n_edges))


def _check_argmax(space: Space, truth: Space, scores: Scores, where: str, ties: bool) -> None:
    found, best = space.argmax(scores), truth.argmax(scores)
    if not np.array_equal(found.value, found.bound):  # an inexact space: the truth lies between
        _holds(
            bool((found.value <= best.value + 1e-9).all()), "argmax: value is above the best", where
        )
        _holds(
            bool((best.value <= found.bound + 1e-9).all()), "argmax: bound is no upper bound", where
        )
        return
    _same("argmax: value", found.value, best.value, where)
    _same("argmax: score of the labels", truth.score(scores, found.labels), best.value, where)
    if ties:
        _same("argmax: labels (of equals, the first in lexicographic order)",
              found.labels, best.labels, where)  # fmt: skip


def _check_sums(
    space: Space, truth: Space, scores: Scores, where: str, rng: np.random.Generator
) -> None:
    if not space.logz(scores).exact:
        return
    weight = rng.uniform(0.0, 3.0, len(scores))
    _same("logz", space.logz(scores).value, truth.logz(scores).value, where)
    for share in (None, weight):
        name = "marginals" if share is None else "weighted marginals"
        out, expected = _like(scores, np.nan), truth.marginals(scores, share)[1]
        for given in (None, out):
            value, found = space.marginals(scores, share, given)
            _same(f"{name}: log Z", value.value, truth.logz(scores).value, where)
            _same_parts(name, found, expected, where)
        _same(f"{name}: node, written into out", out.node, expected.node, where)


def _check_labels(
    space: Space, truth: Space, scores: Scores, where: str, rng: np.random.Generator
) -> None:
    """What is asked about given labels: score, parts, nll."""
    labels = truth.sample(scores, 1, rng)[0]  # legal ones
    _same("score", space.score(scores, labels), truth.score(scores, labels), where)
    for weight in (None, rng.uniform(0.0, 3.0, len(scores))):
        found, expected = _like(scores, 1.0), _like(scores, 1.0)
        space.parts(scores, labels, weight, found)
        truth.parts(scores, labels, weight, expected)
        _same_parts("parts", found, expected, where)
        found = _like(scores, np.nan)
        value = space.nll(scores, labels, weight, found)
        _same("nll: value", value, truth.nll(scores, labels, weight, expected), where)
        _same_parts("nll: gradient", found, expected, where)


def _check_top_k(space: Space, truth: Space, scores: Scores, where: str) -> None:
    for k in (1, 4):
        labels, values = space.top_k(scores, k)
        best, expected = truth.top_k(scores, k)
        _same(f"top_k({k}): values", values, expected, where)
        _same(f"top_k({k}): label −1 as filler", labels < 0, best < 0, where)
        offsets = np.arange(len(scores.node) + 1) if scores.offsets is None else scores.offsets
        for i in range(len(scores)):
            legal = ~np.isneginf(values[:, i])
            mine = labels[legal, offsets[i] : offsets[i + 1]]
            distinct = len(np.unique(mine, axis=0)) == len(mine)
            _holds(distinct, f"top_k({k}): example {i} has the same labelling twice", where)
        for rank in range(k):
            full = np.where(labels[rank] < 0, 0, labels[rank])
            legal = ~np.isneginf(values[rank])
            again = truth.score(scores, full)
            _same(f"top_k({k}): score of answer {rank}", again[legal], values[rank][legal], where)


def _check_slope(space: Space, scores: Scores, where: str, rng: np.random.Generator) -> None:
    """⟨marginals, v⟩ is the slope of log Z along v."""
    if not space.logz(scores).exact:
        return
    v, h = _direction(scores, rng), 1e-5
    rise = space.logz(_moved(scores, v, h)).value - space.logz(_moved(scores, v, -h)).value
    slope = _inner(space.marginals(scores)[1], v)
    _same("marginals: slope of log Z", np.array(slope), rise.sum() / (2 * h), where, 1e-7)


def _check_curvature(space: Space, scores: Scores, where: str, rng: np.random.Generator) -> None:
    if not space.curved:
        return
    v, h, weight = _direction(scores, rng), 1e-5, rng.uniform(0.0, 3.0, len(scores))
    p, out = space.marginals(scores)[1], _like(scores, np.nan)
    space.curvature(p, weight, v, out)
    ahead = space.marginals(_moved(scores, v, h), weight)[1].node
    behind = space.marginals(_moved(scores, v, -h), weight)[1].node
    _same("curvature: change of the marginals", out.node, (ahead - behind) / (2 * h), where, 1e-7)


def _check_sample(space: Space, scores: Scores, rng: np.random.Generator) -> None:
    n, where = 2000, f"{space!r}, {len(scores.node)} nodes"
    draws = space.sample(scores, n, rng)
    _holds(draws.shape == (n, len(scores.node)), f"sample: shape is {draws.shape}", where)
    share = np.stack([(draws == label).mean(axis=0) for label in range(space.k)], axis=1)
    p = space.marginals(scores)[1].node
    far = np.abs(share - p) > 5.0 * np.sqrt(p * (1.0 - p) / n) + 1e-9
    _holds(
        not far.any(), "sample: shares are more than five standard errors off the marginals", where
    )


def _check_no_answer(space: Space, scores: Scores) -> None:
    """−inf everywhere is an error, never a number."""
    nothing = _like(scores, -np.inf)
    for name in ("argmax", "logz", "marginals"):
        try:
            getattr(space, name)(nothing)
        except NoLegalLabelling:
            continue
        except Exception as error:
            raise AssertionError(
                f"{name}: with every score −inf it must raise NoLegalLabelling; got {error!r} ({space!r})."
            ) from error
        raise AssertionError(f"{name}: every score is −inf, yet it answers ({space!r}).")


# The laws of a loss


def check_loss(
    loss: Loss,
    space: Space | None = None,
    lengths: Sequence[int] = (1, 1, 1),
    edge: str | None = None,
    *,
    seed: int = 0,
) -> None:
    """Check values, residuals, weights and (where examples are single nodes) the conjugate of a loss.

    Residuals are compared with finite differences where the loss is smooth, with the subgradient
    inequality where it is convex; a shift of all scores of a node must change nothing, so residuals add
    up to zero.

    >>> from argmax.losses import Log
    >>> from argmax.spaces import Chain
    >>> from argmax.testing import check_loss
    >>> check_loss(Log())
    >>> check_loss(Log(), Chain(2), lengths=(3, 1, 2), edge="shared")
    """
    space, rng = space or Classes(3), np.random.default_rng(seed)
    where = f"loss {loss.name!r} on {space!r}, {edge or 'no'} edge scores"
    cost = np.ones((space.k, space.k)) - np.eye(space.k) if loss.takes_cost else None
    for _ in range(5):
        scores, other = (random_scores(rng, space.k, lengths, edge) for _ in range(2))
        labels = rng.integers(0, space.k, len(scores.node))
        truth = Truth(labels, rng.uniform(0.1, 3.0, len(scores)), cost)
        values, residual = _evaluate(loss, space, scores, truth)
        _holds(values.shape == (len(scores),), f"evaluate: shape is {values.shape}", where)
        _check_weights(loss, space, scores, truth, values, where)
        _same("residual: sum over the labels of a node", residual.node.sum(axis=1), 0.0, where)
        if residual.edge is not None:
            _same("residual: sum over a table of edges", residual.edge.sum(axis=(1, 2)), 0.0, where)
        if loss.smooth:
            _check_residual(loss, space, scores, truth, where, rng)
        if loss.convex:
            _check_convex(loss, space, scores, other, truth, where)
            if max(lengths) == 1:
                _check_conjugate(loss, space, scores, other, truth, where)


def _evaluate(loss: Loss, space: Space, scores: Scores, truth: Truth) -> tuple[Floats, Scores]:
    residual = _like(scores, np.nan)
    return loss.evaluate(space, scores, truth, residual), residual


def _check_weights(
    loss: Loss, space: Space, scores: Scores, truth: Truth, values: Floats, where: str
) -> None:
    """Values and residuals of an example are proportional to its weight; no weight means 1."""
    plain, residual = _evaluate(loss, space, scores, Truth(truth.labels, None, truth.cost))
    ones = Truth(truth.labels, np.ones(len(scores)), truth.cost)
    again, same = _evaluate(loss, space, scores, ones)
    share = np.ones(1) if truth.weight is None else truth.weight
    _same("evaluate: values with weights", values, plain * share, where)
    _same("evaluate: values with weight 1", again, plain, where)
    _same_parts("residual with weight 1", same, residual, where)


def _check_residual(
    loss: Loss, space: Space, scores: Scores, truth: Truth, where: str, rng: np.random.Generator
) -> None:
    v, h = _direction(scores, rng), 1e-5
    ahead = _evaluate(loss, space, _moved(scores, v, h), truth)[0].sum()
    behind = _evaluate(loss, space, _moved(scores, v, -h), truth)[0].sum()
    slope = _inner(_evaluate(loss, space, scores, truth)[1], v)
    _same("residual: slope of the loss", np.array(slope), (ahead - behind) / (2 * h), where, 1e-7)


def _check_convex(
    loss: Loss, space: Space, scores: Scores, other: Scores, truth: Truth, where: str
) -> None:
    """Along the line from scores to other: above its tangent, below its chord."""
    here, residual = _evaluate(loss, space, scores, truth)
    there = _evaluate(loss, space, other, truth)[0]
    step = _moved(other, scores, -1.0)
    tangent = float(here.sum()) + _inner(residual, step)
    _holds(float(there.sum()) >= tangent - 1e-9, "evaluate: a value lies below the tangent", where)
    for t in (0.25, 0.5, 0.75):
        between = _evaluate(loss, space, _moved(scores, step, t), truth)[0]
        chord = (1 - t) * here + t * there
        _holds(bool((between <= chord + 1e-9).all()), "evaluate: not convex along a line", where)


def _check_conjugate(
    loss: Loss, space: Space, scores: Scores, other: Scores, truth: Truth, where: str
) -> None:
    """Fenchel: loss*(r) ≥ ⟨r, s⟩ − loss(s) for every s, with equality where r is the residual."""
    here, residual = _evaluate(loss, space, scores, truth)
    there = _evaluate(loss, space, other, truth)[0]
    touching = _inner(residual, scores) - float(here.sum())
    found = loss.conjugate(space, scores, truth, 1.0)
    _same("conjugate of the residuals", np.array(found), touching, where)
    for scale in (0.0, 0.3, 0.9):
        bound = scale * _inner(residual, other) - float(there.sum())
        found = loss.conjugate(space, scores, truth, scale)
        _holds(found >= bound - 1e-9, f"conjugate: too small at scale {scale}", where)


# Small parts


def _moved(scores: Scores, v: Scores, step: float) -> Scores:
    """scores + step · v"""
    edge = None if scores.edge is None or v.edge is None else scores.edge + step * v.edge
    return Scores(scores.node + step * v.node, edge, scores.offsets)


def _direction(scores: Scores, rng: np.random.Generator) -> Scores:
    edge = None if scores.edge is None else rng.normal(size=scores.edge.shape)
    return Scores(rng.normal(size=scores.node.shape), edge, scores.offsets)


def _inner(a: Scores, b: Scores) -> float:
    edges = 0.0 if a.edge is None or b.edge is None else float(np.vdot(a.edge, b.edge))
    return float(np.vdot(a.node, b.node)) + edges


def _holds(condition: bool, what: str, where: str) -> None:
    if not condition:
        raise AssertionError(f"{what} ({where}).")


def _same_parts(what: str, found: Scores, expected: Scores, where: str) -> None:
    _same(f"{what}: node", found.node, expected.node, where)
    if expected.edge is not None:
        _holds(found.edge is not None, f"{what}: edge is missing", where)
        _same(f"{what}: edge", found.edge, expected.edge, where)


def _same(what: str, found: Any, expected: Any, where: str, tol: float = 1e-9) -> None:
    """Equal up to tol, relative to the larger of 1 and the expected value; −inf equals −inf."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if expected.ndim and found.shape != expected.shape:
        raise AssertionError(
            f"{what}: shape is {found.shape}, expected {expected.shape} ({where})."
        )
    close = np.isclose(found, expected, rtol=tol, atol=tol)
    if not close.all():
        at = tuple(int(i) for i in np.argwhere(~close)[0])
        got, want = found[at], np.broadcast_to(expected, found.shape)[at]
        raise AssertionError(f"{what}: {got!s} at {at}, expected {want!s} ({where}).")
