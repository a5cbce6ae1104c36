"""The crash harness: one function, in a fresh interpreter, under limits of memory and time.

    @alone                          the whole test runs in its own process; it must end with status 0
    outcome = run(function, 3)      the same, for tests that look at how the process ended

The child runs with faulthandler on and warnings as errors. A segmentation fault, an abort or a hang of the
library is then a failed test with a traceback, instead of the end of the test run.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
GIB = 2**30
MARK = "@@outcome "


@dataclass(frozen=True)
class Outcome:
    """How a process ended. ``status`` is negative if a signal ended it, as in ``subprocess``."""

    status: int
    error: str | None
    code: str | None
    message: str
    stdout: str
    stderr: str
    interrupted: float | None  # when SIGINT was sent, by time.time()

    def __str__(self) -> str:
        ended = f"signal {-self.status}" if self.status < 0 else f"status {self.status}"
        return f"{ended}; {self.error} [{self.code}]: {self.message}\n{self.stdout}\n{self.stderr}"


def run(
    function: Callable[..., Any],
    *arguments: Any,
    memory: float = 6 * GIB,
    seconds: float = 120,
    interrupt_at: str | None = None,
) -> Outcome:
    """Call a module-level function in a fresh interpreter.

    ``arguments`` travel as JSON. When the child prints the line ``interrupt_at`` it gets a SIGINT.
    """
    file = inspect.getfile(inspect.unwrap(function))
    job = [file, function.__name__, json.dumps(arguments), str(int(memory))]
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-m", "tests.faults.harness", *job],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    interrupted, early = None, ""
    try:
        if interrupt_at is not None:
            early, interrupted = _interrupt(process, interrupt_at)
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # faulthandler then says where it hung
        stdout, stderr = process.communicate()
        stderr += f"\nstopped after {seconds:g} seconds"
    told = [line for line in stderr.splitlines() if line.startswith(MARK)]
    end = json.loads(told[-1].removeprefix(MARK)) if told else {}
    return Outcome(
        process.returncode,
        end.get("error"),
        end.get("code"),
        end.get("message", ""),
        early + stdout,
        stderr,
        interrupted,
    )


def _interrupt(process: subprocess.Popen[str], line: str) -> tuple[str, float | None]:
    """Read up to the line, then send SIGINT; what was read, and when the signal went."""
    assert process.stdout is not None
    read = ""
    for found in process.stdout:
        read += found
        if found.strip() == line:
            process.send_signal(signal.SIGINT)
            return read, time.time()
    return read, None


def alone(test: Callable[..., None] | None = None, **limits: float) -> Callable[..., Any]:
    """Run a whole test in its own process, with the limits of ``run``."""
    if test is None:
        return functools.partial(alone, **limits)

    @functools.wraps(test)
    def outside(**arguments: Any) -> None:
        ordered = [arguments[name] for name in inspect.signature(test).parameters]
        outcome = run(test, *ordered, **limits)
        if outcome.error == "Skipped":
            pytest.skip(outcome.message)
        assert outcome.status == 0, str(outcome)

    return outside


def _child(file: str, name: str, arguments: str, memory: str) -> int:
    _limit(int(memory))
    # A KeyboardInterrupt of the shell may be ignored by background jobs; tests send their own.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    specification = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    try:
        specification.loader.exec_module(module)
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)  # of third parties, to each other
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        inspect.unwrap(getattr(module, name))(*json.loads(arguments))
    except BaseException as error:
        traceback.print_exc()
        end = {
            "error": type(error).__name__,
            "code": getattr(error, "code", None),
            "message": str(error),
        }
        print(MARK + json.dumps(end), file=sys.stderr, flush=True)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    sys.exit(_child(*sys.argv[1:]))
