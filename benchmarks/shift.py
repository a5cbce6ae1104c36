"""Distribution shift: what adapting gains, how near priors come, what tests see, what weights do."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from argmax import SoftmaxRegression, shift

from . import shift_data as given
from . import shift_detection, shift_priors
from .common import Check, Options, Outcome, progress, say, table
from .data import folder, load, missing
from .quantifiers import settled
from .shift_data import ROWS, times

GAIN, LOSS = 17.0, -0.3  # points of accuracy
SIZE, POWER = 0.07, 0.9

EXPLANATION = f"""\
gain: one-vs-rest linear SVM on letter, {ROWS} target rows with drawn priors; the model as it was against the
read-out that shift.label advises. priors: the mean of Σ|π̂ − π| over sets, strengths and draws; every method
gets the probabilities of one softmax regression. "Where from" are the priors that rows were drawn by, "among
rows" the shares that came out: ours are found.priors and found.shares, a peer has one answer for both. Not
worse: the 95 % interval of the paired bootstrap against the best peer reaches 0. gate: how often label shift
is called refuted when it is true, and when it is not. detection: shares of shifts seen at level 0.05, by
10,000 validation rows and as many target rows as said, ours against the soft test of "Failing loudly".
weights: accuracy on the target with and without weights of training rows."""


def run(options: Options) -> Outcome:
    outcome = Outcome("shift")
    say(EXPLANATION)
    if (why := missing()) is not None:
        say(f"Left out: {why}")
        return outcome
    parts = (("gain", gain), ("priors", shift_priors.run), ("gate", gate),
             ("detection", shift_detection.run), ("weights", weights))  # fmt: skip
    for name, part in parts:
        progress(name)
        began = time.perf_counter()
        part(options, outcome)
        say(f"({name}: {time.perf_counter() - began:.0f} s)\n")
    return outcome


# What adapting gains


def gain(options: Options, outcome: Outcome) -> None:
    from sklearn.svm import LinearSVC

    found = given.scored("letter", options.quick, LinearSVC(dual=False))
    draws, rows = times(options, 1, 10, 50), []
    scaling = settled(found.scores, found.truth)
    for name in ("Dirichlet 0.1", "Dirichlet 10", "none"):
        rng, figures = np.random.default_rng(1), []
        for _ in range(draws):
            chosen, _ = found.drawn(given.STRENGTHS[name], ROWS, rng)
            new, truth = found.new[chosen], found.hidden[chosen]
            label = shift.label(found.scores, found.truth, new, calibrate=scaling, resamples=2)
            read = (label.advised_readout, label.calibrated)
            figures.append([(r(new).argmax(1) == truth).mean() for r in read])
            figures[-1].append((new.argmax(1) == truth).mean())
        after, calibrated, before = np.mean(figures, axis=0)
        points, alone = 100 * (after - before), 100 * (after - calibrated)
        error = 100 * float(np.ptp(np.array(figures)[:, ::2], axis=1).std()) / draws**0.5
        rows.append([name, f"{before:.3f}", f"{points:+.1f} ± {error:.1f}", f"{alone:+.2f}"])
        outcome.figures.append({"part": "gain", "strength": name, "accuracy": figures})
        if name == "Dirichlet 0.1":
            _promise(outcome, f"gain, {name}", points, GAIN)
        else:
            _promise(outcome, f"gain, {name}", points, LOSS)
            _promise(outcome, f"gain over calibration, {name}", alone, LOSS)
    columns = ["priors", "accuracy", "points gained", "of these by new priors"]
    table(f"letter, linear SVM, means of {draws} draws", columns, rows)


def _promise(outcome: Outcome, what: str, figure: float, floor: float) -> None:
    kept = "met" if figure >= floor else "not met"
    outcome.checks.append(Check(what, f"{figure:+.2f} points", f"{floor:+.1f}", kept))


# The gate


def gate(options: Options, outcome: Outcome) -> None:
    found, small = given.digits(options.quick), given.digits(options.quick, small=True)
    draws, rows = times(options, 2, 50, 50), []
    new = found.of(found.images)
    pool = given.Scored("mnist", found.scores, found.truth, new, found.labels)
    rng = np.random.default_rng(4)
    wrong = []
    for name in ("Dirichlet 0.1", "Dirichlet 1", "Dirichlet 10", "none"):
        refuted = [
            _refuted(found, new[pool.drawn(given.STRENGTHS[name], 500, rng)[0]], rng)
            for _ in range(draws)
        ]
        wrong += refuted
        rows.append([f"true label shift, {name}", f"{np.mean(refuted):.3f}", str(draws)])
    many, size = times(options, 2, 20, 50), float(np.mean(wrong))
    bounds = f"{size:.3f} of {len(wrong)}"
    kept = "met" if size <= SIZE else "not met"
    outcome.checks.append(Check("gate, size at 0.05", bounds, f"≤ {SIZE}", kept))
    pairs = (
        ("MNIST to USPS, 16 × 16", small, small.of(given.usps())),
        ("blurred digits", found, found.of(given.blurred(found.images))),
    )
    for name, model, there in pairs:
        seen = [
            _refuted(model, there[rng.choice(len(there), 500, replace=False)], rng)
            for _ in range(many)
        ]
        share = float(np.mean(seen))
        rows.append([name, f"{share:.3f}", str(many)])
        kept = "met" if share >= POWER else "not met"
        outcome.checks.append(Check(f"gate, {name}", f"{share:.2f}", f"≥ {POWER}", kept))
    table("Label shift refuted: 1000 validation, 500 target rows", ["", "share", "draws"], rows)


def _refuted(found: given.Digits, new: Any, rng: Any) -> bool:
    some = rng.choice(len(found.truth), min(1000, len(found.truth)), replace=False)
    label = shift.label(
        found.scores[some], found.truth[some], new, method="adjusted_counts", calibrate="bias_corrected",
        resamples=2, seed=int(rng.integers(2**31)),
    )  # fmt: skip
    return label.compatible.rejected()


# Weights


def weights(options: Options, outcome: Outcome) -> None:
    rows, gains = [], []
    for name, (X, y), (Z, z) in [*_simulated(options), *_office()]:
        found = shift.covariate(X, Z)
        plain, weighted = (
            SoftmaxRegression().fit(X, y, sample_weight=w).score(Z, z) for w in (None, found.values)
        )
        told = "possible" if found.overlap else "too few rows there"
        figures = [f"{plain:.3f}", f"{100 * (weighted - plain):+.1f}"]
        rows.append([name, f"{len(y)}", f"{found.effective:.0f}", told, *figures])
        gains.append((name, found.overlap, weighted - plain))
    columns = ["pair", "rows", "count as", "weighting is", "accuracy", "points by weights"]
    table("Weighted training", columns, rows)
    outcome.figures.append({"part": "weights", "gains": gains})
    allowed = [change for _, overlap, change in gains if overlap]
    refused = [change for _, overlap, change in gains if not overlap]
    if allowed:
        mean, gained = 100 * float(np.mean(allowed)), sum(change > 0 for change in allowed)
        kept = "met" if mean > 0 else "not met"
        figure = f"{mean:+.1f} points, {gained} of {len(allowed)} gain"
        outcome.checks.append(Check("weights, pairs that allow it", figure, "> 0", kept))
    if refused:
        mean = 100 * float(np.mean(refused))
        what = f"weights, {len(refused)} pairs where the tool advises against"
        outcome.checks.append(Check(what, f"{mean:+.1f} points", "shown", "met"))


def _simulated(options: Options) -> list[Any]:
    """A curve that a line cannot follow; and real rows of which some were chosen by a projection."""
    rng = np.random.default_rng(6)

    def curved(centre: float, n: int = 3000) -> Any:
        x = rng.normal([centre, 0.0], 1.0, size=(n, 2))
        return x, (x[:, 1] > 0.5 * x[:, 0] ** 2 - 1) * 1

    made = [(f"a curve, moved by {c:g}", curved(0.0), curved(c)) for c in (0.6, 1.2, 1.8)]
    for name in ("letter", "satimage"):
        data = load(name, options.quick)
        X = (data.X - data.X.mean(axis=0)) / np.maximum(data.X.std(axis=0), 1e-9)
        along = X @ np.linalg.svd(X[:2000], full_matrices=False)[2][0]
        chance = 1 / (1 + np.exp(2 * along / along.std()))
        there = rng.random(len(X)) > chance
        made.append(
            (
                f"{name}, chosen by a projection",
                (X[~there], data.y[~there]),
                (X[there], data.y[there]),
            )
        )
    return made


def _office() -> list[Any]:
    """The twelve ordered pairs of office_caltech10: square roots of shares of visual words."""
    path = folder() / "shift" / "office_caltech10_surf.npz"
    if not path.exists():
        say(f"Left out: office_caltech10, no {path}.")
        return []
    names = ("amazon", "caltech10", "dslr", "webcam")
    with np.load(path) as arrays:
        parts = {n: (arrays[f"X_{n}"].astype(float), arrays[f"y_{n}"]) for n in names}
    scaled = {
        n: (10 * np.sqrt(X / np.maximum(X.sum(axis=1, keepdims=True), 1)), y)
        for n, (X, y) in parts.items()
    }
    return [(f"{a} to {b}", scaled[a], scaled[b]) for a, b in itertools.permutations(names, 2)]
