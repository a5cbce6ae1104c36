"""Which sequences are held out, and tokens without their labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...features import Tokens
from ..splitting import HeldOut

__all__ = ["held_out", "without"]


def without(tokens: Tokens, name: str) -> Tokens:
    """All columns but one."""
    columns = {key: column for key, column in tokens.columns.items() if key != name}
    return Tokens(columns, tokens.offsets, tokens.lines)


def held_out(sequences: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Which sequences are held out. It depends on their order alone: a file that grows keeps its split.

    >>> from argmax.cli.sequences.parts import held_out
    >>> int(held_out(1000, 0.2, seed=0).sum())
    200
    """
    if not share:
        return np.zeros(sequences, np.bool_)
    return HeldOut(share, seed)(np.zeros(sequences, np.int64))
