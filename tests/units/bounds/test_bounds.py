"""Each bound against its formula written out, the numbers of the corrections, and its conditions."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import integrate, stats
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from argmax import SoftmaxRegression, bounds, errors
from argmax.bounds.gaussian import gibbs, kl_inverse
from argmax.bounds.linear import Linear
from argmax.bounds.uniform import growth

# The table of the corrections: a linear SVM (hinge, C = 0.01), 30 % held out with seed 0, features
# standardised on the training rows, bias as a column, δ = 0.05.


def fitted(name):
    X, y = {"breast cancer": load_breast_cancer, "digits": load_digits}[name](return_X_y=True)
    y = y if name == "breast cancer" else y % 2
    train, test, a, b = train_test_split(X, y, test_size=0.3, random_state=0)
    scaler = StandardScaler().fit(train)
    train, test = (np.c_[scaler.transform(rows), np.ones(len(rows))] for rows in (train, test))
    options = {"loss": "hinge", "fit_intercept": False, "max_iter": 20_000, "random_state": 0}
    return LinearSVC(C=0.01, **options).fit(train, a), (train, a), (test, b)


@pytest.fixture(scope="module", params=["breast cancer", "digits"])
def table(request):
    model, train, test = fitted(request.param)
    return SimpleNamespace(
        name=request.param, train=train, model=model, report=bounds.report(model, *train, test=test)
    )


PRINTED = {  # n, d, training and test mistakes, VC, Clopper–Pearson (rounded up, as a bound must be)
    "breast cancer": (398, 31, 10, 5, 1.68, 0.061),
    "digits": (1257, 65, 97, 47, 1.47, 0.110),
}


def test_the_vc_and_test_set_columns_of_the_corrections(table):
    n, d, wrong, missed, vc, clopper_pearson = PRINTED[table.name]
    found = table.report
    assert found["VC dimension"].facts["dimension"] == d
    assert round(found["VC dimension"].terms["training mistakes"] * n) == wrong
    assert found["test set"].facts["mistakes"] == missed
    assert round(found["VC dimension"].value, 2) == vc
    assert math.ceil(found["test set"].value * 1000) / 1000 == clopper_pearson


@pytest.mark.parametrize(("name", "most"), [("breast cancer", 0.357), ("digits", 0.528)])
def test_pac_bayes_and_margin_are_no_worse_than_the_corrections_found(name, most):
    """Prior N(0, I); the margin column has the constant for a fixed ρ, at the best one."""
    model, train, _ = fitted(name)
    report = bounds.report(model, *train)
    view = Linear.fitted(model).view(*train, bias=0.0)
    tried = [
        bounds.margin(view.margins, view.radius, rho=rho).value
        for rho in np.geomspace(0.01, view.radius, 500)
    ]
    assert report["PAC-Bayes"].value < most
    assert 1.0 < min(tried) <= {"breast cancer": 1.17, "digits": 1.10}[name]
    assert report["PAC-Bayes"].verdict == "a promise"
    assert report["VC dimension"].verdict == "vacuous"


def test_the_report_leads_with_the_test_set_and_quotes_it(table):
    assert next(iter(table.report)).name == "test set"
    assert table.report.best is table.report["test set"]
    assert len(table.report) == 7
    assert "vacuous" in str(table.report)
    with pytest.raises(
        errors.InvalidInput, match=r"no bound 'nonsense' in this report\. It has 'test"
    ):
        table.report["nonsense"]


# Formulas


def test_finite_class():
    found = bounds.finite(7, 200, math.log(1000), delta=0.1)
    assert found.value == pytest.approx(7 / 200 + math.sqrt((math.log(1000) + math.log(20)) / 400))
    assert sum(found.terms.values()) == pytest.approx(found.value)


def test_vc_counts_labellings_when_there_are_more_features_than_rows():
    """A million features and a thousand points: every labelling is possible, and nothing more is."""
    assert growth(2000, 10**6 + 1) == 2000 * math.log(2)
    assert bounds.vc(0, 1000, 10**6 + 1).vacuous


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_growth_function_is_never_exceeded(k):
    """All labellings that many random classifiers give to a few points in the plane."""
    rng = np.random.default_rng(k)
    for m in (3, 5, 8):
        X = np.c_[rng.normal(size=(m, 2)), np.ones(m)]
        W = rng.normal(size=(20_000, k, 3))
        met = np.unique((W @ X.T).argmax(axis=1), axis=0)
        assert math.log(len(met)) <= growth(m, 3 * (k - 1), k)


def test_rademacher():
    found = bounds.rademacher(0.1, 50, 0.2, delta=0.1)
    assert found.value == pytest.approx(0.3 + math.sqrt(math.log(10) / 100))
    found = bounds.rademacher(0.1, 50, 0.2, empirical=True, delta=0.1)
    assert found.value == pytest.approx(0.3 + 3 * math.sqrt(math.log(20) / 100))


@pytest.mark.parametrize("norm", [0.0, 0.5, 3.0])
def test_the_complexity_of_a_ball_grows_with_its_radius(norm):
    X = np.random.default_rng(0).normal(size=(30, 4))
    assert bounds.ball_complexity(X, norm) == pytest.approx(norm * bounds.ball_complexity(X))


def test_complexities_bound_the_real_ones():
    """E sup over ‖w‖ ≤ Λ of (2/n) Σ σ_i ⟨w, x_i⟩ = (2Λ/n) E ‖Σ σ_i x_i‖; and of thresholds on a line."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    sigma = rng.choice([-1.0, 1.0], size=(4000, 60))
    ball = 2 * 1.5 / 60 * np.linalg.norm(sigma @ X, axis=1).mean()
    assert ball <= bounds.ball_complexity(X, norm=1.5) <= 1.1 * ball
    assert bounds.ball_complexity(sp.csr_array(X), norm=1.5) == pytest.approx(
        bounds.ball_complexity(X, norm=1.5)
    )
    sums = np.cumsum(np.c_[np.zeros(4000), sigma], axis=1)
    thresholds = np.maximum(sums.max(axis=1), (sums[:, -1:] - sums).max(axis=1)).mean()
    assert 2 * thresholds / 60 <= bounds.growth_complexity(60, dimension=2)


