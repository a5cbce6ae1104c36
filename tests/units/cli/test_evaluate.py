"""``argmax evaluate`` and ``argmax info``."""

import re

import numpy as np
import pytest

import argmax as library
from argmax.data import open_table


def test_scores_are_those_of_the_answers(argmax, model, place, tmp_path):
    result = argmax(
        "evaluate", model, place / "new.csv", "--json", "-q", "--report", tmp_path / "r.html"
    )
    assert result.code == 0
    fitted, source = library.load(model), open_table(place / "new.csv")
    (labels,), (batch,) = source.batches(["team"]), source.batches(fitted[0].kinds_)
    right = fitted.predict(batch) == np.array(labels.columns["team"].tolist())
    assert result.json["target"] == "team"  # found by its values
    assert result.json["scores"]["Accuracy"]["value"] == pytest.approx(right.mean())
    assert sum(entry["rows"] for entry in result.json["mistakes"]) == (~right).sum()
    assert (tmp_path / "r.html").exists()


def test_what_people_see(argmax, model, place):
    result = argmax("evaluate", model, place / "new.csv", "--target", "team")
    for words in ("Scores on 60 rows", "Classes, the weakest first", "Most frequent mistakes"):
        assert words in result.out


def test_labels_that_the_model_does_not_know_are_mistakes(argmax, model, place, write):
    lines = (place / "new.csv").read_text(encoding="utf-8").splitlines()
    text = "\n".join([*lines, re.sub(r",\w+$", ",unheard", lines[1])]) + "\n"
    result = argmax("evaluate", model, write("odd.csv", text), "--json")
    assert result.json["unseen"] == {"unheard": 1}
    assert (
        "counted as wrong: 'unheard' (1)" in argmax("evaluate", model, write("odd.csv", text)).out
    )


def test_rows_without_a_label_are_left_out_and_counted(argmax, model, place, write):
    lines = (place / "new.csv").read_text(encoding="utf-8").splitlines()
    lines[1] = re.sub(r",\w+$", ",", lines[1])
    result = argmax("evaluate", model, write("odd.csv", "\n".join(lines) + "\n"), "--json", "-q")
    assert result.json["rows"] == 59
    assert "1 row of" in result.err


def test_a_target_that_cannot_be_guessed(argmax, model, place, write):
    lines = (place / "new.csv").read_text(encoding="utf-8").splitlines()
    text = "\n".join(re.sub(r",\w+$", ",nobody", line) for line in lines)
    result = argmax("evaluate", model, write("odd.csv", text + "\n"))
    assert result.code == 2
    assert "--target is missing" in result.err


def test_more_rows_than_there_is_room_for(argmax, model, place):
    result = argmax("evaluate", model, place / "new.csv", "--json", "--memory", "20K")
    assert 1 < result.json["rows"] < result.json["rows_met"] == 60


# info


def test_what_a_model_holds(argmax, model):
    result = argmax("info", model)
    assert result.code == 0
    for words in ("LinearClassifier", "7: accounts", "column text", "tol = 0.0001 met"):
        assert words in result.out
    told = argmax("info", model, "--json").json
    assert told["kind"] == "model"
    assert len(told["classes"]) == 7


def test_versions_for_a_bug_report(argmax):
    result = argmax("info", "--markdown")
    assert result.code == 0
    assert f"- **argmax**: {library.__version__}" in result.out
    assert argmax("info", "--json").json["numpy"] == np.__version__


def test_no_model(argmax, tmp_path):
    result = argmax("info", tmp_path / "gone")
    assert (result.code, "cannot be read" in result.err) == (2, True)
