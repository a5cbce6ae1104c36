"""Peers that minimise the very same F, each with its own stopping rule, tightened step by step.

    log            scikit-learn's LogisticRegression: newton-cholesky, newton-cg, lbfgs, saga; two classes
                   also LIBLINEAR -s 0; with l1 saga, two classes also LIBLINEAR -s 6
    ovr_log        the same for one class after another, and LIBLINEAR, which does that by itself
    hinge          LIBLINEAR -s 4 (Crammer and Singer), two classes -s 3
    squared_hinge  LIBLINEAR -s 1 and -s 2, with l1 -s 5
    squared        scikit-learn's RidgeClassifier with alpha = 1/C; with l1 ElasticNet with alpha = 1/(C Σ s)
    softmax_margin, weston_watkins    none

LIBLINEAR has two faces, its own package and scikit-learn's LinearSVC; the own one takes no weights of rows.
Its intercept is penalised for the hinges, as ours is, and free for the logistic losses (-R).
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import ElasticNet, LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from ..svm import liblinear
from .judge import Problem
from .rows import Facts, Rows

__all__ = ["PEERS", "Late", "Peer", "alarm", "missing", "of"]

Found = tuple[Any, Any]
"""coef (k, d) and intercept (k,), or (1, d) and (1,) for two classes."""

LOGISTIC_TOLS = 1e-2, 1e-4, 1e-6, 1e-8, 1e-10
LIBLINEAR_TOLS = 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6
DIRECT = (1e-4,)
"""A direct solver has no tolerance to tighten."""

CHOLESKY_WEIGHTS = 5000
"""newton-cholesky forms a Hessian of (k·d)² numbers: beyond so many weights (200 MB) it is left out."""

DIRECT_WIDTH = 5000
"""Ridge by a factor of d² numbers: the same limit."""


class Late(Exception):
    """A peer at the end of its time."""


@dataclass(frozen=True)
class Peer:
    """A solver of another package: which problems it takes, and a fit of one of them."""

    name: str
    takes: Callable[[Problem, Facts], bool]
    prepare: Callable[[Rows, Problem, float, float], Callable[[], Found]]
    """(rows, problem, tol, limit in seconds) to the call that is timed."""
    tols: tuple[float, ...]
    deaf: bool = False
    """Compiled from end to end: an alarm would not be heard, and its process has to be ended."""


def of(problem: Problem, facts: Facts) -> list[Peer]:
    """The peers that take this problem, the likely fastest first."""
    return [peer for peer in PEERS.values() if peer.takes(problem, facts)]


def missing() -> list[str]:
    """One sentence for each package that is not installed."""
    return [] if find_spec("liblinear") else ["LIBLINEAR: pip install liblinear-official"]


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises ``Late`` after so many seconds; compiled code hears of it when it returns."""

    def ring(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


# scikit-learn's logistic regression


def _logistic(solver: str) -> Peer:
    def takes(problem: Problem, facts: Facts) -> bool:
        if problem.loss not in ("log", "ovr_log"):
            return False
        if solver == "saga":
            return True
        questions = facts.k if problem.loss == "log" and facts.k > 2 else 1
        fits = solver != "newton-cholesky" or questions * facts.d <= CHOLESKY_WEIGHTS
        return problem.l1 == 0 and fits

    def prepare(rows: Rows, problem: Problem, tol: float, limit: float) -> Callable[[], Found]:
        options = {"solver": solver, "C": problem.C, "l1_ratio": problem.l1, "tol": tol}
        epochs = _epochs(rows, options, limit) if solver == "saga" else 10**6
        return partial(_fit_logistic, rows, problem, {**options, "max_iter": epochs})

    return Peer(f"scikit-learn {solver}", takes, prepare, LOGISTIC_TOLS)


def _fit_logistic(rows: Rows, problem: Problem, options: dict[str, Any]) -> Found:
    def fit(y: Any) -> Found:
        model = LogisticRegression(**options, random_state=0)
        model.fit(rows.X, y, sample_weight=rows.weight)
        return model.coef_, model.intercept_

    if problem.loss == "log" or rows.k == 2:
        return fit(rows.y)
    return _one_by_one(fit, rows)


def _one_by_one(fit: Callable[[Any], Found], rows: Rows) -> Found:
    """Each class against the rest."""
    found = [fit((rows.y == label).astype(int)) for label in range(rows.k)]
    return np.vstack([coef for coef, _ in found]), np.concatenate([b for _, b in found])


def _epochs(rows: Rows, options: dict[str, Any], limit: float) -> int:
    """Epochs of saga that fit into the limit, which nothing can interrupt: by the time that two take."""
    problem = Problem("log", options["C"], options["l1_ratio"])
    began = time.perf_counter()
    _fit_logistic(rows, problem, {**options, "max_iter": 2})
    seconds = time.perf_counter() - began
    return int(np.clip(2 * limit / max(seconds, 1e-9), 1, 10**6))


# LIBLINEAR

LIBLINEAR = {  # loss, with l1, two classes: its -s
    ("log", False, True): (0,),
    ("log", True, True): (6,),
    ("ovr_log", False, True): (0,),
    ("ovr_log", True, True): (6,),
    ("ovr_log", False, False): (0,),
    ("ovr_log", True, False): (6,),
    ("hinge", False, True): (3,),
    ("hinge", False, False): (4,),
    ("squared_hinge", False, True): (1, 2),
    ("squared_hinge", False, False): (1, 2),
    ("squared_hinge", True, True): (5,),
    ("squared_hinge", True, False): (5,),
}


def _codes(problem: Problem, facts: Facts) -> tuple[int, ...]:
    if problem.l1 not in (0.0, 1.0):
        return ()
    return LIBLINEAR.get((problem.loss, problem.l1 == 1.0, facts.k == 2), ())


def _liblinear(code: int) -> Peer:
    def takes(problem: Problem, facts: Facts) -> bool:
        there = not facts.weighted and find_spec("liblinear") is not None
        return there and code in _codes(problem, facts)

    def prepare(rows: Rows, problem: Problem, tol: float, limit: float) -> Callable[[], Found]:
        free = " -R" if code in (0, 6) else ""
        flags = f"-s {code} -c {problem.C!r} -e {tol!r} -B 1{free} -q"
        _compile_conversion(str(rows.X.dtype))
        return partial(liblinear, rows.X, rows.y, flags)

    return Peer(f"liblinear -s {code}", takes, prepare, LIBLINEAR_TOLS, deaf=True)


@lru_cache
def _compile_conversion(dtype: str) -> None:
    """Its package compiles the conversion of CSR rows when it is first met."""
    from liblinear.liblinear import problem

    problem(np.arange(2.0), csr_matrix(np.eye(2, dtype=dtype)))


def _linear_svc(code: int) -> Peer:
    loss = "hinge" if code == 3 else "squared_hinge"
    options = {
        "loss": loss,
        "penalty": "l1" if code == 5 else "l2",
        "dual": code in (1, 3),
        "multi_class": "crammer_singer" if code == 4 else "ovr",
    }

    def takes(problem: Problem, facts: Facts) -> bool:
        return code in _codes(problem, facts)

    def prepare(rows: Rows, problem: Problem, tol: float, limit: float) -> Callable[[], Found]:
        return partial(_fit_linear_svc, rows, {**options, "C": problem.C, "tol": tol})

    return Peer(f"LinearSVC -s {code}", takes, prepare, LIBLINEAR_TOLS, deaf=True)


def _fit_linear_svc(rows: Rows, options: dict[str, Any]) -> Found:
    model = LinearSVC(**options, max_iter=10**7, random_state=0)
    model.fit(rows.X, rows.y, sample_weight=rows.weight)
    return model.coef_, model.intercept_


# Least squares


def _ridge(solver: str) -> Peer:
    def takes(problem: Problem, facts: Facts) -> bool:
        direct = solver in ("cholesky", "svd")
        fits = min(facts.n, facts.d) <= DIRECT_WIDTH and not facts.sparse if direct else True
        return problem.loss == "squared" and problem.l1 == 0 and fits

    def prepare(rows: Rows, problem: Problem, tol: float, limit: float) -> Callable[[], Found]:
        return partial(_fit_ridge, rows, {"solver": solver, "alpha": 1.0 / problem.C, "tol": tol})

    tols = DIRECT if solver in ("cholesky", "svd") else LOGISTIC_TOLS
    return Peer(f"RidgeClassifier {solver}", takes, prepare, tols)


def _fit_ridge(rows: Rows, options: dict[str, Any]) -> Found:
    model = RidgeClassifier(**options).fit(rows.X, rows.y, sample_weight=rows.weight)
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)


