"""Priors of classes from rows without labels: against closed forms, enumeration and each other."""

import numpy as np
import pytest
from scipy.optimize import minimize

from argmax import shift
from argmax.errors import InvalidInput
from argmax.shift import priors
from argmax.shift.simplex import least_squares


def test_least_squares_on_the_simplex_meets_its_conditions():
    """KKT: the gradient is least, and equal, where the answer is positive."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        A, b = rng.normal(size=(6, 4)), rng.normal(size=6)
        x = least_squares(A, b)
        assert x.min() >= 0
        assert x.sum() == pytest.approx(1)
        gradient = A.T @ (A @ x - b)
        held = gradient[x > 1e-9]
        assert held == pytest.approx(np.full(len(held), gradient.min()), abs=1e-8)


def test_moment_matching_is_the_notes_formula_inside_the_simplex():
    X = np.array([[0.7, 0.1, 0.2], [0.2, 0.6, 0.1], [0.05, 0.2, 0.3], [0.05, 0.1, 0.4]])
    truth = np.array([0.2, 0.5, 0.3])
    q = X @ truth
    assert shift.moment_matching(X, q) == pytest.approx(np.linalg.inv(X.T @ X) @ X.T @ q)
    assert shift.moment_matching(X, q) == pytest.approx(truth)


def test_the_notes_formula_leaves_the_simplex_and_ours_does_not():
    X, q = np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.95, 0.05])
    assert np.linalg.solve(X, q).min() < 0
    assert shift.moment_matching(X, q) == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(
    ("X", "q", "says"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5], "mixture of the others"),
        ([[0.5, 0.4], [0.4, 0.6]], [0.5, 0.5], "must be probabilities"),
        ([[1.0], [0.0]], [1.0], "must have shape"),
    ],
)
def test_what_moment_matching_cannot_use(X, q, says):
    with pytest.raises(InvalidInput, match=says):
        shift.moment_matching(X, q)


@pytest.fixture
def known():
    """An answer's joint distribution with the truth, old priors, new priors, and the mean answer then."""
    rng = np.random.default_rng(1)
    A = rng.dirichlet(np.ones(4), size=4).T + 2 * np.eye(4)
    A /= A.sum(axis=0)
    old, new = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
    return A * old, old, new, A @ new


def test_counts_give_priors_and_black_box_gives_ratios(known):
    joint, old, new, mean = known
    assert shift.adjusted_counts(joint, mean) == pytest.approx(new)
    assert shift.black_box_ratios(joint, mean) == pytest.approx(new / old)
    assert shift.regularised_ratios(joint, mean, 10**9) == pytest.approx(new / old, rel=1e-3)


def test_regularised_ratios_have_the_least_objective(known):
    joint, _, _, mean = known
    bound, b = 0.1, mean - joint.sum(axis=1)

    def objective(theta):
        return np.linalg.norm(joint @ theta - b) + bound * np.linalg.norm(theta)

    ours = objective(priors._cone(joint, b, bound))
    best = min(
        minimize(
            objective, start, method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-12}
        ).fun
        for start in (np.zeros(4), np.full(4, 0.1), np.linalg.solve(joint, b))
    )
    assert ours <= best + 1e-8


def test_a_class_without_rows_gets_nothing(known):
    joint, _, _, mean = known
    joint = joint.copy()
    joint[:, 2] = 0
    assert shift.adjusted_counts(joint / joint.sum(), mean)[2] == 0


@pytest.mark.parametrize("shrinkage", [0.0, 0.05, 1.0])
def test_em_reaches_the_top_of_its_objective(shrinkage):
    """The gradient of log-likelihood + log-prior is the same in all classes that are there."""
    rng = np.random.default_rng(2)
    q = rng.dirichlet(np.ones(5), size=300)
    source = np.array([0.3, 0.3, 0.2, 0.1, 0.1])
    found = shift.maximum_likelihood(q, source, shrinkage=shrinkage)
    ratios = q / source
    gradient = (ratios / (ratios @ found)[:, None]).sum(axis=0) + shrinkage * 300 * source / found
    held = found > 1e-6
    assert gradient[held] == pytest.approx(np.full(held.sum(), 300 * (1 + shrinkage)), rel=1e-4)
    assert (gradient[~held] <= 300 * (1 + shrinkage) * (1 + 1e-4)).all()


def test_sets_solved_at_once_are_sets_solved_alone():
    rng = np.random.default_rng(3)
    ratios, source = rng.dirichlet(np.ones(3), size=50) * 3, np.full(3, 1 / 3)
    counts = rng.integers(0, 3, size=(4, 50)).astype(float)
    together = priors.em(ratios, counts, source, 0.1)
    for row, one in zip(counts, together, strict=True):
        assert priors.em(ratios, row[None, :], source, 0.1)[0] == pytest.approx(one, abs=1e-7)


def test_shrinkage_chosen_by_left_out_rows_keeps_priors_that_have_not_moved():
    rng = np.random.default_rng(4)
    k, old = 20, np.full(20, 0.05)

    def rows(priors, m):
        y = rng.choice(k, size=m, p=priors)
        scores = 1.5 * np.eye(k)[y] + rng.normal(size=(m, k))  # the likelihood of scores is exact
        p = np.exp(1.5 * scores)
        return p / p.sum(axis=1, keepdims=True)

    still = shift.maximum_likelihood(rows(old, 200), old)
    plain = shift.maximum_likelihood(rows(old, 200), old, shrinkage=0)
    assert np.abs(still - old).sum() < 0.5 * np.abs(plain - old).sum()
    new = np.append(np.full(19, 0.01), 0.81)
    moved = shift.maximum_likelihood(rows(new, 200), old)
    assert np.abs(moved - new).sum() < 0.35


def test_no_rows_are_refused():
    with pytest.raises(InvalidInput, match="no rows"):
        shift.maximum_likelihood(np.empty((0, 2)), [0.5, 0.5])


def test_shares_are_the_fixed_point_of_em_and_less_drawn_to_the_old_priors_than_priors_are():
    """Without shrinkage both are one; with it, shares lie nearer to what the rows say."""
    rng = np.random.default_rng(8)
    source = np.array([0.5, 0.3, 0.2])
    ratios = rng.dirichlet([1, 1, 1], size=300) / source
    plain = priors.em(ratios, np.ones((1, 300)), source, 0.0)[0]
    assert priors.shares(ratios, plain) == pytest.approx(plain, abs=1e-6)
    drawn = priors.em(ratios, np.ones((1, 300)), source, 0.5)[0]
    shares = priors.shares(ratios, drawn)
    assert shares.sum() == pytest.approx(1)
    assert np.abs(shares - plain).sum() < np.abs(drawn - plain).sum()


def test_shares_of_rows_that_are_plain_are_their_counts():
    """Where each row can be of one class only, whatever the priors."""
    ratios = np.repeat(np.eye(3), [5, 3, 2], axis=0)
    found = priors.shares(ratios, np.array([0.1, 0.1, 0.8]))
    assert found == pytest.approx([0.5, 0.3, 0.2])
