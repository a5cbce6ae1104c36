"""The page about large data keeps its word: its code runs, in order, and prints what it shows."""

import os

import pytest

from tests.surface.test_docs import DOCS
from tests.surface.test_readme import examples, printed


def test_the_code_prints_what_the_page_shows(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    pytest.importorskip("dask.array", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "larger"}
    for code, shown in examples((DOCS / "larger.md").read_text(encoding="utf-8")):
        assert printed(code, namespace) == (shown or "")
    assert {"rows", "tickets", "tickets.csv"} <= set(os.listdir(tmp_path))
