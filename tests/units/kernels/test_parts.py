"""What Python calls is optimised whole; what kernels call is a part of it."""

import gc
import os

import numpy as np
import pytest
from numba import config, njit
from numba.core.codegen import CPUCodeLibrary
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from argmax.kernels import compile as compiler
from argmax.kernels import parts

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="needs the compiler")


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(compiler, "_FOLDER", None)


@pytest.fixture
def optimised(monkeypatch):
    """Names of the modules that are optimised meanwhile."""
    names, usual = [], CPUCodeLibrary._optimize_final_module
    rtsys.initialize(cpu_target.target_context)  # Numba's own memory management, once in a process

    def noted(library):
        names.append(library.name.rpartition(".")[2])
        usual(library)

    monkeypatch.setattr(CPUCodeLibrary, "_optimize_final_module", noted)
    return names


def test_only_the_whole_is_optimised(optimised):
    @compiler.inner_kernel
    def twice(x):
        return 2.0 * x

    @compiler.kernel
    def fill(x):
        for i in range(len(x)):
            x[i] = twice(max(x[i], 1.0))

    @compiler.kernel
    def whole(n):
        x = np.zeros(n)
        fill(x)
        return x

    assert whole(3).tolist() == [2.0, 2.0, 2.0]
    assert optimised == ["whole"]


def test_a_part_can_be_called_by_python_too():
    @compiler.kernel
    def twice(x):
        return 2 * x

    @compiler.kernel
    def four_times(x):
        return twice(twice(x))

    assert (four_times(5), twice(5), four_times(6), twice(0.5)) == (20, 10, 24, 1.0)


def test_a_function_of_somebody_else_can_call_a_kernel():
    @compiler.kernel
    def twice(x):
        return 2 * x

    @njit
    def theirs(x):
        return twice(x) + 1

    assert theirs(5) == 11


def test_what_kernels_use_of_numba_serves_functions_of_others():
    """A part of Numba that has been translated for a kernel is used again in functions that are not ours."""

    @compiler.kernel
    def ours(n):
        return np.full(n, 7, np.int16)

    @njit
    def theirs(n):
        return np.full(n, 7, np.int16)

    assert ours(2).tolist() == theirs(2).tolist() == [7, 7]


def test_a_function_of_somebody_else_that_a_kernel_calls_can_be_called_by_python():
    """For the kernel it is a part, but its wrapper for Python needs machine code, and is given it."""

    @njit
    def theirs(x):
        if x < 0:
            raise ValueError("negative")
        return x + np.zeros(2)

    @compiler.kernel
    def ours(x):
        return theirs(x).sum()

    assert ours(3.0) == 6.0
    assert theirs(3.0).tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match="negative"):
        theirs(-1.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_is_forked_meanwhile_collects_garbage():
    with parts._no_garbage():
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        assert not gc.isenabled()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("collects", [True, False])
def test_after_an_error_all_is_as_before(collects):
    @compiler.kernel
    def wrong(x):
        return x + no_such_thing  # noqa: F821

    codegen = cpu_target.target_context.codegen()
    usual = codegen._library_class
    (gc.enable if collects else gc.disable)()
    try:
        with pytest.raises(TypingError):
            wrong(1)
        assert gc.isenabled() is collects
    finally:
        gc.enable()
    assert codegen._library_class is usual
