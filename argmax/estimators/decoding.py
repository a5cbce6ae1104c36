"""From tokens and weights to answers about label sequences: the best labels, scores, spans, reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, final

import numpy as np

from .. import checks, engines
from ..features import Templates
from ..layouts import csr_arguments
from ..passes import Problem
from ..records import Csr, Floats, Ints, Scores, Structures
from ..spaces import Chain
from ..tags import Tags

__all__ = ["Explanation", "best", "explained", "scores", "spans", "tagged"]

TOKENS = 4000
"""Tokens of a piece of work, at least: fewer are not worth a thread."""

MOST = 2**16
"""Tokens whose attributes are in memory together, for each thread."""


def _parts(offsets: Ints, most: int = 64) -> list[tuple[int, int]]:
    """Ranges of sequences, at most so many and none too small."""
    from ..passes.sequences import parts_of

    return parts_of(offsets, TOKENS, most)


def _engine(parts: list[tuple[int, int]], threads: int | None) -> engines.Threads:
    """Threads, if there is work for more than one."""
    return engines.Threads(threads if len(parts) > 1 else 1)


_serially = engines.Threads(1).run


def scores(problem: Problem, w: Floats, stack: Structures, threads: int | None) -> Scores:
    """The scores of all tokens, for the questions of a space."""
    from ..kernels import tagging
    from ..passes.sequences import tables_of

    layout, rows, offsets = problem.pairs, stack.rows, stack.offsets
    assert isinstance(rows, Csr)
    assert offsets is not None
    node = np.empty((len(rows), layout.labels))
    given = (*_rows(rows, layout), *layout.lists(keep=True), layout.weights(w))
    ranges = _parts(offsets)
    with _engine(ranges, threads).open() as crew:
        crew.run(
            lambda i: tagging.token_scores(*given, offsets, *ranges[i], node, layout.lanes),
            len(ranges),
        )
    return Scores(node, tables_of(layout, w, stack.edge_rows), offsets)


def tagged(tagger: Any, X: Any, lengths: Any) -> tuple[Ints, Ints]:
    """The best labels of all tokens of X, and where the sequences begin.

    Where templates read tokens, threads share the whole way from strings to labels: each takes blocks of
    sequences, and no more attributes than those of a block are in memory. The answers are the same for any
    number of threads.
    """
    problem, features, tokens = tagger._problem(), tagger.features_, None
    if isinstance(features, Templates):
        tokens = features.tokens(X, lengths=lengths)
    if tokens is None or tokens.size < 2 * TOKENS or not _fused(problem):
        given = (X, lengths) if tokens is None else (tokens, None)
        stack = tagger._structures(*given)
        return best(problem, tagger._w, stack, tagger.n_threads), stack.offsets
    engine, decoder = engines.Threads(tagger.n_threads), _Decoder(problem, tagger._w)
    blocks = _parts(tokens.offsets, max(engine.n, -(-tokens.size // MOST)))
    labels, value = np.empty(tokens.size, np.intp), np.empty(len(tokens))
    begins = tokens.offsets - tokens.offsets[0]

    def piece(i: int) -> None:
        first, last = blocks[i]
        stack = tagger._structures(tokens[first:last], None)
        decoder.fill(stack, labels[begins[first] : begins[last]], value[first:last])

    with engine.open() as crew:
        crew.run(piece, len(blocks))
    decoder.check(value, lambda: tagger._structures(tokens, None))
    return labels, begins


def best(problem: Problem, w: Floats, stack: Structures, threads: int | None) -> Ints:
    """The best labels of all tokens, given their attributes."""
    if not _fused(problem):
        return _best_by_blocks(problem, w, stack, threads)
    labels, value = np.empty(stack.nodes, np.intp), np.empty(len(stack))
    decoder = _Decoder(problem, w)
    assert stack.offsets is not None
    with _engine(_parts(stack.offsets), threads).open() as crew:
        decoder.fill(stack, labels, value, crew.run)
    decoder.check(value, lambda: stack)
    return labels


def _fused(problem: Problem) -> bool:
    """Whether one kernel goes from attributes to labels: one table of transitions."""
    return problem.pairs.edge_features == 1


@final
class _Decoder:
    """Weights and transitions as the kernel reads them, made once for any number of blocks."""

    def __init__(self, problem: Problem, w: Floats) -> None:
        from ..passes.sequences import closed_edges, read_weights

        self.problem, self.w = problem, w
        self._weights, self._edges = read_weights(problem, w), closed_edges(problem, w)

    def fill(self, stack: Structures, labels: Ints, value: Floats, run: Any = _serially) -> None:
        """The best labels of all tokens, and the score of each sequence; ``run`` is that of a crew."""
        from ..kernels import tagging

        layout, offsets = self.problem.pairs, stack.offsets
        assert isinstance(stack.rows, Csr)
        assert offsets is not None
        lists = layout.lists(keep=True)
        given = (*_rows(stack.rows, layout), *lists, self._weights, *self._edges)
        pieces = _parts(offsets)
        run(
            lambda i: tagging.tag(*given, offsets, *pieces[i], labels, value, layout.lanes),
            len(pieces),
        )

    def check(self, value: Floats, stack: Callable[[], Structures]) -> None:
        """Raise where a sequence has no best labels; the space says at which token the way ends."""
        if not np.isfinite(value).all():
            self.problem.space.argmax(scores(self.problem, self.w, stack(), 1))
        checks.some_answer(value)


def _best_by_blocks(problem: Problem, w: Floats, stack: Structures, threads: int | None) -> Ints:
    """The same by the space itself, some sequences at a time."""
    from ..passes.sequences import blocks_of

    offsets = stack.offsets
    assert offsets is not None
    labels = np.zeros(stack.nodes, np.intp)
    for first, last in blocks_of(problem.pairs, offsets, 0, len(stack)):
        some = scores(problem, w, stack[first:last], threads)
        labels[offsets[first] : offsets[last]] = problem.space.argmax(some).labels
    return labels


def _rows(rows: Csr, layout: Any) -> tuple[Any, ...]:
    indptr, indices, values, step = csr_arguments(rows)
    checks.reach(float(np.abs(values).max(initial=0.0)), layout.dtype)
    return indptr, indices, np.asarray(values, layout.dtype), step


def spans(tagger: Any, X: Any, lengths: Any) -> list[list[tuple[int, int, str, float]]]:
    """Spans of the most probable labels: first token, the one behind the last, type, probability."""
    space, given = tagger._scores(X, lengths)
    labels, offsets = space.argmax(given).labels, given.offsets
    tags = Tags(tuple(str(name) for name in tagger.classes_))
    found = tags.spans(labels, offsets)
    first = offsets[found.sequence] + found.first
    behind = offsets[found.sequence] + found.last + 1
    sure = space.spans(given, labels, np.stack([first, behind], axis=1)) if len(found) else []
    result: list[list[tuple[int, int, str, float]]] = [[] for _ in range(len(offsets) - 1)]
    for i, a, b, kind, p in zip(
        found.sequence, found.first, found.last, found.type, sure, strict=True
    ):
        result[int(i)].append((int(a), int(b) + 1, tags.types[int(kind)], float(p)))
    return result


@final
@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a token got its label, in scores: ``own`` of its attributes, ``transition`` into it and out of it.

    ``attributes`` are those with the largest weights for the label, with name and share of the score; the
    first token of a sequence owns the weight of starting with its label too. ``runner_up`` is the best other
    label where all the other tokens keep theirs, ``margin`` how far behind it is; where constraints leave no
    other label, they are None and infinite.
    """

    label: Any
    own: float
    transition: float
    runner_up: Any
    margin: float
    attributes: list[tuple[str, float]] = field(default_factory=list)


