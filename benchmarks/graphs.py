"""Trees, grids and cuts: the same model, the same iterations, and answers that are compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from argmax.records import Floats, Ints, Scores
from argmax.spaces import Graph, Tree
from argmax.spaces.cuts import expanded, minimum_cut
from argmax.spaces.pairwise import Pairwise

from .common import (
    Check,
    Options,
    Outcome,
    fresh_peak,
    in_turn,
    median,
    no_peaks,
    note_ratio,
    peak,
    progress,
    say,
    spread,
    table,
    verdict,
)

PGMPY, PGMAX, MAXFLOW = 20.0, 1.0, 1.0 / 3.0  # floors of the ratios peer / us
ROUNDS = 3
ITERATIONS = 100

EXPLANATION = f"""\
Sum-product: exact marginals of a tree and of a narrow grid against pgmpy's junction tree (calibration alone:
its model and tree are built before the clock starts), {ITERATIONS} iterations of loopy belief propagation on
a grid against PGMax on the CPU (compiled before the clock starts; compiling is told apart). An iteration
sends every message once. Cuts: PyMaxflow, from arrays of edges to labels; expansion moves: gco. Each answer
is compared with ours: the largest difference of a marginal, or of the score of the labels. Medians of
{ROUNDS} rounds in turn."""


@dataclass(frozen=True)
class Job:
    """Who does it, how answers differ, and what was promised of the peer's seconds over ours."""

    what: str
    peer: str
    floor: float | None
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    apart: Callable[[Any, Any], float]


def run(options: Options) -> Outcome:
    outcome, rows = Outcome("graphs"), []
    say(EXPLANATION)
    for make in (_trees, _narrow_grids, _loopy, _cuts, _expansions):
        for job in make(options.quick):
            progress(f"{job.what} ({job.peer})")
            rows += _measured(job, outcome)
    table("Graphs, seconds", ["", "who", "seconds", "range", "difference", "peer/us"], rows)
    _sizes(options.quick, outcome)
    return outcome


def _measured(job: Job, outcome: Outcome) -> list[list[str]]:
    difference = job.apart(job.ours(), job.theirs())
    taken = in_turn({"argmax": job.ours, job.peer: job.theirs}, ROUNDS)
    ours, theirs = (median(taken[name]) for name in ("argmax", job.peer))
    ratio = theirs / ours
    outcome.figures.append({"what": job.what, "seconds": taken, "difference": difference})
    if job.floor is not None:
        told = "met" if ratio >= job.floor else verdict(ratio, job.floor)
        outcome.checks.append(
            Check(f"{job.what}, {job.peer}", note_ratio(ratio), f"{job.floor:.3g}×", told)
        )
    return [
        [job.what, "argmax", f"{ours:.3g}", spread(taken["argmax"]), "", ""],
        ["", job.peer, f"{theirs:.3g}", spread(taken[job.peer]), f"{difference:.1e}", note_ratio(ratio)],
    ]  # fmt: skip


# Models


def grid(side: int) -> Ints:
    at = np.arange(side * side).reshape(side, side)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    return np.vstack([across, down])


def drawn(nodes: int, edges: Ints, k: int, strength: float) -> Scores:
    rng = np.random.default_rng(0)
    tables = strength * rng.normal(size=(len(edges), k, k))
    return Scores(rng.normal(size=(nodes, k)), tables, np.array([0, nodes]), edges)


def _far(a: Floats, b: Floats) -> float:
    return float(np.abs(a - b).max())


# pgmpy


def _trees(quick: bool) -> list[Job]:
    nodes, rng = 20 if quick else 80, np.random.default_rng(1)
    edges = np.array([[rng.integers(0, v), v] for v in range(1, nodes)])
    scores = drawn(nodes, edges, 4, 0.5)
    return _exact(f"tree of {nodes} nodes, 4 labels", scores, lambda: Tree(4).marginals(scores))


def _narrow_grids(quick: bool) -> list[Job]:
    side = 3 if quick else 6
    scores, space = drawn(side * side, grid(side), 2, 0.5), Graph(2)
    return _exact(f"grid {side}×{side}, 2 labels", scores, lambda: space.marginals(scores))


