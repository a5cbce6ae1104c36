"""From the columns of a table, or the tokens of sequences, to rows of numbers."""

from .given import Given, for_sequences
from .hashing import Collisions
from .kinds import KINDS, infer_kind, is_number
from .table import Table
from .templates import DEFAULT, Templates, read_crfpp
from .tokens import Tokens

__all__ = [
    "Collisions",
    "DEFAULT",
    "Given",
    "KINDS",
    "Table",
    "Templates",
    "Tokens",
    "for_sequences",
    "infer_kind",
    "is_number",
    "read_crfpp",
]
