"""``argmax bounds``: what theory promises for a model, and what it does not; or how many rows it takes.

The rows of DATA are split as ``argmax train`` splits them: those that the model learned from give the bounds
with a complexity in them, those held out the one to quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import bounds
from ..bounds import Report
from ..data import Source
from ..errors import InvalidInput, Unsupported
from ..features import Table
from ..persist import estimator_of
from ..records import Batch, Csr
from .console import Console, count
from .evaluate import label_column
from .held import Held, add_labelled, read_held
from .models import columns_of, loaded
from .outcome import OK
from .promises import as_json, show, show_plan
from .reading import lacking, opened, read_as
from .route import TAGGERS
from .settings import memory_limit, test_share
from .splitting import HeldOut
from .survey import Labels

__all__ = ["run"]

STEPS = 200_000
"""Rows that the perceptron beside its bound looks at, at most: a few seconds."""

MOST_PASSES = 20


def run(
    model: str | None,
    data: str | None,
    test: str,
    seed: int,
    target: str | None,
    delta: float,
    radius: float | None,
    rho: float | None,
    plan: float | None,
    features: int | None,
    classes: int | None,
    read: list[str],
    memory: str | None,
    console: Console,
) -> int:
    """Bounds for MODEL on DATA, a plan, or both."""
    told: dict[str, Any] = {"model": model, "data": data, "delta": delta}
    known: dict[str, Any] = {"features": features, "classes": classes, "radius": radius, "rho": rho}
    if model is None or data is None:
        _only_a_plan(model, plan, test, seed, target)
    else:
        if features is not None or classes is not None:
            raise InvalidInput("--features and --classes are the model's own. Leave them out.")
        fitted = _classifier(model)
        parts = _parts(fitted, data, target, test, seed, read, memory_limit(memory) / 16, console)
        with console.stage("Working out the bounds"):
            found = _report(fitted, parts, delta, radius, rho)
        show(f"{model}: {_of(fitted)}; {data}", *parts, found, console)
        told |= as_json(*parts, found)
        known |= {"features": fitted[-1].n_features_in_, "classes": len(fitted.classes_)}
        known |= {"error": _share_of_mistakes(found, parts)}
    if plan is not None:
        told["plan"] = show_plan(plan, delta, known, console)
    console.result(told)
    return OK


def _only_a_plan(
    model: str | None, plan: float | None, test: str, seed: int, target: str | None
) -> None:
    """Raise, if something was asked that only a model and its rows can answer."""
    if model is not None:
        raise InvalidInput("DATA is missing: pass the file that the model was trained on.")
    if plan is None:
        raise InvalidInput("MODEL and DATA are missing. To plan without them pass --plan GAP.")
    if (test, seed, target) != ("0.2", 0, None):
        raise InvalidInput("--test, --seed and --target are about rows. Pass MODEL and DATA.")


def _share_of_mistakes(found: Report, parts: _Parts) -> float | None:
    return found["test set"].facts["mistakes"] / len(parts.held) if parts.held else None


# Rows


class _Parts(NamedTuple):
    """The rows that the model learned from, and those that it did not."""

    learned: Held
    held: Held


def _classifier(path: str) -> Any:
    if estimator_of(path) in TAGGERS:
        raise Unsupported(
            f"{path!r} holds a tagger, and these bounds are about classifiers. Use argmax evaluate on rows "
            "that it has not seen."
        )
    return loaded(path)


def _of(fitted: Any) -> str:
    classes, features = len(fitted.classes_), fitted[-1].n_features_in_
    return f"{count(classes, 'class')}, {count(features, 'feature')}"


def _parts(
    fitted: Any,
    data: str,
    target: str | None,
    test: str,
    seed: int,
    read: Sequence[str],
    room: float,
    console: Console,
) -> _Parts:
    share = test_share(test)
    source, kinds = opened(data, read=read), columns_of(fitted)
    label = label_column(source, target, list(kinds), fitted.classes_.tolist(), console)
    chosen = HeldOut(share or 0.0, seed)
    parts = _split(source, label, kinds, chosen, _Parts(Held(room), Held(room)), console)
    if not parts.learned:
        raise InvalidInput(f"{source.path} has no row with a label in {label!r}.")
    if share is None:
        other = opened(test, read=read)
        parts = parts._replace(held=read_held(other, label, kinds, room, console))
    return parts


def _split(
    source: Source,
    label: str,
    kinds: dict[str, str],
    chosen: HeldOut,
    parts: _Parts,
    console: Console,
) -> _Parts:
    lacking(source, [*kinds, label])
    labels = Labels()
    with console.stage(f"Reading {source.path}") as stage:
        for batch in read_as(kinds, source, label):
            codes = labels.codes(batch, label)
            known = codes >= 0
            apart = np.zeros(len(codes), np.bool_)
            apart[known] = chosen(codes[known])
            add_labelled(parts.learned, batch, label, known & ~apart)
            add_labelled(parts.held, batch, label, apart)
        met = parts.learned.met + parts.held.met
        stage.done = f"Read {count(met, 'row')} of {source.path}"
    return parts


def _report(
    fitted: Any, parts: _Parts, delta: float, radius: float | None, rho: float | None
) -> Report:
    table, estimator = fitted[0], fitted[-1]
    rows, held = table.transform(parts.learned.batch), None
    if parts.held:
        held = table.transform(parts.held.batch), parts.held.labels
    return bounds.report(
        estimator,
        rows,
        parts.learned.labels,
        test=held,
        delta=delta,
        radius=radius,
        rho=rho,
        fixed_features=not _learned(table, parts.learned.batch),
        passes=min(max(STEPS // len(parts.learned), 1), MOST_PASSES),
    )


def _learned(table: Table, batch: Batch) -> bool:
    """Whether a table learned from its rows: means, categories, a dictionary, document frequencies."""
    kinds = {
        "given"
        if isinstance(column, Csr)
        else table.kinds_[name]  # sparse numbers are used as they are
        for name, column in batch.columns.items()
    }
    of_text = table.hash_bits is None or table.weight == "tfidf"
    return (
        "category" in kinds
        or ("number" in kinds and (table.standardise or table.missing == "mean"))
        or ("text" in kinds and of_text)
    )
