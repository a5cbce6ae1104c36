"""Broken rows at every public door: whatever takes rows refuses them before compiled code sees them.

The doors are found: every method of a public class that has a parameter for rows, and every public
function that has one. A new one fails the last test until it is in ``ESTIMATORS`` or ``OTHERS``, or in
``NO_ROWS`` with the reason why what it takes are no rows.
"""

import inspect
import tempfile
import types
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

import argmax
from argmax import (
    CRFTagger,
    GraphLabeler,
    JointClassifier,
    LinearClassifier,
    MulticlassPerceptron,
    MulticlassSVM,
    MultiLabelClassifier,
    OneVsOne,
    OneVsRest,
    OutputCode,
    SequenceTagger,
    SoftmaxRegression,
    bayes,
    bounds,
    engines,
    features,
    margins,
    plots,
    report,
    shift,
)
from argmax.calibration import Calibrated, CalibratedTagger
from argmax.errors import ArgmaxError
from argmax.reductions import ScalarCode
from tests.faults.cases import broken, problem
from tests.faults.harness import alone

ROWS = {"X", "blocks", "sequences", "target", "train", "validation"}
"""Names that parameters for rows have."""

HIDDEN = ("_", "set_")
"""How methods begin that are not doors: scikit-learn's ``set_fit_request`` is about names, not rows."""

X, Y = problem()
SOUND = sp.csr_array(np.abs(X))
HALVES = [60, 60]
TAGS = [[f"t{label}" for label in Y[:60]], [f"t{label}" for label in Y[60:]]]
SETS = np.eye(3, dtype=int)[Y]
EDGES = np.zeros((0, 2), int)


def rows(matrix):
    return {"X": matrix}


def tokens(matrix):
    return {"X": matrix, "lengths": HALVES}


def stack(matrix):
    return {"sequences": matrix, "lengths": HALVES}


def sequences(matrix):
    return {"X": [matrix] * 4}


def graphs(matrix):
    return {"X": [(matrix, EDGES)]}


ESTIMATORS = {
    **{
        name: (make, Y, rows, rows(SOUND))
        for name, make in {
            "LinearClassifier": LinearClassifier,
            "SoftmaxRegression": SoftmaxRegression,
            "MulticlassSVM": MulticlassSVM,
            "MulticlassPerceptron": MulticlassPerceptron,
            "OneVsRest": OneVsRest,
            "OneVsRest, theirs": lambda: OneVsRest(LinearSVC()),
            "OneVsOne": OneVsOne,
            "OneVsOne, theirs": lambda: OneVsOne(LinearSVC()),
            "OneVsOne, tournament": lambda: OneVsOne(MultinomialNB(), "tournament"),
            "OutputCode": OutputCode,
            "OutputCode, theirs": lambda: OutputCode(LinearSVC()),
            "ScalarCode": ScalarCode,
            "BayesianClassifier": lambda: bayes.BayesianClassifier(held_out=None),
            "Calibrated": lambda: Calibrated(LinearClassifier(), "temperature", cv=2),
            "Calibrated, isotonic": lambda: Calibrated(LinearClassifier(), "isotonic", cv=2),
            "Calibrated, one": lambda: Calibrated(LinearSVC(), "vector", 2, ensemble=False),
            "Calibrated, prefit": lambda: Calibrated(LINEAR, "temperature", "prefit"),
            "Calibrated, reduction": lambda: Calibrated(OneVsOne(), "temperature", cv=2),
        }.items()
    },
    "GaussianRegression": (bayes.GaussianRegression, X[:, 0], rows, rows(X)),
    "MultiLabelClassifier": (MultiLabelClassifier, SETS, rows, rows(SOUND)),
    "GraphLabeler": (GraphLabeler, [Y], graphs, graphs(X)),
    "JointClassifier": (JointClassifier, Y, rows, {"X": [f"x{label}" for label in Y]}),
    "CRFTagger": (CRFTagger, TAGS, tokens, tokens(SOUND)),
    "SequenceTagger": (SequenceTagger, TAGS * 2, sequences, sequences(SOUND[:60])),
    "CalibratedTagger": (
        lambda: CalibratedTagger(CRFTagger(), "temperature", 2),
        TAGS * 2,
        sequences,
        sequences(SOUND[:60]),
    ),
    "features.Given": (features.Given, None, stack, stack(SOUND)),
    "features.Joint": (features.Joint, Y, rows, {"X": [f"x{label}" for label in Y]}),
    "features.Table": (features.Table, None, rows, rows(X)),
    "features.Templates": (features.Templates, None, stack, {"sequences": [["the", "cat"]]}),
}
"""How each is made, its y, how a matrix is given to it as rows, and what it is fitted on."""

