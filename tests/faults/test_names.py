"""Fault 28: names and texts from files that try to run in a page, a terminal or a spreadsheet."""

import csv
import io
import json
import tempfile
from pathlib import Path

import numpy as np

from argmax import report
from argmax.data import Column
from argmax.records import Solution
from argmax.report.safe import csv_cell, terminal
from tests.faults.harness import alone
from tests.units.report.pages import Page

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "</title><img src=x onerror=alert(3)>",
    '" onmouseover="alert(4)" x=\'',
    "'><svg/onload=alert(5)>",
    "</pre></code><iframe src='javascript:alert(6)'>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&amp;",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "=cmd|' /C calc'!A1",
    "@SUM(1+1)*cmd",
    "+1+cmd()",
    "-2+3+cmd()",
    "\tcmd()",
    "\r\n=cmd()",
    "\u202egpj.exe\u202c",
    "two\nlines\u2028three",
    "nul\0byte",
    "half \udc80 character",
    "A" * 50_000,
]


def evaluation(names):
    """Everything that can hold a name holds one of these."""
    k = len(names)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, 200)
    scores = rng.normal(size=(200, k)) + 2.0 * np.eye(k)[truth]
    table = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    labels = np.array(names, dtype=object)
    known = dict(zip(names, names, strict=True))
    history = [(0.1, 3.0, 0.5), (0.2, 2.0, 0.01)]
    end = Solution(np.zeros(1), 2.0, 0.01, 1e-3, "max_iter", names[1], names[2], 2, 0.2, history)
    model = report.Model(names[0], known, end, rng.normal(size=(k, k)), names)
    return report.Evaluation(
        classes=labels[:-1],  # the last one is not known to the model
        truth=labels[truth],
        probabilities=table[:, :-1] / table[:, :-1].sum(axis=1, keepdims=True),
        title=names[1],
        previews=[names[i % k] for i in range(200)],
        columns=[Column(name, "text", False, 9, 1, 2, (name,)) for name in names],
        findings=names,
        model=model,
        features=rng.poisson(1.0, size=(200, k)).astype(float),
        seconds=dict.fromkeys(names, 1.0),
        date=names[0],
        versions=known,
        digests=known,
        commands=names,
    )


def kinds(page):
    """Which elements the page has, with which attributes: nothing of it may come from the data."""
    return {(tag, tuple(sorted(attributes))) for tag, attributes in page.tags}


@alone
def test_28_a_page_shows_names_and_runs_none():
    with tempfile.TemporaryDirectory() as folder:
        path = report.write(Path(folder, "report.html"), evaluation(HOSTILE))
        page = Page(path.read_text(encoding="utf-8"))
    harmless = Page(report.render(evaluation([f"name number {i}" for i in range(20)])))
    assert kinds(page) == kinds(harmless)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert page.wrong == []
    assert page.stack == []
    assert json.loads(page.inside["script"][0])["rows"] == 200
    assert len(page.html.encode("utf-8")) < 1_000_000
    assert not set(page.html) & set("\x1b\0\x07\r\t\u202e\u202c\u2028\udc80")
    shown = "".join(page.texts)
    for name in ("<script>alert(1)</script>", "onerror=alert(3)", "{{ 7 * 7 }}", "&lt;b&gt;"):
        assert name in shown
    assert "\\x1b[31mred" in shown  # written out, so that a reader sees what is there


@alone
def test_28_a_terminal_is_told_no_command():
    for name in HOSTILE:
        shown = terminal(name)
        assert shown.isprintable()
        assert "[31m" not in shown
        assert "title\x07" not in shown


@alone
def test_28_a_spreadsheet_finds_no_formula():
    for name in HOSTILE:
        if "\0" in name or "\udc80" in name:
            continue  # such a file cannot be written at all
        file = io.StringIO(newline="")
        csv.writer(file).writerow([csv_cell(name), "next"])
        file.seek(0)
        ((cell, following),) = csv.reader(file)
        assert cell[:1] not in set("=+-@\t\r\n")
        assert cell in (name, f"'{name}")
        assert following == "next"
