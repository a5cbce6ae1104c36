"""Pictures hold what their captions say. Drawn without a screen."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from argmax import OneVsOne, OneVsRest, SoftmaxRegression, plots
from argmax.errors import InvalidInput, MissingExtra

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_regions_are_the_models_answers_on_a_grid():
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression().fit(X[:, :2], y)
    ax = plots.decision_regions(model, X[:, :2], y)
    picture = ax.images[0].get_array()
    assert picture.shape == (400, 400, 3)
    assert len({tuple(pixel) for pixel in picture.reshape(-1, 3).round(6)}) == 3
    assert len(ax.collections) == 3


def test_a_model_without_linear_scores_has_regions_but_no_lines():
    X, y = load_iris(return_X_y=True)
    ax = plots.decision_regions(OneVsOne().fit(X[:, :2], y), X[:, :2], y, grid=50)
    assert not ax.lines


def test_wider_margins_come_with_smaller_C():
    X, y = make_blobs(60, centers=2, cluster_std=2.0, random_state=0)
    titles = [ax.get_title() for ax in plots.margin_sweep(X, y).axes]
    widths = [float(title.split("width ")[1].split(",")[0]) for title in titles]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 1.5 * widths[-1]


def test_one_vs_rest_loses_the_middle_class_and_the_others_do_not():
    X, y = plots.four_classes()
    right = {}
    for model in (OneVsRest(), OneVsOne(), SoftmaxRegression()):
        answers = model.fit(X, y).predict(X)
        right[type(model).__name__] = float(np.mean(answers[y == 0] == 0))
    assert right["OneVsRest"] < 0.2
    assert min(right["OneVsOne"], right["SoftmaxRegression"]) > 0.9
    assert len(plots.reductions_compared().axes) == 3


def test_every_convex_loss_but_the_perceptrons_bounds_zero_one():
    from argmax.plots.losses import LOSSES

    z = np.linspace(-3, 3, 301)
    assert len(plots.losses().lines) == len(LOSSES)
    for name in ("hinge", "squared hinge", "squared"):
        assert np.all(LOSSES[name](z) >= LOSSES["zero-one"](z))
    assert np.all(LOSSES["log"](z) / np.log(2) >= LOSSES["zero-one"](z) - 1e-12)


def test_the_picture_of_mistakes_shows_the_bound_attained():
    made, bound, half = (line.get_ydata() for line in plots.perceptron_mistakes((8, 32)).lines)
    assert np.allclose(made, bound)
    assert np.all(made > half)  # (R/γ)² alone is wrong


def test_refusals(monkeypatch):
    with pytest.raises(InvalidInput, match="box is needed"):
        plots.decision_regions(([[1, 0], [0, 1]], [0, 0]))
    with pytest.raises(InvalidInput, match="two columns"):
        plots.decision_regions(SoftmaxRegression(), np.zeros((3, 3)))
    with pytest.raises(InvalidInput, match="two classes"):
        plots.margin_sweep(np.zeros((3, 2)), [0, 1, 2])
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtra, match="argmax\\[plot\\]"):
        plots.losses()
