"""What decides the bits of a sum besides the data: versions and the processor's instructions."""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

__all__ = ["Machine", "difference", "machine"]

Machine = dict[str, str]


@functools.cache
def machine() -> Machine:
    """This process in the terms that matter.

    >>> from argmax.engines.machine import machine
    >>> sorted(machine())
    ['BLAS', 'argmax', 'instructions', 'llvmlite', 'numba', 'numpy', 'processor', 'python', 'scipy']
    """
    import scipy.linalg  # noqa: F401 (loads its own BLAS, which is then listed)

    versions = {name: _version(name) for name in ("numpy", "scipy", "numba", "llvmlite")}
    return {
        "argmax": _sources(),
        "python": platform.python_version(),
        **versions,
        "processor": platform.machine(),
        "instructions": _instructions(),
        "BLAS": _blas(),
    }


def difference(one: Machine, other: Machine) -> str | None:
    """The first thing that two machines do not have in common, as "name is this and that"; or None.

    >>> from argmax.engines.machine import difference
    >>> difference({"numpy": "2.4"}, {"numpy": "2.3"})
    'numpy is 2.4 and 2.3'
    """
    for name in one:
        if one[name] != other.get(name):
            return f"{name} is {one[name]} and {other.get(name)}"
    return None


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"


def _sources() -> str:
    """A digest of this package: its version would not tell two working copies apart."""
    folder, digest = Path(__file__).parents[1], hashlib.blake2b(digest_size=6)
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _instructions() -> str:
    """A digest of the instruction sets that NumPy found."""
    core: Any = getattr(np, "_core", None) or np.core
    found = sorted(name for name, there in core._multiarray_umath.__cpu_features__.items() if there)
    return hashlib.blake2b(" ".join(found).encode(), digest_size=6).hexdigest()


def _blas() -> str:
    """Libraries and the kernels they chose for this processor."""
    found = {
        f"{info.get('internal_api')} {info.get('version')} {info.get('architecture')}"
        for info in threadpoolctl.threadpool_info()
        if info.get("user_api") == "blas"
    }
    return ", ".join(sorted(found))