def test_margin_fixed_and_chosen():
    margins, n = np.array([-1.0, 0.5, 1.0, 2.0]), 4
    fixed = bounds.margin(margins, 3.0, norm=0.5, rho=1.0, delta=0.1)
    expected = 0.5 + 2 * 1.5 / (1.0 * 2) + math.sqrt(math.log(10) / (2 * n))
    assert fixed.value == pytest.approx(expected)
    tried = [
        np.mean(margins < rho) + 4 * 1.5 / (rho * 2) + math.sqrt(math.log(math.log2(3 / rho)) / n)
        for rho in np.linspace(0.01, 1.5, 2000)
    ]
    chosen = bounds.margin(margins, 3.0, norm=0.5, delta=0.1)
    assert chosen.value == pytest.approx(min(tried) + math.sqrt(math.log(20) / (2 * n)), abs=1e-6)
    many = bounds.margin(margins, 3.0, norm=0.5, rho=1.0, classes=9, delta=0.1)
    assert many.terms["complexity"] == pytest.approx(4 * 3 * 1.5 / 2)


def test_margins_do_not_depend_on_the_scale_of_the_weights():
    margins = np.random.default_rng(0).normal(1.0, 1.0, 500)
    one = bounds.margin(margins, 2.0, norm=1.0)
    other = bounds.margin(7 * margins, 2.0, norm=7.0)
    assert one.value == pytest.approx(other.value)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_weights_whose_squares_leave_the_range_have_the_same_bounds(scale, constant):
    X, y = np.array([[2.0, 1.0], [-1.0, 0.5], [0.5, -3.0]]), [1, 0, 1]
    one, other = (
        bounds.perceptron(X, y, coef=[[size, -size]], intercept=[constant * size], classes=[0, 1])
        for size in (1.0, scale)
    )
    assert one.separable
    assert (other.bound, other.margin) == pytest.approx((one.bound, one.margin))


