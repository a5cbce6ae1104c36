"""Small sequences with attribute–label pairs, and everything about them written out: for oracles."""

import itertools
from functools import cached_property

import numpy as np
from scipy.optimize import minimize

from argmax import costs, losses
from argmax.engines import Threads, cut
from argmax.layouts import Pairs
from argmax.objective import Objective
from argmax.passes import Problem
from argmax.records import Csr, Structures, Truth
from argmax.spaces import Chain, constraints

K = 3


class Toy:
    """A few sequences over three labels and four attributes."""

    def __init__(
        self, loss="hinge", lengths=(4, 1, 3, 0, 5), *, seed=0, C=1.0, weighted=False, values=False,
        start=True, transitions=True, every=False, forbidden=(), cost=None, per_sequence=False, precise=True,
        own=False, fold=False, by_token=False, order=1,
    ):  # fmt: skip
        rng = np.random.default_rng(seed)
        self.offsets, N = np.concatenate([[0], np.cumsum(lengths)]), sum(lengths)
        dense = (rng.random((N, 4)) < 0.6) * (rng.normal(size=(N, 4)) if values else 1.0)
        if own:  # attributes that no other token has
            dense = np.hstack([dense, np.repeat(np.eye(N), 2, axis=1)])
        indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))])
        stored = dense[dense != 0] if values else None
        rows = Csr(indptr, np.nonzero(dense)[1].astype(np.int32), stored, dense.shape[1])
        rules = constraints.get([(str(a), str(b)) for a, b in forbidden], list("012"))
        self.space = Chain(K, order, constraints=rules if forbidden else None)
        self.dense, self.forbidden, self.C = dense, set(forbidden), C
        self.labels = self._labels(rng, lengths)
        self.weight = rng.uniform(0.2, 2.0, len(lengths)) if weighted else None
        takes = losses.get(loss).takes_cost
        self.cost = (costs.zero_one(K) if cost is None else np.array(cost)) if takes else None
        scale = np.repeat(1.0 / np.maximum(lengths, 1), lengths) if per_sequence else None
        if by_token:
            scale = rng.uniform(0.0, 3.0, N)
        self.truth = Truth(self.labels, self.weight, self.cost, None, scale)
        states = self.space.states if transitions else 0
        options = {"start": start, "states": states, "precise": precise}
        layout = Pairs.observed(rows, self.labels, K, every=every, fold=fold, **options)
        problem = Problem(self.space, layout, losses.get(loss))
        shards = cut(Structures(rows, self.offsets), self.truth, layout)
        self.objective = Objective(problem, shards, Threads(1), C)

    def _labels(self, rng, lengths):
        found = []
        for L in lengths:
            paths = self.paths(L)
            found += paths[rng.integers(len(paths))]
        return np.array(found)

    def paths(self, L):
        """All label sequences of this length, in lexicographic order."""
        every = itertools.product(range(K), repeat=L)
        return [p for p in every if not self.forbidden & set(itertools.pairwise(p))]

    def row(self, path, t):
        """The row of the table of transitions that label t of a path is looked up in."""
        if self.space.order == 1:
            return path[t - 1]
        return (path[t - 2] if t > 1 else K) * K + path[t - 1]

    @cached_property
    def sequences(self):
        """Of each sequence: features (paths, size) and costs (paths,) of every path, and the right one."""
        layout = self.objective.problem.pairs
        parts = [layout.named(unit) for unit in np.eye(layout.size)]
        coef = np.array([part["coef"].toarray() for part in parts])
        start = np.array([part["start"] for part in parts])
        follow = np.array([part["transitions"] for part in parts])
        found = []
        for first, last in itertools.pairwise(self.offsets):
            x, y = self.dense[first:last], self.labels[first:last]
            paths = self.paths(last - first)
            psi, price = np.zeros((len(paths), layout.size)), np.zeros(len(paths))
            for p, path in enumerate(paths):
                for t, c in enumerate(path):
                    psi[p] += coef[:, c] @ x[t]
                    psi[p] += start[:, c] if t == 0 else follow[:, self.row(path, t), c]
                    scale = (
                        1.0 if self.truth.cost_scale is None else self.truth.cost_scale[first + t]
                    )
                    price[p] += 0.0 if self.cost is None else scale * self.cost[y[t], c]
            found.append((psi, price, paths.index(tuple(y))))
        return found

    def weight_of(self, i):
        return 1.0 if self.weight is None else self.weight[i]

    def value(self, w):
        """F(w) of the hinge, path by path."""
        total = 0.5 * w @ w
        for i, (psi, price, right) in enumerate(self.sequences):
            scores = psi @ w
            total += self.C * self.weight_of(i) * (np.max(scores + price) - scores[right])
        return total

    def optimum(self):
        """min F of the hinge: a quadratic programme with a slack for each sequence, by cutting planes."""
        size, n = self.objective.size, len(self.sequences)
        c = np.array([self.C * self.weight_of(i) for i in range(n)])
        planes, x = (
            {(i, right) for i, (_, _, right) in enumerate(self.sequences)},
            np.zeros(size + n),
        )
        for _ in range(200):
            x = self._programme(sorted(planes), c, x)
            found = set()
            for i, (psi, price, right) in enumerate(self.sequences):
                loss = psi @ x[:size] + price - psi[right] @ x[:size]
                if loss.max() > x[size + i] + 1e-10:
                    found.add((i, int(loss.argmax())))
            if found <= planes:
                return self.value(x[:size])
            planes |= found
        raise AssertionError("the planes do not come to an end")

    def _programme(self, planes, c, x):
        """min ½‖w‖² + ⟨c, ξ⟩ such that ξ is above these planes."""
        size = self.objective.size
        A, b = np.zeros((len(planes), len(x))), np.zeros(len(planes))
        for row, (i, p) in enumerate(planes):
            psi, price, right = self.sequences[i]
            A[row, :size], A[row, size + i], b[row] = psi[right] - psi[p], 1.0, price[p]

        def value(x):
            return 0.5 * x[:size] @ x[:size] + c @ x[size:], np.concatenate([x[:size], c])

        above = {"type": "ineq", "fun": lambda x: A @ x - b, "jac": lambda x: A}
        options = {"ftol": 1e-14, "maxiter": 500}
        return minimize(value, x, jac=True, method="SLSQP", options=options, constraints=above).x
