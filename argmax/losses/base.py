"""What a loss declares and computes, and what second-order solvers ask of a smooth one."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..errors import Unsupported
from ..records import Floats, Scores, Truth
from ..spaces import Space

__all__ = ["Curvature", "Loss", "weighted"]


class Curvature(ABC):
    """The second derivatives H_i of a smooth loss in the K scores of one label.

    ``fill`` computes once at a point whatever the products need, (N, K); the others take that.

    >>> from argmax import losses
    >>> losses.get("log").curvature.crossed, losses.get("squared").curvature.crossed
    (True, False)
    """

    crossed: bool  # labels enter each other's derivatives; or else H is one number a weight column

    @abstractmethod
    def bound(self, k: int) -> float:
        """No direction that keeps Σ_c v_c = 0 sees more curvature than this, whatever the scores."""

    @abstractmethod
    def fill(self, space: Space, scores: Scores, truth: Truth, out: Floats) -> None:
        """What the products below need (N, K)."""

    @abstractmethod
    def product(
        self, space: Space, filled: Floats, weight: Floats, direction: Floats, out: Floats
    ) -> None:
        """out_i = weight_i H_i direction_i."""

    @abstractmethod
    def summed(self, filled: Floats, weight: Floats) -> Floats:
        """Σ_i weight_i H_i (K, K)."""

    @abstractmethod
    def summed_diagonal(self, filled: Floats, weight: Floats) -> Floats:
        """The diagonal of ``summed`` (K,)."""

    @abstractmethod
    def summed_product(self, filled: Floats, weight: Floats, v: Floats) -> Floats:
        """``summed`` times v (K,), without the matrix."""

    @abstractmethod
    def spread(self, filled: Floats) -> Floats:
        """The mean curvature of each example (n,), in the units of ``bound``."""

    @abstractmethod
    def diagonal(self, filled: Floats) -> Floats:
        """Of a loss that is not crossed: H_i of every weight column (n, m); m is 1 for two labels."""

    @abstractmethod
    def parts(self, filled: Floats) -> tuple[Floats, Floats | None]:
        """Of a crossed one: H_i = diag(a_i) − b_i b_iᵀ, a and b (n, K); b None where H has another form."""


class Loss(ABC):
    """One loss. To add one, fill in the declarations, ``evaluate`` and ``conjugate``; then pass it to
    ``argmax.testing.check_loss``.

    >>> from argmax import losses
    >>> loss = losses.get("log")
    >>> loss.smooth, loss.convex, loss.takes_cost, loss.free_intercept
    (True, True, False, True)
    """

    name: str
    smooth: bool  # has a gradient everywhere
    convex: bool
    takes_cost: bool
    free_intercept: bool  # whether the intercept goes unpenalised
    probabilities: bool  # whether the scores estimate P(y | x)
    structured: bool = True  # defined on every space, or else on single labels only
    relative: bool = True  # only differences between scores matter: a shift of all changes nothing
    curvature: Curvature | None = None  # of smooth losses over classes
    foresees: bool = False  # whether ``dual_point`` is there
    online: bool = (
        False  # steps are taken along it and nothing is minimised: no penalty, no certificate
    )

    @abstractmethod
    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        """Values (n,) of the weighted losses; ``residual`` is filled with their gradient."""

    @abstractmethod
    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        """Σ_i weight_i · loss*(scale · r_i): the dual value of the residuals at ``scores``, shrunk."""

    def dual_point(
        self, space: Space, scores: Scores, truth: Truth, step: Floats, residual: Scores
    ) -> Floats:
        """A point of the dual close to the residuals at scores + step; returns weight_i · loss*_i there.

        The values are (n, m), one for each of m separate problems, or (n, 1).

        ``residual`` is filled with weight_i · (∂loss_i + H_i step_i), moved into the domain of loss* where it
        lies outside. The step of Newton's method leads to a dual point that is as good as its next iterate.
        """
        raise Unsupported(f"loss {self.name!r} has no dual points of steps.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def check(self, truth: Truth) -> None:
        """Refuse what the loss would have to ignore."""
        if (truth.cost is not None or truth.prices is not None) and not self.takes_cost:
            raise Unsupported(f"loss {self.name!r} has no cost. Use cost=None, or loss='hinge'.")


def weighted(values: Floats, weight: Floats | None) -> Floats:
    """Each value times the weight of its example."""
    return values if weight is None else values * weight
