"""A table of tickets, a model of it, and a way to type commands."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from argmax.cli import app
from argmax.data.samples import write_tickets


@pytest.fixture(scope="session")
def argmax():
    """argmax("check", …): the exit code, what was printed, and (of --json) the value."""

    def call(*words, given=None):
        result = CliRunner().invoke(app, [str(word) for word in words], input=given)
        value = json.loads(result.stdout) if "--json" in words and words[0] != "predict" else None
        return SimpleNamespace(
            code=result.exit_code, out=result.stdout, err=result.stderr, json=value
        )

    return call


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with tickets.csv and new.csv."""
    folder = tmp_path_factory.mktemp("tickets")
    write_tickets(folder / "tickets.csv", 400)
    write_tickets(folder / "new.csv", 60, seed=1)
    return folder


@pytest.fixture(scope="session")
def trained(argmax, place):
    """What ``argmax train`` says of the tickets; the model and the report are in ``place``."""
    result = argmax(
        "train", place / "tickets.csv", "--target", "team", "-o", place / "model.argmax",
        "--report", place / "report.html", "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    return result


@pytest.fixture(scope="session")
def model(trained, place):
    """The path of that model."""
    return place / "model.argmax"


@pytest.fixture
def write(tmp_path):
    """write("a.csv", text): a file with this content."""

    def make(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make
