"""The report on sets of labels: one page that needs nothing else, whose numbers are those of the library."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from argmax import MultiLabelClassifier, report
from argmax.data.scenes import LABELS, scenes
from argmax.errors import InvalidInput
from argmax.features import Table
from tests.units.report.pages import Page
from tests.units.report.test_snippets import holds

ROWS = list(scenes(160))
FRAME = {"text": [text for _, text, _ in ROWS], "light": [light for _, _, light in ROWS]}
Y = np.array([[int(name in labels) for name in LABELS] for labels, _, _ in ROWS])
LEARN, TEST = slice(0, 100), slice(100, 160)


def part(rows):
    return {name: column[rows] for name, column in FRAME.items()}


@pytest.fixture(scope="module")
def model():
    steps = [("t", Table()), ("m", MultiLabelClassifier(labels=LABELS, C=10.0))]
    return Pipeline(steps).fit(part(LEARN), Y[LEARN])


def test_the_page_is_whole_and_its_lines_are_true(model):
    evaluation = report.of(model, part(TEST), Y[TEST], title="<Scenes>", learned=Y[LEARN])
    html = report.render(evaluation)
    page = Page(html)
    assert "&lt;Scenes&gt;" in html
    assert "http" not in html.replace("http-equiv", "").replace("http://www.w3.org", "")
    for name in ("Subset accuracy", "Hamming loss", "Labels that go together", *LABELS):
        assert name in html
    assert page.tags
    assert len(holds(evaluation, model=model, X=part(TEST), y=Y[TEST])) == 5


def test_without_pairs_without_model_and_with_labels_that_nobody_knows():
    alone = MultiLabelClassifier("none").fit(Y[LEARN].astype(float), Y[LEARN])
    html = report.render(report.of(alone, Y[TEST].astype(float), Y[TEST]))
    assert "Labels that go together" not in html
    bare = report.LabelSets(
        classes=["a", "b"],
        truth=[[1, 0, 1], [0, 1, 0]],
        answer=[[1, 0], [0, 1]],
        log_likelihood=[-0.1, -0.2],
        unseen=["moon"],
    )
    html = report.render(bare)
    assert "moon" in html
    assert "does not know" in html


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput):
        report.LabelSets(classes=["a"], truth=[[1, 0]], answer=[[1, 0]], log_likelihood=[0.0])
    with pytest.raises(InvalidInput):
        report.LabelSets(
            classes=["a", "b"], truth=[[1, 0]], answer=[[1, 0]], log_likelihood=[0.0, 1.0]
        )
