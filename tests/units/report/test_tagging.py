"""The report of a tagger: one page that needs nothing else, whose numbers are those of the library."""

import json
import re

import numpy as np
import pytest

from argmax import CRFTagger, SequenceTagger, report
from argmax.data import corpus
from argmax.errors import InvalidInput
from argmax.features import Templates
from tests.units.report.pages import Page
from tests.units.report.test_snippets import blocks, printed

TOKENS = corpus.sentences(220)
WORDS, LABELS, POS = (TOKENS.sequences(name) for name in ("word", "label", "pos"))
FEW = Templates(["word[0]", "word[-1]", "suffix(word[0],2)"])


def spans():
    model = SequenceTagger(FEW, constraints="BIO").fit(WORDS[:150], LABELS[:150])
    return model, WORDS[150:], LABELS[150:]


def speech():
    model = CRFTagger(FEW, start=False, tol=1e-2).fit(WORDS[:150], POS[:150])
    return model, WORDS[150:], POS[150:]


def unseen():
    model, X, y = spans()
    return model, X, [[label.replace("LOC", "GPE") for label in labels] for labels in y]


def order_two():
    model = SequenceTagger(FEW, order=2, tol=0.1).fit(WORDS[:60], LABELS[:60])
    return model, WORDS[150:], LABELS[150:]


def perfect():
    model, X, _ = spans()
    return model, X, model.predict(X)


def tokens():
    model = SequenceTagger(FEW).fit(TOKENS[:150], TOKENS[:150].column("label"))
    return model, TOKENS[150:], LABELS[150:]


CASES = {
    "spans": spans, "speech": speech, "unseen": unseen, "order 2": order_two, "perfect": perfect,
    "tokens": tokens,
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_page_is_whole_and_needs_nothing_else(case):
    model, X, y = CASES[case]()
    html = report.render(report.of(model, X, y, title="Names"))
    page = Page(html)
    assert page.wrong == []
    assert page.stack == []
    assert not re.search(r"(?:src|href)=\"(?!#)", html)
    assert "https://" not in html
    assert len(html.encode()) < 400_000
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = {a["href"][1:] for tag, a in page.tags if tag == "a" and "href" in a}
    assert links <= set(ids)


@pytest.mark.parametrize("case", CASES)
def test_every_block_prints_what_the_page_says(case):
    model, X, y = CASES[case]()
    namespace = {"tagger": model, "X": X, "y": y}
    found = blocks(report.render(report.of(model, X, y)))
    for code, said in found:
        assert printed(code, namespace) == said
    assert len(found) >= 5


def test_scores_and_results_are_those_of_the_metrics():
    from argmax import metrics

    model, X, y = spans()
    found = metrics.tagging(y, model.predict(X), classes=model.classes_.tolist())
    page = Page(report.render(report.of(model, X, y)))
    results = json.loads(page.inside["script"][0])
    assert results["span_f1"]["value"] == found.spans.f1.value
    assert results["token_accuracy"]["low"] == found.token_accuracy.low
    assert f"F1 of {100 * found.spans.f1.value:.1f} %" in page.text


def test_sentences_show_spans_their_confidence_and_the_truth():
    model, X, y = spans()
    html = report.render(report.of(model, X, y))
    page = Page(html)
    marks = [a["class"] for tag, a in page.tags if tag == "mark"]
    assert any("off" in classes.split() for classes in marks)
    assert any("off" not in classes.split() for classes in marks)
    assert re.search(r"PER \d+ %", page.text)
    assert "truth" in page.text


def test_transitions_that_are_not_allowed_are_crossed_out():
    model, X, y = spans()
    page = Page(report.render(report.of(model, X, y)))
    crossed = sum(1 for tag, a in page.tags if tag == "td" and a.get("class") == "never")
    rules = model._space(model.classes_).constraints
    assert crossed == int((~rules.follow).sum() + (~rules.start).sum())


def test_errors_by_confidence_add_up():
    from argmax.report.tagging.measures import Measures

    model, X, y = spans()
    found = Measures(report.of(model, X, y))
    assert sum(level.tokens for level in found.levels) == sum(map(len, X))
    assert sum(level.wrong for level in found.levels) == sum(n for _, _, n in found.mistakes)


def test_labels_that_the_model_does_not_know_are_listed():
    model, X, y = unseen()
    page = Page(report.render(report.of(model, X, y)))
    assert "carry a label that the model does not know" in page.text
    assert "B-GPE" in page.text


def test_hostile_words_and_labels_are_shown_and_not_obeyed():
    bad = "<script>alert(1)</script>"
    evaluation = report.Tagging(
        classes=["O", f"B-{bad}"],
        words=[[bad, "\x1b[31m", "a" * 5000]],
        truth=[["O", f"B-{bad}", "O"]],
        answer=[[f"B-{bad}", "O", "O"]],
        confidence=[[0.5, 0.9, 1.0]],
        transitions=np.zeros((2, 2)),
    )
    html = report.render(evaluation)
    assert bad not in html
    assert "\x1b" not in html
    assert "a" * 100 not in html


def test_many_labels_and_long_sentences_stay_small():
    rng = np.random.default_rng(0)
    names = [f"label-{i}" for i in range(300)]
    words = [[f"word{i}" for i in rng.integers(0, 999, 400)] for _ in range(50)]
    truth = [[names[i] for i in rng.integers(0, 300, 400)] for _ in range(50)]
    answer = [[names[i] for i in rng.integers(0, 300, 400)] for _ in range(50)]
    html = report.render(
        report.Tagging(
            classes=names,
            words=words,
            truth=truth,
            answer=answer,
            confidence=[rng.random(400) for _ in range(50)],
            transitions=rng.normal(size=(300, 300)),
        )
    )
    assert len(html.encode()) < 1_000_000


def test_lengths_that_differ_are_refused():
    with pytest.raises(InvalidInput, match="sequence 0 has 2 words, 1 labels"):
        report.Tagging(
            classes=["O"],
            words=[["a", "b"]],
            truth=[["O"]],
            answer=[["O", "O"]],
            confidence=[[1.0, 1.0]],
        )
    with pytest.raises(InvalidInput, match="no tokens"):
        report.Tagging(classes=["O"], words=[[]], truth=[[]], answer=[[]], confidence=[[]])
