"""Arguments of the wrong kind: a sentence of ours that names the argument, no error of another library."""

import itertools

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from argmax import (
    CRFTagger,
    GraphLabeler,
    JointClassifier,
    LinearClassifier,
    MulticlassPerceptron,
    MulticlassSVM,
    MultiLabelClassifier,
    OneVsRest,
    OutputCode,
    bayes,
    costs,
    engines,
    load,
    margins,
    persist,
    save,
)
from argmax.calibration import Calibrated, CalibratedTagger
from argmax.errors import ArgmaxError, CannotWrite
from tests.faults.cases import problem, refuses

X, Y = problem(n=30)
SETS = np.eye(3, dtype=int)[Y]
SENTENCES, TAGS = [["a", "b"]] * 6, [["N", "V"]] * 6
RAGGED = [[0, 1], [1]]


class Unreadable:
    """What fails, in a way of its own, when it is made an array."""

    def __array__(self, *_, **__):
        raise KeyError("gone")


def generator():
    return (row for row in X)


def graph(rows=X[:6], edges=((0, 1), (1, 2))):
    return [(rows, edges)]


FITS = {
    "LinearClassifier": lambda **o: LinearClassifier(**o).fit(X, Y),
    "MulticlassSVM": lambda **o: MulticlassSVM(solver="dual", **o).fit(X, Y),
    "MulticlassPerceptron": lambda **o: MulticlassPerceptron(**o).fit(X, Y),
    "MultiLabelClassifier": lambda **o: MultiLabelClassifier(**o).fit(X, SETS),
    "GraphLabeler": lambda **o: GraphLabeler(**o).fit(graph(), [Y[:6]]),
    "CRFTagger": lambda **o: CRFTagger(**o).fit(SENTENCES, TAGS),
}
SETTINGS = {
    "random_state": ("a", 1.5, -1, 2**32, [1]),
    "verbose": ("x", -1, None),
    "callbacks": (5, [5], "a"),
}


@pytest.mark.parametrize(("model", "setting"), list(itertools.product(FITS, SETTINGS)))
def test_settings_of_the_wrong_kind_are_named(model, setting):
    for value in SETTINGS[setting]:
        refuses(
            lambda v=value: FITS[model](**{setting: v}),
            says=(setting, repr(value)),
            error=ArgmaxError,
        )


@pytest.mark.parametrize("value", [None, "text", 5, object(), {1, 2}, Unreadable()])
def test_rows_and_labels_that_are_none_are_refused(value):
    fitted = LinearClassifier().fit(X, Y)
    wrapped = Calibrated(LinearClassifier(), "temperature", cv=2)
    for fit in (
        wrapped.fit,
        OneVsRest(LinearSVC()).fit,
        LinearClassifier().fit,
        JointClassifier().fit,
    ):
        refuses(fit, value, Y, says=(), error=ArgmaxError)
    for given in (value, generator()):
        refuses(wrapped.fit, given, Y, says=(), error=ArgmaxError)
        refuses(wrapped.fit, X, given, says=(), error=ArgmaxError)
        refuses(LinearClassifier().fit, X, given, says=(), error=ArgmaxError)
        refuses(MultiLabelClassifier().fit, X, given, says=(), error=ArgmaxError)
        refuses(margins.of, X, Y, given, says=("coef",), error=ArgmaxError)
        refuses(fitted.predict, given, says=(), error=ArgmaxError)


def test_rows_that_are_none_are_told_what_they_must_be():
    for value, kind in (
        (None, "NoneType"),
        ("text", "str"),
        (generator(), "generator"),
        ({1}, "set"),
    ):
        for fit in (
            Calibrated(LinearClassifier()).fit,
            OneVsRest(LinearSVC()).fit,
            JointClassifier().fit,
        ):
            refuses(fit, value, Y, says=("X must be an array", f"got {kind}"), error=ArgmaxError)


