"""Turns: pieces of work that threads take while they are inside a kernel, without the interpreter's lock.

Work comes in stages of as many pieces each. Whoever is free takes the next piece; no piece of a stage begins
before all of the stage before it are done. So any number of threads will do, one too; who comes late joins
in; and who is put to sleep by the system is waited for only while he has a piece in hand.

    turns = np.zeros(SHAPE, np.int64)           shared by the threads that are in it
    piece = next_piece(turns, pieces, stages)   0, 1, 2, … over all stages, or −1 when none is left
    done(turns)                                 what this piece has written is there for the next stage
    unfinished(turns, count)                    whether fewer pieces are done, after a little wait

When all is done the pieces can be given out anew, and who is still there begins at once:

    again(turns)                                pieces begin at 0

What somebody does who finds no piece left, of one stage, depends on his role (``next_for``, ``ended``):

    LEADS    waits a little for those that others have in hand; True if some are still unfinished
    PASSES   goes
    HELPS    goes; and unlike those two he does not look around before there are none left
    STAYS    waits for pieces that are given out anew, until that takes long, or the bell rings
    WAITS    the same, but only for the first; True if he has done any

Where pieces have owners, whose caches know them, stages go the same way but the owner does his piece, and
others only if he does not come. Of n threads, number ``me`` (0 … n−1) owns the pieces me, me + n, …:

    steps = np.zeros(steps_shape(pieces), np.int64)
    piece = next_own(steps, pieces, n, me, stage)   a piece of this stage; −1 when all of it is done
    done_own(steps, piece, stage)

    arrive(counts, at)                          of those who meet at a place, how many were there before
    enter(lock), leave(lock)                    one at a time in between; a lock is like ``turns``

If somebody fails with a piece in hand, whoever learns of it fills ``turns`` or ``steps`` with a number beyond
all counts (``engines.threads``): then all waits end, and there are no pieces left.

A wait is a few microseconds where every thread has a core, and is spent looking; after that the core is
offered to others.
"""

import platform
import sys

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from .compile import inner_kernel

__all__ = [
    "HELPS",
    "LEADS",
    "PASSES",
    "SHAPE",
    "STAYS",
    "WAITS",
    "again",
    "arrive",
    "done",
    "done_own",
    "ended",
    "enter",
    "leave",
    "next_for",
    "next_own",
    "next_piece",
    "rung",
    "steps_shape",
    "unfinished",
]

LEADS, PASSES, HELPS, STAYS, WAITS = range(5)
LINE = 16  # numbers between two counts: they must not lie in one line of the cache, nor in two neighbours
TAKEN, DONE = 0, LINE  # where the counts are
SHAPE = 2 * LINE
LOOKS = 256  # before a core is offered to others
LITTLE = 2**15  # looks, after which somebody who waits for others looks around himself
LONG = 2**16  # looks, one to three milliseconds, after which nobody waits for more work

_X86 = "llvm.x86.sse2.pause", ()
_ARM = "llvm.aarch64.hint", (1,)
_PAUSES = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}
_OFFER = "SwitchToThread" if sys.platform == "win32" else "sched_yield"


@intrinsic
def _add(typing, counts, at, amount):
    """counts[at] += amount in one step that nobody can come between; what it was before."""

    def generate(context, builder, signature, args):
        data = context.make_array(counts)(context, builder, args[0]).data
        place = builder.gep(data, [args[1]])
        return builder.atomic_rmw("add", place, args[2], "seq_cst")

    return types.int64(counts, types.intp, types.int64), generate


@intrinsic
def _look(typing, counts, at):
    """counts[at] as it is now, and with it all that was written before it became that."""

    def generate(context, builder, signature, args):
        data = context.make_array(counts)(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "acquire", 8)

    return types.int64(counts, types.intp), generate


@intrinsic
def _set(typing, counts, at, value):
    """counts[at] = value, and with it all that was written before."""

    def generate(context, builder, signature, args):
        data = context.make_array(counts)(context, builder, args[0]).data
        builder.atomic_rmw("xchg", builder.gep(data, [args[1]]), args[2], "seq_cst")
        return context.get_dummy_value()

    return types.none(counts, types.intp, types.int64), generate


@intrinsic
def _swap(typing, counts, at, old, new):
    """counts[at] = new if it is ``old``, in one step that nobody can come between; whether it was."""

    def generate(context, builder, signature, args):
        data = context.make_array(counts)(context, builder, args[0]).data
        place = builder.gep(data, [args[1]])
        found = builder.cmpxchg(place, args[2], args[3], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(counts, types.intp, types.int64, types.int64), generate


@intrinsic
def _pause(typing):
    """Tells the core that this is a loop that looks and waits."""

    def generate(context, builder, signature, args):
        name, numbers = _PAUSES.get(platform.machine().lower(), (None, ()))
        if name is not None:
            given = [ir.Constant(ir.IntType(32), number) for number in numbers]
            kind = ir.FunctionType(ir.VoidType(), [number.type for number in given])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), given)
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def _offer(typing):
    """Lets the system put another thread on this core."""

    def generate(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _OFFER), [])
        return context.get_dummy_value()

    return types.none(), generate


