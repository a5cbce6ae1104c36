"""Batch after batch: an alarm when what a model says has moved, with a stated rate of false ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..calibration.base import as_scores
from ..errors import InvalidInput
from ..records import Floats
from .tests import Evidence, outputs

__all__ = ["Monitor", "Seen"]


@final
@dataclass(frozen=True, slots=True)
class Seen:
    """What the monitor says of a batch: its own test, the test of the last few together, and the alarm."""

    number: int
    rows: int
    sudden: Evidence
    slow: Evidence | None
    alarm: bool


@final
class Monitor:
    """Compares each batch of outputs, and the last few together, with those of the validation rows.

    If nothing has moved, a batch raises an alarm with probability at most ``rate``: of batches from where the
    validation rows come from, one in 1/rate. Half of the rate goes to the batch alone, which sees sudden
    changes, and half to the last ``window`` batches together, which see slow ones. Permutation makes both
    exact for batches of any size.

    Parameters
    ----------
    reference : (n, k)
        Probabilities (or scores) of validation rows.
    rate : float
        False alarms a batch.
    window : int
        Batches that are looked at together.
    on : "probabilities" or "scores"

    Attributes
    ----------
    history_ : list of Seen

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import shift
    >>> rng = np.random.default_rng(0)
    >>> monitor = shift.Monitor(rng.dirichlet([1, 1], size=500))
    >>> [monitor.update(rng.dirichlet([1, 1], size=100)).alarm for _ in range(3)]
    [False, False, False]
    >>> monitor.update(rng.dirichlet([3, 1], size=100)).alarm
    True
    """

    def __init__(
        self, reference: Any, *, rate: float = 0.01, window: int = 10, on: str = "probabilities", seed: int
        = 0
    ) -> None:  # fmt: skip
        self.rate = checks.number("rate", rate, 0.0, 1.0)
        if not self.rate:
            raise InvalidInput(
                "rate must be above 0: an alarm that is never false is never raised."
            )
        self.window, self.on, self.seed = checks.positive_integer("window", window), on, seed
        self._reference = as_scores(reference, on)
        self._last: list[Floats] = []
        self.history_: list[Seen] = []

    def update(self, batch: Any) -> Seen:
        """Look at the outputs (m, k) of the next batch."""
        table = as_scores(batch, self.on)
        if not len(table) or table.shape[1] != self._reference.shape[1]:
            raise InvalidInput(
                f"batch must have rows of {self._reference.shape[1]} columns; got shape {table.shape}."
            )
        self._last = [*self._last, table][-self.window :]
        number = len(self.history_)
        # Enough permutations for a p-value below half the rate from one of the two statistics of a test.
        resamples = math.ceil(8 / self.rate) - 1
        sudden = outputs(
            self._reference, table, on="scores", resamples=resamples, seed=self.seed + number
        )
        slow = None
        if len(self._last) > 1:
            slow = outputs(
                self._reference, np.concatenate(self._last),
                on="scores", resamples=resamples, seed=self.seed + number,
            )  # fmt: skip
        least = min(test.p_value for test in (sudden, slow) if test is not None)
        found = Seen(number, len(table), sudden, slow, least <= self.rate / 2)
        self.history_.append(found)
        return found
