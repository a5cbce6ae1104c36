"""How a kernel is compiled with all that it calls: what Python calls is optimised, whole, and nothing else.

Numba makes machine code of every function that a kernel calls, for itself; once more within the kernel that
calls it; and once more in the kernel that calls that one. Here what is called is a part: it is translated to
LLVM's language, and no more. The kernel that Python calls is the whole: it is optimised, with all its parts.

What a kernel calls of Numba itself (how an array is made, the smaller of two numbers) is a part too. That
serves functions that are not ours as before, for they also optimise all that they hold.
"""

import gc
import os
from contextlib import contextmanager

import numba
from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime import rtsys

__all__ = ["Whole", "whole"]

TESTED = (0, 61), (0, 68)
"""Versions of Numba, first and last, whose private names have been tried here."""


def whole():
    """The compiler for kernels: ``Whole``, or Numba's own in a version that is not ``TESTED``."""
    version = tuple(int(part) for part in numba.__version__.split(".")[:2])
    return Whole if TESTED[0] <= version <= TESTED[1] else Compiler


class Whole(Compiler):
    """Numba's compiler, for a kernel that Python calls."""

    def compile_extra(self, func):
        context = self.state.targetctx
        rtsys.initialize(context)  # Numba's own memory management is machine code, and no part
        self.state.library = JITCodeLibrary(context.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        with _parts(context.codegen()), _no_garbage(), _no_news():
            return super().compile_extra(func)


@contextmanager
def _parts(codegen):
    """Whatever is compiled meanwhile becomes a part. Numba's lock keeps other threads from compiling."""
    usual, codegen._library_class = codegen._library_class, _Part
    try:
        yield
    finally:
        codegen._library_class = usual


@contextmanager
def _no_garbage():
    """The collector rests: it would go through all that a compiler remembers, for a sixth of the time."""
    global _rests
    collects = gc.isenabled()
    gc.disable()
    _rests = collects
    try:
        yield
    finally:
        _rests = False
        if collects:
            gc.enable()


_rests = False


def _after_fork():
    """A thread that was compiling is not in the child, and cannot wake the collector there."""
    if _rests:
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def _no_news():
    """LLVM is called without telling Numba's timers, one for each kernel in another: a twelfth of the time.

    Nothing else is compiled meanwhile, for Numba's lock is held: so timers of others miss nothing.
    """
    lock = getattr(llvm.ffi.lib, "_lock", None)
    if not hasattr(lock, "_cblist"):  # another llvmlite
        yield
        return
    usual, lock._cblist = lock._cblist, []
    try:
        yield
    finally:
        lock._cblist = usual


class _Part(JITCodeLibrary):
    """Functions that are translated, and wait for a whole."""

    def finalize(self):
        # With what it calls, for a whole asks only those that it calls itself.
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # newer Numbas have it
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def get_pointer_to_function(self, name):
        """0 for what only kernels call, as in Numba; what Python can call gets its machine code here."""
        self._ensure_finalized()
        if all(function.name != name for function in self.get_defined_functions()):
            return 0
        self._machine_code = JITCodeLibrary(self._codegen, self.name)
        self._machine_code.add_llvm_module(self._final_module.clone())
        return self._machine_code.get_pointer_to_function(name)

    @property
    def codegen(self):
        return _Addresses(self._codegen)


class _Addresses:
    """Numba's generator of code, which is asked to write into what it has made: parts are not in memory."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, name, env):
        if self._codegen._engine.is_symbol_defined(name):
            self._codegen.set_env(name, env)
