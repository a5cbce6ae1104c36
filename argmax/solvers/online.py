"""What solvers that visit single sequences ask for."""

from __future__ import annotations

from ..errors import Unsupported
from ..layouts import Pairs
from ..objective import Objective

__all__ = ["check_online"]


def check_online(solver: str, loss: str, objective: Objective, penalised: bool = True) -> None:
    """One sentence before any work: the loss of this solver, one shard, one label a token, order 1."""
    layout, given = objective.problem.layout, objective.problem.loss.name
    if given != loss or not isinstance(layout, Pairs):
        raise Unsupported(f"solver {solver!r} belongs to loss={loss!r} of SequenceTagger.")
    if penalised and (objective.l1 or not objective.l2):
        raise Unsupported(f"loss={loss!r} needs penalty='l2' and a finite C, or use loss='log'.")
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
    if layout.states not in (0, layout.labels):
        raise Unsupported(f"loss={loss!r} has transitions of order 1. Use order=1, or loss='log'.")
