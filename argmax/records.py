"""The few shapes that everything passes on.

Conventions, fixed here once and used everywhere:

    n  examples      N  nodes       E  edges
    R  rows          d  features    K  labels

    Structures   what is given of x          rows (R, d), offsets (n+1,), edges (E, 2)
    Truth        what is given of y          labels (N,), weight (n,)
    Scores       ⟨w, Ψ⟩ before the argmax    node (N, K), edge None | (kinds, K, K) | (E, K, K)
    Answer       what an argmax returns      labels (N,), value (n,), bound (n,)
    Value        what a log-sum-exp returns  value (n,), exact
    Solution     what a solver returns       w, objective, gap, status, …
    Strings      a column of text            data (bytes,), offsets (n+1,), missing (n,)
    Batch        some rows of a table        columns by name: numbers, Strings or Csr

A classifier is the case of one node per example and no edges: then n = N = R and ``offsets`` is
None. A score of −inf means "not allowed". Marginals, residuals and dual variables are Scores too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Answer",
    "Batch",
    "Csr",
    "Scores",
    "Solution",
    "Strings",
    "Structures",
    "Truth",
    "Value",
    "aligned",
]

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]
T = TypeVar("T")


def aligned(value: T) -> T:
    """A record, or an array, whose arrays begin where the processor likes numbers to begin.

    What a network or a file brings may begin anywhere. NumPy hands BLAS a copy of it then, in another order,
    and the last bit of a product may change.

    >>> import numpy as np
    >>> from argmax.records import Truth, aligned
    >>> labels = np.frombuffer(bytes(17), np.uint8)[1:].view(np.int64)
    >>> labels.flags.aligned, aligned(Truth(labels)).labels.flags.aligned
    (False, True)
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else cast("T", value.copy())
    changed = {}
    for name in _parts(cast("Any", type(value))):
        part = getattr(value, name)
        if part is not None and (new := aligned(part)) is not part:
            changed[name] = new
    return cast("T", replace(cast("Any", value), **changed)) if changed else value


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """The names of the parts of a record; of anything else, none."""
    return tuple(part.name for part in fields(kind)) if is_dataclass(kind) else ()