def test_fat_shattering_and_its_conditions():
    n, gamma = 10**6, 0.25
    found = bounds.fat_shattering(np.full(n, 0.3), 1.0, gamma)
    D = 64 / gamma**2
    logs = math.log2(math.e * n * gamma / 4) * math.log2(128 * n / gamma**2)
    assert found.value == pytest.approx(2 / n * (D * logs + math.log2(80)))
    assert found.holds is None
    assert found.facts["dimension"] == 16.0

    def crossed(*given, **more):
        bound = bounds.fat_shattering(*given, **more)
        return [a.text for a in bound.assumptions if a.holds is False], bound.defined

    fixed = "the margin was fixed beforehand"
    assert crossed(np.full(n, 0.3), 1.0) == ([fixed], True)  # the γ observed is not one fixed
    assert crossed(np.full(n, 0.2), 1.0, gamma) == (["no row is below the margin"], False)
    assert crossed(np.full(100, 0.3), 1.0, gamma) == (["more than 64 R²/γ² rows"], False)
    assert crossed(np.full(n, 0.3), 1.0, gamma, classes=3) == (["two classes"], False)
    assert crossed(np.ones(64), 1.0, 1.0) == (["more than 64 R²/γ² rows"], False)
    assert crossed(np.ones(65), 1.0, 1.0) == ([], True)
    assert math.isnan(bounds.fat_shattering([-0.1, 0.3], 1.0).value)


@pytest.mark.parametrize(("wrong", "n"), [(0, 10), (5, 171), (47, 540), (10, 10)])
def test_clopper_pearson_is_the_largest_share_that_is_not_refuted(wrong, n):
    value = bounds.test_set(wrong, n, delta=0.05).value
    if wrong == n:
        assert value == 1.0
    else:
        assert stats.binom.cdf(wrong, n, value) == pytest.approx(0.05)
        assert value == pytest.approx(stats.binomtest(wrong, n).proportion_ci(0.9).high)


def test_kl_inverse():
    for p, budget in [(0.0, 0.2), (0.1, 0.01), (0.5, 0.3), (0.9, 0.2)]:
        q = kl_inverse(p, budget)
        kl = (p * math.log(p / q) if p else 0.0) + (1 - p) * math.log((1 - p) / (1 - q))
        assert kl == pytest.approx(budget, rel=1e-6)
    assert kl_inverse(1.0, 0.1) == 1.0


def test_the_cloud_is_wrong_as_often_as_is_computed():
    """Quadrature against an integral by adaptive rule, and two classes against one weight vector."""
    s, mu = np.array([0.9, 0.1, -0.3, -0.7]), 3.0

    def right(t):
        return stats.norm.pdf(t - mu * s[1]) * np.prod(stats.norm.cdf(t - mu * np.delete(s, 1)))

    leads = (s[1] - s)[None]
    leads[0, 1] = np.inf
    assert gibbs(leads, mu) == pytest.approx(1 - integrate.quad(right, -20, 20)[0], abs=1e-9)
    pair = np.array([[np.inf, 0.4]])  # s_y − s_c with noise in both: variance 2
    assert gibbs(pair, mu) == pytest.approx(gibbs(np.array([0.4 / math.sqrt(2)]), mu), abs=1e-10)


def test_pac_bayes_takes_the_best_scale():
    rng = np.random.default_rng(0)
    scores = rng.normal(0.3, 0.2, 400)
    best = bounds.pac_bayes(scores)
    others = [bounds.pac_bayes(scores, scale=scale).value for scale in np.geomspace(0.1, 30, 50)]
    assert best.value <= min(others) + 1e-3
    both = np.stack([-scores, scores], axis=1) / math.sqrt(2)  # the same, as two classes
    two = bounds.pac_bayes(both, np.ones(400, int), scale=best.facts["scale"])
    assert two.value == pytest.approx(best.value, abs=1e-8)


