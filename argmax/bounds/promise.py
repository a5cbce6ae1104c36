"""What a bound says: a number, what it is made of, and what must be true for it to hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from .. import checks
from ..errors import InvalidInput

__all__ = ["Assumption", "Bound", "counted", "level", "sampled"]

MARKS = {True: "✓", False: "✗", None: "?"}


@final
@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that must be true: it is (✓), it is not (✗), or the data cannot tell (?).

    >>> from argmax import bounds
    >>> print(bounds.Assumption("the margin was fixed beforehand", False))
    ✗ the margin was fixed beforehand
    """

    text: str
    holds: bool | None = None

    def __str__(self) -> str:
        return f"{MARKS[self.holds]} {self.text}"


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """With probability at least 1 − δ, the share of mistakes on new rows is at most ``value``.

    ``terms`` add up to the value where the bound is a sum. A value of NaN means that the formula has no
    meaning here; the assumption that is crossed says why.

    >>> from argmax import bounds
    >>> found = bounds.vc(10, 398, dimension=31)
    >>> print(found)
    VC dimension: 1.679, vacuous
      training mistakes 0.025 + complexity 1.653
      ? the rows were drawn independently from the distribution that the promise is about
      ? the features were fixed before these rows were seen
    >>> found.vacuous, found.delta
    (True, 0.05)
    """

    name: str
    value: float
    terms: Mapping[str, float]
    assumptions: tuple[Assumption, ...]
    delta: float
    reference: str
    facts: Mapping[str, float] = field(default_factory=dict)

    @property
    def defined(self) -> bool:
        """Whether the formula has a meaning for this fit."""
        return not math.isnan(self.value)

    @property
    def vacuous(self) -> bool:
        """Whether nothing is promised: every share is below 1 anyway."""
        return self.defined and self.value >= 1.0

    @property
    def holds(self) -> bool | None:
        """False if an assumption is crossed, True if all are ticked, else None: it is for you to know."""
        marks = {assumption.holds for assumption in self.assumptions}
        return False if False in marks else (None if None in marks else True)

    @property
    def verdict(self) -> str:
        """In two words: what the number is worth."""
        if not self.defined:
            return "not applicable"
        if self.vacuous:
            return "vacuous"
        return "no promise" if self.holds is False else "a promise"

    @property
    def shown(self) -> str:
        """The value to three digits, rounded up as a bound must be; a dash where it has no meaning."""
        return f"{math.ceil(self.value * 1000 - 1e-9) / 1000:.3f}" if self.defined else "–"

    def given(self, *known: Assumption) -> Bound:
        """The same bound, with further or better known assumptions (those of the same text are replaced)."""
        texts = {assumption.text: assumption for assumption in known}
        kept = tuple(texts.pop(a.text, a) for a in self.assumptions)
        return replace(self, assumptions=kept + tuple(texts.values()))

    def __str__(self) -> str:
        value = f"{self.shown}, " if self.defined else ""
        lines = [f"{self.name}: {value}{self.verdict}"]
        if self.defined and len(self.terms) > 1:
            lines.append(
                "  " + " + ".join(f"{name} {part:.3f}" for name, part in self.terms.items())
            )
        return "\n".join(lines + [f"  {assumption}" for assumption in self.assumptions])


INDEPENDENT = "the rows were drawn independently from the distribution that the promise is about"
FIXED_FEATURES = "the features were fixed before these rows were seen"


def sampled(*more: Assumption, fixed_features: bool = True) -> tuple[Assumption, ...]:
    """What every bound assumes, and what those from training rows do as well."""
    common = [Assumption(INDEPENDENT)]
    if fixed_features:
        common.append(Assumption(FIXED_FEATURES))
    return (*common, *more)


def level(delta: Any) -> float:
    """δ, checked."""
    found = checks.number("delta", delta, 0.0, 1.0, open_low=True)
    if found == 1.0:
        raise InvalidInput("delta must be less than 1: it is the chance that the promise fails.")
    return found


def counted(mistakes: Any, n: Any) -> tuple[int, int]:
    """A number of mistakes among n rows, checked."""
    n = checks.positive_integer("n", n)
    if checks.number("mistakes", mistakes, 0, n) != int(mistakes):
        raise InvalidInput(f"mistakes must be a whole number, not a share; got {mistakes!r}.")
    return int(mistakes), n
