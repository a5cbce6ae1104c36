"""What contests show: the choice of a solver, the peers, and how tight the certificates are."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from ..common import Check, table
from .contests import LEAST, MARGIN, PATIENCE, SLOWER, TARGETS, TIGHT, Contest
from .page import NOTHING, check, listing, loss_of, percent

__all__ = ["bad_rows", "figures", "promises", "sums"]

TIGHTNESS = 10.0
"""A certificate is tight within this factor of the true suboptimality."""

LARGE_GAP = 1e-6
"""A looser certificate below this costs nothing: the tol has long been met."""

AHEAD, TIGHT_SHARE = 0.95, 0.9


def sums(contests: Sequence[Contest]) -> None:
    _sums_of_choice([c for c in contests if c.others is not None])
    _sums_of_peers([c for c in contests if c.race])
    _sums_of_certificates(_certified(contests))


def promises(contests: Sequence[Contest]) -> list[Check]:
    """What is promised of contests."""
    beside = [c for c in contests if c.others is not None]
    made = [
        check(
            f"default ≤ {SLOWER:g} × our best solver + {1000 * MARGIN:g} ms",
            [c.well_chosen for c in beside],
            1.0,
        )
    ]
    for target in TARGETS:
        ratios = [ratio for c in contests if (ratio := against(c, target)) is not None]
        made += [
            check(f"ahead of the best peer to {target:g}", [r >= 1.0 for r in ratios], AHEAD),
            check(
                f"≤ {SLOWER:g} × the best peer to {target:g}",
                [r * SLOWER >= 1 for r in ratios],
                1.0,
            ),
        ]
        held = [c for c in contests if against(c, target) is not None]
        within = [_behind(c, target) <= 0 for c in held]
        made.append(check(f"the same and {1000 * MARGIN:g} ms, to {target:g}", within, 1.0))
    tight = _certified(contests)
    made += [
        check("certificates that hold", [not c.broken for c in tight], 1.0),
        check(f"relative_gap ≤ {TIGHTNESS:g} × true suboptimality", _within(tight), TIGHT_SHARE),
        check(f"the same where relative_gap > {LARGE_GAP:g}", _within(_large(tight)), TIGHT_SHARE),
    ]
    return [one for one in made if one.figure != NOTHING]


def _certified(contests: Sequence[Contest]) -> list[Contest]:
    return [c for c in contests if c.tight and not math.isnan(c.default.relative_gap)]


def _large(contests: Sequence[Contest]) -> list[Contest]:
    return [c for c in contests if c.default.relative_gap > LARGE_GAP]


def _within(contests: Sequence[Contest]) -> list[bool]:
    """Whether the certificate is tight, of those of which that is known."""
    found = [c.within(TIGHTNESS) for c in contests]
    return [known for known in found if known is not None]


def against(contest: Contest, target: float) -> float | None:
    """Seconds of the best peer over ours; None where there is no peer, or neither gets there."""
    if contest.race is None or not contest.race.of(False):
        return None
    value = contest.value(target)
    us, peer = contest.race.seconds(True, value), contest.race.seconds(False, value)
    if math.isinf(us):
        return None if math.isinf(peer) else 0.0
    return peer / us


def _behind(contest: Contest, target: float) -> float:
    """Seconds that we took beyond 1.5 times the best peer's and the margin; no more than 0: none."""
    assert contest.race is not None
    value = contest.value(target)
    us, peer = contest.race.seconds(True, value), contest.race.seconds(False, value)
    return -math.inf if math.isinf(peer) else us - SLOWER * peer - MARGIN


# Sums


def _groups(
    contests: Sequence[Contest], key: Callable[[Contest], str]
) -> list[tuple[str, list[Contest]]]:
    groups: dict[str, list[Contest]] = defaultdict(list)
    for contest in contests:
        groups[key(contest)].append(contest)
    return sorted(groups.items())


def _loss(contest: Contest) -> str:
    return loss_of(contest.default.fit)


