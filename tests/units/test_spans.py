"""Scores of tagged sequences against plain counting, and against seqeval where it is installed."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax import metrics
from argmax.errors import InvalidInput
from tests import naive

NAMES = ["O", "B-A", "I-A", "B-B", "I-B", "I-C"]
label = st.sampled_from(NAMES)
pairs = st.lists(st.lists(st.tuples(label, label), max_size=6), min_size=1, max_size=6)


def sides(pairs):
    return [[a for a, _ in s] for s in pairs], [[b for _, b in s] for s in pairs]


def counted(truth, answer, kind=None):
    """(right, true, answered) spans of a type, or of all."""

    def found(sequences):
        return {
            (i, *span)
            for i, sequence in enumerate(sequences)
            for span in naive.conlleval(sequence)
            if kind in (None, span[0])
        }

    true, answered = found(truth), found(answer)
    return len(true & answered), len(true), len(answered)


@given(pairs.filter(any))
def test_spans_are_counted_as_conlleval_counts(pairs):
    truth, answer = sides(pairs)
    right, true, answered = counted(truth, answer)
    assert metrics.span_precision(truth, answer) == (right / answered if answered else 0.0)
    assert metrics.span_recall(truth, answer) == (right / true if true else 0.0)
    f1 = 2 * right / (true + answered) if true + answered else 0.0
    assert metrics.span_f1(truth, answer) == pytest.approx(f1)


@given(pairs.filter(any))
def test_tokens_and_sequences_are_counted(pairs):
    truth, answer = sides(pairs)
    flat = list(itertools.chain(*pairs))
    share = sum(a == b for a, b in flat) / len(flat)
    assert metrics.token_accuracy(truth, answer) == pytest.approx(share)
    whole = sum(a == b for a, b in zip(truth, answer, strict=True)) / len(pairs)
    assert metrics.sequence_accuracy(truth, answer) == pytest.approx(whole)


@given(pairs.filter(any))
def test_all_scores_at_once_are_the_same_scores(pairs):
    truth, answer = sides(pairs)
    found = metrics.tagging(truth, answer, n=20, classes=["O", "B-A"])
    assert found.token_accuracy.value == pytest.approx(metrics.token_accuracy(truth, answer))
    assert found.sequence_accuracy.value == pytest.approx(metrics.sequence_accuracy(truth, answer))
    kinds = {span[0] for s in truth + answer for span in naive.conlleval(s)}
    assert (found.spans is None) == (not kinds)
    assert {scores.type for scores in found.types} == kinds
    for scores in (*found.types, *([found.spans] if found.spans else [])):
        expected = counted(truth, answer, scores.type or None)
        assert (scores.right, scores.true, scores.answered) == expected
        for score in (scores.precision, scores.recall, scores.f1):
            assert 0.0 <= score.low <= score.value + 1e-12
            assert score.value - 1e-12 <= score.high <= 1.0
    unseen = [a for s in truth for a in s if a not in ("O", "B-A")]
    assert found.unseen == {name: unseen.count(name) for name in sorted(set(unseen))}


def test_seqeval_says_the_same(shared):
    seqeval = pytest.importorskip("seqeval.metrics")
    from argmax.data import open_conll

    truth = open_conll(shared("sequence/conll2000-test.txt.xz")).read().sequences("label")[:300]
    rng = np.random.default_rng(0)
    names = sorted({name for s in truth for name in s})
    answer = [[name if rng.random() < 0.9 else str(rng.choice(names)) for name in s] for s in truth]
    assert metrics.span_f1(truth, answer) == pytest.approx(seqeval.f1_score(truth, answer))
    assert metrics.span_recall(truth, answer) == pytest.approx(seqeval.recall_score(truth, answer))
    report = seqeval.classification_report(truth, answer, output_dict=True)
    for scores in metrics.tagging(truth, answer, n=10).types:
        assert scores.f1.value == pytest.approx(report[scores.type]["f1-score"])
        assert scores.true == report[scores.type]["support"]


def simulated(rng, n=100):
    """Sequences with a span each, which the answer misses with probability 0.3; long ones more often."""
    truth, answer = [], []
    for _ in range(n):
        size = int(rng.integers(2, 9))
        truth.append(["B-A", *["O"] * size])
        answer.append(["B-A" if rng.random() > 0.3 else "O", *["O"] * size])
    return truth, answer


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = [
        0.7 in metrics.tagging(*simulated(rng), n=150, level=0.9, seed=i).spans.recall
        for i in range(100)
    ]
    assert 0.82 <= np.mean(covered) <= 0.97


def test_intervals_are_wide_where_all_is_right():
    truth = [["B-A", "O"]] * 20
    found = metrics.tagging(truth, truth)
    assert found.spans.precision == metrics.proportion(20, 20)
    assert 0.8 < found.spans.f1.low < 1.0
    assert found.token_accuracy.low < 1.0


@pytest.mark.parametrize(
    "score",
    [
        metrics.token_accuracy,
        metrics.sequence_accuracy,
        metrics.span_precision,
        metrics.span_recall,
        metrics.span_f1,
        metrics.tagging,
    ],
)
def test_nothing_has_no_score(score):
    for nothing, lengths in (([], None), ([], [])):
        with pytest.raises(InvalidInput, match=r"truth is empty\. Pass at least one sequence"):
            score(nothing, nothing, lengths=lengths)
    with pytest.raises(InvalidInput, match="truth has no tokens: every sequence is empty"):
        score([[], []], [[], []])


def test_the_same_seed_gives_the_same_intervals():
    truth, answer = simulated(np.random.default_rng(1), 50)
    assert metrics.tagging(truth, answer) == metrics.tagging(truth, answer)
    assert metrics.tagging(truth, answer) != metrics.tagging(truth, answer, seed=1)


def test_flat_labels_with_lengths_and_labels_that_are_no_tags():
    truth, answer, lengths = ["NN", "VB", "NN"], ["NN", "NN", "NN"], [2, 0, 1]
    found = metrics.tagging(truth, answer, lengths=lengths)
    assert found.spans is None
    assert found.types == ()
    assert (found.sequences, found.tokens) == (3, 3)
    assert metrics.token_accuracy(np.array(truth), np.array(answer), lengths) == pytest.approx(
        2 / 3
    )
    assert metrics.sequence_accuracy(truth, answer, lengths) == pytest.approx(2 / 3)
    with pytest.raises(InvalidInput, match="'NN' marks no span"):
        metrics.span_f1(truth, answer, lengths)


@pytest.mark.parametrize(
    ("truth", "answer", "lengths", "says"),
    [
        ([["O"]], [["O"], ["O"]], None, "truth has 1 sequences and answer 2"),
        (
            [["O"], ["O", "B-A"]],
            [["O"], ["O"]],
            None,
            "sequence 1 has 2 labels in truth and 1 in answer",
        ),
        (["O", "O"], ["O", "O"], None, "truth[0] must be a sequence of labels"),
        ("O O", "O O", None, "list of sequences"),
        (["O", "O"], ["O", "O"], [3], "2 labels but lengths add up to 3"),
        ([[]], [[]], None, "no tokens"),
        ([["O"]], [[7]], None, "strings but"),
    ],
)
def test_what_cannot_be_scored(truth, answer, lengths, says):
    with pytest.raises((InvalidInput, TypeError)) as caught:
        metrics.tagging(truth, answer, lengths=lengths)
    assert says in str(caught.value)
