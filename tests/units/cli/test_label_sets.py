"""Tables with several labels a row: recognised, learned, judged, answered and explained."""

import json
import re

import numpy as np
import pytest

import argmax as library
from argmax.cli.label_sets.material import rows_of
from argmax.cli.label_sets.reading import FirstRows, LabelSets, Target, recognised
from argmax.data.scenes import LABELS, write_scenes
from argmax.records import Batch, Strings
from tests.units.report.test_snippets import blocks, printed


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streets")
    for name, n, seed in (("data", 250, 0), ("new", 80, 1)):
        write_scenes(folder / f"{name}_wide.csv", n, seed, columns=True)
        write_scenes(folder / f"{name}.csv", n, seed)
    return folder


@pytest.fixture(scope="module")
def told(argmax, place):
    """What ``argmax train`` says of the listed labels."""
    result = argmax(
        "train", place / "data.csv", "--target", "tags", "-o", place / "model.argmax", "--C", "10",
        "--report", place / "report.html", "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    return result


@pytest.fixture(scope="module")
def model(told, place):
    return place / "model.argmax"


# Which columns


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["a|b", "b", "a|c", "c"], "|"),
        (["a; b", "b", "b; a", "c; a"], ";"),
        (["a,b", "b", "b,c", "c", "a"], ","),
        (["yes", "no", "yes"], None),
        (["Oslo, Norway", "Rome, Italy"], None),
        (["a|b", "a|b", "a|b"], None),  # one class whose name has a bar in it
        ([], None),
    ],
)
def test_lists_of_labels_are_recognised(values, found):
    assert recognised(values) == found


def test_sets_are_numbered_as_they_come_and_labels_sorted():
    sets = LabelSets(Target(("y",), ";"))
    codes = sets.codes(Batch({"y": Strings.of(["b; a", "a;b;a", None, " ", "c"])}))
    assert codes.tolist() == [0, 0, 1, 1, 2]
    assert sets.labels == ["a", "b", "c"]
    assert sets.matrix().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert sets.matrix(["c", "x"]).tolist() == [[0, 0], [0, 0], [1, 0]]
    first = FirstRows(sets)
    assert first(codes[:2]).tolist() == [True, False]
    assert first(codes[2:]).tolist() == [False, False, True]


