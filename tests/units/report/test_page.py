"""The page: complete, self-contained, small, well formed, for evaluations of every shape."""

import base64
import hashlib
import json
import math
import re
import warnings

import numpy as np
import pytest

from argmax import metrics, report
from argmax.errors import CannotWrite, NotConverged
from argmax.report.page import LARGEST
from tests.units.report.pages import CASES, WORDS, Page, digits, many, text

SECTIONS = {"data", "scores", "confusion", "classes", "reliability", "errors", "run"}


@pytest.fixture(scope="module", params=[*CASES, "many"])
def page(request):
    made = many() if request.param == "many" else report.of(*CASES[request.param]())
    return Page(report.render(made))


def test_it_loads_nothing(page):
    for tag, attributes in page.tags:
        assert tag not in {
            "link",
            "img",
            "iframe",
            "object",
            "embed",
            "base",
            "form",
            "image",
            "use",
        }
        assert "src" not in attributes
        assert "style" not in attributes  # the policy would refuse it
        assert attributes.get("href", "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"https?:|url\(|@import|//\w", page.inside["style"][0])
    assert "http" not in page.inside["script"][-1]


def test_the_policy_allows_its_style_and_its_script_alone(page):
    (policy,) = [
        a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for kind, content in (
        ("style", page.inside["style"][0]),
        ("script", page.inside["script"][-1]),
    ):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_it_is_well_formed(page):
    assert page.wrong == []
    assert page.stack == []
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert set(ids) >= SECTIONS
    targets = {a["href"][1:] for _, a in page.tags if "href" in a}
    assert targets <= set(ids)
    assert {a["aria-labelledby"] for _, a in page.tags if "aria-labelledby" in a} <= set(ids)


def test_what_scrolls_can_be_reached_and_has_a_name(page):
    for tag, attributes in page.tags:
        if attributes.get("class") == "scroll":
            assert attributes["tabindex"] == "0"
            assert attributes["aria-label"]
        if tag == "svg":
            assert "aria-label" in attributes or attributes.get("aria-hidden") == "true"


def test_it_is_small_and_holds_no_number_that_is_none(page):
    assert len(page.html.encode()) < LARGEST
    assert not re.search(r"\b(nan|inf|None)\b(?![^<]*</dd>)", page.text.split("Run")[0])


def test_the_block_of_json_holds_the_scores(page):
    found = json.loads(page.inside["script"][0])
    accuracy = found["scores"]["Accuracy"]
    assert 0 <= accuracy["low"] <= accuracy["value"] <= accuracy["high"] <= 1
    assert math.isfinite(found["scores"]["Log-loss"]["value"])


def test_the_same_evaluation_gives_the_same_page():
    evaluation = report.of(*text())
    assert report.render(evaluation) == report.render(evaluation)


def test_the_verdict_compares_with_the_most_frequent_class():
    model, X, y = text()
    seen = Page(report.render(report.of(model, X, y, title="Tickets"))).text
    assert "Tickets" in seen
    assert re.search(r"Right on [\d.]+ % of 50 rows \(95 % interval", seen)
    assert re.search(r"Always answering “\w+”, the most frequent class, would be right on", seen)


@pytest.mark.parametrize(
    ("right", "says"),
    [(40, "cannot be told apart from always"), (10, "worse than always answering")],
)
def test_a_poor_verdict_is_said(right, says):
    truth = np.array(["a"] * 40 + ["b"] * 20)
    hit = np.arange(60) < right
    p = np.where(hit[:, None] == (truth[:, None] == np.array(["a", "b"])), 0.9, 0.1)
    evaluation = report.Evaluation(classes=["a", "b"], truth=truth, probabilities=p)
    assert says in Page(report.render(evaluation)).text


def test_few_classes_lead_with_the_matrix_and_many_with_the_pairs():
    few = report.render(report.of(*digits()))
    assert few.index('class="matrix') < few.index("The rows behind the cells")
    lots = report.render(many())
    assert lots.index("Confused most often") < lots.index('class="matrix')
    assert "150 × 150" in lots


def test_a_number_in_the_matrix_leads_to_its_rows():
    model, X, y = digits()
    html = report.render(report.of(model, X, y))
    found = metrics.confusion(y, model.predict(X))
    truth, answer, count = found.pairs(1)[0]
    assert re.search(rf'<a href="#c{truth}-{answer}">{count}</a>', html)
    list_of_rows = html[html.index(f'id="c{truth}-{answer}"') :].split("</ul>")[0]
    shown = [int(row) for row in re.findall(r"row (\d+)", list_of_rows)]
    assert set(shown) <= set(found.rows(truth, answer).tolist())
    assert len(shown) == min(count, 4)


def test_unseen_labels_are_listed_and_counted():
    seen = Page(report.render(report.of(*CASES["unseen"]()))).text
    assert "6 rows carry a label that the model does not know" in seen
    assert "new kind 6" in seen
    assert "On all other rows" in seen


def test_surprises_name_the_words_that_drove_them():
    model, X, y = text()
    wrong = np.where(y == "billing", "delivery", y)  # every bill is now a mistake
    html = report.render(report.of(model, X, wrong))
    chips = html[html.index('id="errors"') :]
    assert any(f"<bdi>{word}</bdi>" in chips for word in WORDS["billing"].split())


def test_a_training_that_did_not_converge_is_marked():
    from argmax import SoftmaxRegression

    _, X, y = digits()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model = SoftmaxRegression(max_iter=1, solver="lbfgs").fit(X, y)
    html = report.render(report.of(model, X, y))
    assert 'class="stopped note"' in html
    assert "max_iter" in html


def test_only_arrays_are_needed():
    evaluation = report.Evaluation(
        classes=[0, 1], truth=[0, 1, 1], probabilities=[[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]]
    )
    html = report.render(evaluation)
    assert 'id="weights"' not in html
    assert 'id="training"' not in html
    assert set(SECTIONS) <= {a.get("id") for _, a in Page(html).tags}


def test_very_many_classes_stay_below_the_limit():
    k = 1500
    truth = np.arange(2 * k) % k
    table = np.full((2 * k, k), 0.5 / (k - 1))
    table[np.arange(2 * k), (truth + (np.arange(2 * k) >= k)) % k] = 0.5
    names = np.array([f"{'a long name ' * 8}{i}" for i in range(k)])
    evaluation = report.Evaluation(
        classes=names,
        truth=names[truth],
        probabilities=table,
        previews=["many words " * 100] * len(truth),
        model=report.Model("Some", {}, None, np.random.default_rng(0).normal(size=(k, 50)), None),
    )
    html = report.render(evaluation)
    assert len(html.encode()) < LARGEST
    assert "more classes" in html


def test_writing_is_all_or_nothing_and_never_over_a_file(tmp_path):
    evaluation = report.of(*text())
    path = report.write(tmp_path / "report.html", evaluation)
    assert path.read_text(encoding="utf-8") == report.render(evaluation)
    with pytest.raises(CannotWrite, match="exists"):
        report.write(path, evaluation)
    report.write(str(path), evaluation, overwrite=True)
    with pytest.raises(CannotWrite):
        report.write(tmp_path / "no such folder" / "report.html", evaluation)
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]
