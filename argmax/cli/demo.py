"""``argmax demo``: the main job from end to end, on a table that the library writes itself."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from ..data.samples import write_tickets
from ..errors import InvalidInput
from .check import run as check
from .console import Console
from .evaluate import run as evaluate
from .explain import run as explain
from .train import run as train

__all__ = ["run"]

ROWS, NEW = 2000, 500

TICKET = "The parcel arrived, but the lamp is broken. I want my money back."

COMMANDS = (
    "argmax check tickets.csv new.csv --target team",
    "argmax train tickets.csv --target team",
    "argmax evaluate model.argmax new.csv --target team",
    f"argmax explain model.argmax {shlex.quote(TICKET)} --top 8",
)


def run(output: str | None, console: Console) -> int:
    """Check, train, evaluate and explain; every command is printed as it would be typed."""
    folder = _folder(output)
    results: list[dict[str, Any]] = []
    with contextlib.chdir(folder):
        write_tickets("tickets.csv", ROWS, seed=0)
        write_tickets("new.csv", NEW, seed=1)
        console.say(f"{ROWS:,} support tickets to learn from and {NEW} new ones, in {folder}")
        steps = _steps()
        status = max(_step(command, steps[command], results, console) for command in COMMANDS)
    report = os.path.join(folder, "report.html")
    console.heading("Done")
    console.say(f"The report: {report}")
    console.say("All of this again, by hand:")
    console.say(f"  cd {shlex.quote(folder)}")
    for command in COMMANDS:
        console.say(f"  {command}{' --force' if ' train ' in command else ''}")
    console.result({"folder": folder, "report": report, "commands": COMMANDS, "results": results})
    return status


def _folder(output: str | None) -> str:
    """A new folder, or the one named if there is nothing in it."""
    if output is None:
        return tempfile.mkdtemp(prefix="argmax-demo-")
    os.makedirs(output, exist_ok=True)
    if os.listdir(output):
        raise InvalidInput(f"the folder {output!r} is not empty. Name another one.")
    return os.path.abspath(output)


def _steps() -> dict[str, Callable[[Console], int]]:
    """What each command calls."""
    read: list[str] = []
    checked, trained, evaluated, explained = COMMANDS
    return {
        checked: lambda console: check("tickets.csv", "new.csv", "team", [], read, console),
        trained: lambda console: train(console, data="tickets.csv", target="team", typed=trained),
        evaluated: lambda console: evaluate(
            "model.argmax", "new.csv", "team", None, read, None, False, evaluated, console
        ),
        explained: lambda console: explain("model.argmax", TICKET, None, None, 8, read, console),
    }


def _step(
    command: str,
    call: Callable[[Console], int],
    results: list[dict[str, Any]],
    console: Console,
) -> int:
    console.heading(f"$ {command}")
    sys.stdout.flush()
    return call(Console(console.as_json, console.quiet, results if console.as_json else None))
