"""From the columns of a table to rows of numbers."""

from .hashing import Collisions
from .kinds import KINDS, infer_kind, is_number
from .table import Table
from .templates import DEFAULT, Templates, read_crfpp
from .tokens import Tokens

__all__ = [
    "Collisions",
    "DEFAULT",
    "KINDS",
    "Table",
    "Templates",
    "Tokens",
    "infer_kind",
    "is_number",
    "read_crfpp",
]
