"""Mutants that no test can notice, because they compute the same or because nothing promises otherwise.

Each entry names the file, the line as it stands, the line with the mistake, and the reason. A line that has
changed since makes its entry void, and a test says so.
"""

from __future__ import annotations

__all__ = ["EQUIVALENT"]

EQUIVALENT: dict[tuple[str, str, str], str] = {}
