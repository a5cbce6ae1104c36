"""Python lines that give the numbers of the page again, and what they print.

Every block runs after ``setup``; a test runs them all and compares what they print with what the page shows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .evaluation import Evaluation
from .label_sets.evaluation import LabelSets
from .measures import BINS, CLASS_BINS, Measures, feature_name
from .tagging.evaluation import Tagging

__all__ = [
    "Snippet",
    "classes",
    "confusion",
    "errors",
    "reliability",
    "scores",
    "setup",
    "training",
    "weights",
]


Line = str | tuple[str, str]
"""A line of code, or a line and what it prints."""


class Snippet(NamedTuple):
    """Lines to copy, and what they print."""

    code: str
    output: str = ""

    @classmethod
    def of(cls, *lines: Line) -> Snippet:
        """From lines of code, some with what they print."""
        pairs = [line if isinstance(line, tuple) else (line, None) for line in lines]
        printed = [output for _, output in pairs if output is not None]
        return cls("\n".join(code for code, _ in pairs), "\n".join(printed))


def setup(e: Evaluation) -> Snippet:
    """The names that the other blocks use."""
    numbered = np.array_equal(e.rows, np.arange(len(e.rows)))
    return Snippet.of(
        "import numpy as np",
        "from argmax import calibration, metrics",
        "",
        e.setup.strip("\n") or "# model, X and y are those that this report was made from",
        "probabilities = model.predict_proba(X)",
        "classes = model.classes_",
        "answer = classes[probabilities.argmax(axis=1)]",
        *(["rows = np.arange(len(answer))"] if numbered else []),
    )


def scores(m: Measures) -> Snippet:
    """The table of scores, then the baseline and the gain over it."""
    seed = _seed(m.evaluation)
    found: list[Line] = []
    baseline: list[Line] = []
    for s in m.scores:
        options = "".join(f", {key}={value!r}" for key, value in s.options.items())
        given, naive = (
            ("probabilities, classes", "shares, classes") if s.of_table else ("answer", "always")
        )
        call = f"metrics.interval(metrics.{s.metric}, y, {given}{options}{seed})"
        found.append((f"print({call})", str(s.found)))
        call = f"metrics.{s.metric}(y, {naive}{options})"
        baseline.append((f"print(round({call}, 4))", str(round(s.baseline, 4))))
    gain = f"metrics.difference(metrics.accuracy, y, answer, always{seed})"
    known: list[Line] = []
    if m.known is not None:
        call = "metrics.interval(metrics.accuracy, np.asarray(y)[known], answer[known])"
        known = ["", "known = np.isin(y, classes)", (f"print({call})", str(m.known))]
    return Snippet.of(
        *found,
        "",
        "# The baseline: the most frequent class for an answer, the shares of the classes for probabilities",
        f"always = np.full(len(answer), {m.majority!r})",
        f"counts = np.array({m.counts.tolist()})",
        "shares = np.tile(counts / counts.sum(), (len(answer), 1))",
        *baseline,
        (f"print({gain})", str(m.gain)),
        *known,
    )


def confusion(m: Measures, examples: int) -> Snippet:
    """The most frequent mistakes, and the rows shown of the first."""
    pairs = m.confusion.pairs(3)
    lines: list[Line] = ["found = metrics.confusion(y, answer, classes)"]
    lines.append(("print(found.pairs(3))", str(pairs)))
    if pairs:
        truth, answer, _ = pairs[0]
        shown = m.confusion.rows(truth, answer, examples, m.evaluation.seed)
        call = f"found.rows({truth!r}, {answer!r}, {examples}{_seed(m.evaluation)})"
        lines.append((f"print(rows[{call}].tolist())", str(m.evaluation.rows[shown].tolist())))
    return Snippet.of(*lines)


def classes(m: Measures) -> Snippet:
    """The three weakest classes."""
    weakest = sorted(m.per_class, key=lambda c: c.f1.value)[:3]
    printed = [f"{c.label!r} {c.rows} {c.precision} {c.recall} {c.f1}" for c in weakest]
    return Snippet.of(
        "found = sorted(metrics.per_class(y, answer, classes), key=lambda c: c.f1.value)",
        "for c in found[:3]:",
        ("    print(repr(c.label), c.rows, c.precision, c.recall, c.f1)", "\n".join(printed)),
    )


def reliability(m: Measures) -> Snippet:
    """The calibration error of the answers, and its mean over the classes."""
    found, each = m.reliability, m.reliability_by_class
    mean = round(float(np.mean([one.ece for one in each.values()])), 4)
    by_class = f'by_class(y, probabilities, classes, bins={CLASS_BINS}, strategy="width")'
    return Snippet.of(
        f"found = calibration.reliability(y, probabilities, classes, bins={BINS})",
        (
            "print(round(found.ece, 4), round(found.ece_if_calibrated, 4))",
            f"{round(found.ece, 4)} {round(found.ece_if_calibrated, 4)}",
        ),
        *_debiased(m),
        f"each = calibration.{by_class}",
        ("print(round(float(np.mean([one.ece for one in each.values()])), 4))", str(mean)),
    )


def _debiased(m: Measures) -> list[Line]:
    """The error without its bias, and what of the log loss a temperature would save."""
    lines: list[Line] = []
    if (error := m.calibration_error) is not None:
        call = f"calibration.calibration_error(y, probabilities, classes, bins={BINS})"
        lines.append((f"print({call}.root)", str(error.root)))
    if (parts := m.decomposition) is not None:
        options = f'method="temperature"{_seed(m.evaluation)}'
        call = f"calibration.decomposition(y, probabilities, classes, {options})"
        lines.append((f"print({call}.calibration)", str(parts.calibration)))
    return lines


def training(e: Evaluation | Tagging | LabelSets) -> Snippet | None:
    """Why training stopped, and how far from the optimum it can be."""
    if e.model is None or e.model.solution is None:
        return None
    s = e.model.solution
    return Snippet.of(
        f"solution = {e.estimator}.solution_",
        ("print(solution.message)", s.message),
        (
            'print(f"{solution.objective:.6g} {solution.gap:.3g} {solution.passes}")',
            f"{s.objective:.6g} {s.gap:.3g} {s.passes}",
        ),
    )


def weights(e: Evaluation) -> Snippet | None:
    """The largest weight of the first class."""
    if e.model is None or e.model.coef is None:
        return None
    names = '[f"x{j}" for j in range(w.size)]'
    if e.model.feature_names is not None:
        piped = e.estimator == "model[-1]"
        names = (
            "model[:-1].get_feature_names_out()" if piped else f"{e.estimator}.feature_names_in_"
        )
    w = e.model.coef[0]
    j = int(w.argmax())
    return Snippet.of(
        f"w = {e.estimator}.coef_[0]",
        f"names = {names}",
        "j = int(w.argmax())",
        (
            "print(repr(str(names[j])), round(float(w[j]), 4))",
            f"{feature_name(e.model, j)!r} {round(float(w[j]), 4)}",
        ),
    )


def errors(m: Measures) -> Snippet:
    """The rows of the most confident mistakes."""
    first = f"wrong[np.argsort(-sure[wrong], kind='stable')][:{max(len(m.surprising), 1)}]"
    return Snippet.of(
        "wrong = np.flatnonzero(answer != np.asarray(y))",
        "sure = probabilities.max(axis=1)",
        (f"print(rows[{first}].tolist())", str(m.evaluation.rows[m.surprising].tolist())),
    )


def _seed(e: Evaluation) -> str:
    return f", seed={e.seed}" if e.seed else ""
