"""Engines: where the sum over examples is computed. The same bits, whatever the number of workers.

Threads(n)   this machine's memory and cores
"""

from .base import Crew, Engine
from .shards import Shard, cut
from .slots import Stamp
from .threads import Threads

__all__ = ["Crew", "Engine", "Shard", "Stamp", "Threads", "cut"]