@pytest.mark.parametrize("n", [8, 50, 1000])
def test_pac_bayes_pays_for_the_move_and_for_all_counts_of_mistakes(n):
    """Nothing wrong in training: kl(0 ‖ q) = −log(1 − q), so the budget can be read off the bound.

    What it must cover is Maurer's sum over all counts of mistakes, which 2√n bounds from above.
    """
    delta, scale = 0.05, 1.5
    found = bounds.pac_bayes(np.full(n, 50.0), scale=scale, delta=delta)
    spent = -n * math.log1p(-found.facts["gibbs"])
    mistakes = np.arange(n + 1)
    counts = stats.binom.pmf(mistakes, n, mistakes / n).sum()
    assert spent >= scale**2 / 2 + math.log(counts / delta)
    assert spent == pytest.approx(scale**2 / 2 + math.log(2 * math.sqrt(n) / delta), rel=1e-6)
    assert found.value == pytest.approx(2 * found.facts["gibbs"])


# Fits


def test_a_report_of_many_classes_and_of_sparse_rows_agree():
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression(C=10.0).fit(X, y)
    dense, sparse = (bounds.report(model, rows, y) for rows in (X, sp.csr_array(X)))
    for one, other in zip(dense, sparse, strict=True):
        assert one.value == pytest.approx(other.value, nan_ok=True)
    assert dense["VC dimension"].facts == {"dimension": 10, "classes": 3}
    wrong = (model.predict(X) != y).mean()
    assert dense["VC dimension"].terms["training mistakes"] == pytest.approx(wrong)


def test_two_rows_of_weights_for_two_classes_are_one():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression(C=0.1).fit(X, y)
    halves = np.vstack([-model.coef_, model.coef_]) / 2
    intercept = np.concatenate([-model.intercept_, model.intercept_]) / 2
    twin = SimpleNamespace(coef_=halves, intercept_=intercept, classes_=model.classes_)
    for one, other in zip(bounds.report(model, X, y), bounds.report(twin, X, y), strict=True):
        assert one.value == pytest.approx(other.value, nan_ok=True)


def test_what_you_know_ticks_and_crosses():
    model, (X, y), _ = fitted("breast cancer")
    known = bounds.report(model, X, y, radius=30.0, rho=0.5, fixed_features=True, independent=True)[
        "margin, ρ fixed"
    ]
    assert known.holds is True
    assert known.facts["radius"] == 30.0
    biased = bounds.report(LogisticRegression().fit(X, y), X, y, radius=30.0)["margin, ρ chosen"]
    assert biased.facts["radius"] == pytest.approx(math.hypot(30.0, 1.0))  # the constant behind x
    too_short = bounds.report(model, X, y, radius=1.0)["margin, ρ chosen"]
    assert too_short.holds is False
    learned = bounds.report(model, X, y, fixed_features=False)["PAC-Bayes"]
    assert learned.verdict == "no promise"
    assert bounds.report(model, X, y, fixed_features=False).best is None


def test_labels_that_the_model_does_not_know():
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression().fit(X, y)
    found = bounds.report(model, X, y, test=(X[:50], np.full(50, 7)))
    assert found["test set"].value == 1.0
    with pytest.raises(errors.InvalidInput, match="labels that the model does not know, such as 7"):
        bounds.report(model, X, np.full(150, 7))


# Plans


@pytest.mark.parametrize(
    ("kind", "known", "gap"),
    [
        ("finite", {"log_size": 20.0}, lambda n: bounds.finite(0, n, 20.0).value),
        ("vc", {"dimension": 5}, lambda n: bounds.vc(0, n, 5).value),
        (
            "rademacher",
            {"dimension": 12, "classes": 4},
            lambda n: bounds.rademacher(0.0, n, bounds.growth_complexity(n, 12, 4)).value,
        ),
        (
            "margin",
            {"radius": 2.0, "rho": 0.5},
            lambda n: bounds.margin(np.full(n, 1.0), 2.0, rho=0.5).value,
        ),
        ("test", {}, lambda n: math.sqrt(math.log(20) / (2 * n))),
    ],
)
def test_the_planned_number_of_rows_is_the_least(kind, known, gap):
    n = bounds.sample_size(kind, 0.1, **known)
    assert gap(n) <= 0.1 < gap(n - 1)


