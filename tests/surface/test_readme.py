"""The README keeps its word: its code prints what it shows, its first screen is complete."""

import contextlib
import io
import itertools
import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
FIRST_SCREEN = "\n".join(TEXT.splitlines()[:40])

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """(language, content) of every fenced block, in order."""
    return [(match[1], match[2]) for match in FENCE.finditer(text)]


def examples(text):
    """(code, shown output or None) of every Python block; the output is the text block after it."""
    fenced = [*blocks(text), ("", "")]
    return [
        (content, following[1] if following[0] == "text" else None)
        for (language, content), following in itertools.pairwise(fenced)
        if language == "python"
    ]


def printed(code, namespace):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, str(README), "exec"), namespace)
    return output.getvalue()


def test_the_code_prints_what_the_readme_shows():
    namespace = {"__name__": "readme"}
    for code, shown in examples(TEXT):
        output = printed(code, namespace)
        assert output == (shown or "")


@pytest.mark.parametrize("needed", ["make demo", "make test", "pip install argmax"])
def test_the_first_screen_has_the_commands(needed):
    assert needed in FIRST_SCREEN


def test_the_first_screen_has_the_formula():
    assert re.search(r"ŷ = argmax over y of ⟨w, Ψ\(x, y\)⟩", FIRST_SCREEN)


def test_the_first_screen_has_code_and_its_output():
    assert [shown for _, shown in examples(FIRST_SCREEN) if shown]


def test_the_first_example_is_six_lines():
    code, _ = examples(TEXT)[0]
    assert len([line for line in code.splitlines() if line.strip()]) == 6


def test_a_block_and_its_output_are_paired():
    text = "```python\nprint(1)\n```\n\n```text\n1\n```\n\n```python\nx = 2\n```\n"
    assert examples(text) == [("print(1)\n", "1\n"), ("x = 2\n", None)]
