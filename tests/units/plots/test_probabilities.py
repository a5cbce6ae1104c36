"""Pictures of probabilities: what is drawn is what was found."""

import numpy as np
import pytest

from argmax import calibration, decisions, plots
from argmax.errors import InvalidInput

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


@pytest.fixture
def drawn():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 200)
    return (rng.random((200, 1)) < p.cumsum(axis=1)).argmax(axis=1), p


def test_points_are_the_frequencies(drawn):
    found = calibration.reliability(*drawn, [0, 1, 2], bins=5)
    ax = plots.reliability(found, title="answers")
    line = ax.lines[1]
    assert np.array_equal(line.get_xdata(), found.confidence)
    assert np.array_equal(line.get_ydata(), found.frequency)
    assert ax.get_title() == "answers"


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_every_class_has_a_diagram(drawn, columns):
    found = calibration.by_class(*drawn, [0, 1, 2])
    figure = plots.reliability_by_class(found, columns)
    assert [ax.get_title() for ax in figure.axes] == ["0", "1", "2"]


def test_nothing_cannot_be_drawn():
    with pytest.raises(InvalidInput, match="no class to draw"):
        plots.reliability_by_class({})


def test_the_curve_is_the_cost(drawn):
    found = decisions.cost_curve(*drawn, [0, 1, 2], label=1)
    assert np.array_equal(plots.cost_curve(found).lines[-1].get_ydata(), found.cost)
