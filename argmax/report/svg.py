"""Small drawings as SVG: scales, axes, lines, dots, bars. Colours come from classes in the page's style.

A drawing is a list of elements around which ``drawing`` puts the frame. Sizes are in pixels of a phone, so
that letters keep their size there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

__all__ = ["Scale", "circle", "drawing", "path", "rect", "rule", "text", "x_axis", "y_axis"]

Points = Iterable[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Scale:
    """From values low … high to pixels start … end, by value or (``log``) by its logarithm.

    >>> from argmax.report.svg import Scale
    >>> across = Scale(0.0, 10.0, start=0, end=200)
    >>> across(2.5), across.ticks()
    (50.0, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    >>> Scale(1e-3, 1.0, 0, 300, log=True)(0.1)
    200.0
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (
            (math.log10(v) for v in (self.low, self.high, value))
            if self.log
            else (self.low, self.high, value)
        )
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, most: int = 6) -> list[float]:
        """At most about ``most`` round values of the range; powers of ten for a logarithm."""
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            every = max(1, -(-(last - first + 1) // most))
            return [10.0**e for e in range(first, last + 1, every)] or [self.low, self.high]
        if self.high <= self.low:
            return [self.low]
        rough = (self.high - self.low) / (most - 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next((m for m in (1, 2, 5) if m * power >= rough), 10)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]


def drawing(width: float, height: float, label: str, parts: Sequence[Markup]) -> Markup:
    """The frame: a picture with a name for those who do not see it."""
    form = (
        '<svg viewBox="0 0 {w:g} {h:g}" width="{w:g}" height="{h:g}" role="img" aria-label="{label}">'
        "{body}</svg>"
    )
    return Markup(form).format(w=width, h=height, label=label, body=Markup("").join(parts))


def rule(x1: float, y1: float, x2: float, y2: float, style: str) -> Markup:
    """A straight line."""
    form = '<line x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}" class="{}"/>'
    return Markup(form).format(x1, y1, x2, y2, style)


def path(points: Points, style: str) -> Markup:
    """A line through points."""
    steps = " ".join(f"{x:g},{y:g}" for x, y in points)
    return Markup('<polyline points="{}" class="{}"/>').format(steps, style)


def circle(x: float, y: float, radius: float, style: str, title: str = "") -> Markup:
    """A dot; ``title`` is what pointing at it tells."""
    form = '<circle cx="{:g}" cy="{:g}" r="{:g}" class="{}">{}</circle>'
    told = Markup("<title>{}</title>").format(title) if title else Markup("")
    return Markup(form).format(x, y, radius, style, told)


def rect(x: float, y: float, width: float, height: float, style: str) -> Markup:
    """A bar."""
    form = '<rect x="{:g}" y="{:g}" width="{:g}" height="{:g}" class="{}"/>'
    return Markup(form).format(x, y, max(width, 0.0), max(height, 0.0), style)


def text(x: float, y: float, words: str, style: str) -> Markup:
    """Words; the style says how they are aligned."""
    return Markup('<text x="{:g}" y="{:g}" class="{}">{}</text>').format(x, y, style, words)


def x_axis(scale: Scale, y: float, show: Callable[[float], str], title: str = "") -> list[Markup]:
    """A line at height y with ticks, their values below, and a title below those."""
    parts = [rule(scale.start, y, scale.end, y, "axis")]
    for value in scale.ticks():
        x = scale(value)
        parts += [rule(x, y, x, y + 4, "axis"), text(x, y + 16, show(value), "tick middle")]
    if title:
        parts.append(text((scale.start + scale.end) / 2, y + 33, title, "tick middle"))
    return parts


def y_axis(scale: Scale, x: float, right: float, show: Callable[[float], str]) -> list[Markup]:
    """Values at the left of x, and a faint line from each across to ``right``."""
    parts = []
    for value in scale.ticks():
        y = scale(value)
        parts += [rule(x, y, right, y, "grid"), text(x - 6, y + 4, show(value), "tick end")]
    return parts
