"""Faults 29, 32, 33, 34 and 36: signals, limits, threads and forks."""

import json
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from argmax import LinearClassifier, OneVsOne, OneVsRest, SoftmaxRegression
from argmax.errors import ResourceLimit
from argmax.estimators import answers
from argmax.reductions import base as reductions
from tests.faults.cases import problem, refuses, routes, same_bits
from tests.faults.harness import GIB, alone, run

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def say_when_started(progress):
    if progress.passes >= 3:
        print("started", flush=True)


def long_fit(form, fitted_before):
    """A fit of many seconds that says when it has started; then what the interrupt left behind."""
    X, y = problem(n=150_000, d=60, k=6)
    model = SoftmaxRegression()
    if fitted_before:
        before = model.fit(X[:200], y[:200]).coef_.copy()
    model.set_params(tol=1e-14, callbacks=[say_when_started])
    try:
        model.fit(X if form == "dense" else sp.csr_array(X * (np.abs(X) > 1)), y)
    except KeyboardInterrupt:
        left = {"seconds": time.time(), "status": model.solution_.status}
        left["intact"] = fitted_before and bool(np.array_equal(model.coef_, before))
        left["score"] = model.score(X, y)
        print(json.dumps(left))
        raise


@pytest.mark.parametrize(("form", "fitted_before"), [("dense", False), ("sparse", True)])
def test_29_an_interrupt_stops_a_fit_within_a_second(form, fitted_before):
    outcome = run(long_fit, form, fitted_before, interrupt_at="started")
    assert (outcome.error, outcome.status) == ("KeyboardInterrupt", 130), str(outcome)
    left = json.loads(outcome.stdout.splitlines()[-1])
    assert left["seconds"] - outcome.interrupted < 1.0
    assert left["score"] > 1.5 / 6
    assert left["intact"] == fitted_before
    assert left["status"] == ("converged" if fitted_before else "interrupted")


@alone(memory=2 * GIB)
def test_32_a_memory_limit_refuses_and_leaves_the_estimator_as_it_was():
    X, y = problem()
    model = SoftmaxRegression().fit(X, y)
    wide, labels = np.zeros((9000, 3000)), np.arange(9000) // 3
    says = ("3000 features", "GiB are available")
    refuses(model.fit, wide, labels, says=says, error=ResourceLimit)
    long = np.zeros((10**8, 5), np.int8)  # 0.5 GiB, and 4 GiB as float64
    refuses(model.fit, long, np.zeros(len(long), np.int8), says=("allocate",), error=ResourceLimit)
    refuses(model.predict, long, says=("allocate", "fewer rows"), error=ResourceLimit)
    assert model.fit(X, y).solution_.converged


@pytest.mark.parametrize(
    "compiled",
    [
        "always",
        "never",
    ],
)
@alone
def test_33_threads_predict_fit_and_clone_side_by_side(compiled):
    os.environ["ARGMAX_COMPILED"] = compiled
    X, y = problem(n=6000, d=20, k=4)
    model, Cs = SoftmaxRegression(n_threads=2).fit(X, y), (0.01, 0.1, 1.0, 10.0)
    one_by_one = [SoftmaxRegression(C=C).fit(X, y) for C in Cs]
    crowd = Crowd(model, X, y)
    with ThreadPoolExecutor(37) as pool:
        answers = [pool.submit(crowd.predict) for _ in range(32)]
        fits = [pool.submit(crowd.fit, C) for C in Cs]
        clones = pool.submit(crowd.clone)
    assert all(answer.result() for answer in answers)
    for serial, fit in zip(one_by_one, fits, strict=True):
        assert same_bits(serial, fit.result())
    assert same_bits(model, clones.result())


