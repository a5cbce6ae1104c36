"""Pictures of posteriors: what is on them, and what is refused."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

from argmax import bayes, plots
from argmax.errors import InvalidInput, MissingExtra

X_LINE = np.linspace(-1, 1, 20)
Y_LINE = -0.3 + 0.5 * X_LINE


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def line():
    return bayes.GaussianRegression(0.5, 0.04, intercept_variance=0.5)


def test_the_slides_picture_has_a_posterior_and_lines_for_each_count(pyplot):
    figure = plots.posterior_lines(line(), X_LINE, Y_LINE, truth=(-0.3, 0.5), lines=4)
    left, right = figure.axes[0::2], figure.axes[1::2]
    assert [axis.get_title() for axis in left] == [
        "0 observations",
        "1 observation",
        "2 observations",
        "20 observations",
    ]
    assert [len(axis.lines) for axis in right] == [5, 5, 5, 5]  # four lines, and the observations
    assert [len(axis.lines[-1].get_xdata()) for axis in right] == [0, 1, 2, 20]
    peaks = [np.unravel_index(axis.images[0].get_array().argmax(), (201, 201)) for axis in left]
    slope, intercept = np.linspace(-1, 1, 201)[list(peaks[-1])]
    known = line().fit(X_LINE[:, None], Y_LINE)
    assert (intercept, slope) == pytest.approx((known.intercept_, known.coef_[0]), abs=0.01)


def test_the_outer_band_is_the_inner_one_and_noise(pyplot):
    model = line().fit(X_LINE[:, None], Y_LINE)
    axes = plots.predictive_bands(model, X_LINE, Y_LINE, level=0.9)
    outer, inner = (band.get_paths()[0].get_extents().height for band in axes.collections)
    assert outer > inner
    assert axes.get_legend().get_title().get_text() == "90 % bands"
    assert plots.predictive_bands(model, X_LINE, Y_LINE, axes=axes) is axes


@pytest.mark.parametrize("k", [2, 3])
def test_boundaries_are_drawn_for_every_sample(pyplot, k):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < k, 2:], y[y < k]
    model = bayes.BayesianClassifier(held_out=None).fit(X, y)
    axes = plots.decision_boundaries(model, X, y, draws=3)
    assert len(axes.lines) == k  # the rows of each class
    assert len(axes.collections) >= 4  # three draws and the mode


def test_what_cannot_be_drawn_is_refused(pyplot):
    with pytest.raises(InvalidInput, match="counts must be at most 20"):
        plots.posterior_lines(line(), X_LINE, Y_LINE, counts=(0, 30))
    with pytest.raises(InvalidInput, match="inconsistent numbers"):
        plots.predictive_bands(line(), X_LINE, Y_LINE[:3])
    with pytest.raises(InvalidInput, match="two columns"):
        plots.decision_boundaries(bayes.BayesianClassifier(), np.zeros((4, 3)), np.zeros(4))


def test_without_matplotlib_the_error_has_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"argmax\[plot\]"):
        plots.posterior_lines(line(), X_LINE, Y_LINE)
