"""``argmax bounds``."""

import numpy as np
import pytest

import argmax as library
from argmax import bounds
from argmax.cli.held import rows_of


def test_the_numbers_are_those_of_the_library(argmax, model, place):
    result = argmax("bounds", model, place / "tickets.csv", "--json", "-q")
    assert result.code == 0
    fitted = library.load(model)
    batch, labels, _ = rows_of(
        place / "tickets.csv", "team", {n: k for n, k in fitted[0].kinds_.items() if k != "id"},
        test=0.2,
    )  # fmt: skip
    wrong = int((fitted.predict(batch) != labels).sum())
    found = {entry["name"]: entry for entry in result.json["bounds"]}
    assert found["test set"]["value"] == pytest.approx(bounds.test_set(wrong, len(labels)).value)
    assert result.json["best"] == "test set"
    assert result.json["rows"]["held_out"] == len(labels)
    assert found["fat shattering"]["value"] is None
    features = [a for a in found["PAC-Bayes"]["assumptions"] if "features" in a["text"]]
    assert [a["holds"] for a in features] == [False]  # a dictionary was learned from the rows
    assert result.json["perceptron"]["mistakes_first_pass"] > 0


def test_what_people_see(argmax, model, place):
    result = argmax(
        "bounds", model, place / "tickets.csv", "--test", place / "new.csv", "--plan", "0.02"
    )
    assert result.code == 0
    for words in (
        "400 rows", "60 rows", "vacuous", "a promise", "✗ the features were fixed", "(all)",
        "The one to quote is the test set bound", "Mistakes of a perceptron", "3,745",
    ):  # fmt: skip
        assert words in result.out


def test_without_rows_held_out_nothing_is_promised(argmax, model, place):
    result = argmax("bounds", model, place / "tickets.csv", "--test", "0")
    assert "test set" not in result.out
    assert "Nothing is promised" in result.out


def test_a_hashed_table_that_learns_nothing_is_ticked(argmax, write):
    rng = np.random.default_rng(0)
    words = [("red wine", "drink"), ("rye bread", "food")]
    lines = [",".join(words[i]) for i in rng.integers(0, 2, 300)]
    path = write("short.csv", "\n".join(["text,kind", *lines]) + "\n")
    trained = argmax(
        "train", path, "--target", "kind", "-o", path.parent / "m.argmax", "--report", "", "-q",
        "--kinds", "text=text", "--features", "hash_bits=8", "--features", "weight=binary", "--C", "1",
    )  # fmt: skip
    assert trained.code == 0, trained.err
    result = argmax("bounds", path.parent / "m.argmax", path, "--target", "kind", "--json", "-q",
                    "--radius", "2")  # fmt: skip
    found = {entry["name"]: entry for entry in result.json["bounds"]}
    assert found["PAC-Bayes"]["verdict"] == "a promise"
    assert result.json["perceptron"]["separable"]
    assert result.json["perceptron"]["mistakes"] <= result.json["perceptron"]["bound"]


def test_the_numbers_of_an_svmlight_file_are_not_learned(argmax, write):
    path = write("rows.svm", "yes 1:1 3:0.5\nno 2:1 3:0.25\n" * 60)
    place = path.parent / "s.argmax"
    assert argmax("train", path, "-o", place, "--report", "", "-q", "--C", "1").code == 0
    result = argmax("bounds", place, path, "--json", "-q")
    (found,) = [entry for entry in result.json["bounds"] if entry["name"] == "PAC-Bayes"]
    assert found["verdict"] == "a promise"


def test_a_plan_without_a_model(argmax):
    result = argmax("bounds", "--plan", "0.1", "--features", "30", "--json")
    plan = {entry["how"]: entry["rows"] for entry in result.json["plan"]}
    assert plan["by VC dimension"] == bounds.sample_size("vc", 0.1, dimension=31)
    assert plan["whatever the mistakes"] == 150
    result = argmax("bounds", "--plan", "0.1", "--radius", "1", "--rho", "0.2")
    assert f"{bounds.sample_size('margin', 0.1, radius=1.0, rho=0.2):,}" in result.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "MODEL and DATA are missing"),
        (["m.argmax"], "DATA is missing"),
        (["--plan", "0.1", "--classes", "3"], "--classes says nothing without --features"),
        (["--plan", "0.1", "--rho", "0.3"], "--rho says nothing of a plan without --radius"),
        (["--plan", "0.1", "--target", "y"], "--test, --seed and --target are about rows"),
        (["m.argmax", "d.csv", "--classes", "3"], "--features and --classes are the model's own"),
        (["--plan", "0"], "--plan must be greater than 0 and at most 1"),
    ],
)
def test_errors(argmax, words, sentence):
    result = argmax("bounds", *words)
    assert result.code == 2
    assert sentence in result.err


def test_a_tagger_is_refused(argmax, tmp_path):
    tagger = library.CRFTagger().fit([[["a"], ["b"]]], [["x", "y"]])
    library.save(tagger, tmp_path / "t.argmax")
    result = argmax("bounds", tmp_path / "t.argmax", tmp_path / "none.csv")
    assert result.code == 2
    assert "holds a tagger" in result.err
