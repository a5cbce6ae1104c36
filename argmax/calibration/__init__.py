"""From scores to honest probabilities: is a class that gets 0.8 right eight times in ten?

reliability.py   confidence against frequency, with intervals and the calibration error
"""

from .reliability import Reliability, by_class, reliability

__all__ = ["Reliability", "by_class", "reliability"]
