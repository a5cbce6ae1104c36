"""Sets of labels: a tree over the labels against each label for itself, on the test rows of Mulan's splits.

What it is worth (subset accuracy, exact held-out likelihood), what training takes, and what memory.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from argmax import MultiLabelClassifier, metrics

from . import data
from .common import Check, Options, Outcome, fresh_peak, no_peaks, peak, progress, say, table

SETS = ("emotions", "scene", "yeast", "enron", "bibtex", "delicious")
LARGE = "delicious"
"""Trained with a C that is given, for what it takes; too large for a part in the count."""

CS = (0.01, 0.1, 1.0)
LEAST_SETS, SECONDS, MEGABYTES = 4, 60.0, 1000.0
QUICK_ROWS = 200
LOOSE = 1e-2
"""``tol`` of the large fit: memory does not depend on it."""

EXPLANATION = f"""\
Each label for itself: MultiLabelClassifier(pairs="none"). Tree: pairs="tree" (Chow and Liu). The same
features, dense ones scaled; C of {", ".join(f"{C:g}" for C in CS)} chosen for each by the likelihood of
a fifth of the training rows. Differences are paired over test rows, with 95 % intervals from 1,000
resampled sets. scikit-learn's OneVsRestClassifier(LogisticRegression) at the C of ours is shown for its
seconds and subset accuracy."""


@dataclass(frozen=True)
class Source:
    """Rows and their labels (n, k), to learn from and to judge by."""

    name: str
    X: Any
    Y: Any
    X_test: Any
    Y_test: Any


@dataclass(frozen=True)
class Trial:
    """One model on the test rows."""

    C: float
    seconds: float
    right: Any  # (n,) of each row, whether its whole set is right
    likelihood: Any  # (n,)


def run(options: Options) -> Outcome:
    outcome = Outcome("multilabel")
    if not (folder := data.folder() / "multilabel").is_dir():
        say(f"Left out: no data in {folder}. Set ARGMAX_DATA to the folder that holds multilabel/.")
        return outcome
    say(EXPLANATION)
    gains, surprises, quality, seconds = [], [], [], []
    small = [name for name in SETS if name != LARGE]
    for name in [name for name in options.data or small if name in small]:
        progress(name)
        source = load(name, options.quick)
        alone, tree = (judged(source, pairs) for pairs in ("none", "tree"))
        theirs = rival(source, alone.C)
        ones = np.ones(len(tree.right), int)
        gain = metrics.difference(metrics.accuracy, ones, tree.right * 1, alone.right * 1)
        surprise = mean_gain(tree.likelihood - alone.likelihood)
        gains.append(gain)
        surprises.append(surprise)
        quality.append([name, f"{source.Y.shape[1]}", *worth(alone, tree, theirs, gain, surprise)])
        taken = [f"{one.seconds:.2f}" for one in (alone, tree, theirs)]
        seconds.append([name, *taken, f"{theirs.seconds / tree.seconds:.1f}×"])
        outcome.figures.append({"set": name, "gain": str(gain), "likelihood": str(surprise)})
        if name == "bibtex":
            outcome.checks.append(limit("bibtex trains", tree.seconds, SECONDS, "s"))
    if quality:
        heads = [
            "set",
            "labels",
            "alone",
            "tree",
            "gain",
            "scikit-learn",
            "log P, alone",
            "tree",
            "gain",
        ]
        table("Share of whole sets that are right, and log-likelihood of a row", heads, quality)
        heads = ["set", "alone", "tree", "scikit-learn", "scikit-learn / tree"]
        table("Seconds of a fit", heads, seconds)
        outcome.checks += counted(gains, surprises)
    if LARGE in (options.data or SETS):
        outcome.checks += large(options)
    return outcome


def load(name: str, quick: bool) -> Source:
    """A set by name; quick ones keep few rows."""
    found = np.load(data.folder() / "multilabel" / f"{name}.npz")
    n, k = int(found["n_train"]), int(found["n_labels"])
    X = found["X"].astype(float) if "X" in found.files else csr(found, "X")
    indices, indptr = found["Y_indices"].astype(np.int32), found["Y_indptr"]
    Y = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(X.shape[0], k))
    Y = Y.toarray().astype(int)
    if isinstance(X, np.ndarray):
        spread = X[:n].std(axis=0)
        X = (X - X[:n].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    learn = QUICK_ROWS if quick else n
    return Source(name, X[:learn], Y[:learn], X[n:], Y[n:])


def csr(found: Any, name: str) -> Any:
    parts = (found[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    values, indices, indptr = parts
    shape = tuple(int(side) for side in found[f"{name}_shape"])
    return sp.csr_array((values.astype(float), indices.astype(np.int32), indptr), shape=shape)


def judged(source: Source, pairs: str) -> Trial:
    """C chosen on a fifth of the training rows, a fit on all of them, and the test rows."""
    fifth = np.random.default_rng(0).random(source.X.shape[0]) < 0.2
    trial = MultiLabelClassifier(pairs, tol=1e-3, warm_start=True)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for C in CS:
            trial.set_params(C=C).fit(source.X[~fifth], source.Y[~fifth])
            found.append(trial.log_likelihood(source.X[fifth], source.Y[fifth]).mean())
        C = CS[int(np.argmax(found))]
        began = time.perf_counter()
        model = MultiLabelClassifier(pairs, C=C).fit(source.X, source.Y)
        seconds = time.perf_counter() - began
    right = (model.predict(source.X_test) == source.Y_test).all(axis=1)
    return Trial(C, seconds, right, model.log_likelihood(source.X_test, source.Y_test))


def rival(source: Source, C: float) -> Trial:
    """scikit-learn's one classifier a label; labels of no row, which it cannot fit, are left at 0."""
    on = source.Y.any(axis=0) & ~source.Y.all(axis=0)
    answer = np.tile(source.Y.all(axis=0).astype(int), (len(source.Y_test), 1))
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OneVsRestClassifier(LogisticRegression(C=C, max_iter=200))
        model.fit(source.X, source.Y[:, on])
    seconds = time.perf_counter() - began
    answer[:, on] = model.predict(source.X_test)
    return Trial(C, seconds, (answer == source.Y_test).all(axis=1), None)


