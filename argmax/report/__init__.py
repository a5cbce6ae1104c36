"""A report: how good a model is, where it fails and why, in one HTML file that needs nothing else.

    evaluation.py   Evaluation: what a report is about; ``of`` fills one from a fitted classifier
    measures.py     every number of the page
    snippets.py     the Python lines that give it again
    sections.py     the numbers as what the template prints; mistakes.py and fitted.py are its middle part
    charts.py       the drawings, made of the few elements in svg.py
    tagging/        the same for taggers: Tagging, its numbers, sections and lines, for tagging.html
    label_sets/     and for sets of labels: LabelSets, for label_sets.html
    page.py         ``render`` and ``write``; page.html, style.css and script.js beside it
    safe.py         text from data, made safe for a page, a terminal and a spreadsheet

Names are imported on first use: ``safe`` serves the command line, which must not wait for the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .evaluation import Evaluation, Model, of
    from .label_sets.evaluation import LabelSets
    from .page import render, write
    from .tagging.evaluation import Tagging

__all__ = ["Evaluation", "LabelSets", "Model", "Tagging", "of", "render", "write"]
_HOMES = {
    "LabelSets": "label_sets.evaluation",
    "Tagging": "tagging.evaluation",
    "render": "page",
    "write": "page",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES.get(name, 'evaluation')}", __name__), name)


def __dir__() -> list[str]:
    return __all__
