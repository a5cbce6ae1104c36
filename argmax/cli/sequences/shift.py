"""``argmax shift`` on tagged sequences: whether new text still is what a tagger was judged by."""

from __future__ import annotations

from ... import shift
from ...errors import Unsupported
from ...persist import load
from ..console import Console, count
from ..shift import checked_outputs, draw, ended, kind_of, show, write_page
from .held import sequences_of
from .parts import without
from .reading import label_of, opened_for

__all__ = ["run"]


def run(
    model: str,
    new: str,
    validation: str,
    test: float,
    seed: int,
    target: str | None,
    adapt: str | None,
    report: str | None,
    picture: str | None,
    read: list[str],
    force: bool,
    typed: str,
    console: Console,
) -> int:
    """Compare the marginals of one token of each sequence, and tell."""
    if adapt is not None:
        raise Unsupported(
            "--adapt is for classifiers of rows. Labels of a sequence depend on each other, so that other "
            "frequencies of labels are no number that could be added to their scores. Label some of the new "
            "sequences, and train again with them."
        )
    checked_outputs([report, picture], [model, new, validation], force)
    kind_of(picture)
    tagger = load(model)
    source, used = opened_for(tagger, validation, read)
    label = label_of(source, target, used, tagger.classes_.tolist())
    with console.stage("Reading") as stage:
        X, y = sequences_of(validation, label, tagger, test=test, seed=seed, read=read)
        there, columns = opened_for(tagger, new, read)
        tokens = there.read(columns)
        stage.done = f"Read {count(len(X), 'sequence')} and {count(len(tokens), 'sequence')}"
    with console.stage("Comparing") as stage:
        found = shift.diagnose(tagger, (X, y), without(tokens, label))
        stage.done = "Compared a token of each sequence"
    show(found, console)
    drawn = draw(found, picture, force)
    first = found.first.tolist()
    paged = write_page(found, report, new, first, typed, force)
    told = {"model": model, "new": new, "validation": validation, "target": label, "adapted": None}
    told |= {"report": paged, "picture": drawn, "label_first": first}
    return ended(found, told, [path for path in (paged, drawn) if path], console)
