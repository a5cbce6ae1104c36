"""Solvers of the structured SVM as users meet them: what is refused, limits, interrupts, snapshots."""

import time

import numpy as np
import pytest

from argmax import CRFTagger, SequenceTagger
from argmax.errors import InvalidInput, NotConverged, Unsupported
from argmax.features import Templates
from argmax.solvers import Auto, FrankWolfe, Report, Subgradient
from tests.laws.chains import Toy

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"], ["the", "cat"]]
Y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "N"]]


def tagger(**options):
    return SequenceTagger(loss="hinge", **options)


def test_auto_takes_frank_wolfe():
    objective = Toy("hinge").objective
    solver, reason = Auto(seed=5).choose(objective)
    assert type(solver) is FrankWolfe
    assert solver.seed == 5
    assert "a dual" in reason
    assert tagger().fit(X, Y).solution_.solver == "frank_wolfe"


REFUSED = [
    ({"solver": "lbfgs"}, "needs a smooth loss"),
    ({"penalty": "l1"}, "needs penalty='l2' and a finite C"),
    ({"penalty": "elasticnet", "l1_ratio": 0.5}, "needs penalty='l2'"),
    ({"penalty": None}, "needs penalty='l2'"),
    ({"C": float("inf")}, "a finite C"),
    ({"solver": "frank_wolfe", "order": 2}, "order=1"),
    ({"solver": "perceptron"}, "belongs to loss='perceptron'"),
    ({"loss": "log", "solver": "frank_wolfe"}, "belongs to loss='hinge'"),
    ({"loss": "log", "solver": "subgradient"}, "belongs to loss='hinge'"),
    ({"loss": "log", "cost_per": "sequence"}, "would ignore cost_per"),
    ({"loss": "perceptron", "cost_per": "sequence"}, "would ignore cost_per"),
    ({"loss": "perceptron", "cost": [[0, 1], [1, 0]]}, "would ignore it"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=str)
def test_what_does_not_go_together_is_said_before_any_work(options, words):
    with pytest.raises(Unsupported, match=words):
        SequenceTagger(**{"loss": "hinge", **options}).fit(X, Y)


def test_templates_of_transitions_are_refused():
    templates = Templates(["word[0]", "edge: word[0]"])
    for loss in ("hinge", "perceptron"):
        with pytest.raises(Unsupported, match="one table of transitions"):
            SequenceTagger(templates, loss=loss).fit(X, Y)


def test_sets_of_labels_are_refused():
    with pytest.raises(Unsupported, match="one label a token"):
        tagger().fit(X, [["D", {"N", "V"}, "V"], *Y[1:]])


def test_cost_per_is_one_of_two():
    with pytest.raises(InvalidInput, match="cost_per must be"):
        tagger(cost_per="node").fit(X, Y)
    assert "cost_per" not in CRFTagger().get_params()


def test_cost_per_sequence_is_a_cost_divided_by_the_length():
    """With sequences of one length it is the table divided by it."""
    same = [x[:2] for x in X], [y[:2] for y in Y]
    cost = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    for loss in ("hinge", "softmax_margin"):
        one = SequenceTagger(loss=loss, cost=cost, cost_per="sequence", tol=1e-9).fit(*same)
        other = SequenceTagger(loss=loss, cost=cost / 2, tol=1e-9).fit(*same)
        assert one.solution_.objective == pytest.approx(other.solution_.objective, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "softmax_margin"])
def test_the_weight_of_a_class_multiplies_its_row_of_costs(loss):
    weights = np.array([1.0, 3.0, 0.5])  # D, N, V
    table = weights[:, None] * (1.0 - np.eye(3))
    by_hand = SequenceTagger(loss=loss, cost=table, tol=1e-9).fit(X, Y)
    named = SequenceTagger(loss=loss, class_weight=dict(zip("DNV", weights, strict=True)), tol=1e-9)
    assert named.fit(X, Y).solution_.objective == pytest.approx(by_hand.solution_.objective)
    tokens = [[weights["DNV".index(label)] for label in labels] for labels in Y]
    plain = SequenceTagger(loss=loss, tol=1e-9)
    found = plain.fit(X, Y, token_weight=tokens).solution_.objective
    assert found == pytest.approx(by_hand.solution_.objective)
    flat = [weight for sequence in tokens for weight in sequence]
    assert plain.fit(X, Y, token_weight=flat).solution_.objective == pytest.approx(found)


@pytest.mark.parametrize("loss", ["log", "perceptron"])
def test_losses_without_costs_refuse_weights_of_classes_and_tokens(loss):
    with pytest.raises(Unsupported, match="class_weight"):
        SequenceTagger(loss=loss, class_weight="balanced").fit(X, Y)
    with pytest.raises(Unsupported, match="token_weight"):
        SequenceTagger(loss=loss).fit(X, Y, token_weight=[[2.0] * len(y) for y in Y])


def test_a_token_needs_one_weight():
    with pytest.raises(InvalidInput, match="tokens in X and 1 weights"):
        tagger().fit(X, Y, token_weight=[[1.0], *[[1.0] * len(y) for y in Y[1:]]])
    with pytest.raises(InvalidInput, match="token_weight must not be negative"):
        tagger().fit(X, Y, token_weight=[[-1.0] * len(y) for y in Y])


