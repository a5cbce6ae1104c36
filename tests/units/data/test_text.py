"""Bytes to text: encodings, marks, and what a file is."""

import gzip
import lzma
import pickle

import numpy as np
import pytest

from argmax.data import open_table
from argmax.data.recognise import recognise
from argmax.errors import BadFile
from tests.units.data.tables import table

CONTENT = "city,size\nZürich,1\nŁódź,2\nZürich,2\n"


@pytest.mark.parametrize(
    ("stored", "option"),
    [("utf-8", None), ("utf-8", "UTF8"), ("utf-8-sig", None), ("utf-16", "utf-16"),
     ("utf-16-le", "utf-16-le"), ("utf-32", "utf-32"), ("iso8859-2", "iso8859-2"), ("utf-7", "utf-7")],
)  # fmt: skip
def test_encodings(file, stored, option):
    source = open_table(file(CONTENT.encode(stored)), encoding=option)
    assert table(source.batches()) == {
        "city": ["Zürich", "Łódź", "Zürich"],
        "size": [1.0, 2.0, 2.0],
    }


@pytest.mark.parametrize(
    ("content", "line", "column", "says"),
    [
        (CONTENT.replace("Łódź", "Bern").encode("latin-1"), 2, 2, "encoding='latin-1'"),
        ("a,b\n1,“x”\n".encode("cp1252"), 2, 3, "In cp1252 it reads '1,“x”'"),
        (CONTENT.encode("utf-16"), 1, 1, "encoding='utf-16'"),
        (CONTENT.encode("utf-32"), 1, 1, "encoding='utf-32'"),
        (CONTENT.encode("utf-16-le"), 1, 2, "encoding='utf-16-le'"),
        (CONTENT.encode("utf-16-be"), 1, 1, "encoding='utf-16-be'"),
        (b"a,b\n1,2\n3,x\0y\n", 3, 4, "a NUL byte. The file is damaged"),
        (b"a,b\n1,2\n3,\xc3", 3, 3, "0xc3 is not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_named_with_what_it_may_be(file, content, line, column, says):
    with pytest.raises(BadFile) as caught:
        list(open_table(file(content), format="csv").batches())
    assert says in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(("encoding", "line"), [("ascii", 2), ("utf-16", 1)])
def test_a_wrong_encoding_is_an_error_with_its_line(file, encoding, line):
    with pytest.raises(BadFile, match=f"this is not {encoding}") as caught:
        open_table(file(CONTENT), encoding=encoding)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (pickle.dumps({"a": 1}), "a pickle"),
        (b"PK\x03\x04 workbook", "an Excel workbook"),
        (b"\xd0\xcf\x11\xe0 workbook", "an old Excel"),
        (b"\x93NUMPY\x01\x00", "a NumPy array"),
        (b"\x89PNG\r\n\x1a\n", "an image"),
        (b"\xff\xd8\xff\xe0", "an image"),
        (b"%PDF-1.7", "a PDF"),
        (b"\n <!DOCTYPE HTML><html>", "a web page"),
        (b"<html><body>", "a web page"),
        (b"<?xml version='1.0'?>", "an XML"),
        (b"ARROW1\0\0", "Feather"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
        (b'[{"a": 1}, {"a": 2}]', "a JSON array"),
        ((200).to_bytes(8, "little") + b'{"__metadata__"', "a safetensors file"),
        (b"\0" * 257 + b"ustar", "a tar archive"),
        (b"x\x9c\x01", "joblib"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_that_is_no_table_is_called_what_it_is(file, content, what, pack):
    with pytest.raises(BadFile, match="not a table") as caught:
        open_table(file(pack(content)))
    assert what in str(caught.value)


def test_a_real_npz_and_npy_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(3))
    np.savez(tmp_path / "x.npz", np.ones(3))
    for name in ("x.npy", "x.npz"):
        with pytest.raises(BadFile, match="not a table"):
            open_table(tmp_path / name)


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (b'{"a": 1}\n', "jsonl"),
        (b'\xef\xbb\xbf\n\n {"a": 1}', "jsonl"),
        (b"1 3:4 7:1\n0 2:1\n", "svmlight"),
        (b"# note\n\n+1 3:4\n", "svmlight"),
        (b"time 12:30\nday 1\n", "csv"),
        (b"a\tb\n1\t2\n", "tsv"),
        (b"a,b\n", "csv"),
        (b"PAR1\x15\x04", "parquet"),
        (b"just one word", "csv"),
    ],
)
def test_formats_are_recognised_by_content(head, format):
    assert recognise(head, "file", None, None).format == format


@pytest.mark.parametrize("cut", [1, 30, -1, -9])
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_compressed_files_that_are_cut_off(file, pack, cut):
    content = pack(CONTENT.encode() * 50)
    with pytest.raises(BadFile):
        list(
            open_table(
                file(content[:cut] if cut < 0 else content[: len(content) // 2 + cut])
            ).batches()
        )


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_compressed_files_with_something_behind(file, pack):
    with pytest.raises(BadFile, match=r"data (are damaged|end in the middle)"):
        list(open_table(file(pack(CONTENT.encode()) + b"something else entirely")).batches())
    padded = pack(CONTENT.encode()) + bytes(512)
    assert len(table(open_table(file(padded)).batches())["city"]) == 3
