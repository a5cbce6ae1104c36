"""Rows of text equal those of scikit-learn's vectorisers for the same options."""

import json
import lzma

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from argmax.errors import InvalidInput
from argmax.features import Table

PANGRAMS = [
    "The quick brown fox jumps over the lazy dog. The dog sleeps.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. GROSSE Straße!",
    "Ὁ ΟΔΥΣΣΕΥΣ ἦλθε· ΣΟΦΟΣ σοφός σοφοσ",
    "İstanbul ve ISPARTA, ılık İLİK istanbul",
    "e\u0301te\u0301 été ETE\u0301 naïve naive",
    "१२३ १२३ ٣٤ ½ x² snake_case __init__ _a a_ 3.14",
    "👩‍👩‍👧 ab😀cd 𝒳𝒴𝒵 𝒳𝒴𝒵 中文没有空格 日本語",
    "",
    "a I",
    "dog fox dog fox dog brown brown zzz",
]


def same(ours, theirs, names, their_names):
    """The same matrix, whatever the order of the columns."""
    names = [name.removeprefix("text: ") for name in names]
    assert sorted(names) == sorted(their_names)
    where = {name: j for j, name in enumerate(names)}
    aligned = ours[:, [where[name] for name in their_names]]
    assert (aligned != 0).nnz == (theirs != 0).nnz
    np.testing.assert_allclose(aligned.toarray(), theirs.toarray(), rtol=1e-13, atol=1e-15)


OPTIONS = [
    ({"sublinear": False}, {}),
    ({"min_count": 2}, {"min_df": 2, "sublinear_tf": True}),
    ({"max_share": 0.2}, {"max_df": 0.2, "sublinear_tf": True}),
    ({"ngrams": (1, 3)}, {"ngram_range": (1, 3), "sublinear_tf": True}),
    (
        {"ngrams": (2, 2), "smooth": False},
        {"ngram_range": (2, 2), "smooth_idf": False, "sublinear_tf": True},
    ),
    ({"lowercase": False}, {"lowercase": False, "sublinear_tf": True}),
    (
        {"analyzer": "char", "ngrams": (1, 4)},
        {"analyzer": "char", "ngram_range": (1, 4), "sublinear_tf": True},
    ),
    (
        {"analyzer": "char_wb", "ngrams": (2, 5), "norm": None},
        {"analyzer": "char_wb", "ngram_range": (2, 5), "norm": None, "sublinear_tf": True},
    ),
    ({"weight": "counts", "sublinear": False}, {"use_idf": False}),
]


@pytest.mark.parametrize(
    ("mine", "yours"), OPTIONS, ids=lambda o: ",".join(map(str, o.values())) or "plain"
)
def test_tfidf(route, mine, yours):
    table, theirs = Table(**{"min_count": 1, **mine}), TfidfVectorizer(**yours)
    X, Y = table.fit_transform(PANGRAMS), theirs.fit_transform(PANGRAMS)
    names = table.get_feature_names_out().tolist()
    same(X, Y, names, theirs.get_feature_names_out().tolist())
    assert names == [
        f"text: {name}" for name in theirs.get_feature_names_out()
    ]  # sorted alike, too
    assert X.has_canonical_format
    new = ["a QUICK fox, über 😀 ΣΟΦΟΣ", "", *PANGRAMS[:3]]
    same(
        table.transform(new), theirs.transform(new), names, theirs.get_feature_names_out().tolist()
    )


@pytest.mark.parametrize("binary", [False, True])
def test_counts(route, binary):
    table = Table(weight="binary" if binary else "counts", sublinear=False, norm=None, min_count=1)
    theirs = CountVectorizer(binary=binary)
    X, Y = table.fit_transform(PANGRAMS), theirs.fit_transform(PANGRAMS)
    same(X, Y, table.get_feature_names_out(), theirs.get_feature_names_out().tolist())


