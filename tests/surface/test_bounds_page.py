"""The page about bounds keeps its word: its code prints what it shows."""

import doctest

from tests.surface.test_docs import DOCS
from tests.surface.test_sequence_pages import FLAGS


def test_the_code_prints_what_the_page_shows():
    found = doctest.testfile(str(DOCS / "bounds.md"), module_relative=False, optionflags=FLAGS)
    assert found.attempted > 20
    assert found.failed == 0
