"""Sequences: families that are drawn, corpora of the data folder, the tagger, and the judge of its F.

    F = C Σ_i [A(score + cost) − score(y_i)] + penalty
    score(y) = Σ_t ⟨w_{y_t}, x_t⟩ + start_{y_1} + transitions between two labels, or three

A is log Σ exp for "log" and "softmax_margin" and the maximum for "hinge", over all label sequences, by the
forward recursion in plain NumPy; cost is the number of wrong tokens, and none for "log". All weights are
penalised. Tokens are rows of numbers, or lists of the attributes they have.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from .. import data
from ..tagging.data import sentences
from .families import log_uniform, scaled, whole
from .judge import Problem
from .rows import Facts

__all__ = ["FAMILIES", "LOSSES", "Sequences", "corpora", "draw", "judged", "read", "tagger"]

LOSSES = "log", "softmax_margin", "hinge"
PREFIX = "chains-"

TOKENS = 20_000
"""Tokens of a draw at most."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """What a tagger is fitted to: X arrays (L, d) or lists of tokens' attributes, y arrays of codes (L,)."""

    name: str
    X: Any
    y: Any
    order: int = 1
    weight: None = None
    facts: Facts | None = None

    @property
    def k(self) -> int:
        return 1 + max(int(y.max()) for y in self.y)

    @property
    def tokens(self) -> int:
        return sum(map(len, self.y))

    @property
    def work(self) -> float:
        """Multiply-adds of the scores and of the recursion."""
        if isinstance(self.X[0], np.ndarray):
            entries = self.tokens * self.X[0].shape[1]
        else:
            entries = sum(len(token) for x in self.X for token in x)
        return float(entries * self.k + self.tokens * self.k ** (self.order + 1))

    def describe(self) -> str:
        kind = "numbers" if isinstance(self.X[0], np.ndarray) else "attributes"
        return (
            f"{len(self.y)} chains, {self.tokens} tokens, k = {self.k}, order {self.order}, {kind}"
        )


def tagger(rows: Sequences, problem: Problem, **options: Any) -> Any:
    from argmax import SequenceTagger

    return SequenceTagger(loss=problem.loss, C=problem.C, order=rows.order, **options)


# The judge


def judged(rows: Sequences, problem: Problem, model: Any) -> tuple[float, float]:
    """F, and what rounding leaves in doubt: ε times F and the sizes of the scores of all tokens."""
    nodes = _node_scores(rows, model)
    start, transitions = np.asarray(model.start_), np.asarray(model.transitions_)
    weights = [
        model.coef_.data if hasattr(model.coef_, "data") else model.coef_,
        start,
        transitions,
    ]
    flat = np.concatenate([np.ravel(w) for w in weights])
    value = _penalty(problem, flat)
    sizes = 0.0
    for S, y in zip(nodes, rows.y, strict=True):
        value += problem.C * _loss(problem.loss, S, y, start, transitions, rows.order)
        sizes += float(np.abs(S).max(axis=1).sum() + len(y) * np.abs(transitions).max())
    return value, float(np.finfo(float).eps) * (value + 2 * problem.C * sizes)


def at_zero(rows: Sequences, problem: Problem) -> float:
    """F(0): every token alone, with k labels of score 0 and their costs."""
    k = rows.k
    token = {"log": np.log(k), "softmax_margin": np.log1p((k - 1) * math.e), "hinge": 1.0}
    return problem.C * rows.tokens * float(token[problem.loss])


def _penalty(problem: Problem, w: Any) -> float:
    return float(problem.l1 * np.abs(w).sum() + (1 - problem.l1) * 0.5 * (w @ w))


def _node_scores(rows: Sequences, model: Any) -> list[Any]:
    if isinstance(rows.X[0], np.ndarray):
        coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
        return [x @ coef.T for x in rows.X]
    place = {name: i for i, name in enumerate(model.features_.names())}
    table = model.coef_.toarray().T
    return [
        np.array([table[[place[name] for name in token]].sum(axis=0) for token in x])
        for x in rows.X
    ]


