"""``argmax train``: what it writes, what it says, and that neither depends on where the rows are."""

import os

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

import argmax as library
from argmax.cli import journal
from argmax.cli.held import rows_of
from argmax.data.samples import tickets


def weights(path):
    classifier = library.load(path)[-1]
    return classifier.coef_, classifier.intercept_


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


@pytest.fixture
def train(argmax, place, tmp_path):
    """train(*options): train on the tickets into a folder of its own."""

    def call(*options, name="other.argmax"):
        return argmax(
            "train", place / "tickets.csv", "--target", "team", "-o", tmp_path / name,
            "--report", "", "-q", *options,
        )  # fmt: skip

    return call


def test_it_writes_a_model_and_a_report_and_says_what_they_are_worth(trained, place):
    told = trained.json
    assert (place / "model.argmax").exists()
    assert (place / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert told["solution"]["status"] == "converged"
    assert told["rows_learned"] + told["test"]["rows"] == 400
    accuracy = told["test"]["scores"]["Accuracy"]
    assert accuracy["low"] < accuracy["value"] < accuracy["high"]
    assert accuracy["low"] > accuracy["baseline"]
    losses = {trial["C"]: trial["log_loss"] for trial in told["trials"]}
    assert told["C"] == min(losses, key=losses.get)


def test_a_loss_by_name(train, tmp_path):
    assert train("--loss", "ovr_log", "--C", "1").code == 0
    assert library.load(tmp_path / "other.argmax")[-1].loss == "ovr_log"
    for given, says in (
        (("--loss", "hing", "--C", "1"), "loss must be one of"),
        (("--loss", "perceptron", "--C", "2"), "would ignore C=2.0"),
    ):
        result = train(*given, name="none.argmax")
        assert (result.code, says in result.err) == (2, True), result.err


@pytest.mark.parametrize("loss", ["hinge", "perceptron", "pa1", "squared"])
def test_a_loss_without_probabilities_gets_some(argmax, train, place, tmp_path, loss):
    result = train("--loss", loss, *(["--C", "0.1"] if loss != "perceptron" else []))
    assert result.code == 0, result.err
    assert f"Scores of --loss {loss} are no probabilities until then" in result.out
    path = tmp_path / "other.argmax"
    model = library.load(path)
    assert model[-1].estimator_.loss == loss
    told = argmax("evaluate", path, place / "tickets.csv", "--target", "team", "--json").json
    assert told["scores"]["Accuracy"]["low"] > told["scores"]["Accuracy"]["baseline"]
    assert told["scores"]["Log-loss"]["value"] < told["scores"]["Log-loss"]["baseline"]
    rows = argmax("predict", path, place / "tickets.csv", "--top", "1").out.splitlines()
    assert rows[0] == "prediction,probability"


def test_a_margin_without_calibration_is_told_what_to_do(argmax, model, place, tmp_path):
    table = library.load(model)[0]
    rows, labels, _ = rows_of(str(place / "tickets.csv"), "team", table.kinds_)
    machine = library.MulticlassSVM(C=0.1).fit(table.transform(rows), labels)
    path = tmp_path / "margin.argmax"
    library.save(Pipeline([("table", table), ("classifier", machine)]), path)
    result = argmax("predict", path, place / "tickets.csv")
    assert result.code == 2
    assert "Calibrate it with `argmax calibrate" in result.err
    honest = tmp_path / "honest.argmax"
    result = argmax("calibrate", path, place / "tickets.csv", "--target", "team", "-o", honest)
    assert result.code == 0, result.err
    assert argmax("predict", honest, place / "tickets.csv").code == 0


def test_what_people_see(argmax, place, tmp_path):
    path = tmp_path / "model.argmax"
    result = argmax(
        "train", place / "tickets.csv", "--target", "team", "-o", path, "--C", "1",
        "--report", tmp_path / "r.html",
    )  # fmt: skip
    assert result.code == 0
    for words in ("Scores on", "Why it stopped", "tol = 0.0001 met", f"argmax predict {path}"):
        assert words in result.out
    assert "Choosing C" not in result.out
    assert "Fitted" in result.err


def test_the_lines_in_the_report_give_its_numbers_again(trained, model, place):
    from argmax.cli.account import setup
    from argmax.cli.held import Held

    told = trained.json["test"]
    code = setup(str(model), str(place / "tickets.csv"), "team", 0.2, 0, [], Held())
    names = {}
    exec(code, names)
    answers = names["model"].predict(names["X"])
    assert len(names["rows"]) == told["rows"]
    accuracy = told["scores"]["Accuracy"]["value"]
    assert np.mean(answers == names["y"]) == pytest.approx(accuracy, abs=1e-12)


def test_rows_in_files_give_the_same_bits(train, trained, model, tmp_path):
    result = train("--memory", "100K", "--json")
    assert result.code == 0
    assert (trained.json["rows_in_memory"], result.json["rows_in_memory"]) == (True, False)
    assert same(model, tmp_path / "other.argmax")
    assert os.listdir(tmp_path) == ["other.argmax"]  # the rows are gone


def test_a_cluster_gives_the_same_bits(train, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "dashboard_address": ":0", "threads_per_worker": 2}
    with distributed.LocalCluster(n_workers=1, **options) as cluster:
        result = train("--C", "1", "--cluster", cluster.scheduler_address)
    assert result.code == 0, result.err
    assert train("--C", "1", name="here.argmax").code == 0
    assert same(tmp_path / "here.argmax", tmp_path / "other.argmax")


def test_another_seed_is_another_split(train, trained):
    other = train("--seed", 7, "--C", "10", "--json")
    assert other.json["test"]["scores"] != trained.json["test"]["scores"]


def test_a_test_file(argmax, place, tmp_path):
    result = argmax(
        "train", place / "tickets.csv", "--target", "team", "--test", place / "new.csv", "-q", "--json",
        "-o", tmp_path / "m.argmax", "--report", tmp_path / "r.html", "--C", "1",
    )  # fmt: skip
    assert (result.json["rows_learned"], result.json["test"]["rows"]) == (400, 60)


def test_no_rows_held_out(train):
    result = train("--test", "0", "--C", "1", "--json")
    assert (result.code, result.json["test"], result.json["rows_learned"]) == (0, None, 400)


def test_a_time_limit_is_exit_code_3_and_a_usable_model(train, tmp_path):
    result = train("--time-limit", "0", "--C", "10")
    assert result.code == 3
    assert "not met" in result.err
    assert library.load(tmp_path / "other.argmax")[-1].solution_.status == "time_limit"


def test_kinds_and_features(train, tmp_path):
    options = ("--kinds", "opened=category,channel=ignore", "--features", "ngrams=1-2", "--json")
    result = train(*options, "--C", "1")
    assert result.json["kinds"]["opened"] == "category"
    assert "channel" not in result.json["kinds"]
    table = library.load(tmp_path / "other.argmax")[0]
    assert table.ngrams == (1, 2)


def test_svmlight_needs_no_target(argmax, write, tmp_path):
    rng = np.random.default_rng(0)
    rows = [(i % 3, rng.choice(20, 4, replace=False)) for i in range(90)]
    lines = [f"{y} " + " ".join(f"{j}:{1 + (j % 3 == y)}" for j in sorted(x)) for y, x in rows]
    path = write("data.svm", "\n".join(lines) + "\n")
    result = argmax("train", path, "-o", tmp_path / "m", "--report", tmp_path / "r", "-q", "--json")
    assert result.code == 0, result.err
    assert result.json["classes"].keys() == {"0", "1", "2"}
    answers = argmax("predict", tmp_path / "m", path, "-q").out.split()
    assert len(answers) == 91


def test_labels_are_strings_to_the_letter(argmax, write, tmp_path):
    labels = ["1", "1.0", 'quo"ted, \N{SNOWMAN}']
    text = "x,z,label\n" + "".join(
        f"{i % 3 + i % 7 / 10},{i % 5},{quoted(labels[i % 3])}\n" for i in range(60)
    )
    result = argmax(
        "train", write("data.csv", text), "--target", "label", "-o", tmp_path / "m", "--report", "",
        "-q", "--json",
    )  # fmt: skip
    assert result.json["classes"].keys() == set(labels)


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


# Wrong input


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--C", "large"), "--C must be auto or a positive number; got 'large'."),
        (("--test", "1.5"), "--test must be a file, 0, or a share"),
        (("--test", "gone.csv"), "there is no file 'gone.csv'"),
        (("--memory", "much"), "--memory must be a size such as 500M"),
        (("--features", "size=3"), "--features must be name=value"),
        (("--features", "ngrams=3-1"), "ngrams must not fall"),
        (("--kinds", "text"), "--kinds must be column=kind"),
        (("--kinds", "texts=text"), "Did you mean 'text'?"),
        (("--read", "speed=fast"), "--read must be name=value"),
        (("--read", "columns=3"), "--read columns="),
        (("--resume",), "--resume needs --checkpoint"),
        (("--target", "tem"), "Did you mean 'team'?"),
        (("--cluster", "nowhere"), "--cluster"),
    ],
)
def test_an_option_that_cannot_be_is_one_sentence(train, options, sentence, tmp_path):
    if options[0] == "--cluster":
        pytest.importorskip("distributed")
    result = train(*options)
    assert result.code in (2, 4)
    assert sentence in result.err
    assert result.err.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_the_target_must_be_named(argmax, place):
    result = argmax("train", place / "tickets.csv")
    assert result.code == 2
    assert "--target is missing" in result.err
    assert "'waiting_minutes'" in result.err


