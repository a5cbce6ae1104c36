"""The corpus that the library writes itself."""

from collections import Counter, defaultdict

import pytest

from argmax.data import corpus, open_conll
from argmax.errors import InvalidInput


def columns(tokens):
    return [tokens.sequences(name) for name in tokens.columns]


def test_a_larger_corpus_begins_with_the_smaller_one():
    few, many = columns(corpus.sentences(20)), columns(corpus.sentences(50))
    assert [column[:20] for column in many] == few
    assert columns(corpus.sentences(20, seed=1)) != few


def test_files_hold_the_same_sentences_and_obey_bio(tmp_path):
    path = tmp_path / "train.conll"
    corpus.write_sentences(path, n=300)
    source = open_conll(path, scheme="BIO")
    assert columns(source.read()) == columns(corpus.sentences(300))
    with pytest.raises(InvalidInput, match="exists"):
        corpus.write_sentences(path)
    corpus.write_sentences(path, n=1, overwrite=True)
    assert len(open_conll(path).read()) == 1


@pytest.mark.parametrize(("column", "low", "high"), [("pos", 0.85, 0.92), ("label", 0.88, 0.95)])
def test_words_alone_do_not_say_it(column, low, high):
    """Most frequent tag of each word, on later sentences: far from all, so neighbours must count."""
    tokens = corpus.sentences(3000)
    words, tags = tokens.column("word").tolist(), tokens.column(column).tolist()
    cut = len(words) * 2 // 3
    seen = defaultdict(Counter)
    for word, tag in zip(words[:cut], tags[:cut], strict=True):
        seen[word][tag] += 1
    guesses = [seen[word].most_common(1)[0][0] if seen[word] else None for word in words[cut:]]
    right = sum(a == b for a, b in zip(guesses, tags[cut:], strict=True)) / len(guesses)
    assert low < right < high


def test_no_sentences_cannot_be_asked_for():
    with pytest.raises(InvalidInput, match="n must be at least 1"):
        corpus.sentences(0)