def explained(tagger: Any, X: Any, lengths: Any, top: int) -> list[list[Explanation]]:
    """An explanation of each token of each sequence."""
    checks.positive_integer("top", top)
    stack = tagger._structures(X, lengths)
    space, given = tagger._scores_of(stack)
    if space.constraints is not None:  # what may not begin or end a sequence is no runner-up
        given = space.constraints.apply(given)
    labels, offsets = space.argmax(given).labels, given.offsets
    moves = _moves(given, labels, space)
    names, coef = tagger.features_.names(), tagger.coef_.tocsc()
    classes, result = tagger.classes_.tolist(), []
    for a, b in pairwise(offsets.tolist()):
        result.append(
            [
                _explanation(
                    t,
                    given,
                    moves,
                    labels,
                    classes,
                    _shares(stack.rows, t, coef, labels[t], names, top),
                )
                for t in range(a, b)
            ]
        )
    return result


def _moves(given: Scores, labels: Ints, space: Chain) -> Floats:
    """For each token and label, the transitions into and out of it if the neighbours keep theirs (N, K)."""
    moves, k = np.zeros(given.node.shape), space.k
    edge, offsets = given.edge, given.offsets
    assert offsets is not None
    if edge is None:
        return moves
    # [edge, the label before (order 2), the label, the next one]
    tables = edge.reshape(len(edge), -1, k, k)
    first = np.zeros(len(labels), bool)
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    t = np.flatnonzero(~first)
    which = np.arange(len(t)) if len(tables) > 1 else np.zeros(len(t), int)
    third = (space.order == 2) & ~first[t - 1]
    before = np.where(third, labels[t - 2], k if space.order == 2 else 0)
    moves[t] += tables[which, before, labels[t - 1]]
    moves[t - 1] += tables[which, before, :, labels[t]]
    which, t = which[third], t[third]
    moves[t - 2] += tables[which, :k, labels[t - 1], labels[t]]
    return moves


def _explanation(
    t: int,
    given: Scores,
    moves: Floats,
    labels: Ints,
    classes: list[Any],
    shares: list[tuple[str, float]],
) -> Explanation:
    c = int(labels[t])
    total = given.node[t] + moves[t]
    others = np.where(np.arange(len(total)) == c, -np.inf, total)
    second = int(np.argmax(others))
    return Explanation(
        classes[c],
        float(given.node[t, c]),
        float(moves[t, c]),
        None if np.isneginf(others[second]) else classes[second],
        float(total[c] - others[second]),
        shares,
    )


def _shares(
    rows: Csr, t: int, coef: Any, label: int, names: Any, top: int
) -> list[tuple[str, float]]:
    """The attributes of a token with the largest shares in the score of its label."""
    some = slice(int(rows.indptr[t]), int(rows.indptr[t + 1]))
    columns = rows.indices[some]
    values = np.ones(len(columns)) if rows.values is None else rows.values[some]
    share = coef[:, columns].toarray()[label] * values
    order = np.argsort(-np.abs(share), kind="stable")[:top]
    return [(str(names[int(columns[i])]), float(share[i])) for i in order if share[i]]
