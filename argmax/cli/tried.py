"""What was tried to calibrate with, as a table."""

from __future__ import annotations

from .console import Console

__all__ = ["show_tried"]


def show_tried(title: str, tried: dict[str, float], chosen: str | None, console: Console) -> None:
    """The log loss of each method, and which one was chosen; None: the best."""
    best = min(tried, key=lambda name: tried[name]) if chosen is None else chosen
    rows = [[name, f"{loss:.4f}", "chosen" if name == best else ""] for name, loss in tried.items()]
    console.heading(title)
    console.table(["method", ">log-loss", ""], rows)
