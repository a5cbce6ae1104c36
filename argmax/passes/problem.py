"""What is being learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

from ..layouts import Full, Layout, Pairs
from ..losses import Curvature, Loss
from ..spaces import Space

__all__ = ["Problem"]


@final
@dataclass(frozen=True)
class Problem:
    """A space, a layout of weights and a loss."""

    space: Space
    layout: Layout
    loss: Loss

    @property
    def full(self) -> Full:
        """The layout, where it has a weight for every feature and label."""
        assert isinstance(self.layout, Full)
        return self.layout

    @property
    def pairs(self) -> Pairs:
        """The layout, where it has weights for attribute–label pairs."""
        assert isinstance(self.layout, Pairs)
        return self.layout

    @property
    def curvature(self) -> Curvature:
        """The second derivatives of a smooth loss."""
        assert self.loss.curvature is not None
        return self.loss.curvature

    def precise(self) -> Problem:
        """The same with all products in float64."""
        layout: Any = self.layout
        return replace(self, layout=replace(layout, precise=True))
