"""A report: how good a model is, where it fails and why, in one HTML file that needs nothing else.

evaluation.py   Evaluation: what a report is about; ``of`` fills one from a fitted classifier
measures.py     every number of the page
snippets.py     the Python lines that give it again
sections.py     the numbers as what the template prints; mistakes.py and fitted.py are its middle part
charts.py       the drawings, made of the few elements in svg.py
page.py         ``render`` and ``write``; page.html, style.css and script.js beside it
safe.py         text from data, made safe for a page, a terminal and a spreadsheet
"""

from .evaluation import Evaluation, Model, of
from .page import render, write

__all__ = ["Evaluation", "Model", "of", "render", "write"]
