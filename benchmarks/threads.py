"""Scaling over threads: one gradient pass, and whole fits, with the same bits at every count.

Self-contained: the data are made here, in a few seconds. The peer is scikit-learn's own pass
(``LinearModelLoss``) with as many BLAS threads, in a process of its own; its sparse products (SciPy's) use
one whatever is allowed.
With OUT in the environment the figures are also written to $OUT/threads.json.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from argmax import LinearClassifier, engines, losses, passes
from argmax.checks import compressed
from argmax.kernels.compile import kernel
from argmax.kernels.simd import L8, add, fma, load, total, zeros
from argmax.layouts import Full
from argmax.objective import Objective
from argmax.records import Structures, Truth
from argmax.spaces import Classes

from .common import (
    Check,
    Options,
    Outcome,
    Side,
    cores,
    machine,
    median,
    note_ratio,
    progress,
    say,
    table,
    write_json,
)

COUNTS = (1, 2, 4, 8, 16)
ROUNDS, PASSES = 3, 5
BUDGET = 210.0
"""Seconds after which no repetition is started: every figure has one run at least, and says how many."""

PAUSE = 0.2
"""Seconds between two measurements: after a call the threads of a BLAS look for more work for a while, and
take the cores from whoever comes next."""

PASS_FLOOR, FIT_FLOOR = 12.0, 8.0
"""What is promised on the most threads of COUNTS."""

PIECES = 64
"""Pieces in which threads do what shows the machine itself: whoever is faster does more of them."""

EXPLANATION = f"""\
The machine itself first, by the same threads: arithmetic that stays in registers, and the dense rows read
from memory. What cores have in common, or lose when all of them are busy, shows there.
Seconds at each number of threads, medians of {ROUNDS} rounds taken in turn (none begun after {BUDGET:g} s);
a pass is the median of {PASSES}, one after the other, as in a fit. "scaling" is against one thread. Shown
without a promise: 80,000 dense rows, of which sixteen threads make so short work that what they cannot share
counts. The gradient, or the fitted weights, must have the same bits at every count.
peer: scikit-learn's pass over the same data and weights, the best of as many BLAS threads or fewer. Each
library has a process of its own."""


@dataclass(frozen=True)
class Synthetic:
    """Rows and labels of a noisy linear model."""

    name: str
    X: Any
    y: Any
    k: int
    C: float


@dataclass(frozen=True)
class Work:
    """Something to time at each count: seconds and a fingerprint of the result, or a peer's seconds.

    ``peer_scales`` is False where the peer uses one thread whatever is allowed: it is timed once a round.
    """

    name: str
    floor: float | None
    ours: Callable[[int], tuple[float, str]]
    peer: Callable[[int], float] | None = None
    peer_scales: bool = True


def run(options: Options) -> Outcome:
    outcome, began = Outcome("threads"), time.perf_counter()
    counts = [n for n in COUNTS if n <= cores()]
    say(EXPLANATION)
    broken = []
    with Side(_prepare, options.quick) as ours, Side(_prepare, options.quick) as theirs:
        rounds = 2 if options.quick else ROUNDS
        limits: list[str] = []
        for number, (name, floor, peer) in enumerate(ours.ask(_described)):
            calls = _Calls(number, ours, theirs, peer)
            figures = measure(name, calls, counts, rounds, began)
            show(name, figures)
            outcome.figures.append({"what": name, **figures})
            limits += [f"{_scaling(figures):.1f}×"] if name in (ARITHMETIC, READING) else []
            outcome.checks += [] if floor is None else [_check(name, figures, floor, limits)]
            broken += [] if figures["same_bits"] else [name]
    say(f"{time.perf_counter() - began:.0f} s in all.")
    if out := os.environ.get("OUT"):
        write_json(Path(out) / "threads.json", machine(cores()), [outcome])
    if broken:
        raise SystemExit(f"DIFFERENT BITS at different numbers of threads: {', '.join(broken)}.")
    return outcome


# Inside the process of a library


_works: list[Work] = []


def _prepare(quick: bool) -> None:
    _works[:] = works(quick)


def _described() -> list[tuple[str, float | None, str]]:
    """Name and floor of each work, and how often the peer is timed in a round."""

    def often(work: Work) -> str:
        return "never" if work.peer is None else "always" if work.peer_scales else "once"

    return [(work.name, work.floor, often(work)) for work in _works]


def _ours(number: int, n: int) -> tuple[float, str]:
    return _works[number].ours(n)


def _theirs(number: int, n: int) -> float:
    peer = _works[number].peer
    assert peer is not None
    return peer(n)


# Measuring


@dataclass(frozen=True)
class _Calls:
    """One work, on either side."""

    number: int
    mine: Side
    other: Side
    often: str

    def ours(self, n: int) -> tuple[float, str]:
        time.sleep(PAUSE)
        taken: tuple[float, str] = self.mine.ask(_ours, self.number, n)
        return taken

    def theirs(self, n: int, first: bool) -> list[float]:
        due = self.often == "always" or (self.often == "once" and first)
        time.sleep(PAUSE if due else 0.0)
        return [self.other.ask(_theirs, self.number, n)] if due else []


def measure(
    name: str, calls: _Calls, counts: list[int], rounds: int, began: float
) -> dict[str, Any]:
    """Seconds and fingerprints at every count, in turn."""
    progress(f"{name}: warming up")
    prints = {calls.ours(counts[-1])[1]}
    ours: dict[int, list[float]] = {n: [] for n in counts}
    peer: dict[int, list[float]] = {n: [] for n in counts}
    for i in range(rounds):
        if i and time.perf_counter() - began > BUDGET:
            break
        progress(f"{name}: round {i + 1}")
        for n in counts:
            seconds, found = calls.ours(n)
            ours[n].append(seconds)
            prints.add(found)
            peer[n] += calls.theirs(n, n == counts[0])
    peer = {n: seconds for n, seconds in peer.items() if seconds}
    return {"ours": ours, "peer": peer, "same_bits": len(prints) == 1}


def _check(name: str, figures: dict[str, Any], floor: float, limits: list[str]) -> Check:
    """The scaling that is promised on sixteen cores; elsewhere it stays open."""
    most, scaling = max(figures["ours"]), _scaling(figures)
    decision = "met" if scaling >= floor else "not met"
    decision = decision if most == COUNTS[-1] else f"open: only {most} cores"
    measured = f"{scaling:.2f}× on {most} threads (the machine: {' and '.join(limits)})"
    return Check(name, measured, f"{floor:g}×", decision)


def _scaling(figures: dict[str, Any]) -> float:
    """How much faster the most threads are than one."""
    ours = figures["ours"]
    return median(ours[1]) / median(ours[max(ours)])


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def show(name: str, figures: dict[str, Any]) -> None:
    ours, rows = figures["ours"], []
    one = median(ours[min(ours)])
    for n, seconds in ours.items():
        now = median(seconds)
        row = [str(n), f"{now:.4g}", f"{one / now:.2f}×", f"{one / now / n:.0%}", str(len(seconds))]
        peer = min((median(s) for m, s in figures["peer"].items() if m <= n), default=None)
        rows.append(
            [*row, *(["", ""] if peer is None else [f"{peer:.4g}", note_ratio(peer / now)])]
        )
    columns = ["threads", "s", "scaling", "of ideal", "runs", "peer s", "peer/us"]
    bits = "same bits" if figures["same_bits"] else "BITS DIFFER"
    table(f"{name}: {bits}", columns, rows)


# The works


def works(quick: bool) -> list[Work]:
    """Passes; then fits, by the solvers that "auto" takes, and by one that makes passes over sparse rows."""
    shrink = 20 if quick else 1
    tall = dense(320_000 // shrink, 784, 10)
    few = replace(tall, X=tall.X[: len(tall.X) // 4], y=tall.y[: len(tall.y) // 4])
    text = sparse(200_000 // shrink, 100_000 // shrink, 100, 20)
    return [
        _arithmetic(shrink),
        _reading(tall),
        _gradient(tall, PASS_FLOOR),
        _gradient(text, PASS_FLOOR),
        _gradient(few),
        _fit(tall, "lbfgs", FIT_FLOOR),
        _fit(text, "dual", FIT_FLOOR),
        _fit(text, "newton_cg", FIT_FLOOR),
        _fit(few, "lbfgs"),
    ]


def dense(n: int, d: int, k: int) -> Synthetic:
    progress("making dense rows")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X *= 0.3
    return Synthetic("dense", X, _labels(rng, X, d, k), k, 0.1)


def sparse(n: int, d: int, entries: int, k: int) -> Synthetic:
    """CSR rows with one entry in each of ``entries`` ranges of features.

    The ranges grow geometrically, so a few features are in every row and most are rare, as in text; and
    indices are sorted and distinct without any sorting.
    """
    progress("making sparse rows")
    rng = np.random.default_rng(1)
    edges = np.geomspace(1, d - entries, entries + 1).astype(np.int64) + np.arange(entries + 1)
    edges[0], edges[-1] = 0, d
    width = np.diff(edges)
    indices = (edges[:-1] + (rng.random((n, entries)) * width)).astype(np.int32)
    values = rng.standard_normal(n * entries) / entries**0.5
    indptr = np.arange(0, n * entries + 1, entries, dtype=np.int32)
    X = sp.csr_matrix((values, indices.ravel(), indptr), shape=(n, d))
    return Synthetic("sparse", X, _labels(rng, X, d, k), k, 1.0)


def _labels(rng: np.random.Generator, X: Any, d: int, k: int) -> Any:
    scores = X @ rng.standard_normal((d, k))
    scores += rng.gumbel(size=scores.shape)
    return scores.argmax(axis=1)


def _size(source: Synthetic) -> str:
    return f"{source.name} {source.X.shape[0]} × {source.X.shape[1]}, k = {source.k}"


ARITHMETIC = "arithmetic in registers"
READING = "reading the dense rows"


def _arithmetic(shrink: int) -> Work:
    """Multiply-adds that need no memory, as many at a time as a core can do."""
    return Work(
        ARITHMETIC, None, _pieces(lambda i: _multiply_adds(1_600_000 // shrink, np.ones(64)))
    )


def _reading(source: Synthetic) -> Work:
    """All of X once."""
    flat = source.X.ravel()
    bounds = len(flat) * np.arange(PIECES + 1) // PIECES
    return Work(READING, None, _pieces(lambda i: _sum(flat[bounds[i] : bounds[i + 1]])))


def _pieces(piece: Callable[[int], float]) -> Callable[[int], tuple[float, str]]:
    def ours(n: int) -> tuple[float, str]:
        engine = engines.Threads(n)
        with engine.open():
            timed = [_timed(lambda: engine.run(piece, PIECES)) for _ in range(PASSES)]
        return median([seconds for seconds, _ in timed]), _fingerprint(np.array(timed[-1][1]))

    return ours


@kernel
def _multiply_adds(times: int, out: Any) -> Any:
    """Eight sums that do not wait for each other."""
    w = load(out, 0, L8)
    a, b, c, d = load(out, 0, L8), load(out, 8, L8), load(out, 16, L8), load(out, 24, L8)
    e, f, g, h = load(out, 32, L8), load(out, 40, L8), load(out, 48, L8), load(out, 56, L8)
    for i in range(times):
        x = 1e-9 * i
        a, b, c, d = fma(x, w, a), fma(x, w, b), fma(x, w, c), fma(x, w, d)
        e, f, g, h = fma(x, w, e), fma(x, w, f), fma(x, w, g), fma(x, w, h)
    return total(add(add(add(a, b), add(c, d)), add(add(e, f), add(g, h))))


@kernel
def _sum(flat: Any) -> Any:
    a, b, c, d = zeros(flat, L8), zeros(flat, L8), zeros(flat, L8), zeros(flat, L8)
    for i in range(0, len(flat) - 31, 32):
        a, b = add(a, load(flat, i, L8)), add(b, load(flat, i + 8, L8))
        c, d = add(c, load(flat, i + 16, L8)), add(d, load(flat, i + 24, L8))
    return total(add(add(a, b), add(c, d)))


def _gradient(source: Synthetic, floor: float | None = None) -> Work:
    """Objective.at, the pass that every solver repeats."""
    is_sparse = sp.issparse(source.X)
    rows = compressed(source.X) if is_sparse else source.X
    layout = Full(source.X.shape[1], source.k, sparse=is_sparse, compiled=True)
    problem = passes.Problem(Classes(source.k, compiled=True), layout, losses.get("log"))
    shards = engines.cut(Structures(rows), Truth(source.y.astype(np.intp)), layout)
    w = 0.01 * np.random.default_rng(2).standard_normal(layout.size)
    layout.matrix(w)[:, layout.columns :] = 0.0  # padding is zero, by contract

    def ours(n: int) -> tuple[float, str]:
        engine = engines.Threads(n)
        with (
            engine.open()
        ):  # once a fit, so neither it nor the start of its threads is part of a pass
            objective = Objective(problem, shards, engine, source.C)
            objective.at(w)
            timed = [_timed(lambda: objective.at(w)) for _ in range(PASSES)]
        seconds, point = median([seconds for seconds, _ in timed]), timed[-1][1]
        return seconds, _fingerprint(np.float64(point.value), point.data_gradient)

    named = layout.named(w)
    value = Objective(problem, shards, engines.Threads(1), source.C).at(w).value
    peer = _peer(source, np.hstack([named["coef"], named["intercept"][:, None]]), value)
    return Work(f"gradient pass, {_size(source)}", floor, ours, peer, not is_sparse)


def _peer(source: Synthetic, coef: Any, expected: float) -> Callable[[int], float]:
    """scikit-learn's value and gradient at the same weights; its value must be ours."""
    from sklearn._loss.loss import HalfMultinomialLoss
    from sklearn.linear_model._linear_loss import LinearModelLoss

    loss = LinearModelLoss(base_loss=HalfMultinomialLoss(n_classes=source.k), fit_intercept=True)
    flat, target = coef.ravel(order="F"), source.y.astype(float)
    scale = source.C * len(target)

    def peer(n: int) -> float:
        with threadpool_limits(n, user_api="blas"):
            seconds, (value, _) = _timed(
                lambda: loss.loss_gradient(flat, source.X, target, None, 1.0 / scale)
            )
        if not np.isclose(scale * value, expected, rtol=1e-9):
            raise RuntimeError(f"{source.name}: F is {expected!r} here, {scale * value!r} there.")
        return seconds

    return peer


def _fit(source: Synthetic, solver: str, floor: float | None = None) -> Work:
    """A whole fit, by the solver that "auto" chooses, or by another."""

    def ours(n: int) -> tuple[float, str]:
        model = LinearClassifier(C=source.C, solver=solver, n_threads=n)
        seconds, _ = _timed(lambda: model.fit(source.X, source.y))
        return seconds, _fingerprint(model.coef_, model.intercept_)

    return Work(f"whole fit, {_size(source)}, solver {solver!r}", floor, ours)


def _fingerprint(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
