"""``argmax explain`` with a classifier of sets: why a label is in the answer, or is not.

Given the other labels of the answer y, the log odds of label j are a sum:

    s(y with j) − s(y without j) = Σ_f w_jf x_f + b_j + Σ over pairs (j, b) with b in y of J_jb

Each term is what one feature, or one other label, contributes. Nothing is approximated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...errors import InvalidInput
from ...records import Ints
from ..console import Console, count
from ..explain import Term, asked_about, entries, show_row
from ..models import set_model
from ..outcome import OK

__all__ = ["LabelExplanation", "run"]

SHOWN = 3
"""Labels of the answer that are explained, if none is named; and the likeliest one that is not in it."""


@final
@dataclass(frozen=True, slots=True)
class LabelExplanation:
    """Why ``label`` is in the answer (``chosen``) or not: terms, the largest first, that add up to ``odds``.

    >>> from sklearn.pipeline import Pipeline
    >>> from argmax import MultiLabelClassifier
    >>> from argmax.cli.label_sets.explain import LabelExplanation
    >>> from argmax.features import Table
    >>> model = Pipeline(
    ...     [("table", Table()), ("model", MultiLabelClassifier(labels=["bus", "car"]))]
    ... )
    >>> _ = model.fit(["a road", "a field", "a road", "a wood"], [[1, 1], [0, 0], [0, 1], [0, 0]])
    >>> found = LabelExplanation.of(model, ["the road"], "car")
    >>> found.chosen, found.terms[0].feature
    (True, 'text: road')
    >>> abs(sum(term.contribution for term in found.terms) + found.intercept - found.odds) < 1e-12
    True
    """

    label: str
    chosen: bool
    probability: float  # whatever the other labels are
    odds: float  # log odds, the other labels being as answered
    intercept: float
    terms: tuple[Term, ...]

    @classmethod
    def of(cls, model: Any, row: Any, label: str) -> LabelExplanation:
        """Of one row and one label."""
        table, classifier = model[0], model[-1]
        x = table.transform(row)
        names = [str(name) for name in classifier.classes_.tolist()]
        j, answer = names.index(label), classifier.predict(x)[0]
        columns, values = entries(x)
        weights = classifier.coef_[j][columns]
        terms = [
            Term(table.feature_name(column), float(w * v), float(v), float(w))
            for column, w, v in zip(columns.tolist(), weights, values, strict=True)
        ]
        terms += [
            Term(f"with {names[b]}", weight, 1.0, weight)
            for b, weight in _neighbours(classifier, j, answer)
        ]
        terms.sort(key=lambda term: -abs(term.contribution))
        intercept = float(classifier.intercept_[j])
        odds = float(sum(term.contribution for term in terms) + intercept)
        chance = float(classifier.predict_proba(x)[0, j])
        return cls(label, bool(answer[j]), chance, odds, intercept, tuple(terms))


def _neighbours(classifier: Any, j: int, answer: Ints) -> list[tuple[int, float]]:
    """The labels of the answer that j is joined with, and the weights."""
    found = []
    weights = classifier.pair_weights_.tolist()
    for (a, b), weight in zip(classifier.pairs_.tolist(), weights, strict=True):
        other = b if a == j else a if b == j else None
        if other is not None and answer[other]:
            found.append((other, float(weight)))
    return found


# The command


def run(
    model: str,
    what: str,
    row: int | None,
    against: str | None,
    top: int,
    read: list[str],
    console: Console,
) -> int:
    """Explain the labels of one row of a file, or of one text."""
    fitted = set_model(model)
    given, source = asked_about(fitted, what, row, read)
    names = [str(name) for name in fitted.classes_.tolist()]
    if against is not None and against not in names:
        raise InvalidInput(f"--against must be a label of the model; got {against!r}.")
    answer, p = fitted.predict(given)[0], fitted.predict_proba(given)[0]
    chosen = [names[j] for j in np.flatnonzero(answer)]
    found = [
        LabelExplanation.of(fitted, given, name)
        for name in ([against] if against is not None else _explained(names, answer, p))
    ]
    show_row(given, console)
    console.heading(f"Answer: {' | '.join(chosen) or 'no label'}")
    for one in found:
        _show(one, top, console)
    told = {"model": model, "data": source, "row": None if source is None else row or 0}
    console.result(
        told
        | {
            "answer": chosen,
            "probabilities": dict(zip(names, p.tolist(), strict=True)),
            "labels": [_as_json(one) for one in found],
        }
    )
    return OK


def _explained(names: list[str], answer: Ints, p: Any) -> list[str]:
    """The surest labels of the answer, and the likeliest of the others."""
    order = np.argsort(-p, kind="stable")
    inside = [names[j] for j in order if answer[j]][:SHOWN]
    outside = [names[j] for j in order if not answer[j]][:1]
    return inside + outside


def _show(found: LabelExplanation, top: int, console: Console) -> None:
    where = "in" if found.chosen else "not in"
    console.heading(f"{found.label}: {where} the answer ({found.probability:.1%})")
    rows = [
        [term.feature, f"{term.contribution:+.4f}", f"{term.value:.4g}", f"{term.weight:+.4f}"]
        for term in found.terms[:top]
    ]
    if rest := found.terms[top:]:
        total = sum(term.contribution for term in rest)
        rows.append([f"{count(len(rest), 'more term')}", f"{total:+.4f}", "", ""])
    rows.append(["intercept", f"{found.intercept:+.4f}", "", ""])
    rows.append(["log odds", f"{found.odds:+.4f}", "", ""])
    console.table(["feature or label", ">contribution", ">value", ">weight"], rows)


def _as_json(found: LabelExplanation) -> dict[str, Any]:
    return {
        "label": found.label,
        "in_answer": found.chosen,
        "probability": found.probability,
        "log_odds": found.odds,
        "intercept": found.intercept,
        "contributions": [term._asdict() for term in found.terms],
    }
