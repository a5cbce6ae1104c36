"""Laws of learning label sequences: enumeration, finite differences, equal bits, equal optima."""

import itertools

import numpy as np
import pytest

from argmax import CRFTagger, SequenceTagger, SoftmaxRegression, costs, engines, losses, solvers
from argmax.features import Given
from argmax.layouts import Pairs
from argmax.objective import Objective
from argmax.passes import Problem, sequences
from argmax.records import Csr, Structures, Truth
from argmax.spaces import Chain, constraints

LENGTHS = (3, 1, 4, 0, 2)


def corpus(seed=0, lengths=LENGTHS, d=9, k=3, values=False, legal=None):
    """Random tokens with three attributes each, some of them everywhere, some once."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n = int(offsets[-1])
    columns = [np.unique(np.append(rng.integers(1, d, 2), 0)) for _ in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(c) for c in columns])])
    indices = np.concatenate(columns).astype(np.int32)
    data = rng.standard_normal(len(indices)) if values else None
    labels = rng.integers(0, k, n)
    if legal is not None:
        for t in range(n):
            first = t in offsets[:-1]
            fine = legal.start if first else legal.follow[labels[t - 1]]
            last = t + 1 in offsets[1:]
            fine = fine & legal.end if last else fine
            labels[t] = rng.choice(np.flatnonzero(fine))
    return Csr(indptr, indices, data, d), labels, offsets


def objective(
    data, k=3, *, loss="log", fold=False, every=False, start=True, order=1, rules=None, weight=None,
    allowed=None, precise=True, threads=1, C=0.7, l2=1.0,
):  # fmt: skip
    rows, labels, offsets = data
    space = Chain(k, order, constraints=rules)
    layout = Pairs.observed(
        rows, labels, k, fold=fold, every=every, start=start, states=space.states, precise=precise
    )
    named = losses.get(loss)
    cost = costs.zero_one(k) if named.takes_cost else None
    truth = Truth(labels, weight, cost, allowed)
    shards = engines.cut(Structures(rows, offsets), truth, layout)
    return Objective(Problem(space, layout, named), shards, engines.Threads(threads), C, 0.0, l2)


def by_hand(F, w):
    """C Σ s_i loss_i, one path after the other."""
    layout, shard, space = F.problem.pairs, F.shards[0], F.problem.space
    rows, offsets, truth = shard.structures.rows, shard.structures.offsets, shard.truth
    plain, v = layout.unfolded(w)
    parts, k = plain.named(v), layout.labels
    coef, rules = parts["coef"].toarray(), space.constraints
    total = 0.0
    for i in range(len(offsets) - 1):
        tokens = range(offsets[i], offsets[i + 1])
        scores = []
        for y in itertools.product(range(k), repeat=len(tokens)):
            value, right = 0.0, True
            for j, t in enumerate(tokens):
                some = slice(rows.indptr[t], rows.indptr[t + 1])
                x = 1.0 if rows.values is None else rows.values[some]
                value += (coef[y[j], rows.indices[some]] * x).sum()
                value += parts["start"][y[j]] if j == 0 else 0.0
                if j and space.order == 1:
                    value += parts["transitions"][y[j - 1], y[j]]
                if j and space.order == 2:
                    before = y[j - 2] if j > 1 else k
                    value += parts["transitions"][before * k + y[j - 1], y[j]]
                if truth.allowed is not None:
                    right &= bool(truth.allowed[t, y[j]])
                else:
                    right &= y[j] == truth.labels[t]
                if rules is not None and j:
                    value += 0.0 if rules.follow[y[j - 1], y[j]] else -np.inf
                if rules is not None and j == 0:
                    value += 0.0 if rules.start[y[j]] else -np.inf
                if rules is not None and j == len(tokens) - 1:
                    value += 0.0 if rules.end[y[j]] else -np.inf
            wrong = sum(int(a != truth.labels[t]) for a, t in zip(y, tokens, strict=True))
            scores.append((value, right, wrong))
        value, right, wrong = (np.array(column) for column in zip(*scores, strict=True))
        gold = np.logaddexp.reduce(value[right])
        name = F.problem.loss.name
        top = {
            "log": lambda: np.logaddexp.reduce(value),  # noqa: B023
            "softmax_margin": lambda: np.logaddexp.reduce(value + wrong),  # noqa: B023
            "hinge": lambda: (value + wrong).max(),  # noqa: B023
            "perceptron": lambda: value.max(),  # noqa: B023
        }[name]()
        total += (1.0 if truth.weight is None else truth.weight[i]) * (top - gold)
    return F.C * total


RULES = constraints.Constraints(
    ("a", "b", "c"),
    np.array([True, True, False]),
    np.array([True, True, True]),
    np.array([[True, True, True], [True, True, False], [False, True, True]]),
)
ALLOWED = np.random.default_rng(3).random((10, 3)) < 0.5
CASES = {
    "plain": {},
    "folded": {"fold": True},
    "all pairs": {"every": True},
    "no start": {"start": False},
    "weighted": {"weight": np.array([0.5, 2.0, 1.5, 1.0, 0.25])},
    "softmax margin": {"loss": "softmax_margin", "fold": True},
    "order 2": {"order": 2, "fold": True},
    "order 2, softmax margin": {"order": 2, "loss": "softmax_margin"},
    "order 2, hinge": {"order": 2, "loss": "hinge", "fold": True},
    "order 2, perceptron": {"order": 2, "loss": "perceptron"},
    "order 2, constraints": {"order": 2, "rules": RULES},
    "order 2, constraints, hinge": {"order": 2, "rules": RULES, "loss": "hinge"},
    "order 2, partial labels": {"order": 2, "every": True, "allowed": ALLOWED},
    "order 2, weighted": {"order": 2, "weight": np.array([0.5, 2.0, 1.5, 0.0, 0.25])},
    "hinge": {"loss": "hinge"},
    "perceptron": {"loss": "perceptron"},
    "constraints": {"rules": RULES},
    "partial labels": {"every": True, "allowed": ALLOWED},
    "weighted partial labels": {
        "every": True, "allowed": ALLOWED, "weight": np.array([0.5, 2.0, 1.5, 1.0, 0.25]),
    },
}  # fmt: skip


def case(name, values=False, **options):
    given = {**CASES[name], **options}
    rules = given.get("rules")
    rows, labels, offsets = corpus(values=values, legal=rules)
    allowed = given.get("allowed")
    if allowed is not None:
        allowed = allowed | (np.arange(3) == labels[:, None])
        given["allowed"] = allowed
    return objective((rows, labels, offsets), **given)


@pytest.mark.parametrize("values", [False, True], ids=["indicators", "values"])
@pytest.mark.parametrize("name", CASES)
def test_the_loss_is_the_sum_over_all_paths(name, values):
    F = case(name, values and not CASES[name].get("fold"))
    w = np.random.default_rng(1).standard_normal(F.size)
    assert F.at(w).loss == pytest.approx(by_hand(F, w), rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_that_of_finite_differences(name):
    F = case(name)
    rng = np.random.default_rng(2)
    w, v = rng.standard_normal(F.size), rng.standard_normal(F.size)
    step = 1e-6
    slope = (F.at(w + step * v).value - F.at(w - step * v).value) / (2 * step)
    assert F.at(w).gradient @ v == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    "name", ["plain", "folded", "order 2", "partial labels", "order 2, partial labels"]
)
def test_float32_is_near_float64(name):
    F, f = case(name), case(name, precise=False)
    w = np.random.default_rng(4).standard_normal(F.size)
    assert f.at(w).value == pytest.approx(F.at(w).value, rel=1e-5)
    np.testing.assert_allclose(f.at(w).gradient, F.at(w).gradient, atol=1e-4)


@pytest.mark.parametrize("far", [50.0, 3000.0])
@pytest.mark.parametrize("name", ["plain", "order 2"])
def test_scores_that_are_far_apart_lose_nothing(name, far):
    F = case(name, precise=False)
    w = np.random.default_rng(5).standard_normal(F.size) * far
    assert F.at(w).loss == pytest.approx(by_hand(F, w), rel=1e-4)
    assert np.isfinite(F.at(w).gradient).all()


@pytest.mark.parametrize("name", ["folded", "partial labels", "hinge", "order 2", "order 2, hinge"])
def test_the_same_bits_for_any_number_of_threads(name, monkeypatch):
    from argmax.passes import sequences

    monkeypatch.setattr(sequences, "PART_TOKENS", 2)
    bits = []
    for threads in (1, 2, 7):
        F = case(name, precise=False, threads=threads)
        w = np.random.default_rng(6).standard_normal(F.size)
        with F.engine.open():
            point = F.at(w)
        bits.append((point.value, point.gradient.tobytes()))
    assert bits[0] == bits[1] == bits[2]


def test_a_pass_of_order_2_is_the_same_in_small_pieces(monkeypatch):
    """Kernels return now and then; only tables of transitions are then added up in other steps."""
    from argmax.passes.stochastic import Walk

    found = []
    for work in (sequences.WORK, 1.0):
        monkeypatch.setattr(sequences, "WORK", work)
        F = case("order 2", precise=False)
        w = np.random.default_rng(6).standard_normal(F.size)
        walk = Walk(F.shards[0], F.problem, w)
        pieces = walk.pieces(walk.visits)
        loss = walk.descend(walk.visits, 0.1, 0.01)
        found.append((F.at(w).value, F.at(w).gradient, loss, walk.flat()))
        assert len(pieces) == (1 if work > 1.0 else len(walk.visits))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def solved(F):
    report = solvers.Report(tol=1e-13, max_iter=2000)
    solution = solvers.LBFGS(warmup=0).minimise(F, np.zeros(F.size), report)
    layout, w = F.problem.pairs.unfolded(solution.w)
    return solution.objective, layout.named(w)


def test_pairs_in_halves_lead_to_the_same_optimum(monkeypatch):
    value, named = solved(case("folded"))
    monkeypatch.setattr("argmax.solvers.pairs.RANGE", 0)
    other, short = solved(case("folded"))
    assert value == pytest.approx(other, rel=1e-10)
    np.testing.assert_allclose(named["coef"].toarray(), short["coef"].toarray(), atol=1e-5)


@pytest.mark.parametrize("precise", [False, True])
def test_a_solver_works_in_the_numbers_of_the_passes(precise):
    F = case("folded", precise=precise)
    report = solvers.Report(tol=1e-4)
    solution = solvers.LBFGS(warmup=0).minimise(F, np.zeros(F.size), report)
    assert solution.w.dtype == F.at(solution.w).gradient.dtype == F.dtype
    assert F.dtype == (np.float64 if precise else np.float32)
    layout, w = F.problem.pairs.unfolded(solution.w)
    assert w.dtype == layout.named(w)["coef"].dtype == np.float64


def test_folded_attributes_have_the_same_optimum():
    value, named = solved(case("folded"))
    other, plain = solved(case("plain"))
    assert value == pytest.approx(other, rel=1e-10)
    np.testing.assert_allclose(named["coef"].toarray(), plain["coef"].toarray(), atol=1e-5)


def test_weights_are_repetitions():
    X = [["a", "b"], ["b"], ["c", "a", "a"]]
    y = [["A", "B"], ["B"], ["B", "A", "A"]]
    weighted = CRFTagger(tol=1e-12).fit(X, y, sample_weight=[2, 1, 3])
    repeated = CRFTagger(tol=1e-12).fit(
        [X[i] for i in (0, 0, 1, 2, 2, 2)], [y[i] for i in (0, 0, 1, 2, 2, 2)]
    )
    X_new = [["a", "c", "b"]]
    np.testing.assert_allclose(
        weighted.predict_marginals(X_new)[0], repeated.predict_marginals(X_new)[0], atol=1e-5
    )


def test_sequences_of_one_token_are_classes():
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((60, 4)), rng.integers(0, 3, 60)
    flat = SoftmaxRegression(fit_intercept=False, tol=1e-13).fit(X, y)
    chain = CRFTagger(start=False, pairs="all", tol=1e-13, features=Given())
    chain.fit(X, y, lengths=[1] * 60)
    np.testing.assert_allclose(chain.coef_.toarray(), flat.coef_, atol=1e-5)
    assert chain.solution_.objective == pytest.approx(flat.solution_.objective, rel=1e-9)


def test_the_optimum_is_that_of_crfsuite(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    rng = np.random.default_rng(8)
    X = [[f"w{w}" for w in rng.integers(0, 12, rng.integers(1, 9))] for _ in range(80)]
    y = [[f"L{(int(w[1:]) + rng.integers(0, 2)) % 3}" for w in x] for x in X]
    features = [[[w, f"-{x[t - 1]}" if t else "BOS"] for t, w in enumerate(x)] for x in X]
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, labels in zip(features, y, strict=True):
        trainer.append(x, labels)
    trainer.set_params(
        {"c1": 0.0, "c2": 0.5, "epsilon": 1e-12, "delta": 1e-14, "max_iterations": 5000}
    )
    trainer.train(path := str(tmp_path / "model.crfsuite"))
    theirs = trainer.logparser.last_iteration["loss"]
    ours = CRFTagger(C=1.0, start=False, tol=1e-12).fit(features, y)
    assert ours.solution_.objective == pytest.approx(theirs, rel=1e-6)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    assert [tagger.tag(x) for x in features] == ours.predict(features)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("rules", "passes"), [(None, 20), (RULES, 100)], ids=["free", "constrained"]
)
def test_averaged_stochastic_passes_go_most_of_the_way(order, rules, passes, monkeypatch):
    from argmax.solvers import averaged

    monkeypatch.setattr(averaged, "MANY", 0)
    data = corpus(9, (8,) * 60, 30, 3, legal=rules)
    F = objective(data, fold=True, precise=False, order=order, rules=rules)
    assert averaged.possible(F)
    best = solvers.LBFGS(warmup=0).minimise(F, np.zeros(F.size), solvers.Report(tol=1e-10))
    w = averaged.averaged_start(F, np.zeros(F.size), passes, solvers.Report())
    assert F.at(w).value - best.objective < 0.05 * (F.zero - best.objective)


def test_a_constraint_is_never_broken():
    rng = np.random.default_rng(10)
    names = ["O", "B-X", "I-X"]
    X = [[f"w{i}" for i in rng.integers(0, 20, 6)] for _ in range(30)]
    y = [["O", "B-X", "I-X", "O", "B-X", "O"] for _ in X]
    tagger = SequenceTagger(constraints="BIO", C=0.1).fit(X, y)
    rules = constraints.bio(sorted(names))
    new = [[f"w{i}" for i in rng.integers(0, 40, 9)] for _ in range(50)]
    place = {name: i for i, name in enumerate(sorted(names))}
    for draw in (tagger.predict(new), [s[0] for s in tagger.sample(new, 1, random_state=0)]):
        codes = np.array([place[label] for labels in draw for label in labels])
        assert not len(rules.violations(codes, np.arange(0, 451, 9)))


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_l1_ends_at_a_certified_optimum(ratio):
    """Subgradient optimality, and a lower bound from the dual that no other w is below."""
    rows, labels, offsets = corpus(11, (5,) * 30, 20, 3)
    F = objective((rows, labels, offsets), C=0.5, l2=1.0 - ratio)
    F.l1 = ratio
    solution = solvers.OrthantWise().minimise(
        F, np.zeros(F.size), solvers.Report(tol=1e-8, max_iter=3000)
    )
    assert solution.status == "converged"
    assert solution.gap <= 1e-8 * F.zero
    g, w = F.at(solution.w).gradient, solution.w
    np.testing.assert_allclose(g[w != 0], -ratio * np.sign(w[w != 0]), atol=1e-3)
    assert np.all(np.abs(g[w == 0]) <= ratio + 1e-3)
    assert (w == 0).any()
    rng = np.random.default_rng(12)
    for size in (1e-3, 0.1):
        assert (
            F.at(w + size * rng.standard_normal(F.size)).value >= solution.objective - solution.gap
        )


def test_the_conjugate_over_paths_is_that_over_classes():
    from argmax.losses import Log
    from argmax.records import Scores
    from argmax.spaces import Classes

    rng = np.random.default_rng(13)
    node, truth = rng.standard_normal((6, 4)), Truth(rng.integers(0, 4, 6), rng.random(6))
    for scale in (0.0, 0.3, 1.0):
        flat = Log().conjugate(Classes(4), Scores(node), truth, scale)
        assert Log().conjugate(Chain(4), Scores(node), truth, scale) == pytest.approx(flat)


def test_transitions_with_features():
    """More features only help, and at the optimum every table balances truth and expectation."""
    X = [["a", "b", "c"], ["b", "a"], ["c", "c", "a", "b"]]
    y = [["A", "B", "B"], ["B", "A"], ["B", "B", "A", "A"]]
    from argmax.features import Templates

    plain = CRFTagger(Templates(["word[0]", "word[-1]"]), tol=1e-12).fit(X, y)
    wide = CRFTagger(Templates(["word[0]", "word[-1]", "edge: word[0]"]), tol=1e-12).fit(X, y)
    assert wide.edge_coef_.shape == (4, 2, 2)
    assert wide.solution_.objective < plain.solution_.objective
    p, k = wide.predict_marginals(X), 2
    assert all(np.allclose(a.sum(axis=1), 1.0) for a in p)
    # At an optimum w = C Σ (truth − expectation), for every table.
    counts = np.zeros((4, k, k))
    names = [str(name) for name in wide.features_.edge_names()]
    space, scores = wide._scores(X, None)
    edges = space.marginals(scores)[1].edge
    at = 0
    for x, labels in zip(X, y, strict=True):
        codes = [0 if label == "A" else 1 for label in labels]
        for t in range(1, len(x)):
            seen = np.zeros((k, k))
            seen[codes[t - 1], codes[t]] = 1.0
            for name in ("bias", f"word[0]={x[t]}"):
                counts[names.index(name)] += seen - edges[at]
            at += 1
    np.testing.assert_allclose(wide.edge_coef_, counts, atol=1e-4)
    assert wide.predict(X) == [[str(v) for v in labels] for labels in wide.predict(X)]
    assert len(wide.explain(X)[2]) == 4


def test_the_perceptron_folds_what_its_updates_share():
    rows, labels, offsets = corpus(14, (6,) * 20, 60, 3)
    found = []
    for fold in (False, True):
        F = objective((rows, labels, offsets), loss="perceptron", fold=fold, precise=False)
        solution = solvers.Perceptron(seed=1).minimise(
            F, np.zeros(F.size), solvers.Report(max_iter=4)
        )
        layout, w = F.problem.pairs.unfolded(solution.w)
        found.append(layout.named(w)["coef"].toarray())
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)
    assert np.abs(found[0]).max() > 0.1


def test_early_stopping_keeps_the_best_on_sequences_held_out():
    rng = np.random.default_rng(15)
    X = [[f"w{w}" for w in rng.integers(0, 60, 6)] for _ in range(120)]
    y = [[("B-X" if int(w[1:]) < 20 else "O") if rng.random() < 0.8 else "O" for w in x] for x in X]
    tagger = CRFTagger(C=100.0, tol=1e-8, early_stopping=True, n_iter_no_change=2).fit(X, y)
    passes, scores = zip(*tagger.validation_scores_, strict=True)
    assert tagger.solution_.status == "stopped"
    assert f"{max(scores):.4f}" in tagger.solution_.message
    assert max(scores[-2:]) <= max(scores)
    assert list(passes) == sorted(passes)


def test_partial_fit_of_the_perceptron_is_the_naive_twin():
    """Two calls with one sequence each: w += Ψ(y) − Ψ(ŷ), and the mean over all sequences."""
    X, y = [["a", "b", "a"], ["b", "c"]], [["A", "B", "B"], ["B", "A"]]
    from argmax.features import Templates

    tagger = SequenceTagger(Templates(["word[0]"]), loss="perceptron", start=False)
    w, t, steps = np.zeros((2, 3)), np.zeros((2, 2)), 0
    total = (np.zeros((2, 3)), np.zeros((2, 2)))
    tagger.features.fit(X)
    for x, labels in zip([X, X[1:], X[:1]], [y, y[1:], y[:1]], strict=True):
        tagger.partial_fit(x, labels)
    order = np.concatenate(
        [
            np.random.default_rng([0, count]).permutation(n) + first
            for count, n, first in ((1, 2, 0), (3, 1, 1), (4, 1, 0))
        ]
    )
    exists = np.zeros((2, 3), bool)
    place = {"a": 0, "b": 1, "c": 2}
    for x, labels in zip(X, y, strict=True):
        for word, label in zip(x, labels, strict=True):
            exists["AB".index(label), place[word]] = True
    for i in order:
        words, right = [place[v] for v in X[i]], ["AB".index(v) for v in y[i]]
        best = max(
            itertools.product(range(2), repeat=len(words)),
            key=lambda p: (
                sum(w[c, a] for c, a in zip(p, words, strict=True))
                + sum(t[a, b] for a, b in itertools.pairwise(p))
            ),
        )
        for c, guess, a in zip(right, best, words, strict=True):
            w[c, a] += 1.0
            w[guess, a] -= 1.0 if exists[guess, a] or guess == c else 0.0
        for (a, b), (c, d) in zip(itertools.pairwise(right), itertools.pairwise(best), strict=True):
            t[a, b] += 1.0
            t[c, d] -= 1.0
        total[0].__iadd__(w)
        total[1].__iadd__(t)
        steps += 1
    # The mean counts w before the first sequence too.
    np.testing.assert_allclose(tagger.coef_.toarray(), total[0] / (steps + 1), atol=1e-6)
    np.testing.assert_allclose(tagger.transitions_, total[1] / (steps + 1), atol=1e-6)


def test_partial_fit_of_a_log_loss_learns():
    rng = np.random.default_rng(16)
    X = [[f"w{w}" for w in rng.integers(0, 9, 8)] for _ in range(200)]
    y = [[f"L{int(w[1:]) % 3}" for w in x] for x in X]
    tagger = SequenceTagger()
    for first in range(0, 200, 50):
        tagger.partial_fit(X[first : first + 50], y[first : first + 50], classes=["L0", "L1", "L2"])
    assert tagger.score(X, y) > 0.99


def test_a_shard_that_forgot_its_rows_gives_the_same_bits():
    given = corpus(9, (8,) * 60, 30, 3)
    whole, settled = (objective(given, fold=True, precise=False) for _ in range(2))
    sequences.settle(settled.shards[0], settled.problem, settled.engine.run)
    assert settled.shards[0].structures.nodes == whole.shards[0].structures.nodes
    assert not len(settled.shards[0].structures.rows.indices)
    w = np.random.default_rng(0).standard_normal(whole.size)
    for F, G in ((whole, settled), (whole.precise(), settled.precise())):
        assert F.at(w).value == G.at(w).value
        assert np.array_equal(F.at(w).gradient, G.at(w).gradient)
    numbers = objective(corpus(values=True), precise=False)
    sequences.settle(numbers.shards[0], numbers.problem, numbers.engine.run)
    assert len(numbers.shards[0].structures.rows.indices)  # float64 may want to read them again


def test_folding_is_undone_and_done_again():
    F = case("folded")
    layout, w = F.problem.pairs, np.random.default_rng(17).standard_normal(F.size)
    assert layout.slots
    plain, v = layout.unfolded(w)
    named = plain.named(v)
    again = layout.folded(named["coef"].T, named["start"], named["edges"])
    np.testing.assert_allclose(again, w, rtol=1e-12)
