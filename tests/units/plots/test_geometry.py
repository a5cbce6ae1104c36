"""Borders and vertices are exact: the notes' worked example, and the argmax on both sides of every border."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from argmax import OneVsOne, OneVsRest, SoftmaxRegression
from argmax.errors import InvalidInput
from argmax.plots import borders, vertices
from argmax.plots.geometry import linear_scores

WORKED = [[1, 1], [1, 0], [0, 1]], [0, 1, -1]
BOX = (-4.0, 4.0, -4.0, 4.0)


def test_the_worked_example_of_the_notes():
    """y = 1 between 1 and 2, x = −1 between 1 and 3, y = x + 2 between 2 and 3; all meet at (−1, 1)."""
    lines = {border.classes: border.line for border in borders(*WORKED, BOX)}
    assert lines == {(0, 1): (0.0, 1.0, -1.0), (0, 2): (1.0, 0.0, 1.0), (1, 2): (1.0, -1.0, 2.0)}
    [vertex] = vertices(*WORKED)
    assert vertex.point == (-1.0, 1.0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [2, 3, 6])
def test_a_border_parts_its_two_classes(seed, k):
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(k, 2)), rng.normal(size=k)
    found = borders(W, b, BOX)
    assert found
    for border in found:
        start, stop = np.array(border.start), np.array(border.stop)
        middle, normal = (start + stop) / 2, W[border.classes[0]] - W[border.classes[1]]
        step = 1e-6 * normal / np.linalg.norm(normal)
        sides = [int(np.argmax(W @ (middle + s * step) + b)) for s in (1, -1)]
        assert tuple(sides) == border.classes
        for end in (start, stop):
            assert np.abs(np.dot(border.line[:2], end) + border.line[2]) < 1e-9
            assert BOX[0] - 1e-9 <= end[0] <= BOX[1] + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_at_a_vertex_three_classes_share_the_highest_score(seed):
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(5, 2)), rng.normal(size=5)
    for vertex in vertices(W, b):
        scores = W @ vertex.point + b
        assert np.ptp(scores[list(vertex.classes)]) < 1e-9
        assert scores.max() - scores[vertex.classes[0]] < 1e-9


def test_borders_end_at_vertices_or_at_the_box():
    rng = np.random.default_rng(1)
    W, b = rng.normal(size=(4, 2)), rng.normal(size=4)
    corners = [vertex.point for vertex in vertices(W, b)]
    for border in borders(W, b, BOX):
        for end in (border.start, border.stop):
            outside = np.isclose(np.abs(end), 4.0).any()
            assert outside or any(np.allclose(end, corner) for corner in corners)


def test_models_with_linear_scores():
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    for model in (SoftmaxRegression(), OneVsRest()):
        W, b = linear_scores(model.fit(X, y))
        assert np.array_equal((X @ W.T + b).argmax(axis=1), model.predict(X))
    two = SoftmaxRegression().fit(X[:100], y[:100])
    W, b = linear_scores(two)
    assert np.array_equal((X[:100] @ W.T + b).argmax(axis=1), two.predict(X[:100]))
    assert linear_scores(OneVsOne().fit(X, y)) is None


def test_three_features_are_too_many():
    with pytest.raises(InvalidInput, match="two features"):
        borders(np.eye(3), np.zeros(3), BOX)