def _exact(what: str, scores: Scores, ours: Callable[[], Any]) -> list[Job]:
    network = _pgmpy(scores)
    if network is None:
        return []
    return [Job(what, "pgmpy", PGMPY, lambda: ours()[1].node, network, _far)]


def _pgmpy(scores: Scores) -> Callable[[], Floats] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pgmpy.factors.discrete import DiscreteFactor
            from pgmpy.inference import BeliefPropagation
            from pgmpy.models import DiscreteMarkovNetwork
    except ImportError:
        return _left_out("pgmpy", "pip install pgmpy")
    k = scores.node.shape[1]
    pairs = [(str(u), str(v)) for u, v in scores.edges.tolist()]
    model = DiscreteMarkovNetwork(pairs)
    model.add_factors(
        *(DiscreteFactor([str(v)], [k], np.exp(s)) for v, s in enumerate(scores.node)),
        *(DiscreteFactor(list(p), [k, k], np.exp(t)) for p, t in zip(pairs, scores.edge, strict=True)),
    )  # fmt: skip
    engine = BeliefPropagation(model)

    def calibrated() -> Floats:
        engine.calibrate()
        found: dict[str, Floats] = {}
        for clique, belief in engine.get_clique_beliefs().items():
            for v in set(clique) - set(found):
                p = belief.marginalize([u for u in clique if u != v], inplace=False).values
                found[v] = p / p.sum()
        return np.stack([found[str(v)] for v in range(len(scores.node))])

    return calibrated


# PGMax


def _loopy(quick: bool) -> list[Job]:
    try:
        import pgmax  # noqa: F401
    except ImportError:
        _left_out("PGMax", "pip install pgmax 'jax<0.5'")
        return []
    jobs = []
    for k in (2, 4):
        side = 5 if quick else 60
        scores = drawn(side * side, grid(side), k, 0.3)
        space = Graph(k, sweeps=ITERATIONS, tol=0.0, table_limit=0, schedule="sweeps")
        what = f"grid {side}×{side}, {k} labels, {ITERATIONS} iterations"
        jobs.append(
            Job(what, "PGMax", PGMAX, lambda space=space, scores=scores: space.marginals(scores)[1].node,
                _pgmax(scores), _far)
        )  # fmt: skip
    return jobs


def _pgmax(scores: Scores) -> Callable[[], Floats]:
    import jax
    from pgmax import fgraph, fgroup, infer, vgroup

    variables = vgroup.NDVarArray(num_states=scores.node.shape[1], shape=(len(scores.node),))
    graph = fgraph.FactorGraph(variables)
    ends = [[variables[u], variables[v]] for u, v in scores.edges.tolist()]
    graph.add_factors(
        fgroup.PairwiseFactorGroup(variables_for_factors=ends, log_potential_matrix=scores.edge)
    )
    engine = infer.build_inferer(graph.bp_state, backend="bp")
    start = engine.init(evidence_updates={variables: scores.node})
    passed = jax.jit(
        lambda arrays: engine.run(arrays, num_iters=ITERATIONS, damping=0.0, temperature=1.0)
    )
    compiled = in_turn({"": lambda: jax.block_until_ready(passed(start))}, 1)[""][0]
    say(f"PGMax, {scores.node.shape[1]} labels: compiled and run once in {compiled:.1f} s.")

    def marginals() -> Floats:
        beliefs = engine.get_beliefs(jax.block_until_ready(passed(start)))
        return np.asarray(infer.get_marginals(beliefs)[variables])

    return marginals


# Cuts


