"""From the columns of a table to rows of numbers."""

from .hashing import Collisions
from .kinds import KINDS, infer_kind, is_number
from .table import Table

__all__ = ["Collisions", "KINDS", "Table", "infer_kind", "is_number"]
