"""Online learners of classes as objects: what they refuse, how they end, partial_fit, and files."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import argmax
from argmax import LinearClassifier, MulticlassPerceptron, SoftmaxRegression, solvers
from argmax.engines import Stored
from argmax.errors import (
    ArgmaxError,
    InvalidInput,
    NoSteps,
    NumericalFailure,
    Unsupported,
    WrongType,
)

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["cat", "dog", "ship"])[Y]
RULES = ("perceptron", "perceptron_sum", "pa1", "pa2")
ALL = (
    "log", "softmax_margin", "hinge", "weston_watkins", "squared_hinge", "squared", "ovr_log", *RULES
)  # fmt: skip


# What is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "perceptron", "penalty": "l2"}, "takes no penalty .* got 'l2'"),
        ({"loss": "perceptron_sum", "penalty": "l1"}, "takes no penalty .* got 'l1'"),
        ({"loss": "pa1", "penalty": "l2"}, "takes no penalty"),
        ({"loss": "perceptron", "C": 2.0}, "would ignore C=2.0"),
        ({"loss": "pa2", "C": np.inf}, "needs a finite C"),
        ({"loss": "perceptron", "cost": np.eye(3)}, "has no cost"),
        ({"loss": "perceptron", "solver": "lbfgs"}, "solver 'lbfgs' needs a smooth loss"),
        ({"loss": "perceptron", "solver": "sgd"}, "solver 'sgd' descends losses of classes"),
        ({"loss": "perceptron", "solver": "passive_aggressive"}, "belongs to loss='pa1' and"),
        ({"loss": "pa1", "solver": "perceptron"}, "belongs to loss='perceptron' and"),
        ({"solver": "perceptron"}, "belongs to loss='perceptron' and .*; the loss is 'log'"),
        ({"loss": "perceptron", "solver": solvers.Perceptron(rate=-1.0)}, "rate must be positive"),
        ({"solver": "sgd", "penalty": "l1"}, "cannot handle an l1 penalty"),
        ({"solver": solvers.SGD("inverse"), "penalty": None}, "needs a penalty"),
        ({"solver": solvers.SGD("inverse", rate=1.0)}, "would ignore rate"),
        ({"solver": solvers.SGD("falling")}, "schedule must be one of"),
        ({"solver": solvers.SGD(rate=0.0)}, "rate must be positive"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(options, words):
    with pytest.raises(ArgmaxError, match=words) as caught:
        LinearClassifier(**options).fit(X, Y)
    assert str(caught.value).endswith(".")


def test_the_narrow_face_has_the_rules_only():
    with pytest.raises(InvalidInput, match="loss must be one of 'perceptron', 'perceptron_sum'"):
        MulticlassPerceptron(loss="log").fit(X, Y)
    with pytest.raises(WrongType, match="C must be a number"):
        MulticlassPerceptron(loss="pa1", C="1").fit(X, Y)


def test_steps_that_go_astray_are_an_error():
    with pytest.raises(NumericalFailure, match="went astray"):
        LinearClassifier("squared", solver=solvers.SGD("constant", rate=10.0)).fit(X, Y)


def test_rows_elsewhere_are_for_partial_fit(tmp_path):
    stored = Stored.write(tmp_path, [(X, Y)])
    for loss in ("perceptron", "pa1"):
        with pytest.raises(Unsupported, match="use partial_fit piece by piece"):
            LinearClassifier(loss).fit(stored)


# How a fit ends


@pytest.mark.parametrize("rule", RULES)
def test_a_clean_pass_is_the_last_one(rule, route):
    separable = np.vstack([X[:50], X[100:]]), np.append(Y[:50], Y[100:])
    model = MulticlassPerceptron(rule, max_iter=500).fit(*separable)
    solution = model.solution_
    assert solution.status == "no mistakes"
    assert len(solution.mistakes) == solution.passes == model.n_iter_ < 500
    assert solution.mistakes[-1] == 0 < solution.mistakes[0]
    assert not solution.converged
    assert solution.gap == np.inf
    assert model.score(*separable) == 1.0


def test_no_warning_after_the_last_epoch_and_both_faces_agree():
    model = MulticlassPerceptron(max_iter=3).fit(X, NAMES)
    assert model.solution_.status == "epochs done"
    assert model.solution_.message == "perceptron: made its 3 epochs."
    same = LinearClassifier("perceptron", max_iter=3).fit(X, NAMES)
    assert model.coef_.tobytes() == same.coef_.tobytes()
    assert LinearClassifier().fit(X, Y).solution_.mistakes == []


def test_averaging_is_the_default_and_orders_repeat():
    fits = [MulticlassPerceptron(random_state=s, max_iter=5).fit(X, Y).coef_ for s in (1, 1, 2)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert (fits[0] != fits[2]).any()
    last = MulticlassPerceptron(average=False, random_state=1, max_iter=5).fit(X, Y)
    assert (last.coef_ != fits[0]).any()


def test_it_has_no_probabilities():
    model = MulticlassPerceptron().fit(X, Y)
    assert not hasattr(model, "predict_proba")
    assert model.decision_function(X).shape == (150, 3)


def test_a_warm_start_goes_on():
    model = MulticlassPerceptron(max_iter=2, warm_start=True, average=False).fit(X, Y)
    before = model.coef_
    model.fit(X, Y)
    assert (model.coef_ != before).any()
    cold = MulticlassPerceptron(max_iter=2, average=False).fit(X, Y)
    np.testing.assert_array_equal(cold.coef_, before)


def test_an_interrupt_keeps_the_weights_so_far():
    def stop(progress):
        if progress.passes == 3:
            raise KeyboardInterrupt

    model = MulticlassPerceptron(callbacks=[stop])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.solution_.status == "interrupted"
    assert len(model.solution_.mistakes) == 3
    np.testing.assert_array_equal(model.coef_, MulticlassPerceptron(max_iter=3).fit(X, Y).coef_)


def test_sgd_ends_with_a_certificate_or_its_epochs():
    model = LinearClassifier(C=0.01, solver="sgd", tol=0.05).fit(X - X.mean(axis=0), Y)
    assert model.solution_.status == "converged"
    assert model.solution_.relative_gap <= 0.05
    few = LinearClassifier(solver="sgd", max_iter=2, tol=1e-9).fit(X, Y).solution_
    assert few.status == "epochs done"
    assert "made its 2 epochs; the objective is at most" in few.message


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("schedule", ["calibrated", "inverse", "inverse_sqrt", "constant"])
def test_every_schedule_learns(schedule, average):
    solver = solvers.SGD(schedule, average=average, rate=0.1 if schedule == "constant" else None)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert LinearClassifier(solver=solver, max_iter=10).fit(scaled, Y).score(scaled, Y) > 0.9


# partial_fit


def test_a_label_or_a_column_never_seen_is_refused_unless_it_may_grow():
    model = MulticlassPerceptron().partial_fit(X[:100], NAMES[:100])
    before = model.coef_.copy()
    with pytest.raises(InvalidInput, match=r"'ship' is none of the classes .* or use grow=True"):
        model.partial_fit(X, NAMES)
    with pytest.raises(InvalidInput, match="X has 5 features, but"):
        model.partial_fit(np.hstack([X, X[:, :1]])[:100], NAMES[:100])
    with pytest.raises(InvalidInput, match="are not those of the calls before"):
        model.partial_fit(X[:100], NAMES[:100], classes=["cat", "dog", "ship"])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.classes_.tolist() == ["cat", "dog"]
    model.partial_fit(np.hstack([X, X[:, :1]]), NAMES, grow=True)
    assert model.classes_.tolist() == ["cat", "dog", "ship"]
    assert model.coef_.shape == (3, 5)
    assert model.n_features_in_ == 5


def test_what_cannot_grow_is_refused():
    model = MulticlassPerceptron().partial_fit(X, Y)
    with pytest.raises(InvalidInput, match="must have at least the 4 of the calls before"):
        model.partial_fit(X[:, :3], Y, grow=True)
    with pytest.raises(ArgmaxError, match=r"labels|strings"):
        model.partial_fit(X, NAMES, grow=True)
    with pytest.raises(InvalidInput, match=r"two classes or more; got \[0\]"):
        MulticlassPerceptron().partial_fit(X[:50], Y[:50], grow=True)
    with pytest.raises(Unsupported, match="'balanced' needs all rows"):
        MulticlassPerceptron(class_weight="balanced").partial_fit(X, Y)
    with pytest.raises(InvalidInput, match="requires y"):
        MulticlassPerceptron().partial_fit(X, None)


def test_names_of_columns_stay_and_new_ones_follow():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = MulticlassPerceptron().partial_fit(frame, Y)
    model.partial_fit(frame.assign(e=1.0), Y, grow=True)
    assert model.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(InvalidInput, match="names of the first 5 columns"):
        model.partial_fit(frame.assign(e=1.0)[list("bacde")], Y, grow=True)


def test_partial_fit_is_not_there_with_an_l1_penalty():
    model = LinearClassifier(penalty="l1")
    assert not hasattr(model, "partial_fit")
    with pytest.raises(NoSteps, match="single steps know no penalty='l1'"):
        model.partial_fit  # noqa: B018
    assert hasattr(SoftmaxRegression(), "partial_fit")


def test_partial_fit_goes_on_from_a_fit_and_a_fit_starts_over():
    model = MulticlassPerceptron(average=False).fit(X, Y)
    before = model.coef_
    model.partial_fit(X[:1], Y[:1])
    assert abs(model.coef_ - before).max() <= abs(X).max()
    model.fit(X, Y)
    np.testing.assert_array_equal(model.coef_, before)


def test_rows_without_weight_are_not_seen():
    weight = (Y != 1) * 1.0
    some = MulticlassPerceptron(shuffle=False).partial_fit(X, Y, sample_weight=weight)
    rest = MulticlassPerceptron(shuffle=False).partial_fit(X[Y != 1], Y[Y != 1], classes=[0, 1, 2])
    np.testing.assert_allclose(some.coef_, rest.coef_, atol=1e-12)


# Files


@pytest.mark.parametrize(
    "model",
    [
        *(MulticlassPerceptron(rule, max_iter=3) for rule in RULES),
        LinearClassifier("perceptron", solver=solvers.Perceptron(rate=0.5), max_iter=3),
        LinearClassifier(solver=solvers.SGD("inverse_sqrt"), max_iter=3),
    ],
    ids=repr,
)
def test_a_model_comes_back_from_its_file(model, tmp_path):
    model.fit(X, NAMES)
    argmax.save(model, tmp_path / "model")
    again = argmax.load(tmp_path / "model")
    assert again.get_params().keys() == model.get_params().keys()
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert again.solution_.mistakes == model.solution_.mistakes
    assert again.solution_.status == model.solution_.status
    again.partial_fit(X, NAMES)
    assert again.predict(X).shape == (150,)


@pytest.mark.parametrize("labels", [NAMES, NAMES == "cat"], ids=["three", "two"])
@pytest.mark.parametrize("loss", ALL)
def test_partial_fit_goes_on_without_an_intercept(loss, labels, tmp_path):
    model = LinearClassifier(loss, fit_intercept=False, random_state=0).fit(X, labels)
    argmax.save(model, tmp_path / "model")
    k = len(model.coef_)
    for one in (model, argmax.load(tmp_path / "model")):
        one.partial_fit(X, labels).partial_fit(X, labels)
        assert one.intercept_.tolist() == [0.0] * k
        assert one.n_iter_ == 2
        assert one.score(X, labels) >= 2 / 3


def test_partial_fit_says_that_it_would_lose_the_intercepts():
    for model in (LinearClassifier().fit(X, Y), LinearClassifier().partial_fit(X, Y)):
        with pytest.raises(InvalidInput, match="intercepts have been learned before"):
            model.set_params(fit_intercept=False).partial_fit(X, Y)
    model = LinearClassifier(fit_intercept=False).fit(X, Y)
    assert model.set_params(fit_intercept=True).partial_fit(X, Y).intercept_.any()


def test_what_partial_fit_learned_comes_back_too(tmp_path):
    model = MulticlassPerceptron().partial_fit(X, Y).partial_fit(X, Y)
    argmax.save(model, tmp_path / "model")
    again = argmax.load(tmp_path / "model")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert len(again.solution_.mistakes) == 2
