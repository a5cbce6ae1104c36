"""Files, pipes and standard input."""

import io
import os
import pickle
import sys
import tempfile
import threading
from types import SimpleNamespace

import pytest

from argmax.data import Limits, open_table
from argmax.errors import BadFile, MissingExtra, ResourceLimit, Unsupported, WrongType
from tests.units.data.tables import table

CONTENT = b"city,size\n" + b"Oslo,1\nRome,2\nBern,2.5\n" * 400


@pytest.fixture
def stdin(monkeypatch, tmp_path):
    """stdin(bytes): standard input holds these; temporary files go to a folder of their own."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def fill(content):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        return tmp_path

    return fill


def test_standard_input_is_copied_and_read_again(stdin):
    folder = stdin(CONTENT)
    source = open_table("-")
    assert source.path == "standard input"
    assert source.bytes == len(CONTENT)
    first = table(source.batches())
    assert table(source.batches(rows=10)) == first
    assert len(first["city"]) == 1200
    assert len(list(folder.iterdir())) == 1
    del source
    assert list(folder.iterdir()) == []


def test_standard_input_can_be_read_once_as_it_comes(stdin):
    folder = stdin(CONTENT)
    source = open_table("-", once=True, sample_rows=5)
    assert (source.bytes, source.digest) == (None, None)
    assert len(table(source.batches())["city"]) == 1200
    assert list(folder.iterdir()) == []
    with pytest.raises(Unsupported, match="once=True"):
        next(source.batches())


def test_parquet_from_standard_input_needs_a_copy(stdin):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"x": [1.5, 2.5, 0.5]}), buffer)
    stdin(buffer.getvalue())
    assert table(open_table("-", once=True).batches()) == {"x": [1.5, 2.5, 0.5]}


def test_a_copy_has_a_limit_and_leaves_nothing_behind(stdin):
    folder = stdin(CONTENT)
    with pytest.raises(ResourceLimit, match=r"limits=Limits\(spool_bytes="):
        open_table("-", limits=Limits(spool_bytes=100))
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_said_to_be_full(stdin, monkeypatch):
    folder = stdin(CONTENT)

    make = tempfile.NamedTemporaryFile

    def full(*_):
        raise OSError(28, "No space left on device")

    def on_a_full_disk(**options):
        file = make(**options)
        file.write = full
        return file

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", on_a_full_disk)
    with pytest.raises(ResourceLimit, match=r"No space left on device.*TMPDIR"):
        open_table("-")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe(tmp_path, once):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(CONTENT,))
    writer.start()
    source = open_table(path, once=once)
    assert len(table(source.batches())["city"]) == 1200
    writer.join()


@pytest.mark.parametrize(
    ("first", "lines"),
    [
        (b"city,size\n", [b"Oslo,1\n", b'"R\nome",2\n', b"Bern,2.5\n"]),
        (b"", [b'{"city": "Oslo", "size": 1}\n', b'{"city": "R\\nome", "size": 2}\n']),
    ],
    ids=["csv", "jsonl"],
)
def test_a_pipe_gives_each_row_as_soon_as_it_is_there(first, lines, monkeypatch):
    out, into = os.pipe()
    with os.fdopen(out, "rb") as buffer:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
        os.write(into, first + lines[0])
        batches = open_table("-", once=True, sample_rows=1).batches(["city"], numbers=["size"])
        assert next(batches).columns["city"].tolist() == ["Oslo"]  # and nothing more is written yet
        for line in lines[1:]:
            os.write(into, line)
            assert len(next(batches)) == 1
        os.close(into)
        assert list(batches) == []


@pytest.mark.parametrize("name", ["nowhere.csv", "no\0where"])
def test_no_such_file(tmp_path, name):
    with pytest.raises(BadFile, match="cannot be read"):
        open_table(os.path.join(tmp_path, name))


def test_a_folder(tmp_path):
    with pytest.raises(BadFile, match="this is a folder"):
        open_table(tmp_path)


@pytest.mark.parametrize("path", [None, 3, ["table.csv"]])
def test_a_path_is_a_name(path):
    with pytest.raises(WrongType, match="path must be the name of a file"):
        open_table(path)


def test_a_source_of_a_file_travels_between_processes(tmp_path):
    path = tmp_path / "table"
    path.write_bytes(CONTENT)
    source = open_table(path)
    again = pickle.loads(pickle.dumps(source))
    assert table(again.batches()) == table(source.batches())


@pytest.mark.parametrize("content", [b"PAR1 and so on", b"\x28\xb5\x2f\xfd and so on"])
def test_a_package_that_is_not_there_is_named_with_the_way_to_get_it(
    tmp_path, monkeypatch, content
):
    path = tmp_path / "table"
    path.write_bytes(content)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r'pip install "argmax\[io\]"'):
        open_table(path)
