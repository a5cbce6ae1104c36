"""How large a file may be in every direction, checked while it is read and never afterwards."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..checks import number, positive_integer
from ..errors import ResourceLimit

__all__ = ["FREE", "Limits"]

FREE = 2**24
"""Bytes that may always come out of a compressed file: below this nothing is worth calling a bomb."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may ask for; more is a ``ResourceLimit`` that names the limit to raise.

    =============== ======= ====================================================================
    total_bytes       1 TiB of content, decompressed
    spool_bytes      16 GiB of standard input, kept on disk so that it can be read again
    line_bytes        8 MiB in one line, or in one row of a CSV file that goes on over several lines
    field_bytes       4 MiB in one value
    columns         100,000 columns
    features          10⁸   largest index of a feature in an svmlight file
    ratio             200   bytes that come out of one compressed byte, after the first 16 MiB
    =============== ======= ====================================================================

    >>> from argmax.data import Limits
    >>> Limits(columns=10).exceeded("columns", "wide.csv: the header has 12 columns")
    ResourceLimit('wide.csv: the header has 12 columns; the limit is 10. If the file is meant to be
    like this, raise it: limits=Limits(columns=...).')
    """

    total_bytes: int = 2**40
    spool_bytes: int = 2**34
    line_bytes: int = 2**23
    field_bytes: int = 2**22
    columns: int = 100_000
    features: int = 10**8
    ratio: float = 200.0

    def __post_init__(self) -> None:
        for field in fields(self):
            name, value = f"limits.{field.name}", getattr(self, field.name)
            number(name, value, 1) if field.name == "ratio" else positive_integer(name, value)

    def exceeded(self, name: str, what: str) -> ResourceLimit:
        """The error to raise when ``what`` goes beyond the limit called ``name``."""
        bound = getattr(self, name)
        said = readable(bound) if name.endswith("bytes") else f"{bound:,.12g}"
        return ResourceLimit(
            f"{what}; the limit is {said}. If the file is meant to be like this, raise it: "
            f"limits=Limits({name}=...)."
        )

    def expansion(self, packed: int, unpacked: int, what: str) -> None:
        """Raise if so many unpacked bytes from so few packed ones can only be a trap."""
        if unpacked > FREE + self.ratio * packed:
            raise self.exceeded(
                "ratio",
                f"{what}: {readable(packed)} grow to more than {readable(unpacked)}, which is "
                f"{unpacked / max(packed, 1):,.0f} times as much",
            )


def readable(size: float) -> str:
    """A number of bytes as people write it.

    >>> readable(300), readable(3 * 2**20), readable(1.5 * 2**30)
    ('300 bytes', '3 MiB', '1.5 GiB')
    """
    if size < 2**10:
        return f"{size:.0f} bytes"
    power = min(4, (int(size).bit_length() - 1) // 10)
    return f"{size / 2 ** (10 * power):.3g} {'KMGT'[power - 1]}iB"
