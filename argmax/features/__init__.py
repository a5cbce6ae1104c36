"""From the columns of a table, the tokens of sequences or the pixels of images to rows of numbers."""

from .given import Given, for_sequences
from .hashing import Collisions
from .images import grid_graph, superpixel_graph
from .joint import Crossed, Joint, crossed, multivector
from .kinds import KINDS, infer_kind, is_number
from .table import Table
from .templates import DEFAULT, Templates, read_crfpp
from .tokens import Tokens

__all__ = [
    "Collisions",
    "Crossed",
    "DEFAULT",
    "Given",
    "Joint",
    "KINDS",
    "Table",
    "Templates",
    "Tokens",
    "crossed",
    "for_sequences",
    "grid_graph",
    "infer_kind",
    "is_number",
    "multivector",
    "read_crfpp",
    "superpixel_graph",
]
