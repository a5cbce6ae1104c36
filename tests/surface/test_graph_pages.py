"""The pages about graphs and several labels keep their word: their code prints what they show."""

import doctest

import pytest

from tests.surface.test_docs import DOCS
from tests.surface.test_sequence_pages import FLAGS


@pytest.mark.parametrize("page", ["graphs.md", "multilabel.md"])
def test_the_code_prints_what_the_page_shows(page):
    found = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=FLAGS)
    assert found.attempted > 10
    assert found.failed == 0
