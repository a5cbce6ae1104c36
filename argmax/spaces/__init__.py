"""Spaces: the sets of answers an argmax runs over. Scores in, answers out; no features, no weights.

    Classes(k)     one of k labels
    Chain(k)       a label for every position of a sequence
    Tree(k)        a label for every node of trees
    Graph(k)       a label for every node of graphs with cycles
    Sets(k)        which of k labels apply, with scores for pairs of labels
    constraints    which sequences are legal, as scores of −inf: "BIO", "BILOU", forbidden transitions

Every space answers the same questions; see ``Space``.
"""

from . import constraints
from .base import Space
from .chain import Chain
from .classes import Classes
from .graph import Graph
from .sets import Sets
from .tree import Tree

__all__ = ["Chain", "Classes", "Graph", "Sets", "Space", "Tree", "constraints"]
