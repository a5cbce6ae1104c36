"""Sources: kinds, batches, and one table in every format."""

import bz2
import csv
import gzip
import hashlib
import json
import lzma

import numpy as np
import pytest

from argmax.data import Limits, blocks, columns, open_table, samples
from argmax.errors import BadFile, InvalidInput, ResourceLimit, WrongType
from argmax.records import Strings
from tests.units.data.tables import table


@pytest.fixture
def tickets(tmp_path):
    path = tmp_path / "tickets.csv"
    samples.write_tickets(path, n=120)
    return path


def as_tsv(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, "excel-tab").writerows([rows[0].keys(), *(row.values() for row in rows)])


def as_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def as_parquet(path, rows):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(rows), path)


@pytest.mark.parametrize("write", [as_tsv, as_jsonl, as_parquet])
def test_the_same_table_in_every_format(tickets, tmp_path, write):
    with tickets.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    write(tmp_path / "other", rows)
    first, other = open_table(tickets), open_table(tmp_path / "other")
    assert other.format == write.__name__.removeprefix("as_")
    assert other.kinds == first.kinds
    assert table(other.batches()) == table(first.batches())
    assert table(other.batches(strings=["opened"])) == table(first.batches(strings=["opened"]))
    assert other.missing == first.missing
    assert [(c.name, c.sampled, c.missing, c.distinct) for c in other.columns] == [
        (c.name, c.sampled, c.missing, c.distinct) for c in first.columns
    ]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, "zstd"])
@pytest.mark.parametrize("parts", [1, 2])
def test_compressed_files_are_read_as_they_are(tickets, tmp_path, pack, parts):
    if pack == "zstd":
        pa = pytest.importorskip("pyarrow")
        pack = lambda data: pa.compress(data, codec="zstd", asbytes=True)  # noqa: E731
    content = tickets.read_bytes()
    half = len(content) // 2 if parts == 2 else len(content)
    path = tmp_path / "packed"
    path.write_bytes(b"".join(pack(part) for part in (content[:half], content[half:]) if part))
    assert table(open_table(path).batches()) == table(open_table(tickets).batches())


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_bytes_behind_a_compressed_stream_are_refused(tickets, tmp_path, pack):
    path = tmp_path / "packed"
    path.write_bytes(pack(tickets.read_bytes()) + bytes(512))  # zeros that fill a block
    assert table(open_table(path).batches()) == table(open_table(tickets).batches())
    path.write_bytes(pack(tickets.read_bytes()) + b"more rows, perhaps")
    with pytest.raises(BadFile, match="data are damaged"):
        list(open_table(path).batches())


def test_a_source_can_be_read_again_and_halfway(tickets):
    source = open_table(tickets)
    whole = table(source.batches())
    next(source.batches(rows=10))
    assert table(source.batches(rows=7)) == whole
    batches = list(source.batches(rows=50))
    assert [(batch.first, len(batch)) for batch in batches] == [(0, 50), (50, 50), (100, 20)]
    assert source.rows == 120


def test_what_is_counted_grows_while_reading(tickets):
    source = open_table(tickets)
    assert (source.rows, source.missing) == (0, {})
    reading = source.batches(["waiting_minutes"], rows=50)
    first = next(reading)
    assert source.missing == {
        "waiting_minutes": int(np.isnan(first.columns["waiting_minutes"]).sum())
    }
    assert source.rows == 50
    list(reading)
    assert source.missing["waiting_minutes"] == table(source.batches())["waiting_minutes"].count(
        None
    )


def test_strings_come_with_the_characters_of_the_file(file):
    source = open_table(file("x,y\n1,1\n1.0,2\n01,1\n, 2\n"))
    assert source.kinds == {"x": "number", "y": "number"}
    batch = next(source.batches(strings=["x"]))
    assert batch.columns["x"].tolist() == ["1", "1.0", "01", None]
    assert isinstance(batch.columns["y"], np.ndarray)
    assert list(next(source.batches(["y"], strings=("x",))).columns) == ["y", "x"]
    assert list(next(source.batches("x", strings="x")).columns) == ["x"]


def test_kinds_are_inferred_and_overridden(tickets):
    assert open_table(tickets).kinds == {
        "id": "id",
        "opened": "number",
        "channel": "category",
        "customer_tier": "category",
        "waiting_minutes": "number",
        "text": "text",
        "team": "category",
    }
    source = open_table(tickets, kinds={"opened": "category", "text": "ignore"})
    assert (source.kinds["opened"], source.kinds["text"]) == ("category", "ignore")
    assert [column.given for column in source.columns].count(True) == 2
    batch = next(source.batches())
    assert isinstance(batch.columns["opened"], Strings)
    assert "text" not in batch.columns
    assert isinstance(next(source.batches(["text"])).columns["text"], Strings)


