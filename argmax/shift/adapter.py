"""Adapting a model to other priors: a number is added to each score, and can be taken off again.

    P_te(y | x) ∝ P(y | x) · π_y / source_y     ⇔     score_y + log(π_y / source_y)

Of a linear model only the intercepts change, so what comes out is a linear model that serves single rows.
The same numbers undo resampling and class weights (``source`` are the priors it was trained with), or put
in a prevalence that is known.

Reference: Saerens, Latinne, Decaestecker, 2002; Elkan, The foundations of cost-sensitive learning, 2001.
"""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np

from ..calibration import BiasCorrected, Calibrated, Identity, Matrix, Readout, Vector, calibrator
from ..calibration.base import Scaling
from ..calibration.calibrated import bare
from ..calibration.passes import Rows
from ..errors import InvalidInput, Unsupported
from ..metrics.scores import SMALLEST
from ..records import Floats
from .label import LabelShift, shifted

__all__ = ["NewPriors", "adapt", "undo"]


@final
class NewPriors(Scaling):
    """Calibration for rows among which classes have other frequencies than among those calibrated on.

    Parameters
    ----------
    priors : (k,)
        Frequencies of the classes where the model is used.
    source : (k,) or None
        Frequencies that its probabilities belong to; None: their mean over the rows that ``fit`` gets.
    base : str
        The scaling that makes probabilities honest first.
    note : str
        Where the priors come from. It is kept with the model.
    on : "scores" or "probabilities"

    Attributes
    ----------
    base_ : Readout
        The read-out before; ``readout_`` differs in its offset alone.
    source_ : (k,)

    Examples
    --------
    A classifier trained on as many sick as healthy people, where one in a hundred is sick:

    >>> import numpy as np
    >>> from argmax import shift
    >>> scores = np.log([[0.2, 0.8], [0.8, 0.2]])
    >>> found = shift.NewPriors([0.99, 0.01], source=[0.5, 0.5], base="identity").fit(
    ...     scores, [1, 0]
    ... )
    >>> found.predict_proba(scores[:1]).round(3)
    array([[0.961, 0.039]])
    """

    def __init__(
        self,
        priors: Any,
        source: Any = None,
        base: str = "bias_corrected",
        note: str = "",
        on: str = "scores",
    ) -> None:
        self.priors = priors
        self.source = source
        self.base = base
        self.note = note
        self.on = on

    def _solved(self, rows: Rows) -> Readout:
        made = calibrator(self.base)
        if not isinstance(made, Scaling):
            raise InvalidInput(
                f"base must be a scaling of scores, such as 'vector'; got {self.base!r}."
            )
        found = made.fit(
            rows.scores, rows.truth, None, rows.weight if len(rows.weight) > 1 else None
        )
        assert isinstance(found, Scaling)
        return self._over(found.readout_, found.predict_proba(rows.scores).mean(axis=0))

    def adopt(self, base: Readout) -> Self:
        """Take over a read-out that was learned elsewhere; ``source`` must be given."""
        if self.source is None:
            raise InvalidInput(
                "source is missing: the priors that the read-out's probabilities belong to."
            )
        self.readout_ = self._over(base, np.zeros(len(base.offset)))
        self.n_classes_ = len(base.offset)
        return self

    def _over(self, base: Readout, mean: Floats) -> Readout:
        k = len(base.offset)
        new = _frequencies("priors", self.priors, k)
        self.source_ = mean if self.source is None else _frequencies("source", self.source, k)
        self.base_ = base
        return shifted(base, self.source_, new)


def _frequencies(name: str, given: Any, k: int) -> Floats:
    values = np.asarray(given, dtype=float)
    fit = values.shape == (k,) and (values >= 0).all() and abs(values.sum() - 1.0) <= 1e-3
    if not fit:
        raise InvalidInput(f"{name} must be {k} numbers of 0 or more that sum to 1; got {given!r}.")
    return values


def adapt(model: Any, found: LabelShift, note: str = "") -> Calibrated:
    """A fitted classifier for the priors that ``shift.label`` found, whatever its tests say.

    ``found`` must come from this model's scores. The model itself stays as it is: ``undo`` gives it back
    calibrated, and ``argmax.save`` stores the change beside the weights of one of this library's.

    >>> import numpy as np
    >>> from argmax import SoftmaxRegression, shift
    >>> rng = np.random.default_rng(0)
    >>> y, new = rng.integers(2, size=2000), (rng.random(1000) < 0.9).astype(int)
    >>> X, Z = rng.normal(2.0 * y - 1)[:, None], rng.normal(2.0 * new - 1)[:, None]
    >>> model = SoftmaxRegression().fit(X[:1000], y[:1000])
    >>> found = shift.label(model.decision_function(X[1000:]), y[1000:], model.decision_function(Z))
    >>> adapted = shift.adapt(model, found)
    >>> adapted.score(Z, new) > model.score(Z, new) + 0.05
    True
    """
    inner = bare(model)
    if not np.array_equal(inner.classes_, found.classes):
        raise InvalidInput(
            "found belongs to other classes than the model has, or to another order."
        )
    told = note or f"priors by {found.method} of {found.rows[1]} target rows"
    change = NewPriors(
        np.maximum(found.priors, SMALLEST).tolist(), found.source.tolist(), note=told
    ).adopt(found.calibrated)
    return Calibrated(inner, change, cv="prefit").adopt(inner, change)


def undo(model: Any) -> Calibrated:
    """The model before ``adapt``: calibrated, with the priors that it had.

    >>> import numpy as np
    >>> from argmax import SoftmaxRegression, shift
    >>> from argmax.calibration import Calibrated
    >>> X, y = np.array([[0.0], [1.0], [0.2], [0.8]]), np.array([0, 1, 1, 1])
    >>> fit = SoftmaxRegression().fit(X, y)
    >>> rare = shift.NewPriors([0.9, 0.1], base="identity").fit(fit.decision_function(X), y)
    >>> adapted = Calibrated(fit, cv="prefit").adopt(fit, rare)
    >>> bool(np.allclose(shift.undo(adapted).predict_proba(X), fit.predict_proba(X)))
    True
    """
    if not (isinstance(model, Calibrated) and isinstance(model.calibrator_, NewPriors)):
        raise Unsupported(f"{type(model).__name__} was not adapted: there is nothing to undo.")
    base = model.calibrator_.base_
    kinds: tuple[type[Scaling], ...] = (BiasCorrected, Vector, Matrix)
    plain = base.scale.ndim == 0 and float(base.scale) == 1.0 and not base.offset.any()
    before = Identity() if plain else kinds[base.scale.ndim]()
    before.readout_, before.n_classes_ = base, len(base.offset)
    return Calibrated(model.estimator_, before, cv="prefit").adopt(model.estimator_, before)
