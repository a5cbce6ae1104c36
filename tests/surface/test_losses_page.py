"""The page about losses keeps its word."""

import doctest

from argmax import losses
from tests.surface.test_docs import DOCS

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_code_prints_what_the_page_shows():
    found = doctest.testfile(str(DOCS / "losses.md"), module_relative=False, optionflags=FLAGS)
    assert found.attempted > 15
    assert found.failed == 0


def test_every_loss_of_single_labels_has_its_row():
    text = (DOCS / "losses.md").read_text(encoding="utf-8")
    table = [line for line in text.splitlines() if line.startswith("| [`")]
    known = (losses.Log, losses.SoftmaxMargin, losses.Hinge, losses.WestonWatkins)
    known += (losses.SquaredHinge, losses.Squared, losses.OvrLog)
    for loss, line in zip(known, table, strict=True):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        said = [cell == "yes" for cell in cells[2:5]]
        assert f'"{loss.name}"' in cells[0]
        assert said == [loss.smooth, loss.takes_cost, loss.probabilities]
        assert (cells[5] == "free") == loss.free_intercept