def test_flags_are_zeros_and_ones_in_any_spelling(write, argmax):
    path = write("flags.csv", "a,b,x\n1,no,1\n0.0,TRUE,2\n,1,3\n")
    result = argmax("check", path, "--target", "a,b", "--json")
    assert result.json["labels"] == {"a": 1, "b": 1}
    assert result.json["findings"][0]["code"] == "unlabelled"
    wrong = write("wrong.csv", "a,b,x\n1,0,1\n0,blue,2\n")
    result = argmax("check", wrong, "--target", "a,b")
    assert (result.code, "row 1 has 'blue'" in result.err) == (2, True), result.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--target", "bus,cat"], "no column 'cat' for --target. Did you mean 'car'?"),
        (["--target", "bus,car", "--labels", "|"], "--labels is for one column that lists labels"),
        (["--target", "bus,car", "--cluster", "x"], "--cluster is for one label a row"),
        (["--target", "bus,car", "--checkpoint", "x"], "--checkpoint is for one label a row"),
        (["--target", "bus,car", "--calibrate"], "--calibrate is for one label a row"),
        (["--target", "bus,car", "--loss", "ovr_log"], "--loss ovr_log is for one label a row"),
        (["--target", "bus,car", "--decoding", "best"], "decoding must be one of"),
        (["--target", "bus,car", "--pairs", "ring"], "pairs must be one of"),
        (["--target", "bus,car", "--memory", "1K"], "fitted in memory"),
        (["--target", "text", "--labels", ""], "--labels must be auto, none, or what stands between"),
        (["--target", "bus", "--pairs", "tree"], "--pairs is for several labels a row"),
        (["--target", "bus", "--decoding", "f1"], "--decoding is for several labels a row"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_by_name(options, says, argmax, place, tmp_path):
    out = ["-o", tmp_path / "m", "--report", "", "--C", "1"]
    result = argmax("train", place / "data_wide.csv", *options, *out)
    assert (result.code in (2, 4), says in result.err) == (True, True), result.err
    assert not (tmp_path / "m").exists()


# What is learned


def test_it_says_what_it_made_of_the_labels(told, place):
    assert "'tags' lists them with '|' between" in told.err
    found = told.json
    assert (found["target"], found["delimiter"]) == (["tags"], "|")
    assert sorted(found["labels"]) == list(LABELS)
    assert found["rows_learned"] + found["test"]["rows"] == 250
    assert found["solution"]["status"] == "converged"
    whole = found["test"]["scores"]["Subset accuracy"]
    assert whole["baseline"] < whole["low"] < whole["value"] < whole["high"]
    best = found["pairs"][0]
    assert ({best["label"], best["with"]}, best["weight"] > 1) == ({"bus", "car"}, True)


def test_columns_and_lists_give_the_same_model(argmax, place, model, tmp_path):
    path = tmp_path / "wide.argmax"
    result = argmax(
        "train", place / "data_wide.csv", "--target", "bus,car,s*,tree", "-o", path, "--C", "10",
        "--report", "",
    )  # fmt: skip
    assert result.code == 0, result.err
    one, other = library.load(path)[-1], library.load(model)[-1]
    assert one.classes_.tolist() == other.classes_.tolist() == list(LABELS)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_what_people_see(argmax, place, tmp_path):
    result = argmax(
        "train", place / "data.csv", "--target", "tags", "-o", tmp_path / "m", "--pairs", "none",
        "--test", place / "new.csv", "--report", tmp_path / "r.html", "--decoding", "f1",
    )  # fmt: skip
    assert result.code == 0, result.err
    for words in ("4 labels of tags", "Choosing C", "80 to judge by in", "Subset accuracy",
                  "Why it stopped", "argmax predict", "the set that it expected least"):  # fmt: skip
        assert words in result.out
    assert "go together" not in result.out  # none are joined
    fitted = library.load(tmp_path / "m")[-1]
    assert (fitted.pairs, fitted.decoding) == ("none", "f1")


def test_without_rows_to_judge_by_there_are_no_scores(argmax, place, tmp_path):
    out = ["-o", tmp_path / "m", "--report", tmp_path / "r.html", "--C", "1", "--test", "0"]
    result = argmax("train", place / "data.csv", "--target", "tags", *out, "--json")
    assert result.code == 0, result.err
    assert (result.json["test"], result.json["report"]) == (None, None)
    assert result.json["rows_learned"] == 250


def test_svmlight_has_one_label_a_row(argmax, write):
    result = argmax("check", write("a.svm", "1 1:2\n0 2:1\n"), "--labels", "|")
    assert (result.code, "one label a row" in result.err) == (2, True)


def test_other_delimiters_by_name(argmax, write):
    path = write("t.csv", "y,x\na b,1\nb,2\na c,3\nc,1\n")
    result = argmax("check", path, "--target", "y", "--labels", "space", "--json")
    assert sorted(result.json["labels"]) == ["a", "b", "c"]


def test_one_label_a_row_stays_that_if_told_so(argmax, place, tmp_path):
    out = ["-o", tmp_path / "m", "--report", "", "--C", "1", "--labels", "none"]
    result = argmax("train", place / "data.csv", "--target", "tags", *out, "--json")
    assert result.code == 0
    assert len(result.json["classes"]) > 4


def test_a_fit_that_is_cut_off_has_its_exit_code(argmax, place, tmp_path):
    out = ["-o", tmp_path / "m", "--report", "", "--C", "1000", "--time-limit", "0"]
    result = argmax("train", place / "data.csv", "--target", "tags", *out)
    assert (result.code, (tmp_path / "m").exists()) == (3, True)


# What is wrong with a file


def test_findings(argmax, write):
    lines = ["tags,text", *(f"a|{'b' if i % 2 else 'B'},word{i} more" for i in range(30))]
    path = write("odd.csv", "\n".join([*lines, ",nothing here", "a|rare,word1 more"]) + "\n")
    given = ("check", path, "--target", "tags", "--labels", "|")
    result = argmax(*given, "--json")
    found = {one["code"] for one in result.json["findings"]}
    assert {"alike-classes", "rare-classes", "no-label", "conflicts"} <= found
    assert result.json["sets"] == 4
    text = " ".join(argmax(*given).out.split())  # lines end where the window does
    assert "a different set of labels" in text
    assert "Labels of tags: 4" in text


def test_a_column_of_texts_is_no_list_of_labels(argmax, write, tmp_path):
    text = "\n".join(["tags,x", *(f"w{i}|v{i}|u{i},{i % 7}.5" for i in range(80))]) + "\n"
    out = ["-o", tmp_path / "m", "--report", ""]
    result = argmax("train", write("t.csv", text), "--target", "tags", "--labels", "|", *out)
    assert (result.code, "it looks like text" in result.err) == (2, True), result.err


def test_a_test_file_with_other_labels_and_the_same_rows(argmax, place, write):
    lines = (place / "data.csv").read_text().splitlines()
    other = write("test.csv", "\n".join([*lines[:40], "moon,a new word,0.5"]) + "\n")
    result = argmax("check", place / "data.csv", other, "--target", "tags", "--json")
    assert {"overlap", "unseen-classes"} <= {one["code"] for one in result.json["findings"]}
    assert result.code == 1


# Answers


def test_predictions_are_the_models(argmax, model, place):
    fitted = library.load(model)
    X, y, rows = rows_of(str(place / "new.csv"), ["tags"], "|", fitted)
    assert (len(y), rows.tolist()) == (80, list(range(80)))
    expected, p = fitted.predict(X), fitted.predict_proba(X)
    lines = argmax("predict", model, place / "new.csv", "--proba", "-q").out.splitlines()
    assert lines[0] == "prediction,bus,car,sky,tree"
    for line, answer, chances in zip(lines[1:], expected, p, strict=True):
        first, *numbers = line.split(",")
        names = [name for name, on in zip(LABELS, answer, strict=True) if on]
        assert first == "|".join(names)
        np.testing.assert_allclose([float(number) for number in numbers], chances, rtol=1e-4)
    told = [
        json.loads(line)
        for line in argmax(
            "predict", model, place / "new_wide.csv", "--json", "-q"
        ).out.splitlines()
    ]
    assert [one["prediction"] for one in told] == [
        [name for name, on in zip(LABELS, answer, strict=True) if on] for answer in expected
    ]
    assert told[0]["probabilities"].keys() == set(LABELS)


def test_the_likeliest_sets(argmax, model, place, tmp_path):
    path = tmp_path / "out.jsonl"
    argmax("predict", model, place / "new.csv", "--top", "20", "-o", path, "-q")
    first = json.loads(path.read_text().splitlines()[0])
    chances = [one["probability"] for one in first["top"]]
    assert len(chances) == 16  # all sets of four labels
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) == pytest.approx(1.0, abs=1e-4)
    lines = argmax("predict", model, place / "new.csv", "--top", "2", "-q").out.splitlines()
    assert lines[0] == "prediction,probability,prediction_2,probability_2"