OTHERS = {
    "bounds.ball_complexity": bounds.ball_complexity,
    "bounds.perceptron": lambda m: bounds.perceptron(m, Y, coef=LINEAR.coef_, passes=1),
    "bounds.report": lambda m: bounds.report(LINEAR, m, Y, passes=1),
    "bounds.report, test": lambda m: bounds.report(LINEAR, X, Y, test=(m, Y), passes=1),
    "bayes.SoftmaxPosterior.around": lambda m: bayes.SoftmaxPosterior.around(
        MODE, m, Y, np.ones(len(Y)), "full", 5
    ),
    "bayes.SoftmaxPosterior.probabilities": lambda m: POSTERIOR.probabilities(m, "probit", 1, 0),
    "bayes.SoftmaxPosterior.scores": lambda m: list(POSTERIOR.scores(m)),
    "engines.Stored.write": lambda m: stored(m),
    "margins.of": lambda m: margins.of(m, Y, LINEAR.coef_),
    "plots.decision_boundaries": lambda m: plots.decision_boundaries(None, m, Y),
    "plots.decision_regions": lambda m: plots.decision_regions(LINEAR, m, Y),
    "plots.margin_sweep": lambda m: plots.margin_sweep(m, Y > 0),
    "plots.reductions_compared": lambda m: plots.reductions_compared(m, Y),
    "report.of": lambda m: report.of(LINEAR, m, Y),
    "shift.black_box": lambda m: shift.black_box(m, m),
    "shift.classifier": lambda m: shift.classifier(m, SOUND),
    "shift.classifier, target": lambda m: shift.classifier(SOUND, m),
    "shift.covariate": lambda m: shift.covariate(m, SOUND),
    "shift.covariate, target": lambda m: shift.covariate(SOUND, m),
    "shift.diagnose": lambda m: shift.diagnose(LINEAR, (m, Y), SOUND),
    "shift.diagnose, target": lambda m: shift.diagnose(LINEAR, (SOUND, Y), m),
    "shift.features": lambda m: shift.features(m, SOUND),
    "shift.features, target": lambda m: shift.features(SOUND, m),
    "shift.label": lambda m: shift.label(X[:, :3], Y, m, resamples=2),
    "shift.outputs": lambda m: shift.outputs(m, m),
    "y of MultiLabelClassifier": lambda m: MultiLabelClassifier().fit(X, m),
}
"""Functions, and methods of classes without a fit, given a matrix."""

NO_ROWS = {
    "calibration.Calibrator": "scores and the truth",
    "engines.Dask": "a collection that a cluster holds: its parts are checked there, in ``tests/laws``",
    "engines.Engine": "the same",
    "engines.Threads": "the same; memory has no collections",
    "features.Tokens": "tokens are strings",
    "features.for_sequences": "it looks at the type of what it is given",
    "layouts": "they meet rows that a fit has checked",
    "testing": "it makes its own rows",
}
"""Public names, or modules, whose parameters of such names are none."""

MODE = SoftmaxRegression()
LINEAR = LogisticRegression()
POSTERIOR = None


def prepare():
    """Fit what the doors lean on: in the process of the test, not where it is collected."""
    global POSTERIOR
    MODE.fit(X, Y)
    LINEAR.fit(X, Y)
    POSTERIOR = bayes.BayesianClassifier(held_out=None).fit(X, Y).posterior_


def stored(matrix):
    with tempfile.TemporaryDirectory() as folder:
        return engines.Stored.write(f"{folder}/rows", [(matrix, Y)]).shape


def takes_rows(found):
    if not inspect.ismethod(found) and not inspect.isfunction(found):
        return False
    return bool(ROWS & inspect.signature(found).parameters.keys())


def doors():
    """Names of doors, each with what it does with a matrix as rows."""
    known = {"y": None, "Cs": [1.0], "k": 1}
    for name, (make, y, given, start) in ESTIMATORS.items():
        model = make().fit(**start) if y is None else make().fit(**start, y=y)
        for method in sorted(dir(model)):
            found = None if method.startswith(HIDDEN) else getattr(model, method, None)
            if not takes_rows(found):
                continue
            asked = inspect.signature(found).parameters
            more = {n: y if n == "y" else v for n, v in known.items() if n in asked}
            again = method in ("fit", "fit_transform", "partial_fit", "path")

            def call(
                matrix, make=make, model=model, method=method, given=given, again=again, more=more
            ):
                found = getattr(make() if again else model, method)
                return found(**given(matrix), **more)

            yield f"{name}.{method}", call
    yield from OTHERS.items()


def answer(call, matrix):
    """The error of a call, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(matrix)
        except Exception as error:
            return error
    return None


@alone(seconds=100)
def test_broken_sparse_rows_are_refused_at_every_door():
    prepare()
    matrices = [(m, says) for form in (sp.csr_array, sp.csc_array) for m, says in broken(form)]
    wrong, answered = [], 0
    for name, call in doors():
        print(name, flush=True)  # the last line of a process that crashes
        control = answer(call, SOUND)
        if control is not None and not isinstance(control, ArgmaxError):
            wrong.append(f"{name} of sound rows: {control!r}")
        answered += control is None
        for matrix, says in matrices:
            error = answer(call, matrix)
            told = control is not None or all(word in str(error) for word in ("broken CS", says))
            if not isinstance(error, ArgmaxError) or not told:
                wrong.append(f"{name}, where it {says}: {error!r}")
    assert not wrong, "\n".join(wrong)
    assert answered > 70  # sound rows are answered at most doors


def public():
    """Qualified names of all public functions and methods with a parameter for rows."""
    homes = [("", argmax)] + [(f"{name}.", getattr(argmax, name)) for name in argmax.__all__]
    for prefix, home in homes:
        if not isinstance(home, types.ModuleType):
            continue
        for name in home.__all__:
            found = getattr(home, name)
            if takes_rows(found):
                yield prefix + name, None
            if inspect.isclass(found):
                methods = [
                    method
                    for method, value in inspect.getmembers(found)
                    if not method.startswith(HIDDEN) and takes_rows(value)
                ]
                yield from ((prefix + name, method) for method in methods)


def test_every_public_door_is_walked():
    listed = {name.split(",")[0] for name in (*ESTIMATORS, *OTHERS)}
    classes = {name.rsplit(".", 1)[-1] for name in listed}
    missing = []
    for name, method in public():
        if name in NO_ROWS or name.split(".")[0] in NO_ROWS:
            continue
        if method is None or f"{name}.{method}" in listed:
            walked = (name if method is None else f"{name}.{method}") in listed
        else:
            walked = name.rsplit(".", 1)[-1] in classes
        if not walked:
            missing.append(f"{name}.{method}" if method else name)
    assert not missing, f"not walked: {missing}"
