"""``argmax predict``: every row answered, in order, safely written."""

import csv
import io
import json

import numpy as np
import pytest

import argmax as library
from argmax.data import open_table


@pytest.fixture(scope="module")
def expected(model, place):
    """The model's own answers to new.csv, and its probabilities."""
    fitted = library.load(model)
    (batch,) = open_table(place / "new.csv").batches(fitted[0].kinds_)
    return fitted.predict(batch).tolist(), fitted.predict_proba(batch), fitted.classes_.tolist()


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_answers_in_order(argmax, model, place, expected):
    result = argmax("predict", model, place / "new.csv")
    assert result.code == 0
    assert [row["prediction"] for row in rows(result.out)] == expected[0]
    assert "Answered 60 rows" in result.err


def test_probabilities_of_every_class(argmax, model, place, expected):
    found = rows(argmax("predict", model, place / "new.csv", "--proba").out)
    table = np.array([[float(row[name]) for name in expected[2]] for row in found])
    assert np.abs(table - expected[1]).max() < 1e-6


def test_the_best_classes(argmax, model, place, expected):
    found = rows(argmax("predict", model, place / "new.csv", "--top", 2).out)
    assert list(found[0]) == ["prediction", "probability", "prediction_2", "probability_2"]
    second = [expected[2][i] for i in np.argsort(-expected[1], axis=1)[:, 1]]
    assert [row["prediction_2"] for row in found] == second


def test_json_lines(argmax, model, place, expected, tmp_path):
    out = tmp_path / "answers.jsonl"
    result = argmax("predict", model, place / "new.csv", "--top", 1, "--proba", "-o", out)
    assert (result.code, result.out) == (0, "")
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [answer["prediction"] for answer in found] == expected[0]
    assert [answer["top"][0]["class"] for answer in found] == expected[0]
    assert set(found[0]["probabilities"]) == set(expected[2])
    typed = argmax("predict", model, place / "new.csv", "--top", 1, "--proba", "--json").out
    assert typed == out.read_text(encoding="utf-8")


def test_standard_input(argmax, model, place, expected):
    content = (place / "new.csv").read_bytes()
    result = argmax("predict", model, "-", "-q", given=content)
    assert [row["prediction"] for row in rows(result.out)] == expected[0]


def test_the_label_need_not_be_there_and_other_columns_may(argmax, model, place, write):
    lines = (place / "new.csv").read_text(encoding="utf-8").splitlines()[:3]
    text = "\n".join(["more," + lines[0], "1," + lines[1], "2," + lines[2]]).replace(
        ",team", ",any"
    )
    assert argmax("predict", model, write("wide.csv", text + "\n")).code == 0


def test_numbers_are_read_where_the_model_reads_numbers(argmax, model, write):
    header = "opened,channel,customer_tier,waiting_minutes,text\n"
    fine = header + "3,email,plus,NA,hello\n04,1,plus,7,hello\n"
    result = argmax("predict", model, write("fine.csv", fine))
    assert result.code == 0
    assert "'waiting_minutes': 1 value missing." in result.err
    assert "'channel': 1 value that training did not have." in result.err
    wrong = argmax("predict", model, write("wrong.csv", fine + "5,email,plus,soon,hi\n"))
    assert wrong.code == 2
    assert "wrong.csv, line 4, column 'waiting_minutes': 'soon'" in wrong.err


def test_a_column_that_is_not_there(argmax, model, write):
    result = argmax("predict", model, write("part.csv", "opened,channel\n1,email\n"))
    assert (result.code, result.out) == (2, "")
    assert "lacks the columns 'customer_tier', 'waiting_minutes', 'text'" in result.err


def test_nothing_is_left_of_a_file_that_could_not_be_finished(argmax, model, write, tmp_path):
    header = "opened,channel,customer_tier,waiting_minutes,text\n"
    path = write("data.csv", header + "3,email,plus,7,hello\n" * 50 + "x,email,plus,7,hello\n")
    assert argmax("predict", model, path, "-o", tmp_path / "out.csv").code == 2
    assert not (tmp_path / "out.csv").exists()
    (tmp_path / "out.csv").write_text("precious")
    assert argmax("predict", model, path, "-o", tmp_path / "out.csv").code == 2
    assert (tmp_path / "out.csv").read_text() == "precious"


def test_a_class_that_looks_like_a_formula_is_text_in_a_spreadsheet(argmax, write, tmp_path):
    text = "x,label\n" + "".join(f"{i % 2}.{i % 7},{('=1+1', '@sum')[i % 2]}\n" for i in range(40))
    data = write("data.csv", text)
    argmax(
        "train", data, "--target", "label", "-o", tmp_path / "m", "--report", "", "--C", "1", "-q"
    )
    answers = {row["prediction"] for row in rows(argmax("predict", tmp_path / "m", data).out)}
    assert answers == {"'=1+1", "'@sum"}
    plain = argmax("predict", tmp_path / "m", data, "--json").out.splitlines()
    assert {json.loads(line)["prediction"] for line in plain} == {"=1+1", "@sum"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\x80\x04K\x01.", "is a pickle"),
        (b"", "is empty"),
        (b"opened,team\n", "not a model file"),
    ],
)
def test_a_model_that_is_none(argmax, place, write, content, sentence):
    result = argmax("predict", write("m.argmax", content), place / "new.csv")
    assert result.code == 2
    assert sentence in result.err


def test_a_model_that_reads_arrays(argmax, place, tmp_path):
    fitted = library.SoftmaxRegression().fit(np.eye(4), [0, 1, 0, 1])
    library.save(fitted, tmp_path / "arrays.argmax")
    result = argmax("predict", tmp_path / "arrays.argmax", place / "new.csv")
    assert result.code == 2
    assert "reads arrays" in result.err


@pytest.mark.parametrize("top", ["0", "-3"])
def test_no_best_classes(argmax, model, place, top):
    result = argmax("predict", model, place / "new.csv", "--top", top)
    assert (result.code, "--top must be 1 or more" in result.err) == (2, True)