def _elastic_net() -> Peer:
    def takes(problem: Problem, facts: Facts) -> bool:
        return problem.loss == "squared" and problem.l1 > 0

    def prepare(rows: Rows, problem: Problem, tol: float, limit: float) -> Callable[[], Found]:
        return partial(_fit_elastic_net, rows, problem, tol)

    return Peer("ElasticNet", takes, prepare, LOGISTIC_TOLS)


def _fit_elastic_net(rows: Rows, problem: Problem, tol: float) -> Found:
    """Its loss is a mean over the weights: 1/(2 Σ s) Σ s_i (f_i − t_i)²."""
    total = float(len(rows.y) if rows.weight is None else rows.weight.sum())
    signs = np.where(rows.y[:, None] == np.arange(rows.k), 1.0, -1.0)
    signs = signs[:, 1:] if rows.k == 2 else signs
    model = ElasticNet(1.0 / (problem.C * total), l1_ratio=problem.l1, tol=tol, max_iter=10**6)
    model.fit(rows.X, signs, sample_weight=rows.weight)
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        *map(_logistic, ("newton-cholesky", "newton-cg", "lbfgs")),
        *map(_liblinear, (0, 6, 2, 1, 3, 4, 5)),
        *map(_linear_svc, (2, 1, 3, 4, 5)),
        _logistic("saga"),
        *map(_ridge, ("cholesky", "svd", "lsqr", "sparse_cg")),
        _elastic_net(),
    )
}