def test_nothing_is_overwritten_without_force(argmax, place, tmp_path):
    words = ["train", place / "tickets.csv", "--target", "team", "-q", "--C", "1"]
    out = [tmp_path / "m", tmp_path / "r"]
    (tmp_path / "r").write_text("precious")
    result = argmax(*words, "-o", out[0], "--report", out[1])
    assert (result.code, os.listdir(tmp_path)) == (2, ["r"])
    assert "--force" in result.err
    assert argmax(*words, "-o", out[0], "--report", out[1], "--force").code == 0
    assert argmax(*words, "-o", place / "tickets.csv", "--force").code == 2  # its own data


def test_no_column_to_learn_from(argmax, write):
    path = write("data.csv", "id,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(50)))
    result = argmax("train", path, "--target", "label")
    assert result.code == 2
    assert "no column to learn from" in result.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("x,y\n1,a\n2,a\n", "at least two classes"), ("x,y\n", "no row below it"), ("", "empty")],
)
def test_a_file_that_cannot_be_learned_from(argmax, write, text, sentence):
    result = argmax("train", write("data.csv", text), "--target", "y")
    assert result.code == 2
    assert sentence in result.err


# Checkpoints


class Crash(BaseException):
    """As if the process had been killed."""


@pytest.fixture
def crashing(monkeypatch):
    """crashing(n): every state of a fit is kept, and the run dies at the n-th file it writes."""
    from argmax.persist import container

    monkeypatch.setattr(journal, "EVERY", 0.0)
    write = container.write

    def arm(countdown):
        left = [countdown]

        def dying(*arguments, **options):
            left[0] -= 1
            if left[0] == 0:
                raise Crash
            write(*arguments, **options)

        monkeypatch.setattr(container, "write", dying)

    return arm


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A table of more than 2,000 rows, whose trials are recorded one by one."""
    path = tmp_path_factory.mktemp("many") / "many.csv"
    columns = tickets(2600)
    rows = zip(columns["channel"], columns["opened"], columns["team"], strict=True)
    path.write_text("channel,opened,team\n" + "".join(f"{a},{b:g},{c}\n" for a, b, c in rows))
    return path


@pytest.mark.parametrize("memory", ["1G", "100K"])
def test_a_run_that_dies_goes_on_to_the_same_model(argmax, many, tmp_path, crashing, memory):
    def run(name, *options):
        return argmax(
            "train", many, "--target", "team", "-o", tmp_path / name, "--report", "", "-q",
            "--memory", memory, *options,
        )  # fmt: skip

    assert run("whole").code == 0
    kept = ("--checkpoint", tmp_path / "run", "--resume")
    for deaths in (3, 5, 8, 6):
        crashing(deaths)
        with pytest.raises(Crash):
            run("again", *kept)
        assert (tmp_path / "run").exists()
    crashing(10**6)
    assert run("again", *kept).code == 0
    assert same(tmp_path / "whole", tmp_path / "again")
    assert sorted(os.listdir(tmp_path)) == ["again", "whole"]


def test_a_checkpoint_of_another_run_is_refused(argmax, many, tmp_path, crashing):
    words = ["train", many, "--target", "team", "-o", tmp_path / "m", "--report", "", "-q"]
    kept = ["--checkpoint", tmp_path / "run"]
    crashing(4)
    with pytest.raises(Crash):
        argmax(*words, *kept)
    crashing(10**6)
    there = argmax(*words, *kept)
    assert (there.code, "--resume" in there.err) == (2, True)
    other = argmax(*words, *kept, "--resume", "--seed", "5")
    assert other.code == 2
    assert "seed was 0 and is 5" in other.err


def test_a_run_that_has_ended_is_not_taken_up(argmax, many, tmp_path):
    words = [
        "train",
        many,
        "--target",
        "team",
        "-o",
        tmp_path / "m",
        "--report",
        "",
        "-q",
        "--C",
        "1",
    ]
    kept = ["--checkpoint", tmp_path / "run", "--resume"]
    assert argmax(*words, *kept).code == 0
    result = argmax(*words, *kept)
    assert result.code == 2
    assert "the run has ended" in result.err
