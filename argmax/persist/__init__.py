"""Models and checkpoints in files: safe to load from a stranger, written whole or not at all.

    save, load      a fitted model: a classifier, alone or behind a ``features.Table``; a tagger or a labeler
    describe        what a file holds; ``estimator_of`` what its header claims
    Checkpoint      a callback that lets a fit go on where it was cut off
    replace_file    any file, whole or not at all; ``check_writable`` asks beforehand

The file is safetensors: ``container`` says how it is laid out, ``classifier``, ``label_sets``, ``labeler``,
``tagger`` and ``model`` what is in it.
"""

from .atomic import check_writable, replace_file
from .checkpoint import Checkpoint
from .model import describe, estimator_of, load, save

__all__ = [
    "Checkpoint",
    "check_writable",
    "describe",
    "estimator_of",
    "load",
    "replace_file",
    "save",
]
