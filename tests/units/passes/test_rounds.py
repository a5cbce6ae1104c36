"""Rounds: the next pass has the bits of a first one, whoever has stayed inside since the last."""

import numpy as np
import pytest

from argmax import engines
from argmax.engines import shards as sizes
from argmax.objective import Objective
from argmax.passes.rounds import Relay
from tests.laws import problems


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("shards", [1, 4])
def test_pass_after_pass_has_the_same_bits(kind, threads, shards, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    monkeypatch.setattr(sizes, "BLOCK_WORK", (500, 8000))
    monkeypatch.setattr(sizes, "GRADIENTS", 0)
    monkeypatch.setattr(sizes, "SHARD_BYTES", 2**40 if shards == 1 else 60_000)
    F = problems.classes(kind, 1200, 8, 5, compiled=True, weighted=True)
    rng = np.random.default_rng(0)
    points = [problems.random_w(F.problem.full, rng) for _ in range(20)]
    alone = [Objective(F.problem, [shard], F.engine, F.C, F.l1, F.l2) for shard in F.shards]
    expected = [[one.at(w) for one in alone] for w in points]
    assert (len(F.shards) > 1) == (shards > 1)
    assert F.shards[0].parts > 3
    engine = engines.Threads(threads)
    with engine.open():
        G = Objective(F.problem, F.shards, engine, F.C, F.l1, F.l2)
        for w, there in zip(points, expected, strict=True):
            here = G.at(w)
            assert here.loss == F.C * sum(one.loss / F.C for one in there)
            gradient = sum(one.data_gradient for one in there)
            assert here.data_gradient.tobytes() == gradient.tobytes()
            assert "round" in G.shards[0]._made


@pytest.mark.parametrize("size", [2**40, 60_000])
def test_nobody_is_called_out_between_the_passes_of_a_round(size, monkeypatch):
    """Nor between shards, nor for the arithmetic on weights, gradient and certificate included."""
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    monkeypatch.setattr(sizes, "BLOCK_WORK", (500, 8000))
    monkeypatch.setattr(sizes, "GRADIENTS", 0)
    monkeypatch.setattr(sizes, "SHARD_BYTES", size)
    F = problems.classes("float64", 1200, 8, 5, compiled=True)
    rng, engine = np.random.default_rng(0), engines.Threads(2)
    w = problems.random_w(F.problem.full, rng)
    with engine.open():
        G = Objective(F.problem, F.shards, engine, F.C, F.l1, F.l2)
        G.at(w)
        rung = int(engine.bell[0])
        for _ in range(3):
            point = G.at(w)
            assert np.isfinite(G.dot(point.gradient, w) + point.gap)
        assert engine.bell[0] == rung


def test_who_helps_leaves_after_a_shard_when_the_bell_rings():
    bell, seen = np.zeros(1, np.int64), []

    class Ringing:
        def __init__(self, name):
            self.name, self.bell = name, bell

        def work(self, role):
            seen.append(self.name)
            bell[0] += self.name == "second"
            return True

    relay = Relay([Ringing("first"), Ringing("second"), Ringing("third"), Ringing("last")])
    assert not relay._work(False)
    assert seen == ["first", "second"]
    assert relay.inside == 0


def test_what_a_round_was_made_for_decides_whether_it_is_used_again(monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    monkeypatch.setattr(sizes, "BLOCK_WORK", (500, 8000))
    F = problems.classes("float64", 300, 8, 5, compiled=True)
    (shard,), w = F.shards, problems.random_w(F.problem.full, np.random.default_rng(0))
    first = F.at(w)
    made = shard._made["round"]
    F.at(w)
    assert shard._made["round"] is made
    shard._made.clear()
    assert F.at(w).data_gradient.tobytes() == first.data_gradient.tobytes()
    assert shard._made["round"] is not made
