"""Tables and sequences are told apart by content, and streams keep what they hold."""

import gzip
import io
import json

import pytest

from argmax.data import holds_sequences, open_conll, open_table
from argmax.errors import BadFile, InvalidInput

TAGGED = b"the DT\ncat NN\n\nso RB\n"
UNIVERSAL = b"# text = so\n1\tso\tso\tADV\tRB\t_\t0\troot\t_\t_\n\n"
TABLES = {
    "csv": b"text,team\nhello there,a\nbye,b\n",
    "csv with a blank line": b"text,team\nhello there,a\n\nbye now and then,b\n",
    "tsv": b"text\tteam\nhello\ta\nbye\tb\n",
    "jsonl": b'{"a": 1}\n\n{"a": 2}\n',
    "svmlight": b"1 1:0.5 2:1\n\n0 1:2 3:1\n",
    "one column": b"a\nb\n\nc\n",
}


@pytest.fixture
def put(tmp_path):
    def write(content):
        path = tmp_path / "file"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("content", [TAGGED, UNIVERSAL, TAGGED.replace(b"\n", b"\r\n")], ids=repr)
def test_sequences(put, content):
    assert holds_sequences(put(content))
    assert holds_sequences(put(gzip.compress(content)))
    assert holds_sequences(put(content.decode().encode("utf-16")), encoding="utf-16")


@pytest.mark.parametrize("name", TABLES)
def test_tables(put, name):
    assert not holds_sequences(put(TABLES[name]))
    assert holds_sequences(put(TABLES[name]), format="columns")


def test_what_cannot_be_read_is_left_to_the_reader(tmp_path):
    assert not holds_sequences(tmp_path)
    assert not holds_sequences(tmp_path / "none")
    assert not holds_sequences("a\0b")


def test_a_table_reader_says_what_the_file_is(put):
    with pytest.raises(BadFile, match=r"sequences of tokens .*open_conll"):
        open_table(put(TAGGED))
    assert open_table(put(TAGGED.replace(b" ", b"\t")), format="tsv").columns


def test_standard_input_keeps_what_was_looked_at(monkeypatch):
    for stream in (io.BytesIO(TAGGED), io.BufferedReader(io.BytesIO(TAGGED))):
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": stream}))
        assert holds_sequences("-")
        assert open_conll("-").read().sequences("word") == [["the", "cat"], ["so"]]


def test_lines_as_they_are_written(put):
    source = open_conll(
        put(b"# number one\r\na X\r\n\r\n\r\nb Y\r\n# an odd one\nc X"), strict=False
    )
    ((lines, places, tokens),) = source.written()
    assert lines == [b"# number one", b"a X", b"", b"", b"b Y", b"# an odd one", b"c X"]
    assert [lines[at] for at in places] == [b"a X", b"b Y", b"c X"]
    assert tokens.sequences("word") == [["a"], ["b", "c"]]


def test_other_names_for_the_columns(put):
    source = open_conll(put(TAGGED)).named(["form", "tag"])
    assert list(source.read().columns) == ["form", "tag"]
    with pytest.raises(InvalidInput, match="2 different names"):
        source.named(["a"])


def test_json_of_repairs_is_plain(put):
    from dataclasses import asdict

    source = open_conll(put(TAGGED))
    source.read()
    assert json.loads(json.dumps(asdict(source.repairs)))["tags"] == 0