@dataclass(frozen=True, slots=True)
class Csr:
    """Sparse rows. ``values`` None means indicators (every stored entry is 1).

    ``indptr`` may be a slice of a longer one: its entries stay positions in the *whole* ``indices``,
    so a block of rows is a view and costs nothing.

    >>> import numpy as np
    >>> from argmax.records import Csr
    >>> rows = Csr(np.array([0, 1, 3]), np.array([2, 0, 1]), None, 3)
    >>> len(rows), rows.entries, rows[1:2].entries
    (2, 3, 2)
    """

    indptr: Ints  # (R + 1,)
    indices: Ints  # (entries,)
    values: Floats | None  # (entries,)
    width: int  # d

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: slice) -> Csr:
        start, stop, _ = rows.indices(len(self))
        return replace(self, indptr=self.indptr[start : stop + 1])

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, features)."""
        return len(self), self.width

    @property
    def entries(self) -> int:
        """How many entries these rows store."""
        return int(self.indptr[-1] - self.indptr[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32) if self.values is None else self.values.dtype


Rows = NDArray[np.floating[Any]] | Csr


@dataclass(frozen=True, slots=True)
class Structures:
    """A stack of inputs for any space; classes are the case of one node per example, literally.

    ``offsets`` says where each example's nodes start (None: one node each). ``edges`` are node pairs
    (None: consecutive nodes in a chain, nothing for classes), those of an example together and examples
    in order; ``edge_kind`` says which weight table an edge uses (None: table 0); ``edge_rows`` (E, e) are
    features of edges (None: the constant 1).

    >>> import numpy as np
    >>> from argmax.records import Structures
    >>> stack = Structures(np.zeros((5, 2)), offsets=np.array([0, 3, 5]))  # two sequences
    >>> len(stack), stack.nodes, stack[1:2].offsets
    (2, 5, array([0, 2]))
    """

    rows: Rows
    offsets: Ints | None = None
    edges: Ints | None = None
    edge_kind: Ints | None = None
    edge_rows: Rows | None = None

    def __len__(self) -> int:
        return len(self.rows) if self.offsets is None else len(self.offsets) - 1

    @property
    def nodes(self) -> int:
        return len(self.rows)

    def node_range(self, start: int, stop: int) -> tuple[int, int]:
        """The nodes of examples start … stop−1."""
        if self.offsets is None:
            return start, stop
        return int(self.offsets[start]), int(self.offsets[stop])

    def __getitem__(self, examples: slice) -> Structures:
        """A block of examples, as a view (offsets start again at 0)."""
        start, stop, _ = examples.indices(len(self))
        low, high = self.node_range(start, stop)
        offsets = None if self.offsets is None else self.offsets[start : stop + 1] - low
        if self.edges is not None:
            # Not sorted, but all edges of earlier examples come first: as good for a bisection.
            inside = slice(*np.searchsorted(self.edges[:, 0], [low, high]).tolist())
            return Structures(
                self.rows[low:high],
                offsets,
                self.edges[inside] - low,
                None if self.edge_kind is None else self.edge_kind[inside],
                None if self.edge_rows is None else self.edge_rows[inside],
            )
        edges = slice(low - self._nodes_first(start), high - self._nodes_first(stop))
        edge_rows = None if self.edge_rows is None else self.edge_rows[edges]
        return Structures(self.rows[low:high], offsets, edge_rows=edge_rows)

    def _nodes_first(self, stop: int) -> int:
        """How many examples before ``stop`` have a first node: in a chain, one that no edge leads to."""
        if self.edge_rows is None or self.offsets is None:
            return stop
        return int(np.count_nonzero(np.diff(self.offsets[: stop + 1])))


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of y: the label of each node, and the weight of each example in the loss.

    ``cost`` (K, K) is Δ(y, y') of one node, for losses with a margin, or of classes (1,) what all wrong ones
    cost; ``cost_scale`` (N,) is what it is multiplied by at each node (None: 1); ``prices`` (N, K) are costs
    of each node by itself, instead of a table; ``allowed`` (N, K) lists several right answers instead of one.

    >>> import numpy as np
    >>> from argmax.records import Truth
    >>> Truth(np.array([0, 1, 1]), np.array([1.0, 2.0])).block(slice(1, 2), slice(2, 3)).labels
    array([1])
    """

    labels: Ints  # (N,)
    weight: Floats | None = None  # (n,)
    cost: Floats | None = None  # (K, K) or (1,)
    allowed: NDArray[np.bool_] | None = None  # (N, K)
    cost_scale: Floats | None = None  # (N,)
    prices: Floats | None = None  # (N, K)

    def block(self, examples: slice, nodes: slice) -> Truth:
        """The truth of a block of examples, whose nodes are ``nodes``."""
        return Truth(
            self.labels[nodes],
            None if self.weight is None else self.weight[examples],
            self.cost,
            None if self.allowed is None else self.allowed[nodes],
            None if self.cost_scale is None else self.cost_scale[nodes],
            None if self.prices is None else self.prices[nodes],
        )


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of a block, or anything of that shape: marginals, residuals, dual variables.

    ``offsets``, ``edges`` and ``edge_kind`` are those of the block's Structures, so that a space needs
    nothing else. Chains and classes have no use for the last two; trees and graphs are given by them.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> scores = Scores(np.zeros((5, 3)), np.zeros((1, 3, 3)), np.array([0, 3, 5]))
    >>> len(scores), scores.labels
    (2, 3)
    """

    node: Floats  # (N, K)
    edge: Floats | None = None  # (kinds, K, K) shared, or (E, K, K)
    offsets: Ints | None = None  # (n + 1,)
    edges: Ints | None = None  # (E, 2)
    edge_kind: Ints | None = None  # (E,)

    def __len__(self) -> int:
        return len(self.node) if self.offsets is None else len(self.offsets) - 1

    @property
    def labels(self) -> int:
        return int(self.node.shape[1])


@dataclass(frozen=True, slots=True)
class Answer:
    """The argmax: labels of every node, its value, and an upper bound (equal to value where exact).

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces import Classes
    >>> answer = Classes(2).argmax(Scores(np.array([[0.5, 2.0]])))
    >>> answer.labels, answer.value
    (array([1]), array([2.]))
    """

    labels: Ints  # (N,)
    value: Floats  # (n,)
    bound: Floats  # (n,)


@dataclass(frozen=True, slots=True)
class Value:
    """A log-sum-exp over all answers of each example, and whether it is exact.

    Where it is not, it is Bethe's approximation: ``converged`` says whether the messages came to rest, and
    ``residual`` how far they moved last.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces import Classes
    >>> Classes(2).logz(Scores(np.zeros((1, 2)))).value  # log 2
    array([0.69314718])
    """

    value: Floats  # (n,)
    exact: bool = True
    converged: bool = True
    residual: float = 0.0


@dataclass(frozen=True, slots=True)
class Solution:
    """What a solver found, how good it provably is, and why it stopped.

    ``objective − gap`` is a lower bound on the smallest value any w can have; ``relative_gap`` is the
    gap divided by the objective at w = 0, the number that ``tol`` is compared with. ``history`` has one
    row (seconds, objective, gap) for each report: every pass, or for "dual" every sweep worth a look.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> solution = SoftmaxRegression().fit(*load_iris(return_X_y=True)).solution_
    >>> solution.status, solution.converged, solution.solver
    ('converged', True, 'newton')
    >>> len(solution.history) == solution.passes
    True
    """

    w: Floats
    objective: float
    gap: float
    relative_gap: float
    status: (
        str  # "converged" "max_iter" "time_limit" "stopped" "interrupted" "stalled" "separable",
    )
    # and of online learners "no mistakes" "epochs done"
    message: str
    solver: str
    passes: int
    seconds: float
    history: list[tuple[float, float, float]] = field(repr=False)
    state: Any = field(default=None, repr=False)

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def mistakes(self) -> list[int]:
        """Of learners that learn from mistakes: how many each epoch had, which is what their history holds.

        Wrong answers of classes, wrong tokens of sequences. All other solvers have none to report.
        """
        if self.solver not in ("perceptron", "passive_aggressive"):
            return []
        return [int(value) for _, value, _ in self.history]


@dataclass(frozen=True, slots=True)
class Strings:
    """n strings in one buffer of UTF-8: string i is ``data[offsets[i]:offsets[i + 1]]``.

    Kernels read it as it is, files and model files hold it as it is, and no Python object exists per
    string. ``offsets`` may be a slice of a longer one: its entries stay positions in the whole ``data``.
    A missing string is empty and marked.

    >>> from argmax.records import Strings
    >>> column = Strings.of(["a", None, "été"])
    >>> len(column), column[2], column[1:].tolist()
    (3, 'été', [None, 'été'])
    """

    data: NDArray[np.uint8]  # (bytes,)
    offsets: Ints  # (n + 1,)
    missing: NDArray[np.bool_] | None = None  # (n,)

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Strings:
        """From Python strings; None is missing."""
        items = list(values)
        parts = [b"" if item is None else item.encode("utf-8") for item in items]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        missing = np.fromiter((item is None for item in items), np.bool_, len(items))
        data = np.frombuffer(b"".join(parts), np.uint8)
        return cls(data, offsets, missing if missing.any() else None)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, item: Any) -> Any:
        """String i (None if missing), or a view of a range."""
        if isinstance(item, slice):
            start, stop, _ = item.indices(len(self))
            missing = None if self.missing is None else self.missing[start:stop]
            return replace(
                self, offsets=self.offsets[start : max(stop, start) + 1], missing=missing
            )
        i = range(len(self))[item]
        if self.missing is not None and self.missing[i]:
            return None
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes().decode("utf-8")

    def tolist(self) -> list[str | None]:
        """Python strings; None where one is missing."""
        return [self[i] for i in range(len(self))]


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of a table: what readers of files yield and ``features.Table`` takes.

    A column is numbers (n,) with NaN for missing, Strings, or Csr: many number columns under one name
    (svmlight files). ``first`` is the number of the first row in the file, counted from 0.

    >>> import numpy as np
    >>> from argmax.records import Batch, Strings
    >>> batch = Batch({"size": np.array([1.0, np.nan]), "city": Strings.of(["Rome", "Oslo"])})
    >>> len(batch), list(batch.columns)
    (2, ['size', 'city'])
    """

    columns: dict[str, Floats | Strings | Csr]
    first: int = 0

    def __len__(self) -> int:
        return min((len(column) for column in self.columns.values()), default=0)