def mean_gain(values: Any) -> metrics.Interval:
    """The mean of paired differences, with its interval."""
    return metrics.bootstrap(_mean, values, values)


def _mean(_: Any, values: Any) -> float:
    return float(np.mean(values))


def worth(alone: Trial, tree: Trial, theirs: Trial, gain: Any, surprise: Any) -> list[str]:
    return [
        f"{alone.right.mean():.3f}",
        f"{tree.right.mean():.3f}",
        f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})",
        f"{theirs.right.mean():.3f}",
        f"{alone.likelihood.mean():.2f}",
        f"{tree.likelihood.mean():.2f}",
        f"{surprise.value:+.2f} ({surprise.low:+.2f} to {surprise.high:+.2f})",
    ]


def counted(gains: list[Any], surprises: list[Any]) -> list[Check]:
    """How many sets are better; beyond chance is where the interval does not reach 0."""
    checks, whole = [], len(gains) == len(SETS) - 1
    for what, found, least in (
        ("subset accuracy above", gains, LEAST_SETS),
        ("held-out likelihood above", surprises, len(SETS) - 1),
    ):
        above, sure = sum(one.value > 0 for one in found), sum(one.low > 0 for one in found)
        met = "met" if above >= least else "not met"
        figure = f"{above} of {len(found)} sets, {sure} beyond chance"
        verdict = met if whole else "open (not all sets were run)"
        checks.append(Check(what, figure, f"{least} of {len(SETS) - 1}", verdict))
    return checks


def limit(what: str, figure: float, most: float, unit: str) -> Check:
    met = "met" if figure <= most else "not met"
    return Check(what, f"{figure:.0f} {unit}", f"at most {most:.0f} {unit}", met)


def large(options: Options) -> list[Check]:
    """delicious, 983 labels: seconds, and what memory grows by."""
    progress(LARGE)
    source = load(LARGE, options.quick)
    before = 0.0 if no_peaks() else fresh_peak()
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MultiLabelClassifier(C=0.1, tol=LOOSE).fit(source.X, source.Y)
    seconds = time.perf_counter() - began
    say(
        f"{LARGE}: {source.X.shape[0]} rows, {source.Y.shape[1]} labels, tol {LOOSE:g}: {seconds:.0f} s"
    )
    if why := no_peaks():
        return [Check(f"{LARGE}: memory", "?", f"at most {MEGABYTES:.0f} MB", f"open ({why})")]
    return [limit(f"{LARGE}: memory beyond its data", peak() - before, MEGABYTES, "MB")]
