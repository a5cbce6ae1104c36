"""What is known of the weights of softmax regression: the mode, and a Gaussian around it.

The objective C Σ s_i loss_i + ½‖w‖² is C times −log posterior for the prior w ~ N(0, C I), flat on
intercepts: its minimum is the mode, and the evidence for C follows from the Gaussian there,

    log p(y | X, C) ≈ −Σ s_i loss_i − ‖w‖²/2C − ½ md log C − ½ log det H + ½ f log 2π

with H and md from ``laplace``, and f the number of intercepts that are free to move.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import log_softmax, softmax

from .. import checks
from ..errors import NotConverged, NumericalFailure
from ..estimators import LinearClassifier
from ..records import Floats, Ints
from .averages import average_softmax
from .curvature import Curvature, Rows
from .laplace import Diagonal, Full, Kronecker, Laplace, LowRank
from .posteriors import refined

__all__ = ["SoftmaxPosterior", "of_highest_evidence"]

FULL_WEIGHTS = 1500
"""Weights up to which "auto" inverts H as it is: a second or so."""

KRONECKER_FEATURES = 3000
"""Features up to which "auto" solves the eigenproblem of their covariance."""

BLOCK = 2**22
"""Numbers worked on together when rows are answered: 32 MB."""


@final
@dataclass(frozen=True, eq=False)
class SoftmaxPosterior:
    """A fitted ``LinearClassifier`` and the Gaussian around its weights."""

    mode: LinearClassifier
    laplace: Laplace
    structure: str
    centre: Floats  # (d,)
    log_evidence: float

    @classmethod
    def around(
        cls, mode: LinearClassifier, X: Any, codes: Ints, weight: Floats, structure: str, rank: int
    ) -> SoftmaxPosterior:
        """The Laplace approximation at a fitted mode, from the rows it was fitted on."""
        X = checks.matrix(X)
        d, intercept = X.shape[1], bool(mode.fit_intercept)
        centre = np.asarray(X.T @ weight).ravel() / weight.sum() if intercept else np.zeros(d)
        scores = _scores(mode, X)
        rows = Rows.of(X, centre, intercept)
        at = Curvature(rows, weight, softmax(scores, axis=1), 1.0 / mode.C, intercept)
        structure = _chosen(structure, at)
        laplace = _approximation(structure, at, rank)
        own = log_softmax(scores, axis=1)[np.arange(len(codes)), codes]
        fit = float(weight @ own) - float((mode.coef_**2).sum()) / (2 * mode.C)
        prior = -0.5 * mode.coef_.size * math.log(mode.C)
        free = intercept * (len(mode.classes_) - 1)
        flat = 0.5 * free * math.log(2 * math.pi)
        evidence = fit + prior - 0.5 * laplace.log_determinant + flat
        return cls(mode, laplace, structure, centre, evidence)

    def scores(self, X: Any) -> Iterator[tuple[slice, Floats, Floats]]:
        """Rows, mean (b, k) and covariance (b, k, k) of their scores, a block at a time."""
        X = checks.matrix(X)
        k, intercept = len(self.mode.classes_), bool(self.mode.fit_intercept)
        step = max(BLOCK // (X.shape[1] + 1 + k * k), 1)
        for start in range(0, X.shape[0], step):
            block = slice(start, min(start + step, X.shape[0]))
            with np.errstate(over="ignore", invalid="ignore"):
                rows = Rows.of(X[block], self.centre, intercept).dense(slice(None))
                spread = self.laplace.covariance(rows)
                if k == 2:
                    spread = spread * np.array([[0.25, -0.25], [-0.25, 0.25]])
            yield block, _scores(self.mode, X[block]), checks.finite_scores(spread)

    def probabilities(self, X: Any, method: str, draws: int, seed: int) -> Floats:
        """P(y | x, data) (n, k), the softmax averaged over the weights; "map" is that of the mode."""
        if method == "map":
            return self.mode.predict_proba(X)
        out = np.empty((X.shape[0], len(self.mode.classes_)))
        for block, mean, covariance in self.scores(X):
            out[block] = average_softmax(mean, covariance, method, draws=draws, random_state=seed)
        return out

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """n draws of coef (n, m, d) and intercept (n, m), as the mode has them: centred over classes."""
        mode, d = self.mode, len(self.centre)
        step = self.laplace.sample(n, rng)
        if step.shape[1] > 1:
            step -= step.mean(axis=1, keepdims=True)
        coef = mode.coef_ + step[:, :, :d]
        moved = step[:, :, d] - step[:, :, :d] @ self.centre if mode.fit_intercept else 0.0
        return coef, np.broadcast_to(mode.intercept_ + moved, coef.shape[:2])


def of_highest_evidence(
    at: Callable[[float], SoftmaxPosterior], square: float, free: int
) -> SoftmaxPosterior:
    """The posterior of the best C: powers of ten around 1 / the mean ``square`` of a row, then refined.

    For classes that can be separated there is none. Whatever C, some weights of its prior keep the classes
    apart, and ever more values of each of the ``free`` intercepts do: the evidence grows like √C for each,
    without end. Then C is the best one for intercepts with a prior N(0, C · square), as wide as that of the
    scores, and a warning says so. To first order this takes √C for each intercept from the evidence.
    """
    powers = np.arange(-3.0, 6.0) - math.log10(max(square, 1e-300))
    found, rises = _best(at, powers, 0)
    if rises and free:
        found, _ = _best(at, powers, free)
    if rises:
        warnings.warn(
            "C='evidence': the evidence rises to the end of the range that is searched, as it does for "
            f"classes that can be separated. C = {found.mode.C:.3g} is the best "
            f"{'one for intercepts with a prior as wide as that of the scores' if free else 'in the range'}. "
            "Give C a number to choose it otherwise, for example by cross-validation.",
            NotConverged,
            stacklevel=5,
        )
    return found


def _best(
    at: Callable[[float], SoftmaxPosterior], powers: Floats, free: int
) -> tuple[SoftmaxPosterior, bool]:
    """The posterior of the highest evidence · C^(−free/2), and whether that lies at the upper end."""
    best: list[Any] = []

    def misfit(power: float) -> float:
        try:
            known = at(10.0**power)
        except NumericalFailure as error:  # so far out the log loss is flat
            failed.append(error)
            return math.inf
        value = known.log_evidence - 0.5 * free * power * math.log(10.0)
        if not best or value > best[0]:
            best[:] = [value, known]
        return -value

    failed: list[NumericalFailure] = []
    values = np.array([misfit(power) for power in powers])
    if not best:
        raise failed[0]
    powers, values = powers[np.isfinite(values)], values[np.isfinite(values)]
    refined(misfit, powers, values, width=0.02)
    return best[1], math.log10(best[1].mode.C) > powers[-1] - 0.05


def _scores(mode: LinearClassifier, X: Any) -> Floats:
    """Scores (n, k), for two classes as well."""
    found = mode.decision_function(X)
    return found if found.ndim == 2 else np.stack([-0.5 * found, 0.5 * found], axis=1)


def _chosen(structure: str, at: Curvature) -> str:
    if structure != "auto":
        return structure
    if at.blocks * len(at.rows.centre) <= FULL_WEIGHTS:
        return "full"
    return "kron" if at.features <= KRONECKER_FEATURES else "diag"


def _approximation(structure: str, at: Curvature, rank: int) -> Laplace:
    if structure == "low_rank":
        return LowRank(at, rank)
    kinds: dict[str, Callable[[Curvature], Laplace]]
    kinds = {"full": Full, "kron": Kronecker, "diag": Diagonal}
    return kinds[structure](at)
