"""Numbers for what ``kernels.online`` is told to do, where plain Python can read them without a compiler."""

__all__ = ["LOSSES", "RULES", "SCHEDULES"]

RULES = {"perceptron": 0, "perceptron_sum": 1, "pa1": 2, "pa2": 3}
"""Rules of ``perceive``, by the name of the loss."""

LOSSES = {
    "log": 0,
    "softmax_margin": 0,
    "hinge": 1,
    "weston_watkins": 2,
    "squared_hinge": 3,
    "squared": 4,
    "ovr_log": 5,
}
"""Losses of ``descend``, by name."""

SCHEDULES = {"constant": 0, "inverse": 1, "inverse_sqrt": 2, "calibrated": 3}
"""How its step falls, by name."""
