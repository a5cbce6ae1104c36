"""Engines: where the sum over examples is computed. The same bits, whatever the number of workers.

Threads(n)     this machine's memory and cores
Dask(client)   the workers of a cluster
Stored         rows in files, larger than memory, for either
"""

from .base import Crew, Engine
from .dask import Dask
from .examples import Examples, Held
from .shards import Shard, cut, entries
from .slots import Stamp
from .stored import Stored
from .threads import Threads

__all__ = [
    "Crew",
    "Dask",
    "Engine",
    "Examples",
    "Held",
    "Shard",
    "Stamp",
    "Stored",
    "Threads",
    "cut",
    "entries",
]
