"""The commands that the documentation names exist, and do what it says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CI = ROOT / ".ci" / "run"

TARGETS = {
    "demo": "argmax demo",
    "test": "pytest",
    "check": "ruff format --check",
    "check-mutations": "-m tests.mutations",
    "bench": "-m benchmarks",
    "docs": "sphinx-build -W",
    "clean": "rm -rf",
    "help": "awk",
}

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments):
    """Run make on our Makefile, as if from a fresh shell."""
    clean = {k: v for k, v in os.environ.items() if k not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, check=False)


@needs_make
@pytest.mark.parametrize(("target", "command"), TARGETS.items())
def test_a_target_runs_its_command(target, command):
    result = make("--dry-run", target)
    assert result.returncode == 0, result.stderr
    assert command in result.stdout


@needs_make
def test_an_unknown_target_fails():
    assert make("--dry-run", "no-such-target").returncode != 0


@needs_make
@pytest.mark.parametrize("target", ["demo", "test", "check", "check-mutations", "bench", "docs"])
def test_a_fresh_clone_builds_what_a_target_needs(target, tmp_path):
    result = make("--dry-run", target, f"VENV={tmp_path / 'venv'}", "PYTHON=some-python")
    steps = result.stdout.splitlines()
    assert steps[0].startswith("some-python -m venv")
    assert any("pip" in step and "--editable" in step for step in steps[1:])


@needs_make
def test_check_runs_all_three_tools():
    steps = make("--dry-run", "check").stdout
    assert re.search(r"ruff format --check.*ruff check.*mypy", steps, re.DOTALL)


@needs_make
def test_help_names_every_target():
    listed = re.findall(r"make ([\w-]+)", make("help").stdout)
    assert sorted(listed) == sorted(TARGETS)


def test_every_target_is_phony():
    (declared,) = re.findall(r"^\.PHONY:(.*)$", MAKEFILE, re.MULTILINE)
    assert set(declared.split()) == set(TARGETS)


def test_continuous_integration_runs_the_same_targets():
    script = CI.read_text(encoding="utf-8")
    assert os.access(CI, os.X_OK)
    assert "set -euo pipefail" in script
    assert re.findall(r"^make (\w+)", script, re.MULTILINE) == ["check", "test"]
    assert re.search(r"ARGMAX_CACHE_DIR=.*mktemp -d", script)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_documentation_names_only_targets_that_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)", text, re.MULTILINE))
    assert {first or second for first, second in named} <= set(TARGETS)
    assert named
