"""From scores (n, k) to answers, and how rows that are not in memory are answered: a piece at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax, logsumexp, softmax

from .. import checks, surveys
from ..engines import Engine, Examples
from ..passes import Problem
from ..records import Floats, Ints

__all__ = [
    "best",
    "log_probabilities",
    "log_shares",
    "margins",
    "probabilities",
    "shares",
    "streamed",
]


def best(node: Floats) -> Ints:
    """The place of the highest score in each row; of equals, the first."""
    return np.asarray(node.argmax(axis=1))


def margins(node: Floats) -> Floats:
    """The scores; of two classes how far the second is ahead (n,)."""
    return node[:, 1] - node[:, 0] if node.shape[1] == 2 else node


def probabilities(node: Floats) -> Floats:
    """softmax of each row."""
    with np.errstate(over="ignore"):  # a difference that overflows is a probability of 0
        return np.asarray(softmax(node, axis=1))


def log_probabilities(node: Floats) -> Floats:
    """log softmax of each row, without under- or overflow."""
    with np.errstate(over="ignore"):
        return checks.finite_scores(log_softmax(node, axis=1))


def shares(node: Floats) -> Floats:
    """σ of each score, divided by their sum: what k separate logistic models say together.

    Two labels share one model, σ(s₁ − s₀), which is their softmax.
    """
    return np.exp(log_shares(node))


def log_shares(node: Floats) -> Floats:
    """The logarithms of ``shares``."""
    if node.shape[1] == 2:
        return log_probabilities(node)
    logs = log_expit(node)
    with np.errstate(over="ignore"):
        return checks.finite_scores(logs - logsumexp(logs, axis=1, keepdims=True))


def streamed(
    found: Examples, engine: Engine, problem: Problem, w: Floats, answer: Callable[[Floats], Any]
) -> Any:
    """``answer`` of the scores of all rows; besides the answers, only a few blocks are in memory."""
    result: Any = None
    first = 0
    with engine.open():
        shards = engine.place(found.cut(problem.layout))
        for part in engine.each(surveys.answered, shards, problem, w, answer):
            answers = part["answers"]
            if result is None:
                result = np.empty((found.shape[0], *answers.shape[1:]), answers.dtype)
            result[first : first + len(answers)] = answers
            first += len(answers)
    return result
