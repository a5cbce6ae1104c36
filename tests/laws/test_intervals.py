"""A law of intervals: about 95 of 100 cover the truth, over many simulated sets of rows."""

import numpy as np
import pytest

from argmax import metrics
from argmax.metrics.scores import Tallies

SETS = 300


def covered(draw, truth, metric):
    """The share of simulated sets whose interval holds the true value."""
    rng = np.random.default_rng(0)
    return np.mean([truth in metrics.interval(metric, *draw(rng), n=200) for _ in range(SETS)])


@pytest.mark.parametrize(("share", "rows"), [(0.7, 100), (0.97, 60), (0.9, 1000)])
def test_intervals_cover_the_true_accuracy(share, rows):
    def draw(rng):
        return np.zeros(rows, int), (rng.random(rows) > share).astype(int)

    assert 0.92 <= covered(draw, share, metrics.accuracy) <= 0.985


@pytest.mark.parametrize(("k", "rows"), [(4, 150), (40, 800)])
def test_intervals_cover_the_true_f1(k, rows):
    """With many small classes too, where the percentile bootstrap falls to 85 of 100."""
    rng = np.random.default_rng(1)
    cells = np.full((k, k), 0.25 / (k - 1))
    np.fill_diagonal(cells, 0.75)
    cells *= rng.dirichlet(np.full(k, 4.0))[:, None]
    rows_of, answered = cells.sum(axis=1), cells.sum(axis=0)
    truth = float(metrics.scores.COUNTED[metrics.f1](Tallies(cells.diagonal(), rows_of, answered)))

    def draw(rng):
        return np.divmod(rng.choice(k * k, rows, p=cells.ravel()), k)

    assert 0.90 <= covered(draw, truth, metrics.f1) <= 0.985


def test_intervals_cover_the_true_log_loss():
    def draw(rng):
        p = rng.dirichlet([2.0, 1.0, 1.0], 300)
        return (rng.random((300, 1)) < p.cumsum(axis=1)).argmax(axis=1), p, [0, 1, 2]

    sample = np.random.default_rng(3).dirichlet([2.0, 1.0, 1.0], 10**6)
    expected = float(
        -(sample * np.log(sample)).sum(axis=1).mean()
    )  # the entropy: truths are drawn from p
    assert 0.91 <= covered(draw, expected, metrics.log_loss) <= 0.985


def test_intervals_cover_the_true_difference():
    rng, inside = np.random.default_rng(4), 0
    for _ in range(SETS):
        hard = rng.random(300)  # rows that are hard for one are hard for the other
        felt = hard + rng.uniform(-0.1, 0.1, size=(2, 300))
        one, other = (felt > np.array([[0.80], [0.75]])).astype(int)
        found = metrics.difference(metrics.accuracy, np.zeros(300, int), one, other, n=300)
        inside += 0.05 in found
    assert 0.91 <= inside / SETS <= 0.985
