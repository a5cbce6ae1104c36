"""Arrays in files: views that read nothing, and memory with a bound."""

import errno

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.engines import Stamp
from argmax.engines.columns import columns_on_disk
from argmax.engines.files import OnDisk, Scratch
from argmax.engines.slots import Slots
from argmax.errors import BadFile, ResourceLimit
from argmax.layouts import as_matrix
from tests.laws.problems import make_rows

TABLE = np.arange(60.0).reshape(20, 3)
PLACES = st.one_of(st.none(), st.integers(-25, 25))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "table.npy"
    np.save(path, TABLE)
    return OnDisk.open(path)


@given(start=PLACES, stop=PLACES, step=st.integers(1, 7), again=PLACES)
def test_slices_are_those_of_numpy(table, start, stop, step, again):
    view, expected = table[start:stop:step], TABLE[start:stop:step]
    assert view.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(view), expected)
    np.testing.assert_array_equal(np.asarray(view[again:]), expected[again:])


def test_one_row_and_one_number(table):
    np.testing.assert_array_equal(table[-1], TABLE[-1])
    assert table[3][2] == TABLE[3, 2]
    with pytest.raises(IndexError):
        table[20]


@pytest.mark.parametrize(
    "content", [b"", b"\x93NUMPY", b"PK\x03\x04", b"\x93NUMPY\x01\x00\x06\x00{}    "]
)
def test_what_is_no_array_is_refused(content, tmp_path):
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(BadFile):
        OnDisk.open(tmp_path / "x.npy")


def test_objects_and_fortran_order_are_refused(tmp_path):
    np.save(tmp_path / "o.npy", np.array([None]), allow_pickle=True)
    np.save(tmp_path / "f.npy", np.asfortranarray(TABLE))
    for name in ("o.npy", "f.npy"):
        with pytest.raises(BadFile):
            OnDisk.open(tmp_path / name)


def test_a_scratch_keeps_to_its_budget(tmp_path):
    scratch = Scratch(tmp_path, budget=200)
    arrays = {str(i): np.full(10, float(i)) for i in range(6)}  # 80 bytes each
    parked = {name: scratch.park(name, array) for name, array in arrays.items()}
    assert [isinstance(place, np.ndarray) for place in parked.values()] == [True] * 2 + [False] * 4
    for name, array in arrays.items():
        np.testing.assert_array_equal(scratch.fetch(parked[name]), array)
    scratch.forget("0")
    assert isinstance(scratch.park("7", np.zeros(10)), np.ndarray)


def test_a_place_in_the_file_is_used_again():
    scratch = Scratch(budget=0)
    first = scratch.park("a", np.zeros(10))
    assert scratch.park("a", np.ones(10)).offset == first.offset
    assert scratch.park("b", np.ones(10)).offset != first.offset
    np.testing.assert_array_equal(scratch.fetch(first[2:4]), np.ones(2))


def test_a_full_disk_says_what_to_do(monkeypatch):
    class Full:
        def seek(self, place):
            raise OSError(errno.ENOSPC, "No space left on device")

    scratch = Scratch(budget=0)
    monkeypatch.setattr(scratch, "_open", Full)
    with pytest.raises(ResourceLimit, match="scratch= another folder"):
        scratch.park("a", np.zeros(10))


def test_a_folder_that_cannot_be_written_gives_way_to_the_systems(tmp_path):
    scratch = Scratch(tmp_path / "not there", budget=0)
    np.testing.assert_array_equal(scratch.fetch(scratch.park("a", np.ones(3))), np.ones(3))


@pytest.mark.parametrize("budget", [0, 2**20])
def test_slots_rest_and_come_back(budget):
    slots, here, there = Slots(Scratch(budget=budget)), Stamp(np.zeros(1)), Stamp(np.zeros(1))
    slots.keep("node", here, (3,))[:] = 1.0
    slots.zeros("residual", (3,))[:] = 2.0
    slots.rest()
    assert slots.kept("node", there) is None
    np.testing.assert_array_equal(slots.kept("node", here), np.ones(3))
    slots.keep("node", there, (3,))[:] += 1.0  # the same memory, under another name
    slots.rest()
    assert slots.kept("node", here) is None
    np.testing.assert_array_equal(slots.kept("node", there), np.full(3, 2.0))
    np.testing.assert_array_equal(slots.zeros("residual", (3,)), np.zeros(3))  # not worth keeping
    slots.drop("node", here)
    assert slots.kept("node", there) is not None
    slots.drop("node", there)
    assert slots.kept("node", there) is None


@pytest.mark.parametrize("entries", [1, 40, 10**6])
def test_columns_in_a_file_are_those_in_memory(entries, monkeypatch):
    monkeypatch.setattr("argmax.engines.columns.ENTRIES", entries)
    rows, scratch = make_rows("csr", np.random.default_rng(0), 50, 9), Scratch(budget=0)

    def blocks():
        for first in range(0, 50, 20):
            yield first, rows[first : first + 20]

    found, expected = columns_on_disk(_rebased(blocks), rows, scratch, "x"), as_matrix(rows).tocsc()
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(scratch.fetch(found.indices), expected.indices)
    np.testing.assert_array_equal(scratch.fetch(found.values), expected.data)


def _rebased(blocks):
    """Blocks as files give them: with nothing of the others in them."""
    from argmax.checks import compressed

    return lambda: ((first, compressed(as_matrix(rows))) for first, rows in blocks())