def _sums_of_choice(contests: Sequence[Contest]) -> None:
    rows = []
    for name, group in _groups(contests, _loss):
        beside = [c for c in group if c.rival]
        bad = [c for c in group if not c.well_chosen]
        worst = max((_over(c) for c in bad), default=math.nan)
        better = Counter(c.rival.fit.solver for c in bad if c.rival)
        said = ", ".join(f"{count} {who}" for who, count in better.most_common())
        text = "" if math.isnan(worst) else f"{worst:.3g}×"
        rows.append([name, str(len(group)), str(len(beside)), str(len(bad)), text, said])
    if rows:
        title = (
            "The default beside our other solvers at the same tol (below 20 ms none could be better "
            "by the margin, and none is asked)"
        )
        columns = ["", "rows", "rivals that got there", "too slow", "worst", "what was faster"]
        table(title, columns, rows)


def _over(contest: Contest) -> float:
    """How many times the fastest other solver's seconds the default took."""
    if contest.rival is None or contest.default.status != "converged":
        return math.inf
    return contest.default.seconds / contest.rival.seconds


def _sums_of_peers(contests: Sequence[Contest]) -> None:
    for target in TARGETS:
        rows = [_peer_row(name, group, target) for name, group in _groups(contests, _loss)]
        everything = [c for c in contests if c.race and c.race.of(False)]
        if not everything:
            return
        rows.append(_peer_row("all", everything, target))
        columns = [
            "", "rows", "ahead", "> 1.5×", "+ 20 ms", "median", "tenth", "only we", "neither",
            "best peer",
        ]  # fmt: skip
        title = (
            f"Peers' seconds over ours to a true suboptimality of {target:g} (only we: no peer got there in "
            f"{PATIENCE:g} times our seconds, or {LEAST:g} s where that is more)"
        )
        table(title, columns, rows)


