"""How near estimated class priors come to the true ones: ours against QuaPy's and abstention's."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from .common import Check, Options, Outcome, progress, say, table
from .quantifiers import ours, peers
from .shift_data import ROWS, STRENGTHS, Scored, scored, times

SETS = ("mnist", "letter", "clinc150", "20news")
SLOW = 0.5
"""Seconds of work for one estimate beyond which a peer is left out of a set, unless --full."""

SEARCHING, MANY = ("QuaPy KDEy-ML", "QuaPy DMy", "QuaPy EDy"), 32
"""Peers that search by differences, and classes beyond which one estimate takes minutes."""


def run(options: Options, outcome: Outcome) -> None:
    others = peers()
    draws = times(options, 1, 2, 15)
    errors: dict[str, dict[str, Any]] = {}
    chosen = [name for name in SETS if not options.data or name in options.data]
    for name in chosen:
        progress(f"priors, {name}")
        errors[name] = _raced(scored(name, options.quick), others, draws, options.full)
    for i, estimand in enumerate(("where from", "among rows")):
        _ranked(errors, i, estimand, draws, outcome)


def _raced(found: Scored, others: Any, draws: int, patient: bool) -> dict[str, Any]:
    """Errors (draws, 2) of each method: from the priors drawn by, and from the shares among the rows."""
    p, q = found.probabilities()
    who = {"argmax": ours(p, found.truth)}
    for name, prepare in others.items():
        if found.k > MANY and not patient and name.startswith(SEARCHING):
            progress(f"{name} is left out of {found.name}: slow (--full waits)")
        else:
            who[name] = prepare(p, found.truth)
    errors: dict[str, list[Any]] = {name: [] for name in who}
    rng = np.random.default_rng(2)
    for strength in STRENGTHS.values():
        for _ in range(draws):
            chosen, true = found.drawn(strength, ROWS, rng)
            share = np.bincount(found.hidden[chosen], minlength=found.k) / ROWS
            for name in list(who):
                began = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    estimate = np.broadcast_to(who[name](q[chosen]), (2, found.k))
                errors[name].append(np.abs(estimate - [true, share]).sum(axis=1))
                if name != "argmax" and not patient and time.process_time() - began > SLOW:
                    progress(f"{name} is left out of {found.name}: slow (--full waits)")
                    del who[name], errors[name]
    return {name: np.array(one) for name, one in errors.items()}


def _ranked(errors: Any, which: int, estimand: str, draws: int, outcome: Outcome) -> None:
    names = sorted({name for one in errors.values() for name in one})
    means = {
        name: [one[name][:, which].mean() if name in one else np.nan for one in errors.values()]
        for name in names
    }
    order = sorted(names, key=lambda name: (np.isnan(means[name]).any(), np.nanmean(means[name])))
    rows = [
        [
            name,
            *("slow" if np.isnan(v) else f"{v:.4f}" for v in [*means[name], np.mean(means[name])]),
        ]
        for name in order
    ]
    title = f"Σ|π̂ − π|, {estimand}, {draws} draws of each of {len(STRENGTHS)} strengths"
    table(title, ["", *errors, "mean"], rows)
    outcome.figures.append({"part": "priors", "estimand": estimand, "means": means})
    everywhere = [name for name in order if name != "argmax" and not np.isnan(means[name]).any()]
    if not everywhere:
        say("No peer to compare with.")
        return
    _compared(errors, which, everywhere[0], f"priors {estimand}, all sets", outcome)
    for name, one in errors.items():
        best = min((n for n in one if n != "argmax"), key=lambda n: one[n][:, which].mean())
        _compared({name: one}, which, best, f"priors {estimand}, {name}", outcome)


def _compared(errors: Any, which: int, peer: str, what: str, outcome: Outcome) -> None:
    """Ours against one peer: the mean difference, and its interval over draws, set by set."""
    rng, b = np.random.default_rng(3), 2000
    apart = [one["argmax"][:, which] - one[peer][:, which] for one in errors.values()]
    drawn = np.mean([d[rng.integers(len(d), size=(b, len(d)))].mean(axis=1) for d in apart], axis=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    figure = f"{np.mean([d.mean() for d in apart]):+.4f} ({low:+.4f} to {high:+.4f})"
    kept = "met" if low <= 0 else "peer wins"
    outcome.checks.append(Check(f"{what}, ours − {peer}", figure, "not worse", kept))
