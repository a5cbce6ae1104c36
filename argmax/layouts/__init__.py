"""Where each weight lives: rows and a flat w in, scores out, and the adjoint of that map.

    Full     a weight for every feature and label: tables, text
    Linked   weights of nodes and of the edges between them: graphs
    Pairs    weights for attribute–label pairs that training has, and transitions: sequences

``Rotation`` has orthogonal columns for the weights of ``Full``.

Solvers see a flat w and nothing of its shape.
"""

from .base import Layout, as_matrix, csr_arguments
from .full import Full, Weights, padded, two_classes
from .linked import Linked
from .pairs import Pairs
from .rotation import Rotation

__all__ = [
    "Full",
    "Layout",
    "Linked",
    "Pairs",
    "Rotation",
    "Weights",
    "as_matrix",
    "csr_arguments",
    "padded",
    "two_classes",
]
