"""From the columns of a table to rows of numbers."""

from .kinds import KINDS, infer_kind, is_number

__all__ = ["KINDS", "infer_kind", "is_number"]