@pytest.mark.parametrize("solver", ["frank_wolfe", "subgradient"])
def test_weights_count_as_repetitions_and_none_as_absence(solver):
    weight = [2.0, 1.0, 0.0, 1.0]
    tol = 1e-7 if solver == "frank_wolfe" else 0.01
    options = {"solver": solver, "tol": tol, "max_iter": 5000, "pairs": "all"}
    one = tagger(**options).fit(X, Y, sample_weight=weight)
    rows, labels = [X[0], X[0], X[1], X[3]], [Y[0], Y[0], Y[1], Y[3]]
    other = tagger(**options).fit(rows, labels)
    zero = 12.0  # F(0): the tokens, all wrong
    assert abs(one.solution_.objective - other.solution_.objective) <= 2 * tol * zero
    assert one.predict(X[:2]) == Y[:2]


@pytest.mark.parametrize("solver", ["frank_wolfe", "subgradient"])
@pytest.mark.parametrize("start", [True, False])
def test_constraints_hold_in_training(solver, start):
    """No path begins inside a span, and no weight of such a beginning is learned."""
    rows = [["in", "New", "York"], ["Rome", "fell"], ["from", "New", "Rome", "to", "York"]]
    labels = [["O", "B-X", "I-X"], ["B-X", "O"], ["O", "B-X", "I-X", "O", "B-X"]]
    options = {"constraints": "BIO", "solver": solver, "start": start, "tol": 0.01, "C": 5.0}
    model = tagger(**options, max_iter=5000).fit(rows, labels)
    assert model.predict(rows) == labels
    inside, outside = (model.classes_.tolist().index(label) for label in ("I-X", "O"))
    assert model.start_[inside] == 0.0
    assert model.transitions_[outside, inside] == 0.0
    assert np.isfinite(model.solution_.gap)


def test_the_random_state_decides_and_repeats():
    fits = [tagger(random_state=seed, tol=1e-2).fit(X, Y)._w.tobytes() for seed in (1, 1, 2)]
    assert fits[0] == fits[1]


@pytest.mark.parametrize("solver", [FrankWolfe(), Subgradient()], ids=repr)
def test_limits_end_a_run_with_a_warning_and_a_true_gap(solver):
    for limit in ({"max_iter": 2}, {"time_limit": 0.0}):
        with pytest.warns(NotConverged, match=next(iter(limit))):
            model = tagger(solver=solver, tol=1e-12, **limit).fit(X, Y)
        assert model.solution_.status == next(iter(limit))
        assert model.solution_.passes <= 2
        assert np.isfinite(model.solution_.gap)


@pytest.mark.parametrize("solver", ["frank_wolfe", "subgradient"])
def test_a_callback_sees_a_falling_objective_and_may_stop(solver):
    seen = []

    def listen(progress):
        seen.append(progress.objective)
        return len(seen) == 3

    model = tagger(solver=solver, tol=1e-12, callbacks=[listen]).fit(X, Y)
    assert model.solution_.status == "stopped"
    assert seen == sorted(seen, reverse=True)
    assert model.solution_.objective == seen[-1]


@pytest.mark.parametrize("solver", ["frank_wolfe", "subgradient"])
def test_an_interrupt_keeps_the_best_w(solver):
    def interrupt(progress):
        raise KeyboardInterrupt

    model = tagger(solver=solver, tol=1e-12, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.solution_.status == "interrupted"
    assert model.predict(X[:1]) == Y[:1]


def test_a_snapshot_leads_to_the_same_bits():
    toy, kept = Toy("hinge", C=10.0), []
    start = np.zeros(toy.objective.size)
    with toy.objective.engine.open():
        report = Report(tol=1e-9, callbacks=[lambda progress: kept.append(progress.snapshot())])
        whole = FrankWolfe().minimise(toy.objective, start, report)
        assert len(kept) > 2
        for snapshot in (kept[0], kept[-2]):
            again = FrankWolfe().minimise(toy.objective, start, Report(tol=1e-9), snapshot)
            assert again.w.tobytes() == whole.w.tobytes()
            assert (again.gap, again.passes) == (whole.gap, whole.passes)


def test_a_time_limit_is_kept_inside_an_epoch():
    toy = Toy("hinge", lengths=(4, 3, 5) * 40, C=100.0)
    began = time.perf_counter()
    with toy.objective.engine.open():
        report = Report(tol=1e-14, max_iter=10**6, time_limit=0.2)
        solution = FrankWolfe().minimise(toy.objective, np.zeros(toy.objective.size), report)
    assert solution.status in ("time_limit", "converged")
    assert time.perf_counter() - began < 5.0


def test_places_for_labels_run_out_and_there_are_more(monkeypatch):
    rng = np.random.default_rng(0)
    rows = [[f"w{k}" for k in rng.integers(0, 3, 6)] for _ in range(12)]
    labels = [[f"L{k}" for k in rng.integers(0, 9, 6)] for _ in range(12)]
    found = []
    for room in (2, 32):
        monkeypatch.setattr("argmax.passes.frank_wolfe.ROOM", room)
        found.append(tagger(tol=1e-4).fit(rows, labels).solution_)
    assert abs(found[0].objective - found[1].objective) <= 1e-4 * 12 * 6
