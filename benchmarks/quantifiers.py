"""Estimators of class priors under label shift, by us and by others, as functions of one shape.

    prepare(p, truth) -> estimate,   estimate(q) -> priors (k,)

p (n, k) are the probabilities that one model gives validation rows and q (m, k) those of target rows: the
same for everybody. QuaPy is driven by its own ``aggregation_fit`` and ``aggregate``, abstention by its own
adapters. Both are also tried on probabilities that abstention's bias-corrected temperature calibrated first:
in abstention's own adapter of EM the target rows stay uncalibrated, which is not held against it here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from argmax import shift
from argmax.calibration import choose
from argmax.shift.label import WIDEST

from .common import say

Estimate = Callable[[Any], Any]
Prepare = Callable[[Any, Any], Estimate]

INSTALL = "pip install quapy abstention cvxpy quadprog"
PACKAGES = ("quapy", "abstention", "cvxpy", "quadprog")


def ours(p: Any, truth: Any) -> Estimate:
    """``shift.label`` as it is: (2, k) priors of where the rows come from, and shares among the rows."""
    scaling = settled(np.log(np.maximum(p, 1e-300)), truth)

    def estimate(q: Any) -> Any:
        # Few resamples: they make intervals, which nobody is compared on.
        found = shift.label(p, truth, q, on="probabilities", calibrate=scaling, resamples=2)
        return np.stack([found.priors, found.shares])

    return estimate


def settled(scores: Any, truth: Any) -> str:
    """The scaling that calibrate="auto" takes; found once, since validation rows stay from draw to draw."""
    return choose(scores, truth).name if scores.shape[1] <= WIDEST else "bias_corrected"


def peers() -> dict[str, Prepare]:
    """Every method of the two packages that takes probabilities of any number of classes, by name."""
    absent = [name for name in PACKAGES if find_spec(name) is None]
    for name in absent:
        say(f"Left out: {name} is not installed ({INSTALL}).")
    found: dict[str, Prepare] = {}
    if "quapy" not in absent:
        found |= _quapy(absent)
    if "abstention" not in absent:
        found |= {f"{name}, calibrated": _calibrated(found[name]) for name in list(found)}
        found |= _abstention(absent)
        if "quapy" not in absent:
            found |= _quapy_em()
    return found


# QuaPy


def _quapy(absent: list[str]) -> dict[str, Prepare]:
    from quapy.method import aggregative as by
    from quapy.method._kdey import KDEyML

    given: dict[str, Any] = {"fit_classifier": False, "val_split": None}
    made: dict[str, Prepare] = {
        "QuaPy EMQ": _aggregated(lambda model: by.EMQ(model, **given)),
        "QuaPy ACC": _aggregated(lambda model: by.ACC(model, **given), hard=True),
        "QuaPy PACC": _aggregated(lambda model: by.PACC(model, **given)),
        "QuaPy BBSE": _aggregated(lambda model: by.BBSEsoft(model, **given)),
        "QuaPy DMy": _aggregated(lambda model: by.DMy(model, **given)),
        "QuaPy KDEy-ML": _aggregated(lambda model: KDEyML(model, **given)),
    }
    if "cvxpy" not in absent:
        made["QuaPy RLLS"] = _aggregated(lambda model: by.RLLS(model, **given))
    if "quadprog" not in absent:
        made["QuaPy EDy"] = _aggregated(lambda model: by.EDy(model, **given))
    return made


def _quapy_em() -> dict[str, Prepare]:
    """Its EM with the calibrations that it takes from abstention."""
    from quapy.method import aggregative as by

    def made(calib: str) -> Prepare:
        return _aggregated(
            lambda model: by.EMQ(
                model, fit_classifier=False, val_split=((), ()), exact_train_prev=False, calib=calib
            )
        )

    return {f"QuaPy EMQ {calib.upper()}": made(calib) for calib in ("bcts", "vs")}


def _aggregated(make: Callable[[Any], Any], hard: bool = False) -> Prepare:
    def prepare(p: Any, truth: Any) -> Estimate:
        def given(table: Any) -> Any:
            return table.argmax(axis=1) if hard else table

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            method = make(_fitted(p.shape[1]))
            method._check_init_parameters()
            method.train_prevalence = np.bincount(truth, minlength=p.shape[1]) / len(truth)
            method.aggregation_fit(given(p), truth)
        return lambda q: method.aggregate(given(q))

    return prepare


def _fitted(k: int) -> Any:
    """A classifier whose rows are already probabilities."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def __init__(self) -> None:
            self.classes_ = np.arange(k)
            self.n_features_in_ = k

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def predict_proba(self, X: Any) -> Any:
            return X

    return Given()


# abstention


def _abstention(absent: list[str]) -> dict[str, Prepare]:
    from abstention import label_shift as by

    def em(p: Any, truth: Any) -> Estimate:
        def estimate(q: Any) -> Any:
            adapted = by.EMImbalanceAdapter()(
                tofit_initial_posterior_probs=q, valid_posterior_probs=p
            )
            return _normal(adapted.multipliers * p.mean(axis=0))

        return estimate

    def ratios(make: Callable[[], Any]) -> Prepare:
        def prepare(p: Any, truth: Any) -> Estimate:
            hot = np.eye(p.shape[1])[truth]

            def estimate(q: Any) -> Any:
                adapted = make()(
                    valid_labels=hot, tofit_initial_posterior_probs=q, valid_posterior_probs=p
                )
                return _normal(adapted.multipliers * hot.mean(axis=0))

            return estimate

        return prepare

    made = {
        "abstention EM": em,
        "abstention BBSE": ratios(lambda: by.BBSEImbalanceAdapter(soft=True)),
    }
    if "cvxpy" not in absent:
        made["abstention RLLS"] = ratios(lambda: by.RLLSImbalanceAdapter(soft=True))
    return {f"{name}, calibrated": _calibrated(one) for name, one in made.items()}


def _calibrated(prepare: Prepare) -> Prepare:
    """The same on probabilities of abstention's bias-corrected temperature scaling."""

    def after(p: Any, truth: Any) -> Estimate:
        from abstention.calibration import TempScaling

        honest = TempScaling(bias_positions="all")(
            valid_preacts=p, valid_labels=np.eye(p.shape[1])[truth], posterior_supplied=True
        )
        estimate = prepare(honest(p), truth)
        return lambda q: estimate(honest(q))

    return after


def _normal(priors: Any) -> Any:
    kept = np.maximum(priors, 0.0)
    return kept / kept.sum()
