"""Multiclass from binary: one-vs-rest, one-vs-one, output codes, and what to make of their answers."""

from . import codes
from .coupling import of_code, pairwise
from .one_vs_one import OneVsOne
from .one_vs_rest import OneVsRest
from .output_code import OutputCode
from .scalar_code import ScalarCode

__all__ = [
    "OneVsOne",
    "OneVsRest",
    "OutputCode",
    "ScalarCode",
    "codes",
    "of_code",
    "pairwise",
]