def _loss(loss: str, S: Any, y: Any, start: Any, transitions: Any, order: int) -> float:
    """A(score + cost) − score(y) of one sequence; S (L, k)."""
    k = S.shape[1]
    truth = S[np.arange(len(y)), y].sum() + start[y[0]]
    if loss != "log":
        S = S + (np.arange(k) != y[:, None])
    gather = np.max if loss == "hinge" else logsumexp
    if order == 1:
        truth += transitions[y[:-1], y[1:]].sum()
        ahead = S[0] + start
        for t in range(1, len(y)):
            ahead = gather(ahead[:, None] + transitions, axis=0) + S[t]
        return float(gather(ahead) - truth)
    # Tables (a, b, c) of two labels back and the next; a = k where there is one label only.
    table = transitions.reshape(k + 1, k, k)
    before = np.concatenate([[k], y])[: len(y) - 1]
    truth += table[before, y[:-1], y[1:]].sum()
    if len(y) == 1:
        return float(gather(S[0] + start) - truth)
    pairs = (S[0] + start)[:, None] + table[k] + S[1]
    for t in range(2, len(y)):
        pairs = gather(pairs[:, :, None] + table[:k], axis=0) + S[t]
    return float(gather(pairs) - truth)


# Families


def draw(name: str) -> Sequences:
    """The draw ``chains-short#12``."""
    family, seed = name.split("#")
    rng = np.random.default_rng([zlib.crc32(family.encode()), int(seed)])
    X, y, order = FAMILIES[family](rng)
    flat = np.unique(np.concatenate(y), return_inverse=True)[1]
    if flat.max() == 0:
        flat[-1] = 1
    cuts = np.cumsum([len(one) for one in y])[:-1]
    return Sequences(name, X, np.split(flat, cuts), order)


Drawn = tuple[Any, Any, int]


def _lengths(rng: Generator, n: tuple[int, int], lengths: tuple[int, int]) -> Any:
    """Of n sequences, log-uniform, until there are enough tokens."""
    drawn = np.exp(rng.uniform(np.log(lengths[0]), np.log(lengths[1] + 1), whole(rng, *n)))
    drawn = drawn.astype(int).clip(*lengths)
    kept = drawn[np.cumsum(drawn) <= TOKENS]
    return kept if len(kept) else drawn[:1].clip(max=TOKENS)


def _labels(rng: Generator, lengths: Any, k: int) -> list[Any]:
    """A Markov chain, its rows from nearly one label to nearly all alike."""
    moves = rng.dirichlet(np.full(k, log_uniform(rng, 0.05, 5)), size=k).cumsum(axis=1)
    made = []
    for length in lengths:
        y = np.empty(length, dtype=int)
        y[0] = rng.integers(k)
        for t, u in enumerate(rng.random(length - 1), start=1):
            y[t] = min(np.searchsorted(moves[y[t - 1]], u), k - 1)
        made.append(y)
    return made


def _numbers(rng: Generator, y: list[Any], k: int, noise: float | None = None) -> list[Any]:
    """Rows of numbers around a centre for each label."""
    d = whole(rng, 1, 40)
    noise = log_uniform(rng, 0.1, 5) if noise is None else noise
    centres = rng.standard_normal((k, d))
    return [centres[one] + noise * rng.standard_normal((len(one), d)) for one in y]