if config.DISABLE_JIT:  # one thread at a time, and so nothing to wait for

    def _add(counts, at, amount):
        before = int(counts[at])
        counts[at] += amount
        return before

    def _look(counts, at):
        return counts[at]

    def _set(counts, at, value):
        counts[at] = value

    def _swap(counts, at, old, new):
        if counts[at] != old:
            return False
        counts[at] = new
        return True

    def _pause():
        pass

    def _offer():
        pass


@inner_kernel
def _wait(turns, count):
    """Until so many pieces are done."""
    looks = 0
    while _look(turns, DONE) < count:
        looks += 1
        if looks < LOOKS:
            _pause()
        else:
            _offer()


@inner_kernel
def next_piece(turns, pieces, stages):
    """The number of a piece that this thread is to do, now that all stages before its own are done; or −1.

    Given  stages of so many pieces each. Whoever has to wait does so before he takes a piece: a thread that
    is put to sleep while it waits then keeps nobody else waiting.
    """
    ahead = _look(turns, TAKEN)
    if ahead < pieces * stages:
        _wait(turns, ahead // pieces * pieces)
        piece = _add(turns, TAKEN, 1)
        if piece < pieces * stages:
            _wait(turns, piece // pieces * pieces)
            return piece
    return np.int64(-1)


@inner_kernel
def done(turns):
    """A piece is done."""
    _add(turns, DONE, 1)


@inner_kernel
def unfinished(turns, count):
    """Whether fewer pieces than that are done, after a millisecond or so of waiting for them."""
    looks = 0
    while _look(turns, DONE) < count:
        looks += 1
        if looks == LITTLE:
            return True
        _pause()
    return False


@inner_kernel
def again(turns):
    """The pieces can be taken once more. Only for whoever knows that all of them are done."""
    _set(turns, DONE, 0)
    _set(turns, TAKEN, 0)


@inner_kernel
def rung(bell):
    """How often the bell has rung."""
    return _look(bell, 0)


@inner_kernel
def next_for(role, turns, pieces, bell, rung, before):
    """The number of a piece for somebody who has done some ``before``, when the bell had ``rung``; or −1."""
    piece, looks = next_piece(turns, pieces, 1), 0
    if role == STAYS or (role == WAITS and before == 0):
        while piece < 0 and looks < LONG and _look(bell, 0) == rung:
            looks += 1
            if looks % LOOKS:
                _pause()
            else:
                _offer()
            piece = next_piece(turns, pieces, 1)
    return piece


@inner_kernel
def ended(role, turns, pieces, before):
    """What somebody says who gets no more pieces, and has done some ``before``."""
    if role == LEADS:
        return unfinished(turns, pieces)
    return role == WAITS and before > 0


# The step of a piece is 2·stage before it is begun, one more while somebody has it in hand, and two more when
# it is done: each in a line of its own, so that owners do not meet while they work.


def steps_shape(pieces: int) -> int:
    """How many numbers ``steps`` has; the last line is for ``arrive``."""
    return (pieces + 1) * LINE


@inner_kernel
def _took(steps, piece, stage):
    at, free = piece * LINE, 2 * stage
    return _look(steps, at) == free and _swap(steps, at, free, free + 1)


@inner_kernel
def next_own(steps, pieces, n, me, stage):
    """A piece of this stage for thread ``me``: his own, or after a while another's; −1 when all is done."""
    for piece in range(me, pieces, n):
        if _took(steps, piece, stage):
            return piece
    looks = 0
    for piece in range(pieces):
        while _look(steps, piece * LINE) < 2 * stage + 2:
            looks += 1
            if looks % LOOKS:
                _pause()
            else:
                for other in range(pieces):
                    if _took(steps, other, stage):
                        return other
                _offer()
    return -1


@inner_kernel
def done_own(steps, piece, stage):
    """What this piece has written is there for the next stage."""
    _set(steps, piece * LINE, 2 * stage + 2)


@inner_kernel
def arrive(counts, at):
    """How many have arrived at this place before; and what they had written is there now."""
    return _add(counts, at, 1)


@inner_kernel
def enter(lock):
    """Wait until all who came before have left."""
    _wait(lock, _add(lock, TAKEN, 1))


@inner_kernel
def leave(lock):
    _add(lock, DONE, 1)
