"""The page about Bayesian models keeps its word: its code prints what it shows."""

import doctest

from tests.surface.test_docs import DOCS


def test_the_code_prints_what_the_page_shows():
    found = doctest.testfile(str(DOCS / "bayes.md"), module_relative=False)
    assert found.attempted > 20
    assert found.failed == 0
