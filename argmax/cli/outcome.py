"""How a command ends: its exit code, and every error as one line that says what to do.

0    done
1    findings: ``check`` found something that would spoil a model or its score, ``shift`` that rows have moved
2    bad input: a file, an option or a model that cannot be used
3    not converged: the model is written and usable, its certificate is not met
4    resource limit: it would not fit, or a limit was reached
70   a bug in argmax
130  interrupted
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import traceback
from collections.abc import Callable

from .console import plain

__all__ = [
    "BAD_INPUT",
    "BUG",
    "FINDINGS",
    "INTERRUPTED",
    "NOT_CONVERGED",
    "OK",
    "RESOURCE_LIMIT",
    "guarded",
    "in_shell",
]

OK, FINDINGS, BAD_INPUT, NOT_CONVERGED, RESOURCE_LIMIT = 0, 1, 2, 3, 4
BUG, INTERRUPTED = 70, 130

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM)

IN_SHELL = (
    (r"kinds=\{'([^']*)': '(\w+)'\}", r"--kinds '\1=\2'"),
    (r"kinds\['([^']*)'\]", r"--kinds '\1=…'"),
    (r"^kinds names", "--kinds names"),
    (r"\b(encoding|delimiter|format)=('[^']*')", r"--read \1=\2"),
    (r"\bstrict=False", "--read strict=no"),
    (r"\bcomments=False", "--read comments=no"),
    (r"Read it with argmax\.data\.open_conll", "Pass --read format='columns'"),
    (r"limits=Limits\((\w+)=\.\.\.\)", r"--read \1=…"),
    (r"list it in missing=", "list it in --read missing=…"),
    (r"allow it to be overwritten", "pass --force"),
    (r"overwrite=True", "--force"),
    (r"argmax\.save\(model, path\)", "argmax train"),
)
"""What the library advises in Python, as it is typed in a shell."""


def guarded(command: Callable[[], int], as_json: bool = False) -> int:
    """Run a command; whatever it raises becomes a line on stderr and an exit code.

    >>> from argmax.cli.outcome import guarded
    >>> guarded(lambda: 0)
    0
    """
    try:
        return command()
    except KeyboardInterrupt:
        return _ended("interrupted", "Interrupted.", INTERRUPTED, as_json)
    except BrokenPipeError:
        # Whoever read our output has left, as `head` does: not an error, but nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        if (found := _expected(error)) is None:
            return _bug()
        return _ended(*found, as_json)


def _expected(error: Exception) -> tuple[str, str, int] | None:
    """Code, message and exit code of an error that is the input's or the machine's; None for a bug."""
    from ..errors import ArgmaxError, ResourceLimit

    if isinstance(error, ArgmaxError):
        full = isinstance(error, ResourceLimit) or _is_full(error)
        return error.code, in_shell(str(error)), RESOURCE_LIMIT if full else BAD_INPUT
    if isinstance(error, MemoryError):
        advice = "Close other programs, or pass --memory with a smaller limit."
        return "resource-limit", f"out of memory. {advice}", RESOURCE_LIMIT
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        where = f"{error.filename}: " if error.filename else ""
        return "system", f"{where}{reason}.", RESOURCE_LIMIT if _is_full(error) else BAD_INPUT
    return None


def _is_full(error: BaseException) -> bool:
    """Whether a disk or the memory had no room left, here or in what caused it."""
    causes = (error, error.__cause__)
    return any(isinstance(cause, OSError) and cause.errno in FULL for cause in causes)


def in_shell(message: str) -> str:
    """Advice for Python, as advice for the command line.

    >>> from argmax.cli.outcome import in_shell
    >>> in_shell("Pass kinds={'zip': 'category'}, or encoding='cp1252'.")
    "Pass --kinds 'zip=category', or --read encoding='cp1252'."
    """
    for python, shell in IN_SHELL:
        message = re.sub(python, shell, message)
    return message


def _ended(code: str, message: str, status: int, as_json: bool) -> int:
    print(f"argmax: {plain(message)}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=False))
    return status


def _bug() -> int:
    """The only case of a traceback."""
    traceback.print_exc()
    print(
        "argmax: this is a bug. Please report it with the lines above and `argmax info --markdown`.",
        file=sys.stderr,
    )
    return BUG
