"""The harness itself: a crash, a hang and a full memory must be seen as what they are."""

import faulthandler
import signal
import time

import pytest

from tests.faults.harness import GIB, run

needs_limits = pytest.mark.skipif(
    not hasattr(signal, "SIGKILL"), reason="this system has no limits of address space"
)


def crash():
    faulthandler._sigsegv()


def hang():
    time.sleep(60)


def fill_memory():
    bytearray(2 * GIB)


def answer(number):
    print(number + 1)


def test_a_crash_is_a_signal_with_a_traceback():
    outcome = run(crash)
    assert outcome.status == -signal.SIGSEGV
    assert "in crash" in outcome.stderr


def test_a_hang_ends_at_the_time_limit_and_says_where():
    outcome = run(hang, seconds=3)
    assert outcome.status < 0
    assert "in hang" in outcome.stderr
    assert "stopped after 3 seconds" in outcome.stderr


@needs_limits
def test_memory_is_limited():
    outcome = run(fill_memory, memory=1 * GIB)
    assert (outcome.status, outcome.error) == (1, "MemoryError")


def test_a_function_that_returns_ends_with_status_0():
    outcome = run(answer, 41)
    assert (outcome.status, outcome.error, outcome.stdout) == (0, None, "42\n")