@pytest.mark.parametrize("limit", [1, 5, 20, 10**6])
def test_max_features_keeps_the_most_frequent(route, limit):
    table = Table(max_features=limit, weight="counts", sublinear=False, norm=None, min_count=1)
    X = table.fit_transform(PANGRAMS)
    theirs = CountVectorizer()
    totals = np.asarray(theirs.fit_transform(PANGRAMS).sum(axis=0)).ravel()
    ranked = sorted(zip(-totals, theirs.get_feature_names_out(), strict=True))[:limit]
    expected = sorted(name for _, name in ranked)
    assert [name.removeprefix("text: ") for name in table.get_feature_names_out()] == expected
    assert X.sum() == -sum(total for total, _ in ranked)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bits", [3, 18])
def test_hashed(route, bits, signed):
    table = Table(hash_bits=bits, signed=signed, weight="counts", sublinear=False, min_count=1)
    theirs = HashingVectorizer(n_features=2**bits, alternate_sign=signed)
    X, Y = table.fit_transform(PANGRAMS), theirs.fit_transform(PANGRAMS)
    Y.eliminate_zeros()  # they keep what cancelled
    for mine, yours in ((X, Y), (table.transform(PANGRAMS), Y)):
        np.testing.assert_array_equal(mine.indptr, yours.indptr)
        np.testing.assert_array_equal(mine.indices, yours.indices)
        np.testing.assert_allclose(mine.data, yours.data, rtol=1e-15)


def test_hashed_tfidf_is_a_hasher_and_a_transformer(route):
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = HashingVectorizer(n_features=2**5, alternate_sign=False, norm=None).transform(PANGRAMS)
    theirs = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    table = Table(hash_bits=5, min_count=1)
    np.testing.assert_allclose(
        table.fit_transform(PANGRAMS).toarray(), theirs.toarray(), rtol=1e-13
    )
    rare = Table(hash_bits=5, min_count=3, norm=None).fit_transform(PANGRAMS)
    often = np.asarray((counts != 0).sum(axis=0)).ravel() >= 3
    assert set(rare.indices.tolist()) == set(np.flatnonzero(often).tolist())
    assert (rare.data != 0).all()


def test_hashed_columns_are_named_by_examples(route):
    table = Table(hash_bits=10, examples=2, min_count=1).fit(["red wine", "white wine"])
    (column,) = table.transform(["wine"]).indices
    assert table.feature_name(column) == f"text: #{column} (wine)"
    assert table.inverse_["text"][column] == ["wine"]
    bare = Table(hash_bits=10, min_count=1).fit(["red wine", "white wine"])
    assert bare.feature_name(column) == f"text: #{column}"
    assert bare.inverse_ == {"text": {}}


@pytest.mark.parametrize(
    ("mine", "yours"),
    [
        ({"min_count": 1}, {"sublinear_tf": True}),
        (
            {"ngrams": (1, 2), "sublinear": False, "max_share": 0.5},
            {"ngram_range": (1, 2), "min_df": 2, "max_df": 0.5},
        ),
    ],
)
def test_newsgroups(shared, mine, yours):
    with lzma.open(shared("flat/20news-bydate.jsonl.xz"), "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)[-1] for line in lines][::25]
    assert not all(text.isascii() for text in texts)
    table, theirs = Table(**mine, n_threads=2), TfidfVectorizer(**yours)
    X, Y = table.fit_transform(texts), theirs.fit_transform(texts)
    Y.sort_indices()
    assert [f"text: {name}" for name in theirs.get_feature_names_out()] == list(
        table.get_feature_names_out()
    )
    np.testing.assert_array_equal(X.indptr, Y.indptr)
    np.testing.assert_array_equal(X.indices, Y.indices)
    np.testing.assert_allclose(X.data, Y.data, rtol=1e-12)
    again = table.transform(texts)
    np.testing.assert_array_equal(again.data, X.data)


def test_nothing_left_is_an_error():
    with pytest.raises(InvalidInput, match=r"no feature is left.*lower min_count"):
        Table(min_count=2).fit(["one", "two"])


def test_a_text_without_known_words_is_an_empty_row(route):
    X = Table(min_count=1).fit(["red wine"]).transform(["beer", "", "wine"])
    assert np.diff(X.indptr).tolist() == [0, 0, 1]
