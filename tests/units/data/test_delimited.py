"""CSV and TSV files."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.data import Limits, blocks, open_table, readers
from argmax.data.delimited import best_delimiter
from argmax.errors import BadFile, ResourceLimit
from tests.units.data.tables import table

# What may be in a field: no NUL, and no half of a pair of surrogates.
FIELDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)


@st.composite
def rows(draw):
    width = draw(st.integers(2, 4))
    return draw(st.lists(st.lists(FIELDS, min_size=width, max_size=width), min_size=1, max_size=8))


def written(rows, delimiter=",", end="\n"):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow([f"c{i}" for i in range(len(rows[0]))])
    writer.writerows(rows)
    return buffer.getvalue()


@given(rows(), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.integers(1, 40))
def test_what_csv_writes_is_read_back_whatever_the_blocks(tmp_path_factory, rows, mark, end, size):
    path = tmp_path_factory.mktemp("csv") / "table"
    path.write_text(written(rows, mark, end), encoding="utf-8", newline="")
    names = [f"c{i}" for i in range(len(rows[0]))]
    source = open_table(path, delimiter=mark, missing=(), kinds=dict.fromkeys(names, "text"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        found = table(source.batches(rows=3))
    assert found == dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_numbers_and_missing_values(file):
    path = file("x,y\n1,a\n 2.5 ,NA\n,b\n1e3,a\n-.5,\n")
    source = open_table(path)
    assert source.kinds == {"x": "number", "y": "category"}
    assert table(source.batches()) == {
        "x": [1.0, 2.5, None, 1000.0, -0.5],
        "y": ["a", None, "b", "a", None],
    }
    assert source.missing == {"x": 1, "y": 2}
    assert source.rows == 5


@pytest.mark.parametrize("value", ["1_000", "٣", "0x10", "1,5", "inf", "-Infinity", "1e999", "1 2"])
def test_what_python_or_nobody_would_call_a_number_is_none(file, value):
    path = file(f'x,y\n1,a\n"{value}",b\n')
    with pytest.raises(BadFile, match="is not a finite number") as caught:
        list(open_table(path, kinds={"x": "number"}).batches())
    assert (caught.value.line, caught.value.column) == (3, "x")
    assert "kinds={'x': 'category'}" in str(caught.value)


def test_a_value_listed_as_missing_is_no_error(file):
    source = open_table(file("x,y\n1,a\n?,b\n2,a\n"), missing=("?",))
    assert table(source.batches())["x"] == [1.0, None, 2.0]


def test_an_error_counts_lines_not_rows(file):
    path = file('x,y\n1,"two\nlines"\n\n2,a\nsoon,b\n')
    with pytest.raises(BadFile) as caught:
        list(open_table(path, kinds={"x": "number"}).batches())
    assert caught.value.line == 6


def test_blank_lines_are_left_out(file):
    source = open_table(file("\n\nx,y\n\n1,a\n\n\n2,b\n\n"))
    assert table(source.batches()) == {"x": [1.0, 2.0], "y": ["a", "b"]}


def test_a_column_of_one_value_a_line_needs_no_delimiter(file):
    source = open_table(file("text\nhello there, you\nbye now\n"))
    assert table(source.batches()) == {"text": ["hello there, you", "bye now"]}


def test_names_are_stripped_and_made_up_where_there_is_none(file):
    assert list(open_table(file(", b ,c\n0,1,2\n1,5,7\n")).kinds) == ["column 1", "b", "c"]


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\nx, y\tz\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ('a,b\n"x;y;z",2\n"u;v;w",3\n', ","),
        ("a\nb\n", None),
        ("a\rb", None),
    ],
)
def test_the_delimiter_is_found_by_content(text, best):
    assert best_delimiter(text) == best


def test_a_wrong_delimiter_is_seen_and_the_right_one_named(file):
    with pytest.raises(BadFile, match="pass delimiter=';'"):
        open_table(file("a;b\n1;2\n"), delimiter=",")


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("a,b\n1,2\n3\n", 3, "1 field, the header has 2. Where a value is missing"),
        ("a,b\n1,2\n3,4,5\n", 3, "3 fields, the header has 2. A value that contains a comma"),
        ("a,b,c\n1,2,3\n4,5", 3, "The file may be cut off"),
        ('a,b\n1,2\n3,"4\n5,6\n', 3, "A quote on line 3 may not be closed"),
        ('a,b\n1,"2\n3,"\n5\n', 4, "A quote on line 2 may not be closed"),
        ('a,b\n1,"2"3\n', 2, "after a closing quote"),
        ("a,b\r1,2\r3,4", 1, "carriage return"),
        ("a,b,a\n1,2,3\n", 1, "two columns are called 'a': number 1 and number 3"),
        ("a,b\n", None, "a header, and no row"),
        ("", None, "empty"),
        ("\n \n", None, "empty"),
    ],
)
def test_malformed(file, content, line, says):
    with pytest.raises(BadFile) as caught:
        list(open_table(file(content, "bad.csv")).batches())
    assert says in str(caught.value)
    assert caught.value.line == line
    assert caught.value.path.endswith("bad.csv")


def test_the_earliest_error_is_the_one_reported(file):
    with pytest.raises(BadFile, match="line 3: 1 field"):
        open_table(file('a,b\n1,2\n3\n4,5\n6,"7'))


@pytest.mark.parametrize(
    ("content", "limits", "option"),
    [
        ("a,b\n" + "x" * 50 + ",1\n", Limits(line_bytes=40), "line_bytes"),
        ('a,b\n1,"' + "x\n" * 200, Limits(line_bytes=40), "line_bytes"),
        ("a,b\n" + "x" * 50 + ",1\n", Limits(field_bytes=40), "field_bytes"),
        ("a,b,c\n1,2,3\n", Limits(columns=2), "columns"),
        ("a,b\n1,2\n3,4\n", Limits(total_bytes=8), "total_bytes"),
    ],
)
def test_limits(file, content, limits, option):
    with pytest.raises(ResourceLimit, match=rf"limits=Limits\({option}="):
        list(open_table(file(content), limits=limits).batches())


def test_a_line_just_within_the_limit_is_read(file):
    content = "a,b\n" + "x" * 36 + ",yz\n"  # 39 bytes and a line feed
    assert open_table(file(content), limits=Limits(line_bytes=40)).columns[0].sampled == 1
    assert open_table(file(content), limits=Limits(line_bytes=39)).columns[0].sampled == 1
    with pytest.raises(ResourceLimit):
        open_table(file(content), limits=Limits(line_bytes=38))


def test_blocks_of_blank_lines_make_no_empty_batches(file, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 16)
    monkeypatch.setattr(readers, "ROWS", 1)
    source = open_table(file("x,y\n" + "\n" * 100 + "1,a\n" + "\n" * 100 + "2,b\n" + "\n" * 100))
    assert [len(batch) for batch in source.batches()] == [1, 1]


def test_wide_rows_are_read_some_at_a_time(file):
    width, rows = 1500, 150
    line = ",".join(["12"] * width)
    source = open_table(file(",".join(f"c{i}" for i in range(width)) + f"\n{line}" * rows))
    assert len(next(source.batches(["c0", "c1"]))) >= readers.ROWS
    assert sum(map(len, source.batches(["c0"]))) == rows
