"""Options about files -> an open table, and its target."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from ..data import Limits, Source, open_table
from ..errors import InvalidInput
from ..records import Batch

__all__ = [
    "SEQUENCES",
    "SHORT",
    "TABLES",
    "kinds_of",
    "lacking",
    "opened",
    "others",
    "read_as",
    "reading",
    "shown_kinds",
    "target_of",
]

LIMITS = tuple(field.name for field in fields(Limits))
TABLES = ("encoding", "delimiter", "format", "missing", *LIMITS)
SEQUENCES = ("encoding", "format", "names", "strict", "comments", *LIMITS)
CHOICES = tuple(dict.fromkeys(TABLES + SEQUENCES))
WORDS = {"missing": "missing", "names": "columns"}
"""Options that are lists, and the arguments that they become."""

FLAGS = {"yes": True, "true": True, "no": False, "false": False}

SHORT = {"\\t": "\t", "tab": "\t", "space": " "}
"""Delimiters that are hard to type."""


def opened(path: str, kinds: Sequence[str] = (), read: Sequence[str] = (), **more: Any) -> Source:
    """Open a table as the options say: ``--kinds`` and ``--read``, as they were typed."""
    return open_table(path, kinds=kinds_of(kinds), **reading(read, TABLES), **more)


def kinds_of(options: Iterable[str]) -> dict[str, str]:
    """``--kinds a=text,b=number``, also typed several times; a name may hold commas and equals signs.

    >>> from argmax.cli.reading import kinds_of
    >>> kinds_of(["age=number,home, work=category", "a=b=text"])
    {'age': 'number', 'home, work': 'category', 'a=b': 'text'}
    """
    found: dict[str, str] = {}
    for option in options:
        name = ""
        for piece in option.split(","):
            name = f"{name},{piece}" if name else piece
            if "=" in piece:
                column, _, kind = name.rpartition("=")
                found[column], name = kind.strip(), ""
        if name:
            raise InvalidInput(
                f"--kinds must be column=kind, as in --kinds zip=category; got {option!r}."
            )
    return found


def reading(options: Iterable[str], choices: Sequence[str] = CHOICES) -> dict[str, Any]:
    """``--read encoding=cp1252 --read line_bytes=1e9`` as arguments of ``open_table`` or ``open_conll``.

    >>> from argmax.cli.reading import reading
    >>> reading(["names=word,pos,label", "strict=no"])
    {'columns': ['word', 'pos', 'label'], 'strict': False}
    """
    found: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or name not in choices:
            raise InvalidInput(
                f"--read must be name=value with a name of {', '.join(choices)}; got {option!r}."
            )
        if name in LIMITS:
            limits[name] = _number(name, value)
        elif name in ("missing", "names"):
            found[WORDS[name]] = [word.strip() for word in value.split(",")]
        elif name in ("strict", "comments"):
            found[name] = _flag(name, value)
        else:
            found[name] = SHORT.get(value, value)
    return found | ({"limits": Limits(**limits)} if limits else {})


def _flag(name: str, value: str) -> bool:
    if value.lower() not in FLAGS:
        raise InvalidInput(f"--read {name}= must be yes or no; got {value!r}.")
    return FLAGS[value.lower()]


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
        return number if name == "ratio" else int(number)
    except (ValueError, OverflowError):
        raise InvalidInput(f"--read {name}= must be a number; got {value!r}.") from None


def target_of(source: Source, target: str | None) -> str:
    """The column to predict: the one named, or the label of an svmlight file."""
    names = [column.name for column in source.columns]
    if target is None and source.format == "svmlight":
        return "label"
    if target is None:
        tagged = (
            " If it holds tagged sequences, pass --read format=columns." if len(names) == 1 else ""
        )
        raise InvalidInput(
            f"--target is missing: which column of {source.path} is to be predicted? "
            f"{others(names)}{tagged}"
        )
    if target not in names:
        near = difflib.get_close_matches(target, names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else others(names)
        raise InvalidInput(f"{source.path} has no column {target!r} for --target. {hint}")
    return target


def read_as(kinds: dict[str, str], source: Source, target: str | None = None) -> Iterator[Batch]:
    """The columns of a file as kinds say, whatever they look like there; and the target as it is written."""
    labels = [] if target is None else [target]
    strings = [name for name, kind in kinds.items() if kind != "number"]
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    return source.batches([*kinds, *labels], strings=[*strings, *labels], numbers=numbers)


def lacking(source: Source, names: Sequence[str]) -> None:
    """Raise if a file does not have all of these columns."""
    there = [column.name for column in source.columns]
    absent = [name for name in names if name not in there]
    if absent:
        listed = ", ".join(map(repr, absent[:5])) + (", …" if len(absent) > 5 else "")
        near = difflib.get_close_matches(absent[0], there, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else others(there)
        raise InvalidInput(
            f"{source.path} lacks the column{'s'[: len(absent) > 1]} {listed}. {hint}"
        )


def others(names: Sequence[str]) -> str:
    """The columns that there are, for a message."""
    listed = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
    return f"Its columns are {listed}."


def shown_kinds(source: Source, target: str | None) -> list[list[str]]:
    """Rows for a table of the columns: name, kind, missing, distinct, examples."""
    return [
        [
            column.name,
            "target"
            if column.name == target
            else column.kind + (" (given)" if column.given else ""),
            f"{column.missing / max(column.sampled, 1):.1%}" if column.missing else "",
            f"{column.distinct:,}",
            ", ".join(column.examples[:3]),
        ]
        for column in source.columns
    ]
