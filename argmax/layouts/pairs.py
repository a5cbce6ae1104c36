"""Weights for attribute–label pairs, for the first label of a sequence, and for transitions.

    S_t(c) = Σ_{a at t} x_t(a) w(a, c)  [ + start(c) if t is first ]         e(a, b) = transitions

    flat w = [ light | heavy | once | start (K,) | transitions (edge features, states, K) ]

``kernels.attributes`` says what light, heavy and once are. Only pairs that exist have a weight: those
observed in training, or all. What is not in w has weight 0 and no gradient. A transition has one feature, the
constant 1, unless templates describe it: then its score is Σ_f z_t(f) e_f(a, b).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..records import Csr, Floats, Ints
from .base import Layout, csr_arguments

if TYPE_CHECKING:  # kernels are imported where they are used: classifiers need none of these
    from ..kernels.attributes import Plan, Weights

__all__ = ["Pairs"]

HEAVY = 1.25
"""An attribute is heavy if it occurs at least so many times as often as a row has lanes."""

Mask = NDArray[np.bool_]

Listed = tuple[Ints, Ints, Floats]
"""Where the entries of each token start, the entries, and their values."""


def _none() -> Ints:
    return np.zeros(0, np.int32)


@final
@dataclass(frozen=True, eq=False)
class Pairs(Layout):
    """Attributes × labels, as a list of the pairs that exist.

    >>> import numpy as np
    >>> from argmax.layouts import Pairs
    >>> from argmax.records import Csr
    >>> rows = Csr(np.array([0, 2, 3]), np.array([0, 1, 1]), None, 2)  # attributes 0, 1; then 1
    >>> layout = Pairs.observed(rows, np.array([0, 2]), 3)
    >>> layout.size  # (0, 0), (1, 0), (1, 2), and nine transitions
    12
    >>> layout.named(np.arange(12.0))["coef"].toarray()
    array([[0., 1.],
           [0., 0.],
           [0., 2.]])
    """

    features: int  # d
    labels: int  # K
    many: Mask  # (d,): heavy attributes
    sizes: Ints  # (d,): how many light pairs an attribute has
    codes: Ints  # (light pairs,): their labels
    heavy: Ints  # (heavy + 1,): where the heavy pairs of a row are
    heavy_codes: Ints  # (heavy pairs,)
    once: Mask  # (d,): attributes of a single token, gathered into one variable each token
    start: bool = False
    states: int = 0  # rows of a table of transitions; 0: no transitions
    edge_features: int = 1  # tables of transitions
    precise: bool = False
    intercept: bool = False
    compiled: bool = True
    folds: Ints = field(default_factory=_none)  # (attributes of a single token,): their variables
    fold_codes: Ints = field(default_factory=_none)  # (variables,): the labels of these tokens
    _lists: list[tuple[Ints, Ints]] = field(default_factory=list, repr=False)

    # Making one

    @classmethod
    def observed(
        cls,
        rows: Csr,
        labels: Ints,
        K: int,
        *,
        fold: bool = False,
        every: bool = False,
        **options: Any,
    ) -> Pairs:
        """The pairs that occur in rows with these labels; with ``every``, each attribute with each label.

        ``fold`` gathers the attributes of a single token (see ``kernels.attributes``).
        """
        from ..kernels import attributes

        indptr, indices, _, _ = csr_arguments(rows)
        d, used = rows.width, indices[int(indptr[0]) : int(indptr[-1])]
        counts = np.zeros(d, np.int32)
        attributes.count(used, counts)
        lanes = _width(K, 4)[1]
        once = (counts == 1) if fold else np.zeros(d, bool)
        if every:
            heavy = np.arange(d + 1, dtype=np.int64) * K
            codes = np.tile(np.arange(K, dtype=_code(K)), d)
            lists = np.ones(d, bool), np.zeros(d, _code(K + 1)), np.zeros(0, _code(K))
            return cls(d, K, *lists, heavy, codes, np.zeros(d, bool), **_plain(options, K))
        seen, sizes = np.zeros((d, -(-K // 64)), np.uint64), np.empty(d, np.int32)
        attributes.mark(indptr - indptr[0], used, labels, seen)
        attributes.count_pairs(seen, sizes)
        many = counts >= HEAVY * lanes
        lighter = ~many & ~once
        heavy = np.zeros(int(many.sum()) + 1, np.int64)
        np.cumsum(sizes[many], out=heavy[1:])
        sizes[~lighter] = 0
        codes, more = np.empty(int(sizes.sum()), _code(K)), np.empty(int(heavy[-1]), _code(K))
        attributes.list_pairs(seen, np.flatnonzero(lighter), K, codes)
        attributes.list_pairs(seen, np.flatnonzero(many), K, more)
        options = _plain(options, K)
        if fold:
            options["folds"], tokens = _folds(indptr - indptr[0], used, once)
            options["fold_codes"] = labels[tokens].astype(_code(K))
        return cls(d, K, many, sizes.astype(_code(K + 1)), codes, heavy, more, once, **options)

    @classmethod
    def of(cls, coef: Any, **options: Any) -> Pairs:
        """The layout of given weights (d, K), sparse: a pair for every stored entry, none of them folded.

        Attributes with many labels are heavy: what counts in prediction is the work of one token.
        """
        table = sp.csr_array(coef)
        table.sort_indices()
        return cls._of_table(table, **options)[0]

    @classmethod
    def _of_table(cls, table: Any, others: Any = (), **options: Any) -> tuple[Pairs, Floats]:
        """``of`` weights in order; and those weights as the pairs of the layout have them, before others."""
        (d, K), sizes = table.shape, np.diff(table.indptr)
        many = sizes >= _width(K, 4)[1] / 8
        heavy = np.zeros(int(many.sum()) + 1, np.int64)
        np.cumsum(sizes[many], out=heavy[1:])
        codes, inside = table.indices.astype(_code(K)), np.repeat(many, sizes)
        parts = codes[~inside], heavy, codes[inside]
        sizes[many] = 0
        lists = many, sizes.astype(_code(K + 1))
        layout = cls(d, K, *lists, *parts, np.zeros(d, bool), **_plain(options, K))
        light, w = len(parts[0]), np.empty(len(codes) + len(others))
        np.compress(inside, table.data, out=w[light : len(codes)])
        np.compress(np.logical_not(inside, out=inside), table.data, out=w[:light])
        w[len(codes) :] = others
        return layout, w

    # Shape

    @property
    def lanes(self) -> Any:
        """Lanes worked on together, as kernels take them."""
        return _width(self.labels, self.dtype.itemsize)[0]

    @property
    def width(self) -> int:
        return int(_width(self.labels, self.dtype.itemsize)[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.precise else np.float32)

    @property
    def slots(self) -> int:
        """How many variables stand for the attributes of a single token."""
        return len(self.fold_codes)

    @property
    def bounds(self) -> tuple[int, int, int, int, int]:
        """Where light, heavy, once, start and transitions end in w."""
        light, heavy = len(self.codes), len(self.heavy_codes)
        pairs = light + heavy
        start = pairs + self.slots + (self.labels if self.start else 0)
        edges = self.edge_features * self.states * self.labels
        return light, pairs, pairs + self.slots, start, start + edges

    @property
    def size(self) -> int:
        return self.bounds[-1]

    @property
    def free(self) -> slice:
        return slice(0, 0)

    @property
    def kept(self) -> int:
        return 0

    @property
    def vectors(self) -> np.dtype[Any]:
        return self.dtype

    def rounded(self, sparse: bool, dtype: np.dtype[Any]) -> bool:
        return not self.precise

    def lists(self, keep: bool = False) -> tuple[Ints, Ints]:
        """row (d,): the row of a heavy attribute, −1 for others; ptr (d + 1,): where its light pairs are.

        Those who look up attributes again and again ``keep`` them; a fit does so once.
        """
        if self._lists:
            return self._lists[0]
        ptr = np.zeros(self.features + 1, np.int32)
        np.cumsum(self.sizes, out=ptr[1:])
        found = _numbered(self.many), ptr
        if keep:
            self._lists.append(found)
        return found

    # Weights

    def edge(self, w: Floats) -> Floats | None:
        """The table of transitions (states, K), that of the first feature if there are several. A view."""
        return self.edges(w)[0] if self.states else None

    def edges(self, w: Floats) -> Floats:
        """The tables of all features of transitions (edge features, states, K), a view."""
        return w[self.bounds[3] :].reshape(self.edge_features, self.states, self.labels)

    def first(self, w: Floats) -> Floats:
        """Scores of the first label (K,); zeros if there are no weights for it."""
        _, _, once, start, _ = self.bounds
        return w[once:start] if self.start else np.zeros(self.labels)

    def weights(
        self,
        w: Floats,
        first: Mask | None = None,
        last: Mask | None = None,
        run: Any = None,
        dtype: Any = None,
        shared: bool = False,
    ) -> Weights:
        """w as kernels read it, in the dtype of this layout unless another is asked for.

        The masks say which labels a sequence may begin and end with; ``run`` is that of a crew; ``shared``
        takes what can be taken from the memory of w, for those who only read it.
        """
        from ..kernels import attributes
        from ..kernels.attributes import Weights

        light, pairs, once, _, _ = self.bounds
        P, dtype = self.width, self.dtype if dtype is None else dtype
        table = np.zeros((len(self.heavy) - 1) * P, dtype)
        values = w[light:pairs].astype(dtype, copy=False)
        some = ranges(len(self.heavy) - 1)

        def piece(i: int) -> None:
            attributes.expand(values, self.heavy, self.heavy_codes, *some[i], P, table)

        (_serially if run is None else run)(piece, len(some))
        base = np.full(P, -np.inf, dtype)
        base[: self.labels] = 0.0
        begin, end = np.zeros(P, dtype), np.zeros(P, dtype)
        begin[: self.labels] = self.first(w)
        for vector, mask in ((begin, first), (end, last)):
            if mask is not None:
                vector[: self.labels][~mask] = -np.inf
        return Weights(
            table,
            w[:light].astype(dtype, copy=not shared),
            self.codes,
            w[pairs:once].astype(dtype, copy=not shared),
            base,
            begin,
            end,
        )

    def spread(self, columns: Floats, edges: Floats, constant: float) -> Floats:
        _, pairs, _, end, size = self.bounds
        result = np.full(size, constant)
        result[:pairs] = columns[self._places()[0]]
        if len(edges):
            result[end:] = np.repeat(edges, (size - end) // len(edges))
        return result

    def named(self, w: Floats) -> dict[str, Any]:
        """coef (K, d) sparse, start (K,), transitions (states, K). Folded weights are not in coef."""
        edge = self.edge(w)
        return {
            "coef": self._table(w, np.zeros(0, np.intp)).T,
            "start": self.first(w).copy(),
            "transitions": np.zeros((self.labels,) * 2) if edge is None else edge.copy(),
            "edges": self.edges(w).copy(),
        }

    def _table(self, w: Floats, owner: Ints, values: Any = (), codes: Any = ()) -> Any:
        """The weights (d, K), sparse; with those of the attributes ``owner`` that are folded, if given.

        Every attribute is light, heavy or folded, so its entries lie together and in order in w.
        """
        light, pairs = self.bounds[:2]
        many, rows = np.flatnonzero(self.many), np.diff(self.heavy)
        sizes = self.sizes.astype(np.int32)
        sizes[many] += rows
        sizes[owner] += 1
        kind = np.int32 if light + len(self.heavy_codes) + len(owner) < 2**31 else np.int64
        indptr: Ints = np.zeros(self.features + 1, kind)
        np.cumsum(sizes, out=indptr[1:])
        del sizes
        data, indices = np.empty(int(indptr[-1])), np.empty(int(indptr[-1]), kind)

        def place(at: Ints, some: Any, labels: Any) -> None:
            data[at], indices[at] = some, labels

        place(_places(indptr[:-1] - self.lists()[1][:-1], self.sizes), w[:light], self.codes)
        place(_places(indptr[many] - self.heavy[:-1], rows), w[light:pairs], self.heavy_codes)
        place(indptr[owner], values, codes)
        return sp.csr_array((data, indices, indptr), (self.features, self.labels))

    # Folded weights

    def unfolded(self, w: Floats) -> tuple[Pairs, Floats]:
        """The same weights without variables for several attributes."""
        owner, (_, pairs, once, _, _) = np.flatnonzero(self.once), self.bounds
        values = (w[pairs:once] / self._roots())[self.folds]
        codes = self.fold_codes[self.folds]
        return Pairs._of_table(
            self._table(w, owner, values, codes),
            w[once:],
            start=self.start,
            states=self.states,
            edge_features=self.edge_features,
            precise=self.precise,
        )

    def _roots(self) -> Floats:
        """√s of each variable for s attributes."""
        return np.sqrt(np.bincount(self.folds, minlength=self.slots))

    def pack(self, coef: Any, start: Floats | None = None, edge: Floats | None = None) -> Floats:
        """The flat w of weights (d, K). What this layout has no pair for is left out; see ``folded``."""
        w = np.zeros(self.size)
        _, pairs, once, end, _ = self.bounds
        w[:pairs] = _stored(sp.csr_array(coef), *self._places())
        if self.start and start is not None:
            w[once:end] = start
        if self.states and edge is not None:
            w[end:] = np.asarray(edge).ravel()
        return w

    def folded(self, coef: Any, start: Floats | None, edge: Floats | None) -> Floats:
        """``pack`` with the variables of folded attributes: the opposite of ``unfolded``."""
        w = self.pack(coef, start, edge)
        if self.slots:
            _, pairs, once, _, _ = self.bounds
            codes = self.fold_codes[self.folds].astype(np.int64)
            values = _stored(sp.csr_array(coef), np.flatnonzero(self.once), codes)
            w[pairs:once] = np.bincount(self.folds, values, self.slots) / self._roots()
        return w

    def _places(self) -> tuple[Ints, Ints]:
        """The attribute and the label of every pair, light and heavy."""
        light = np.repeat(np.arange(self.features), self.sizes)
        heavy = np.repeat(np.flatnonzero(self.many), np.diff(self.heavy))
        codes = np.concatenate([self.codes, self.heavy_codes]).astype(np.int64)
        return np.concatenate([light, heavy]), codes

    # What tokens have

    def plan(self, rows: Csr, run: Any = None, done: Any = None) -> Plan:
        """What each token has, for kernels; ``run`` is that of a crew.

        ``done`` is called in the middle, when the rows have been read for the last time: whoever holds them
        may let go of them, since rows and plan are the largest things there are.
        """
        if rows.width != self.features:
            raise InvalidInput(
                f"the rows have {rows.width} features; the model has {self.features}."
            )
        run = _serially if run is None else run
        parted = self._parted(rows, run)
        del rows
        if done is not None:
            done()
        return self._paired(*parted, run)

    def _parted(self, rows: Csr, run: Any) -> tuple[Listed, Listed, Ints, Ints, int]:
        """Heavy rows of each token, its light attributes, how many pairs they have; single attributes."""
        from ..kernels import attributes

        indptr, indices, values, step = csr_arguments(rows)
        N, some = len(rows), ranges(len(rows))
        sizes, singles = [np.zeros(N + 1, np.int32) for _ in range(3)], np.empty(N, np.int32)
        lists, out = (*self.lists(), self.once), [*(array[1:] for array in sizes), singles]
        run(
            lambda i: attributes.plan_sizes(indptr, indices, *lists, *some[i], *out),
            len(some),
        )
        # Half the memory and half the way to it, where there are so few rows; and there mostly are.
        kind = np.uint16 if len(self.heavy) <= 2**16 else np.int32
        heavy, few = self._listed(sizes[0], kind, step), self._listed(sizes[1], np.int32, step)
        given = indptr, indices, np.asarray(values, self.dtype), step, lists[0], self.once
        run(lambda i: attributes.part_attributes(*given, *some[i], heavy, few), len(some))
        return heavy, few, sizes[2], singles, step

    def _paired(
        self, heavy: Listed, few: Listed, sizes: Ints, singles: Ints, step: int, run: Any
    ) -> Plan:
        """The plan, from what ``_parted`` found."""
        from ..kernels import attributes
        from ..kernels.attributes import Plan

        bits, most = max(self.labels - 1, 1).bit_length(), int(singles.max(initial=0))
        kind = np.int32 if len(self.codes) << bits < 2**31 else np.int64
        light, pairs, values = self._listed(sizes, kind, step)
        slot, singles = _numbered(singles > 0), singles.astype(_code(most + 1))
        root = np.sqrt(np.arange(most + 1.0)).astype(self.dtype)
        plan = Plan(*heavy, light, pairs, bits, values, step, slot, singles, root)
        some, (_, ptr) = ranges(len(slot)), self.lists()
        run(lambda i: attributes.fill_pairs(few, ptr, self.codes, *some[i], plan), len(some))
        return plan

    def _listed(self, sizes: Ints, kind: Any, step: int) -> Listed:
        """Where the entries of each token start, given how many it has; memory for them and their values."""
        starts = _starts(sizes)
        count = int(starts[-1])
        return starts, np.empty(count, kind), np.ones(count if step else 1, self.dtype)


def _places(first: Ints, counts: Ints) -> Ints:
    """first_0 + 0, 1, …, then first_1 + the next numbers: so many of each."""
    places = np.repeat(first, counts)
    places += np.arange(len(places), dtype=places.dtype)
    return places


def _starts(sizes: Ints) -> Ints:
    """Σ of the sizes so far, in their memory if they fit."""
    small = sizes.sum(dtype=np.int64) < 2**31
    return np.cumsum(sizes, out=sizes) if small else np.cumsum(sizes, dtype=np.int64)


def _numbered(marked: Mask) -> NDArray[np.int32]:
    """The number of each that is marked, among these; −1 for the others."""
    numbers = np.cumsum(marked, dtype=np.int32)
    numbers -= np.int32(1)
    numbers[~marked] = -1
    return numbers


def _folds(indptr: Ints, indices: Ints, once: Mask) -> tuple[Ints, Ints]:
    """The variable of each attribute that occurs once, and the token of each variable."""
    from ..kernels import attributes

    rank = np.cumsum(once, dtype=np.int32) - np.int32(1)
    slot = np.empty(int(rank[-1]) + 1 if len(rank) else 0, np.int32)
    token = np.empty(min(len(slot), len(indptr) - 1), np.int32)
    slots = attributes.list_slots(indptr, indices, once, rank, slot, token)
    return slot, token[:slots]


def _stored(table: Any, rows: Ints, columns: Ints) -> Floats:
    """The entries of a sparse table at these places; 0 where none is stored."""
    table.sort_indices()
    K = table.shape[1]
    keys = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)) * K + table.indices
    if not len(keys):
        return np.zeros(len(rows))
    wanted = rows * K + columns
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, table.data[at], 0.0)


def _code(K: int) -> Any:
    return np.uint8 if K <= 256 else np.uint16 if K <= 65536 else np.int32


def _plain(options: dict[str, Any], K: int) -> dict[str, Any]:
    """``transitions=True`` is a table of order 1."""
    options = dict(options)
    if options.pop("transitions", True) and "states" not in options:
        options["states"] = K
    return options


def _width(K: int, itemsize: int) -> tuple[Any, int]:
    """Lanes worked on together, and those of a row."""
    from ..kernels.chain import width

    found: tuple[Any, int] = width(K, itemsize)  # type: ignore[no-untyped-call]
    return found


def ranges(count: int, pieces: int = 8) -> list[tuple[int, int]]:
    """0 … count in consecutive pieces of about the same length."""
    bounds = np.linspace(0, count, pieces + 1).astype(int)
    return [(int(a), int(b)) for a, b in pairwise(bounds)]


def _serially(piece: Any, count: int) -> None:
    for i in range(count):
        piece(i)
