"""Files of every schema there ever was are read, and answer as they did."""

import json

import numpy as np
import pytest

import argmax
from argmax.persist import describe
from argmax.persist.container import SCHEMA
from tests.golden.write import FOLDER, answers_of, labels_of, rows_of

FILES = sorted(FOLDER.glob("*.argmax"))


def test_there_are_files_of_every_schema():
    found = {int(path.name.split("-")[1]) for path in FILES}
    assert found == set(range(1, SCHEMA + 1))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_answers_as_it_did(path):
    expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
    found = answers_of(argmax.load(path), rows_of(path.stem))
    assert found.keys() == expected.keys()
    for name, answer in found.items():
        if name in ("probabilities", "scores"):
            np.testing.assert_allclose(answer, expected[name], atol=1e-12)
        else:
            assert answer == expected[name]
    assert describe(path)["schema"] == int(path.name.split("-")[1])


@pytest.mark.filterwarnings("ignore::argmax.errors.NotConverged")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_can_be_fitted_again(path):
    model, rows = argmax.load(path), rows_of(path.stem)
    before = answers_of(model, rows)
    again = answers_of(model.fit(rows, labels_of(path.stem, model.classes_)), rows)
    assert {n: np.shape(v) for n, v in again.items() if n != "labels"} == {
        n: np.shape(v) for n, v in before.items() if n != "labels"
    }
