"""``argmax explain``: why this answer and not another, feature by feature and to the last digit.

The score of a class is linear, s_y = ⟨w_y, x⟩ + b_y, so the lead of the winner a over the runner-up b is
a sum:

    s_a − s_b = Σ_j (w_aj − w_bj) x_j + (b_a − b_b)

Each term is what one feature of this row contributes. Nothing is approximated.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import scipy.sparse as sp

from ..errors import InvalidInput
from ..records import Batch, Floats, Strings
from .batches import selected
from .console import Console, count
from .models import columns_of, loaded, rows_for
from .outcome import OK
from .reading import opened

__all__ = ["Explanation", "Term", "asked_about", "entries", "of_text", "row_of", "run", "show_row"]


class Term(NamedTuple):
    """One feature's part of the lead."""

    feature: str
    contribution: float
    value: float  # x_j, as the model sees it
    weight: float  # w_aj − w_bj


@final
@dataclass(frozen=True, slots=True)
class Explanation:
    """Why ``answer`` leads ``rival`` by ``lead``: the contributions, the largest first, and the intercepts'.

    >>> from sklearn.pipeline import Pipeline
    >>> from argmax import LinearClassifier
    >>> from argmax.cli.explain import Explanation
    >>> from argmax.features import Table
    >>> model = Pipeline([("table", Table()), ("classifier", LinearClassifier())])
    >>> _ = model.fit(
    ...     ["good wine", "bad wine", "good bread", "bad soup"], ["yes", "no", "yes", "no"]
    ... )
    >>> found = Explanation.of(model, ["a good soup"])
    >>> found.answer, found.rival, found.terms[0].feature
    ('yes', 'no', 'text: good')
    >>> abs(sum(term.contribution for term in found.terms) + found.intercept - found.lead) < 1e-12
    True
    """

    answer: str
    rival: str
    lead: float
    intercept: float
    terms: tuple[Term, ...]
    probabilities: dict[str, float]

    @classmethod
    def of(cls, model: Any, row: Any, against: str | None = None) -> Explanation:
        """Of one row; against the runner-up, or the class named."""
        table, classifier = model[0], model[-1]
        x = table.transform(row)
        scores = _scores(classifier, x)
        names = [str(name) for name in classifier.classes_.tolist()]
        order = np.argsort(-scores, kind="stable")
        best, other = int(order[0]), _rival(names, order, against)
        columns, values = entries(x)
        weights = _difference(classifier.coef_, best, other)[columns]
        shares = weights * values
        terms = tuple(
            Term(
                table.feature_name(columns[i]),
                float(shares[i]),
                float(values[i]),
                float(weights[i]),
            )
            for i in np.argsort(-np.abs(shares), kind="stable")
        )
        intercept = float(_difference(classifier.intercept_[:, None], best, other)[0])
        p = classifier.predict_proba(x)[0]
        probabilities = {names[i]: float(p[i]) for i in order}
        lead = float(scores[best] - scores[other])
        return cls(names[best], names[other], lead, intercept, terms, probabilities)


def _scores(classifier: Any, x: Any) -> Floats:
    scores = classifier.decision_function(x)
    if scores.ndim == 1:  # two classes: the score of the second against the first
        return np.array([0.0, scores[0]])
    return np.asarray(scores[0])


def _difference(weights: Floats, one: int, other: int) -> Floats:
    if len(weights) == 1:
        return np.asarray(weights[0] if one == 1 else -weights[0])
    return np.asarray(weights[one] - weights[other])


def entries(x: Any) -> tuple[Any, Floats]:
    """The columns of a row that are not zero, and their values."""
    if sp.issparse(x):
        row = sp.csr_array(x)
        return row.indices, row.data
    columns = np.flatnonzero(x[0])
    return columns, x[0][columns]


