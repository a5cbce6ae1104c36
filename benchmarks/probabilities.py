"""How honest probabilities are on new rows: ``Calibrated(method="auto")`` against scikit-learn's best.

The same models on the same folds are given to ``Calibrated`` and to ``CalibratedClassifierCV`` with each of
its methods; the one of the least log loss on the test rows is its best, chosen with hindsight, which ours is
not. The difference is of the same test rows, or sentences, resampled together. Several models have a lower
log loss than one, whatever calibrates them; so both sides answer with the mean over the folds (the default of
both), and then both with one model of all rows.
"""

from __future__ import annotations

import hashlib
import lzma
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from argmax import CRFTagger, MulticlassSVM, metrics
from argmax.calibration import Calibrated, CalibratedTagger
from argmax.metrics.scores import ROW_VALUES

from . import data
from .common import Check, Options, Outcome, progress, say, table
from .race import quietly

SETS = {"letter": 1.0, "mnist": 0.01, "20news": 1.0, "clinc150": 1.0}
"""Data sets of rows, and the C of the support vector machine whose scores are calibrated."""

TOKENS = "conll2000"
METHODS = ("sigmoid", "isotonic", "temperature")
FOLDS = 5
SOME = 20_000
"""Rows of MNIST that are learned from; all with --full."""

SENTENCES = 60
"""Sentences of each part with --quick."""

EXPLANATION = f"""\
Log loss on test rows of a support vector machine (Crammer and Singer's) on four sets of rows, and of the
tokens of a CRF on CoNLL-2000, calibrated by us with method="auto" and by scikit-learn with each of
{", ".join(METHODS)}. A promise is kept where the 95 % interval of the difference to the best of these reaches
0 or lies below it. Seconds are those of our calibration alone, all models being fitted."""


def run(options: Options) -> Outcome:
    outcome = Outcome("probabilities")
    if reason := data.missing():
        say(f"Left out: {reason}")
        return outcome
    say(EXPLANATION)
    rows, below = [], []
    for name in [name for name in (*SETS, TOKENS) if not options.data or name in options.data]:
        progress(name)
        with quietly():
            for found in _tokens(options) if name == TOKENS else _table(name, options):
                apart, what = found.apart(), f"{name}, {found.models}"
                rows.append([what, *found.cells(), str(apart)])
                outcome.figures.append({"what": what, **found.figures(), "difference": str(apart)})
                verdict = "met" if apart.low <= 0 else "not met"
                outcome.checks.append(Check(f"log loss, {what}", str(apart), "≤ 0", verdict))
                below.append(apart.value < 0)
    columns = ["", "auto chose", "s", "auto", *METHODS, "auto − best"]
    table("Held-out log loss after calibration", columns, rows)
    figure, most = f"{sum(below)} of {len(below)}", 2 * sum(below) > len(below)
    verdict = "met" if most else "not met"
    outcome.checks.append(Check("comparisons where it is below", figure, "most", verdict))
    return outcome


@dataclass(frozen=True)
class Found:
    """Log losses of parts of the test data, which are resampled whole: of each part its sum and its size."""

    models: str  # how many answer, on both sides
    chosen: str
    seconds: float
    ours: Any  # (parts,)
    theirs: dict[str, Any]
    sizes: Any

    def apart(self) -> metrics.Interval:
        """Our mean log loss less that of the peer's best."""
        best = min(self.theirs.values(), key=np.sum)
        return metrics.difference(_mean, self.sizes, self.ours, best)

    def cells(self) -> list[str]:
        losses = [_mean(self.sizes, given) for given in (self.ours, *self.theirs.values())]
        return [self.chosen, f"{self.seconds:.1f}", *(f"{loss:.4f}" for loss in losses)]

    def figures(self) -> dict[str, Any]:
        theirs = {method: _mean(self.sizes, given) for method, given in self.theirs.items()}
        return {"auto": _mean(self.sizes, self.ours), "chosen": self.chosen} | theirs


def _mean(sizes: Any, sums: Any) -> float:
    return float(sums.sum() / sizes.sum())


# Rows


