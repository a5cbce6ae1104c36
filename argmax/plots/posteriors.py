"""Pictures of what is known: a posterior and lines drawn from it, bands around a prediction, boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal
from sklearn.base import clone

from .. import checks
from ..bayes import BayesianClassifier, Gaussian, GaussianRegression
from ..errors import InvalidInput
from ..records import Floats
from .geometry import points
from .style import pyplot

__all__ = ["decision_boundaries", "posterior_lines", "predictive_bands"]

LINE, BAND, POINT, TRUTH = "#c0392b", "#e8a79f", "#1f4e79", "white"


def posterior_lines(
    model: GaussianRegression,
    x: Any,
    y: Any,
    counts: Sequence[int] = (0, 1, 2, 20),
    *,
    truth: Any = None,
    lines: int = 6,
    reach: float = 1.0,
    random_state: Any = 0,
) -> Any:
    """How a line is learned: after each number of observations, the posterior and lines drawn from it.

    One row of the figure for each of ``counts``. On the left the density of (intercept, slope), each from
    −reach to reach, with a cross at ``truth`` and the ellipse that holds 95 % of it; on the right that many
    of the observations x (n,), y (n,), and ``lines`` lines whose weights are drawn from the posterior.
    ``model`` needs a prior that is a distribution, with an intercept; it is not changed.

    >>> import numpy as np
    >>> from argmax import bayes, plots
    >>> model = bayes.GaussianRegression(0.5, 0.04, intercept_variance=0.5)
    >>> figure = plots.posterior_lines(model, [0.9, -0.6], [0.1, -0.6], counts=(0, 1, 2))
    >>> len(figure.axes)
    6
    """
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    checks.same_length(x=x, y=y)
    if not model.fit_intercept or max(counts) > len(x):
        raise InvalidInput(
            f"counts must be at most {len(x)}, the number of observations, and the model must have an "
            f"intercept; got {tuple(counts)} and fit_intercept={model.fit_intercept}."
        )
    plt = pyplot()
    figure, axes = plt.subplots(
        len(counts), 2, figsize=(6.4, 2.9 * len(counts)), layout="constrained", squeeze=False
    )
    for (left, right), n in zip(axes, counts, strict=True):
        known = clone(model).fit(x[:n, None], y[:n]).posterior_ if n else model.prior(1)
        _weights(left, known, truth, reach)
        _lines(right, known, x[:n], y[:n], lines, reach, random_state)
        left.set_title(f"{n} observation{'s' * (n != 1)}", fontsize=10)
    return figure


def _weights(axis: Any, known: Gaussian, truth: Any, reach: float) -> None:
    places = np.linspace(-reach, reach, 201)
    grid = np.stack(np.meshgrid(places, places), axis=-1)
    density = multivariate_normal(known.mean, known.covariance).pdf(grid)
    axis.imshow(density, origin="lower", extent=(-reach, reach) * 2, cmap="viridis")
    axis.plot(*known.ellipsoid(0.95).boundary().T, color="white", lw=1, alpha=0.7)
    if truth is not None:
        axis.plot(*truth, "+", color=TRUTH, ms=11, mew=2)
    axis.set(xlabel="intercept", ylabel="slope", xlim=(-reach, reach), ylim=(-reach, reach))


def _lines(
    axis: Any, known: Gaussian, x: Floats, y: Floats, lines: int, reach: float, random_state: Any
) -> None:
    ends = np.array([-1.0, 1.0])
    for intercept, slope in known.sample(lines, random_state):
        axis.plot(ends, intercept + slope * ends, color=LINE, lw=1.1)
    axis.plot(x, y, "o", mfc="none", color=POINT, ms=6, mew=1.6)
    edge = max(1.2 * reach, 1.1 * float(np.abs(y).max(initial=0.0)))
    axis.set(xlabel="x", ylabel="y", xlim=(-1.05, 1.05), ylim=(-edge, edge), box_aspect=1)


def predictive_bands(
    model: GaussianRegression, x: Any, y: Any, *, level: float = 0.95, axes: Any = None
) -> Any:
    """The prediction of a fitted line with its two bands: where E[y | x] may lie, and where y may.

    The inner band is not knowing the weights, and widens away from the observations x (n,), y (n,); the
    outer one adds the noise, which stays.

    >>> import numpy as np
    >>> from argmax import bayes, plots
    >>> x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.1, 0.9, 2.2, 2.8])
    >>> axes = plots.predictive_bands(bayes.GaussianRegression().fit(x[:, None], y), x, y)
    >>> axes.get_xlabel()
    'x'
    """
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    checks.same_length(x=x, y=y)
    margin = 0.5 * float(np.ptp(x)) or 1.0
    places = np.linspace(x.min() - margin, x.max() + margin, 300)
    at = model.predictive(places[:, None])
    axes = _axes(axes)
    axes.fill_between(places, *at.interval(level), color=BAND, alpha=0.45, lw=0, label="of y")
    inner = at.mean_interval(level)
    axes.fill_between(places, *inner, color=LINE, alpha=0.45, lw=0, label="of its mean")
    axes.plot(places, at.mean, color=LINE, lw=1.5)
    axes.plot(x, y, "o", mfc="none", color=POINT, ms=5, mew=1.4)
    axes.set(xlabel="x", ylabel="y", xlim=(places[0], places[-1]))
    axes.legend(title=f"{100 * level:g} % bands", frameon=False)
    return axes


def decision_boundaries(
    model: BayesianClassifier,
    X: Any,
    y: Any,
    *,
    draws: int = 20,
    random_state: Any = 0,
    axes: Any = None,
) -> Any:
    """Boundaries between classes, drawn from the posterior; the shade is the doubt of the averaged answer.

    For two features. Where the thin lines lie apart the data do not say where the boundary is, and the
    averaged probability of the answer is low; the thick line is the boundary of the mode.

    >>> from sklearn.datasets import load_iris
    >>> from argmax import bayes, plots
    >>> X, y = load_iris(return_X_y=True)
    >>> model = bayes.BayesianClassifier(held_out=None).fit(X[:, 2:], y)
    >>> axes = plots.decision_boundaries(model, X[:, 2:], y)
    """
    X, y = points(X), np.asarray(y)
    margin = 0.15 * np.ptp(X, axis=0) + 1e-9
    (left, low), (right, high) = X.min(axis=0) - margin, X.max(axis=0) + margin
    across, up = np.meshgrid(np.linspace(left, right, 150), np.linspace(low, high, 150))
    rows = np.stack([across.ravel(), up.ravel()], axis=1)
    axes = _axes(axes)
    doubt = 1.0 - model.predict_proba(rows).max(axis=1).reshape(across.shape)
    extent = left, right, low, high
    shade = axes.imshow(
        doubt, origin="lower", extent=extent, aspect="auto", cmap="Greys", vmin=0.0, vmax=1.0
    )
    axes.figure.colorbar(shade, ax=axes, label="1 − averaged probability of the answer")
    coef, intercept = model.sample(draws, random_state)
    for w, b in zip(coef, intercept, strict=True):
        _boundary(axes, across, up, rows @ w.T + b, linewidths=0.7, alpha=0.35)
    _boundary(axes, across, up, rows @ model.coef_.T + model.intercept_, linewidths=2.2)
    for label in model.classes_:
        axes.plot(*X[y == label].T, "o", ms=4, mec="white", mew=0.5, label=str(label))
    axes.legend(frameon=False)
    return axes


def _boundary(axes: Any, across: Floats, up: Floats, scores: Floats, **style: Any) -> None:
    """Where the highest score changes hands."""
    if scores.shape[1] == 1:
        scores = np.hstack([-scores, scores])
    for c in range(scores.shape[1] - (scores.shape[1] == 2)):
        ahead = scores[:, c] - np.delete(scores, c, axis=1).max(axis=1)
        if ahead.min() < 0 < ahead.max():
            axes.contour(across, up, ahead.reshape(across.shape), levels=[0], colors=LINE, **style)


def _axes(axes: Any) -> Any:
    return axes if axes is not None else pyplot().subplots(layout="constrained")[1]
