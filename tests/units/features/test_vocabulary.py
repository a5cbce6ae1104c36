"""The dictionary: exact, in both sizes, and sorted as Python sorts."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.errors import ResourceLimit
from argmax.features import characters, vocabulary
from argmax.features.sorting import ascending, sorted_order
from argmax.features.vocabulary import Tally, Vocabulary, taken
from argmax.kernels import text
from argmax.records import Strings

words = st.lists(st.text(st.characters(codec="utf-8"), max_size=40), unique=True, max_size=60)


@given(values=words)
def test_sorting_is_pythons(values):
    strings = Strings.of(values)
    order = sorted_order(strings)
    assert taken(strings, order).tolist() == sorted(values)
    assert ascending(taken(strings, order))


def test_sorting_where_beginnings_are_long_and_alike():
    start = "the same beginning of many bytes, longer than four rounds: "
    values = (
        [start + str(i) for i in range(200)]
        + [start[:n] for n in range(60)]
        + ["a", "a\0", "a\0\0"]
    )
    order = sorted_order(Strings.of(values[::-1]))
    assert [values[::-1][i] for i in order] == sorted(values)


def test_ascending_means_strictly():
    assert ascending(Strings.of(["", "a", "aa", "b", "é"]))
    assert not ascending(Strings.of(["a", "a"]))
    assert not ascending(Strings.of(["b", "a"]))


@given(batches=st.lists(words, max_size=6))
def test_a_tally_numbers_and_counts(route, batches):
    tally, expected = Tally(), {}
    for batch in batches:
        numbers = tally.absorb(Strings.of(batch), np.arange(len(batch)) + 1, np.full(len(batch), 2))
        for value in batch:
            expected.setdefault(value, len(expected))
        assert numbers.tolist() == [expected[value] for value in batch]
    assert tally.strings.tolist() == list(expected)
    times = [sum(value in batch for batch in batches) for value in expected]
    rows = [sum(b.index(v) + 1 for b in batches if v in b) for v in expected]
    assert tally.occurrences.tolist() == [2 * n for n in times]
    assert tally.documents.tolist() == rows


def test_a_tally_moves_from_small_to_large(monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "never")
    tally = Tally()
    first = [f"w{i}" for i in range(3000)]
    tally.absorb(Strings.of(first), 1)
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    second = first[1000:] + [f"v{i}" for i in range(9000)]
    numbers = tally.absorb(Strings.of(second), 1)
    assert numbers[:2000].tolist() == list(range(1000, 3000))
    assert tally.strings.tolist() == first + second[2000:]
    assert tally.documents.tolist() == [1] * 1000 + [2] * 2000 + [1] * 9000


def test_strings_that_meet_in_a_slot_stay_apart(route, monkeypatch):
    """Tables so small that all probe for each other: the bytes decide, not the hash."""
    monkeypatch.setattr(
        vocabulary, "table_size", lambda entries: 1 << (2 * entries - 1).bit_length()
    )
    values = [f"{i:x}" for i in range(500)]
    tally = Tally()
    for value in values * 2:
        tally.absorb(Strings.of([value]), 1)
    assert tally.strings.tolist() == values
    assert set(tally.documents.tolist()) == {2}


@given(known=words, asked=words)
def test_a_vocabulary_finds_exactly_its_own(route, known, asked):
    ordered = sorted(known)
    found = Vocabulary(Strings.of(ordered)).find(Strings.of(asked + ordered))
    where = {value: i for i, value in enumerate(ordered)}
    assert found.tolist() == [where.get(value, -1) for value in asked + ordered]


def test_a_vocabulary_pickles_without_its_tables(route):
    vocabulary = Vocabulary(Strings.of([f"{i:06}" for i in range(5000)]))
    before = len(pickle.dumps(vocabulary))
    vocabulary.find(Strings.of(["000007"]))
    assert len(pickle.dumps(vocabulary)) == before
    assert pickle.loads(pickle.dumps(vocabulary)).find(Strings.of(["000007"])).tolist() == [7]


def test_too_many_strings_are_an_error(monkeypatch):
    monkeypatch.setattr(vocabulary, "LIMIT", 2)
    with pytest.raises(ResourceLimit, match="hash_bits"):
        Tally().absorb(Strings.of(["a", "b", "c"]), 1)


def test_kernel_and_tables_agree_on_bits():
    assert (text.WORD, text.SPACE) == (characters.WORD, characters.SPACE)