@pytest.mark.parametrize("name", ["new.csv", "new_wide.csv"])
def test_evaluating_finds_the_labels_by_itself(argmax, model, place, name, tmp_path):
    result = argmax("evaluate", model, place / name, "--json", "--report", tmp_path / "r.html")
    assert result.code == 0, result.err
    fitted = library.load(model)
    X, y, _ = rows_of(str(place / "new.csv"), ["tags"], "|", fitted)
    scores = result.json["scores"]
    assert scores["Subset accuracy"]["value"] == (fitted.predict(X) == y).all(axis=1).mean()
    assert scores["Hamming loss"]["value"] == pytest.approx((fitted.predict(X) != y).mean())
    own = fitted[-1].log_likelihood(fitted[0].transform(X), y)
    assert scores["Log-likelihood"]["value"] == pytest.approx(own.mean())
    assert "Labels, the weakest first" in argmax("evaluate", model, place / name).out


def test_labels_that_the_model_does_not_know_are_missed(argmax, model, place, write):
    lines = (place / "new.csv").read_text().splitlines()
    odd = write("odd.csv", "\n".join([*lines, "moon|bus,a new stop,0.5"]) + "\n")
    result = argmax("evaluate", model, odd, "--target", "tags", "--json")
    assert result.json["unseen"] == {"moon": 1}
    assert {one["label"]: one["f1"]["value"] for one in result.json["labels"]}["moon"] == 0.0
    assert "counted as missed: 'moon' (1)" in argmax("evaluate", model, odd).out


