"""Confidence against frequency: what a reliability diagram shows, and the calibration error behind it.

Rows are put into bins by confidence. In bin b, with m_b of n rows,

    confidence_b = mean confidence      frequency_b = share of rows where the event happened
    ECE          = Σ_b (m_b / n) |confidence_b − frequency_b|

The event is "the answer is right", and the confidence that of the most probable class; or, for one class,
"the truth is this class", and the confidence its probability.

Bins hold equally many rows by default: of equally wide bins those in the middle are nearly empty, and noise
in them counts as error. Even so ECE is biased upward, since a distance is positive when it is noise alone:
``ece_if_calibrated`` is what a perfect model would show on these confidences, and only the excess over it is
evidence. ``calibration_error`` has the error without that bias, and an interval.

Two more ranges make the picture honest. Of fifteen intervals at 95 % one misses every second time: the *band*
holds all frequencies together at that level (each bin at 1 − (1 − level)/bins). And the *envelope* is where
all frequencies of a perfectly calibrated model would be, with so many rows: points inside it are no
evidence against the model.

Reference: Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017; the bias: Kumar,
Liang, Ma, Verified uncertainty calibration, NeurIPS 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtrik

from .. import checks
from ..errors import InvalidInput
from ..metrics.intervals import wilson
from ..metrics.scores import positions
from ..records import Floats, Ints

__all__ = ["Reliability", "bin_edges", "by_class", "reliability"]


@dataclass(frozen=True, slots=True)
class Reliability:
    """A reliability diagram as numbers, one entry a bin; bins without rows are left out.

    >>> import numpy as np
    >>> from argmax import calibration
    >>> p = np.repeat([0.25, 0.75], 4)
    >>> found = calibration.reliability(
    ...     [0, 0, 0, 1, 1, 1, 1, 1], np.stack([1 - p, p], 1), [0, 1], bins=1
    ... )
    >>> found.confidence, found.frequency, found.count
    (array([0.75]), array([0.875]), array([8]))
    >>> round(found.ece, 3), round(found.ece_if_calibrated, 3)
    (0.125, 0.122)
    """

    edges: Floats  # (bins + 1,)
    confidence: Floats  # (bins,)
    frequency: Floats  # (bins,)
    count: Ints  # (bins,)
    low: Floats  # (bins,) Wilson's interval of the frequency
    high: Floats  # (bins,)
    band_low: Floats  # (bins,) all frequencies at once
    band_high: Floats  # (bins,)
    envelope_low: Floats  # (bins,) where all of a perfect model would be
    envelope_high: Floats  # (bins,)
    ece: float
    ece_if_calibrated: float


def reliability(
    truth: Any,
    probabilities: Any,
    classes: Any,
    bins: int = 15,
    *,
    label: Any = None,
    strategy: str = "mass",
    level: float = 0.95,
) -> Reliability:
    """Confidence against frequency of the most probable class, or of the class ``label``.

    ``probabilities`` (n, k) has one column for each of ``classes``. ``strategy="mass"`` makes bins of
    equally many rows (equal confidences stay together), ``"width"`` bins of equal width. A label of the truth
    that is not among the classes makes its row's answer wrong.

    >>> import numpy as np
    >>> from argmax import calibration
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=2000)
    >>> truth = (rng.random((2000, 1)) < p.cumsum(axis=1)).argmax(
    ...     axis=1
    ... )  # drawn from p: calibrated
    >>> found = calibration.reliability(truth, p, classes=[0, 1, 2])
    >>> found.ece < 2 * found.ece_if_calibrated
    True
    """
    column, table, bins = _checked(truth, probabilities, classes, bins)
    if label is None:
        return _binned(table.max(axis=1), table.argmax(axis=1) == column, bins, strategy, level)
    (at,) = positions([label], classes)
    if at < 0:
        raise InvalidInput(f"label must be one of the classes; got {label!r}.")
    return _binned(table[:, at], column == at, bins, strategy, level)


def by_class(
    truth: Any,
    probabilities: Any,
    classes: Any,
    bins: int = 15,
    *,
    strategy: str = "mass",
    level: float = 0.95,
) -> dict[Any, Reliability]:
    """The reliability of each class's own probability; the mean of their ECE is the classwise ECE.

    >>> import numpy as np
    >>> from argmax import calibration
    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    >>> found = calibration.by_class([0, 0, 1, 1], p, classes=[0, 1], bins=2)
    >>> {label: round(one.ece, 2) for label, one in found.items()}
    {0: 0.2, 1: 0.2}
    """
    column, table, bins = _checked(truth, probabilities, classes, bins)
    return {
        label: _binned(table[:, at], column == at, bins, strategy, level)
        for at, label in enumerate(np.asarray(classes).tolist())
    }


def _checked(truth: Any, probabilities: Any, classes: Any, bins: Any) -> tuple[Ints, Floats, int]:
    column = positions(truth, classes)
    table = checks.probabilities(probabilities, len(column), len(classes))
    return column, table, checks.positive_integer("bins", bins)


def _binned(
    confidence: Floats, happened: Any, bins: int, strategy: str, level: float
) -> Reliability:
    edges = bin_edges(confidence, bins, strategy)
    bin_of = np.searchsorted(edges[1:-1], confidence, side="right")
    count = np.bincount(bin_of, minlength=len(edges) - 1)
    used = count > 0

    def mean(values: Any) -> Floats:
        sums = np.bincount(bin_of, weights=values, minlength=len(count))
        return np.asarray(sums[used] / count[used])

    sure, frequency, noise = mean(confidence), mean(happened), mean(confidence * (1 - confidence))
    share = count[used] / len(confidence)
    low, high = wilson(frequency * count[used], count[used], level)
    together = 1.0 - (1.0 - level) / len(sure)
    return Reliability(
        np.append(edges[:-1][used], edges[-1]),
        sure,
        frequency,
        count[used],
        low,
        high,
        *wilson(frequency * count[used], count[used], together),
        *_envelope(sure, count[used], together),
        ece=float((share * np.abs(sure - frequency)).sum()),
        # The mean of |noise| that is normal with variance Σ p(1 − p) / m².
        ece_if_calibrated=float((share * np.sqrt(2 * noise / (np.pi * count[used]))).sum()),
    )


def _envelope(sure: Floats, count: Ints, level: float) -> tuple[Floats, Floats]:
    """Ends of the share of ``count`` events that happen with probability ``sure``, at a level, each bin.

    The probabilities in a bin differ, so the share varies a little less than this binomial one.
    """
    tail = (1.0 - level) / 2
    low, high = bdtrik(tail, count, sure), bdtrik(1.0 - tail, count, sure)
    low = np.where(np.isfinite(low), np.ceil(low), np.where(sure >= 1.0, count, 0))
    high = np.where(np.isfinite(high), np.ceil(high), np.where(sure <= 0.0, 0, count))
    return np.clip(low, 0, count) / count, np.clip(high, 0, count) / count


def bin_edges(confidence: Floats, bins: int, strategy: str) -> Floats:
    """Ends of the bins. An edge belongs to the bin above it, and the last bin holds its upper end."""
    if checks.choice("strategy", strategy, ("mass", "width")) == "width":
        return np.linspace(0.0, 1.0, bins + 1)
    ranked = np.sort(confidence)
    inner = np.unique(
        ranked[np.arange(1, bins) * len(ranked) // bins]
    )  # fewer where many are equal
    return np.concatenate([ranked[:1], inner[inner > ranked[0]], ranked[-1:]])