class Crowd:
    """What 37 threads do to one model, all from the same moment on."""

    def __init__(self, model, X, y):
        self.model, self.X, self.y = model, X, y
        self.expected, self.go = model.predict_proba(X), threading.Barrier(37)

    def predict(self):
        self.go.wait()
        answers = (self.model.predict_proba(self.X) for _ in range(3))
        return all(np.array_equal(answer, self.expected) for answer in answers)

    def fit(self, C):
        self.go.wait()
        return SoftmaxRegression(C=C).fit(self.X, self.y)

    def clone(self):
        self.go.wait()
        return clone(self.model).fit(self.X, self.y)


def in_child(seed):
    """What a forked child does: answer with a model made before, and make one of its own."""
    X, y = problem(n=3000, d=20, k=4)
    fresh = SoftmaxRegression(n_threads=2).fit(X, y)
    return MODEL.predict_proba(X).tobytes(), fresh.coef_.tobytes()


@pytest.mark.parametrize("make", [LinearClassifier, OneVsRest])
def test_33_an_answer_is_that_of_one_fit_whatever_is_fitted_meanwhile(make, monkeypatch):
    X, y = problem()
    names = np.array(["a", "b", "c"])[y]
    model = make().fit(X, names)
    expected, best = model.predict(X), answers.best

    def interrupted(node):
        model.fit(X[:, :2], y > 0)  # as another thread would, between the scores and the labels
        return best(node)

    monkeypatch.setattr(answers, "best", interrupted)
    monkeypatch.setattr(reductions, "best", interrupted)
    assert np.array_equal(model.predict(X), expected)
    monkeypatch.undo()
    assert model.predict(X[:, :2]).dtype == bool


@alone
def test_33_predictions_beside_refits_are_of_one_fit_or_the_other():
    X, y = problem()
    names = np.array(["a", "b", "c"])[y]
    sys.setswitchinterval(1e-5)
    for make in (LinearClassifier, OneVsOne):
        model, over = make().fit(X, names), threading.Event()
        fits = [(answer := make().fit(X, labels)).predict(X).tolist() for labels in (names, y > 0)]
        assert answer.classes_.dtype == bool

        def refit(model=model, over=over):
            for i in range(30):
                model.fit(X, y > 0 if i % 2 else names)
            over.set()

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(refit)
            while not over.is_set() and not done.done():
                assert model.predict(X).tolist() in fits
                assert model.decision_function(X).shape in ((120,), (120, 3))
                assert model.predict_proba(X).shape in ((120, 2), (120, 3))
            done.result()


MODEL = SoftmaxRegression(n_threads=2)


@needs_fork
@alone
def test_34_a_forked_child_predicts_and_fits():
    X, y = problem(n=3000, d=20, k=4)
    for _ in routes():
        MODEL.fit(X, y)
        expected = (MODEL.predict_proba(X).tobytes(), MODEL.coef_.tobytes())
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            os._exit(0 if in_child(0) == expected else 1)
        assert os.waitpid(child, 0)[1] == 0
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(in_child, range(2)).get(60) == [expected] * 2


@alone
def test_36_the_same_bits_with_any_number_of_threads_twice_and_after_pickling():
    X, y = problem(n=60_000, d=20, k=4)
    sparse = sp.csr_array(X * (np.abs(X) > 1.5))
    cases = [
        (X, "lbfgs"),
        (X.astype(np.float32), "lbfgs"),
        (X[:200], "newton"),
        (X, "newton_cg"),
        (sparse, "newton_cg"),
        (sparse, "dual"),
    ]
    for rows, solver in cases:
        labels = y[: rows.shape[0]]
        for target in (labels, labels > 1):
            first = LinearClassifier(C=0.01, solver=solver, n_threads=1).fit(rows, target)
            answer = first.predict_proba(rows)
            for n in (1, 2, 7):
                model = LinearClassifier(C=0.01, solver=solver, n_threads=n).fit(rows, target)
                assert same_bits(first, model), f"{solver} with {n} threads"
                again = pickle.loads(pickle.dumps(model))
                assert same_bits(first, again)
                assert np.array_equal(again.predict_proba(rows), answer)
