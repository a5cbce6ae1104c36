"""Spaces: the sets of answers an argmax runs over. Scores in, answers out; no features, no weights.

    Classes(k)     one of k labels
    Chain(k)       a label for every position of a sequence
    constraints    which sequences are legal, as scores of −inf: "BIO", "BILOU", forbidden transitions

Every space answers the same questions; see ``Space``.
"""

from . import constraints
from .base import Space
from .chain import Chain
from .classes import Classes

__all__ = ["Chain", "Classes", "Space", "constraints"]
