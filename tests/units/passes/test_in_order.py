"""Sums in the order of the parts, whoever brings them and when; with little left waiting."""

import threading

from argmax.engines import Threads
from argmax.passes import in_order
from argmax.passes.in_order import InOrder


def test_parts_are_handed_on_in_their_order_from_any_number_of_threads():
    for threads in (1, 2, 7):
        seen = []
        adding = InOrder(seen.append)
        with Threads(threads).open() as crew:
            crew.run(lambda part, adding=adding: adding.give(part, part), 200)
        assert seen == list(range(200))


def test_a_slow_part_holds_up_those_who_leave_much_behind():
    """While part 0 is missing, one thread leaves part 1 and goes on, and waits with part 2."""
    seen, left = [], threading.Event()
    adding = InOrder(seen.append)

    def bring():
        adding.give(1, "b")
        adding.give(2, "c")
        left.set()

    thread = threading.Thread(target=bring)
    thread.start()
    assert not left.wait(0.1)
    adding.give(0, "a")
    thread.join(in_order.PATIENCE)
    assert seen == ["a", "b", "c"]


def test_a_part_that_never_comes_holds_nobody_for_ever(monkeypatch):
    monkeypatch.setattr(in_order, "PATIENCE", 0.01)
    adding = InOrder(print)
    adding.give(1, "b")
    adding.give(2, "c")
