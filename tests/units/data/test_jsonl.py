"""JSON lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.data import Limits, blocks, open_table
from argmax.errors import BadFile, ResourceLimit
from tests.units.data.tables import table

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
VALUES = st.one_of(
    TEXT, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False).map(abs)
)


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1), min_size=1, max_size=8),
    st.integers(1, 40),
    st.booleans(),
)
def test_what_json_writes_is_read_back_whatever_the_blocks(tmp_path_factory, rows, size, ascii):
    path = tmp_path_factory.mktemp("jsonl") / "table"
    rows = [{key: value for key, value in row.items() if value != float("inf")} for row in rows]
    rows.append({"a": "x", "b": "y", "c": "z"})
    lines = [json.dumps(row, ensure_ascii=ascii) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    source = open_table(path, missing=(), kinds=dict.fromkeys("abc", "text"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        found = table(source.batches(rows=3))
    for name in "abc":
        values = [row.get(name) for row in rows]
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        assert found[name] == [None if v is None else t for v, t in zip(values, texts, strict=True)]


def test_numbers_keep_their_characters_as_labels(file):
    path = file('{"y": 1, "x": 1}\n{"y": 1.0, "x": 2.50}\n{"y": "01", "x": null}\n{"x": 1e2}\n')
    source = open_table(path)
    assert source.kinds == {"y": "number", "x": "number"}
    assert table(source.batches(["x"], strings=["y"])) == {
        "x": [1.0, 2.5, None, 100.0],
        "y": ["1", "1.0", "01", None],
    }
    assert table(source.batches())["y"] == [1.0, 1.0, 1.0, None]


def test_true_and_false_are_words(file):
    source = open_table(file('{"a": true}\n{"a": false}\n{"a": true}\n{"a": null}\n'))
    assert source.kinds == {"a": "category"}
    assert table(source.batches()) == {"a": ["true", "false", "true", None]}


def test_a_column_of_lists_is_ignored_and_said_to_be(file):
    line = '{"tags": [1, {"a": 2}], "more": {"x": 1}, "text": "some words"}\n'
    source = open_table(file(line + line.replace("some", "other")))
    assert source.kinds == {"tags": "ignore", "more": "ignore", "text": "text"}
    assert list(table(source.batches())) == ["text"]
    with pytest.raises(BadFile, match="a list or an object") as caught:
        list(source.batches(["tags"]))
    assert (caught.value.line, caught.value.column) == (1, "tags")


def test_a_key_that_comes_late(file):
    path = file('{"a": "x"}\n{"a": "y"}\n{"a": "z", "b": 1}\n')
    source = open_table(path, sample_rows=2)
    with pytest.raises(BadFile, match="sample_rows=3") as caught:
        list(source.batches())
    assert (caught.value.line, caught.value.column) == (3, "b")
    assert table(source.batches(["a"])) == {"a": ["x", "y", "z"]}
    assert list(open_table(path, sample_rows=3).kinds) == ["a", "b"]


def test_order_of_keys_does_not_matter(file):
    source = open_table(file('{"a": "x", "b": 1}\n{"b": 2, "a": "y"}\n{"a": "x", "b": 3}\n'))
    assert table(source.batches()) == {"a": ["x", "y", "x"], "b": [1.0, 2.0, 3.0]}


GOOD = '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'


@pytest.mark.parametrize(
    ("line", "column", "says"),
    [
        ("[1, 2]", None, "holds an array, not an object"),
        ('"word"', None, "holds a string"),
        ("17", None, "holds a bare value"),
        ('{"a": 1, "a": 2}', "a", "the key 'a' appears twice"),
        ('{"a": NaN}', None, "NaN is not JSON"),
        ('{"a": -Infinity}', None, "-Infinity is not JSON"),
        ('{"a": 1} {"a": 2}', 9, "the line goes on"),
        ("{'a': 1}", 2, "double quotes"),
        ('{"a": 01}', 8, "expecting ',' delimiter"),
        ('{"a": "x\ty"}', 9, "invalid control character"),
        ('{"b": "\\ud800"}', "b", "surrogate"),
        ('{"b": ["x"]}', "b", "a list or an object"),
        ('{"a": ' + "9" * 400 + "}", "a", "is not a finite number"),
        ('{"a": ' + "9" * 5000 + "}", "a", "is not a finite number"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", None, "nested too deeply"),
        ('{"b": "cut o', 7, "may be cut off"),
        ('{"a": 1,', 9, "may be cut off"),
    ],
)
def test_malformed(file, line, column, says):
    with pytest.raises(BadFile) as caught:
        list(open_table(file(GOOD + line), kinds={"a": "number"}).batches())
    assert says in str(caught.value)
    assert (caught.value.line, caught.value.column) == (3, column)


def test_an_object_over_several_lines(file):
    with pytest.raises(BadFile, match="Write each object on one line"):
        open_table(file('{\n  "a": 1\n}\n'))


@pytest.mark.parametrize("content", ["{}\n{}\n", "\n\n"])
def test_nothing_to_read(file, content):
    with pytest.raises(BadFile, match="empty"):
        open_table(file(content), format="jsonl")


def test_too_many_keys(file):
    content = "".join(json.dumps({f"k{i}": 1}) + "\n" for i in range(12))
    with pytest.raises(ResourceLimit, match=r"line 11.*limits=Limits\(columns="):
        open_table(file(content), limits=Limits(columns=10))
