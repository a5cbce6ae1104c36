"""The run as a whole, on a package of one module: what is noticed, what survives, and what is said."""

import pytest

from tests.mutations import run as tool
from tests.mutations.concern import concerned
from tests.mutations.equivalent import EQUIVALENT
from tests.mutations.mutants import mutants

SOURCE = '''"""A module."""


def clipped(a, most):
    while a > most:
        a -= 1
    return a


def larger(a, b):
    return a if a >= b else b
'''
TESTS = """from argmax.metrics.scores import clipped, larger

def test_clipped():
    assert clipped(4, 3) == 3

def test_larger():
    assert larger(1, 2) == larger(2, 1) == 2
"""


@pytest.fixture
def project(tmp_path):
    files = {
        "argmax/__init__.py": "",
        "argmax/metrics/__init__.py": "",
        "argmax/metrics/scores.py": SOURCE,
        "argmax/metrics/alone.py": "ONE = 1\n",
        "argmax/kernels/loops.py": "ONE = 1\n",
        "tests/units/metrics/test_scores.py": TESTS,
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_survivors_are_reported_with_their_line_and_the_checkout_is_left_alone(project):
    lines = []
    found = tool.run(project, ["metrics/scores"], 100, 0, 30.0, lines.append)
    # Of a > most: >= goes one too far, < never starts. a -= 1: a += 1 never ends. a >= b: > is the same.
    assert found["metrics"] == {"noticed": 4, "timed out": 1, "survived": 1}
    text = "\n".join(lines)
    assert text.count("argmax/metrics/scores.py:11\n      - return a if a >= b else b") == 1
    assert "      + return a if a > b else b" in text
    assert lines[-1].split() == ["all", "4", "1", "1", "0", "83.3%"]
    assert (project / "argmax/metrics/scores.py").read_text() == SOURCE


def test_tests_that_fail_without_a_mistake_are_left_out(project):
    (project / "tests/units/metrics/test_scores.py").write_text("def test(): assert False")
    lines = []
    found = tool.run(project, ["metrics/alone"], 1, 0, 30.0, lines.append)
    assert found["metrics"] == {"untested": 1}
    assert lines[0] == "left out: tests/units/metrics/test_scores.py fails without a mistake"


def test_a_sample_does_not_depend_on_how_many_there_are(project):
    paths = tool.modules(project, ["metrics"])
    assert paths[0].startswith("argmax/metrics/")
    every = tool.chosen(project, paths, 100, seed=3)
    assert len(every) == len(mutants(SOURCE)) + 1
    assert tool.chosen(project, paths, 4, seed=3) == every[:4]
    assert tool.chosen(project, paths, 100, seed=4) != every


@pytest.mark.parametrize(
    ("name", "says"), [("nothing", "folder or a module"), ("kernels", "kernels")]
)
def test_what_cannot_be_tried_is_refused(project, name, says):
    with pytest.raises(SystemExit, match=says):
        tool.modules(project, [name])


def test_tests_are_found_by_names(project):
    for name, text in {
        "tests/laws/test_metrics.py": "",
        "tests/laws/test_other.py": "from argmax.metrics import larger",
        "tests/laws/test_unlike.py": "larger, without the area",
        "tests/units/metrics/test_tables.py": "clipped of metrics",
    }.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    near, far = concerned(project, "argmax/metrics/scores.py")
    assert near == [
        "tests/units/metrics/test_scores.py",
        "tests/units/metrics/test_tables.py",
        "tests/laws/test_metrics.py",
    ]
    assert far == ["tests/laws/test_other.py"]


def test_every_entry_of_the_list_of_equivalent_mutants_is_still_a_mutant():
    for path in {path for path, _, _ in EQUIVALENT}:
        source = (tool.ROOT / path).read_text(encoding="utf-8")
        known = {mutant.lines(source) for mutant in mutants(source, path)}
        listed = {(before, after) for of, before, after in EQUIVALENT if of == path}
        assert listed <= known, f"{path}: {listed - known}"


def test_an_equivalent_mutant_is_not_tried(project, monkeypatch):
    entry = ("argmax/metrics/scores.py", "return a if a >= b else b", "return a if a > b else b")
    before = tool.chosen(project, [entry[0]], 100, seed=0)
    monkeypatch.setitem(EQUIVALENT, entry, "of two equal numbers, each is the larger")
    after = tool.chosen(project, [entry[0]], 100, seed=0)
    assert len(before) - len(after) == 1
