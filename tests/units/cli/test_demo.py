"""``argmax demo``: the whole job, and the commands to type."""

import os

from argmax import load as argmax_of
from argmax.cli.demo import COMMANDS

TRAIN, TRAIN_TAGGER = (i for i, command in enumerate(COMMANDS) if " train " in command)


def test_the_main_job_from_end_to_end(argmax, tmp_path, monkeypatch):
    monkeypatch.setattr("argmax.cli.demo.ROWS", 300)
    monkeypatch.setattr("argmax.cli.demo.NEW", 40)
    monkeypatch.setattr("argmax.cli.demo.SENTENCES", 150)
    here = os.getcwd()
    result = argmax("demo", "-o", tmp_path / "out", "-q")
    assert result.code == 0, result.err
    assert os.getcwd() == here
    for command in COMMANDS:
        assert f"$ {command}" in result.out
    for name, command in (
        ("report.html", COMMANDS[TRAIN]),
        ("tagging.html", COMMANDS[TRAIN_TAGGER]),
    ):
        report = tmp_path / "out" / name
        assert str(report) in result.out
        assert command in report.read_text(encoding="utf-8")
    again = argmax("demo", "-o", tmp_path / "out")
    assert (again.code, "not empty" in again.err) == (2, True)


def test_as_json(argmax, tmp_path, monkeypatch):
    monkeypatch.setattr("argmax.cli.demo.ROWS", 200)
    monkeypatch.setattr("argmax.cli.demo.NEW", 30)
    monkeypatch.setattr("argmax.cli.demo.SENTENCES", 150)
    told = argmax("demo", "-o", tmp_path / "out", "--json", "-q").json
    assert len(told["results"]) == len(told["commands"]) == len(COMMANDS)
    assert told["results"][TRAIN]["solution"]["status"] == "converged"
    assert told["results"][TRAIN_TAGGER]["solution"]["status"] == "converged"
    assert [path.endswith(".html") for path in told["reports"]] == [True, True]
    segmented = told["results"][-1]
    assert segmented["right_after"] > segmented["right_before"] + 0.03
    assert (tmp_path / "out" / "segmentation.py").exists()
    assert argmax_of(tmp_path / "out" / "labeler.argmax").classes_.tolist() == [0, 1]
