"""A quick start: a command imports scikit-learn without the large packages that this drags along.

scikit-learn imports pandas, scipy.stats and scipy.interpolate for functions that no command calls. They take
twice as long as all else that it needs, and a command waits for its imports before it does anything.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, final

__all__ = ["import_quickly", "meanwhile", "put_off"]

UNUSED = ("pandas", "scipy.stats", "scipy.interpolate")


def import_quickly(name: str) -> ModuleType:
    """A module of a command, and all that it imports."""
    # Modules stay: to look for garbage among them, now or at any later time, is wasted.
    gc.disable()
    try:
        with put_off(*UNUSED):
            module = import_module(name)
        gc.freeze()
    finally:
        gc.enable()
    return module


@contextmanager
def meanwhile(chore: Callable[[], Any]) -> Iterator[None]:
    """A chore in a thread of its own while something else goes on, which mostly needs no interpreter.

    >>> from argmax.cli.importing import meanwhile
    >>> done = []
    >>> with meanwhile(lambda: done.append("chore")):
    ...     pass
    >>> done
    ['chore']
    """
    thread = threading.Thread(target=chore, daemon=True)
    thread.start()
    yield
    thread.join()


@contextmanager
def put_off(*names: str) -> Iterator[None]:
    """Within this, to import one of these modules gives a stand-in, which is replaced when it is used.

    What is imported from one is a stand-in too, good for being called and asked for attributes.

    >>> import sys
    >>> from argmax.cli.importing import put_off
    >>> _ = sys.modules.pop("colorsys", None)
    >>> with put_off("colorsys"):
    ...     import colorsys
    ...     from colorsys import hsv_to_rgb
    >>> "colorsys" in sys.modules
    False
    >>> colorsys.rgb_to_hsv(1.0, 0.0, 0.0), "colorsys" in sys.modules
    ((0.0, 1.0, 1.0), True)
    >>> hsv_to_rgb(0.0, 1.0, 1.0)
    (1.0, 0.0, 0.0)
    """
    absent = [name for name in names if name not in sys.modules and find_spec(name) is not None]
    stand_ins = {name: _StandIn(name) for name in absent}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for stand_in in stand_ins.values():
            stand_in.leave()


@final
class _StandIn(ModuleType):
    """Imports the module that it stands for when something of it is wanted."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is not self:
            return self.real(name)
        if name.startswith("__"):  # the import system asks for some, and can do without
            raise AttributeError(name)
        return _Later(self, name)

    def real(self, name: str) -> Any:
        """A name of the module itself."""
        self.leave()
        return getattr(import_module(self.__name__), name)

    def leave(self) -> None:
        """Stand no longer in the way of the real one."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


@final
class _Later:
    """Something of a module that is not imported yet."""

    def __init__(self, module: _StandIn, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._module.real(self._name)(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module.real(self._name), name)
