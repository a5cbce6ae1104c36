"""Features that were made before: dicts, lists, numbers."""

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from argmax.errors import InvalidInput, Unsupported
from argmax.features import Given, Templates, Tokens, for_sequences

DICTS = [
    [{"bias": 1.0, "w": "the"}, {"bias": True, "w": "cat", "len": 2.5, "s": ["t", "at"]}],
    [],
    [{"bias": np.float32(1), "in": {"w": "so", "n": 3}, "no": False}],
]


def dense(rows):
    if isinstance(rows, np.ndarray):
        return rows
    table = np.zeros(rows.shape)
    where = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    np.add.at(table, (where, rows.indices), 1.0 if rows.values is None else rows.values)
    return table


def test_dicts_are_read_as_python_crfsuite_reads_them(route):
    given = Given()
    stack = given.fit_transform(DICTS)
    names = list(given.names())
    assert names == ["bias", "w:the", "w:cat", "len", "s:t", "s:at", "in:w:so", "in:n", "no"]
    assert stack.offsets.tolist() == [0, 2, 2, 3]
    table = dense(stack.rows)
    assert [dict(zip(names, row, strict=True)) for row in table.tolist()][1] == {
        **dict.fromkeys(names, 0.0),
        "bias": 1.0,
        "w:cat": 1.0,
        "len": 2.5,
        "s:t": 1.0,
        "s:at": 1.0,
    }
    assert table[2].tolist() == [1, 0, 0, 0, 0, 0, 1, 3, 0]


def test_lists_of_strings_are_indicators_and_repeats_add_up(route):
    given = Given()
    rows = given.fit_transform([[["a", "b"], {"b"}, ("c",)]]).rows
    assert rows.values is None
    assert dense(rows).tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    twice = given.transform([[["a", "a", "zzz"]]]).rows
    assert dense(twice).tolist() == [[2, 0, 0]]
    assert given.unknown_ == 1
    assert list(Given(min_count=2).fit([[["a", "b"], ["b"]]]).names()) == ["b"]


def test_matrices(route):
    X = np.arange(12.0).reshape(4, 3)
    X[0] = 0.0
    expected = Given().fit_transform(X, lengths=[1, 0, 3])
    assert expected.offsets.tolist() == [0, 1, 1, 4]
    forms = [
        ([X[:1], X[:0], X[1:]], None),
        (sp.csr_array(X), [1, 0, 3]),
        ([sp.csr_array(X[:1]), sp.csr_array(X[:0]), sp.csr_array(X[1:])], None),
        (expected, None),
        (Given().fit_transform(sp.csr_array(X), lengths=[1, 0, 3]), None),
    ]
    for form, lengths in forms:
        found = Given().fit_transform(form, lengths=lengths)
        assert np.array_equal(dense(found.rows), X)
        assert found.offsets.tolist() == [0, 1, 1, 4]
    given = Given().fit(X, lengths=[4])
    assert list(given.names()) == ["x0", "x1", "x2"]
    assert given.form_ == "dense"
    assert given.transform([]).rows.shape == (0, 3)
    assert given.transform([[]]).offsets.tolist() == [0, 0]


def test_hashing(route):
    given = Given(hash_bits=2).fit([[["a", "b", "c", "d", "e", "f"]]])
    rows = given.transform([[["a", "new"]]]).rows
    assert rows.shape == (1, 4)
    assert given.unknown_ == 0
    assert given.collisions_.distinct == 6
    assert given.collisions_.used <= 4
    assert given.names()[3] == "#3"
    with pytest.raises(Unsupported, match="dictionary"):
        Given(hash_bits=2, min_count=2).fit(DICTS)


@pytest.mark.parametrize(
    ("sequences", "lengths", "says"),
    [
        ([], None, "no tokens"),
        ([[]], None, "no tokens"),
        ([["word"]], None, "sequence 0, token 0: features must be a dict or a list of strings"),
        ([[["a"]], [["b", 7]]], None, "sequence 1, token 0: a feature must be a string; got 7"),
        ([[{"a": np.nan}]], None, "feature 'a' has the value nan"),
        ([[{"a": None}]], None, "sequence 0, token 0"),
        (np.ones((3, 2)), None, "needs lengths"),
        (np.ones((3, 2)), [2, 2], "3 rows but lengths add up to 4"),
        (np.full((3, 2), np.inf), [3], "infinity"),
        ([np.ones((3, 2)), np.ones((3, 1))], None, "different lengths"),
        ([np.ones((3, 2)), [["a"]]], None, "sequences[1] must be a matrix"),
        ("text", None, "list of lists"),
    ],
)
def test_what_cannot_be_read(sequences, lengths, says):
    given = Given().fit(DICTS)
    with pytest.raises((InvalidInput, TypeError)) as caught:
        given.fit(sequences, lengths=lengths)
    assert says in str(caught.value)
    assert given.names()[0] == "bias"


def test_another_form_than_in_training():
    with pytest.raises(InvalidInput, match="training had features with names"):
        Given().fit(DICTS).transform(np.ones((1, 9)), lengths=[1])
    with pytest.raises(InvalidInput, match="2 features, but training had 3"):
        Given().fit(np.ones((1, 3)), lengths=[1]).transform(np.ones((1, 2)), lengths=[1])


def test_manners():
    given = Given(min_count=2)
    with pytest.raises(NotFittedError):
        given.transform(DICTS)
    assert clone(given).min_count == 2
    given = Given().fit(DICTS)
    assert list(pickle.loads(pickle.dumps(given)).names()) == list(given.names())


@pytest.mark.parametrize("data", [DICTS, [np.ones((2, 3))]])
@pytest.mark.parametrize("bits", [None, 3])
def test_options_and_tensors_make_it_again(data, bits):
    given = Given(hash_bits=bits).fit(data)
    again = Given.rebuild(json.loads(json.dumps(given.options())), given.tensors())
    assert np.array_equal(dense(again.transform(data).rows), dense(given.transform(data).rows))
    assert again.collisions_ == given.collisions_
    for name, value in (("format", 2), ("width", 77), ("form", "x"), ("extra", 1)):
        if name == "width" and given.form_ != "named":
            continue
        with pytest.raises(InvalidInput, match="not valid"):
            Given.rebuild({**given.options(), name: value}, given.tensors())


@pytest.mark.parametrize(
    ("sequences", "kind"),
    [
        ([[], ["a"]], Templates),
        ([["a"]], Templates),
        ({"word": ["a"]}, Templates),
        (Tokens.of([["a"]]), Templates),
        ([], Templates),
        ([[("a", "b")]], Templates),
        ([[["a", "b"]]], Given),
        (DICTS, Given),
        ([np.ones((1, 2))], Given),
        (np.ones((1, 2)), Given),
        (sp.csr_array(np.ones((1, 2))), Given),
    ],
)
def test_which_features_suit(sequences, kind):
    assert isinstance(for_sequences(sequences), kind)