def _cuts(quick: bool) -> list[Job]:
    try:
        import maxflow
    except ImportError:
        _left_out("PyMaxflow", "pip install PyMaxflow")
        return []

    def job(what: str, c: Floats, edges: Ints, room: Floats) -> Job:
        def peer() -> Ints:
            graph = maxflow.Graph[float](len(c), len(edges))
            nodes = graph.add_nodes(len(c))
            graph.add_edges(edges[:, 0], edges[:, 1], room, room)
            graph.add_grid_tedges(nodes, np.maximum(c, 0.0), np.maximum(-c, 0.0))
            graph.maxflow()
            return np.asarray(graph.get_grid_segments(nodes), np.intp)

        def apart(a: Ints, b: Ints) -> float:
            costs = [c @ y + room @ (y[edges[:, 0]] != y[edges[:, 1]]) for y in (a, b)]
            return float(abs(costs[0] - costs[1]))

        ours = lambda: minimum_cut(c, edges, room, room)  # noqa: E731
        return Job(what, "PyMaxflow", MAXFLOW, ours, peer, apart)

    rng, jobs = np.random.default_rng(0), []
    for side in (10,) if quick else (100, 300, 1000):
        edges, c = grid(side), rng.normal(size=side * side)
        for pull in (0.3, 1.0, 3.0):
            jobs.append(
                job(f"cut {side}×{side}, pull {pull:g}", c, edges, np.full(len(edges), pull))
            )
    for nodes, degree in ((50, 4),) if quick else ((10_000, 8), (100_000, 6)):
        edges = rng.integers(0, nodes, (nodes * degree // 2, 2))
        edges = edges[edges[:, 0] != edges[:, 1]]
        c, room = rng.normal(size=nodes), 0.5 * rng.random(len(edges))
        jobs.append(job(f"cut, random, {nodes:,} nodes, degree {degree}", c, edges, room))
    return jobs


def _expansions(quick: bool) -> list[Job]:
    try:
        import gco
    except ImportError:
        _left_out("gco", "pip install gco-wrapper")
        return []
    side, k = 10 if quick else 100, 5
    scores = Scores(
        np.random.default_rng(0).normal(size=(side * side, k)),
        0.8 * np.eye(k)[None], np.array([0, side * side]), grid(side),
    )  # fmt: skip
    pair = Pairwise.of(scores, k)
    unary, weights = -scores.node, np.full(len(pair.edges), 0.8)

    def peer() -> Ints:
        labels = gco.cut_general_graph(
            pair.edges, weights, unary, 1.0 - np.eye(k), algorithm="expansion",
            init_labels=np.argmin(unary, axis=1),
        )  # fmt: skip
        return np.asarray(labels, np.intp)

    def apart(a: Ints, b: Ints) -> float:
        """How much better ours is, as a share: expansions end in different places."""
        one, other = (float(pair.score(y)[0]) for y in (a, b))
        return (one - other) / abs(other)

    ours = lambda: expanded(pair, pair.node.argmax(axis=1))  # noqa: E731
    return [Job(f"expansion {side}×{side}, {k} labels", "gco", None, ours, peer, apart)]


def _left_out(name: str, how: str) -> None:
    say(f"Left out: {name} is not installed ({how}).")


# Sizes


def _sizes(quick: bool, outcome: Outcome) -> None:
    """A graph of 100,000 nodes and thousands of graphs: seconds, and megabytes beyond the scores."""
    side, many = (20, 20) if quick else (316, 2000)
    small, E = grid(7), len(grid(7))
    edges = np.concatenate([small + 49 * i for i in range(many)])
    tables = 0.3 * np.eye(4)[None]
    large = Scores(np.random.default_rng(0).normal(size=(side * side, 4)), tables,
                   np.array([0, side * side]), grid(side))  # fmt: skip
    lots = Scores(np.random.default_rng(0).normal(size=(49 * many, 4)), tables,
                  49 * np.arange(many + 1), edges)  # fmt: skip
    rows, space = [], Graph(4, table_limit=0)
    for what, scores in ((f"one graph of {side * side:,} nodes", large),
                         (f"{many:,} graphs of 49 nodes, {E} edges", lots)):  # fmt: skip
        for task, call in (("marginals", space.marginals), ("argmax", space.argmax)):
            before = 0.0 if no_peaks() else fresh_peak()
            seconds = in_turn({"": lambda call=call, scores=scores: call(scores)}, 1)[""][0]
            extra = np.nan if no_peaks() else peak() - before
            rows.append([what, task, f"{seconds:.3g}", f"{extra:.0f}"])
            outcome.figures.append(
                {"what": f"{what}, {task}", "seconds": seconds, "megabytes": extra}
            )
    table("Sizes, 4 labels, none of it exact", ["", "task", "seconds", "MB"], rows)
