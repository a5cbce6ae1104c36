"""N-grams are scikit-learn's, on both ways through the code and for every script."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from argmax.errors import InvalidInput
from argmax.features import characters
from argmax.features.grams import CHUNK, Analyzer
from argmax.records import Strings

NASTY = [
    "",
    " ",
    "a",
    "ab",
    "A tab\tand  two spaces\r\n\r\nand lines\u2028here\x85x\x1c\x1d",
    "ΣΑΣ ΟΔΥΣΣΕΥΣ. Σ ΑΣ' Σ̓",  # the final sigma depends on its neighbours
    "İstanbul ISPARTA ılık",  # lower-cased İ is two characters
    "Straße STRASSE ﬁn ǅ",
    "e\u0301te\u0301 é\u0327 naïve",  # combining marks are no word characters
    "१२३ ٣٤ ๑๒ x² ½ ⅷ 一二三",  # digits and numbers of other scripts
    "snake_case __init__ _ _a a_",
    "👩‍👩‍👧 ab😀cd 𝒳𝒴𝒵 🇫🇷",
    "KELVIN \u212a\u212aK Å",  # lower-cased to shorter UTF-8
    "ȺȺ Ⱦx",  # lower-cased to longer UTF-8
    "中文没有空格 日本語 ไทยภาษา",
    "\ufeffbom a\u00adb zero\u200bwidth\u200cjoin",
    "don't e-mail x.y@z.org 3.14 a1b2",
    "\x00nul\x00 \x7f",
]

KINDS = [
    ("word", (1, 1)),
    ("word", (1, 3)),
    ("char", (1, 3)),
    ("char", (4, 4)),
    ("char_wb", (2, 5)),
]


def theirs(kind, ngrams, lowercase):
    return CountVectorizer(analyzer=kind, ngram_range=ngrams, lowercase=lowercase).build_analyzer()


def counters(analyzer, texts):
    """What each text has of which n-gram."""
    found = []
    for counted in analyzer.count(Strings.of(texts)):
        grams = counted.grams.tolist()
        for start, stop in zip(counted.indptr, counted.indptr[1:], strict=False):
            row = slice(start, stop)
            numbers, counts = counted.indices[row].tolist(), counted.counts[row].tolist()
            assert len(set(numbers)) == len(numbers)
            found.append(Counter({grams[g]: n for g, n in zip(numbers, counts, strict=True)}))
        assert len(set(grams)) == len(grams)
    return found


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize(("kind", "ngrams"), KINDS)
def test_nasty_texts(route, kind, ngrams, lowercase):
    cut = theirs(kind, ngrams, lowercase)
    assert counters(Analyzer(kind, ngrams, lowercase), NASTY) == [Counter(cut(t)) for t in NASTY]


text = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("aAbB_9 \t\nΣσςİIıßé\u0301\u200d😀中٣ \x1c\u2028"),
    ),
    max_size=40,
)


@pytest.mark.parametrize(("kind", "ngrams"), KINDS)
@given(texts=st.lists(text, max_size=5))
@example(texts=["ΑΣ", "ΑΣΑ", "aΣ\u0301", "İ"])
def test_any_text(route, kind, ngrams, texts):
    cut = theirs(kind, ngrams, True)
    assert counters(Analyzer(kind, ngrams), texts) == [Counter(cut(t)) for t in texts]


@pytest.mark.parametrize(("kind", "ngrams"), [*KINDS, ("value", (1, 1))])
def test_both_ways_number_alike(monkeypatch, kind, ngrams):
    texts = Strings.of([*NASTY, None, *NASTY[::-1]])
    found = []
    for way in ("never", "always"):
        monkeypatch.setenv("ARGMAX_COMPILED", way)
        (counted,) = Analyzer(kind, ngrams).count(texts)
        found.append(counted)
    plain, compiled = found
    assert plain.grams.tolist() == compiled.grams.tolist()
    for name in ("indptr", "indices", "counts", "documents", "occurrences"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(compiled, name))
    assert plain.indices.dtype == compiled.indices.dtype == np.int32


def test_chunks_hold_every_text_once(route, monkeypatch):
    monkeypatch.setattr("argmax.features.grams.CHUNK", 64)
    analyzer = Analyzer("word", (1, 2))
    texts = [*NASTY, "x" * 500, "", "", "one more"]
    parts = list(analyzer.count(Strings.of(texts), threads=3))
    assert len(parts) > 3
    assert sum(map(len, parts)) == len(texts)
    cut = theirs("word", (1, 2), True)
    assert counters(analyzer, texts) == [Counter(cut(t)) for t in texts]


def test_a_part_of_longer_strings(route):
    whole = Strings.of(["skip é", "one two", "trois étés", "skip"])
    (counted,) = Analyzer().count(whole[1:3])
    assert counted.grams.tolist() == ["one", "two", "trois", "étés"]


def test_values_are_whole_and_missing_ones_are_none(route):
    (counted,) = Analyzer("value").count(Strings.of(["B b", None, "", "B b", "été"]))
    assert counted.grams.tolist() == ["B b", "", "été"]
    assert counted.indptr.tolist() == [0, 1, 1, 2, 3, 4]
    assert counted.indices.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    "raw", [b"\xff", b"\xc3", b"a\xe2\x82", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"]
)
@pytest.mark.parametrize("kind", ["word", "char", "char_wb", "value"])
@pytest.mark.parametrize("lowercase", [True, False])
def test_bytes_that_are_no_text_are_refused(route, raw, kind, lowercase):
    data = np.frombuffer(b"fine" + raw, np.uint8)
    texts = Strings(data, np.array([0, 4, len(data)]))
    with pytest.raises(InvalidInput, match="row 1 is not valid UTF-8"):
        list(Analyzer(kind, lowercase=lowercase).count(texts))


def test_an_error_in_a_thread_comes_out(route, monkeypatch):
    monkeypatch.setattr("argmax.features.grams.CHUNK", 4)
    data = np.frombuffer(b"fine\xfffine", np.uint8)
    with pytest.raises(InvalidInput, match="row 1"):
        list(Analyzer().count(Strings(data, np.array([0, 4, 5, 9])), threads=2))


def test_tables_of_characters_are_pythons():
    points = [chr(i) for i in range(characters.CODE_POINTS)]
    table = characters.classes()
    word = np.fromiter((c.isalnum() or c == "_" for c in points), bool)
    space = np.fromiter((c.isspace() for c in points), bool)
    np.testing.assert_array_equal(table & characters.WORD != 0, word)
    np.testing.assert_array_equal(table & characters.SPACE != 0, space)


def test_lower_case_is_pythons_and_grows_by_half_at_most():
    table, regular = (
        characters.lower(),
        [i for i in range(characters.CODE_POINTS) if chr(i) not in characters.UNRULY],
    )
    assert "".join(map(chr, table[regular])) == "".join(chr(i).lower() for i in regular)
    np.testing.assert_array_equal(table[table], table)  # a text lower-cased before stays as it is
    bytes_of = np.array(
        [1 + (i >= 0x80) + (i >= 0x800) + (i >= 0x10000) for i in range(len(table))]
    )
    assert (bytes_of[table] <= 1.5 * bytes_of).all()
    np.testing.assert_array_equal(characters.lower(characters.ASCII), table[: characters.ASCII])


def test_chunks_are_small_enough_to_be_interrupted():
    assert CHUNK <= 2**20
