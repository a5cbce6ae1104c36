"""The table of support tickets."""

import hashlib

import numpy as np
import pytest

from argmax.data import open_table, samples
from argmax.errors import InvalidInput
from tests.units.data.tables import table


def test_files_hold_the_table(tmp_path):
    expected = samples.tickets(150, seed=3)
    for name in ("tickets.csv", "tickets.jsonl"):
        samples.write_tickets(tmp_path / name, n=150, seed=3)
        found = table(open_table(tmp_path / name).batches())
        waiting = np.array(found.pop("waiting_minutes"), float)
        np.testing.assert_array_equal(waiting, expected["waiting_minutes"])
        assert found == {k: list(v) for k, v in expected.items() if k != "waiting_minutes"}


def test_the_same_on_every_platform():
    """Raw output of PCG64 and whole numbers only: if this changes, so do documented results."""
    text = "\n".join(samples.tickets(300)["text"])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "47d44747a3eb291c"


def test_more_rows_are_added_at_the_end():
    assert samples.tickets(200)["text"][:120] == samples.tickets(120)["text"]
    assert samples.tickets(50, seed=1)["text"] != samples.tickets(50, seed=2)["text"]


def test_there_is_something_to_find():
    tickets = samples.tickets(2000)
    teams, counts = np.unique(tickets["team"], return_counts=True)
    assert len(teams) == 7
    assert 4 < counts.max() / counts.min() < 10
    assert 0.05 < np.isnan(tickets["waiting_minutes"]).mean() < 0.2
    rows = list(zip(tickets["text"], tickets["channel"], tickets["waiting_minutes"], strict=True))
    repeated = len(rows) - len(set(map(str, rows)))
    assert 10 < repeated < 60
    pairs = set(zip(tickets["text"], tickets["team"], strict=True))
    assert 5 < len(pairs) - len({text for text, _ in pairs}) < 40


def test_the_task_is_neither_trivial_nor_hopeless():
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    pd = pytest.importorskip("pandas")
    tickets = pd.DataFrame(samples.tickets(2000))
    features = make_column_transformer(
        (TfidfVectorizer(ngram_range=(1, 2)), "text"),
        (OneHotEncoder(), ["channel", "customer_tier"]),
    )
    model = make_pipeline(features, MultinomialNB(alpha=0.1))
    model.fit(tickets[:1500], tickets.team[:1500])
    assert 0.82 < model.score(tickets[1500:], tickets.team[1500:]) < 0.95


def test_names_that_say_no_format_and_files_that_exist(tmp_path):
    with pytest.raises(InvalidInput, match="must end in"):
        samples.write_tickets(tmp_path / "tickets.xlsx")
    samples.write_tickets(tmp_path / "tickets.csv", n=5)
    with pytest.raises(InvalidInput, match="overwrite=True"):
        samples.write_tickets(tmp_path / "tickets.csv", n=7)
    samples.write_tickets(tmp_path / "tickets.csv", n=7, overwrite=True)
    assert len(table(open_table(tmp_path / "tickets.csv").batches())["id"]) == 7
