"""What solvers that visit single examples ask for, and epochs of those that learn classes from mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import surveys
from ..engines.limits import OutOfTime
from ..errors import Unsupported
from ..layouts import Full, Pairs
from ..objective import Objective
from ..records import Floats, Solution
from .report import Report

__all__ = ["check_online", "check_rows", "finish", "first_order", "row_epochs", "stoppable"]

FARTHEST = 20
"""Times that the number of idle epochs is multiplied by four; after them the last w is taken."""


def check_online(solver: str, loss: str, objective: Objective, penalised: bool = True) -> None:
    """One sentence before any work: the loss of this solver, one shard, one label a token."""
    layout, given = objective.problem.layout, objective.problem.loss.name
    if given != loss or not isinstance(layout, Pairs):
        raise Unsupported(f"solver {solver!r} belongs to loss={loss!r} of SequenceTagger.")
    if penalised and (objective.l1 or not objective.l2):
        raise Unsupported(f"loss={loss!r} needs penalty='l2' and a finite C, or use loss='log'.")
    if not objective.random_access:
        raise Unsupported(
            f"loss={loss!r} learns from single sequences in the memory of this process. Use loss='log' on a "
            "cluster, or engine=None."
        )
    if len(objective.shards) > 1:
        raise Unsupported(f"solver {solver!r} needs all sequences in one shard. Use loss='log'.")
    if objective.shards[0].truth.allowed is not None:
        raise Unsupported(
            f"loss={loss!r} needs one label a token. Use loss='log', which takes sets of labels."
        )
    if layout.edge_features != 1:
        raise Unsupported(
            f"loss={loss!r} has one table of transitions. Leave out the mark 'edge:' of templates, or use "
            "loss='log'."
        )


def first_order(objective: Objective) -> bool:
    """Whether a transition depends on no more than one label before it."""
    layout = objective.problem.pairs
    return layout.states in (0, layout.labels)


def check_rows(solver: str, losses: tuple[str, ...], objective: Objective) -> None:
    """One sentence before any work: one of these losses, over rows and classes."""
    given = objective.problem.loss.name
    if given not in losses or not isinstance(objective.problem.layout, Full):
        names = " and ".join(f"loss={name!r}" for name in losses)
        raise Unsupported(f"solver {solver!r} belongs to {names}; the loss is {given!r}.")
    if not objective.random_access:
        raise Unsupported(
            f"loss={given!r} learns from rows in the memory of this process. Pass arrays, or use partial_fit "
            "piece by piece."
        )


def row_epochs(
    solver: str,
    objective: Objective,
    start: Floats,
    report: Report,
    *,
    rate: float,
    shuffle: bool,
    average: bool,
    seed: int | None,
    settles: bool,
) -> Solution:
    """Epochs over single rows until one has no mistake, or to a limit; no gap, as nothing is minimised.

    ``settles``: rows without a mistake change nothing.
    """
    from ..passes.online import RowWalk

    report.solver = solver
    walk = RowWalk(objective.whole, objective.problem, start, average)
    rng, rows = np.random.default_rng(seed or 0), np.arange(len(walk))
    with stoppable(walk, report):
        while True:
            wrong = walk.perceive(rng.permutation(rows) if shuffle else rows, objective.C, rate)
            w = walk.mean() if report.callbacks else start
            if finish(report, wrong, report(objective, w, wrong, math.inf)):
                more = settles and average and not wrong
                w = _mean_of_more(walk, objective, report) if more else walk.mean()
                return report.online(w, solver)


def _mean_of_more(walk: Any, objective: Objective, report: Report) -> Floats:
    """The mean, with as many more epochs without a mistake, which change nothing, as it needs to make none.

    The mean of ever more of them tends to the last w. Where columns are next to nothing beside the
    intercept's ones it takes many: intercepts of the last w cancel, those of the mean do not quite.
    """

    def wrong(w: Floats) -> int:
        return int(objective.fold(surveys.wrong, w)["wrong"])

    last: Floats = walk.flat()
    least, steps = None, len(walk)
    for _ in range(FARTHEST):
        mean: Floats = walk.mean()
        found = wrong(mean)
        least = wrong(last) if found and least is None else least
        if not found or found == least or report.out_of_time():
            return mean
        walk.clock, walk.count = walk.clock + steps, walk.count + steps
        steps *= 4
    return last


@contextmanager
def stoppable(walk: Any, report: Report) -> Iterator[None]:
    """Weights cost a sweep to make, so they are made where somebody listens; an interrupt wants them too."""
    try:
        yield
    except KeyboardInterrupt:
        report.w = walk.mean() if report.passes else None
        raise
    except OutOfTime:
        report.found_without_value(walk.mean() if walk.count else walk.flat())
        raise


def finish(report: Report, wrong: int, asked: bool) -> bool:
    """Whether an epoch with so many mistakes was the last one, and the words for it."""
    if not wrong:
        report.status, report.message = "no mistakes", "an epoch without a mistake"
    elif report.status == "max_iter":
        report.status, report.message = "epochs done", f"made its {report.passes} epochs"
    return asked or not wrong
