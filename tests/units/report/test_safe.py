"""Text from data, for a page, a terminal and a spreadsheet."""

import csv
import io
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.report.safe import csv_cell, shorten, terminal, visible

anything = st.text(st.characters(), max_size=80)


def controls(text):
    return [
        c
        for c in text
        if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} or c in "\u202e\u2066"
    ]


@given(anything)
def test_nothing_that_controls_is_left(text):
    for made in (visible(text), shorten(text), terminal(text)):
        assert controls(made) == []
        made.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=50))
def test_harmless_text_stays_as_it_is(text):
    assert visible(text) == terminal(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("a\r\nb\tc", "a  b c"),
        ("\x1b]0;never ends", ""),
        ("\x1bcreset", "reset"),
    ],
)
def test_a_terminal_obeys_nothing(text, shown):
    assert terminal(text) == shown


@given(st.integers(1, 40), anything)
def test_a_short_line_is_short(most, text):
    assert len(shorten(text, most)) <= most


def test_a_very_long_text_is_cut_before_it_is_looked_at():
    assert shorten("ab " * 10**6, 10) == "ab ab ab…"


@pytest.mark.parametrize(
    "text", ["=cmd()", "+1+1", "-1+1", "@x", "\tx", "\rx", "\n=x", "＝1", "=1"]
)
def test_formulas_are_text(text):
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-1", "+2.5e-3", "-.5", "plain", "a=b", "", "'", 3, -2.5])
def test_numbers_and_words_are_themselves(text):
    assert csv_cell(text) == str(text)


@given(st.lists(anything.filter(lambda text: "\0" not in text), min_size=2, max_size=5))
def test_cells_survive_a_file(cells):
    file = io.StringIO()
    csv.writer(file).writerow([csv_cell(cell) for cell in cells])
    (row,) = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert [cell.removeprefix("'") for cell in row] == [cell.removeprefix("'") for cell in cells]


def test_it_is_ready_at_once():
    """The command line uses it in messages that must not wait for the libraries of a report."""
    code = "import sys, argmax.report.safe; print('numpy' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"
