"""Tables, styles, progress and JSON."""

import io
import json
import math
import sys

import numpy as np
import pytest

from argmax.cli.console import Console, count, seconds, styled


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_table_is_aligned_by_what_letters_take_on_a_terminal(capsys):
    Console().table(["name", ">rows"], [["北京", 7], ["e\u0301te\u0301", 12]])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["name  rows", "北京     7", "e\u0301te\u0301     12"]


def test_a_wide_cell_is_cut_to_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    Console().table(["a", "b"], [["x" * 100, "y"]])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 30


def test_cells_obey_nobody(capsys):
    Console().table(["class"], [["\x1b[2Jgone\nnext"]])
    assert capsys.readouterr().out == "class\ngone next\n"


def test_styles_are_for_terminals_that_want_them(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert styled("x", "1", Terminal()) == "\x1b[1mx\x1b[0m"
    assert styled("x", "1", io.StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert styled("x", "1", Terminal()) == "x"


def test_json_holds_what_json_can(capsys):
    console = Console(as_json=True)
    console.say("not this")
    console.table(["nor"], [["that"]])
    console.result({"a": math.nan, "b": np.float64(2.0), "c": np.arange(2), "d": (1, math.inf)})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": 2.0, "c": [0, 1], "d": [1, None]}


def test_a_stage_says_what_it_did_when_it_is_done(capsys):
    with Console().stage("Reading") as stage:
        stage.update("half")
        stage.done = "Read it"
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Read it (")


def test_quiet_silences_progress_and_no_warning(capsys):
    console = Console(quiet=True)
    with console.stage("Reading") as stage:
        stage.done = "Read it"
    console.note("by the way")
    console.warn("look here")
    assert capsys.readouterr().err == "warning: look here\n"


def test_a_moving_line_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Console().stage("Reading [a].csv") as stage:
        stage.update("7 rows")
        assert stage.show is not None
    assert stage.show is None


def test_words():
    assert [count(1, "class"), count(2, "class"), count(0, "row")] == [
        "1 class",
        "2 classes",
        "0 rows",
    ]
    assert [seconds(0.04), seconds(125.0)] == ["0.0 s", "2 min 5 s"]
