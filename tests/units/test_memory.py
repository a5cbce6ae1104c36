"""Giving freed memory back: only where it is worth it, and only where the C library can."""

import sys

import numpy as np
import pytest

from argmax import memory


def test_little_memory_is_left_alone_and_much_is_given_back(monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "_trim", lambda: asked.append)
    memory.give_back(memory.WORTH - 1)
    assert not asked
    memory.give_back(memory.WORTH)
    assert asked == [0]


def test_without_such_a_library_nothing_happens(monkeypatch):
    monkeypatch.setattr(memory, "_trim", lambda: None)
    memory.give_back(1e12)


def test_other_systems_are_not_asked(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory._trim.__wrapped__() is None


@pytest.mark.skipif(memory._trim() is None, reason="the C library has no malloc_trim")
def test_freed_pages_leave_the_process():
    def resident():
        with open("/proc/self/statm") as line:
            return int(line.read().split()[1]) * 4096

    small = [
        np.ones(2**13) for _ in range(1024)
    ]  # 64 KiB each: from the heap, whatever its threshold
    held = small[::2]  # so that no end of the heap is free
    del small
    before = resident()
    memory.give_back(2**25)
    assert before - resident() > 2**24
    assert sum(array[0] for array in held) == 512
