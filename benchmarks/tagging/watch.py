"""The clock over a peer that tells the value of its objective after every iteration."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

NEVER = 2**31 - 1


@dataclass
class Watch:
    """(seconds, objective) after each iteration, since the clock was started."""

    below: float
    limit: float
    most: int = NEVER  # iterations
    began: float = field(default_factory=time.perf_counter)
    curve: list[tuple[float, float]] = field(default_factory=list)
    prepared: float = 0.0  # seconds before the first iteration

    def note(self, value: float) -> bool:
        """Whether this is the end."""
        self.curve.append((self.seconds(), value))
        late = self.seconds() > self.limit or len(self.curve) >= self.most
        return late or value <= self.below

    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def told(self, **more: Any) -> dict[str, Any]:
        reached = bool(self.curve) and self.curve[-1][1] <= self.below
        cut = not reached and self.seconds() > self.limit
        return {"curve": self.curve, "cut": cut, "prepared": self.prepared, **more}