def test_plans_for_rare_mistakes_need_fewer_rows():
    n = bounds.sample_size("test", 0.02, error=0.05)
    assert bounds.test_set(math.floor(0.05 * n), n).value - 0.05 <= 0.02
    assert n < bounds.sample_size("test", 0.02, error=0.3) < bounds.sample_size("test", 0.02)


# Errors


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: bounds.vc(0.1, 10, 3), "mistakes must be a whole number, not a share; got 0.1"),
        (lambda: bounds.vc(11, 10, 3), "mistakes must be at least 0 and at most 10"),
        (lambda: bounds.test_set(1, 10, delta=1.0), "delta must be less than 1"),
        (lambda: bounds.margin([], 1.0), "margins must be finite numbers, one a row"),
        (lambda: bounds.pac_bayes(np.ones((3, 2))), "of shape \\(n,\\) without labels"),
        (lambda: bounds.pac_bayes(np.ones((2, 2))), r"of shape \(n,\) without labels"),
        (lambda: bounds.pac_bayes([]), r"of shape \(n,\) without labels"),
        (lambda: bounds.pac_bayes([1.0, np.inf]), "scores must be finite"),
        (lambda: bounds.pac_bayes(np.ones((2, 2)), [0, 5]), "columns of the true classes, 0 to 1"),
        (lambda: bounds.perceptron([[1.0]], [0], coef=[[1.0]], classes=[0, 1], passes=0), "passes must"),
        (lambda: bounds.perceptron(np.ones((0, 1)), [], coef=[[1.0]], classes=[0, 1]), "X has no rows"),
        (lambda: bounds.perceptron([[1.0]], [0], coef=[[np.nan]], classes=[0, 1]), "must be finite"),
        (lambda: bounds.perceptron([[1e200]], [0], coef=[[1.0]], classes=[0, 1]), "length overflows"),
        (lambda: bounds.sample_size("vc", 0.1), "kind 'vc' needs dimension"),
        (lambda: bounds.sample_size("test", 0.1, rho=1.0), "'test' would ignore rho. It takes error"),
        (lambda: bounds.sample_size("magic", 0.1), "kind must be one of 'test'"),
        (lambda: bounds.report(object(), [[1.0]], [1]), "model must be a fitted linear classifier"),
        (
            lambda: bounds.perceptron([[1.0]], [0], coef=[[1.0]], classes=[0, 1, 2]),
            r"coef must have one row a class \(3\)",
        ),
        (
            lambda: bounds.perceptron([[1.0]], [0], coef=[[1.0]], intercept=[1], classes=[0, 1], bias=0),
            "bias=0 leaves no room for an intercept",
        ),
        (
            lambda: bounds.perceptron(
                [[1.0]], [0], coef=[[1.0], [2.0]], intercept=[0, 1], classes=[0, 1], bias=0
            ),
            "bias=0 leaves no room for an intercept",
        ),
        (
            lambda: bounds.perceptron([[1.0, 2.0]], [0], coef=[[1.0]], classes=[0, 1]),
            "X has 2 columns, and the weights are for 1",
        ),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(call, sentence):
    with pytest.raises(errors.ArgmaxError, match=sentence):
        call()


def test_a_margin_next_to_nothing_is_no_overflow():
    found = bounds.perceptron([[1.0], [-1e-200]], [1, 0], coef=[[1.0]], classes=[0, 1], bias=0)
    assert found.bound == math.inf
    assert "at most inf" in str(found)
    assert not bounds.fat_shattering([1e-200, 1.0], 1.0).defined
