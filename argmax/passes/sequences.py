"""Passes over label sequences with weights for attribute–label pairs (``layouts.Pairs``).

A shard is cut into parts of whole sequences, by its data alone. Each part fills a gradient of its own, which
is added to the sum as soon as those before it have been: the same bits for any number of threads, and memory
for one such gradient a thread and one more.

Nothing of a pass is left behind: scores of a long corpus would take more memory than its text. A line search
therefore evaluates anew, which L-BFGS seldom asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..errors import Unsupported
from ..kernels import attributes, chain, tagging, triples
from ..kernels.attributes import Plan, Weights
from ..layouts import Pairs, as_matrix
from ..losses import Hinge, Log, Perceptron, SoftmaxMargin
from ..memory import give_back
from ..records import Csr, Floats, Ints, Rows, Scores, Structures, Truth
from ..spaces import Chain
from .in_order import InOrder
from .problem import Problem

__all__ = [
    "along",
    "at_zero",
    "closed_edges",
    "conjugate",
    "diagonal",
    "direction",
    "evaluate",
    "has_diagonal",
    "plan_of",
    "read_weights",
    "settle",
    "tokens_at_once",
]

PARTS = 8
"""Parts of a shard at most, and at least so many tokens each:"""

PART_TOKENS = 2000

ENTRY_BYTES = 4.0
"""Bytes of an entry of the rows."""

WORK = 3e8
"""Scores of label triples that a kernel visits before it returns to the interpreter: some 50 ms."""

EDGE_BYTES = 2**24
"""Bytes of tables, where every transition has one of its own, that are worked on together."""


class Prepared(NamedTuple):
    """What a shard's sequences look like to kernels, and memory for gradients that nobody uses just now."""

    plan: Plan
    labels: Ints  # (N,), as small as their number allows
    offsets: Ints
    parts: list[tuple[int, int]]
    spare: list[tuple[Floats, Floats]]  # (heavy · P,) and (light pairs,)

    def memory(self, layout: Pairs) -> tuple[Floats, Floats]:
        """A table and a list of light pairs, all zero."""
        try:
            memory = self.spare.pop()  # one call, so that no two threads get the same
        except IndexError:
            rows = (len(layout.heavy) - 1) * layout.width
            return np.zeros(rows, layout.dtype), np.zeros(len(layout.codes), layout.dtype)
        for array in memory:
            array[:] = 0.0
        return memory


def plan_of(shard: Shard, problem: Problem, run: Any = None, done: Any = None) -> Prepared:
    """Made at the first pass over a shard, by the crew if its ``run`` is given, and kept there.

    ``done`` is called when the rows are needed no more.
    """

    def make() -> Prepared:
        layout, offsets = problem.pairs, offsets_of(shard.structures)
        labels = shard.truth.labels.astype(layout.codes.dtype, copy=False)
        parts = parts_of(offsets, PART_TOKENS, PARTS)
        if layout.precise and not _has_entries(shard):
            rounded = plan_of(shard, replace(problem, layout=replace(layout, precise=False)), run)
            return rounded._replace(plan=_precise(rounded.plan), spare=[])
        plan = layout.plan(_rows_of(shard), run, done)
        return Prepared(plan, labels, offsets, parts, [])

    prepared: Prepared = shard.made(("plan", problem.pairs.precise), make)
    return prepared


def _rows_of(shard: Shard) -> Csr:
    rows = shard.structures.rows
    assert isinstance(rows, Csr)
    return rows


def _has_entries(shard: Shard) -> bool:
    return len(_rows_of(shard).indices) > 0


def _precise(plan: Plan) -> Plan:
    """A plan of indicators in float64: of its numbers only √s was rounded."""
    one = np.ones(1)
    return plan._replace(row_values=one, pair_values=one, root=np.sqrt(np.arange(len(plan.root))))


def settle(shard: Shard, problem: Problem, run: Any) -> None:
    """Make the plan now, and let go of the indicators that it was made of: nothing else asks for them."""
    if _rows_of(shard).values is None and not problem.pairs.precise:
        give_back(ENTRY_BYTES * _rows_of(shard).entries)
        plan_of(shard, problem, run, shard.forget_entries)
        give_back(ENTRY_BYTES * shard.work / problem.pairs.width)


