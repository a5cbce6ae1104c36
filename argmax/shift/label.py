"""Label shift: the classes are more or less frequent than they were, and each looks as it did.

    P_te(y) ≠ P_tr(y),   P(x | y) unchanged   ⇒   P_te(y | x) ∝ P_tr(y | x) · π_y / source_y

so a number log(π_y / source_y) added to each score repairs a model. Scores are calibrated first: priors
that are estimated from dishonest probabilities do more harm than the shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..calibration import BiasCorrected, Dirichlet, Readout, calibrator, choose
from ..calibration.base import Scaling, as_scores, columns_of
from ..errors import InvalidInput
from ..metrics import Interval
from ..metrics.scores import SMALLEST
from ..records import Floats, Ints
from . import priors
from .gate import label_shift_test
from .scatter import Sets, draws, interval
from .tests import Evidence, outputs

__all__ = ["LabelShift", "label"]

METHODS = ("maximum_likelihood", "adjusted_counts", "black_box", "regularised")

WIDEST = 32
"""Classes up to which the calibration is chosen by cross-validation."""

FEWEST = 50
"""Validation rows from which on the calibration is chosen by cross-validation."""

LEAST = 4
"""Target rows for each class below which adapting is not advised."""


@final
@dataclass(frozen=True, slots=True)
class LabelShift:
    """Class priors of the target rows with intervals, two tests, and the read-out that adapts a model.

    classes     (k,)
    source      (k,)  priors that the model's calibrated probabilities belong to
    priors      (k,)  estimated for where the target rows come from
    low, high   (k,)  hold each of them with probability ``level``
    shares      (k,)  expected among the target rows themselves, which by chance differ from their priors
    calibrated  scores ↦ scores whose softmax is honest where the validation rows come from
    moved       test of "nothing has moved"
    compatible  test of "only the priors have moved": a small p-value says no
    draws       (b, k)  priors of resampled sets: what chance makes of the estimate
    singular    smallest singular value of P(answer | class): near 0, some classes cannot be told apart
    rows        (n, m)
    """

    classes: Any
    method: str
    source: Floats
    priors: Floats
    shares: Floats
    low: Floats
    high: Floats
    draws: Floats
    level: float
    calibrated: Readout
    moved: Evidence
    compatible: Evidence
    singular: float
    rows: tuple[int, int]

    @property
    def ratios(self) -> Floats:
        """New priors over old ones, (k,)."""
        return self.priors / np.maximum(self.source, SMALLEST)

    @property
    def readout(self) -> Readout:
        """scores ↦ A·scores + b + log ratios: their softmax are probabilities for the target."""
        return shifted(self.calibrated, self.source, self.priors)

    @property
    def advised(self) -> bool:
        """Whether to adapt: something moved, priors alone explain it, and the rows suffice to say how."""
        enough = self.rows[1] >= LEAST * len(self.classes)
        return self.moved.rejected() and not self.compatible.rejected() and enough

    @property
    def advised_readout(self) -> Readout:
        """The read-out that adapts if that is advised, else the one that only calibrates."""
        return self.readout if self.advised else self.calibrated

    def interval(self, column: int) -> Interval:
        """The prior of a class, by its column, and the range that covers it."""
        value, low, high = (float(one[column]) for one in (self.priors, self.low, self.high))
        return Interval(value, low, high, self.level)

    def __str__(self) -> str:
        lines = [f"{self.moved}", f"{self.compatible}"]
        rows = zip(self.classes, self.source, self.priors, self.low, self.high, strict=True)
        lines += [f"{c}: {s:.3f} → {p:.3f} ({a:.3f} to {b:.3f})" for c, s, p, a, b in rows]
        return "\n".join(lines)


def shifted(calibrated: Readout, source: Floats, new: Floats) -> Readout:
    """A read-out for other priors: only its offset changes. Priors of 0 count as a rounding error."""
    change = np.log(np.maximum(new, SMALLEST)) - np.log(np.maximum(source, SMALLEST))
    return Readout(calibrated.scale, calibrated.offset + change)


def label(
    scores: Any,
    truth: Any,
    target: Any,
    classes: Any = None,
    *,
    on: str = "scores",
    method: str = "maximum_likelihood",
    calibrate: Any = "auto",
    shrinkage: float | str = "auto",
    level: float = 0.95,
    resamples: int = 200,
    seed: int = 0,
) -> LabelShift:
    """Estimate how frequent the classes are in target rows, from what a model says of them.

    Parameters
    ----------
    scores : (n, k), or (n,) for two classes
        What the model says of validation rows, which it has not learned from.
    truth : (n,)
        Their labels, of ``classes``; without classes, column numbers.
    target : (m, k) or (m,)
        What it says of rows without labels.
    classes : (k,) or None
    on : "scores" or "probabilities"
    method : "maximum_likelihood", "adjusted_counts", "black_box" or "regularised"
        See ``shift.maximum_likelihood`` and its neighbours. All work on calibrated probabilities.
    calibrate : "auto", or the name of a scaling in ``argmax.calibration``
        "auto" takes the one of the least held-out log loss; of more than 32 classes, "bias_corrected".
    shrinkage : "auto" or float
        Of maximum likelihood: what a prior around the old priors weighs, as a share of the target rows.
        "auto" takes what makes left-out target rows most probable, so that priors that have not moved stay.
    level : float
        Of the intervals, which are percentiles over ``resamples`` sets of target *and* validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import shift
    >>> rng = np.random.default_rng(0)
    >>> y, new = rng.integers(2, size=2000), (rng.random(1000) < 0.9).astype(int)
    >>> x, z = rng.normal(2.0 * y - 1), rng.normal(2.0 * new - 1)
    >>> found = shift.label(3 * x, y, 3 * z)  # scores that are half as sure again as they may be
    >>> found.advised, bool(abs(found.priors[1] - new.mean()) < 0.02), 0.9 in found.interval(1)
    (True, True, True)
    """
    table, column, new = _checked(scores, truth, target, classes, on)
    checks.choice("method", method, METHODS)
    if shrinkage != "auto":
        shrinkage = checks.number("shrinkage", shrinkage, 0.0)
    level = checks.number("level", level, 0.0, 1.0)
    resamples = checks.positive_integer("resamples", resamples)
    readout = _calibrated(calibrate, table, column)
    rows = Sets(method, readout(table), column, readout(new))
    if method == "maximum_likelihood":
        found = priors.shrunk(rows.ratios(), rows.source, shrinkage, seed)
    else:
        found = rows.estimate()
    drawn = draws(rows, resamples, seed)
    low, high = interval(drawn, found, level, len(new))
    plain = BiasCorrected().fit(table, column).readout_
    p, q = plain.probabilities(table), plain.probabilities(new)
    return LabelShift(
        np.arange(table.shape[1]) if classes is None else np.asarray(classes),
        method, rows.source, found, priors.shares(rows.ratios(), found), low, high, drawn, level, readout,
        outputs(p, q, seed=seed),
        label_shift_test(p, column, q, seed=seed),
        _least_singular(rows.p, column),
        (len(p), len(q)),
    )  # fmt: skip


def _checked(
    scores: Any, truth: Any, target: Any, classes: Any, on: str
) -> tuple[Floats, Ints, Floats]:
    table, new = as_scores(scores, on), as_scores(target, on)
    if not len(table) or not len(new):
        raise InvalidInput("scores and target need at least one row each.")
    if table.shape[1] != new.shape[1]:
        raise InvalidInput(
            f"target must have the {table.shape[1]} columns of scores; got {new.shape[1]}. Score both sets "
            "with one model."
        )
    return table, columns_of(truth, classes, table.shape), new


def _calibrated(method: Any, table: Floats, truth: Ints) -> Readout:
    if isinstance(method, str) and method == "auto":
        if table.shape[1] <= WIDEST and len(table) >= FEWEST:
            found = choose(table, truth).calibrator
        else:
            found = calibrator("bias_corrected").fit(table, truth)
    else:
        found = calibrator(method).fit(table, truth)
    if not isinstance(found, Scaling) or isinstance(found, Dirichlet):
        raise InvalidInput(
            f"calibrate must be a scaling of scores, such as 'vector'; got {method!r}."
        )
    return found.readout_


def _least_singular(p: Floats, truth: Ints) -> float:
    joint = priors.tally(p, truth, soft=False)
    columns = joint / np.maximum(joint.sum(axis=0), SMALLEST)
    return float(np.linalg.svd(columns, compute_uv=False)[-1])
