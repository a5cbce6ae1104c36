"""How much a page shows, and how it writes numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

__all__ = ["FEW", "LEAD", "Limits", "level", "percent", "power", "signed"]

FEW = 20
"""Classes up to which the whole matrix leads; with more, the pairs confused most do, and lists are folded."""

LEAD = 16
"""Pairs of classes that are shown at once; others are folded."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of everything a page shows.

    >>> from argmax.report.limits import Limits
    >>> Limits().smaller().examples
    2
    """

    name: int = 60  # characters
    preview: int = 240
    pairs: int = 400
    examples: int = 4  # rows behind a pair
    classes: int = 200
    weights: int = 8  # for and against a class
    columns: int = 100
    matrix: int = 200  # classes beyond which there is no whole matrix

    def smaller(self) -> Limits:
        """Half of each limit, and at least one."""
        return Limits(*(max(1, getattr(self, field.name) // 2) for field in fields(self)))


def level(share: float) -> int:
    """A share as one of the nine shades and lengths of the page's style; 0 is none.

    >>> from argmax.report.limits import level
    >>> [level(share) for share in (0.0, 0.01, 0.5, 1.0)]
    [0, 1, 5, 9]
    """
    return min(9, math.ceil(9 * share - 1e-9))


def percent(value: float, digits: int = 1) -> str:
    """A share in percent, with a narrow space that does not break.

    >>> from argmax.report.limits import percent
    >>> percent(0.9638).replace(chr(0x202F), " ")
    '96.4 %'
    """
    return f"{100 * value:.{digits}f}\u202f%"


def power(value: float) -> str:
    """A number by its power of ten.

    >>> from argmax.report.limits import power
    >>> power(1e-4), power(4.1e-5).replace(chr(0x202F), " ")
    ('10⁻⁴', '4.1 × 10⁻⁵')
    """
    digits, _, exponent = f"{value:.1e}".partition("e")
    raised = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return raised if digits == "1.0" else f"{digits}\u202f×\u202f{raised}"


def signed(value: float) -> str:
    """Three digits with their sign.

    >>> from argmax.report.limits import signed
    >>> signed(-0.12345), signed(2.0)
    ('−0.123', '+2')
    """
    return f"{value:+.3g}".replace("-", "−")