def test_labels_that_are_nowhere_are_asked_for(argmax, model, write):
    result = argmax("evaluate", model, write("none.csv", "text,light,y\na b,1,q\nc d,2,r\n"))
    assert (result.code, "no column lists labels of this model" in result.err) == (2, True)


def test_contributions_add_up_to_the_odds(argmax, model, place):
    result = argmax("explain", model, place / "new.csv", "--row", "3", "--json")
    for one in result.json["labels"]:
        total = sum(term["contribution"] for term in one["contributions"]) + one["intercept"]
        assert total == pytest.approx(one["log_odds"])
        assert one["in_answer"] == (one["label"] in result.json["answer"])
    fitted = library.load(model)
    X, _, _ = rows_of(str(place / "new.csv"), ["tags"], "|", fitted)
    x, classifier = fitted[0].transform(X)[3:4], fitted[-1]
    answer = classifier.predict(x)[0]
    one = result.json["labels"][0]
    j = LABELS.index(one["label"])
    out = answer.copy()
    out[j] = 1 - out[j]
    change = classifier.log_likelihood(x, answer[None]) - classifier.log_likelihood(x, out[None])
    assert abs(one["log_odds"]) == pytest.approx(abs(float(change[0])))


def test_one_label_of_a_text(argmax, model):
    result = argmax("explain", model, "the old stop on a road", "--against", "car")
    assert "car: " in result.out
    assert "with bus" in result.out  # the label it goes with is a reason
    result = argmax("explain", model, "a road", "--against", "moon")
    assert (result.code, "--against must be a label" in result.err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("calibrate", "model", "new.csv"),
        ("bounds", "model", "new.csv"),
        ("shift", "model", "new.csv", "--validation", "new.csv"),
    ],
)
def test_commands_for_one_label_say_so(words, argmax, model, place):
    given = [model if word == "model" else place / word if "." in word else word for word in words]
    result = argmax(*given)
    assert (result.code, "answers with sets of labels" in result.err) == (2, True), result.err


def test_options_for_one_label_are_refused(argmax, model, place):
    result = argmax("predict", model, place / "new.csv", "--reject", "0.1")
    assert (result.code, "--reject is for one label a row" in result.err) == (2, True)


def test_info(argmax, model):
    found = argmax("info", model).out
    assert re.search(r"labels +4: bus, car, sky, tree", found)
    assert re.search(r"joined +3 pairs", found)


# The report


def test_the_report_gives_its_numbers_again(told, place, monkeypatch):
    html = (place / "report.html").read_text(encoding="utf-8")
    assert "Labels that go together" in html
    assert "https://" not in html
    monkeypatch.chdir(place)
    found = [block for block in blocks(html) if not block[0].startswith("argmax")]
    assert len(found) == 5  # setting up, scores, labels, pairs, training
    namespace = {}
    for code, said in found:
        assert printed(code, namespace) == said
