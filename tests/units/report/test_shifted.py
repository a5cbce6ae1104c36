"""The page of a diagnosis: words, four drawings, numbers for programs, and text that cannot break out."""

import json
import re

import numpy as np
import pytest

from argmax import SoftmaxRegression, report, shift
from argmax.report.page import LARGEST


def diagnosed(priors, names, moved=0.0, seed=0):
    rng = np.random.default_rng(seed)
    k = len(names)
    means = 2.5 * np.eye(k)

    def rows(shares, n):
        y = rng.choice(k, size=n, p=shares)
        return means[y] + rng.normal(size=(n, k)), np.array(names)[y]

    even = np.full(k, 1 / k)
    X, y = rows(even, 400)
    new = rows(priors, 400)[0] + moved
    return shift.diagnose(SoftmaxRegression().fit(X, y), rows(even, 400), new, names=list(range(k)))


@pytest.fixture(scope="module")
def label():
    return diagnosed([0.8, 0.15, 0.05], ["a", "b", "c"])


def test_the_page_says_what_the_terminal_says(label):
    page = report.render(report.Shifted(diagnosis=label, title="June", commands=["argmax shift"]))
    assert label.kind == "label"
    for sentence in (label.headline, *label.advice, *label.unknown):
        assert sentence in page
    assert page.count("<figure><svg") == 4
    assert "argmax shift" in page
    assert "https://" not in page
    assert "http://" not in page


def test_programs_find_the_numbers(label):
    page = report.render(report.Shifted(diagnosis=label, first=[7, 9]))
    found = json.loads(re.search(r'id="results">(.*?)</script>', page, re.DOTALL).group(1))
    assert found["kind"] == "label"
    assert found["label_first"] == [7, 9]
    assert found["classes"]["a"]["now"] == pytest.approx(label.label.priors[0])
    assert found["classes"]["a"]["share"] == pytest.approx(label.label.shares[0])


def test_no_shift_and_another_kind_have_pages_too():
    even = [1 / 3] * 3
    page = report.render(report.Shifted(diagnosis=diagnosed(even, ["a", "b", "c"], seed=3)))
    assert "To label first" not in page
    other = diagnosed(even, ["a", "b", "c"], moved=4.0)
    page = report.render(report.Shifted(diagnosis=other))
    assert other.kind == "other"
    assert "To label first" in page
    assert "cannot be said without labels" in page


def test_names_cannot_break_out_and_many_stay_small():
    names = [f"<script>alert({i})</script>" + "x" * 500 for i in range(40)]
    found = diagnosed(np.full(40, 1 / 40), names)
    page = report.render(report.Shifted(diagnosis=found, title="<b>"))
    assert "<script>alert" not in page
    assert "&lt;b&gt;" in page
    assert len(page.encode()) < LARGEST
