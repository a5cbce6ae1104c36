"""What theory promises for a fit, and whether it may: every bound with its assumptions, ticked or crossed.

    held_out.py    test_set                   mistakes on rows that the model has not seen
    uniform.py     finite, vc, rademacher     training mistakes, and how rich the class is
    margins.py     margin, fat_shattering     training margins instead of dimensions
    gaussian.py    pac_bayes                  a cloud of weights around those found
    mistakes.py    perceptron                 how often a perceptron can be wrong, and how often it was
    planning.py    sample_size                how many rows make a gap small enough
    fits.py        report                     all of them for one fitted linear model
    promise.py     Bound, Assumption          what each of them returns

Everything works on plain arrays, so it serves any linear classifier. Symbols, the same in all of them:

    n  rows          d  features      k  classes       δ  the chance that the promise fails
    R  ‖x‖ ≤ R       Λ  ‖w‖ ≤ Λ       ρ  margin asked for

A bound of 1 or more says nothing about a share of mistakes and is called vacuous. Most are, on small data:
they hold for every distribution and for the worst way of choosing w. The bound from held-out rows is the
one to quote.
"""

from .fits import Report, report
from .gaussian import pac_bayes
from .held_out import test_set
from .margins import fat_shattering, margin
from .mistakes import Mistakes, perceptron
from .planning import sample_size
from .promise import Assumption, Bound
from .uniform import ball_complexity, finite, growth_complexity, rademacher, vc

__all__ = [
    "Assumption",
    "Bound",
    "Mistakes",
    "Report",
    "ball_complexity",
    "fat_shattering",
    "finite",
    "growth_complexity",
    "margin",
    "pac_bayes",
    "perceptron",
    "rademacher",
    "report",
    "sample_size",
    "test_set",
    "vc",
]