def _words(rng: Generator, y: list[Any], k: int, own: float | None = None) -> list[Any]:
    """Attributes of words that labels share or own, of their ends, and of the words beside them."""
    words = whole(rng, 20, 5000)
    own = rng.uniform(0.1, 0.95) if own is None else own
    made = []
    for one in y:
        rank = (words ** rng.random(len(one)) - 1).astype(int)
        rank = np.where(rng.random(len(one)) < own, k * (rank // k) + one, rank + k)
        tokens = [[f"w={w}", f"end={w % 31}"] for w in rank]
        for t in range(1, len(tokens)):
            tokens[t].append(f"before={rank[t - 1]}")
            tokens[t - 1].append(f"after={rank[t]}")
        made.append(tokens)
    return made


def _dense(rng: Generator, k: tuple[int, int] = (2, 40), **sizes: Any) -> tuple[Any, Any]:
    count = whole(rng, *k)
    y = _labels(rng, _lengths(rng, sizes.get("n", (3, 1000)), sizes.get("lengths", (1, 60))), count)
    return _numbers(rng, y, count), y


def _either(rng: Generator, k: tuple[int, int] = (2, 40), **sizes: Any) -> tuple[Any, Any]:
    """Numbers or attributes."""
    X, y = _dense(rng, k, **sizes)
    if rng.random() < 0.5:
        X = _words(rng, y, 1 + max(int(one.max()) for one in y))
    return X, y


def _stacked(X: list[Any], change: Callable[[Any], Any]) -> list[Any]:
    """A change of the columns of all tokens together."""
    return np.split(change(np.vstack(X)), np.cumsum([len(x) for x in X])[:-1])


def _plain(rng: Generator) -> Drawn:
    return *_dense(rng), 1


def _strings(rng: Generator) -> Drawn:
    k = whole(rng, 2, 40)
    y = _labels(rng, _lengths(rng, (3, 1000), (1, 60)), k)
    return _words(rng, y, k), y, 1


def _short(rng: Generator) -> Drawn:
    return *_either(rng, n=(50, 5000), lengths=(1, 3)), 1


def _long(rng: Generator) -> Drawn:
    return *_either(rng, n=(1, 20), lengths=(200, 5000)), 1


def _order_two(rng: Generator) -> Drawn:
    return *_either(rng, (2, 8)), 2


def _separable(rng: Generator) -> Drawn:
    k = whole(rng, 2, 20)
    y = _labels(rng, _lengths(rng, (3, 500), (1, 40)), k)
    X = _words(rng, y, k, 1.0) if rng.random() < 0.5 else _numbers(rng, y, k, 1e-2)
    return X, y, 1


def _rare(rng: Generator) -> Drawn:
    """One to five labels of a single token."""
    X, y = _either(rng, (2, 20))
    y = [one.copy() for one in y]
    for label in range(int(rng.integers(1, 6))):
        one = y[rng.integers(len(y))]
        one[rng.integers(len(one))] = 100 + label
    return X, y, 1


def _constant(rng: Generator) -> Drawn:
    """Constant columns and repeated ones, or attributes that all tokens have."""
    X, y = _either(rng)
    if not isinstance(X[0], np.ndarray):
        return [[[*token, "all", "everywhere"] for token in x] for x in X], y, 1
    values = rng.choice([1.0, -3.0, 1e-3, 1e3], size=3)
    return (
        _stacked(X, lambda T: np.hstack([T, np.tile(values, (len(T), 1)), 2.0 * T[:, :2]])),
        y,
        1,
    )


def _scales(rng: Generator) -> Drawn:
    X, y = _dense(rng)
    return _stacked(X, lambda T: scaled(rng, T)), y, 1


FAMILIES: dict[str, Callable[[Generator], Drawn]] = {
    PREFIX + name: family
    for name, family in {
        "numbers": _plain,
        "strings": _strings,
        "short": _short,
        "long": _long,
        "order2": _order_two,
        "separable": _separable,
        "rare": _rare,
        "constant": _constant,
        "scales": _scales,
    }.items()
}


# Corpora

EVERY = 5
"""Of a corpus each fifth sentence is taken."""

FILES = {  # name: file, columns of the word and of the label, separator
    f"{PREFIX}conll2000": ("conll2000-train.txt", 0, 2, " "),
    f"{PREFIX}wnut17": ("wnut17-train.conll", 0, 1, "\t"),
    f"{PREFIX}sequoia": ("ud_fr_sequoia-train.conllu", 1, 3, "\t"),
    f"{PREFIX}kyoto": ("ud_lzh_kyoto-train.conllu", 1, 3, "\t"),
}


def corpora() -> list[str]:
    """Names of the corpora at hand."""
    return list(FILES) if data.missing() is None else []


@lru_cache(maxsize=4)
def read(name: str) -> Sequences:
    """A corpus, its words as attributes: the word, its end, its shape, and the words beside it."""
    file, word, label, separator = FILES[name]
    X, y = [], []
    for sentence in sentences(file)[::EVERY]:
        rows = [line.split(separator) for line in sentence.split("\n") if not line.startswith("#")]
        rows = [r for r in rows if len(r) > label and (label != 3 or r[0].isdigit())]
        if rows:
            X.append(_attributes([row[word] for row in rows]))
            y.append([row[label] for row in rows])
    codes = np.unique(np.concatenate(y), return_inverse=True)[1]
    return Sequences(name, X, np.split(codes, np.cumsum([len(one) for one in y])[:-1]))


def _attributes(words: list[str]) -> list[list[str]]:
    around = ["", *words, ""]
    return [
        [
            f"w={w}",
            f"end={w[-3:]}",
            f"capital={w[:1].isupper()}",
            f"<{around[t]}",
            f">{around[t + 2]}",
        ]
        for t, w in enumerate(words)
    ]