def _rival(names: list[str], order: Any, against: str | None) -> int:
    if against is None:
        return int(order[1])
    if against not in names:
        raise InvalidInput(f"--against must be a class of the model; got {against!r}.")
    if names.index(against) == int(order[0]):
        raise InvalidInput(f"--against: {against!r} is the answer itself. Name another class.")
    return names.index(against)


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
    """Explain one row of a file, or one text."""
    fitted = loaded(model)
    given, source = asked_about(fitted, what, row, read)
    found = Explanation.of(fitted, given, against)
    _show(found, given, top, console)
    told = {"model": model, "data": source, "row": None if source is None else row or 0}
    console.result(told | _as_json(found))
    return OK


def asked_about(
    model: Any, what: str, row: int | None, read: Sequence[str]
) -> tuple[Batch, str | None]:
    """The row that is to be explained, and the file that it comes from; None: it is a text."""
    if row is None and not os.path.exists(what) and what != "-":
        return of_text(model, what), None
    return row_of(model, what, row or 0, read), what


def row_of(model: Any, data: str, row: int, read: Sequence[str]) -> Batch:
    """One row of a file, as the model reads it."""
    source, seen = opened(data, read=read, once=True), 0
    for batch in rows_for(model, source):
        if row < 0:
            break
        if row < seen + len(batch):
            return selected(batch, np.arange(len(batch)) == row - seen)
        seen += len(batch)
    raise InvalidInput(
        f"--row must be from 0 to {seen - 1}, the rows of {source.path}; got {row}."
        if row >= 0
        else f"--row counts from 0; got {row}."
    )


def of_text(model: Any, text: str) -> Batch:
    """A row whose one text column says this; whatever else the model reads is missing."""
    kinds = columns_of(model)
    texts = [name for name, kind in kinds.items() if kind == "text"]
    if len(texts) != 1 or (os.path.splitext(text)[1] and " " not in text):
        columns = f"{len(texts)} columns of text" if texts else "no column of text"
        raise InvalidInput(
            f"there is no file {text!r}"
            + (
                f", and the model has {columns}: name a file, and --row."
                if len(texts) != 1
                else "."
            )
        )
    missing = Strings.of([None])
    return Batch(
        {
            name: Strings.of([text])
            if kind == "text"
            else np.array([np.nan])
            if kind == "number"
            else missing
            for name, kind in kinds.items()
        }
    )


def show_row(row: Batch, console: Console) -> None:
    """What the row says, column by column."""
    for name, column in row.columns.items():
        value = column[0] if isinstance(column, (Strings, np.ndarray)) else None
        if value is not None and value == value:
            console.say(f"{name}: {_shortened(value)}")


def _show(found: Explanation, row: Batch, top: int, console: Console) -> None:
    show_row(row, console)
    console.heading(
        f"{found.answer} ({found.probabilities[found.answer]:.1%}) rather than "
        f"{found.rival} ({found.probabilities[found.rival]:.1%})"
    )
    rows = [
        [term.feature, f"{term.contribution:+.4f}", f"{term.value:.4g}", f"{term.weight:+.4f}"]
        for term in found.terms[:top]
    ]
    if rest := found.terms[top:]:
        total = sum(term.contribution for term in rest)
        rows.append([f"{count(len(rest), 'more feature')}", f"{total:+.4f}", "", ""])
    rows.append(["intercepts", f"{found.intercept:+.4f}", "", ""])
    rows.append(["lead", f"{found.lead:+.4f}", "", ""])
    console.table(["feature", ">contribution", ">value", ">weight"], rows)
    console.say(
        f"A contribution above 0 speaks for {found.answer}, one below for {found.rival}. "
        "They add up to the lead."
    )


def _shortened(value: Any) -> str:
    from ..report.safe import shorten

    return f"{value:g}" if isinstance(value, float) else shorten(value, 300)


def _as_json(found: Explanation) -> dict[str, Any]:
    return {
        "answer": found.answer,
        "against": found.rival,
        "lead": found.lead,
        "intercept": found.intercept,
        "contributions": [term._asdict() for term in found.terms],
        "probabilities": found.probabilities,
    }
