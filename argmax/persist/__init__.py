"""Models and checkpoints in files: safe to load from a stranger, written whole or not at all.

save, load    a fitted model, alone or behind a ``features.Table``
describe      what a file holds
Checkpoint    a callback that lets a fit go on where it was cut off
replace_file  write any file whole or not at all
"""

from .atomic import replace_file
from .checkpoint import Checkpoint
from .model import describe, load, save

__all__ = ["Checkpoint", "describe", "load", "replace_file", "save"]
