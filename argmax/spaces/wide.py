"""The best labels of graphs too wide for a quick elimination, and what no labelling exceeds.

    two labels that attract each other    a minimum cut, exact
    else                                  labels and a bound by messages (MPLP): exact where they meet
                                          a search among what the bound leaves possible: exact if it ends
                                          elimination, where it fits the limit after all: exact
                                          more messages, and a search with more room: exact if it ends
                                          expansion moves: better labels, and the bound says how good

A search that ends does so after few sweeps mostly, and is cheaper than more of them.
"""

from __future__ import annotations

import numpy as np

from ..records import Floats, Ints
from . import cuts
from .elimination import Elimination, steps
from .frontier import least
from .messages import EASY, ROUNDING, Relaxation, Settings
from .pairwise import Pairwise

__all__ = ["best"]

SOON = 16
"""The first search has so many times less room than the last."""


def best(pair: Pairwise, settings: Settings, limit: int) -> tuple[Ints, Floats, Floats]:
    """Labels (N,), their values (n,) and bounds (n,). ``limit``: numbers of elimination, states of a search.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces.messages import Settings
    >>> from argmax.spaces.pairwise import Pairwise
    >>> from argmax.spaces.wide import best
    >>> differ, triangle = np.array([[[0.0, 1.0], [1.0, 0.0]]]), np.array([[0, 1], [1, 2], [0, 2]])
    >>> pair = Pairwise.of(Scores(np.zeros((3, 2)), differ, np.array([0, 3]), triangle), 2)
    >>> best(pair, Settings(100, 0.0, 1e-6), 0)[1:]  # by messages alone
    (array([2.]), array([3.]))
    >>> best(pair, Settings(100, 0.0, 1e-6), 10)[1:]  # with a search of ten states
    (array([2.]), array([2.]))
    """
    labels = np.zeros(len(pair.node), np.intp)
    value, bound, others = np.zeros(len(pair)), np.zeros(len(pair)), []
    for i, part, nodes, _ in pair.singles(np.arange(len(pair))):
        if cuts.attractive(part):
            labels[nodes] = cuts.best_of_two(part)
            value[i] = bound[i] = part.score(labels[nodes])[0]
        else:
            others.append(i)
    if others:
        relaxed = Relaxation(pair.take(np.array(others))[0], settings)
        for place, (i, part, nodes, _) in enumerate(pair.singles(np.array(others))):
            labels[nodes], value[i], bound[i] = _best_of_one(relaxed, place, part, limit)
    return labels, value, bound


def _best_of_one(
    relaxed: Relaxation, i: int, part: Pairwise, limit: int
) -> tuple[Ints, float, float]:
    """Labels of example i, their value and bound. Given also its scores alone."""
    labels, top = _searched(relaxed, i, EASY, limit // SOON)
    if top > -np.inf:
        order = steps(part.edges.tobytes(), len(part.node), part.k, limit)
        if order is None:
            labels, top = _searched(relaxed, i, relaxed.settings.sweeps, limit)
        else:
            labels, top = Elimination(part, order, maximum=True).labels(), -np.inf
    value = float(part.score(labels)[0])
    if top > value:
        better = cuts.expanded(part, labels)
        if (score := float(part.score(better)[0])) > value:
            labels, value = better, min(score, top)
    return labels, value, max(value, top)


def _searched(relaxed: Relaxation, i: int, sweeps: int, limit: int) -> tuple[Ints, float]:
    """Labels after some sweeps and a search, and what others may score; −inf where none is better."""
    relaxed.sweep(i, min(sweeps, relaxed.settings.sweeps))
    bound, gap = relaxed.bound(i), relaxed.gap(i)
    labels = relaxed.labels[slice(*relaxed.pair.offsets[i : i + 2])]
    if gap == 0.0:
        return labels, -np.inf
    if limit == 0:
        return labels, bound
    found, lost = least(relaxed.losses(i), gap + ROUNDING * (1.0 + abs(bound)), limit)
    return (labels, bound - min(lost, gap)) if found is None else (found, -np.inf)