def _table(name: str, options: Options) -> Iterator[Found]:
    X, y, X_test, y_test = _split(data.load(name, options.quick), options.full)
    model = Remembered(MulticlassSVM(C=SETS[name]))
    folds = StratifiedKFold(min(FOLDS, np.bincount(y).min()), shuffle=True, random_state=0)
    classes = model.fit(X, y).classes_
    for ensemble, models in ((True, "folds"), (False, "one model")):
        theirs = {}
        for method in METHODS:
            progress(f"{name}, {models}, {method}")
            peer = CalibratedClassifierCV(model, method=method, cv=folds, ensemble=ensemble)
            theirs[method] = _losses(y_test, peer.fit(X, y).predict_proba(X_test), classes)
        progress(f"{name}, {models}, auto")
        honest = Calibrated(model, cv=folds, ensemble=ensemble)
        seconds, ours = _timed(lambda honest=honest: honest.fit(X, y))
        own = _losses(y_test, ours.predict_proba(X_test), classes)
        chosen = ours.selection_.name
        yield Found(models, chosen, seconds, own, theirs, np.ones(len(y_test)))
    Remembered.fits.clear()


def _split(given: data.Table, full: bool) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from and to judge by: the published ones, or three quarters and the rest."""
    if given.X_test is not None:
        keep = slice(None) if full else slice(SOME)
        return given.X[keep], given.y[keep], given.X_test, given.y_test
    order = np.random.default_rng(0).permutation(len(given.y))
    learn, test = np.split(order, [3 * len(order) // 4])
    scaled = StandardScaler().fit(given.X[learn])
    parts = [(scaled.transform(given.X[some]), given.y[some]) for some in (learn, test)]
    return (*parts[0], *parts[1])


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def _losses(truth: Any, p: Any, classes: Any) -> Any:
    return ROW_VALUES[metrics.log_loss](truth, p, classes)


@final
class Remembered(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted once on the same rows, whoever asks: calibration is compared, not fits."""

    fits: ClassVar[dict[str, Any]] = {}

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Remembered:
        key = hashlib.sha256(np.asarray(X.sum(axis=1)).tobytes() + y.tobytes()).hexdigest()
        if key not in self.fits:
            self.fits[key] = clone(self.estimator).fit(X, y)
        self.fitted_ = self.fits[key]
        self.classes_ = self.fitted_.classes_
        return self

    def decision_function(self, X: Any) -> Any:
        return self.fitted_.decision_function(X)

    def predict(self, X: Any) -> Any:
        return self.fitted_.predict(X)


# Tokens


def _tokens(options: Options) -> Iterator[Found]:
    """A CRF learned on half of the sentences and calibrated on the others, by both."""
    learn, calibrate, test = _sentences(SENTENCES if options.quick else None)
    model = CRFTagger().fit(*learn)
    seconds, ours = _timed(lambda: CalibratedTagger(model, cv="prefit").fit(*calibrate))
    truth, sizes = np.concatenate(test[1]), np.array([len(labels) for labels in test[1]])
    starts = np.append(0, np.cumsum(sizes)[:-1])

    def by_sentence(p: Any) -> Any:
        return np.add.reduceat(_losses(truth, p, model.classes_), starts)

    given, known = (
        np.concatenate(model.decision_function(calibrate[0])),
        np.concatenate(calibrate[1]),
    )
    asked, theirs = np.concatenate(model.decision_function(test[0])), {}
    for method in METHODS:
        progress(f"{TOKENS}, {method}")
        frozen = FrozenEstimator(Scored().fit(given, known))
        peer = CalibratedClassifierCV(frozen, method=method).fit(given, known)
        theirs[method] = by_sentence(peer.predict_proba(asked))
    own = by_sentence(np.concatenate(ours.predict_marginals(test[0])))
    yield Found("one model", ours.selection_.name, seconds, own, theirs, sizes)


@final
class Scored(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are its scores."""

    def fit(self, X: Any, y: Any) -> Scored:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return self.classes_[X.argmax(axis=1)]


Part = tuple[list[list[str]], list[list[str]]]


def _sentences(most: int | None) -> list[Part]:
    """Words and labels of three parts; sentences with a label that some part does not have are left out."""
    train, test = (_read(part) for part in ("train", "test"))
    parts = [train[:most:2], train[1:most:2], test[:most]]
    everywhere = set.intersection(
        *({t for _, labels in part for t in labels} for part in parts[:2])
    )
    kept = [[pair for pair in part if everywhere.issuperset(pair[1])] for part in parts]
    return [([words for words, _ in part], [labels for _, labels in part]) for part in kept]


def _read(part: str) -> Sequence[tuple[list[str], list[str]]]:
    with lzma.open(data.folder() / "sequence" / f"{TOKENS}-{part}.txt.xz", "rt") as file:
        blocks = file.read().strip().split("\n\n")
    lines = [[line.split() for line in block.splitlines()] for block in blocks]
    return [([line[0] for line in block], [line[-1] for line in block]) for block in lines]
