"""Tables that the library writes itself, for the demonstration, the documentation and tests."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..checks import number, positive_integer
from ..errors import InvalidInput
from . import phrases
from .draws import Draws

__all__ = ["tickets", "write_tickets"]

COLUMNS = ("id", "opened", "channel", "customer_tier", "waiting_minutes", "text", "team")

_ALTERNATIVES = re.compile(r"\[([^\]]+)\]")


def tickets(n: int = 2000, seed: int = 0) -> dict[str, Any]:
    """Support tickets of an imaginary shop, as columns; the task is to find the ``team``.

    =============== ========= ====================================================
    id              id        ``T-10000``, ``T-10001``, …
    opened          number    hour of the day
    channel         category  email, chat, phone, web form
    customer_tier   category  basic, plus, business
    waiting_minutes number    missing in some rows
    text            text      what the customer writes
    team            target    seven teams, the largest seven times the smallest
    =============== ========= ====================================================

    The task is honest: some tickets are about two things, some say next to nothing, and a few were
    sent to the wrong team, so that a good classifier is right nine times in ten. A few rows
    repeat others, with the same team or with another one. The same ``n`` and ``seed`` give the same
    table everywhere; a larger ``n`` adds rows at the end.

    >>> from argmax.data import samples
    >>> table = samples.tickets(3)
    >>> list(table)
    ['id', 'opened', 'channel', 'customer_tier', 'waiting_minutes', 'text', 'team']
    >>> table["team"][0], table["text"][0]
    ('returns', 'Dear team, I would like to send the desk lamp back, it is not what I ordered.')
    """
    rows = list(_rows(positive_integer("n", n), seed))
    columns: dict[str, Any] = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    columns["opened"] = np.array(columns["opened"], np.float64)
    columns["waiting_minutes"] = np.array(columns["waiting_minutes"], np.float64)
    return columns


def write_tickets(
    path: str | os.PathLike[str], n: int = 2000, seed: int = 0, *, overwrite: bool = False
) -> None:
    """Write ``tickets(n, seed)`` to a file: CSV or JSON lines, by the end of its name.

    >>> import os, tempfile
    >>> from argmax.data import samples
    >>> path = os.path.join(tempfile.mkdtemp(), "tickets.jsonl")
    >>> samples.write_tickets(path, n=10)
    >>> with open(path, encoding="utf-8") as file:
    ...     len(file.readlines())
    10
    """
    place = os.fspath(path)
    writers = {".csv": _write_csv, ".jsonl": _write_jsonl}
    write = writers.get(os.path.splitext(place)[1])
    if write is None:
        raise InvalidInput(f"path must end in .csv or .jsonl; got {place!r}.")
    if os.path.exists(place) and not overwrite:
        raise InvalidInput(f"{place} exists. Choose another name, or pass overwrite=True.")
    with open(place, "w", encoding="utf-8", newline="") as file:
        write(file, _rows(positive_integer("n", n), seed))


def _write_csv(file: Any, rows: Iterator[tuple[Any, ...]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)


def _write_jsonl(file: Any, rows: Iterator[tuple[Any, ...]]) -> None:
    for row in rows:
        file.write(json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) + "\n")


def _rows(n: int, seed: int) -> Iterator[tuple[Any, ...]]:
    draw = Draws(int(number("seed", seed, 0, 2**63)))
    earlier: list[tuple[Any, ...]] = []
    for i in range(n):
        if len(earlier) > 20 and draw.percent(2):  # somebody sent it again
            row = draw.pick(earlier)
            if draw.percent(25):  # and somebody else read it
                row = (*row[:-1], draw.pick([team for team in phrases.SHARES if team != row[-1]]))
        else:
            row = _ticket(draw)
        earlier = [*earlier[-200:], row]
        yield (f"T-{10_000 + i}", *row)


def _ticket(draw: Draws) -> tuple[Any, ...]:
    """One row without its id."""
    team = draw.pick([team for team, share in phrases.SHARES.items() for _ in range(share)])
    channel = draw.pick(phrases.CHANNELS[team])
    first, hours = phrases.HOURS[team]
    waited = None if draw.percent(4 if channel == "phone" else 12) else _minutes(draw, channel)
    text = _text(draw, team)
    sent = draw.pick(list(phrases.SHARES)) if draw.percent(2) else team
    return (
        (first + draw.below(hours)) % 24,
        channel,
        draw.pick(phrases.TIERS[team]),
        waited,
        text,
        sent,
    )


def _minutes(draw: Draws, channel: str) -> int:
    scale = {"phone": 3, "chat": 5, "web form": 40, "email": 90}[channel]
    return 1 + (draw.below(scale) + 1) * (draw.below(12) + 1) * (draw.below(6) + 1) // 6


def _text(draw: Draws, team: str) -> str:
    problems = [draw.pick(phrases.PROBLEMS[team])]
    if draw.percent(8):
        problems = [draw.pick(phrases.VAGUE)]
    elif draw.percent(16):
        other = draw.pick([name for name in phrases.SHARES if name != team])
        problems.append(draw.pick(phrases.PROBLEMS[other]))
        if draw.percent(40):
            problems.reverse()
    sentences = [problem if problem.endswith("?") else f"{problem}." for problem in problems]
    if len(sentences) == 2:
        sentences[1] = draw.pick(("Also, ", "And another thing: ", "Besides, ")) + sentences[1]
    text = draw.pick(phrases.OPENINGS) + " ".join(sentences) + draw.pick(phrases.CLOSINGS)
    text = _filled(draw, _ALTERNATIVES.sub(lambda found: draw.pick(found[1].split("|")), text))
    return _mistyped(draw, text) if draw.percent(15) else text


def _filled(draw: Draws, text: str) -> str:
    values = {name: draw.pick(choices) for name, choices in phrases.FILLERS.items()}
    values["order"] = f"#{20_000 + draw.below(70_000)}"
    values["amount"] = f"€{5 + draw.below(400)}.{draw.below(10)}0"
    values["days"] = str(3 + draw.below(18))
    values["n"] = str(2 + draw.below(90))
    return text.format_map(values)


def _mistyped(draw: Draws, text: str) -> str:
    """The text with two neighbouring letters swapped, or without a capital letter anywhere."""
    if draw.percent(40):
        return text.lower()
    at = draw.below(len(text) - 1)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
