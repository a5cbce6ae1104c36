"""Hashed columns are scikit-learn's; collisions are counted in bounded memory."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils import murmurhash3_32

from argmax.features import hashing
from argmax.features.hashing import Census, Slots, fingerprints, hashed
from argmax.records import Strings

GRAMS = ["".join(letters) for letters in itertools.product("abcdefgh", repeat=4)]  # 4096
FEW = GRAMS[::10]


def note(census, grams):
    strings = Strings.of(grams)
    census.add(strings, fingerprints(strings))


@given(values=st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=20))
def test_the_hash_is_murmurs(route, values):
    for seed in (0, 1):
        expected = [murmurhash3_32(value.encode(), seed, True) for value in values]
        assert hashed(Strings.of(values), seed).tolist() == expected


@pytest.mark.parametrize("signed", [False, True])
def test_columns_and_signs_are_scikit_learns(route, signed):
    hasher = FeatureHasher(n_features=2**6, input_type="string", alternate_sign=signed)
    columns, signs = Slots(6, signed).find(Strings.of(GRAMS))
    X = hasher.transform([[gram] for gram in GRAMS])
    assert X.indices.tolist() == columns.tolist()
    assert X.data.tolist() == signs.tolist()


@pytest.mark.parametrize("batch", [1, 100, 5000])
def test_a_census_counts_what_is_shared(route, batch):
    slots = Slots(8)
    census = Census(slots, examples=2)
    for start in range(0, len(FEW), batch):
        note(census, FEW[start : start + batch])
        note(census, FEW[start : start + batch])
    inside = {}
    for gram, column in zip(FEW, slots.find(Strings.of(FEW))[0].tolist(), strict=True):
        inside.setdefault(column, []).append(gram)
    found = census.collisions()
    assert (found.distinct, found.exact, found.used) == (len(FEW), True, len(inside))
    assert found.shared == sum(len(grams) for grams in inside.values() if len(grams) > 1)
    assert census.found == {column: grams[:2] for column, grams in inside.items()}


@pytest.mark.parametrize("batch", [50, 1000, 5000])
def test_too_many_to_count_are_estimated_alike_in_any_batches(monkeypatch, batch):
    monkeypatch.setattr(hashing, "SAMPLE", 1000)
    census = Census(Slots(12))
    for start in range(0, len(GRAMS), batch):
        note(census, GRAMS[start : start + batch])
    found = census.collisions()
    assert not found.exact
    assert abs(found.distinct / len(GRAMS) - 1) < 0.1
    assert found == census.collisions()
    alone = Counter(Slots(12).find(Strings.of(GRAMS))[0].tolist())
    assert found.used == len(alone)
    whole = Census(Slots(12))
    note(whole, GRAMS[::-1])
    assert whole.collisions() == found


def test_examples_are_bounded(monkeypatch):
    monkeypatch.setattr(hashing, "EXAMPLES", 100)
    census = Census(Slots(12), examples=3)
    note(census, GRAMS[:60])
    note(census, GRAMS)
    assert sum(map(len, census.found.values())) == 100


def test_signs_halve_the_grams():
    _, signs = Slots(8, signed=True).find(Strings.of(GRAMS))
    assert abs(np.mean(signs)) < 0.1
