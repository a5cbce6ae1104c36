"""``@kernel``: how every kernel of this package is compiled and where the result is kept.

    nogil      our thread pool runs kernels side by side; Numba's own threads abort under Python threads
    contract   a·b + c may become one instruction; ``reassoc`` is never on (it broke a polynomial exp)
    numpy      division by zero gives inf, as in NumPy, instead of a test for every division

The folder of compiled code carries a hash of these sources and of the versions in its name: an edit or
an upgrade never meets a stale entry. It is used only if it belongs to the user and can be written;
otherwise kernels are compiled anew in each process, and nothing fails.
"""

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from . import compiling

with compiling.preparing():
    import llvmlite
    import numba
    from numba import njit, types
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
    from numba.core.runtime import rtsys

    from .parts import whole

compiling.listen()

__all__ = ["cache_folder", "inner_kernel", "kernel"]


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for version in (numba.__version__, llvmlite.__version__, sys.version):
        digest.update(version.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def _base_folder() -> Path:
    if chosen := os.environ.get("ARGMAX_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "argmax"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "argmax"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "argmax"


def cache_folder() -> Path | None:
    """The folder of compiled kernels, or None where none can be trusted and written."""
    try:
        folder = _base_folder() / f"kernels-{_fingerprint()}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        # Numba's index is a pickle: never read one that somebody else may write.
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
            return None
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # Path.home() raises RuntimeError where there is no home
        return None


_FOLDER = cache_folder()


class _Locator(_CacheLocator):
    """Keeps every kernel in our one folder; the folder's name already says which source it is."""

    def __init__(self, py_func, py_file):
        self._lineno = py_func.__code__.co_firstlineno

    def get_cache_path(self):
        return str(_FOLDER)

    def get_source_stamp(self):
        return 0

    def get_disambiguator(self):
        return str(self._lineno)

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file)


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _Cache(FunctionCache):
    _impl_class = _Implementation

    def load_overload(self, sig, target_context):
        """What is kept of a kernel, without Numba's declarations of all it can compile: a fifth of a second.

        Machine code needs only its memory management; a kernel that is not found asks for the rest itself.
        """
        with compiling.preparing(), self._guard_against_spurious_io_errors():
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)

    def save_overload(self, sig, data):
        # A full disk: the kernel is compiled, and will be again.
        with compiling.preparing(), suppress(OSError):
            super().save_overload(sig, data)


def kernel(function):
    """Compile lazily, on the first call, into our cache folder if there is one."""
    return _compiled(function)


def inner_kernel(function):
    """For what kernels call again and again: it creates no array, not even a view of one.

    A kernel counts the users of every array that it hands on, atomically: in steps of a microsecond that was
    a third of the time. Here nothing is counted.
    """
    return _compiled(function, _nrt=False)


def _compiled(function, **options):
    # Nobody takes the address of a kernel, so none is wrapped for that.
    common = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
    common |= {"no_cfunc_wrapper": True, **options}
    dispatcher = njit(pipeline_class=whole(), **common)(function)
    if not hasattr(dispatcher, "py_func"):  # under NUMBA_DISABLE_JIT
        return dispatcher
    if _FOLDER is not None:
        dispatcher._cache = _Cache(dispatcher.py_func)
    # What other kernels call: only Python needs a wrapper, and the cache holds wholes.
    part = njit(no_cpython_wrapper=True, **common)(function)
    dispatcher.get_call_template = _for_any_number(part.get_call_template)
    dispatcher.get_overload, dispatcher.get_compile_result = (
        part.get_overload,
        part.get_compile_result,
    )
    return dispatcher


def _for_any_number(get_call_template):
    """What Numba asks before one kernel calls another, for numbers instead of this number.

    A counter that begins with 0 is the literal 0 until Numba has seen that it counts: kernels called with it
    would be compiled twice, the first time in vain, and with them all that they call: a quarter of what a
    first dense fit compiled. And a number read from 32-bit indices goes where one of 64 bits goes.
    """

    def asked(args, kws):
        plain = {name: _plain(kind) for name, kind in kws.items()}
        return get_call_template(tuple(_plain(kind) for kind in args), plain)

    return asked


def _plain(kind):
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind
