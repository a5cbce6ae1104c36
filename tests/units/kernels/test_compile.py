"""Where compiled kernels are kept, and which route a problem takes."""

import os
import stat

import numpy as np
import pytest
from numba import config
from numba.core.event import Listener, install_listener

from argmax import kernels
from argmax.kernels import compile as compiler


def test_the_folder_is_made_private_and_named_by_sources_and_versions(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGMAX_CACHE_DIR", str(tmp_path / "a" / "b"))
    folder = compiler.cache_folder()
    assert folder.parent == tmp_path / "a" / "b"
    assert folder.name == f"kernels-{compiler._fingerprint()}"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert compiler.cache_folder() == folder
    assert list(folder.iterdir()) == []


needs_compiler = pytest.mark.skipif(config.DISABLE_JIT, reason="needs the compiler")


class _Compiled(Listener):
    """Names of the functions that are compiled meanwhile."""

    def __init__(self):
        self.names = []

    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass


@needs_compiler
@pytest.mark.parametrize("last", [5, np.int32(5)], ids=["64 bits", "32 bits"])
def test_a_kernel_called_with_a_counter_is_compiled_once(last, monkeypatch):
    """Numba takes a counter for the literal that it begins with, until it has seen the loop."""
    monkeypatch.setattr(compiler, "_FOLDER", None)
    start = compiler.inner_kernel(lambda at: at + 0)

    @compiler.kernel
    def count(last):
        at = 0
        while at < start(last):
            at = start(at) + 1
        return at

    with install_listener("numba:compile", _Compiled()) as compiled:
        assert count(last) == 5
    assert compiled.names == ["count", "<lambda>"]


def test_another_version_means_another_folder(monkeypatch):
    before = compiler._fingerprint()
    monkeypatch.setattr(compiler.numba, "__version__", "0.0.0")
    assert compiler._fingerprint() != before


def test_a_folder_that_cannot_be_made_is_none(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("ARGMAX_CACHE_DIR", str(file))
    assert compiler.cache_folder() is None


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root writes anywhere")
def test_a_folder_that_cannot_be_written_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGMAX_CACHE_DIR", str(tmp_path))
    compiler.cache_folder().chmod(0o500)
    assert compiler.cache_folder() is None


def test_a_folder_that_a_probe_cannot_write_is_none(tmp_path, monkeypatch):
    def refuse(**where):
        raise PermissionError(13, "read-only")

    monkeypatch.setenv("ARGMAX_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiler.tempfile, "TemporaryFile", refuse)
    assert compiler.cache_folder() is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners of files")
def test_a_folder_of_somebody_else_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGMAX_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiler.os, "getuid", lambda: 123_456)
    assert compiler.cache_folder() is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners of files")
@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_is_none(tmp_path, monkeypatch, mode):
    """Numba's index is a pickle: reading one that somebody else wrote runs their code."""
    monkeypatch.setenv("ARGMAX_CACHE_DIR", str(tmp_path))
    compiler.cache_folder().chmod(mode)
    assert compiler.cache_folder() is None


def test_no_home_is_none(monkeypatch):
    def homeless():
        raise RuntimeError("no home")

    for name in ("ARGMAX_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(compiler.Path, "home", staticmethod(homeless))
    assert compiler.cache_folder() is None


def test_the_usual_places(monkeypatch, tmp_path):
    monkeypatch.delenv("ARGMAX_CACHE_DIR", raising=False)
    monkeypatch.setattr(compiler.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compiler._base_folder() == tmp_path / "argmax"
    monkeypatch.setattr(compiler.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert compiler._base_folder() == tmp_path / "local" / "argmax"


def test_a_kernel_without_a_folder_still_works(monkeypatch):
    monkeypatch.setattr(compiler, "_FOLDER", None)

    @compiler.kernel
    def double(x):
        return 2 * x

    assert double(21) == 42


# The route


@pytest.mark.parametrize(
    ("setting", "small", "large"),
    [(None, False, True), ("", False, True), ("always", True, True), ("never", False, False)],
)
def test_the_environment_overrides_the_size(setting, small, large, monkeypatch):
    monkeypatch.delenv("ARGMAX_COMPILED", raising=False)
    if setting is not None:
        monkeypatch.setenv("ARGMAX_COMPILED", setting)
    assert kernels.compiled(1) is small
    assert kernels.compiled(kernels.SMALL) is large
