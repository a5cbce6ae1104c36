"""Parquet files, written by pyarrow."""

import datetime
import decimal

import numpy as np
import pytest

from argmax.data import Limits, open_table
from argmax.errors import BadFile, InvalidInput, ResourceLimit
from tests.units.data.tables import table

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 50


@pytest.fixture
def write(tmp_path):
    def write(columns, **options):
        path = tmp_path / "table.parquet"
        parquet.write_table(pa.table(columns), path, **options)
        return path

    return write


WAYS = [
    {},
    {"compression": "none", "use_dictionary": False},
    {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 7},
    {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}},
    {"use_dictionary": False, "column_encoding": {"text": "DELTA_LENGTH_BYTE_ARRAY"}},
    {"data_page_size": 64, "dictionary_pagesize_limit": 64},
]


@pytest.mark.parametrize("way", WAYS, ids=range(len(WAYS)))
def test_what_arrow_writes_is_read_back(write, way):
    text = [None if i % 11 == 5 else f"words é {i % 17}" for i in range(N)]
    size = [None if i % 7 == 3 else i * 1.5 - 20 for i in range(N)]
    source = open_table(write({"size": size, "text": text}, **way))
    assert source.format == "parquet"
    assert table(source.batches(rows=20)) == {"size": size, "text": text}
    assert source.missing == {"size": size.count(None), "text": text.count(None)}
    assert [batch.first for batch in source.batches(rows=20)][:2] == [0, 7 if len(way) == 3 else 20]


COLUMNS = {
    "whole": (pa.array(range(N, 0, -1)), "number", float(N), str(N)),
    "decimal": (
        pa.array([decimal.Decimal(i * 7 % 11) / 4 for i in range(1, N + 1)], pa.decimal128(9, 2)),
        "number", 1.75, "1.75",
    ),
    "flag": (pa.array([i % 2 == 0 for i in range(N)]), "category", "true", "true"),
    "day": (
        pa.array([datetime.date(2020, 1, 1 + i % 9) for i in range(N)]),
        "category", "2020-01-01", "2020-01-01",
    ),
    "coded": (
        pa.array(["ab"[i % 2] for i in range(N)]).dictionary_encode(), "category", "a", "a",
    ),
    "bytes": (pa.array([b"xy"[i % 2 :] for i in range(N)]), "category", "xy", "xy"),
    "digits": (pa.array([str(i % 5) for i in range(N)]), "number", 0.0, "0"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_types(write, name):
    column, kind, value, string = COLUMNS[name]
    source = open_table(write({name: column}))
    assert source.kinds == {name: kind}
    assert table(source.batches())[name][0] == value
    assert table(source.batches(strings=[name]))[name][0] == string


def test_missing_words_count_in_strings_and_nan_in_numbers(write):
    path = write({"city": ["Oslo", " NA ", "", None] * 5, "x": [1.0, np.nan, None, 2.0] * 5})
    source = open_table(path)
    found = table(source.batches())
    assert found["city"][:4] == ["Oslo", None, None, None]
    assert found["x"][:4] == [1.0, None, None, 2.0]
    assert source.missing == {"city": 15, "x": 10}
    assert table(source.batches(strings=["x"]))["x"][:4] == ["1", None, None, "2"]


def test_lists_and_structs_are_ignored(write):
    path = write({"tags": [[1]] * N, "pair": [{"a": 1}] * N, "x": np.arange(N)[::-1].astype(float)})
    source = open_table(path)
    assert source.kinds == {"tags": "ignore", "pair": "ignore", "x": "number"}
    assert list(table(source.batches())) == ["x"]
    with pytest.raises(BadFile, match="lists or objects"):
        list(source.batches(["tags"]))
    with pytest.raises(InvalidInput, match="must be 'ignore'"):
        open_table(path, kinds={"tags": "text"})


def test_an_infinite_number_is_named_by_its_row(write):
    path = write({"x": [1.0, 2.0, np.inf, 4.0]})
    with pytest.raises(BadFile, match="column 'x': row 3: 'inf'"):
        list(open_table(path).batches())
    assert table(open_table(path).batches(strings=["x"]))["x"][2] == "inf"


def test_bytes_that_are_no_text(write):
    path = write({"x": [1.0, 5.0, 2.0], "raw": [b"\xff", b"a", b"b"]})
    with pytest.raises(BadFile, match=r"kinds=\{'raw': 'ignore'\}"):
        open_table(path)
    assert list(table(open_table(path, kinds={"raw": "ignore"}).batches())) == ["x"]


@pytest.mark.parametrize("cut", [6, 100, -1, -8, -20])
def test_cut_off(write, cut):
    path = write({"x": [1.0, 5.0, 2.0], "y": ["a", "b", "c"]})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(BadFile, match="damaged or cut off"):
        open_table(path)


def test_options_for_text_are_refused(write):
    path = write({"x": [1.0, 5.0]})
    with pytest.raises(InvalidInput, match="encoding"):
        open_table(path, encoding="latin-1")
    with pytest.raises(BadFile, match="format='csv' does not fit"):
        open_table(path, format="csv")


def test_long_values_that_repeat_are_not_written_out_all_at_once(write):
    value = "x" * 3_000_000
    coded = pa.DictionaryArray.from_arrays(np.zeros(100, np.int32), [value])
    source = open_table(write({"a": coded, "b": [f"k{i % 3}" for i in range(100)]}))
    sizes = [len(batch) for batch in source.batches()]
    assert sum(sizes) == 100
    assert max(sizes) <= 5
    with pytest.raises(ResourceLimit, match=r"limits=Limits\(field_bytes="):
        list(open_table(source.path, limits=Limits(field_bytes=2**20)).batches())


def test_pages_that_claim_too_much_are_refused_before_arrow_sees_them(write):
    path = write(
        {"a": ["x" * 60_000_000]}, compression="zstd", use_dictionary=False, write_statistics=False
    )
    assert path.stat().st_size < 20_000
    before = pa.default_memory_pool().bytes_allocated()
    with pytest.raises(ResourceLimit, match=r"limits=Limits\(ratio="):
        open_table(path)
    assert pa.default_memory_pool().bytes_allocated() == before
