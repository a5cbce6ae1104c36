"""``argmax demo``: the main jobs from end to end, on tables, sentences and a picture that come with it."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..data.corpus import write_sentences
from ..data.samples import write_tickets
from ..errors import InvalidInput
from .calibrate import run as calibrate
from .check import run as check
from .console import Console
from .evaluate import run as evaluate
from .explain import run as explain
from .outcome import OK
from .sequences.check import run as check_sequences
from .sequences.evaluate import run as evaluate_tagger
from .sequences.explain import run as explain_tagger
from .sequences.train import run as train_tagger
from .train import run as train

__all__ = ["run"]

SCRIPT = Path(__file__).parent / "segmentation.txt"
"""Written beside the data as segmentation.py: there is no command for graphs."""

ROWS, NEW = 2000, 500
SENTENCES = 1000

TICKET = "The parcel arrived, but the lamp is broken. I want my money back."

COMMANDS = (
    "argmax check tickets.csv new.csv --target team",
    "argmax train tickets.csv --target team",
    "argmax evaluate model.argmax new.csv --target team",
    f"argmax explain model.argmax {shlex.quote(TICKET)} --top 8",
    "argmax calibrate model.argmax new.csv --target team",
    "argmax check tagged.conll new.conll",
    "argmax train tagged.conll -o tagger.argmax --report tagging.html",
    "argmax evaluate tagger.argmax new.conll",
    "argmax explain tagger.argmax new.conll --row 3",
    "python segmentation.py",
)


def run(output: str | None, console: Console) -> int:
    """Check, train, evaluate, explain, calibrate, segment; every command is printed as it would be typed."""
    folder = _folder(output)
    results: list[dict[str, Any]] = []
    with contextlib.chdir(folder):
        write_tickets("tickets.csv", ROWS, seed=0)
        write_tickets("new.csv", NEW, seed=1)
        write_sentences("tagged.conll", SENTENCES, seed=0)
        write_sentences("new.conll", NEW, seed=1)
        shutil.copyfile(SCRIPT, "segmentation.py")
        console.say(
            f"{ROWS:,} support tickets and {SENTENCES:,} tagged sentences to learn from, {NEW} new ones of "
            f"each, and a picture to segment, in {folder}"
        )
        steps = _steps()
        status = max(_step(command, steps[command], results, console) for command in COMMANDS)
    reports = [os.path.join(folder, name) for name in ("report.html", "tagging.html")]
    console.heading("Done")
    console.say(f"The reports: {', '.join(reports)}")
    console.say("All of this again, by hand:")
    console.say(f"  cd {shlex.quote(folder)}")
    for command in COMMANDS:
        again = " train " in command or " calibrate " in command
        console.say(f"  {command}{' --force' if again else ''}")
    console.result({"folder": folder, "reports": reports, "commands": COMMANDS, "results": results})
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
    checked, trained, evaluated, explained, calibrated, *on_sentences, segmented = COMMANDS
    return {
        checked: lambda console: check("tickets.csv", "new.csv", "team", [], read, console),
        trained: lambda console: train(console, data="tickets.csv", target="team", typed=trained),
        evaluated: lambda console: evaluate(
            "model.argmax", "new.csv", "team", None, None, read, None, False, evaluated, console
        ),
        explained: lambda console: explain("model.argmax", TICKET, None, None, 8, read, console),
        calibrated: lambda console: calibrate(
            "model.argmax",
            "new.csv",
            "team",
            "auto",
            "calibrated.argmax",
            read,
            None,
            False,
            console,
        ),
        **_sentence_steps(on_sentences),
        segmented: _segment,
    }


def _sentence_steps(commands: list[str]) -> dict[str, Callable[[Console], int]]:
    checked, trained, evaluated, explained = commands
    data, new, model = "tagged.conll", "new.conll", "tagger.argmax"
    return {
        checked: lambda console: check_sequences(data, new, None, [], console),
        trained: lambda console: train_tagger(
            console, data=data, output=model, report="tagging.html", typed=trained
        ),
        evaluated: lambda console: evaluate_tagger(
            model, new, None, None, [], False, evaluated, console
        ),
        explained: lambda console: explain_tagger(model, new, 3, 15, [], console),
    }


def _segment(console: Console) -> int:
    """Run the script that was written, here and now: its output, and its main numbers."""
    said = io.StringIO()
    with console.stage("Segmenting a picture") as stage, contextlib.redirect_stdout(said):
        found = runpy.run_path("segmentation.py")
        stage.done = "Segmented a picture"
    for line in said.getvalue().splitlines():
        console.say(line)
    names = ("right_before", "right_after", "slack")
    console.result({"picture": found["picture"].source} | {name: found[name] for name in names})
    return OK


def _step(
    command: str,
    call: Callable[[Console], int],
    results: list[dict[str, Any]],
    console: Console,
) -> int:
    console.heading(f"$ {command}")
    sys.stdout.flush()
    return call(Console(console.as_json, console.quiet, results if console.as_json else None))
