"""The command line as it presents itself: help without weight, JSON everywhere, every option documented."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from argmax.cli import app, outcome

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
COMMANDS = [command.name for command in app.registered_commands]
HEAVY = ("numpy", "scipy", "sklearn", "numba", "pandas", "pyarrow", "jinja2", "dask", "rich")


def helped(*words):
    result = CliRunner().invoke(app, [*words, "--help"])
    assert result.exit_code == 0
    return result.stdout


def options(command):
    return sorted(set(re.findall(r"(?<![\w-])(--[A-Za-z][\w-]*)", helped(command))) - {"--help"})


def test_the_commands_of_the_main_job():
    assert COMMANDS == [
        "demo",
        "check",
        "train",
        "compare",
        "predict",
        "evaluate",
        "calibrate",
        "bounds",
        "shift",
        "explain",
        "info",
    ]
    assert all(f"  {command} " in helped() for command in COMMANDS)


@pytest.mark.parametrize("words", [[], ["train"], ["--help"]], ids=["bare", "train", "help"])
def test_help_imports_nothing_heavy(words):
    code = (
        "import sys\nfrom argmax.cli import app\n"
        f"sys.argv = ['argmax', *{words!r}, '--help']\n"
        "try:\n    app()\nfinally:\n"
        f"    print('heavy:', *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1].strip() == "heavy:", done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_speaks_json_and_has_a_short_line(command):
    assert "--json" in options(command)
    (line,) = [line for line in helped().splitlines() if line.startswith(f"  {command} ")]
    assert "..." not in line


def test_no_arguments_is_help():
    assert "Usage: argmax" in CliRunner().invoke(app, []).output


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_has_every_option(command):
    section = PAGE.split(f"\n## argmax {command}\n")[1].split("\n## ")[0]
    shared = PAGE.split("\n## Options of several commands\n")[1].split("\n## ")[0]
    missing = [option for option in options(command) if option not in section + shared]
    assert missing == []


@pytest.mark.parametrize(
    "name", ["OK", "FINDINGS", "BAD_INPUT", "NOT_CONVERGED", "RESOURCE_LIMIT", "INTERRUPTED"]
)
def test_the_page_has_every_exit_code(name):
    assert f"\n| {getattr(outcome, name)} |" in PAGE


def test_the_page_has_no_option_that_is_not_there():
    known = {option for command in COMMANDS for option in options(command)} | {
        "--version",
        "--help",
    }
    named = set(re.findall(r"(?<![\w-])(--[A-Za-z][\w-]*)", PAGE))
    assert named <= known


# The session on the page, typed again


def sessions(text):
    """(command, lines shown) of every console block."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            yield command, lines


NUMBER = re.compile(r"(?<![\w.])\d\.\d{4,}(?![\w.])")
CLOSE = 0.05
"""Numbers of four digits or more: fits end within ``tol`` of the optimum, and processors differ in where. A
weight, or an intercept, that the data hardly determine may be off by a few hundredths then."""


def matches(shown, printed):
    """Whether the lines are those shown. … stands for any lines; numbers may differ by ``CLOSE``."""
    expected: list[float] = []
    lines = [r"(?:.*\n)*?.*" if line == "…" else _near(line, expected) for line in shown]
    found = re.fullmatch("\n".join(lines), printed.rstrip("\n"))
    return found is not None and all(
        abs(float(got) - wanted) < CLOSE
        for got, wanted in zip(found.groups(), expected, strict=True)
    )


def _near(line, expected):
    """A pattern with a group for every number, which ``expected`` keeps; scores have four digits."""
    parts, end = [], 0
    for found in NUMBER.finditer(line):
        digits = r"(\d\.\d{4})" if len(found[0]) == 6 else r"(\d\.\d+(?:e-\d+)?)"
        parts += [re.escape(line[end : found.start()]), digits]
        expected.append(float(found[0]))
        end = found.end()
    return "".join(parts) + re.escape(line[end:])


def test_the_page_shows_what_is_printed(tmp_path, monkeypatch):
    from argmax.data.corpus import write_sentences
    from argmax.data.samples import write_tickets
    from argmax.data.scenes import write_scenes

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    write_tickets("tickets.csv", 2000)
    write_tickets("new.csv", 500, seed=1)
    write_sentences("tagged.conll", 1000)
    write_sentences("new.conll", 300, seed=1)
    write_scenes("scenes.csv", 600)
    for command, shown in sessions(PAGE):
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, command
        assert matches(shown, result.stdout), f"{command}\n{result.stdout}"


def test_a_wrong_line_is_seen():
    assert matches(["a", "…", "b"], "a\nx\ny\nb\n")
    assert not matches(["a", "…", "b"], "a\nx\nc\n")
    assert matches(["F1 0.2671 to 1.0000"], "F1 0.2672 to 0.9999\n")
    assert matches(["billing,0.971018"], "billing,0.97102\n")
    assert not matches(["F1 0.2671"], "F1 0.3271\n")
    assert not matches(["F1 0.2671"], "F1 0.267\n")
    assert not matches(["F1 0.2671 x"], "F1 0.2671 y\n")


@pytest.mark.parametrize(
    "page", ["README.md", "docs/command-line.md", "docs/larger.md", "docs/model-files.md"]
)
def test_every_command_that_is_shown_exists(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^(?:\$ )?argmax (\w+.*)$", block, re.MULTILINE):
            command, *words = shlex.split(line, comments=True)
            assert command in COMMANDS
            named = {word.split("=")[0] for word in words if word.startswith("--")}
            assert named <= set(options(command))
