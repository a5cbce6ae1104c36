"""What ``tagging`` prints, promises and writes down."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..common import Check, median, note_ratio, say, table, verdict
from .contest import Contest
from .entrants import EPOCHS, Peer

FLOORS = {"conll2000": ((20.0, 12.0), (14.0, 9.0))}  # at each target: all threads, and one
ELSEWHERE = ((10.0, None), (None, None))
PERCEPTRON, TAGGING, PER_SECOND, MEMORY = 12.0, 12.0, 700_000, 4.0


def show(contest: Contest) -> None:
    targets = contest.targets
    columns = ["", *(f"s to {t}" for t in targets), *(f"peer/us {t}" for t in targets)]
    alone = ["both, us on 1 thread"] if len(contest.threads()) > 1 else []
    columns += [*alone, "runs", "MB", "best (f−f*)/f*"]
    blanks = len(targets) + len(alone)
    rows = [_our_row(contest, threads, blanks) for threads in contest.threads()]
    rows += [_peer_row(contest, peer) for peer in contest.peers]
    table(f"{contest.corpus.name}   {contest.size}", columns, rows)
    if contest.ours.perceptrons:
        perceptrons(contest)
    say(f"  f* = {contest.optimum:.8g}. {_shares(contest)}")
    for peer in contest.peers:
        before, n = (median([run[key] for run in peer.runs]) for key in ("prepared", "features"))
        say(f"  {peer.name}: {n:.0f} weights, {before:.3g} s before its first iteration.")
    for note in contest.notes:
        say(f"  {note}")
    say()


def _our_row(contest: Contest, threads: int, blanks: int) -> list[str]:
    ours = contest.ours
    reaches = [ours.reach(target, threads) for target in contest.targets]
    told = ours.told(contest.targets[-1], threads)
    last = told[-1]["value"] if told else ours.best
    return [
        f"argmax ({threads})",
        *map(str, reaches),
        *[""] * blanks,
        " / ".join(str(len(reach.times)) for reach in reaches),
        _grown(told),
        f"{last / contest.optimum - 1.0:.1e}",
    ]


def _peer_row(contest: Contest, peer: Peer) -> list[str]:
    reaches = {target: peer.reach(contest.value(target)) for target in contest.targets}
    all_threads, *alone = (
        [_ratio_text(*contest.ratio(reach, t, threads)) for t, reach in reaches.items()]
        for threads in contest.threads()
    )
    ratios = [*all_threads, *(" / ".join(texts) for texts in alone)]
    runs = " / ".join(str(len(reach.times) or 1) for reach in reaches.values())
    above = f"{peer.best / contest.optimum - 1.0:.1e}"
    return [peer.name, *map(str, reaches.values()), *ratios, runs, f"{peer.grown:.4g}", above]


def _grown(runs: list[dict[str, Any]]) -> str:
    return f"{median([run['grown'] for run in runs]):.4g}" if runs else ""


def _ratio_text(ratio: float, bound: bool) -> str:
    if math.isnan(ratio):
        return "we do not get there"
    if bound:
        return f"> {ratio:.3g}×" if ratio >= 1.0 else "open: cut off"
    return note_ratio(ratio)


def _shares(contest: Contest) -> str:
    """Where our time goes beside the solver, and what the first sentences cost in a process."""
    ours = contest.ours
    told = ours.told(contest.targets[-1], ours.threads)
    if not told:
        return f"argmax does not get to {contest.targets[-1]}."
    reading = median([run["reading"] for run in told])
    rest = median([run["seconds"] - run["reading"] - run["curve"][-1][0] for run in told])
    warm = median([run["warm"] for run in told])
    tols = ", ".join(f"{ours.tols[t]:.1e}" if t in ours.tols else "none" for t in contest.targets)
    return (
        f"argmax: tol = {tols}; {reading:.2g} s of reading, {rest:.2g} s of attributes, layout and\n"
        f"  the rest; {warm:.2g} s to warm up in a fresh process, compile cache warm."
    )


def perceptrons(contest: Contest) -> None:
    """The table of the averaged perceptron and of tagging."""
    ours, crfsuite = contest.ours.perceptrons, contest.crfsuite
    trained, alone, every = _training(ours), _speed_of(ours, 1), _speed_of(ours)
    rows = [["argmax", f"{trained:.3g}", "", f"{alone:,.0f}", f"{every:,.0f}", "", *_quality(ours)]]
    if crfsuite:
        theirs = crfsuite.perceptrons
        speed, slower = _speed_of(theirs), _training(theirs) / trained
        ratios = f"{note_ratio(alone / speed)} / {note_ratio(every / speed)}"
        seconds = [f"{_training(theirs):.3g}", note_ratio(slower)]
        rows.append(["CRFsuite", *seconds, f"{speed:,.0f}", "", ratios, *_quality(theirs)])
    columns = [
        "", f"{EPOCHS} epochs, s", "peer/us", "tagging, tokens/s on 1 thread", f"on {contest.ours.threads}",
        "us/peer", "accuracy", "MB",
    ]  # fmt: skip
    table("Averaged perceptron, and text to labels", columns, rows)


def _quality(runs: list[dict[str, Any]]) -> list[str]:
    return [f"{runs[-1]['accuracy']:.4f}", _grown(runs)]


def _training(runs: list[dict[str, Any]]) -> float:
    """Seconds of the averaged perceptron."""
    return median([run["seconds"] for run in runs])


def _speed_of(runs: list[dict[str, Any]], threads: int | None = None) -> float:
    """Tokens tagged a second; on all threads, where no number is given. (JSON names them by strings.)"""
    asked = [str(threads or max(map(int, run["tagging"]))) for run in runs]
    seconds = [median(run["tagging"][n]) for run, n in zip(runs, asked, strict=True)]
    return float(runs[-1]["tokens"] / median(seconds))


# What is promised


def promises(contest: Contest) -> list[Check]:
    name = contest.corpus.name
    result = []
    for threads, floors in zip(contest.threads(), FLOORS.get(name, ELSEWHERE), strict=False):
        for target, floor in zip(contest.targets, floors, strict=False):
            if floor:
                result.append(_speed(contest, threads, target, floor))
    if contest.crfsuite:
        result += _agreement(contest, contest.crfsuite)
        if name in FLOORS:
            result += _rest(contest, contest.crfsuite)
    return result


def _speed(contest: Contest, threads: int, target: str, floor: float) -> Check:
    peer, reach = contest.fastest(target)
    ratio, bound = contest.ratio(reach, target, threads)
    decision = "not met" if math.isnan(ratio) else verdict(ratio, floor, bound)
    what = f"{contest.corpus.name} to {target}, {_threads(threads)}"
    return Check(what, f"{_ratio_text(ratio, bound)} ({peer})", f"{floor:g}×", decision)


def _agreement(contest: Contest, crfsuite: Peer) -> Iterator[Check]:
    """That both have the same weights to find, and find the same optimum."""
    name, theirs, ours = contest.corpus.name, crfsuite.runs[0]["features"], contest.size.weights
    yield Check(
        f"{name}: weights", f"{ours} and {theirs}", "equal", "met" if ours == theirs else "not met"
    )
    apart = abs(crfsuite.best / contest.ours.best - 1.0)
    decision = "met" if apart <= 1e-6 else "open: CRFsuite was stopped; --full lets it go on"
    if contest.ours.best > crfsuite.best * (1.0 + 1e-6):
        decision = "not met"
    yield Check(f"{name}: optimum", f"{apart:.1e} apart", "1e-6", decision)


def _rest(contest: Contest, crfsuite: Peer) -> Iterator[Check]:
    """The perceptron, tagging, and memory."""
    name, ours, theirs = contest.corpus.name, contest.ours.perceptrons, crfsuite.perceptrons
    yield _floor(
        f"{name}: perceptron, {EPOCHS} epochs", _training(theirs) / _training(ours), PERCEPTRON
    )
    what = f"{name}: text to labels, {_threads(contest.ours.threads)} against CRFsuite's one"
    yield _floor(what, _speed_of(ours) / _speed_of(theirs), TAGGING)
    alone = _speed_of(ours, 1)
    enough = "met" if alone >= PER_SECOND else "not met"
    yield Check(f"{name}: tagging, 1 thread", f"{alone:,.0f} tokens/s", f"{PER_SECOND:,}", enough)
    told = contest.ours.told(contest.targets[-1], contest.ours.threads)
    if told:
        ratio = crfsuite.grown / median([run["grown"] for run in told])
        yield _floor(f"{name}: memory grown", ratio, MEMORY)


def _threads(number: int) -> str:
    return f"{number} thread" + ("s" if number > 1 else "")


def _floor(what: str, ratio: float, floor: float) -> Check:
    return Check(what, note_ratio(ratio), f"{floor:g}×", verdict(ratio, floor))


def figures(contest: Contest) -> dict[str, Any]:
    """One corpus, for the JSON file."""
    ours = contest.ours
    runs = [
        {"threads": threads, "tol": tol, "told": told} for (threads, tol), told in ours.runs.items()
    ]
    return {
        "corpus": contest.corpus.name,
        "size": vars(contest.size),
        "optimum": contest.optimum,
        "notes": contest.notes,
        "argmax": {
            "tols": ours.tols,
            "way": ours.way,
            "runs": runs,
            "perceptron": ours.perceptrons,
        },
        "peers": {
            peer.name: {
                "runs": peer.runs,
                "limit": peer.limit,
                "grown": peer.grown,
                "perceptron": peer.perceptrons,
            }
            for peer in contest.peers
        },
    }
