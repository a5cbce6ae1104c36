"""The Python lines on the page are true: they run, and print what the page says they print."""

import contextlib
import io
import re

import numpy as np
import pytest

from argmax import report
from tests.units.report.pages import CASES, Page, digits, text


def blocks(html):
    """(code, what it is said to print) of every block, the setting up first."""
    page = Page(html)
    kinds = [tag for tag, _ in page.tags if tag in {"code", "samp"}]
    codes, samps = iter(page.inside["code"]), iter(page.inside["samp"])
    found = []
    for kind in kinds:
        if kind == "code":
            found.append([next(codes), ""])
        else:
            found[-1][1] = next(samps)
    setup = [block for block in found if block[0].startswith("import numpy")]
    return setup + [block for block in found if block not in setup]


def printed(code, namespace):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "report", "exec"), namespace)
    return output.getvalue().rstrip("\n")


def holds(evaluation, **namespace):
    found = blocks(report.render(evaluation))
    for code, said in found:
        assert printed(code, namespace) == said
    return found


@pytest.mark.parametrize("case", CASES)
def test_every_block_prints_what_the_page_says(case):
    model, X, y = CASES[case]()
    found = holds(report.of(model, X, y), model=model, X=X, y=y)
    assert (
        len(found) == 8
    )  # setting up, scores, confusion, classes, reliability, training, weights, errors


def test_they_hold_with_a_seed_and_counts_of_the_training_rows():
    model, X, y = digits()
    counts = np.arange(10, 20)
    evaluation = report.of(model, X, y, seed=5, training_counts=counts)
    assert "seed=5" in holds(evaluation, model=model, X=X, y=y)[1][0]


def test_they_hold_with_row_numbers_that_the_setting_up_defines():
    model, X, y = text()
    rows = np.arange(len(y))[::-1] + 1000
    lines = "model, X, y, rows = given"
    evaluation = report.of(model, X, y, rows=rows, setup=lines)
    holds(evaluation, given=(model, X, y, rows))


def test_they_hold_for_a_perfect_model():
    model, X, _ = digits()
    right = model.predict(X)
    holds(report.of(model, X, right), model=model, X=X, y=right)


def test_numbers_in_the_tables_are_those_of_the_blocks():
    model, X, y = digits()
    html = report.render(report.of(model, X, y))
    first = blocks(html)[1][1].splitlines()[0]  # "0.9107 (0.8907 to 0.9274)": the accuracy
    value, low, _, high = first.replace("(", "").replace(")", "").split()
    shown = Page(html).text
    assert f"Right on {100 * float(value):.1f} %" in shown
    found = re.search(r"interval ([\d.]+)\s% to ([\d.]+)\s%", shown)
    # Digits cut from a number that was rounded before may differ by one.
    ends = [float(end) for end in found.groups()]
    np.testing.assert_allclose(ends, [100 * float(low), 100 * float(high)], atol=0.051)
