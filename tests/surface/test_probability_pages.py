"""The pages about probabilities, decisions and shift keep their word: their code prints what they show."""

import doctest

import pytest

from tests.surface.test_docs import DOCS


@pytest.mark.parametrize("page", ["calibration.md", "decisions.md", "shift.md"])
def test_the_code_prints_what_the_page_shows(page):
    found = doctest.testfile(str(DOCS / page), module_relative=False)
    assert found.attempted > 10
    assert found.failed == 0
