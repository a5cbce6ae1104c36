"""``argmax compare``: every method on the same rows, in order, with what cannot be told apart."""

import numpy as np
import pytest

from argmax import LinearClassifier, metrics
from argmax.cli import contest
from argmax.cli.batches import selected
from argmax.cli.entrants import ENTRANTS, admitted
from argmax.cli.held import rows_of
from argmax.data.samples import write_tickets
from argmax.features import Table

QUICK = "log,squared,squared_hinge,one_vs_rest"


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    """A small table."""
    path = tmp_path_factory.mktemp("compare") / "tickets.csv"
    write_tickets(path, 250)
    return path


@pytest.fixture(scope="module")
def compare(argmax, tickets):
    """compare(*options): the comparison of the tickets."""

    def call(*options, methods=QUICK):
        return argmax(
            "compare", tickets, "--target", "team", "--methods", methods,
            "--kinds", "opened=ignore,waiting_minutes=ignore", *options,
        )  # fmt: skip

    return call


@pytest.fixture(scope="module")
def compared(compare):
    result = compare("--json", "-q")
    assert result.code == 0, result.err
    return result.json


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """Two numbers and a class of three, which overlap."""
    rng = np.random.default_rng(0)
    label = np.arange(150) % 3
    X = rng.normal(size=(150, 2)) + 1.5 * np.array([[0, 0], [1, 1], [2, 0]])[label]
    lines = [
        f"{a:.3f},{b:.3f},{name}"
        for (a, b), name in zip(X, np.array(["a", "b", "c"])[label], strict=True)
    ]
    path = tmp_path_factory.mktemp("points") / "points.csv"
    path.write_text("x,y,kind\n" + "\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def everything(argmax, points):
    """All methods, as a person sees them in a window of 100 columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        return argmax("compare", points, "--target", "kind")


def test_the_best_comes_first_and_nothing_beats_it(compared):
    assert compared["sorted_by"] == "log-loss"
    methods = compared["methods"]
    assert {one["method"] for one in methods} == set(QUICK.split(","))
    losses = [one["scores"]["log-loss"]["value"] for one in methods]
    assert losses == sorted(losses)
    assert methods[0]["behind_best"] is None
    assert not methods[0]["distinguishable"]
    for one, loss in zip(methods[1:], losses[1:], strict=True):
        behind = one["behind_best"]
        assert behind["value"] == pytest.approx(loss - losses[0])
        assert one["distinguishable"] == (not behind["low"] <= 0 <= behind["high"])
    for one in methods:
        assert all(s["low"] <= s["value"] <= s["high"] for s in one["scores"].values())


def test_the_scores_are_those_of_the_model_in_python(compared, tickets):
    kinds = {"channel": "category", "customer_tier": "category", "text": "text"}
    every, y, rows = rows_of(str(tickets), "team", kinds)
    X, truth, held = rows_of(str(tickets), "team", kinds, test=0.2)
    learned = ~np.isin(rows, held)
    table = Table(kinds)
    features = table.fit_transform(selected(every, learned))
    assert (compared["rows"], compared["rows_learned"]) == (len(held), learned.sum())
    (told,) = [one for one in compared["methods"] if one["method"] == "log"]
    model = LinearClassifier(C=told["C"]).fit(features, y[learned])
    accuracy = metrics.accuracy(truth, model.predict(table.transform(X)))
    assert told["scores"]["accuracy"]["value"] == pytest.approx(accuracy)
    loss = metrics.log_loss(truth, model.predict_proba(table.transform(X)), model.classes_)
    assert told["scores"]["log-loss"]["value"] == pytest.approx(loss, rel=1e-3)
    assert told["bytes"] == 8 * len(model.classes_) * (features.shape[1] + 1)


def test_each_C_is_that_of_the_least_loss_on_rows_left_out(compared):
    for one in compared["methods"]:
        losses = {trial["C"]: trial["log_loss"] for trial in one["trials"]}
        assert one["C"] == min(losses, key=losses.get)
        falls = list(losses.values())
        assert falls[:-1] == sorted(falls[:-1], reverse=True)  # the path ends where it turns


def test_scores_get_probabilities_that_change_no_answer(compared):
    how = {one["method"]: one["probabilities"] for one in compared["methods"]}
    assert how == {
        "log": "own",
        "one_vs_rest": "own",
        "squared": "temperature",
        "squared_hinge": "temperature",
    }
    for one in compared["methods"]:
        if one["probabilities"] == "temperature":
            error = 1.0 - one["scores"]["accuracy"]["value"]
            assert one["scores"]["cost"]["value"] == pytest.approx(error)


def test_the_table_reads_without_explanation(everything):
    assert everything.code == 0, everything.err
    for entrant in ENTRANTS:
        assert everything.out.count(f"\n{entrant.name} ") >= 2  # scores, intervals
        assert f"{entrant.name}: log-loss" in everything.err
    for words in ("against the best", "95 % intervals", "are no probabilities", "argmax train"):
        assert words in everything.out
    assert "not distinguishable" in everything.out
    tables = everything.out.split("\n\n")[1:3]
    assert all(len(line) <= 100 for table in tables for line in table.splitlines())


def test_one_vs_rest_is_the_model_of_ovr_log(everything):
    table = everything.out.split("\n\n")[1]
    losses = {line.split()[0]: line.split()[1] for line in table.splitlines()[2:]}
    assert float(losses["one_vs_rest"]) == pytest.approx(float(losses["ovr_log"]), abs=1e-3)


def costs(path, names, table):
    lines = [",".join(["truth", *names])]
    lines += [",".join([n, *map(str, row)]) for n, row in zip(names, table.tolist(), strict=True)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_costs_decide(argmax, points, tmp_path):
    table = np.array([[0.0, 20.0, 20.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    words = ["compare", points, "--target", "kind", "--methods", QUICK, "--json", "-q"]
    result = argmax(*words, "--cost", costs(tmp_path / "costs.csv", ["a", "b", "c"], table))
    assert result.code == 0, result.err
    assert result.json["sorted_by"] == "cost"
    found = [one["scores"]["cost"]["value"] for one in result.json["methods"]]
    assert found == sorted(found)
    for one in result.json["methods"][1:]:
        assert one["behind_best"]["value"] == pytest.approx(
            one["scores"]["cost"]["value"] - found[0]
        )
    by_accuracy = argmax(*words, "--by", "accuracy").json
    shares = [one["scores"]["accuracy"]["value"] for one in by_accuracy["methods"]]
    assert shares == sorted(shares, reverse=True)


def test_a_time_limit_leaves_out_by_name(compare, monkeypatch):
    fit = contest._Fits._fitted

    def slow(self, *given, **named):
        if self.entrant.name == "squared":
            raise contest.OutOfTime
        return fit(self, *given, **named)

    monkeypatch.setattr(contest._Fits, "_fitted", slow)
    result = compare("--time-limit", 600, "--json", methods="log,squared")
    assert result.code == 0, result.err
    assert [one["method"] for one in result.json["methods"]] == ["log"]
    assert "--time-limit" in result.json["left_out"]["squared"]
    assert "squared: out of time" in result.err


def test_no_time_at_all_is_a_limit(compare):
    result = compare("--time-limit", 0, methods="log,perceptron,one_vs_one")
    assert result.code == 4
    assert "--time-limit" in result.err


def test_two_classes_need_no_reduction(argmax, points, write):
    path = write("two.csv", points.read_text(encoding="utf-8").replace(",c", ",b"))
    words = ["compare", path, "--target", "kind"]
    result = argmax(*words, "--json", "-q")
    assert result.code == 0, result.err
    assert set(result.json["left_out"]) == {"one_vs_rest", "one_vs_one", "output_code"}
    assert len(result.json["methods"]) == len(ENTRANTS) - 3
    alone = argmax(*words, "--methods", "one_vs_one")
    assert (alone.code, "nothing to compare" in alone.err) == (2, True)


def test_few_rows_tell_nothing_apart(argmax, points, write):
    lines = points.read_text(encoding="utf-8").splitlines()
    path = write("few.csv", "\n".join(lines[:61]))
    result = argmax("compare", path, "--target", "kind", "--methods", "log,squared,perceptron")
    assert result.code == 0, result.err
    assert "12 rows to judge by: too few" in result.out
    assert "worse" not in result.out


def test_another_file_to_judge_by(compare, tmp_path):
    path = tmp_path / "new.csv"
    write_tickets(path, 80, seed=1)
    result = compare("--test", path, "--json", "-q", methods="log")
    assert result.code == 0, result.err
    assert (result.json["rows"], result.json["rows_learned"]) == (80, 250)
    path.write_text(path.read_text(encoding="utf-8").replace(",sales", ",nobody"), encoding="utf-8")
    refused = compare("--test", path, "-q", methods="log")
    assert (refused.code, "'nobody'" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--methods", "magic"], 2, "--methods must be of log,"),
        (["--by", "beauty"], 2, "--by must be auto, log-loss"),
        (["--test", "0"], 2, "no rows to judge by"),
        (["--test", "nowhere.csv"], 2, "--test must be"),
        (["--target", "teem"], 2, "Did you mean 'team'?"),
        (["--cost", "nowhere.csv"], 2, "costs cannot be read"),
        (["--features", "magic=1"], 2, "--features must be"),
        (["--memory", "1K"], 4, "larger --memory"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(argmax, tickets, options, code, says):
    result = argmax("compare", tickets, "--target", "team", "-q", *options)
    assert result.code == code
    assert says in result.err
    assert result.err.count("\n") == 1 + result.err.startswith("warning")


def test_sequences_are_refused(argmax, write):
    path = write("tagged.conll", "He PRP\neats VBZ\n\nShe PRP\nruns VBZ\n\n")
    result = argmax("compare", path, "--target", "label")
    assert (result.code, "compare is for tables" in result.err) == (2, True)


def test_many_pairs_are_tried_only_by_name():
    tried, left_out = admitted([], classes=150, features=10_000)
    assert "one_vs_one" not in [entrant.name for entrant in tried]
    assert "11,175 pairs" in left_out["one_vs_one"]
    (only,), none = admitted(["one_vs_one"], classes=150, features=10_000)
    assert (only.name, none) == ("one_vs_one", {})


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_it_fits_the_window(argmax, place, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    found = argmax(
        "compare",
        place / "tickets.csv",
        "--target",
        "team",
        "--methods",
        "log,perceptron,one_vs_rest",
    )
    assert found.code == 0, found.err
    tables = found.out[: found.out.index("How to read it")].split("\n\n")[1:]
    assert all(len(line) <= columns for table in tables for line in table.splitlines())
    assert "…" not in "".join(tables)
    assert ("What they cost" in found.out) == (columns < 100)
