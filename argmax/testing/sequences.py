"""The manners of a sequence estimator: what scikit-learn's own checks ask of classifiers, for sequences."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ..data import corpus
from .comparing import holds, same

__all__ = ["check_sequence_estimator"]

LONG = 100_000
"""Tokens of the one long sequence."""

CLOSE = 1e-3
"""How far probabilities of two fits may be apart that minimise the same function."""

ANSWERS = "predict", "predict_marginals"


def check_sequence_estimator(
    estimator: Any,
    *,
    token: Callable[[str], Any] = str,
    numbers: bool = True,
    online: bool = False,
) -> None:
    """Check that a tagger follows scikit-learn's manners, for sequences of any length.

    ``fit(X, y)`` and ``predict(X)`` take and give lists of lists; ``predict_marginals``, ``log_likelihood``,
    ``sample_weight`` and ``n_threads`` are checked if the estimator has them. ``token`` makes a token of a
    word, if tokens are no strings. ``numbers`` says that sequences of rows of numbers are taken as well;
    ``online``, that the order of the sequences matters, so that neither another order nor a weight in the
    place of a repetition gives the same answer.

    An estimator that passes: clones, and keeps its parameters; says when it is not fitted; takes an empty
    sequence, refuses an empty corpus and says which lengths differ; is not put off by features and labels
    that it never saw; gives the same bits twice, after pickling, and for any number of threads; changes
    nothing that it is given, and nothing of itself if it fails; and works in pipelines and searches.

    >>> from argmax import CRFTagger
    >>> from argmax.testing import check_sequence_estimator
    >>> check_sequence_estimator(CRFTagger())
    """
    case = _Case(estimator, token, numbers, online)
    for check in _checks():
        name = check.__name__.removeprefix("_check_").replace("_", " ")
        try:
            check(case, f"{type(estimator).__name__}, {name}")
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(
                f"{name}: {type(error).__name__}: {error} ({estimator!r})."
            ) from error


@dataclass(frozen=True)
class _Case:
    """An estimator to check, and sentences for it."""

    estimator: Any
    token: Callable[[str], Any]
    numbers: bool
    online: bool

    def new(self, **parameters: Any) -> Any:
        """An unfitted copy, with those of the parameters that it has."""
        known = self.estimator.get_params()
        chosen = {name: value for name, value in parameters.items() if name in known}
        return clone(self.estimator).set_params(**chosen)

    def data(self, n: int = 20, seed: int = 0) -> tuple[list[Any], list[Any]]:
        """n sentences, and the part of speech of each word."""
        written = corpus.sentences(n, seed)
        words, labels = written.sequences("word"), written.sequences("pos")
        return [[self.token(str(word)) for word in sentence] for sentence in words], labels

    def fitted(self, **parameters: Any) -> tuple[Any, list[Any], list[Any]]:
        X, y = self.data()
        return self.new(**parameters).fit(X, y), X, y


def _checks() -> Iterator[Callable[[_Case, str], None]]:
    """The checks, in the order in which they stand in this file."""
    for name, value in globals().items():
        if name.startswith("_check_"):
            yield value


# An estimator like others


def _check_parameters(case: _Case, where: str) -> None:
    model = clone(case.estimator)
    holds(repr(clone(model)) == repr(model), "a clone has other parameters", where)
    holds(model.set_params(**model.get_params(deep=False)) is model, "set_params gives self", where)
    fitted, _, _ = case.fitted()
    holds(repr(fitted) == repr(model), "fit changes parameters", where)
    holds(not is_classifier(model), "it says that it is a classifier of rows", where)


def _check_unfitted(case: _Case, where: str) -> None:
    X, y = case.data(2)
    for name, given in (*((answer, (X,)) for answer in ANSWERS), ("score", (X, y))):
        if hasattr(case.estimator, name):
            _raises(NotFittedError, (), where, getattr(case.new(), name), *given)


def _check_fit_gives_self(case: _Case, where: str) -> None:
    X, y = case.data()
    model = case.new()
    holds(model.fit(X, y) is model, "fit must return the estimator", where)
    found, truth = (
        [label for labels in given for label in labels] for given in (model.predict(X), y)
    )
    share = np.mean([a == b for a, b in zip(found, truth, strict=True)])
    same("score: the share of the labels that are predicted", model.score(X, y), share, where)


def _check_pickling(case: _Case, where: str) -> None:
    model, X, y = case.fitted()
    again = pickle.loads(pickle.dumps(model))
    holds(_bits(again, X, y) == _bits(model, X, y), "other answers after pickling", where)
    pickle.loads(pickle.dumps(case.new())).fit(X, y)


def _check_pipelines_and_searches(case: _Case, where: str) -> None:
    X, y = case.data()
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    pipeline = make_pipeline(FunctionTransformer(), case.new()).fit(X_train, y_train)
    holds(
        pipeline.predict(X_test) == case.new().fit(X_train, y_train).predict(X_test),
        "a pipeline with nothing in it changes the answer",
        where,
    )
    holds(0.0 <= pipeline.score(X_test, y_test) <= 1.0, "score is no share", where)
    scores = cross_val_score(case.new(), X, y, cv=KFold(2))
    holds(bool(np.isfinite(scores).all()), f"cross_val_score gives {scores}", where)
    grid = {name: [value] for name, value in case.estimator.get_params(deep=False).items()}
    search = GridSearchCV(case.new(), grid, cv=2).fit(X, y)
    holds(len(search.predict(X)) == len(X), "a search answers for other sequences", where)


# What is no sequence, or none that training had


def _check_no_sequences(case: _Case, where: str) -> None:
    nothing: list[Any]
    for nothing in ([], [[]]):
        _raises((ValueError, TypeError), (), where, case.new().fit, nothing, nothing)
    model, _, _ = case.fitted()
    for answer in ANSWERS:
        if hasattr(model, answer):
            holds(getattr(model, answer)([]) == [], f"{answer}([]) must be []", where)
            holds(
                [len(part) for part in getattr(model, answer)([[]])] == [0],
                f"{answer}([[]]) must be one empty sequence",
                where,
            )


def _check_an_empty_sequence(case: _Case, where: str) -> None:
    model, X, y = case.fitted()
    with_it = case.new().fit([X[0], [], *X[1:]], [y[0], [], *y[1:]])
    holds(with_it.predict(X) == model.predict(X), "an empty sequence changes the fit", where)
    both = model.predict([X[0], [], X[1]])
    holds(both == [*model.predict(X[:1]), [], *model.predict(X[1:2])], "predict: around it", where)
    score = model.score([X[0], [], X[1]], [y[0], [], y[1]])
    same("score: with an empty sequence", score, model.score(X[:2], y[:2]), where)


def _check_lengths_that_differ(case: _Case, where: str) -> None:
    X, y = case.data()
    wrong = [*y[:3], y[3][:-1], *y[4:]]
    says = "3", str(len(y[3])), str(len(wrong[3]))
    _raises(ValueError, says, where, case.new().fit, X, wrong)
    _raises(ValueError, (str(len(X)), str(len(X) - 1)), where, case.new().fit, X, y[:-1])
    _raises(ValueError, says, where, case.fitted()[0].score, X, wrong)


def _check_unknown_features(case: _Case, where: str) -> None:
    model, _, y = case.fitted()
    known = {label for labels in y for label in labels}
    (answer,) = model.predict([[case.token("Qxzzz"), case.token("qxzzy")]])
    holds(len(answer) == 2 and set(answer) <= known, f"predict gives {answer}", where)
    if hasattr(model, "predict_marginals"):
        (p,) = model.predict_marginals([[case.token("Qxzzz")]])
        same("predict_marginals: sum", p.sum(axis=1), 1.0, where)


def _check_unknown_labels(case: _Case, where: str) -> None:
    model, X, y = case.fitted()
    guess = model.predict(X[:1])[0]
    strange = [["never seen", *guess[1:]]]
    share = 1 - 1 / len(guess)
    same("score: a label never seen is a mistake", model.score(X[:1], strange), share, where)
    if hasattr(model, "log_likelihood"):
        found = model.log_likelihood(X[:2], [*strange, y[1]])
        right = bool(np.isneginf(found[0]) and np.isfinite(found[1]))
        holds(right, f"log_likelihood of a label never seen, and of others: {found}", where)


def _check_labels_that_are_numbers(case: _Case, where: str) -> None:
    X, y = case.data()
    place = {label: i - 3 for i, label in enumerate(sorted({v for labels in y for v in labels}))}
    codes = [[place[label] for label in labels] for labels in y]
    words, numbers = case.new().fit(X, y), case.new().fit(X, codes)
    expected = [[place[label] for label in labels] for labels in words.predict(X)]
    holds(numbers.predict(X) == expected, "numbers for labels: other answers", where)
    flat = [type(label) for labels in numbers.predict(X) for label in labels]
    holds(set(flat) == {int}, f"numbers for labels come back as {set(flat)}", where)


# Answers that are the same, because the question is


def _check_weights_are_repetitions(case: _Case, where: str) -> None:
    if case.online:
        return
    X, y = case.data()
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    often = np.repeat(np.arange(len(X)), counts)
    weighted = case.new(tol=1e-9).fit(X, y, sample_weight=counts)
    repeated = case.new(tol=1e-9).fit([X[i] for i in often], [y[i] for i in often])
    _same_answers(weighted, repeated, X, where)


def _check_order_of_sequences(case: _Case, where: str) -> None:
    model, X, y = case.fitted(tol=1e-9)
    order = np.random.default_rng(1).permutation(len(X)).tolist()
    shuffled = [X[i] for i in order]
    answers = model.predict(X)
    holds(model.predict(shuffled) == [answers[i] for i in order], "predict: another order", where)
    if not case.online:
        other = case.new(tol=1e-9).fit(shuffled, [y[i] for i in order])
        _same_answers(model, other, X, where)


def _check_some_of_the_sequences(case: _Case, where: str) -> None:
    model, X, _ = case.fitted()
    holds(model.predict(X[3:7]) == model.predict(X)[3:7], "predict: fewer sequences", where)
    if hasattr(model, "predict_marginals"):
        p = model.predict_marginals(X)
        for i in (0, 5):
            same("predict_marginals: one sequence", model.predict_marginals([X[i]])[0], p[i], where)


def _check_fitting_twice(case: _Case, where: str) -> None:
    model, X, y = case.fitted()
    first = _bits(model, X, y)
    holds(_bits(model.fit(X, y), X, y) == first, "a second fit has other bits", where)
    model.fit(*case.data(9, seed=5))
    holds(_bits(model.fit(X, y), X, y) == first, "a fit remembers an earlier one", where)


def _check_threads(case: _Case, where: str) -> None:
    if "n_threads" not in case.estimator.get_params():
        return
    X, y = case.data(150)
    bits = [_bits(case.new(n_threads=n).fit(X, y), X, y) for n in (1, 2, 7)]
    holds(bits[0] == bits[1] == bits[2], "other bits with more threads", where)


def _check_a_long_sequence(case: _Case, where: str) -> None:
    model, X, _ = case.fitted()
    tokens = [token for sequence in X for token in sequence]
    long = (tokens * (LONG // len(tokens) + 1))[:LONG]
    (labels,) = model.predict([long])
    holds(len(labels) == LONG, f"predict gives {len(labels)} labels for {LONG} tokens", where)
    if hasattr(model, "predict_marginals"):
        (p,) = model.predict_marginals([long])
        same("predict_marginals: sums of a long sequence", p.sum(axis=1), 1.0, where, 1e-6)


# What it is given, and what it is


def _check_read_only_arrays(case: _Case, where: str) -> None:
    X, y = case.data()
    arrays = [_locked(np.array(labels)) for labels in y]
    model = case.new().fit(X, arrays)
    holds(model.predict(X) == case.new().fit(X, y).predict(X), "labels in arrays", where)
    if case.numbers:
        rng = np.random.default_rng(2)
        rows = [_locked(rng.normal(size=(len(labels), 4))) for labels in y]
        answers = case.new().fit(rows, arrays).predict(rows)
        holds(list(map(len, answers)) == list(map(len, y)), "rows of numbers", where)


def _check_nothing_given_is_changed(case: _Case, where: str) -> None:
    X, y = case.data()
    before = copy.deepcopy((X, y))
    case.new().fit(X, y).predict(X)
    holds((X, y) == before, "fit or predict changes X or y", where)


def _check_a_failed_fit(case: _Case, where: str) -> None:
    model, X, y = case.fitted()
    before = _bits(model, X, y)
    for wrong in ((X, y[:-1]), ([], []), (X[:4], [*y[:3], y[3][1:]])):
        _raises((ValueError, TypeError), (), where, model.fit, *wrong)
        holds(_bits(model, X, y) == before, "a fit that fails changes the model", where)
    fresh = case.new()
    _raises((ValueError, TypeError), (), where, fresh.fit, X, y[:-1])
    _raises(NotFittedError, (), where, fresh.predict, X)


# Small parts


def _raises(
    kind: Any, says: tuple[str, ...], where: str, call: Callable[..., Any], *given: Any
) -> None:
    """The call raises an error of this kind whose message has all of these words."""
    named = getattr(call, "__name__", repr(call))
    try:
        call(*given)
    except kind as error:
        missing = [word for word in says if word not in str(error)]
        holds(not missing, f"{named}: the error must say {missing}; it says '{error}'", where)
    except Exception as error:
        raise AssertionError(f"{named}: {error!r} is not the error for this ({where}).") from error
    else:
        raise AssertionError(f"{named}: must raise, and answers ({where}).")


def _bits(model: Any, X: list[Any], y: list[Any]) -> list[Any]:
    """Everything that the model says about the sequences, to be compared by ==."""
    found: list[Any] = [model.predict(X), model.score(X, y)]
    if hasattr(model, "predict_marginals"):
        found += [p.tobytes() for p in model.predict_marginals(X)]
    if hasattr(model, "log_likelihood"):
        found.append(np.asarray(model.log_likelihood(X, y)).tobytes())
    return found


def _same_answers(one: Any, other: Any, X: list[Any], where: str) -> None:
    """Two optima of one function: probabilities nearly equal, or else labels equal."""
    if not hasattr(one, "predict_marginals"):
        holds(one.predict(X) == other.predict(X), "other labels", where)
        return
    for p, q in zip(one.predict_marginals(X), other.predict_marginals(X), strict=True):
        same("predict_marginals", p, q, where, CLOSE)


def _locked(array: Any) -> Any:
    array.flags.writeable = False
    return array
