"""What was tried, as a table: values of C, and ways to calibrate."""

from __future__ import annotations

from .console import Console
from .selection import Choice

__all__ = ["show_choice", "show_tried"]


def show_choice(choice: Choice, score: str, console: Console) -> None:
    """The loss at each C, and which one was chosen."""
    console.heading("Choosing C, on rows that the trial did not learn from")
    rows = [
        [f"{C:g}", f"{loss:.4f}", "chosen" if choice.C == C else ""] for C, loss in choice.trials
    ]
    console.table([">C", f">{score}", ""], rows)
    console.say("The model is then fitted on all rows to learn from.")


def show_tried(title: str, tried: dict[str, float], chosen: str | None, console: Console) -> None:
    """The log loss of each method, and which one was chosen; None: the best."""
    best = min(tried, key=lambda name: tried[name]) if chosen is None else chosen
    rows = [[name, f"{loss:.4f}", "chosen" if name == best else ""] for name, loss in tried.items()]
    console.heading(title)
    console.table(["method", ">log-loss", ""], rows)
