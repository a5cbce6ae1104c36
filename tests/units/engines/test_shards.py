"""Shards: cut from the data alone, and slots that know their point."""

import numpy as np
import pytest
import scipy.sparse as sp

from argmax.checks import compressed
from argmax.engines import Shard, Stamp, Threads, columns, cut
from argmax.engines import shards as sizes
from argmax.kernels import products
from argmax.layouts import Full, as_matrix
from argmax.records import Csr, Structures, Truth
from tests.laws.problems import make_rows


def make(n=100, d=10, k=3, offsets=None, kind="float64"):
    rows = make_rows(kind, np.random.default_rng(0), n, d)
    layout = Full(d, k)
    examples = n if offsets is None else len(offsets) - 1
    return Structures(rows, offsets), Truth(np.zeros(n, int), np.ones(examples)), layout


def test_small_data_are_one_shard_and_one_block():
    (shard,) = cut(*make())
    assert len(shard) == 100
    assert shard.blocks == [(0, 100)]
    assert not shard.by_columns


@pytest.mark.parametrize("work", [(10, 100), (100, 1000), (10_000, 10_000)])
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_blocks_cover_every_example_once_and_in_order(work, kind, monkeypatch):
    monkeypatch.setattr(sizes, "BLOCK_WORK", work)
    shard = Shard(*make(kind=kind))
    assert [i for start, stop in shard.blocks for i in range(start, stop)] == list(range(100))


@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_column_ranges_cover_every_feature_once(kind, monkeypatch):
    monkeypatch.setattr(sizes, "NARROW", 2)
    monkeypatch.setattr(sizes, "BLOCK_WORK", (100, 1000))
    shard = Shard(*make(kind=kind))
    ranges = shard.column_ranges(shard.by_column(Threads(1).run))
    assert [j for owned in ranges for j in range(owned.start, owned.stop)] == list(range(10))
    assert len(ranges) > 1


def test_shards_cover_every_example_once(monkeypatch):
    monkeypatch.setattr(sizes, "SHARD_BYTES", 1408)  # four gradients
    structures, truth, layout = make(n=101)
    shards = cut(structures, truth, layout)
    assert len(shards) == 13  # 80 bytes a row, and four times 24 of scores
    assert sum(map(len, shards)) == 101
    rows = np.concatenate([shard.structures.rows for shard in shards])
    np.testing.assert_array_equal(rows, structures.rows)


def test_sequences_are_never_torn(monkeypatch):
    monkeypatch.setattr(sizes, "SHARD_BYTES", 1000)
    monkeypatch.setattr(sizes, "BLOCK_WORK", (50, 500))
    offsets = np.array([0, 7, 8, 40, 60, 61, 100])
    structures, truth, layout = make(offsets=offsets)
    found = [
        length
        for shard in cut(structures, truth, layout)
        for block in range(len(shard.blocks))
        for length in np.diff(shard.open(block)[0].offsets)
    ]
    assert found == np.diff(offsets).tolist()


def test_a_block_knows_its_nodes(monkeypatch):
    monkeypatch.setattr(sizes, "BLOCK_WORK", (120, 1000))
    offsets = np.array([0, 3, 5, 9])
    shard = Shard(*make(n=9, offsets=offsets))
    assert shard.blocks == [(0, 1), (1, 2), (2, 3)]
    block, truth, nodes = shard.open(2)
    assert (len(block), nodes, len(truth.labels), len(truth.weight)) == (1, slice(5, 9), 4, 1)
    assert shard.open(2) is shard.open(2)


def test_a_slot_answers_to_its_own_point_only():
    slots, here, there = Shard(*make()).slots, Stamp(np.zeros(2)), Stamp(np.zeros(2))
    kept = slots.keep("node", here, (2, 3))
    assert slots.kept("node", here) is kept
    assert slots.kept("node", there) is None
    assert slots.kept("step", here) is None
    assert slots.keep("node", there, (2, 3)) is kept  # memory is used again
    assert slots.kept("node", here) is None
    assert slots.keep("node", there, (4, 3)) is not kept


def test_the_transpose_of_sparse_rows_is_kept():
    shard = Shard(*make(kind="csr"))
    run = Threads(1).run
    assert shard.by_column(run) is shard.by_column(run)
    assert shard.by_column(run).shape == (10, 100)
    assert shard.by_column(run).entries == shard.structures.rows.entries


