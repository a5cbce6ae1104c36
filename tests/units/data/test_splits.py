"""Rows to learn from and rows to test on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.data import open_table, samples, split
from argmax.errors import InvalidInput, WrongType
from tests.units.data.tables import table


@given(st.integers(1, 700), st.sampled_from([0.2, 0.25, 1 / 3, 0.005]), st.integers(0, 5))
def test_every_row_is_on_one_side(n, share, seed):
    train, test = split(n, share, seed)
    assert sorted([*train.tolist(), *test.tolist()]) == list(range(n))
    more, _ = split(n + 50, share, seed)
    assert more[more < n].tolist() == train.tolist()


def test_the_share_is_kept_in_every_stretch_of_rows():
    _, test = split(1000, test=0.2)
    assert np.bincount(test // 100).tolist() == [20] * 10
    _, test = split(100_000, test=0.125)
    assert len(test) == pytest.approx(12_500, abs=60)


def test_seeds_differ_and_repeat():
    first, again, other = (split(500, seed=seed)[1].tolist() for seed in (3, 3, 4))
    assert first == again != other


def test_rows_are_chosen_evenly():
    counts = np.zeros(100)
    for seed in range(400):
        counts[split(100, test=0.3, seed=seed)[1]] += 1
    assert counts.min() > 70
    assert counts.max() < 175


@pytest.mark.parametrize("rows", [7, 10_000])
def test_the_parts_of_a_source_are_the_rows_by_number(tmp_path, rows):
    path = tmp_path / "tickets.jsonl"
    samples.write_tickets(path, n=330)
    source = open_table(path)
    whole = table(source.batches())
    for part, numbers in zip(split(source, 0.3, 5), split(330, 0.3, 5), strict=True):
        found = list(part.batches(rows=rows))
        assert table(found) == {
            name: [column[i] for i in numbers] for name, column in whole.items()
        }
        assert [batch.first for batch in found] == np.cumsum([0, *map(len, found)])[:-1].tolist()
        assert part.kinds == source.kinds
        assert part.columns == source.columns


def test_sparse_rows_are_split_too(tmp_path):
    path = tmp_path / "rows"
    path.write_text("".join(f"{i} 1:{i} {i + 2}:1\n" for i in range(250)))
    for part, numbers in zip(split(open_table(path)), split(250), strict=True):
        features = [batch.columns["features"] for batch in part.batches(rows=60)]
        assert [value for rows in features for value in rows.values[::2]] == numbers.tolist()
        assert [j for rows in features for j in rows.indices[1::2]] == (numbers + 2).tolist()


@pytest.mark.parametrize("wrong", [{"test": 0}, {"test": 1}, {"test": 1.5}, {"seed": -1}])
def test_shares_and_seeds_that_make_no_sense(wrong):
    with pytest.raises(InvalidInput):
        split(100, **wrong)


def test_rows_are_a_number_or_a_source():
    with pytest.raises(WrongType):
        split("tickets.csv")
