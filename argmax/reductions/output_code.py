"""Output codes: a word of bits for each class, a binary problem for each bit."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy.special import logit

from .. import checks
from ..errors import Unsupported
from ..records import Floats
from . import codes, coupling
from .banks import Bank, has_chances, learn
from .base import Reduction
from .decoding import DECODINGS, distance
from .intake import Given

__all__ = ["OutputCode"]


@final
class OutputCode(Reduction):
    """A word of L bits for each class; a model learns each bit; the nearest word wins.

    Words far apart make up for wrong bits: with the least distance d between two of them, ⌊(d − 1)/2⌋ wrong
    bits are corrected (``distances_``). One-vs-rest and all pairs are codes; so is any matrix of −1, 0 and 1.

    Parameters
    ----------
    estimator : a classifier or regressor of argmax or scikit-learn; None: ``LinearClassifier()``
    code : "random_dense", "random_sparse", "bch", "hadamard", "exhaustive", "one_vs_rest", "all_pairs",
        "minimal", or a matrix (k, L)
        Rows follow ``classes_``, sorted. See ``argmax.reductions.codes``.
    length : int or None
        Bits, for "random_dense" (None: 10 log₂ k), "random_sparse" (15 log₂ k) and "bch".
    decoding : "auto", "hamming", "log", "hinge", "exponential" or "probability"
        Which word is nearest: fewest wrong bits, the least loss of the scores (Allwein, Schapire and Singer
        2000), or the largest probability of all its bits. "auto" is "log" for bases with probabilities,
        "hinge" for others. Of equals the first in ``classes_``; equal Hamming distances go by Σ bit · score.
    together : "auto", True or False
        Solve all problems in one go, reading X once for all of them, where the base is a linear log loss of
        ours; "auto" where it can be done.
    random_state : int, RandomState or None
        Draws random codes; None is 0: fits repeat.
    n_jobs : int or None
        Processes for problems that are solved one by one.

    Attributes
    ----------
    classes_, code_ (k, L), distances_, n_features_in_
    coef_ (L, d), intercept_ (L,), solution_, where the problems were solved together; else estimators_

    Examples
    --------
    >>> from argmax import OutputCode
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OutputCode(code="bch").fit(X / 16, y)
    >>> model.distances_
    Distances(classes=10, length=63, least=31.0, correctable=15)
    >>> model.score(X / 16, y) > 0.95
    True

    References
    ----------
    Dietterich and Bakiri 1995, Solving multiclass learning problems via error-correcting output codes
    (JAIR 2).
    """

    def __init__(
        self,
        estimator: Any = None,
        code: Any = "random_dense",
        length: int | None = None,
        decoding: str = "auto",
        together: bool | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.length = length
        self.decoding = decoding
        self.together = together
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def distances_(self) -> codes.Distances:
        """How far apart the words are, and how many wrong bits that corrects."""
        return codes.distances(self.code_)

    def _learn(self, base: Any, given: Given) -> tuple[Any, Bank]:
        self._decoding(base)
        drawn = isinstance(
            self.random_state, np.random.RandomState
        )  # which gives as many as it takes
        seed = self.random_state if drawn else checks.seed(self.random_state)
        code = codes.get(self.code, len(given.classes), self.length, seed)
        return code, learn(base, given, code, self.together, self.n_jobs)

    def _decoding(self, base: Any) -> str:
        chosen: str = checks.choice("decoding", self.decoding, ("auto", *DECODINGS))
        if chosen == "probability" and not has_chances(base):
            raise Unsupported(
                f"decoding='probability' needs probabilities; {type(base).__name__} has none. Use "
                "decoding='hinge' or 'hamming'."
            )
        return ("log" if has_chances(base) else "hinge") if chosen == "auto" else chosen

    def _decide(self, X: Any) -> Floats:
        decoding = self._decoding(self._base())
        if decoding == "probability":
            chances = np.clip(self._bank.chances(X), 1e-300, 1.0 - 1e-16)
            return -distance(self.code_, logit(chances), decoding)
        return -distance(self.code_, self._bank.scores(X), decoding)

    def _probabilities(self, chances: Floats) -> Floats:
        """Those whose bits are nearest to the models' (Huang, Weng and Lin 2006)."""
        return coupling.of_code(self.code_, chances)
