"""Imports that are put off, and the process of a command."""

import subprocess
import sys
from types import ModuleType

import pytest

from argmax.cli.importing import put_off


@pytest.fixture
def absent(monkeypatch):
    """A module that nothing has imported."""
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    return "colorsys"


def python(code, *words):
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )


def test_what_is_put_off_is_imported_when_it_is_used(absent):
    with put_off(absent):
        import colorsys

        assert colorsys.rgb_to_hsv(1.0, 0.0, 0.0) == (0.0, 1.0, 1.0)
        assert sys.modules[absent] is not colorsys
    assert sys.modules[absent].rgb_to_hsv is colorsys.rgb_to_hsv


def test_a_name_of_it_is_put_off_as_well(absent):
    with put_off(absent):
        from colorsys import rgb_to_hsv
    assert absent not in sys.modules
    assert rgb_to_hsv.__name__ == "rgb_to_hsv"
    assert rgb_to_hsv(1.0, 0.0, 0.0) == (0.0, 1.0, 1.0)
    assert absent in sys.modules


def test_modules_that_are_there_stay_and_those_that_cannot_be_imported_fail_as_ever():
    with put_off("json", "no_such_module"):
        assert isinstance(sys.modules["json"], ModuleType)
        with pytest.raises(ImportError):
            import no_such_module  # noqa: F401
    assert type(sys.modules["json"]) is ModuleType


def test_an_error_leaves_no_stand_in(absent):
    with pytest.raises(KeyError), put_off(absent):
        raise KeyError
    assert absent not in sys.modules


def test_a_command_leaves_out_what_it_does_not_use_and_frames_work_all_the_same():
    done = python(
        "import gc, sys\n"
        "from argmax.cli.importing import UNUSED, import_quickly\n"
        "import_quickly('argmax.cli.train')\n"
        "print(gc.isenabled(), [name for name in UNUSED if name in sys.modules])\n"
        "import pandas\n"
        "from argmax.features import Table\n"
        "print(Table().fit_transform(pandas.DataFrame({'x': [1.0, 2.0, 4.0]})).shape)"
    )
    assert done.stdout.splitlines() == ["True []", "(3, 1)"], done.stderr


@pytest.mark.parametrize(
    ("words", "status"), [(["--version"], 0), (["no-such-command"], 2)], ids=["done", "bad input"]
)
def test_the_process_ends_with_the_exit_code_and_all_it_wrote(words, status):
    code = (
        "import atexit\nfrom argmax.cli import main\n"
        "atexit.register(lambda: print('at the end', flush=True))\nmain()"
    )
    done = python(code, *words)
    assert done.returncode == status
    assert done.stdout.splitlines()[-1] == "at the end"
    assert (done.stdout + done.stderr).count("\n") > 1