CASES = {
    "save to None": (lambda: save(fitted(), None), "path must be the name of a file; got None"),
    "save to a number": (lambda: save(fitted(), 5), "path must be the name of a file; got 5"),
    "load a number": (lambda: load(5), "path must be the name of a file; got 5"),
    "load a NUL": (lambda: load("a\0b"), "regular file"),
    "describe None": (lambda: persist.describe(None), "path must be the name of a file"),
    "whose file": (lambda: persist.estimator_of(5), "path must be the name of a file"),
    "checkpoint in None": (lambda: persist.Checkpoint(None), "path must be the name of a file"),
    "ragged cost": (
        lambda: LinearClassifier("hinge", cost=RAGGED).fit(X, Y),
        "cost must be an array",
    ),
    "ragged costs": (lambda: costs.matrix(RAGGED, 2), "cost must be an array of numbers"),
    "ragged cost of rows": (lambda: costs.rows(RAGGED, 2, 2), "example_cost must be an array"),
    "cost of rows in words": (
        lambda: LinearClassifier("hinge").fit(X, Y, example_cost="high"),
        "example_cost must be an array",
    ),
    "ragged edges": (
        lambda: GraphLabeler().fit(graph(edges=RAGGED), [Y[:6]]),
        "the edges of graph 0",
    ),
    "ragged nodes": (
        lambda: GraphLabeler().fit(graph(RAGGED), [Y[:2]]),
        "node features of graph 0",
    ),
    "ragged labels": (
        lambda: GraphLabeler().fit(graph(X[:2], [[0, 1]]), [[[0], [1, 2]]]),
        "labels of graph 0",
    ),
    "labels of graphs": (
        lambda: GraphLabeler().fit(graph(), 5),
        "y must be a list with the labels",
    ),
    "graphs": (lambda: GraphLabeler().fit(None, [Y[:6]]), "X must be a list of graphs"),
    "no nodes": (lambda: GraphLabeler().fit(graph(X[:0], ()), [[]]), "X has no nodes"),
    "ragged sets": (
        lambda: MultiLabelClassifier().fit(X, [[0, 1]] * 29 + [[1]]),
        "y must be an array",
    ),
    "sets by name": (
        lambda: MultiLabelClassifier().fit(X, [["a"], ["a", "b"]] * 15),
        "y must be an array",
    ),
    "ragged pairs": (lambda: MultiLabelClassifier(RAGGED).fit(X, SETS), "edges must be an array"),
    "ragged names": (
        lambda: MultiLabelClassifier(labels=[[1], [1, 2], 3]).fit(X, SETS),
        "labels must be an array",
    ),
    "nothing to calibrate": (
        lambda: Calibrated(None).fit(X, Y),
        "estimator must be a classifier; got None",
    ),
    "a class to calibrate": (
        lambda: Calibrated(LinearSVC).fit(X, Y),
        "estimator must be a classifier",
    ),
    "no tagger": (
        lambda: CalibratedTagger("crf").fit(SENTENCES, TAGS),
        "estimator must be a tagger",
    ),
    "half a fold": (lambda: Calibrated(LinearSVC(), cv=1.5).fit(X, Y), "cv must be a whole number"),
    "true folds": (lambda: Calibrated(LinearSVC(), cv=True).fit(X, Y), "cv must be a whole number"),
    "code by chance": (lambda: OutputCode(random_state="a").fit(X, Y), "random_state must be"),
    "average by chance": (
        lambda: bayes.BayesianClassifier(random_state="a").fit(X, Y),
        "random_state must be",
    ),
    "stored rows alone": (lambda: engines.Stored.write("rows", [X]), "block 0 must be"),
    "stored numbers": (lambda: engines.Stored.write("rows", 5), "blocks must be an iterable"),
    "stored in a number": (lambda: engines.Stored.write(5, [(X, Y)]), "folder must be the name"),
    "sets of tokens": (lambda: CRFTagger().fit({1}, TAGS), r"sequences\[0\] must be a list"),
    "labels of pairs": (
        lambda: JointClassifier().fit(["a", "b"], [0, 1]).predict(["a"], labels=5),
        "labels must be a list",
    ),
    **{
        f"psi gives {answer!r}": (
            lambda answer=answer: JointClassifier(lambda x, y: answer).fit(["a", "b"], [0, 1]),
            words,
        )
        for answer, words in (
            (None, "psi, or a function in it, returned None"),
            (5, "psi, or a function in it, returned 5"),
            ({"a": None}, "feature 'a' must have a number"),
            ({"a": [1]}, "feature 'a' must have a number"),
        )
    },
}


def fitted():
    return LinearClassifier().fit(X, Y)


@pytest.mark.parametrize("name", CASES)
def test_the_argument_is_named(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, words = CASES[name]
    with pytest.raises(ArgmaxError, match=words):
        call()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_name_with_a_nul_is_no_name_to_write_to(tmp_path):
    for call in (
        lambda: save(fitted(), f"{tmp_path}/a\0b"),
        lambda: LinearClassifier(callbacks=[persist.Checkpoint(f"{tmp_path}/a\0b")]).fit(X, Y),
    ):
        refuses(call, says=("NUL",), error=CannotWrite)
    assert not list(tmp_path.iterdir())


def test_graphs_without_nodes_are_answered_among_others():
    empty = (X[:0], np.zeros((0, 2), int))
    model = GraphLabeler().fit([*graph(), empty], [Y[:6], []])
    answers = model.predict([*graph(), empty])
    assert [len(labels) for labels in answers] == [6, 0]
    assert [p.shape for p in model.predict_marginals([empty, *graph()])] == [(0, 3), (6, 3)]
