"""Spans of labellings against conlleval's rules; legality and repair against enumeration."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.errors import InvalidInput
from argmax.tags import Tags
from tests import naive

NAMES = ("O", "B-A", "I-A", "B-B", "I-B", "L-A", "U-A", "L-B", "U-B")
BIO = NAMES[:5]


def spans(names, labels, offsets):
    tags = Tags(names)
    found = tags.spans(np.array(labels, int), np.array(offsets))
    rows = zip(found.sequence, found.type, found.first, found.last, strict=True)
    return [(int(i), tags.types[t], int(a), int(b)) for i, t, a, b in rows]


@given(st.lists(st.lists(st.sampled_from(range(9)), max_size=7), max_size=4))
def test_spans_are_those_of_conlleval(sequences):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sequences])]).astype(int)
    expected = [
        (i, *span)
        for i, sequence in enumerate(sequences)
        for span in naive.conlleval([NAMES[label] for label in sequence])
    ]
    assert spans(NAMES, list(itertools.chain(*sequences)), offsets) == expected


@given(st.lists(st.sampled_from(range(9)), max_size=12))
def test_spans_are_those_of_seqeval(labels):
    seqeval = pytest.importorskip("seqeval.metrics.sequence_labeling")
    names = tuple(name.replace("L-", "E-").replace("U-", "S-") for name in NAMES)
    found = spans(names, labels, [0, len(labels)])
    assert [span[1:] for span in found] == seqeval.get_entities([names[label] for label in labels])


GRAMMAR = {
    "BIO": r"(O|B-A (I-A )*|B-B (I-B )*|O )*",
    "BILOU": r"(O |U-A |U-B |B-A (I-A )*L-A |B-B (I-B )*L-B )*",
}


@pytest.mark.parametrize(("scheme", "names"), [("BIO", BIO), ("BILOU", NAMES)])
def test_rules_allow_exactly_what_the_grammar_does(scheme, names):
    tags = Tags(names)
    follows, begins, ends = tags.rules(scheme)
    for labels in itertools.product(range(len(names)), repeat=3):
        text = "".join(names[label] + " " for label in labels)
        legal = re.fullmatch(GRAMMAR[scheme], text) is not None
        steps = all(follows[a, b] for a, b in itertools.pairwise(labels))
        assert legal == bool(begins[labels[0]] and steps and ends[labels[-1]]), text
        illegal = tags.illegal(np.array(labels), np.array([0, 3]), scheme)
        assert legal == (len(illegal) == 0)


@pytest.mark.parametrize("scheme", ["BIO", "BILOU"])
@given(labels=st.lists(st.sampled_from(range(9)), max_size=9), cut=st.integers(0, 9))
def test_a_repaired_labelling_is_legal_and_has_the_same_spans(scheme, labels, cut):
    offsets = np.array([0, min(cut, len(labels)), len(labels)])
    names, repaired, changed = Tags(NAMES).repaired(np.array(labels, int), offsets, scheme)
    written = [names[label] for label in repaired]
    used = tuple(dict.fromkeys([*written, "O"]))
    codes = np.array([used.index(name) for name in written], int)
    assert len(Tags(used).illegal(codes, offsets, scheme)) == 0
    assert spans(used, codes, offsets) == spans(NAMES, labels, offsets)
    assert changed == sum(a != NAMES[b] for a, b in zip(written, labels, strict=True))


def test_a_legal_labelling_is_not_changed():
    for names, labels, scheme in (
        (BIO, [1, 2, 0, 3, 3], "BIO"),
        (NAMES, [6, 0, 1, 2, 5], "BILOU"),
        (("O", "S-A", "B-A", "E-A"), [1, 0, 2, 3], "BIOES"),
    ):
        given = np.array(labels)
        found = Tags(names).repaired(given, np.array([0, len(labels)]), scheme)
        assert found[2] == 0
        assert np.array_equal(found[1], given)
        assert found[0] == names


def test_names_that_are_no_tags():
    for name in ("NN", "b-A", "B_A", "", "Outside"):
        with pytest.raises(InvalidInput, match="marks no span"):
            Tags(("O", name))
    assert not Tags.fit(["O", "NN"])
    assert not Tags.fit(["O"])
    assert Tags.fit(["O", "B", "I-x-y"])
    assert Tags(("B", "B-", "I-x-y")).types == ("", "x-y")
    with pytest.raises(InvalidInput, match="none of the scheme BIO"):
        Tags(NAMES).rules("BIO")
    with pytest.raises(InvalidInput, match="must be one of"):
        Tags(BIO).rules("XYZ")
