"""Exit codes, and errors as one line."""

import pytest

from argmax import errors
from argmax.cli.outcome import guarded, in_shell


def raising(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidInput("no"), 2),
        (errors.BadFile("no", path="a.csv", line=3), 2),
        (errors.ModelFileError("no"), 2),
        (errors.CannotWrite("no"), 2),
        (errors.MissingExtra("no"), 2),
        (errors.Unsupported("no"), 2),
        (errors.ResourceLimit("no"), 4),
        (MemoryError(), 4),
        (OSError(28, "No space left on device"), 4),
        (PermissionError(13, "Permission denied", "a.csv"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_is_one_line_and_a_code(error, code, capsys):
    assert guarded(raising(error)) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("argmax: ")
    assert printed.err.count("\n") == 1


def test_with_json_the_error_is_on_stdout_as_well(capsys):
    guarded(raising(errors.InvalidInput("no such thing")), as_json=True)
    assert '{"code": "invalid-input", "message": "no such thing"}' in capsys.readouterr().out


def test_a_bug_is_the_only_traceback(capsys):
    assert guarded(raising(ZeroDivisionError("oops"))) == 70
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "argmax info --markdown" in told


def test_a_full_disk_behind_an_error_is_a_resource_limit():
    error = errors.CannotWrite("the model cannot be written")
    error.__cause__ = OSError(28, "No space left on device")
    assert guarded(raising(error)) == 4


def test_control_characters_do_not_reach_the_terminal(capsys):
    guarded(raising(errors.InvalidInput("a \x1b[31mred\x1b[0m class\x07")))
    assert capsys.readouterr().err == "argmax: a red class\n"


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("raise it: limits=Limits(columns=...).", "raise it: --read columns=…."),
        ("pass delimiter=';', or none", "pass --read delimiter=';', or none"),
        ("exists. Or allow it to be overwritten.", "exists. Or pass --force."),
        ("kinds names the column 'x'", "--kinds names the column 'x'"),
    ],
)
def test_advice_for_python_becomes_advice_for_the_shell(python, shell):
    assert in_shell(python) == shell
