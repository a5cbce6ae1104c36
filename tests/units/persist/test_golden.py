"""Files of every schema there ever was are read, and answer as they did."""

import json

import numpy as np
import pytest

import argmax
from argmax.persist import describe
from argmax.persist.container import SCHEMA
from tests.golden.write import FOLDER, FRAME, X

FILES = sorted(FOLDER.glob("*.argmax"))


def test_there_are_files_of_every_schema():
    found = {int(path.name.split("-")[1]) for path in FILES}
    assert found == set(range(1, SCHEMA + 1))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_answers_as_it_did(path):
    model, expected = argmax.load(path), json.loads(path.with_suffix(".json").read_text("utf-8"))
    rows = FRAME if hasattr(model, "steps") else X
    assert model.classes_.tolist() == expected["classes"]
    np.testing.assert_allclose(model.predict_proba(rows), expected["probabilities"], atol=1e-12)
    assert describe(path)["schema"] == int(path.name.split("-")[1])


@pytest.mark.filterwarnings("ignore::argmax.errors.NotConverged")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_can_be_fitted_again(path):
    model = argmax.load(path)
    rows = FRAME if hasattr(model, "steps") else X
    before = model.predict_proba(rows)
    y = model.classes_[np.arange(20) % len(model.classes_)]
    assert model.fit(rows, y).predict_proba(rows).shape == before.shape
