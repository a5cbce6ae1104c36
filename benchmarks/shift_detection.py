"""Which shifts a test sees: the default against the soft black-box test of "Failing loudly"."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from argmax import shift
from argmax.calibration import BiasCorrected

from .common import Check, Options, Outcome, table
from .shift_data import Digits, digits, kinds, times


def run(options: Options, outcome: Outcome) -> None:
    found = digits(options.quick)
    honest = BiasCorrected().fit(found.scores, found.truth).readout_
    p = honest.probabilities(found.scores)
    rng = np.random.default_rng(5)
    rows = []
    sizes = [m for m in (100, 1000, 10_000) if m <= len(found.images)]
    made = kinds(found)
    shares = (0.1, 0.5, 1.0)
    for m in sizes:
        draws = times(options, 1, 1 if m == 10_000 else 2, 5)
        seen: dict[str, Any] = {}
        for name, change in made.items():
            pairs = itertools.product(shares, range(draws))
            seen[name] = [_both(found, honest, p, change, m, share, rng) for share, _ in pairs]
        still = times(options, 2, 10 if m == 10_000 else 30, 100)
        alarms = [_both(found, honest, p, None, m, 0.0, rng) for _ in range(still)]
        rows += [[f"{m:,}", name, *_rates(one)] for name, one in seen.items()]
        every = np.array([one for part in seen.values() for one in part], dtype=float)
        rows.append([f"{m:,}", "all of them", *_rates(every)])
        rows.append([f"{m:,}", "nothing moved", *_rates(alarms)])
        _powers(every, alarms, m, outcome)
        outcome.figures.append({"part": "detection", "rows": m, "seen": seen, "alarms": alarms})
    columns = ["rows", "kind of shift", "argmax", "soft black box"]
    table("Shares of shifts seen, a tenth, half or all rows changed", columns, rows)


def _both(
    found: Digits, honest: Any, p: Any, change: Any, m: int, share: float, rng: Any
) -> tuple[bool, bool]:
    rows = rng.permutation(len(found.images))[:m]
    images = found.images[rows] if change is None else change(rows, share, rng)[0]
    if len(images) < 2:  # of a hundred rows all but one may have been left out
        return False, False
    q = honest.probabilities(found.of(images))
    seed = int(rng.integers(2**31))
    return shift.outputs(p, q, seed=seed).rejected(), shift.black_box(p, q).rejected()


def _rates(seen: Any) -> list[str]:
    return [f"{rate:.2f}" for rate in np.mean(np.array(seen, dtype=float), axis=0)]


def _powers(every: Any, alarms: Any, m: int, outcome: Outcome) -> None:
    ours_, theirs = every.mean(axis=0)
    kept = "met" if ours_ >= theirs else "peer wins"
    figure = f"{ours_:.3f} against {theirs:.3f}"
    outcome.checks.append(Check(f"detection, {m:,} rows", figure, "not less", kept))
    rate = float(np.mean([one[0] for one in alarms]))
    bound = 0.05 + 2 * (0.05 * 0.95 / len(alarms)) ** 0.5
    kept = "met" if rate <= bound else "not met"
    what = f"false alarms, {m:,} rows"
    outcome.checks.append(Check(what, f"{rate:.3f} of {len(alarms)}", f"≤ {bound:.3f}", kept))
