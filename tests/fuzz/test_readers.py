"""Some thousand of the fuzzer's inputs. All of it: ``python -m tests.fuzz.readers 100000``."""

from itertools import chain

import pytest

from argmax.data import open_table
from tests.fuzz.readers import fuzz, inputs, seeds


def test_no_input_ends_in_anything_but_a_table_or_an_error_of_ours():
    outcomes = fuzz(2000, seed=1)
    assert outcomes.total() == 2000
    assert outcomes["read"] > 100
    assert outcomes.keys() <= {"read", "BadFile", "InvalidInput", "ResourceLimit", "Unsupported"}


@pytest.mark.parametrize("number", range(len(list(chain(*seeds())))))
def test_what_the_fuzzer_starts_from_is_good(tmp_path, number):
    content = list(chain(*seeds()))[number]
    path = tmp_path / "seed"
    path.write_bytes(content)
    source = open_table(path, encoding="utf-16" if content[:2] == b"\xff\xfe" else None)
    assert sum(map(len, source.batches())) > 0


def test_an_input_does_not_depend_on_how_many_there_are():
    assert list(inputs(5, seed=2)) == list(inputs(20, seed=2))[:5]
