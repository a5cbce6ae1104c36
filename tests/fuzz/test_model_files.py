"""A few thousand mutated model files in every test run; ``python -m tests.fuzz.model_files N`` makes more."""

import pytest

from tests.fuzz import model_files


@pytest.mark.parametrize("part", range(3))
def test_mutated_files_are_refused_or_answer(part, tmp_path):
    found = model_files.run(1000 * part, 1000, tmp_path / "model")
    assert sum(found.values()) == 1000
    assert found["refused"] > 800
    assert found["loaded"] > 10  # so the checks behind the digest were reached


def test_the_files_that_are_mutated_are_good_ones(tmp_path):
    for data, rows in model_files.seeds():
        (tmp_path / "model").write_bytes(data)
        assert len(model_files.load(tmp_path / "model").predict(rows)) == 60
        again = model_files.with_header(data, model_files.header_of(data))
        (tmp_path / "model").write_bytes(again)
        assert len(model_files.load(tmp_path / "model").predict(rows)) == 60
