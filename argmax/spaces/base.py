"""What a space must be able to answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..errors import Unsupported
from ..records import Answer, Floats, Ints, Scores, Value

__all__ = ["Space"]


class Space(ABC):
    """A set of answers y for each example, with s(y) = Σ node scores + Σ edge scores.

    A space knows nothing of features, weights or losses. To add one, implement the abstract methods
    and pass it to ``argmax.testing.check_space``, which compares each oracle with brute force.

    ``marginals`` and ``parts`` take the weight of each example, because edge scores shared by all
    examples get back one table, summed: weighting it afterwards would be too late.
    """

    k: int
    curved: bool = False
    """Whether ``curvature`` (second derivatives of log Z) is available."""

    @abstractmethod
    def argmax(self, scores: Scores) -> Answer:
        """ŷ = argmax_y s(y) for each example; of equals, the first in lexicographic order."""

    @abstractmethod
    def logz(self, scores: Scores) -> Value:
        """log Σ_y exp s(y) for each example."""

    @abstractmethod
    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        """log Z, and its gradient: the probability of each label at each node (and pair at each edge).

        With ``weight`` (n,), example i's share is multiplied by weight_i.
        """

    @abstractmethod
    def score(self, scores: Scores, labels: Ints) -> Floats:
        """s(labels) for each example."""

    @abstractmethod
    def parts(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> None:
        """out −= weight · indicator(labels): with marginals in ``out``, what is left is the residual."""

    @abstractmethod
    def nll(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        """weight · (log Z − s(labels)) for each example; ``out`` is filled with its gradient.

        The same as ``marginals``, ``score`` and ``parts`` together, which is how to write it first; it is
        a question of its own because every pass of a log loss asks it.
        """

    @abstractmethod
    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        """n exact draws from exp s(y) / Z, as (n, N) labels."""

    @abstractmethod
    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        """The k best answers of each example.

        Labels (k, N) and values (k, n); an example with fewer than k answers is filled up with
        label −1 and value −inf.
        """

    def pseudo(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        """weight · Σ_v −log P(labels_v | labels of its neighbours); ``out`` is filled with its gradient.

        What a space with edges offers where log Z is out of reach (Besag 1975).
        """
        raise Unsupported(f"{self!r} has no pseudo-likelihood. Use loss='log'.")

    def curvature(self, marginals: Scores, weight: Floats, direction: Scores, out: Scores) -> None:
        """out = weight · (∂ marginals / ∂ scores) · direction, where ``curved``."""
        raise NotImplementedError(f"{type(self).__name__} has no curvature")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.k})"

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.k))
