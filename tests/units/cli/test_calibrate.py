"""``argmax calibrate``, ``train --calibrate``, ``predict --cost`` and ``--reject``."""

import csv
import io

import numpy as np
import pytest

import argmax as library
from argmax import decisions
from argmax.calibration import Calibrated
from argmax.cli.held import rows_of
from argmax.data.samples import write_tickets


@pytest.fixture(scope="module")
def other(place):
    """Tickets that the model has not seen."""
    path = place / "other.csv"
    if not path.exists():
        write_tickets(path, 300, seed=3)
    return path


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_calibrated_model_is_written_and_told_about(argmax, model, other, tmp_path):
    out = tmp_path / "honest.argmax"
    result = argmax("calibrate", model, other, "-o", out, "--method", "vector", "--json")
    assert result.code == 0, result.err
    assert result.json["method"] == "vector"
    before, after = result.json["log_loss"]
    saved = result.json["saved"]
    assert saved["value"] == pytest.approx(before - after)
    assert saved["low"] <= saved["value"] <= saved["high"]
    fitted = library.load(out)
    assert isinstance(fitted[-1], Calibrated)
    X, *_ = rows_of(str(other), "team", fitted[0].kinds_)
    known = library.load(model)
    p = fitted[-1].calibrator_.predict_proba(known.decision_function(X))
    assert fitted.predict_proba(X) == pytest.approx(p)
    assert "vector" in argmax("info", out).out


def test_other_commands_take_a_calibrated_model(argmax, model, other, tmp_path):
    out = tmp_path / "honest.argmax"
    assert argmax("calibrate", model, other, "-o", out).code == 0
    fitted = library.load(out)
    X, _, _ = rows_of(str(other), "team", fitted[0].kinds_)
    found = rows(argmax("predict", out, other, "--proba").out)
    p = np.array([[float(row[name]) for name in fitted.classes_] for row in found])
    assert p == pytest.approx(fitted.predict_proba(X), abs=1e-5)
    assert argmax("explain", out, other, "--row", 0).code == 0
    page = tmp_path / "page.html"
    assert argmax("evaluate", out, other, "--report", page).code == 0
    again = tmp_path / "again.argmax"
    assert argmax("calibrate", out, other, "-o", again, "--method", "temperature").code == 0
    assert library.load(again)[-1].estimator_.coef_ == pytest.approx(library.load(model)[-1].coef_)


def test_training_calibrates_on_rows_left_out(argmax, place, tmp_path):
    out = tmp_path / "model.argmax"
    result = argmax(
        "train", place / "tickets.csv", "--target", "team", "--calibrate", "--C", "1", "-o", out,
        "--report", tmp_path / "report.html", "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    fitted = library.load(out)[-1]
    assert result.json["calibration"] == fitted.selection_.log_loss
    assert fitted.estimator_.C == 1.0


def test_actions_are_those_of_the_costs(argmax, model, place, write):
    names = library.load(model).classes_.tolist()
    cost = np.random.default_rng(0).integers(0, 20, (len(names), 2))
    lines = [",call,wait"] + [f"{n},{a},{b}" for n, (a, b) in zip(names, cost, strict=True)]
    path = write("costs.csv", "\n".join(lines))
    found = rows(argmax("predict", model, place / "new.csv", "--cost", path, "--proba").out)
    p = np.array([[float(row[name]) for name in names] for row in found])
    expected = decisions.decide(p / p.sum(axis=1, keepdims=True), cost, actions=["call", "wait"])
    assert [row["prediction"] for row in found] == expected.taken
    told = [float(row["expected_cost"]) for row in found]
    assert told == pytest.approx(expected.risk.tolist(), rel=1e-3)


def test_what_is_not_sure_is_rejected(argmax, model, place):
    found = rows(argmax("predict", model, place / "new.csv", "--reject", 0.3, "--proba").out)
    for row in found:
        sure = max(
            float(v) for name, v in row.items() if name not in ("prediction", "expected_cost")
        )
        assert (row["prediction"] == "reject") == (sure < 0.7)
    lines = argmax("predict", model, place / "new.csv", "--reject", 0.0, "--json").out.splitlines()
    assert '"prediction": "reject"' in lines[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "first line of actions"),
        ("x,a\nsales,1\nsales,2\n", "twice"),
        ("x,a\nsales,1\n", "no line for the class"),
        ("{all}nobody,1\n", "which is no class"),
        ("{first}", "where a cost should be"),
    ],
)
def test_bad_costs_are_refused(argmax, model, place, write, text, says):
    names = library.load(model).classes_.tolist()
    every = "x,a\n" + "".join(f"{name},1\n" for name in names)
    text = text.replace("{all}", every).replace("{first}", every.replace(",1\n", ",much\n"))
    result = argmax("predict", model, place / "new.csv", "--cost", write("costs.csv", text))
    assert result.code == 2
    assert says in result.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--method", "isotonic"], "in Python"),
        (["--method", "magic"], "--method must be one of"),
    ],
)
def test_methods_that_no_file_holds_are_refused(argmax, model, other, words, says, tmp_path):
    result = argmax("calibrate", model, other, "-o", tmp_path / "x.argmax", *words)
    assert result.code == 2
    assert says in result.err


def test_costs_and_top_do_not_go_together(argmax, model, place):
    result = argmax("predict", model, place / "new.csv", "--reject", 0.1, "--top", 2)
    assert result.code == 2
    assert "Use one" in result.err


def test_knowing_the_costs_saves_and_the_report_says_how_much(
    argmax, model, other, write, tmp_path
):
    names = library.load(model).classes_.tolist()
    cost = 1.0 - np.eye(len(names))
    cost[0] *= 20.0
    lines = [",".join(["truth", *names])]
    lines += [",".join([n, *map(str, row)]) for n, row in zip(names, cost.tolist(), strict=True)]
    path, page = write("costs.csv", "\n".join(lines)), tmp_path / "page.html"
    result = argmax("evaluate", model, other, "--cost", path, "--report", page, "--json")
    assert result.code == 0, result.err
    found = result.json["costs"]
    saved = found["most_probable"]["value"] - found["least_expected"]["value"]
    assert found["saved"]["value"] == pytest.approx(saved)
    assert "With the costs given" in page.read_text(encoding="utf-8")
    fewer = write("fewer.csv", "x,call\n" + "".join(f"{name},1\n" for name in names))
    assert "a column for every class" in argmax("evaluate", model, other, "--cost", fewer).err