def offsets_of(structures: Structures) -> Ints:
    """Where each sequence starts; every row is one, where nothing is said."""
    if structures.offsets is None:
        return np.arange(structures.nodes + 1)
    return np.ascontiguousarray(structures.offsets, np.int64)


def parts_of(offsets: Ints, least: int, most: int) -> list[tuple[int, int]]:
    """At most so many ranges of sequences, with about the same number of tokens, and not less than that."""
    tokens = int(offsets[-1] - offsets[0])
    count = int(np.clip(tokens // least, 1, most))
    bounds = np.searchsorted(offsets, offsets[0] + np.linspace(0, tokens, count + 1))
    bounds[0], bounds[-1] = 0, len(offsets) - 1
    bounds = np.unique(bounds)
    return [(int(a), int(b)) for a, b in pairwise(bounds)]


def read_weights(problem: Problem, w: Floats, run: Any = None) -> Weights:
    """w as kernels read it, with the constraints of the space."""
    space = problem.space
    assert isinstance(space, Chain)
    rules = space.constraints
    first, last = (None, None) if rules is None else (rules.start, rules.end)
    return problem.pairs.weights(w, first, last, run, shared=True)


def transitions(problem: Problem, w: Floats) -> tagging.Tables:
    """The table of transitions as kernels read it."""
    edge, layout, P = _edge(problem, w), problem.pairs, problem.pairs.width
    if edge.ndim == 3:
        return tagging.Tables(edge, *triples.tables(edge, P, layout.dtype))
    E, Et = np.empty(P * P, layout.dtype), np.empty(P * P, layout.dtype)
    return tagging.Tables(edge, E, Et, chain.tables(edge, E, Et))


def _edge(problem: Problem, w: Floats) -> Floats:
    """A copy of the transitions, −inf where none is allowed: (K, K), or (K+1, K, K) for order 2."""
    layout, space = problem.pairs, problem.space
    assert isinstance(space, Chain)
    table, K = layout.edge(w), layout.labels
    edge = np.zeros((K, K)) if table is None else by_order(np.array(table))
    if space.constraints is not None:
        edge[..., ~space.constraints.follow] = -np.inf
    return edge


def by_order(table: Floats) -> Floats:
    """A table (states, K) as kernels tell the orders of chains apart: (K, K), or (K+1, K, K) for order 2."""
    states, K = table.shape
    return table if states == K else table.reshape(K + 1, K, K)


def closed_edges(problem: Problem, w: Floats) -> tuple[Floats, Floats]:
    """The transitions as kernels that maximise read them: see ``kernels.sequences.best_path``."""
    layout, edge = problem.pairs, _edge(problem, w).astype(problem.pairs.dtype)
    if edge.ndim == 3:
        return edge, triples.turned(edge, layout.width, layout.dtype, -np.inf)
    M = np.full((layout.width,) * 2, -np.inf, layout.dtype)
    M[: layout.labels, : layout.labels] = edge
    return M.ravel(), np.ascontiguousarray(M.T).ravel()


def evaluate(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp) -> Sums:
    """{"value": Σ s_i loss_i(w), "gradient": its gradient}."""
    if not _fusible(problem):
        return _evaluate_by_parts(shard, crew, problem, stamp)
    if not problem.loss.smooth:
        return _evaluate_by_paths(shard, crew, problem, stamp)
    layout, truth = problem.pairs, shard.truth
    prepared = plan_of(shard, problem, crew.run)
    plan, parts = prepared.plan, prepared.parts
    weights, tables = read_weights(problem, stamp.w, crew.run), transitions(problem, stamp.w)
    weight, cost, cost_scale = _importance(truth, layout)
    allowed = np.zeros((0, layout.labels), bool) if truth.allowed is None else truth.allowed
    value = np.zeros(len(prepared.offsets) - 1)

    def part(p: int, out: Weights, edges: Floats) -> None:
        for some in blocks_of(layout, prepared.offsets, *parts[p]):
            tagging.log_loss(
                plan, weights, tables, prepared.labels, allowed, cost, cost_scale, prepared.offsets, *some,
                weight, out, by_order(edges[0]), value, layout.lanes,
            )  # fmt: skip

    def one(i: int, out: Weights, edges: Floats) -> None:
        given = (shard, problem, prepared, weights, tables.edge)
        value[i] = _one_sequence(*given, i, out, edges[0])

    # Hardly ever: the scores of a sequence are too far apart for the kernel.
    gradient = _summed(
        crew,
        problem,
        prepared,
        weights,
        part,
        lambda: np.flatnonzero(np.isnan(value)).tolist(),
        one,
    )
    return {"value": float(value.sum()), "gradient": gradient}


def has_diagonal(problem: Problem) -> bool:
    """Whether ``diagonal`` knows the losses and transitions of a problem."""
    return _fusible(problem) and problem.loss.smooth


def diagonal(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, mean: bool) -> Sums:
    """{"diagonal": about the second derivative of Σ s_i loss_i by each weight}, for fused losses at w."""
    assert mean
    assert has_diagonal(problem)
    layout, truth, prepared = problem.pairs, shard.truth, plan_of(shard, problem, crew.run)
    plan, parts = prepared.plan, prepared.parts
    squared = plan._replace(
        row_values=plan.row_values**2, pair_values=plan.pair_values**2, root=plan.root**2
    )
    weights, tables = read_weights(problem, stamp.w, crew.run), transitions(problem, stamp.w)
    weight, cost, cost_scale = _importance(truth, layout)

    def part(p: int, out: Weights, edges: Floats) -> None:
        for some in blocks_of(layout, prepared.offsets, *parts[p]):
            tagging.curvatures(
                plan, squared, weights, tables, prepared.labels, cost, cost_scale, prepared.offsets, *some,
                weight, out, by_order(edges[0]), layout.lanes,
            )  # fmt: skip

    return {"diagonal": _summed(crew, problem, prepared, weights, part)}


def _one_sequence(
    shard: Shard,
    problem: Problem,
    prepared: Prepared,
    weights: Weights,
    edge: Floats,
    i: int,
    out: Weights,
    edges: Floats,
) -> float:
    """Loss and gradient of one sequence, by the space itself, which finds a way to sum anything."""
    layout, offsets = problem.pairs, prepared.offsets
    nodes = slice(int(offsets[i]), int(offsets[i + 1]))
    truth = _truth(shard, slice(i, i + 1), nodes)
    node = np.empty((nodes.stop - nodes.start, layout.labels))
    given = (prepared.labels, offsets, i, i + 1)
    tagging.part_scores(prepared.plan, weights, *given, node, layout.lanes)
    scores = Scores(node, edge.reshape(1, -1, layout.labels), np.array([0, len(node)]))
    residual = Scores(np.empty_like(node), np.zeros((1, *edges.shape)), scores.offsets)
    plain = Chain(layout.labels, edge.ndim - 1)  # the constraints are in the scores
    if truth.allowed is None:
        value = float(problem.loss.evaluate(plain, scores, truth, residual)[0])
    else:
        value = _marginal_loss(plain, scores, truth, residual)
    tagging.part_adjoint(prepared.plan, out, *given, residual.node, layout.lanes)
    assert residual.edge is not None
    edges += residual.edge[0]
    return value


def _marginal_loss(space: Chain, scores: Scores, truth: Truth, residual: Scores) -> float:
    """weight (log Z − log Z of the allowed labels), and its gradient."""
    total, every = space.marginals(scores, truth.weight)
    assert truth.allowed is not None
    some = Scores(np.where(truth.allowed, scores.node, -np.inf), scores.edge, scores.offsets)
    right, allowed = space.marginals(some, truth.weight)
    residual.node[:] = every.node - allowed.node
    if residual.edge is not None and every.edge is not None and allowed.edge is not None:
        residual.edge[:] = every.edge - allowed.edge
    weight = 1.0 if truth.weight is None else float(truth.weight[0])
    return weight * float(total.value[0] - right.value[0])


def _importance(truth: Truth, layout: Pairs) -> tuple[Floats, Floats, Floats]:
    """Weight, cost and scale of the cost, as kernels read them."""
    one, none = np.ones(1), np.zeros((0, layout.labels))
    return (
        one if truth.weight is None else truth.weight,
        (none if truth.cost is None else truth.cost).astype(layout.dtype),
        one if truth.cost_scale is None else truth.cost_scale,
    )


def _fusible(problem: Problem) -> bool:
    """Whether one kernel can do it all: one table of transitions, a loss that it knows."""
    one = problem.pairs.edge_features == 1
    return one and isinstance(problem.loss, Log | SoftmaxMargin | Hinge | Perceptron)


def _evaluate_by_paths(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp) -> Sums:
    """``evaluate`` for losses that compare the truth with one best path."""
    layout, truth, prepared = problem.pairs, shard.truth, plan_of(shard, problem, crew.run)
    _refuse_sets(truth)
    weights, (M, Mt) = (
        read_weights(problem, stamp.w, crew.run),
        closed_edges(problem, stamp.w),
    )
    weight, cost, cost_scale = _importance(truth, layout)
    parts, value = prepared.parts, np.zeros(len(prepared.offsets) - 1)

    def part(p: int, out: Weights, edges: Floats) -> None:
        for some in blocks_of(layout, prepared.offsets, *parts[p]):
            tagging.max_loss(
                prepared.plan, weights, M, Mt, prepared.labels, cost, cost_scale, prepared.offsets, *some,
                weight, out, by_order(edges[0]), value, layout.lanes,
            )  # fmt: skip

    gradient = _summed(crew, problem, prepared, weights, part)
    return {"value": float(value.sum()), "gradient": gradient}


def _refuse_sets(truth: Truth) -> None:
    if truth.allowed is not None:
        raise Unsupported(
            "several labels a token need loss='log' and transitions without features of their own."
        )


def _evaluate_by_parts(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp) -> Sums:
    """``evaluate`` for any loss and order: scores of a part, what the loss makes of them, and back."""
    layout, prepared = problem.pairs, plan_of(shard, problem, crew.run)
    weights = layout.weights(stamp.w, run=crew.run, shared=True)
    values = np.zeros(len(prepared.parts))
    _refuse_sets(shard.truth)

    def part(p: int, out: Weights, edges: Floats) -> None:
        for some in blocks_of(layout, prepared.offsets, *prepared.parts[p]):
            scores, truth = _block(shard, problem, prepared, weights, stamp.w, some)
            edge = None if scores.edge is None else np.zeros(scores.edge.shape)
            residual = Scores(np.empty_like(scores.node), edge, scores.offsets)
            losses = problem.loss.evaluate(problem.space, scores, truth, residual)
            values[p] += float(losses.sum())
            given = (prepared.labels, prepared.offsets, *some)
            tagging.part_adjoint(prepared.plan, out, *given, residual.node, layout.lanes)
            if residual.edge is not None:
                _add_edges(shard, some, residual.edge, edges)

    gradient = _summed(crew, problem, prepared, weights, part)
    return {"value": sum(values.tolist()), "gradient": gradient}


def blocks_of(layout: Pairs, offsets: Ints, first: int, last: int) -> list[tuple[int, int]]:
    """Sequences in ranges that are worked on together: few where a token takes much memory, or much time."""
    tokens = tokens_at_once(layout)
    if tokens is None:
        return [(first, last)]
    count = -(-int(offsets[last] - offsets[first]) // tokens)
    bounds = np.linspace(first, last, min(max(count, 1), last - first) + 1).astype(int)
    return [(int(a), int(b)) for a, b in pairwise(bounds)]


def tokens_at_once(layout: Pairs) -> int | None:
    """How many tokens a kernel may work on before it returns; None: any number."""
    if layout.edge_features > 1:  # every transition has a table of its own
        return max(EDGE_BYTES // (8 * layout.labels**2), 1)
    if layout.states > layout.labels:
        return max(int(WORK / (layout.states * layout.labels)), 1)
    return None


def tables_of(layout: Pairs, w: Floats, rows: Rows | None) -> Floats | None:
    """The tables of some transitions: one for all of them, or by their features one for each."""
    if not layout.states:
        return None
    edges = layout.edges(w)
    if layout.edge_features == 1:
        return edges
    assert rows is not None
    flat = as_matrix(rows) @ edges.reshape(len(edges), -1)
    return np.asarray(flat).reshape(-1, layout.labels, layout.labels)


def _add_edges(shard: Shard, some: tuple[int, int], residual: Floats, out: Floats) -> None:
    """The adjoint of ``tables_of``."""
    if len(out) == 1:
        out += residual
        return
    rows = shard.structures[slice(*some)].edge_rows
    assert rows is not None
    out += (as_matrix(rows).T @ residual.reshape(len(residual), -1)).reshape(out.shape)


def _block(
    shard: Shard,
    problem: Problem,
    prepared: Prepared,
    weights: Weights,
    w: Floats,
    some: tuple[int, int],
) -> tuple[Scores, Truth]:
    """The scores and the truth of some sequences, as spaces and losses take them."""
    (first, last), offsets = some, prepared.offsets
    nodes = slice(int(offsets[first]), int(offsets[last]))
    node = np.empty((nodes.stop - nodes.start, problem.layout.labels))
    given = (prepared.plan, weights, prepared.labels, offsets, first, last)
    tagging.part_scores(*given, node, problem.pairs.lanes)
    rows = None if shard.structures.edge_rows is None else shard.structures[first:last].edge_rows
    scores = Scores(
        node, tables_of(problem.pairs, w, rows), offsets[first : last + 1] - offsets[first]
    )
    return scores, _truth(shard, slice(first, last), nodes)


def _truth(shard: Shard, examples: slice, nodes: slice) -> Truth:
    """The truth of some sequences, with labels as spaces and losses count with them."""
    truth = shard.truth.block(examples, nodes)
    return replace(truth, labels=truth.labels.astype(np.intp, copy=False))


def conjugate(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, scale: float) -> Sums:
    """{"conjugate": Σ s_i loss*(scale · r_i)} with the residuals r of w."""
    prepared, weights = (
        plan_of(shard, problem, crew.run),
        problem.pairs.weights(stamp.w, run=crew.run, shared=True),
    )

    def part(p: int) -> float:
        return sum(
            problem.loss.conjugate(
                problem.space, *_block(shard, problem, prepared, weights, stamp.w, some), scale
            )
            for some in blocks_of(problem.pairs, prepared.offsets, *prepared.parts[p])
        )

    return {"conjugate": sum(crew.run(part, len(prepared.parts)))}


Part = Callable[[int, Weights, Floats], None]
"""What the sequences of a part, or one of them, add to weights and to tables of transitions."""


def _summed(
    crew: Crew,
    problem: Problem,
    prepared: Prepared,
    weights: Weights,
    part: Part,
    left: Callable[[], list[int]] = list,
    one: Part | None = None,
) -> Floats:
    """The gradient: Σ over the parts, in their order; at last ``one`` of each sequence that they ``left``."""
    layout, count = problem.pairs, len(prepared.parts)
    light, pairs, once, start, _ = layout.bounds
    gradient = np.zeros(layout.size, layout.vectors)
    singles = np.zeros(layout.slots, layout.dtype)
    states = layout.states or layout.labels  # kernels fill a table also where nobody asks for it
    edges = np.zeros((count + 1, layout.edge_features, states, layout.labels))
    firsts = np.zeros((count + 1, layout.width))

    def add(memory: tuple[Floats, Floats]) -> None:
        table, listed = memory
        attributes.collect(
            table, layout.heavy, layout.heavy_codes, layout.width, gradient[light:pairs]
        )
        gradient[:light] += listed
        prepared.spare.append(memory)

    adding = InOrder(add)

    def out(p: int, memory: tuple[Floats, Floats]) -> Weights:
        return Weights(*memory, layout.codes, singles, weights.base, firsts[p], weights.last)

    def piece(p: int) -> None:
        memory = prepared.memory(layout)
        part(p, out(p, memory), edges[p])
        adding.give(p, memory)

    crew.run(piece, count)
    if one is not None and (others := left()):
        memory = prepared.memory(layout)
        for i in others:
            one(i, out(count, memory), edges[count])
        adding.give(count, memory)
    gradient[pairs:once] = singles
    if layout.start:
        gradient[once:start] = firsts.sum(axis=0)[: layout.labels]
    if layout.states:
        gradient[start:] = edges.sum(axis=0).ravel()
    return gradient


def at_zero(shard: Shard, crew: Crew, problem: Problem) -> Sums:
    """{"value": Σ s_i loss_i(0)}, the yardstick that ``tol`` is measured with."""
    zero = Stamp(np.zeros(problem.layout.size, problem.layout.vectors))
    return {"value": evaluate(shard, crew, problem, zero)["value"]}


def direction(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp) -> Sums:
    """Nothing can be left behind."""
    return {}


def along(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp, step: float
) -> Sums:
    """{"value", "slope"} of Σ s_i loss_i at w + step · v."""
    w = step * line.w
    w += stamp.w
    sums = evaluate(shard, crew, problem, Stamp(w))
    return {"value": sums["value"], "slope": float(sums["gradient"] @ line.w)}
