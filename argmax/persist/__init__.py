"""Models and checkpoints in files: safe to load from a stranger, written whole or not at all.

    save, load      a fitted model, alone or behind a ``features.Table``
    describe        what a file holds
    Checkpoint      a callback that lets a fit go on where it was cut off
    replace_file    any file, whole or not at all; ``check_writable`` asks beforehand

The file is safetensors: ``container`` says how it is laid out, ``estimator`` and ``model`` what is in it.
"""

from .atomic import check_writable, replace_file
from .checkpoint import Checkpoint
from .model import describe, load, save

__all__ = ["Checkpoint", "check_writable", "describe", "load", "replace_file", "save"]