def _peer_row(name: str, group: Sequence[Contest], target: float) -> list[str]:
    if not any(c.race and c.race.of(False) for c in group):
        return [name, str(len(group)), "no peer", *[""] * 7]
    ratios = sorted(r for c in group if (r := against(c, target)) is not None)
    if not ratios:
        return [name, str(len(group)), "none got there", *[""] * 7]
    best = Counter(s.who for c in group if c.race and (s := c.race.fastest(False, c.value(target))))
    return [
        name,
        str(len(group)),
        percent(sum(r >= 1 for r in ratios) / len(ratios)),
        str(sum(r * SLOWER < 1 for r in ratios)),
        str(sum(_behind(c, target) > 0 for c in group if against(c, target) is not None)),
        _ratio(ratios[len(ratios) // 2]),
        _ratio(ratios[len(ratios) // 10]),
        str(sum(math.isinf(r) for r in ratios)),
        str(len(group) - len(ratios)),
        ", ".join(f"{n} {who.removeprefix('scikit-learn ')}" for who, n in best.most_common(2)),
    ]


def _ratio(ratio: float) -> str:
    return "only we" if math.isinf(ratio) else f"{ratio:.2g}×"


def _sums_of_certificates(contests: Sequence[Contest]) -> None:
    rows = []
    for name, group in [*_groups(contests, _loss), ("all", list(contests))] if contests else []:
        loose = sorted(c.looseness for c in group if c.within(TIGHTNESS) is not None)
        above = sorted(c.suboptimality for c in group)
        rows.append(
            [
                name,
                str(len(group)),
                f"{above[len(above) // 2]:.1e}",
                f"{above[-1]:.1e}",
                _share(group),
                _share(_large(group)),
                f"{loose[len(loose) // 2]:.2g}" if loose else "",
                str(len(group) - len(loose)),
                str(sum(bool(c.broken) for c in group)),
            ]
        )
    if rows:
        title = (
            f"Certificates: relative_gap over true suboptimality, which counts as {TIGHT:g} (what the "
            "tighter run leaves open) or as the rounding of F where it is below"
        )
        columns = [
            "", "rows", "median subopt.", "largest", "within 10×", f"where gap > {LARGE_GAP:g}",
            "median factor", "open", "broken",
        ]  # fmt: skip
        table(title, columns, rows)


def _share(group: Sequence[Contest]) -> str:
    known = _within(group)
    return f"{sum(known)} of {len(known)}"


# Rows


def bad_rows(contests: Sequence[Contest]) -> None:
    """Each contest that breaks a promise, one line each."""
    parts: list[tuple[str, list[str]]] = [
        ("Certificates refuted by a lower F", [line for c in contests for line in _refuted(c)]),
        (
            "Another solver was faster by more than the margin",
            [_chosen(c) for c in sorted(contests, key=_over, reverse=True) if not c.well_chosen],
        ),
    ]
    for target in TARGETS:
        slow = [
            (r, c) for c in contests if (r := against(c, target)) is not None and r * SLOWER < 1
        ]
        # Those that cost most come first; by the ratio where a few milliseconds are all.
        slow.sort(key=lambda pair: (-max(_behind(pair[1], target), 0.0), pair[0]))
        parts.append(
            (
                f"Slower than {SLOWER:g} times the best peer to {target:g}",
                [_outrun(c, target) for _, c in slow],
            )
        )
    loose = [c for c in _large(_certified(contests)) if c.within(TIGHTNESS) is False]
    loose.sort(key=lambda c: -c.looseness)
    parts.append(
        (f"Certificates above {LARGE_GAP:g} looser than {TIGHTNESS:g}×", [_loose(c) for c in loose])
    )
    for title, lines in parts:
        listing(title, lines)


def _place(contest: Contest) -> str:
    return f"{contest.default.fit.name}  [{contest.default.shape}]"


def _refuted(contest: Contest) -> list[str]:
    return [
        f"{_place(contest)}: {r.solver} (tol {r.fit.tol:g}) claims F ≥ {r.value - r.gap!r}; "
        f"found {contest.best!r}"
        for r in contest.broken
    ]


def _chosen(contest: Contest) -> str:
    default, rival = contest.default, contest.rival
    assert rival is not None
    return (
        f"{_over(contest):6.3g}× {_place(contest)}: default {default.solver} {default.seconds:.3g} s "
        f"({default.status}), {rival.fit.solver} {rival.seconds:.3g} s"
    )


def _outrun(contest: Contest, target: float) -> str:
    assert contest.race is not None
    value = contest.value(target)
    us, peer = contest.race.fastest(True, value), contest.race.fastest(False, value)
    assert peer is not None
    ours = f"{us.record.solver} {us.seconds:.3g} s" if us else f"{contest.default.solver} not there"
    ratio = "" if us is None else f"{us.seconds / peer.seconds:6.3g}× "
    theirs = f"{peer.who} {peer.seconds:.3g} s (tol {peer.record.fit.tol:.0e})"
    return f"{ratio}{_place(contest)}: {ours}, {theirs}"


def _loose(contest: Contest) -> str:
    return (
        f"{contest.looseness:8.3g}× {_place(contest)}: {contest.default.solver}, relative_gap "
        f"{contest.default.relative_gap:.1e}, truly {contest.suboptimality:.1e}"
    )


def figures(contest: Contest) -> dict[str, Any]:
    """A contest for the JSON file."""
    default = contest.default
    made: dict[str, Any] = {
        "rows": default.fit.rows,
        "problem": str(default.fit.problem),
        "best": contest.best,
        "zero": default.zero,
        "default": [default.solver, default.seconds, default.value, default.relative_gap],
        "others": [[r.fit.solver, r.status, r.seconds, r.value] for r in contest.others or ()],
    }
    if contest.race:
        made["race"] = [
            [s.who or "argmax", s.record.fit.tol, s.record.status, s.seconds, s.record.value]
            for s in contest.race.settings
        ]
    return made
