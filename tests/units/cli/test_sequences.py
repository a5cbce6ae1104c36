"""Commands on files of tagged sequences."""

import io
import json
import os

import numpy as np
import pytest

import argmax as library
from argmax.calibration import CalibratedTagger
from argmax.cli.sequences.held import sequences_of
from argmax.data.corpus import write_sentences
from argmax.persist import Checkpoint, load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with tagged.conll (400 sentences) and new.conll (60)."""
    place = tmp_path_factory.mktemp("sentences")
    write_sentences(place / "tagged.conll", 400)
    write_sentences(place / "new.conll", 60, seed=1)
    return place


@pytest.fixture(scope="module")
def tagger_file(argmax, folder):
    """A model of them, with its report beside it."""
    told = argmax(
        "train", folder / "tagged.conll", "-o", folder / "tagger.argmax",
        "--report", folder / "tagging.html", "--C", "1", "--json", "-q",
    )  # fmt: skip
    assert told.code == 0, told.err
    return folder / "tagger.argmax"


# check


def test_check_counts_sentences_tokens_labels_and_spans(argmax, folder):
    told = argmax("check", folder / "tagged.conll", folder / "new.conll", "--json", "-q").json
    assert (told["format"], told["target"], told["scheme"]) == ("columns", "label", "BIO")
    assert told["sequences"] == 400
    assert sum(told["labels"].values()) == told["tokens"]
    assert told["illegal"] == 0
    assert set(told["spans"]) == {"PER", "LOC", "ORG"}
    assert {"ambiguous", "unseen-words"} <= {one["code"] for one in told["findings"]}


def test_check_names_the_lines_of_illegal_tags(argmax, write):
    path = write("bad.conll", "in O\nRome I-LOC\n\nso O\nAda B-PER\nsaid O\n" * 10)
    result = argmax("check", path, "-q")
    assert result.code == 0
    assert "that BIO does not allow" in result.out
    assert "Lines 2, 8, 14" in result.out


def test_check_finds_repeated_and_contradictory_sentences(argmax, write):
    one, other = "so O\nRome B-LOC\n\n", "so O\nRome O\n\n"
    told = argmax("check", write("twice.conll", one * 3 + other), "--json", "-q").json
    found = {finding["code"]: finding for finding in told["findings"]}
    assert (found["duplicates"]["count"], found["duplicates"]["rows"]) == (3, [4, 7, 10])
    assert (found["conflicts"]["count"], found["conflicts"]["rows"]) == (1, [10])


def test_check_says_where_the_first_malformed_line_is(argmax, write):
    path = write("ragged.conll", "a O\nb B-X\n\nc\n\nd O\ne B-X\n")
    result = argmax("check", path, "-q", "--read", "format=columns")
    assert result.code == 1
    assert "1 sequences with a line that has more or fewer columns" in result.out
    assert "line 4" in result.out


def test_check_of_one_label_and_of_words_for_labels(argmax, write):
    result = argmax("check", write("one.conll", "a O\n\nb O\n\nc O\n"), "-q")
    assert (result.code, "at least two labels" in result.out) == (1, True)
    lines = "".join(f"a w{i}\n\n" for i in range(300))
    told = argmax("check", write("words.conll", lines), "--json", "-q").json
    assert "not-classes" in {finding["code"] for finding in told["findings"]}


def test_conllu_takes_upos_unless_told(argmax, write):
    row = "{}\t{}\t_\t{}\t{}\t_\t0\troot\t_\t_\n"
    text = row.format(1, "so", "ADV", "RB") + row.format(2, "be", "AUX", "VB") + "\n"
    path = write("some.conllu", text * 3)
    told = argmax("check", path, "--json", "-q").json
    assert (told["format"], told["target"], told["labels"]) == (
        "conllu",
        "upos",
        {"ADV": 3, "AUX": 3},
    )
    assert argmax("check", path, "--target", "xpos", "--json", "-q").json["labels"] == {
        "RB": 3,
        "VB": 3,
    }
    wrong = argmax("check", path, "--target", "xpo", "-q")
    assert (wrong.code, "Did you mean 'xpos'?" in wrong.err) == (2, True)


# train


def test_train_chooses_c_by_spans_and_says_what_to_do_next(argmax, folder, tmp_path):
    result = argmax(
        "train", folder / "tagged.conll", "-o", tmp_path / "m", "--report", tmp_path / "r.html"
    )
    assert result.code == 0, result.err
    for words in (
        "320 sequences to learn from, 80 to judge by.",
        "kept to the scheme BIO",
        "F1 of spans",
        "chosen",
        "Types of spans, the weakest first",
        "Why it stopped",
        f"argmax predict {tmp_path / 'm'} NEW_FILE",
    ):
        assert words in result.out
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_numbers_are_those_of_the_file_and_of_the_sequences_held_out(argmax, folder, tmp_path):
    model = tmp_path / "m"
    told = argmax(
        "train", folder / "tagged.conll", "-o", model, "--report", "", "--C", "1", "--json", "-q"
    ).json
    tagger = library.load(model)
    X, y = sequences_of(str(folder / "tagged.conll"), "label", tagger, test=0.2)
    assert len(y) == told["test"]["sequences"] == 80
    assert tagger.score(X, [v for labels in y for v in labels]) == pytest.approx(
        told["test"]["scores"]["token_accuracy"]["value"]
    )
    assert told["report"] is None
    assert told["trials"] == []
    assert (told["C"], told["constraints"]) == (1.0, "BIO")


def test_a_test_file_of_its_own(argmax, folder, tmp_path):
    told = argmax(
        "train", folder / "tagged.conll", "--test", folder / "new.conll", "-o", tmp_path / "m",
        "--report", "", "--C", "1", "--json", "-q",
    ).json  # fmt: skip
    assert (told["sequences_learned"], told["test"]["sequences"]) == (400, 60)


def test_parts_of_speech_with_the_perceptron(argmax, folder, tmp_path):
    told = argmax(
        "train", folder / "tagged.conll", "--target", "pos", "--loss", "perceptron",
        "--read", "names=word,pos,label", "--templates", "", "-o", tmp_path / "m", "--report", "", "--json",
        "-q",
    )  # fmt: skip
    assert told.code == 2  # the templates "" is no file
    templates = tmp_path / "templates"
    templates.write_text("# words\nword[0]\nsuffix(lower(word[0]),3)\nword[-1]\n", encoding="utf-8")
    told = argmax(
        "train", folder / "tagged.conll", "--target", "pos", "--loss", "perceptron",
        "--templates", templates, "-o", tmp_path / "m", "--report", tmp_path / "r.html", "--json", "-q",
    ).json  # fmt: skip
    assert told["columns"] == ["word"]
    assert told["templates"] == ["word[0]", "suffix(lower(word[0]),3)", "word[-1]"]
    assert told["trials"] == []
    assert told["test"]["spans"] is None
    assert told["test"]["scores"]["token_accuracy"]["value"] > 0.9 > told["baseline"]
    assert "does not learn probabilities" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_templates_of_crfpp(argmax, folder, tmp_path):
    templates = tmp_path / "template"
    templates.write_text("U00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\n\nB\n", encoding="utf-8")
    told = argmax(
        "train", folder / "tagged.conll", "--templates", templates, "-o", tmp_path / "m",
        "--report", "", "--C", "1", "--features", "min_count=2", "--json", "-q",
    ).json  # fmt: skip
    assert told["templates"] == ["word[0]", "pos[-1]|pos[0]"]
    templates.write_text("U00:%x[0,2]\n", encoding="utf-8")
    result = argmax(
        "train", folder / "tagged.conll", "--templates", templates, "-o", tmp_path / "n"
    )
    assert (result.code, "what the model is to tell" in result.err) == (2, True)


def test_illegal_labels_are_learned_as_they_are(argmax, write, tmp_path):
    path = write("bad.conll", "in O\nRome I-LOC\n\nso O\nAda B-PER\nsaid O\n\n" * 10)
    result = argmax("train", path, "-o", tmp_path / "m", "--report", "", "--C", "1")
    assert result.code == 0
    assert "not kept to the scheme" in result.err
    forced = argmax(
        "train", path, "-o", tmp_path / "n", "--report", "", "--C", "1", "--constraints", "BIO"
    )
    assert (forced.code, "do not allow 'I-LOC'" in forced.err) == (2, True)


def test_a_time_limit_is_exit_code_3(argmax, folder, tmp_path):
    result = argmax(
        "train", folder / "tagged.conll", "-o", tmp_path / "m", "--report", "", "--C", "1",
        "--time-limit", "0", "-q",
    )  # fmt: skip
    assert result.code == 3
    assert (tmp_path / "m").exists()


def test_nothing_is_written_over(argmax, folder, tagger_file):
    result = argmax("train", folder / "tagged.conll", "-o", tagger_file, "--report", "")
    assert (result.code, "--force" in result.err) == (2, True)
    same = argmax("train", folder / "tagged.conll", "-o", folder / "tagged.conll", "--force")
    assert (same.code, "different files" in same.err) == (2, True)


def test_few_sequences_are_no_reason_to_fail(argmax, write, tmp_path):
    path = write("two.conll", "a X\nb Y\n\nc X\n")
    told = argmax("train", path, "-o", tmp_path / "m", "--report", tmp_path / "r", "--json", "-q")
    assert told.code == 0, told.err
    assert (told.json["C"], told.json["trials"], told.json["test"]) == (1.0, [], None)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("a X\nb Y\n\nc X\nd\n", "line 5: 1 column where the first token has 2"),
        ("a X\nb X\n\nc X\nd X\n", "at least two labels"),
        ("a X\nb Y\n\n", "--read format=columns"),
        ("a\tX\nb\t\n\nc\tX\n", "line 2, column 'label': there is nothing between two tabs"),
    ],
    ids=["empty", "ragged", "one label", "one sequence", "nothing"],
)
def test_what_cannot_be_learned_from_is_an_error_that_says_where(
    argmax, write, tmp_path, text, says
):
    result = argmax(
        "train", write("some.conll", text), "-o", tmp_path / "m", "--report", "", "--C", "1"
    )
    assert (result.code, says in result.err) == (2, True), result.err
    assert not (tmp_path / "m").exists()


# A run that dies


class Crash(BaseException):
    """As if the process had been killed."""


def test_a_run_that_dies_goes_on_to_the_same_model(argmax, folder, tmp_path, monkeypatch):
    def run(name, *options):
        words = ("-o", tmp_path / name, "--report", "", "-q", *options)
        return argmax("train", folder / "tagged.conll", *words)

    def dying(after):
        left = iter(range(after))

        def kept(self, progress):
            if next(left, None) is None:
                raise Crash
            self.every = 0.0
            call(self, progress)

        monkeypatch.setattr(Checkpoint, "__call__", kept)

    call, kept = Checkpoint.__call__, ("--checkpoint", tmp_path / "run", "--resume")
    assert run("whole").code == 0
    for passes in (3, 30):
        dying(passes)
        with pytest.raises(Crash):
            run("again", *kept)
        assert (tmp_path / "run").exists()
    other = run("again", *kept, "--seed", "5")
    assert (other.code, "seed was 0 and is 5" in other.err) == (2, True)
    dying(10**6)
    assert run("again", *kept).code == 0
    assert same(tmp_path / "whole", tmp_path / "again")
    assert sorted(os.listdir(tmp_path)) == ["again", "whole"]
    ended = run("again", *kept)
    assert (ended.code, "the run has ended" in ended.err) == (2, True)


def same(one, other):
    """Whether two model files hold the same weights."""
    return np.array_equal(load(one)._w, load(other)._w)


# Tables or sequences


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kinds", "a=text"], "--kinds is for tables"),
        (["--resume"], "--resume needs --checkpoint"),
        (["--memory", "1G"], "--memory is for tables"),
        (["--read", "delimiter=,"], "--read must be"),
        (["--features", "ngrams=2"], "--features must be"),
        (["--loss", "hing"], "hing"),
        (["--constraints", "BIOO"], "BIOO"),
    ],
)
def test_options_of_tables_are_refused(argmax, folder, tmp_path, words, says):
    result = argmax("train", folder / "tagged.conll", "-o", tmp_path / "m", "--C", "1", *words)
    assert (result.code, says in result.err) == (2, True), result.err


def test_options_of_sequences_are_refused_for_tables(argmax, place, tmp_path):
    result = argmax(
        "train", place / "tickets.csv", "--target", "team", "--templates", "x", "-o", tmp_path / "m"
    )
    assert (result.code, "--templates is for sequences" in result.err) == (2, True)


def test_a_tagger_and_a_table_do_not_go_together(argmax, tagger_file, place):
    result = argmax("predict", tagger_file, place / "tickets.csv")
    assert result.code == 2


def test_a_pipe_is_recognised(argmax, folder):
    text = (folder / "tagged.conll").read_text(encoding="utf-8")
    assert argmax("check", "-", "--json", "-q", given=text).json["sequences"] == 400


# predict


def test_lines_come_back_with_a_label_behind_them(argmax, tagger_file, folder):
    result = argmax("predict", tagger_file, folder / "new.conll", "-q")
    given = (folder / "new.conll").read_text(encoding="utf-8").splitlines()
    found = result.out.splitlines()
    assert len(found) == len(given)
    for line, answer in zip(given, found, strict=True):
        assert answer == line if not line else answer.rsplit(" ", 1)[0] == line
    tagger = library.load(tagger_file)
    X, _ = sequences_of(str(folder / "new.conll"), "label", tagger)
    flat = [label for labels in tagger.predict(X) for label in labels]
    assert [line.rsplit(" ", 1)[1] for line in found if line] == flat


def test_the_label_may_be_missing_and_comments_stay(argmax, tagger_file):
    text = "# number one\nAda PROPN\nsaid VERB\n\n\n# number two\nyes INTJ\n"
    result = argmax("predict", tagger_file, "-", "--proba", "-q", given=text)
    lines = result.out.splitlines()
    assert [line for line in lines if line.startswith("#") or not line] == [
        "# number one",
        "",
        "",
        "# number two",
    ]
    word, pos, label, p = lines[1].split(" ")
    assert (word, pos, label) == ("Ada", "PROPN", "B-PER")
    assert 0 < float(p) <= 1


def test_a_column_to_write_into(argmax, tagger_file):
    text = "Ada\tPROPN\tO\nsaid\tVERB\tO\n\nyes\tINTJ\tO\n"
    result = argmax("predict", tagger_file, "-", "--target", "label", "-q", given=text)
    assert result.out.splitlines()[0] == "Ada\tPROPN\tB-PER"


def test_json_lines_one_a_sentence(argmax, tagger_file, folder, tmp_path):
    result = argmax(
        "predict", tagger_file, folder / "new.conll", "--json", "--proba", "--top", "2", "-q"
    )
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert len(rows) == 60
    for row in rows:
        assert len(row["tokens"]) == len(row["labels"]) == len(row["probabilities"])
        best, second = row["top"]
        assert best["labels"] == row["labels"]
        assert best["probability"] >= second["probability"]
    argmax("predict", tagger_file, folder / "new.conll", "-o", tmp_path / "out.jsonl", "-q")
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 60
    assert argmax("predict", tagger_file, folder / "new.conll", "--top", "2").code == 2


def test_columns_that_do_not_fit_are_named(argmax, tagger_file, write):
    result = argmax("predict", tagger_file, write("words.conll", "a\nb\n\nc\n"))
    assert (result.code, "reads the column 'pos'" in result.err) == (2, True), result.err
    many = write("many.conll", "a b c d e\nf g h i j\n\nk l m n o\n")
    assert argmax("predict", tagger_file, many).code == 2
    named = argmax("predict", tagger_file, many, "--read", "names=a,word,pos,d,e", "-q")
    assert (named.code, len(named.out.splitlines()[0].split())) == (0, 6)


# evaluate


def test_evaluate_lists_labels_that_training_did_not_have(argmax, tagger_file, folder, write):
    text = (folder / "new.conll").read_text(encoding="utf-8")
    path = write("unseen.conll", text.replace("B-LOC", "B-GPE", 5))
    result = argmax("evaluate", tagger_file, path, "-q")
    assert "counted as wrong: 'B-GPE' (5)" in result.out
    told = argmax("evaluate", tagger_file, path, "--json", "-q").json
    assert told["unseen"] == {"B-GPE": 5}
    assert told["target"] == "label"


def test_evaluate_writes_a_report(argmax, tagger_file, folder, tmp_path):
    result = argmax("evaluate", tagger_file, folder / "new.conll", "--report", tmp_path / "r.html")
    assert result.code == 0
    assert "Most frequent mistakes" in result.out
    assert "Tagging report" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_evaluate_needs_labels(argmax, tagger_file, write):
    result = argmax("evaluate", tagger_file, write("new.conll", "a DET\nb NOUN\n\nc X\n"))
    assert (result.code, "--target is missing" in result.err) == (2, True)


# explain


def test_explain_a_sentence(argmax, tagger_file, folder):
    told = argmax("explain", tagger_file, folder / "new.conll", "--row", "3", "--json").json
    tagger = library.load(tagger_file)
    X, _ = sequences_of(str(folder / "new.conll"), "label", tagger)
    assert [token["label"] for token in told["tokens"]] == tagger.predict(X)[3]
    assert 0 < told["probability"] <= 1
    shown = argmax("explain", tagger_file, folder / "new.conll", "--row", "3")
    assert "Why each token got its label" in shown.out
    wrong = argmax("explain", tagger_file, folder / "new.conll", "--row", "99")
    assert (wrong.code, "from 0 to 59" in wrong.err) == (2, True)
    assert argmax("explain", tagger_file, "Ada said so").code == 2  # it reads pos as well


def test_a_runner_up_is_one_that_could_stand_there(argmax, tagger_file, folder):
    for row in range(10):
        told = argmax("explain", tagger_file, folder / "new.conll", "--row", row, "--json").json
        assert not told["tokens"][0]["runner_up"].startswith("I-")
        assert all(token["margin"] is None or token["margin"] >= 0 for token in told["tokens"])


def test_info_knows_a_tagger(argmax, tagger_file):
    result = argmax("info", tagger_file)
    assert "SequenceTagger" in result.out
    assert "word[0]" in result.out


def test_standard_input_is_answered_sentence_by_sentence(tagger_file, monkeypatch):
    """What has come is answered before more is asked for."""
    from argmax.cli.sequences import predict
    from argmax.cli.sequences.reading import opened_for

    asked = []

    class Slow(io.RawIOBase):
        pieces = (b"Ada PROPN\n\n", b"said VERB\n", b"so ADV\n\n", b"")

        def readable(self):
            return True

        def read1(self, size=-1):
            asked.append(len(asked))
            return self.pieces[min(len(asked) - 1, 3)]

    class Stdin:
        buffer = Slow()

    monkeypatch.setattr("sys.stdin", Stdin)
    tagger = library.load(tagger_file)
    source, used = opened_for(tagger, "-", once=True)
    answers = iter(predict._Answers(tagger, source, used, False, None, None, False))
    assert next(answers) == b"Ada PROPN B-PER\n\n"
    assert len(asked) <= 2
    assert next(answers).startswith(b"said VERB O\nso ADV")


# calibrate


@pytest.mark.parametrize("loss", ["log", "perceptron"])
def test_training_can_calibrate(argmax, folder, tmp_path, loss):
    out, page = tmp_path / "honest.argmax", tmp_path / "page.html"
    told = argmax(
        "train", folder / "tagged.conll", "--calibrate", "--loss", loss, "--C", "1",
        "-o", out, "--report", page, "--json", "-q",
    )  # fmt: skip
    assert told.code == 0, told.err
    assert set(told.json["calibration"]) >= {"identity", "temperature"}
    fitted = library.load(out)
    assert isinstance(fitted, CalibratedTagger)
    (line, *_) = argmax("predict", out, folder / "new.conll", "--json", "--proba", "-q").out.split(
        "\n"
    )
    assert all(0 < p <= 1 for p in json.loads(line)["probabilities"])
    assert argmax("explain", out, folder / "new.conll", "--row", "0", "-q").code == 0
    assert "calibrated by" in argmax("info", out).out
    assert "does not learn probabilities" not in page.read_text("utf-8")


def test_a_tagger_is_calibrated_on_other_sequences(argmax, tagger_file, folder, tmp_path):
    out = tmp_path / "honest.argmax"
    result = argmax("calibrate", tagger_file, folder / "new.conll", "-o", out, "--json", "-q")
    assert result.code == 0, result.err
    before, after = result.json["log_loss"]
    assert result.json["saved"]["value"] == pytest.approx(before - after)
    known, fitted = library.load(tagger_file), library.load(out)
    X, y = sequences_of(str(folder / "new.conll"), "label", known)
    assert result.json["rows"] == sum(map(len, y))
    assert fitted.predict(X) == known.predict(X)
    told = argmax("calibrate", out, folder / "new.conll", "-o", tmp_path / "again", "-q")
    assert told.code == 0
    assert "log-loss" in told.out


def test_a_perceptron_has_no_probabilities_to_tell(argmax, folder, tmp_path):
    out, page = tmp_path / "plain.argmax", tmp_path / "page.html"
    words = ("train", folder / "tagged.conll", "--loss", "perceptron", "-o", out, "--report", page)
    assert argmax(*words, "-q").code == 0
    assert "does not learn probabilities" in page.read_text("utf-8")
    told = argmax("predict", out, folder / "new.conll", "--proba", "-q")
    assert told.code == 2
    assert "CalibratedTagger" in told.err
    best = argmax("predict", out, folder / "new.conll", "--top", "2", "--json", "-q").out
    assert json.loads(best.split("\n")[0])["top"][0]["probability"] is None
    told = argmax("explain", out, folder / "new.conll", "--row", "0", "--json", "-q").json
    assert told["probability"] is None
