"""Splits, batches, fingerprints, and rows in memory and in files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.cli.batches import joined, selected, size
from argmax.cli.fingerprints import of_column, of_rows
from argmax.cli.held import Held
from argmax.cli.splitting import Draws, HeldOut
from argmax.errors import InvalidInput
from argmax.records import Batch, Csr, Strings

CODES = st.lists(st.integers(0, 4), min_size=1, max_size=300)


@given(CODES, st.integers(1, 12), st.integers(0, 3), st.integers(1, 299))
def test_a_draw_depends_on_the_rows_of_the_class_before_it(codes, stretch, seed, cut):
    codes = np.array(codes)
    whole = Draws(stretch, seed)(codes)
    parts = Draws(stretch, seed)
    assert np.array_equal(np.append(parts(codes[:cut]), parts(codes[cut:])), whole)
    assert np.array_equal(Draws(stretch, seed)(codes[: cut + 1]), whole[: cut + 1])


@given(CODES, st.sampled_from([0.1, 0.2, 0.25, 0.5, 0.9]), st.integers(0, 3))
def test_each_class_gives_its_share_and_keeps_its_first_row(codes, share, seed):
    codes = np.array(codes)
    held = HeldOut(share, seed)(codes)
    for code in np.unique(codes):
        own = held[codes == code]
        assert not own[0]
        assert abs(own.sum() - share * len(own)) <= 2.5


def test_another_seed_holds_out_other_rows():
    codes = np.zeros(200, int)
    first, second = (HeldOut(0.2, seed)(codes) for seed in (0, 1))
    assert 40 <= (first | second).sum() <= 80
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("share", [-0.1, 1.0, 0.95, 1e-6, float("nan")])
def test_a_share_that_is_none(share):
    with pytest.raises(InvalidInput, match="--test"):
        HeldOut(share, 0)


def a_batch():
    numbers = np.array([1.0, np.nan, -0.0, 4.0])
    strings = Strings.of(["a", None, "été", ""])[0:4]
    sparse = Csr(np.array([0, 1, 1, 3, 4]), np.array([2, 0, 1, 5]), np.array([1.0, 2, 3, 4]), 6)
    return Batch({"n": numbers, "s": strings, "x": sparse}, 10)


def rows_of(batch):
    sparse = batch.columns["x"]
    entries = [
        list(zip(sparse.indices[a:b].tolist(), sparse.values[a:b].tolist(), strict=True))
        for a, b in zip(sparse.indptr[:-1], sparse.indptr[1:], strict=True)
    ]
    numbers = [None if value != value else value for value in batch.columns["n"].tolist()]
    return list(zip(numbers, batch.columns["s"].tolist(), entries, strict=True))


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_some_rows_of_a_batch(kept):
    batch, kept = a_batch(), np.array(kept)
    expected = [row for row, stays in zip(rows_of(batch), kept, strict=True) if stays]
    assert rows_of(selected(batch, kept)) == expected


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_batches_cut_and_joined_are_the_batch(cut):
    batch = a_batch()
    parts = [
        Batch({name: column[part] for name, column in batch.columns.items()})
        for part in (slice(0, cut), slice(cut, 4))
    ]
    assert rows_of(joined(parts)) == rows_of(batch)
    assert sum(map(size, parts)) >= size(batch)


def test_equal_rows_have_equal_fingerprints_and_others_have_not():
    batch = a_batch()
    twice = joined([batch, batch])
    bits = of_rows(twice, ["n", "s", "x"])
    assert np.array_equal(bits[:4], bits[4:])
    assert len(np.unique(bits)) == 4
    assert of_column(np.array([0.0]))[0] == of_column(np.array([-0.0]))[0]
    missing, empty = of_column(Strings.of([None, ""]))
    assert missing != empty


def test_rows_to_judge_by_are_thinned_out_evenly():
    held = Held(room=800)
    for first in range(0, 1000, 70):
        rows = np.arange(first, min(first + 70, 1000))
        held.add(Batch({"x": rows.astype(float)}), [f"c{row}" for row in rows], rows)
    assert held.met == 1000
    assert 50 <= len(held) <= 100
    assert len(set(np.diff(held.rows))) == 1
    assert held.labels.tolist() == [f"c{row}" for row in held.rows]
    assert held.batch.columns["x"].tolist() == held.rows.tolist()
