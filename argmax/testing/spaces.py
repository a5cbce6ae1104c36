"""The laws of a space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ..errors import NoLegalLabelling
from ..records import Scores
from ..spaces import Space
from .brute_force import BruteForce
from .comparing import holds, same, same_parts
from .scores import EDGES, direction, inner, like, moved, random_scores

__all__ = ["check_space"]


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
    ``edges`` are the pairs of nodes that are joined, put into ``scores.edges`` (None: those that the space
    joins by itself, consecutive ones).

    >>> from argmax.spaces import Chain, Classes
    >>> from argmax.testing import check_space
    >>> check_space(Classes)
    >>> check_space(Chain, lengths=(3, 1, 2))
    """
    rng = np.random.default_rng(seed)
    kinds = EDGES if edges is not None or max(lengths) > 1 else (None,)
    joined = None if edges is None else np.asarray(edges, np.intp).reshape(-1, 2)
    n_edges = None if edges is None else len(edges)

    def draw(k: int, edge: str | None = None, **options: Any) -> Scores:
        return replace(
            random_scores(rng, k, lengths, edge, n_edges=n_edges, **options), edges=joined
        )

    for k, edge, forbidden, whole in product(sizes, kinds, (0.0, 0.3), (False, True)):
        space, truth = make(k), BruteForce(k, edges)
        scores = draw(k, edge, forbidden=forbidden, whole=whole)
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
    _check_sample(space, draw(2, kinds[-1]), rng)
    _check_no_answer(space, draw(2))


def _check_argmax(space: Space, truth: Space, scores: Scores, where: str, ties: bool) -> None:
    found, best = space.argmax(scores), truth.argmax(scores)
    if not np.array_equal(found.value, found.bound):  # an inexact space: the truth lies between
        holds(
            bool((found.value <= best.value + 1e-9).all()), "argmax: value is above the best", where
        )
        holds(
            bool((best.value <= found.bound + 1e-9).all()), "argmax: bound is no upper bound", where
        )
        return
    same("argmax: value", found.value, best.value, where)
    same("argmax: score of the labels", truth.score(scores, found.labels), best.value, where)
    if ties:
        same("argmax: labels (of equals, the first in lexicographic order)",
              found.labels, best.labels, where)  # fmt: skip


def _check_sums(
    space: Space, truth: Space, scores: Scores, where: str, rng: np.random.Generator
) -> None:
    if not space.logz(scores).exact:
        return
    weight = rng.uniform(0.0, 3.0, len(scores))
    same("logz", space.logz(scores).value, truth.logz(scores).value, where)
    for share in (None, weight):
        name = "marginals" if share is None else "weighted marginals"
        out, expected = like(scores, np.nan), truth.marginals(scores, share)[1]
        for given in (None, out):
            value, found = space.marginals(scores, share, given)
            same(f"{name}: log Z", value.value, truth.logz(scores).value, where)
            same_parts(name, found, expected, where)
        same(f"{name}: node, written into out", out.node, expected.node, where)


def _check_labels(
    space: Space, truth: Space, scores: Scores, where: str, rng: np.random.Generator
) -> None:
    """What is asked about given labels: score, parts, nll."""
    labels = truth.sample(scores, 1, rng)[0]  # legal ones
    same("score", space.score(scores, labels), truth.score(scores, labels), where)
    for weight in (None, rng.uniform(0.0, 3.0, len(scores))):
        found, expected = like(scores, 1.0), like(scores, 1.0)
        space.parts(scores, labels, weight, found)
        truth.parts(scores, labels, weight, expected)
        same_parts("parts", found, expected, where)
        found = like(scores, np.nan)
        value = space.nll(scores, labels, weight, found)
        same("nll: value", value, truth.nll(scores, labels, weight, expected), where)
        same_parts("nll: gradient", found, expected, where)


def _check_top_k(space: Space, truth: Space, scores: Scores, where: str) -> None:
    for k in (1, 4):
        labels, values = space.top_k(scores, k)
        best, expected = truth.top_k(scores, k)
        same(f"top_k({k}): values", values, expected, where)
        same(f"top_k({k}): label −1 as filler", labels < 0, best < 0, where)
        offsets = np.arange(len(scores.node) + 1) if scores.offsets is None else scores.offsets
        for i in range(len(scores)):
            legal = ~np.isneginf(values[:, i])
            mine = labels[legal, offsets[i] : offsets[i + 1]]
            distinct = len(np.unique(mine, axis=0)) == len(mine)
            holds(distinct, f"top_k({k}): example {i} has the same labelling twice", where)
        for rank in range(k):
            full = np.where(labels[rank] < 0, 0, labels[rank])
            legal = ~np.isneginf(values[rank])
            again = truth.score(scores, full)
            same(f"top_k({k}): score of answer {rank}", again[legal], values[rank][legal], where)


def _check_slope(space: Space, scores: Scores, where: str, rng: np.random.Generator) -> None:
    """⟨marginals, v⟩ is the slope of log Z along v."""
    if not space.logz(scores).exact:
        return
    v, h = direction(scores, rng), 1e-5
    rise = space.logz(moved(scores, v, h)).value - space.logz(moved(scores, v, -h)).value
    slope = inner(space.marginals(scores)[1], v)
    same("marginals: slope of log Z", np.array(slope), rise.sum() / (2 * h), where, 1e-7)


def _check_curvature(space: Space, scores: Scores, where: str, rng: np.random.Generator) -> None:
    if not space.curved:
        return
    v, h, weight = direction(scores, rng), 1e-5, rng.uniform(0.0, 3.0, len(scores))
    p, out = space.marginals(scores)[1], like(scores, np.nan)
    space.curvature(p, weight, v, out)
    ahead = space.marginals(moved(scores, v, h), weight)[1].node
    behind = space.marginals(moved(scores, v, -h), weight)[1].node
    same("curvature: change of the marginals", out.node, (ahead - behind) / (2 * h), where, 1e-7)


def _check_sample(space: Space, scores: Scores, rng: np.random.Generator) -> None:
    n, where = 2000, f"{space!r}, {len(scores.node)} nodes"
    draws = space.sample(scores, n, rng)
    holds(draws.shape == (n, len(scores.node)), f"sample: shape is {draws.shape}", where)
    share = np.stack([(draws == label).mean(axis=0) for label in range(space.k)], axis=1)
    p = space.marginals(scores)[1].node
    far = np.abs(share - p) > 5.0 * np.sqrt(p * (1.0 - p) / n) + 1e-9
    holds(
        not far.any(), "sample: shares are more than five standard errors off the marginals", where
    )


def _check_no_answer(space: Space, scores: Scores) -> None:
    """−inf everywhere is an error, never a number."""
    nothing = like(scores, -np.inf)
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
