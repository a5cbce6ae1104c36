"""Tables or sequences, and one label or several: decided here, once, before a command begins.

``check`` and ``train`` look at their file, the others at what their model was trained on. The commands for
sequences are in ``sequences``, those for models of several labels a row in ``label_sets``, under the same
names as those for tables here. (Whether a table has several labels a row is seen when it is open: ``check``
and ``train`` of tables hand it over themselves.)
"""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import fields
from typing import Any

from ..data import holds_sequences
from ..errors import InvalidInput
from ..persist import estimator_of
from .importing import import_quickly
from .reading import reading

__all__ = ["chosen", "of_sequences"]

TWOFOLD = ("check", "train", "predict", "evaluate", "explain", "calibrate", "shift")
OF_MODELS = ("predict", "evaluate", "explain")
TAGGERS = ("SequenceTagger", "CRFTagger")
SETS = "MultiLabelClassifier"


def chosen(
    command: str, options: dict[str, Any], typed: Collection[str]
) -> tuple[Any, dict[str, Any]]:
    """The module of a command, and the options that it takes.

    An option that was ``typed`` and that the module does not take is an error, and never ignored.
    """
    kind, other, package = "tables", "sequences", ""
    if command in OF_MODELS:
        other = "sequences or several labels a row"
    if command in TWOFOLD and of_sequences(options):
        kind, other, package = "sequences", "tables", ".sequences"
    elif command in OF_MODELS and estimator_of(options["model"]) == SETS:
        kind, other, package = "several labels a row", "one label a row", ".label_sets"
    module = import_quickly(f"{__package__}{package}.{command}")
    taken = _taken(module)
    for name in sorted(typed):
        if name in options and name not in taken:
            raise InvalidInput(
                f"--{name.replace('_', '-')} is for {other}, and this is a command on {kind}. Leave it out."
            )
    return module, {name: value for name, value in options.items() if name in taken}


def of_sequences(options: dict[str, Any]) -> bool:
    """Whether the model of a command tags sequences, or its data hold some."""
    if "model" in options:
        return estimator_of(options["model"]) in TAGGERS
    given = reading(options["read"])
    known = {name: given[name] for name in ("format", "encoding", "limits") if name in given}
    return holds_sequences(options["data"], **known)


def _taken(module: Any) -> set[str]:
    """The names of the options that the ``run`` of a module takes."""
    options = getattr(module, "Options", None)
    if options is not None:
        return {field.name for field in fields(options)}
    return set(inspect.signature(module.run).parameters) - {"console"}