@pytest.mark.parametrize("compiled", ["always", "never"])
@pytest.mark.parametrize("kind", ["csr", "indicators"])
@pytest.mark.parametrize("pieces", [1, 3, 7])
def test_the_transpose_is_scipys_whatever_the_pieces(compiled, kind, pieces, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", compiled)
    rows = make_rows(kind, np.random.default_rng(1), 100, 10)
    starts = [i * 100 // pieces for i in range(pieces)]
    columns = sizes.transposed(rows, starts, Threads(2).run)
    expected = as_matrix(rows).tocsc()
    np.testing.assert_array_equal(columns.indptr, expected.indptr)
    np.testing.assert_array_equal(columns.indices, expected.indices)
    np.testing.assert_array_equal(as_matrix(columns).data, expected.data)


def alone(piece, count):
    return [piece(i) for i in range(count)]


@pytest.mark.parametrize("n", [0, 1, 5, 40])
def test_rows_are_split_where_ranges_of_features_begin(n):
    rng = np.random.default_rng(n)
    X = sp.random(n, 50, 0.3, format="csr", random_state=rng) if n else sp.csr_matrix((0, 50))
    X.sort_indices()
    rows = compressed(X)
    splits = columns.split(rows, alone)
    assert splits.edges[0] == 0
    assert splits.edges[-1] == 50
    assert np.all(np.diff(splits.edges) >= 0)
    for i in range(n):
        for r in range(columns.OWNERS):
            mine = rows.indices[splits.places[i, r] : splits.places[i, r + 1]]
            assert np.all((splits.edges[r] <= mine) & (mine < splits.edges[r + 1]))
        assert splits.places[i, 0] == rows.indptr[i]
        assert splits.places[i, -1] == rows.indptr[i + 1]


@pytest.mark.parametrize("length", [16, 32, 64])
def test_ranges_have_as_many_entries_each_also_where_rows_have_the_same_length(length):
    """Every so-manieth entry would be in the same column."""
    n = columns.SAMPLE
    rows = Csr(np.arange(n + 1) * length, np.tile(np.arange(length), n), None, length)
    entries = np.diff(columns.split(rows, alone).places, axis=1).sum(axis=0)
    assert entries.max() <= n * (length // columns.OWNERS + 1)


@pytest.mark.parametrize("indices", [[3, 1], [2, 2]])
def test_rows_that_are_not_sorted_are_not_split(indices):
    rows = Csr(np.array([0, 1, 3]), np.array([0, *indices]), None, 5)
    assert columns.split(rows, alone) is None


@pytest.mark.parametrize("n", [400, 10_000, 60_001])
def test_parts_of_dense_rows_end_where_the_kernels_do(n):
    starts = sizes._tapered(n, 128, sizes.TOGETHER)
    assert sizes.TOGETHER == products.AT_ONCE
    assert not (starts[:-1] % sizes.TOGETHER).any()
    assert starts[0] == 0
    assert starts[-1] == n
    assert np.diff(starts).min() > 0


@pytest.mark.parametrize("n", [1, 5, 1000])
@pytest.mark.parametrize("parts", [1, 2, 7, 128])
def test_parts_taper_off_and_leave_nobody_out(n, parts):
    starts = sizes._tapered(n, parts)
    assert starts[0] == 0
    assert starts[-1] == n
    lengths = np.diff(starts)
    assert lengths.min() >= 1
    assert len(lengths) <= parts
    if n == 1000 and parts == 7:
        assert list(lengths) == sorted(lengths, reverse=True)


@pytest.mark.parametrize("k", [10, 24, 100])
def test_dense_rows_are_read_by_rows_also_with_many_classes(k):
    """Owners of columns would need as much memory for residuals, and multiply narrow strips of X."""
    rows, truth = np.zeros((20_000, 784)), Truth(np.zeros(20_000, int))
    assert not Shard(Structures(rows), truth, Full(784, k, compiled=True)).by_columns


@pytest.mark.parametrize("d", [1, 47, 784, 5000])
def test_ranges_of_dense_columns_are_not_narrow(d):
    rows, truth = np.zeros((2_000, d)), Truth(np.zeros(2_000, int))
    shard = Shard(Structures(rows), truth, Full(d, 1000, compiled=True))
    ranges = shard.column_ranges(rows)
    assert min(some.stop - some.start for some in ranges) >= min(sizes.NARROW, d)
    assert (ranges[0].start, ranges[-1].stop) == (0, d)
