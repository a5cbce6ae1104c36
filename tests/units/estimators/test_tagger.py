"""The tagger as an object: its manners, its answers, what it is given, and how a fit ends."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import CRFTagger, SequenceTagger, SoftmaxRegression
from argmax.data import corpus
from argmax.errors import (
    InvalidInput,
    NoLegalLabelling,
    NoProbabilities,
    NotConverged,
    Unsupported,
    WrongType,
)
from argmax.estimators import decoding
from argmax.features import Given, Templates, Tokens
from argmax.spaces import constraints
from argmax.testing import check_sequence_estimator

X = [["the", "dog", "barks"], ["a", "cat"], ["dogs", "bark", "so", "loud"], ["the", "bark"]]
Y = [["D", "N", "V"], ["D", "N"], ["N", "V", "A", "A"], ["D", "N"]]
NEW = [["the", "cat", "barks"], ["a", "bark"]]
WORDS = Templates(["word[0]", "word[-1]"])
LABELS = ("A", "D", "N", "V")


def tagger(**options):
    return SequenceTagger(WORDS, **{"tol": 1e-10, **options}).fit(X, Y)


# Threads


@pytest.mark.parametrize("loss", ["log", "perceptron"])
def test_blocks_of_sequences_and_threads_change_nothing(loss, monkeypatch):
    sentences = corpus.sentences(60)
    words, labels = sentences.sequences("word"), sentences.sequences("label")
    model = SequenceTagger(loss=loss, n_threads=1, tol=0.1).fit(words[:40], labels[:40])
    whole, unknown = model.predict(words), dict(model.features_.unknown_)
    monkeypatch.setattr(decoding, "TOKENS", 20)
    for threads, most in ((1, 64), (2, 2**16), (3, 100)):
        monkeypatch.setattr(decoding, "MOST", most)
        model.set_params(n_threads=threads)
        model.features_.unknown_ = dict.fromkeys(unknown, 0)
        assert model.predict(words) == whole
        assert model.features_.unknown_ == unknown
    assert model.predict([[], *words, []]) == [[], *whole, []]
    assert model.score(words, labels) == np.mean(np.concatenate(labels) == np.concatenate(whole))


def test_a_sequence_without_legal_labels_is_named_whatever_its_block(monkeypatch):
    rules = constraints.forbid(list("AB"), [("A", "A"), ("A", "B"), ("B", "A"), ("B", "B")])
    model = CRFTagger(WORDS, constraints=rules, n_threads=2).fit([["a"], ["b"]], [["A"], ["B"]])
    monkeypatch.setattr(decoding, "TOKENS", 5)
    with pytest.raises(NoLegalLabelling, match="example 37"):
        model.predict([["a"]] * 37 + [["a", "b"]] + [["a"]])


# Manners


@pytest.mark.parametrize(
    ("estimator", "online"),
    [
        (CRFTagger(), False),
        (SequenceTagger(loss="softmax_margin"), False),
        (SequenceTagger(loss="hinge"), False),
        (SequenceTagger(loss="perceptron"), True),
        (SequenceTagger(penalty="elasticnet", l1_ratio=0.5), False),
    ],
    ids=["log", "softmax_margin", "hinge", "perceptron", "elasticnet"],
)
def test_the_manners_of_a_sequence_estimator(estimator, online):
    check_sequence_estimator(estimator, online=online)


def test_the_manners_where_tokens_are_dicts_of_columns():
    estimator = CRFTagger(Templates(["w[0]", "lower(w[-1])"]), start=False)
    check_sequence_estimator(estimator, token=lambda word: {"w": word}, numbers=False)


def test_both_faces_are_the_same_model():
    wide, narrow = SequenceTagger(WORDS).fit(X, Y), CRFTagger(WORDS).fit(X, Y)
    assert (wide.coef_ != narrow.coef_).nnz == 0
    assert set(narrow.get_params()) == set(wide.get_params()) - {
        "loss",
        "cost",
        "cost_per",
        "class_weight",
    }


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"C": 0}, InvalidInput, "C must be greater than 0"),
        ({"loss": "square"}, InvalidInput, "loss must be one of"),
        ({"loss": "squared"}, Unsupported, "belongs to single labels"),
        ({"cost": np.eye(4)}, Unsupported, "has no cost and would ignore it"),
        ({"loss": "softmax_margin", "cost": np.eye(3)}, InvalidInput, "cost"),
        ({"pairs": "some"}, InvalidInput, "pairs must be"),
        ({"order": 3}, InvalidInput, "order must be"),
        ({"constraints": "XYZ"}, InvalidInput, "constraints must be"),
        ({"constraints": "BIO"}, InvalidInput, "reads labels O, B-…, I-…; got 'A'"),
        ({"constraints": [("D", "Q")]}, InvalidInput, "'Q', which is not one of the labels"),
        ({"constraints": [("D", "N")]}, InvalidInput, "do not allow 'N' at token 1 of sequence 0"),
        ({"penalty": "l1", "solver": "lbfgs"}, Unsupported, "l1 penalty"),
        (
            {"loss": "hinge", "solver": "frank_wolfe", "order": 2},
            Unsupported,
            "order=1. Use solver=",
        ),
    ],
)
def test_a_wrong_parameter_is_one_sentence(options, error, words):
    with pytest.raises(error, match=words):
        SequenceTagger(WORDS, **options).fit(X, Y)


# Answers, against all label sequences one by one


def every_sequence(model, x):
    """All label sequences of x with their probabilities, the most probable first."""
    paths = list(itertools.product(LABELS, repeat=len(x)))
    p = [float(np.exp(model.log_likelihood([x], [list(path)])[0])) for path in paths]
    return sorted(zip(p, paths, strict=True), reverse=True)


@pytest.mark.parametrize("order", [1, 2])
def test_every_answer_is_that_of_enumeration(order):
    model = tagger(C=0.3, order=order)
    for x, best, top, marginals, risk in zip(
        NEW,
        model.predict(NEW),
        model.predict_top_k(NEW, 5),
        model.predict_marginals(NEW),
        model.predict_minimum_risk(NEW),
        strict=True,
    ):
        ranked = every_sequence(model, x)
        assert sum(p for p, _ in ranked) == pytest.approx(1.0)
        assert tuple(best) == ranked[0][1]
        assert [tuple(path) for path, _ in top] == [path for _, path in ranked[:5]]
        assert [p for _, p in top] == pytest.approx([p for p, _ in ranked[:5]])
        share = [
            [sum(p for p, path in ranked if path[t] == label) for label in LABELS]
            for t in range(len(x))
        ]
        np.testing.assert_allclose(marginals, share, atol=1e-12)
        assert risk == [LABELS[int(np.argmax(row))] for row in share]


def test_fewer_answers_than_asked_for():
    model = tagger()
    (all_of_them,) = model.predict_top_k([["dog"]], 9)
    assert len(all_of_them) == len(LABELS)
    assert sum(p for _, p in all_of_them) == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="k must be"):
        model.predict_top_k(NEW, 0)


def test_samples_are_drawn_as_often_as_they_are_probable():
    model, n = tagger(C=0.3), 4000
    draws = model.sample(NEW, n, random_state=0)
    assert [len(found) for found in draws] == [n, n]
    for x, found in zip(NEW, draws, strict=True):
        for p, path in every_sequence(model, x)[:5]:
            share = sum(tuple(draw) == path for draw in found) / n
            assert share == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n))
    assert model.sample(NEW, 3, random_state=1) == model.sample(NEW, 3, random_state=1)
    with pytest.raises(InvalidInput, match="n must be"):
        model.sample(NEW, 0)


def test_labels_never_seen_have_no_likelihood():
    model = tagger()
    found = model.log_likelihood(NEW, [["D", "Q", "V"], ["D", "N"]])
    assert found[0] == -np.inf
    assert found[1] < 0
    assert model.score(NEW, [["D", "Q", "V"], ["D", "N"]]) == pytest.approx(0.8)
    with pytest.raises(Unsupported, match="one label"):
        model.log_likelihood(NEW, [["D", None, "V"], ["D", "N"]])
    assert model.log_likelihood([[]], [[]]).tolist() == [0.0]
    with pytest.raises(InvalidInput, match="no tokens to score"):
        model.score([[]], [[]])


NAMES = [["Ann", "lives", "in", "New", "York"], ["York", "is", "old"], ["Ann", "Lee", "came"]]
SPANS = [["B-P", "O", "O", "B-L", "I-L"], ["B-L", "O", "O"], ["B-P", "I-P", "O"]]


def test_the_confidence_in_a_span_is_the_probability_of_its_labels():
    model = CRFTagger(WORDS, constraints="BIO", C=0.5).fit(NAMES, SPANS)
    (found,) = model.span_confidence(NAMES[:1])
    assert [span[:3] for span in found] == [(0, 1, "P"), (3, 5, "L")]
    draws = model.sample(NAMES[:1], 4000, random_state=0)[0]
    share = np.mean([draw[3:5] == ["B-L", "I-L"] for draw in draws])
    assert found[1][3] == pytest.approx(share, abs=0.04)


@pytest.mark.parametrize("order", [1, 2])
def test_an_explanation_adds_up(order):
    model = tagger(order=order)
    space, scores = model._scores(NEW, None)
    place = {label: i for i, label in enumerate(LABELS)}
    flat = np.array([place[label] for labels in model.predict(NEW) for label in labels])
    best, t = space.score(scores, flat), 0
    for i, tokens in enumerate(model.explain(NEW, top=100)):
        for at, why in enumerate(tokens):
            assert why.label == LABELS[flat[t]]
            start = model.start_[flat[t]] if at == 0 else 0.0
            assert why.own == pytest.approx(start + sum(share for _, share in why.attributes))
            other = flat.copy()
            other[t] = place[why.runner_up]
            assert why.margin == pytest.approx((best - space.score(scores, other))[i])
            t += 1
    (first, *_), _ = model.explain(NEW, top=1)
    assert len(first.attributes) == 1
    with pytest.raises(InvalidInput, match="top must be"):
        model.explain(NEW, top=0)


def test_an_explanation_knows_the_constraints():
    model = CRFTagger(WORDS, constraints="BIO").fit(NAMES, SPANS)
    for tokens in model.explain(NAMES):
        assert tokens[0].runner_up in (None, "B-L", "B-P", "O")
    only = constraints.forbid(list("AB"), [("A", "A"), ("B", "B"), ("B", "A")])
    model = CRFTagger(WORDS, constraints=only).fit([["a", "b"], ["b"]], [["A", "B"], ["B"]])
    ((first, second),) = model.explain([["a", "b"]])
    assert (second.label, first.runner_up) == ("B", None)
    assert first.margin == np.inf


# Labels


def test_labels_come_as_lists_arrays_strings_or_one_a_token():
    expected = tagger().predict(NEW)
    flat = [label for labels in Y for label in labels]
    tokens = Tokens.of({"word": [w for x in X for w in x], "y": flat}, lengths=[3, 2, 4, 2])
    for y in (
        [np.array(labels) for labels in Y],
        [tuple(labels) for labels in Y],
        flat,
        np.array(flat),
        np.array([*map(list, Y), None], object)[:4],
        tokens.column("y"),
    ):
        assert SequenceTagger(WORDS).fit(X, y).predict(NEW) == expected
    assert SequenceTagger(WORDS).fit(tokens, tokens.column("y")).predict(NEW) == expected


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (None, InvalidInput, "requires y"),
        ("DNVA", WrongType, "list of lists of labels"),
        (Y[:3], InvalidInput, "X has 4 sequences, y has 3"),
        ([*Y[:3], ["D"]], InvalidInput, r"sequence 3 has 2 tokens in X and 1 labels in y.*\['D'\]"),
        (["D"] * 9, InvalidInput, "X has 11 tokens, y has 9 labels"),
        ([["D", "N", 1], *Y[1:]], WrongType, "all be strings or all be numbers"),
        ([["D", "N", {}], *Y[1:]], WrongType, "labels must be strings or numbers"),
        ([["D", "N", set()], *Y[1:]], InvalidInput, "empty set"),
        ([["D"] * len(x) for x in X], InvalidInput, "two different labels; got one: 'D'"),
        ([[None] * len(x) for x in X], InvalidInput, "two different labels; got none"),
    ],
)
def test_labels_that_say_nothing(y, error, words):
    with pytest.raises(error, match=words):
        SequenceTagger(WORDS).fit(X, y)


def test_partial_labels_that_name_one_are_labels():
    plain = SequenceTagger(WORDS, pairs="all", tol=1e-11).fit(X, Y)
    sets = SequenceTagger(WORDS, tol=1e-11).fit(X, [[{label} for label in labels] for labels in Y])
    assert sets.solution_.objective == pytest.approx(plain.solution_.objective, rel=1e-9)
    np.testing.assert_allclose(sets.coef_.toarray(), plain.coef_.toarray(), atol=1e-4)


def test_partial_labels_leave_the_rest_to_the_model():
    partial = [["D", {"N", "V"}, None], ["D", "N"], ["N", "V", ("A", "D"), "A"], ["D", "N"]]
    model = SequenceTagger(WORDS).fit(X, partial)
    known = [(i, t, label) for i, labels in enumerate(partial) for t, label in enumerate(labels)]
    answers = model.predict(X)
    for i, t, label in known:
        if label is not None:
            assert answers[i][t] in label
    for loss in ("perceptron", "softmax_margin", "hinge"):
        with pytest.raises(Unsupported, match="one label a token"):
            SequenceTagger(WORDS, loss=loss).fit(X, partial)


def test_missing_strings_are_labels_that_nobody_knows():
    columns = {"word": ["a", "b", "a", "b"], "y": ["A", None, None, "B"]}
    tokens = Tokens.of(columns, lengths=[2, 2])
    model = CRFTagger(Templates(["word[0]"])).fit(tokens, tokens.column("y"))
    listed = CRFTagger(Templates(["word[0]"])).fit(
        [["a", "b"], ["a", "b"]], [["A", None], [None, "B"]]
    )
    assert model.solution_.objective == pytest.approx(listed.solution_.objective, rel=1e-6)


# Weights


def test_sequences_without_weight_are_not_there():
    """Their labels are no classes, their attributes have no weights, their transitions do not count."""
    for features in (WORDS, Templates(["word[0]", "edge: word[0]"])):
        all_of_them = CRFTagger(features).fit(X, Y, sample_weight=[1, 2, 0, 1])
        rest = CRFTagger(features).fit(X[:2] + X[3:], Y[:2] + Y[3:], sample_weight=[1, 2, 1])
        assert all_of_them.classes_.tolist() == ["D", "N", "V"]
        same = zip(all_of_them.predict_marginals(X), rest.predict_marginals(X), strict=True)
        assert all(np.allclose(p, q, atol=1e-6) for p, q in same)
    partial = [["D", "N", None], *Y[1:]]
    assert len(CRFTagger(WORDS).fit(X, partial, sample_weight=[1, 1, 0, 1]).classes_) == 4


def test_wrong_weights():
    for weight, words in (
        ([1, 1], "sample_weight has 2"),
        ([1, 1, 1, -1], "negative"),
        ([0] * 4, "zero"),
    ):
        with pytest.raises(InvalidInput, match=words):
            CRFTagger(WORDS).fit(X, Y, sample_weight=weight)
    kept = SequenceTagger(WORDS, loss="perceptron").fit(X, Y, sample_weight=[1, 0, 1, 1])
    assert kept.solution_.status == "no mistakes"


# Constraints


def test_constraints_by_name_as_pairs_and_ready_made():
    rules = constraints.forbid(list(LABELS), [("D", "D"), ("V", "D")])
    listed = tagger(constraints=[("D", "D"), ("V", "D")])
    ready = tagger(constraints=rules)
    assert listed.predict(NEW) == ready.predict(NEW)
    for model in (listed, ready):
        assert model.log_likelihood([["a", "the"]], [["D", "D"]])[0] == -np.inf
        for path, _ in model.predict_top_k([["a", "the"]], 20)[0]:
            assert path[0] not in "DV" or path[1] != "D"


def test_an_entity_that_is_open_at_the_end_does_not_exist():
    y = [["B-P", "O", "O", "B-L", "L-L"], ["U-L", "O", "O"], ["B-P", "L-P", "O"]]
    y[0][0] = "U-P"
    model = CRFTagger(WORDS, constraints="BILOU").fit(NAMES, y)
    new = [["New"], ["Ann", "New"], ["in", "New", "York", "Lee"]]
    for answers in (model.predict(new), model.predict_minimum_risk(new)):
        assert all(labels[-1][0] in "OUL" for labels in answers)
    assert model.log_likelihood([["New"]], [["B-L"]])[0] == -np.inf


def test_partial_labels_and_constraints_that_leave_nothing():
    rules = constraints.forbid(list("AB"), [("A", "B")])
    y = [["A", {"A", "B"}], ["B", "A"], ["A", {"B"}]]
    with pytest.raises(NoLegalLabelling, match="example 2"):
        CRFTagger(WORDS, constraints=rules).fit([["a", "b"], ["b", "a"], ["a", "b"]], y)


# How a fit ends


def interrupt_at(n):
    calls = []

    def callback(progress):
        calls.append(progress)
        if len(calls) == n:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize(
    "options",
    [{}, {"penalty": "l1"}, {"loss": "perceptron"}],
    ids=["lbfgs", "orthant", "perceptron"],
)
def test_an_interrupt_goes_on_and_keeps_the_best_weights(options):
    model = SequenceTagger(WORDS, callbacks=[interrupt_at(2)], **options)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.solution_.status == "interrupted"
    assert len(model.solution_.history) == 2
    assert [len(labels) for labels in model.predict(NEW)] == [3, 2]


def test_an_interrupt_leaves_an_earlier_fit_as_it_was():
    model = tagger()
    coef, solution = model.coef_, model.solution_
    model.set_params(callbacks=[interrupt_at(1)])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:2], Y[:2])
    assert model.coef_ is coef
    assert model.solution_ is solution
    assert model.classes_.tolist() == list(LABELS)


def test_a_limit_of_time_or_passes_is_said():
    for options in ({"time_limit": 0.0}, {"max_iter": 1}):
        with pytest.warns(NotConverged, match="time_limit|max_iter"):
            model = SequenceTagger(WORDS, **{"tol": 1e-12, **options}).fit(X, Y)
        assert model.solution_.status in ("time_limit", "max_iter")
        assert model.predict(NEW)


@pytest.mark.parametrize("loss", ["log", "softmax_margin", "perceptron"])
def test_a_warm_start_at_the_end_is_the_end(loss):
    model = tagger(loss=loss, warm_start=True, pairs="all", tol=1e-6)
    first, answers = model.solution_, model.predict(NEW)
    again = model.fit(X, Y).solution_
    assert again.passes <= first.passes
    assert again.objective == pytest.approx(first.objective, rel=1e-5)
    assert model.predict(NEW) == answers


def test_a_warm_start_needs_the_same_problem():
    model = tagger(warm_start=True)
    other_labels = [[label.lower() for label in labels] for labels in Y]
    other_words = [[*x[:-1], "other"] for x in X]
    for words, labels in ((X, other_labels), (other_words, Y)):
        with pytest.raises(InvalidInput, match="labels or features differ"):
            model.fit(words, labels)
    with pytest.raises(InvalidInput, match="order differs"):
        model.set_params(order=2).fit(X, Y)
    model.set_params(order=1, start=False).fit(X, Y)
    model.set_params(start=True).fit(X, Y)
    assert model.solution_.objective == pytest.approx(tagger().solution_.objective, rel=1e-6)


def test_a_path_equals_cold_fits_and_leaves_the_estimator_alone():
    model, Cs = SequenceTagger(WORDS, tol=1e-9), [0.1, 1.0, 10.0]
    for C, found in zip(Cs, model.path(X, Y, Cs), strict=True):
        assert found.C == C
        cold = SequenceTagger(WORDS, tol=1e-9, C=C).fit(X, Y)
        assert found.solution_.objective == pytest.approx(cold.solution_.objective, rel=1e-7)
    assert not hasattr(model, "coef_")


def test_costs_keep_wrong_answers_away():
    cost = np.ones((4, 4)) - np.eye(4)
    plain = tagger(loss="softmax_margin")
    assert tagger(loss="softmax_margin", cost=cost).predict(NEW) == plain.predict(NEW)
    cost[2, 3] = 50.0  # an N that is called V
    careful = tagger(loss="softmax_margin", cost=cost)
    v = LABELS.index("V")
    before, after = plain.predict_marginals(NEW), careful.predict_marginals(NEW)
    assert after[1][1, v] < before[1][1, v]


def test_an_l1_penalty_leaves_weights_at_zero():
    model, dense = tagger(penalty="l1", tol=1e-6), tagger()
    assert np.count_nonzero(model.coef_.data) < np.count_nonzero(dense.coef_.data)
    assert model.solution_.converged


# Features in all forms


def test_features_in_dicts_lists_arrays_and_sparse_rows_are_one_model():
    names = sorted({w for x in X for w in x})
    dense = [np.array([[float(w == name) for name in names] for w in x]) for x in X]
    stacked, lengths = np.concatenate(dense), [len(x) for x in X]
    forms = [
        ([[{"w": w} for w in x] for x in X], None, None),
        ([[{f"w:{w}": 1.0} for w in x] for x in X], None, None),
        ([[[f"w:{w}"] for w in x] for x in X], None, None),
        (dense, None, None),
        ([sp.csr_array(rows) for rows in dense], None, None),
        (stacked, lengths, None),
        (sp.csr_array(stacked), lengths, None),
        (X, None, Templates(["word[0]"])),
        ({"word": [w for x in X for w in x]}, lengths, Templates(["word[0]"])),
    ]
    fits = [
        CRFTagger(features, pairs="all", tol=1e-11).fit(given, Y, lengths=cut)
        for given, cut, features in forms
    ]
    for model, (given, cut, _) in zip(fits, forms, strict=True):
        expected = fits[0].solution_.objective
        assert model.solution_.objective == pytest.approx(expected, rel=1e-8)
        assert model.predict(given, lengths=cut) == fits[0].predict(forms[0][0])
    assert isinstance(fits[0].features_, Given)


def test_templates_and_vectors_together():
    rng = np.random.default_rng(0)
    words, lengths = [w for x in X for w in x], [len(x) for x in X]
    table = {"word": words, "vector": rng.normal(size=(len(words), 3))}
    model = CRFTagger(Templates(["word[0]"], dense="vector")).fit(table, Y, lengths=lengths)
    assert model.coef_.shape == (4, len(set(words)) + 3)
    alone = CRFTagger(Templates(["word[0]"])).fit(X, Y)
    assert model.solution_.objective < alone.solution_.objective
    assert [len(p) for p in model.predict_marginals(table, lengths=lengths)] == lengths


def test_matrices_need_lengths_that_fit():
    rows = np.ones((11, 2))
    with pytest.raises(InvalidInput, match="needs lengths"):
        CRFTagger().fit(rows, Y)
    with pytest.raises(InvalidInput, match="lengths add up to 4"):
        CRFTagger().fit(rows, Y, lengths=[2, 2])
    model = CRFTagger().fit(rows, Y, lengths=[3, 2, 4, 2])
    with pytest.raises(InvalidInput, match="3 features, but training had 2"):
        model.predict(np.ones((2, 3)), lengths=[2])


def test_single_tokens_are_a_classifier():
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    chain = CRFTagger(start=False, pairs="all", tol=1e-12).fit(rows, labels, lengths=[1] * 40)
    flat = SoftmaxRegression(fit_intercept=False, tol=1e-12).fit(rows, labels)
    p = np.concatenate(chain.predict_marginals(rows, lengths=[1] * 40))
    np.testing.assert_allclose(p, flat.predict_proba(rows), atol=1e-5)


def test_a_tagger_beats_the_most_frequent_tag():
    tokens = corpus.sentences(300)
    words, tags = tokens.sequences("word"), tokens.sequences("pos")
    for loss in ("log", "softmax_margin", "hinge", "perceptron"):
        model = SequenceTagger(loss=loss, max_iter=1000 if loss != "perceptron" else 10)
        assert model.fit(words[:200], tags[:200]).score(words[200:], tags[200:]) > 0.93


@pytest.mark.parametrize("loss", ["hinge", "perceptron"])
def test_scores_are_no_probabilities_where_the_loss_estimates_none(loss):
    model = tagger(loss=loss)
    asked = [
        "predict_marginals",
        "predict_minimum_risk",
        "sample",
        "log_likelihood",
        "span_confidence",
    ]
    for name in asked:
        assert not hasattr(model, name)
        with pytest.raises(NoProbabilities, match=f"{name}.*CalibratedTagger.*loss='log'"):
            getattr(model, name)
    best, second = model.predict_top_k(NEW[:1], 2)[0]
    assert best[0] == model.predict(NEW[:1])[0] != second[0]
    assert np.isnan([best[1], second[1]]).all()
    ranked = model.decision_function(NEW)
    assert [scores.shape for scores in ranked] == [(len(x), len(LABELS)) for x in NEW]


def test_scores_of_a_crf_are_its_log_probabilities():
    model = tagger()
    for scores, p in zip(model.decision_function(NEW), model.predict_marginals(NEW), strict=True):
        np.testing.assert_allclose(scores, np.log(p), atol=1e-12)
    named = CRFTagger(WORDS).fit(NAMES, SPANS)
    pairs = zip(named.span_scores(NAMES), named.span_confidence(NAMES), strict=True)
    for scored, sure in pairs:
        assert [span[:3] for span in scored] == [span[:3] for span in sure]
        odds = [span[3] / (1 - span[3]) for span in sure]
        np.testing.assert_allclose([span[3] for span in scored], np.log(odds), rtol=1e-6)
