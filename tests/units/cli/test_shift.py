"""``argmax shift``: the page, the adapted model and its note, the picture, and tagged sequences."""

import csv

import pytest

import argmax as library
from argmax import shift
from argmax.data.corpus import write_sentences
from argmax.data.samples import write_tickets


@pytest.fixture(scope="module")
def moved(place):
    """Tickets of which most go to two teams."""
    path = place / "moved.csv"
    if not path.exists():
        write_tickets(place / "more.csv", 900, seed=9)
        with open(place / "more.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        kept = [r for i, r in enumerate(rows) if r["team"] in ("accounts", "sales") or i % 8 == 0]
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(kept)
    return path


@pytest.fixture(scope="module")
def known(place):
    path = place / "known.csv"
    if not path.exists():
        write_tickets(path, 500, seed=4)
    return path


def test_a_model_is_adapted_and_told_about(argmax, model, known, moved, tmp_path):
    out, picture, page = (tmp_path / n for n in ("adapted.argmax", "page.svg", "page.html"))
    result = argmax(
        "shift",
        model,
        moved,
        "--validation",
        known,
        "--adapt",
        out,
        "--picture",
        picture,
        "--report",
        page,
        "--json",
    )
    assert result.code == 1, result.err
    found = result.json
    assert found["kind"] == "label"
    assert found["classes"]["accounts"]["now"] > 2 * found["classes"]["accounts"]["before"]
    assert found["adapted_accuracy"]["value"] >= found["expected"]["value"]
    assert picture.read_bytes().startswith(b"<?xml")
    assert found["headline"] in page.read_text(encoding="utf-8")
    assert found["report"] == str(page)
    adapted = library.load(out)[-1]
    assert isinstance(adapted.calibrator_, shift.NewPriors)
    assert "moved.csv" in adapted.calibrator_.note
    assert "moved.csv" in argmax("info", out).out
    scores = [argmax("evaluate", m, moved, "--json").json["scores"] for m in (model, out)]
    assert scores[1]["Log-loss"]["value"] < scores[0]["Log-loss"]["value"]


def test_rows_that_have_not_moved(argmax, model, known, place, tmp_path):
    write_tickets(tmp_path / "same.csv", 300, seed=12)
    out = tmp_path / "adapted.argmax"
    result = argmax("shift", model, tmp_path / "same.csv", "--validation", known, "--adapt", out)
    assert result.code == 0
    assert "Nothing has moved" in result.out
    assert "cannot be known" in result.out
    assert not out.exists()
    assert "not advised" in result.err


def test_what_training_held_out_is_found_again(argmax, model, place, known):
    result = argmax(
        "shift", model, known, "--validation", place / "tickets.csv", "--test", 0.2, "--json"
    )
    assert result.code in (0, 1)
    assert len(result.json["label_first"]) == 50


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--picture", "x.bmp"], "must end in"),
        (["--adapt", "{known}"], "other files"),
    ],
)
def test_wrong_words_are_refused(argmax, model, known, words, says, tmp_path):
    typed = [word.replace("{known}", str(known)) for word in words]
    result = argmax("shift", model, known, "--validation", known, *typed)
    assert result.code == 2
    assert says in result.err


def test_a_tagger_is_compared_and_not_adapted(argmax, tmp_path):
    for name, seed in (("a", 0), ("b", 1), ("c", 2)):
        write_sentences(tmp_path / f"{name}.conll", n=80, seed=seed)
    tagger = tmp_path / "tagger.argmax"
    words = ["train", tmp_path / "a.conll", "-o", tagger, "--report", "", "--C", "1"]
    assert argmax(*words).code in (0, 3)
    shift_words = ["shift", tagger, tmp_path / "b.conll", "--validation", tmp_path / "c.conll"]
    result = argmax(*shift_words, "--json")
    assert result.code in (0, 1), result.err
    assert result.json["kind"] in ("none", "label", "other")
    refused = argmax(*shift_words, "--adapt", tmp_path / "x.argmax")
    assert refused.code == 2
    assert "depend on each other" in refused.err
    page = tmp_path / "page.html"
    assert argmax(*shift_words, "--report", page).code in (0, 1)
    assert "sequences with labels" in page.read_text(encoding="utf-8")
