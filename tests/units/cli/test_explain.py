"""``argmax explain``: contributions that add up."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from argmax import LinearClassifier
from argmax.cli.explain import Explanation
from argmax.features import Table

RNG = np.random.default_rng(0)
TEXTS = [
    " ".join(RNG.choice(["red", "blue", "old", "new", "wine", "bread", "soup"], 5))
    for _ in range(80)
]


def a_model(kind, classes):
    y = [f"class {i * 7 % 13 % classes}" for i in range(80)]
    numbers = RNG.normal(size=(80, 3)) * [1, 100, 0.01]
    rows = {
        "text": lambda: TEXTS,
        "numbers": lambda: numbers,
        "both": lambda: {"a": numbers[:, 0], "b": [f"v{i % 4}" for i in range(80)], "t": TEXTS},
    }[kind]()
    table = Table({"t": "text", "b": "category"} if kind == "both" else None)
    return Pipeline([("table", table), ("classifier", LinearClassifier(C=3.0))]).fit(rows, y), rows


def one(rows, i):
    if isinstance(rows, dict):
        return {name: values[i : i + 1] for name, values in rows.items()}
    return rows[i : i + 1]


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("kind", ["text", "numbers", "both"])
def test_contributions_add_up_to_the_lead(kind, classes):
    model, rows = a_model(kind, classes)
    for i in range(0, 80, 9):
        row = one(rows, i)
        found = Explanation.of(model, row)
        total = sum(term.contribution for term in found.terms) + found.intercept
        scores = np.atleast_1d(model.decision_function(row).squeeze())
        scores = np.append(0.0, scores) if classes == 2 else scores
        best, second = np.sort(scores)[::-1][:2]
        assert abs(total - (best - second)) < 1e-12 * max(1.0, abs(best - second))
        assert abs(total - found.lead) < 1e-12 * max(1.0, abs(found.lead))
        assert found.answer == model.predict(row)[0]
        sizes = [abs(term.contribution) for term in found.terms]
        assert sizes == sorted(sizes, reverse=True)


def test_against_a_class_of_choice():
    model, rows = a_model("text", 5)
    row = one(rows, 0)
    answer = model.predict(row)[0]
    for other in sorted(set(model.classes_) - {answer}):
        found = Explanation.of(model, row, other)
        assert (found.answer, found.rival) == (answer, other)
        assert found.lead >= 0


def test_a_row_of_a_file(argmax, model, place):
    result = argmax("explain", model, place / "new.csv", "--row", 7, "--json")
    assert (result.code, result.json["row"]) == (0, 7)
    answers = argmax("predict", model, place / "new.csv", "-q").out.split("\n")
    assert result.json["answer"] == answers[8]
    total = sum(term["contribution"] for term in result.json["contributions"])
    assert total + result.json["intercept"] == pytest.approx(result.json["lead"], abs=1e-12)


def test_a_text(argmax, model):
    result = argmax("explain", model, "Where is my parcel?", "--top", 2)
    assert result.code == 0
    assert "rather than" in result.out
    assert "text: parcel" in result.out
    assert "more feature" in result.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("gone.csv",), "there is no file 'gone.csv'"),
        (("new.csv", "--row", "999"), "--row must be from 0 to 59"),
        (("new.csv", "--row", "-1"), "--row counts from 0"),
        (("new.csv", "--against", "nobody"), "--against must be a class of the model"),
    ],
)
def test_what_cannot_be_explained(argmax, model, place, words, sentence):
    what = place / words[0] if words[0] == "new.csv" else words[0]
    result = argmax("explain", model, what, *words[1:])
    assert result.code == 2
    assert sentence in result.err


def test_the_answer_against_itself(argmax, model, place):
    answer = argmax("explain", model, place / "new.csv", "--json").json["answer"]
    result = argmax("explain", model, place / "new.csv", "--against", answer)
    assert (result.code, "is the answer itself" in result.err) == (2, True)
