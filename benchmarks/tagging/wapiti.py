"""Wapiti through libwapiti, whose shared library has Wapiti's command line as a function.

python -m benchmarks.tagging.wapiti '{"train": …, "below": …, "limit": …}'

It says Σ −log p(y|x) + ½ rho2 ‖w‖² after every iteration, so rho2 = 2 c2.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .strings import columns_for_wapiti, patterns
from .watch import NEVER, Watch

_CALL = """\
import ctypes, sys
words = [b"wapiti", *map(str.encode, sys.argv[2:])]
ctypes.CDLL(sys.argv[1]).main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))
"""
_VALUE = re.compile(r"\[ *\d+\] obj=([0-9.]+)")
_FEATURES = re.compile(r"nb features: *(\d+)")


def lbfgs(given: dict[str, Any]) -> dict[str, Any]:
    """L-BFGS over all pairs of an attribute and a label: it has no way to keep to the observed ones.

    One sentence is its development set: after every iteration it counts the errors there, which would
    otherwise be those of the whole training set.
    """
    with tempfile.TemporaryDirectory() as folder:
        pattern, one = Path(folder, "pattern"), Path(folder, "one")
        pattern.write_text(patterns(given["recipe"]))
        words = [
            "train", "--algo", "l-bfgs", "--rho1", "0", "--rho2", repr(2.0 * given["c2"]),
            "--nthread", str(given["threads"]), "--stopwin", "0", "--stopeps", "1e-9",
            "--maxiter", str(NEVER), "--pattern", str(pattern), "--devel", str(one),
        ]  # fmt: skip
        _start(["--version"]).communicate()
        before = _children()
        watch, train = Watch(given["below"], given["limit"]), given["train"]
        if given["recipe"] != "chunking":
            train = str(Path(folder, "train"))
            columns_for_wapiti(given["train"], given["separator"], train)
        one.write_text(_first_sentence(train), encoding="utf-8")
        features = _watched(_start([*words, train, os.devnull]), watch)
    return watch.told(features=features, grown=_children() - before)


def _first_sentence(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return "".join(iter(file.readline, "\n")) + "\n"


def _watched(process: subprocess.Popen[str], watch: Watch) -> int:
    """The number of features; the process ends when it has shown what it had to show."""
    features, said = 0, []
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        if found := _FEATURES.search(line):
            features, watch.prepared = int(found[1]), watch.seconds()
        elif (found := _VALUE.search(line)) and watch.note(float(found[1])):
            process.kill()
            break
    process.wait()
    if not watch.curve:
        raise RuntimeError(f"Wapiti failed:\n{''.join(said)}")
    return features


def _start(words: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _CALL, _library(), *words]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    )


def _library() -> str:
    """The shared library that the package libwapiti is."""
    spec = find_spec("libwapiti")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("libwapiti")
    return spec.origin


def _children() -> float:
    """The most megabytes that a process started from here has had."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps(lbfgs(json.loads(sys.argv[1]))))
