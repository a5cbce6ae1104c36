"""What was found against what should be: AssertionErrors that say which, where, and by how much."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..records import Scores

__all__ = ["holds", "same", "same_parts"]


def holds(condition: bool, what: str, where: str) -> None:
    """Raise unless the condition holds."""
    if not condition:
        raise AssertionError(f"{what} ({where}).")


def same_parts(what: str, found: Scores, expected: Scores, where: str) -> None:
    """``same`` for scores of nodes and of edges."""
    same(f"{what}: node", found.node, expected.node, where)
    if expected.edge is not None:
        holds(found.edge is not None, f"{what}: edge is missing", where)
        same(f"{what}: edge", found.edge, expected.edge, where)


def same(what: str, found: Any, expected: Any, where: str, tol: float = 1e-9) -> None:
    """Equal up to tol, relative to the larger of 1 and the expected value; −inf equals −inf."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if expected.ndim and found.shape != expected.shape:
        raise AssertionError(
            f"{what}: shape is {found.shape}, expected {expected.shape} ({where})."
        )
    close = np.isclose(found, expected, rtol=tol, atol=tol)
    if not close.all():
        at = tuple(int(i) for i in np.argwhere(~close)[0])
        got, want = found[at], np.broadcast_to(expected, found.shape)[at]
        raise AssertionError(f"{what}: {got!s} at {at}, expected {want!s} ({where}).")
