"""Pictures hold what their captions say. Drawn without a screen."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from argmax import MultiLabelClassifier, OneVsOne, OneVsRest, SoftmaxRegression, plots
from argmax.errors import InvalidInput, MissingExtra
from argmax.records import Scores
from argmax.spaces import Tree

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from matplotlib.patches import FancyArrowPatch, Rectangle  # noqa: E402


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


def graph(edges, node, agree=0.8):
    table = np.array([[[agree, 0.0], [0.0, agree]]])
    return Scores(np.asarray(node, float), table, np.array([0, len(node)]), np.asarray(edges))


def test_messages_on_a_tree_give_the_exact_marginals():
    scores = graph([[0, 1], [0, 2], [2, 3]], [[0, 0.2], [1, 0], [0, 1.5], [0, 0]])
    ax = plots.messages(scores, ["a", "b", "c", "d"])
    bars = np.array([p.get_height() for p in ax.patches if isinstance(p, Rectangle)]).reshape(4, 2)
    exact = Tree(2).marginals(scores)[1].node
    np.testing.assert_allclose(bars / bars.sum(axis=1, keepdims=True), exact)
    assert sum(isinstance(p, FancyArrowPatch) for p in ax.patches) == 6
    assert {"a", "b", "c", "d"} <= {text.get_text() for text in ax.texts}


def test_messages_need_a_small_graph():
    with pytest.raises(InvalidInput, match="at most 40 nodes"):
        plots.messages(graph([[0, 1]], np.zeros((50, 2))))


def test_a_segmentation_says_what_is_right():
    truth = np.repeat([[0], [1]], 4, axis=1)
    made = plots.segmentation(np.zeros((2, 4, 3)), 1 - truth, truth, truth)
    titles = [ax.get_title() for ax in made.axes]
    assert titles[1:3] == ["each pixel alone: 0.0 %", "all together: 100.0 %"]
    assert len(plots.segmentation(truth, truth, truth).axes) == 3


def test_of_many_labels_the_strongest_pairs_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    Y = (X @ rng.normal(size=(2, 8)) + rng.logistic(size=(80, 8)) > 0).astype(int)
    model = MultiLabelClassifier(labels=[f"label {j}" for j in range(8)]).fit(X, Y)
    ax = plots.cooccurrence(model, most=4)
    named = [text.get_text() for text in ax.texts if text.get_text().startswith("label")]
    assert len(named) == 4
    best = model.pairs_[np.abs(model.pair_weights_).argmax()]
    assert {f"label {j}" for j in best} <= set(named)
    assert not plots.cooccurrence(MultiLabelClassifier("none").fit(X, Y)).lines
