"""Point estimates against brute-force minimisation of the risk."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from argmax import bayes
from argmax.errors import InvalidInput, WrongType

SHAPES = [stats.norm(1.0, 2.0), stats.beta(3, 2), stats.gamma(2.5), stats.beta(0.6, 0.8)]
NAMES = ["normal", "beta", "gamma", "bathtub"]


def linex(action, theta):
    return np.exp(0.5 * (action - theta)) - 0.5 * (action - theta) - 1


def huber(action, theta):
    gap = np.abs(action - theta)
    return np.where(gap < 0.5, gap**2, gap - 0.25)


def relative(action, theta):
    return (action - theta) ** 2 / (0.1 + theta**2)


OTHERS = [linex, huber, relative]


def brute_force(posterior, loss, places):
    """The action of the least risk among many, the risk by plain quadrature."""
    edges = np.linspace(posterior.ppf(1e-13), posterior.isf(1e-13), 201)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges)[:, None] / 2
    theta = (edges[:-1, None] + half * (1 + nodes)).ravel()
    mass = (half * weights).ravel() * posterior.pdf(theta)
    risks = [loss(a, theta) @ mass for a in places]
    return places[int(np.argmin(risks))]


@pytest.mark.parametrize("posterior", SHAPES, ids=NAMES)
def test_square_absolute_and_asymmetric_losses_give_mean_and_quantiles(posterior):
    assert bayes.point_estimate(posterior, "square") == pytest.approx(posterior.mean())
    assert bayes.point_estimate(posterior, "absolute") == pytest.approx(posterior.median())
    lost_sale = bayes.Asymmetric(under=4.0, over=1.0)
    assert bayes.point_estimate(posterior, lost_sale) == pytest.approx(posterior.ppf(0.8))


@pytest.mark.parametrize(
    ("posterior", "mode"),
    [
        (stats.norm(1.0, 2.0), 1.0),
        (stats.beta(3, 2), 2 / 3),
        (stats.gamma(2.5), 1.5),
        (stats.expon(), 0.0),
        (stats.beta(0.6, 2), 0.0),
    ],
)
def test_zero_one_loss_gives_the_mode(posterior, mode):
    assert bayes.point_estimate(posterior, "zero_one") == pytest.approx(mode, abs=1e-6)


@pytest.mark.parametrize("posterior", [stats.gamma(3), stats.beta(4, 2)], ids=["gamma", "beta"])
def test_the_mode_is_the_limit_of_a_loss_with_a_tolerance(posterior):
    """Of a continuous θ every zero-one risk is 1; the ε-loss is what has a minimum, near the mode."""
    mode = bayes.point_estimate(posterior, "zero_one")
    gaps = [abs(bayes.point_estimate(posterior, bayes.Within(e)) - mode) for e in (0.3, 0.1, 0.03)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3
    assert (bayes.posterior_risk(posterior, "zero_one", [mode, 0.0, 1.0]) == 1.0).all()


@pytest.mark.parametrize("loss", OTHERS)
@pytest.mark.parametrize("posterior", SHAPES[:3], ids=NAMES[:3])
def test_any_loss_gives_what_brute_force_gives(posterior, loss):
    found = bayes.point_estimate(posterior, loss)
    places = found + np.linspace(-0.5, 0.5, 2001)
    assert brute_force(posterior, loss, places) == pytest.approx(found, abs=6e-4)


def test_linex_has_a_closed_form_under_a_normal_posterior():
    assert bayes.point_estimate(stats.norm(1.0, 2.0), linex) == pytest.approx(
        1 - 0.25 * 4, abs=1e-6
    )


@pytest.mark.parametrize("posterior", SHAPES, ids=NAMES)
@pytest.mark.parametrize("action", [-1.0, 0.3, 0.9, 4.0])
def test_risk_equals_quadrature(posterior, action):
    low, high = posterior.support()
    for name, loss in (
        ("absolute", lambda a, t: abs(a - t)),
        ("square", lambda a, t: (a - t) ** 2),
    ):
        inner = float(np.clip(action, *posterior.ppf([1e-9, 1 - 1e-9])))
        expected = sum(
            integrate.quad(
                lambda t, loss=loss: loss(action, t) * posterior.pdf(t), a, b, limit=200
            )[0]
            for a, b in ((low, inner), (inner, high))
        )
        assert bayes.posterior_risk(posterior, name, action) == pytest.approx(expected, rel=1e-6)


def test_grids_and_draws_agree_with_the_closed_form():
    posterior = stats.gamma(2.5)
    points = np.linspace(0, 30, 6001)
    grid = bayes.Grid(points, posterior.pdf(points) * 7)
    draws = bayes.Draws(posterior.ppf((np.arange(4000) + 0.5) / 4000))
    for loss in ("square", "absolute", bayes.Asymmetric(1, 3), huber, linex, bayes.Within(0.2)):
        exact = bayes.point_estimate(posterior, loss)
        assert bayes.point_estimate(grid, loss) == pytest.approx(exact, abs=3e-3)
        assert bayes.point_estimate(draws, loss) == pytest.approx(exact, abs=3e-2)
        risk = bayes.posterior_risk(posterior, loss, 1.0)
        assert bayes.posterior_risk(grid, loss, 1.0) == pytest.approx(risk, rel=1e-3)
        assert bayes.posterior_risk(draws, loss, 1.0) == pytest.approx(risk, rel=1e-2)
    assert bayes.point_estimate(grid, "zero_one") == pytest.approx(1.5, abs=2e-3)
    assert bayes.point_estimate(draws, "zero_one") == pytest.approx(1.5, abs=0.2)
    assert bayes.posterior_risk(grid, "zero_one", 1.5) == 1.0


def test_of_a_discrete_parameter_the_mode_minimises_zero_one_risk():
    known = bayes.Discrete([3.0, 1.0, 2.0], [0.2, 0.5, 0.3])
    assert bayes.point_estimate(known, "zero_one") == 1.0
    risks = bayes.posterior_risk(known, "zero_one", [1.0, 2.0, 3.0, 4.0])
    assert np.allclose(risks, [0.5, 0.7, 0.8, 1.0])
    assert bayes.point_estimate(stats.binom(10, 0.3), "zero_one") == 3.0
    assert bayes.point_estimate(stats.poisson(4.5), "square") == pytest.approx(4.5)
    assert bayes.point_estimate(np.array([1, 2, 2, 5]), "zero_one") == 2.0


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=8, unique=True),
    st.floats(0.1, 5),
    st.floats(0.1, 5),
)
def test_the_quantile_minimises_the_asymmetric_risk(points, under, over):
    weights = np.arange(1.0, len(points) + 1)
    known, loss = bayes.Discrete(points, weights), bayes.Asymmetric(under, over)
    best = bayes.point_estimate(known, loss)
    risks = bayes.posterior_risk(known, loss, np.array(points))
    assert bayes.posterior_risk(known, loss, best) <= risks.min() + 1e-9


def test_an_optimum_outside_the_posterior_is_found():
    def doubled(action, theta):
        return (action - 2 * theta) ** 2

    assert bayes.point_estimate(stats.norm(50, 1), doubled) == pytest.approx(100, abs=1e-5)


def test_actions_can_be_a_list():
    assert bayes.point_estimate(stats.norm(0.4, 1), "absolute", actions=[0, 1, 2]) == 0
    with pytest.raises(InvalidInput, match="actions is empty"):
        bayes.point_estimate(stats.norm(), actions=[])


@pytest.mark.parametrize(
    ("posterior", "loss", "error", "sentence"),
    [
        (stats.norm(), "quadratic", InvalidInput, "'square', 'absolute', 'zero_one'"),
        (stats.norm(), 3, WrongType, "loss must be one of"),
        ("normal", "square", WrongType, "posterior must be"),
        (stats.norm(), lambda a, t: 1.0, InvalidInput, "one number for each"),
        (stats.norm(), lambda a, t: t * math.nan, InvalidInput, "is NaN"),
        (stats.norm(), lambda a, t: -a + 0 * t, InvalidInput, "falls for ever"),
        ([1.0, math.inf], "square", InvalidInput, "draws must be finite"),
    ],
)
def test_what_cannot_be_minimised_is_refused(posterior, loss, error, sentence):
    with pytest.raises(error, match=sentence):
        bayes.point_estimate(posterior, loss)


def test_tables_are_checked():
    with pytest.raises(InvalidInput, match="columns of one length"):
        bayes.Grid([0, 1], [1])
    with pytest.raises(InvalidInput, match="two or more different"):
        bayes.Grid([1, 1], [1, 1])
    with pytest.raises(InvalidInput, match="0 or more"):
        bayes.Discrete([0, 1], [1, -1])


def test_the_shortest_interval_of_draws_holds_its_share():
    draws = stats.expon().ppf((np.arange(4000) + 0.5) / 4000)
    low, high = bayes.credible_interval(draws, 0.9, "shortest")
    assert low == draws[0]
    assert high == pytest.approx(-math.log(0.1), abs=0.01)
    assert bayes.credible_interval(bayes.Discrete([0, 1, 5], [1, 8, 1]), 0.7, "shortest") == (1, 1)
