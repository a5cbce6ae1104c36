"""The picture of bounds shows their numbers."""

import pytest
from sklearn.datasets import load_iris

from argmax import SoftmaxRegression, bounds, plots

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_bars_are_as_long_as_the_bounds():
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression().fit(X[::2], y[::2])
    found = bounds.report(model, X[::2], y[::2], test=(X[1::2], y[1::2]))
    ax = plots.promises(found)
    drawn = [bound for bound in found if bound.defined]
    assert [bar.get_width() for bar in ax.patches[::2]] == [
        min(bound.value, 2.0) for bound in drawn
    ]
    assert ax.patches[1].get_width() == pytest.approx(found["test set"].terms["held-out mistakes"])
    words = [text.get_text() for text in ax.texts]
    assert "not applicable" in words
    assert any("vacuous" in text for text in words)
    matplotlib.pyplot.close("all")
