"""From probabilities and costs to actions: what to do, what it will cost, and how sure that is.

    actions.py       cost_table, expected_costs, decide: the action of the least expected cost, or none
    sets.py          top_k, covering_sets, cost_bounded_sets: several answers instead of one
    thresholds.py    threshold_for_precision: answer only where it is right often enough
    sensitivity.py   flip_distance: how wrong probabilities may be before the decision changes
    judging.py       realised_cost, saving, cost_curve: on rows whose truth is known
    sequences.py     decode: label sequences under a cost

Everything works on plain arrays: probabilities (n, k), costs (k, a) with a row for each truth and a column
for each action, as in ``argmax.costs``. Actions need not be classes.

Reference: Berger, Statistical decision theory and Bayesian analysis, 1985; Chow, On optimum recognition error
and reject tradeoff, 1970; Elkan, The foundations of cost-sensitive learning, 2001.
"""

from .actions import Decisions, cost_table, decide, expected_costs
from .judging import CostCurve, cost_curve, realised_cost, saving
from .sensitivity import flip_distance
from .sequences import decode
from .sets import cost_bounded_sets, covering_sets, top_k
from .thresholds import Threshold, threshold_for_precision

__all__ = [
    "CostCurve",
    "Decisions",
    "Threshold",
    "cost_bounded_sets",
    "cost_curve",
    "cost_table",
    "covering_sets",
    "decide",
    "decode",
    "expected_costs",
    "flip_distance",
    "realised_cost",
    "saving",
    "threshold_for_precision",
    "top_k",
]
