"""Mutants of small snippets are as expected, and every mutant of the package can be parsed."""

import ast
from pathlib import Path

import numpy as np
import pytest

from tests.mutations.mutants import LAST_OF_EQUALS, mutants

ROOT = Path(__file__).resolve().parents[2]

SNIPPETS = [
    ("a < b", {"a <= b", "a > b"}),
    ("a >= b", {"a > b", "a <= b"}),
    ("a < b <= c", {"a <= b <= c", "a > b <= c", "a < b < c", "a < b >= c"}),
    ("a is not None", {"a is None"}),
    ("a not in b", {"a in b"}),
    ("a == b", {"a != b"}),
    ("a + b", {"a - b"}),
    ("a / b", {"a * b"}),
    ("a & ~b", {"a | ~b", "a & b"}),
    ("a += b", {"a -= b"}),
    ("a *= b", {"a /= b"}),
    ("-a", {"a"}),
    ("a and b and c", {"a or b and c", "a and b or c"}),
    ("not a", {" a"}),
    ("0.5", {"1.0"}),
    ("0.0", {"1.0"}),
    ("2", {"3"}),
    ("True", {"False"}),
    ("max(a, b)", {"min(a, b)"}),
    ("np.minimum(a, b)", {"np.maximum(a, b)"}),
    ("a.ceil", {"a.floor"}),
    ("(a) * (  # one * another\n b)", {"(a) / (  # one * another\n b)"}),
    ("(ψ) - (μ)", {"(ψ) + (μ)"}),
    ("a.argmax(axis=1)", {'__import__("last_of_equals").argmax((a), axis=1)', "a.argmax(axis=2)"}),
    ("a.argmin()", {'__import__("last_of_equals").argmin(a)'}),
    ("np.argmax(a + b)", {'__import__("last_of_equals").argmax(a + b)', "np.argmax(a - b)"}),
    ("space.argmax(scores)", set()),
]


@pytest.mark.parametrize(("source", "expected"), SNIPPETS, ids=[before for before, _ in SNIPPETS])
def test_a_snippet_has_these_mutants(source, expected):
    assert {mutant.applied(source) for mutant in mutants(source)} == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring of 2 words < 3."""',
        'raise ValueError("a" + b * 2)',
        'f"{a + 1}"',
        '"a" + b',
        "def f(a: 1 | 2) -> 3 | 4: ...",
        "a: int | None",
        "@dataclass(frozen=True)\nclass A: ...",
        "zip(a, b, strict=True)",
        "250",
        "if TYPE_CHECKING:\n    a = 1",
    ],
)
def test_what_does_not_compute_is_left_alone(source):
    assert mutants(source) == []


def test_a_mutant_knows_its_lines():
    source = "a = 1\nif (\n    a < 2\n):\n    b = 3\n"
    found = [mutant for mutant in mutants(source, "x.py") if mutant.old == "<"]
    assert [(mutant.path, mutant.line, *mutant.lines(source)) for mutant in found] == [
        ("x.py", 3, "a < 2", "a <= 2"),
        ("x.py", 3, "a < 2", "a > 2"),
    ]


def test_every_mutant_of_a_module_can_be_parsed_and_differs():
    source = (ROOT / "argmax/spaces/recursions.py").read_text(encoding="utf-8")
    found = mutants(source)
    assert len(found) > 50
    for mutant in found:
        assert ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))


def test_the_last_of_equals_is_the_last():
    names = {}
    exec(LAST_OF_EQUALS, names)
    a = np.array([[3, 1, 3, 1], [2, 2, 2, 0]])
    assert names["argmax"](a, axis=1).tolist() == [2, 2]
    assert names["argmin"](a, axis=1).tolist() == [3, 3]
    assert names["argmax"](a) == 2
    assert names["argmin"](a == 3) == 7