def test_a_column_says_what_was_found(file):
    path = file("city,n\nOslo,1\nRome,2\n,3\nOslo,NA\nBonn,1\nParis,1\n")
    city, n = open_table(path).columns
    assert (city.sampled, city.missing, city.distinct) == (6, 1, 4)
    assert city.examples == ("Oslo", "Rome", "Bonn")
    assert (n.kind, n.missing, n.distinct, n.examples) == ("number", 1, 3, ("1", "2", "3"))


def test_what_is_constant_in_the_first_rows_of_many_is_not_ignored(file):
    path = file("a,b,c\n" + "x,1,\n" * 30 + "y,2,z\n")
    assert open_table(path, sample_rows=20).kinds == {"a": "category", "b": "number", "c": "ignore"}
    assert open_table(file("a,b\n" + "x,1\n" * 30)).kinds == {"a": "ignore", "b": "ignore"}


def test_the_sample_is_as_large_as_asked_for(file, monkeypatch):
    path = file("a,b\n" + "".join(f"word {i},{i % 7}\n" for i in range(5000)))
    monkeypatch.setattr(columns, "PIECE", 100)
    assert open_table(path, sample_rows=250).columns[0].sampled == 250
    assert open_table(path).columns[0].sampled == 5000


def test_batches_do_not_grow_beyond_a_block(file, monkeypatch):
    path = file("a,b\n" + "word,1\n" * 3000)
    monkeypatch.setattr(blocks, "BLOCK", 700)
    sizes = [len(batch) for batch in open_table(path).batches(["a"])]
    assert sum(sizes) == 3000
    assert max(sizes) <= 2 * 700 // 7 + 1


def test_size_and_digest_are_those_of_the_file(tickets):
    source = open_table(tickets)
    assert source.bytes == tickets.stat().st_size
    assert source.digest == hashlib.sha256(tickets.read_bytes()).hexdigest()
    assert repr(source).startswith("<Source ")
    assert source.delimiter == ","


def test_a_file_that_changes_is_noticed(tickets):
    source = open_table(tickets)
    tickets.write_bytes(tickets.read_bytes() + b"more")
    with pytest.raises(BadFile, match="has changed since it was opened"):
        next(source.batches())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kinds": {"txt": "text"}}, "Did you mean 'text'"),
        ({"kinds": {"zzzz": "text"}}, "The columns are 'id', 'opened'"),
        ({"kinds": {"text": "words"}}, "must be one of 'number'"),
        ({"format": "xlsx"}, "must be one of 'csv'"),
        ({"delimiter": "::"}, "one character"),
        ({"delimiter": '"'}, "one character"),
        ({"delimiter": "\ud800"}, "one character"),
        ({"format": "jsonl", "delimiter": ","}, "do not go together"),
        ({"format": "tsv", "delimiter": ","}, "do not go together"),
        ({"encoding": "utf-99"}, "text encoding"),
        ({"encoding": "hex"}, "text encoding"),
        ({"encoding": "undefined"}, "text encoding"),
        ({"sample_rows": 0}, "at least 1"),
        ({"missing": (" NA",)}, "with spaces around it"),
    ],
)
def test_options_that_make_no_sense(tickets, options, says):
    with pytest.raises(InvalidInput, match=says):
        open_table(tickets, **options)


@pytest.mark.parametrize("missing", ["NA", (1,)])
def test_missing_is_a_list_of_strings(tickets, missing):
    with pytest.raises(WrongType, match="list of strings"):
        open_table(tickets, missing=missing)


@pytest.mark.parametrize(
    "asked", [{"columns": ["txt"]}, {"strings": ["txt"]}, {"columns": []}, {"rows": 0}]
)
def test_columns_that_are_not_there(tickets, asked):
    with pytest.raises(InvalidInput):
        open_table(tickets).batches(**asked)


def test_limits_are_numbers_from_1():
    with pytest.raises(InvalidInput, match=r"limits\.ratio"):
        Limits(ratio=0)
    for wrong in ("many", 2.5):
        with pytest.raises(WrongType, match=r"limits\.columns"):
            Limits(columns=wrong)


def test_kinds_are_a_dict(tickets):
    with pytest.raises(WrongType, match="kinds must be a dict"):
        open_table(tickets, kinds=["text"])


def test_a_file_that_unpacks_to_much_more_than_it_is(tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(
        gzip.compress(b"a,b\n") + gzip.compress((b"word " * 200 + b",2\n") * 1000) * 40
    )
    with pytest.raises(ResourceLimit, match=r"gzip.*limits=Limits\(ratio="):
        list(open_table(path).batches())
    assert len(next(open_table(path, limits=Limits(ratio=2000)).batches())) > 100
