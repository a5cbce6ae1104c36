"""One corpus, and what everybody does with it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec

from ..common import Options, progress
from ..race import Reach
from .data import Corpus
from .entrants import LAST, NEAR, Ours, Peer, Size, size

TARGETS = ("1e-3", "1e-5")  # of (f − f*)/f*, as they are printed
LARGE = {"mac_morpho"}  # only L-BFGS, the first target, and everybody runs once
ROUNDS = 3
TAGGINGS = 5  # times that a process tags the test file
SLOW = 30.0  # a peer's run longer than this is repeated only with --full
DOUBLES = 14  # that Wapiti holds for every weight

LIMITS = {  # seconds for one run of a peer
    "conll2000": 600.0,
    "ewt-upos": 600.0,
    "ewt-xpos": 900.0,
    "wnut17": 300.0,
    "mac_morpho": 1500.0,
}
PEERS = {"CRFsuite": "pycrfsuite", "Wapiti": "libwapiti"}


@dataclass
class Contest:
    """One corpus, and what everybody did with it."""

    corpus: Corpus
    size: Size
    ours: Ours
    peers: list[Peer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def large(self) -> bool:
        return self.corpus.name in LARGE

    @property
    def targets(self) -> tuple[str, ...]:
        return TARGETS[:1] if self.large else TARGETS

    @property
    def optimum(self) -> float:
        """f*. Wapiti's is another problem's, with more weights."""
        return min([self.ours.best, *(p.best for p in self.peers if p.name == "CRFsuite")])

    @property
    def crfsuite(self) -> Peer | None:
        return next((peer for peer in self.peers if peer.name == "CRFsuite"), None)

    def value(self, target: str) -> float:
        return self.optimum * (1.0 + float(target))

    def threads(self) -> list[int]:
        return sorted({self.ours.threads, 1}, reverse=True)

    def fastest(self, target: str) -> tuple[str, Reach]:
        """The first peer at a target; where one was cut earlier, that bound counts."""
        ways = [(peer.name, peer.reach(self.value(target))) for peer in self.peers]
        return min(ways, key=lambda way: way[1].seconds, default=("nobody", Reach()))

    def ratio(self, reach: Reach, target: str, threads: int) -> tuple[float, bool]:
        """A peer's time over ours, and whether that is only a lower bound; NaN: we do not get there."""
        ours = self.ours.reach(target, threads).seconds
        return (math.nan if math.isinf(ours) else reach.seconds / ours), reach.bound


def hold(corpus: Corpus, options: Options) -> Contest:
    counts = size(corpus)
    contest = Contest(corpus, counts, Ours(corpus, counts, options.threads))
    contest.peers = list(present(contest))
    rounds = 1 if options.quick or contest.large else ROUNDS
    progress(f"{corpus.name}: argmax, to the last digits")
    contest.ours.explore(NEAR if contest.large else LAST)
    for peer in contest.peers:
        first_run(contest, peer, options)
    for target in contest.targets:
        progress(f"{corpus.name}: argmax, to {target}")
        contest.ours.aim(target, contest.value(target))
    for i in range(rounds):
        progress(f"{corpus.name}: round {i + 1} of {rounds}")
        one_round(contest, i, options)
    return contest


def present(contest: Contest) -> Iterator[Peer]:
    """The peers that are installed and that this machine can hold."""
    for name, module in PEERS.items():
        if find_spec(module) is None:
            contest.notes.append(f'{name} is not installed: pip install "argmax[bench]".')
            continue
        if name == "Wapiti" and contest.large:
            contest.notes.append("Wapiti is left out: an iteration takes minutes.")
            continue
        needed = 8.0 * DOUBLES * contest.size.attributes * contest.size.labels
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if name == "Wapiti" and needed > 0.6 * memory:
            contest.notes.append(f"Wapiti is left out: it would take {needed / 2**30:.0f} GiB.")
            continue
        yield Peer(name, contest.corpus, contest.ours.threads)


def first_run(contest: Contest, peer: Peer, options: Options) -> None:
    """To the tighter target, or with --full as far as CRFsuite goes, for the sake of f*."""
    limit = options.limit or (10.0 if options.quick else LIMITS[contest.corpus.name])
    below = contest.value(contest.targets[-1])
    if peer.name == "Wapiti" and contest.crfsuite and not options.full:
        limit = min(limit, 2.0 * contest.crfsuite.reach(below).seconds)
    progress(f"{contest.corpus.name}: {peer.name}, at most {limit:.0f} s")
    peer.run(0.0 if options.full and peer.name == "CRFsuite" else below, limit)
    if not contest.large:
        peer.weigh()


def one_round(contest: Contest, number: int, options: Options) -> None:
    """Everybody once more, in turn."""
    rounds = 1 if options.quick else TAGGINGS
    for target, tol in contest.ours.tols.items():
        for threads in contest.threads():
            if len(contest.ours.told(target, threads)) <= number:
                contest.ours.run(threads, tol)
    if not contest.large:
        contest.ours.perceptron(rounds)
    if contest.crfsuite and not contest.large:
        contest.crfsuite.perceptron(rounds)
    for peer in contest.peers:
        reach = peer.reach(contest.value(contest.targets[-1]))
        again = reach.times and (reach.seconds < SLOW or options.full)
        if number and again:
            peer.run(contest.value(contest.targets[-1]), LIMITS[contest.corpus.name])
