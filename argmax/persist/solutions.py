"""How a fit ended, as a document and tensors, and back.

document  status, message, solver, passes, state
tensors   solution.numbers (objective, gap, relative gap, seconds)  solution.history (h, 3)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelFileError
from ..records import Solution
from .checked import Room, same_keys, take
from .container import Tensors

__all__ = ["rebuilt_solution", "solution_parts"]

WORDS = ("status", "message", "solver", "passes", "state")
NUMBERS = ("objective", "gap", "relative_gap", "seconds")
STATUSES = (
    "converged", "max_iter", "time_limit", "stopped", "interrupted", "stalled", "separable",
    "no mistakes", "epochs done",
)  # fmt: skip

ROW = 160
"""Bytes of one row of a history: a tuple of three floats, in a list."""


def solution_parts(solution: Solution) -> tuple[dict[str, Any], Tensors]:
    """All but the weights, and what a solver keeps for single rows."""
    told = {name: getattr(solution, name) for name in WORDS} | {"state": solution.state is True}
    return told, {
        "solution.numbers": np.array([getattr(solution, name) for name in NUMBERS], float),
        "solution.history": np.array(solution.history, float).reshape(-1, 3),
    }


def rebuilt_solution(given: Any, w: NDArray[Any], tensors: Tensors, room: Room) -> Solution:
    """The solution with these weights; its tensors are taken out of the others."""
    told = same_keys("solution", given, WORDS)
    words = [told[name] for name in ("status", "message", "solver")]
    whole = type(told["passes"]) is int and told["passes"] >= 0 and isinstance(told["state"], bool)
    if not whole or not all(isinstance(word, str) for word in words) or words[0] not in STATUSES:
        raise ModelFileError("has a solution that argmax did not write.")
    numbers = take(tensors, "solution.numbers", np.float64, len(NUMBERS))
    history = take(tensors, "solution.history", np.float64, None, 3)
    if np.isnan(numbers).any() or np.isnan(history).any():
        raise ModelFileError("has a solution with numbers that are none.")
    room.use(ROW * len(history), "history")
    return Solution(
        w=w,
        **dict(zip(NUMBERS, numbers.tolist(), strict=True)),
        **(told | {"state": told["state"] or None}),
        history=[(a, b, c) for a, b, c in history.tolist()],
    )
