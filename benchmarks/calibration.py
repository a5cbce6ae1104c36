"""Calibration of 100,000 rows with 100 classes: the same method, the same objective, the same optimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax

from argmax import calibration, metrics

from .common import (
    Check,
    Options,
    Outcome,
    in_turn,
    median,
    note_ratio,
    progress,
    say,
    spread,
    table,
    verdict,
)

ROWS, CLASSES = 100_000, 100
SKLEARN, NETCAL = 3.0, 10.0  # floors of the ratios
ROUNDS = 5

EXPLANATION = f"""\
Scores of {ROWS:,} rows and {CLASSES} classes, drawn so that a temperature of 3 makes them honest.
Temperature: the log loss in one number; scikit-learn is its _TemperatureScaling alone, without refitting a
model; netcal, where it is installed, its TemperatureScaling. Isotonic: a curve for each class, against
scikit-learn's one-vs-rest loop. The log loss of every answer is shown: it must be the same. Medians of
{ROUNDS} rounds taken in turn."""

Calls = dict[str, Callable[[], Any]]


def run(options: Options) -> Outcome:
    outcome = Outcome("calibration")
    say(EXPLANATION)
    scores, truth = scored(*((500, 10) if options.quick else (ROWS, CLASSES)))
    rows = []
    for what, calls in workloads(scores, truth).items():
        progress(what)
        found = {name: _loss(call()(scores), truth) for name, call in calls.items()}
        taken = in_turn(calls, 3 if options.quick else ROUNDS)
        ours = median(taken["argmax"])
        for name, seconds in taken.items():
            ratio = median(seconds) / ours
            figures = [f"{median(seconds):.3g}", spread(seconds), f"{found[name]:.6f}"]
            rows.append([what, name, *figures, note_ratio(ratio)])
            outcome.figures.append({"what": what, "who": name, "seconds": seconds})
            if name != "argmax":
                floor = NETCAL if name == "netcal" else SKLEARN
                figure = note_ratio(ratio)
                outcome.checks.append(
                    Check(f"{what}, {name}", figure, f"{floor:g}×", verdict(ratio, floor))
                )
    columns = ["", "who", "seconds", "range", "log loss", "peer/us"]
    table("Calibration, seconds a fit", columns, rows)
    return outcome


def scored(n: int, k: int) -> tuple[Any, Any]:
    """Scores three times too sure, and truths."""
    rng = np.random.default_rng(0)
    honest = rng.normal(size=(n, k)) * 1.5
    truth = (rng.random((n, 1)) < softmax(honest, axis=1).cumsum(axis=1)).argmax(axis=1)
    return 3.0 * honest, truth


def workloads(scores: Any, truth: Any) -> dict[str, Calls]:
    """What is fitted, and by whom: each call is a new fit, and gives a map from scores to logarithms."""
    temperature: Calls = {
        "argmax": lambda: calibration.Temperature().fit(scores, truth).readout_,
        "scikit-learn": lambda: _sklearn_temperature(scores, truth),
    }
    if (peer := _netcal()) is not None:
        p = softmax(scores, axis=1)

        def netcal() -> Any:
            fitted = peer()
            fitted.fit(p, truth)
            return lambda _: np.log(fitted.transform(p) + 1e-300)

        temperature["netcal"] = netcal
    isotonic: Calls = {
        "argmax": lambda: _ours_isotonic(scores, truth),
        "scikit-learn": lambda: _sklearn_isotonic(scores, truth),
    }
    return {"temperature": temperature, "isotonic": isotonic}


def _sklearn_temperature(scores: Any, truth: Any) -> Any:
    from sklearn.calibration import _TemperatureScaling

    slope = _TemperatureScaling().fit(scores, truth).beta_
    return lambda given: slope * given


def _ours_isotonic(scores: Any, truth: Any) -> Any:
    fitted = calibration.Isotonic().fit(scores, truth)
    return lambda given: np.log(fitted.predict_proba(given))


def _sklearn_isotonic(scores: Any, truth: Any) -> Any:
    from sklearn.isotonic import IsotonicRegression

    columns = range(scores.shape[1])
    fitted = [
        IsotonicRegression(out_of_bounds="clip").fit(scores[:, c], truth == c) for c in columns
    ]

    def logs(given: Any) -> Any:
        p = np.stack([fitted[c].predict(given[:, c]) for c in columns], axis=1)
        return np.log(np.maximum(p / p.sum(axis=1, keepdims=True), 1e-300))

    return logs


def _netcal() -> Any:
    try:
        from netcal.scaling import TemperatureScaling
    except ImportError:
        say("Left out: netcal is not installed. pip install netcal (it brings PyTorch, 6 GB).")
        return None
    return TemperatureScaling


def _loss(logits: Any, truth: Any) -> float:
    k = logits.shape[1]
    return metrics.log_loss(truth, softmax(logits, axis=1), np.arange(k))
