"""Early stopping of sequence models: how good the weights of each pass are on sequences held out.

The score is F1 of the spans where the labels mark spans, and the share of right tokens elsewhere. A model
that fits the training sequences ever better scores best on others some time before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..engines.reading import chosen
from ..passes import Problem
from ..records import Csr, Floats, Solution, Structures
from ..solvers import Progress
from ..tags import Tags
from . import decoding
from .sequences import Labels, as_lists

__all__ = ["Watch", "parted"]


@final
@dataclass(frozen=True)
class Sequences:
    """Sequences with what is known of them."""

    stack: Structures
    labels: Labels
    weight: Floats | None
    token_weight: Floats | None = None  # (N,)

    def with_weight(self) -> Sequences:
        """Without those that have none: a sequence without weight is a sequence that is not there."""
        if self.weight is None or self.weight.all():
            return self
        rest = self.some(self.weight > 0)
        weight = None if rest.weight is None or np.all(rest.weight == 1.0) else rest.weight
        return Sequences(rest.stack, rest.labels.present(), weight, rest.token_weight)

    def some(self, which: NDArray[np.bool_]) -> Sequences:
        """Those that are marked, in order."""
        offsets, stack = self.stack.offsets, self.stack
        assert offsets is not None
        lengths = np.diff(offsets)
        tokens = np.repeat(which, lengths)
        edges = None
        if stack.edge_rows is not None:
            edges = chosen(stack.edge_rows, np.repeat(which, np.maximum(lengths - 1, 0)))
        ends = np.concatenate([[0], np.cumsum(lengths[which])]).astype(np.int64)
        allowed = None if self.labels.allowed is None else self.labels.allowed[tokens]
        rows = chosen(stack.rows, tokens)
        if isinstance(stack.rows, Csr) and isinstance(rows, Csr) and stack.rows.values is None:
            rows = replace(rows, values=None)
        return Sequences(
            Structures(rows, ends, edge_rows=edges),
            replace(self.labels, codes=self.labels.codes[tokens], allowed=allowed),
            None if self.weight is None else self.weight[which],
            None if self.token_weight is None else self.token_weight[tokens],
        )


def parted(given: Sequences, share: float, seed: int) -> tuple[Sequences, Sequences]:
    """Sequences to learn from, and sequences to be scored: a random share of them."""
    n = len(given.stack)
    count = min(max(round(share * n), 1), n - 1)
    held = np.zeros(n, bool)
    held[np.random.default_rng(seed).permutation(n)[:count]] = True
    return given.some(~held), given.some(held)


@final
class Watch:
    """A callback that scores w on the sequences held out, and stops when it gets no better."""

    def __init__(self, problem: Problem, held: Sequences, patience: int, every: int) -> None:
        self.problem, self.held = problem, held
        self.patience, self.every = patience, every
        self.scores: list[tuple[int, float]] = []
        self.best: tuple[float, Floats] | None = None
        names = tuple(map(str, held.labels.classes))
        self.spans = Tags.fit(names)

    def __call__(self, progress: Progress) -> bool:
        if progress.passes % self.every and not progress.last:
            return False
        score = self._score(progress.w)
        self.scores.append((progress.passes, score))
        if self.best is None or score > self.best[0]:
            self.best = score, progress.w.copy()
        since = [value for _, value in self.scores[-self.patience :]]
        full = len(self.scores) > self.patience
        return full and max(since) < self.best[0]

    def _score(self, w: Floats) -> float:
        layout, flat = self.problem.pairs.unfolded(w)
        answer = decoding.best(replace(self.problem, layout=layout), flat, self.held.stack, 1)
        labels, offsets = self.held.labels, self.held.stack.offsets
        assert offsets is not None
        if not self.spans:
            return float(np.mean(answer == labels.codes))
        both = (as_lists(labels.classes, codes, offsets) for codes in (labels.codes, answer))
        return metrics.span_f1(*both)

    def applied(self, solution: Solution) -> Solution:
        """The solution with the weights that scored best."""
        if self.best is None:
            return solution
        score, w = self.best
        passes = next(passes for passes, value in self.scores if value == score)
        name = "F1 of spans" if self.spans else "token accuracy"
        message = f"{solution.solver}: pass {passes} had the best {name} on sequences held out, {score:.4f}."
        return replace(solution, w=w, status="stopped", message=message)


def every_of(solver: Any) -> int:
    """How many passes lie between two looks: epochs of the perceptron count, those of L-BFGS move little."""
    return 1 if solver.name == "perceptron" else 3
