"""Every check: what passes, and the sentence for what does not."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from argmax import checks
from argmax.errors import (
    InvalidInput,
    NoLegalLabelling,
    NumericalFailure,
    ResourceLimit,
    WrongType,
)
from argmax.records import Csr, Scores


@pytest.mark.parametrize("value", [0, 1.5, np.float32(2.0), np.int64(3), np.inf])
def test_number_accepts_real_numbers(value):
    assert checks.number("C", value, 0.0) == float(value)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ("1", WrongType, "C must be a number; got '1'"),
        (None, WrongType, "got None"),
        (True, WrongType, "got True"),
        (-1, InvalidInput, "C must be greater than 0 and at most 5; got -1"),
        (0, InvalidInput, "greater than 0"),
        (6.0, InvalidInput, "at most 5"),
        (np.nan, InvalidInput, "got nan"),
    ],
)
def test_number_refuses_with_the_limits(value, error, words):
    with pytest.raises(error, match=words):
        checks.number("C", value, 0.0, 5.0, open_low=True)


def test_number_may_be_its_lower_limit():
    assert checks.number("l1_ratio", 0, 0.0, 1.0) == 0.0
    with pytest.raises(InvalidInput, match=r"l1_ratio must be at least 0 and at most 1; got 1\.5"):
        checks.number("l1_ratio", 1.5, 0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "error"),
    [(0, InvalidInput), (-3, InvalidInput), (2.0, WrongType), ("3", WrongType), (True, WrongType)],
)
def test_positive_integer_refuses(value, error):
    assert checks.positive_integer("max_iter", np.int32(4)) == 4
    with pytest.raises(error, match="max_iter must be"):
        checks.positive_integer("max_iter", value)


def test_choice_lists_what_is_allowed():
    assert checks.choice("penalty", None, ("l2", None)) is None
    with pytest.raises(InvalidInput, match="penalty must be one of 'l2', None; got 'l3'"):
        checks.choice("penalty", "l3", ("l2", None))


def test_node_scores_have_one_column_for_each_label():
    node = np.zeros((4, 3))
    assert checks.node_scores(Scores(node), 3) is node
    for wrong in (np.zeros((4, 2)), np.zeros(3)):
        with pytest.raises(InvalidInput, match=r"shape \(nodes, 3\)"):
            checks.node_scores(Scores(wrong), 3)


def test_some_answer_tells_no_answer_from_no_number():
    assert checks.some_answer(np.array([1.0, -1e300])).tolist() == [1.0, -1e300]
    with pytest.raises(NoLegalLabelling, match="example 1 has no legal labelling"):
        checks.some_answer(np.array([1.0, -np.inf]))
    for bad in (np.nan, np.inf):
        with pytest.raises(NumericalFailure, match="example 1 are not finite"):
            checks.some_answer(np.array([1.0, bad]))


# Rows


def rows(X, **options):
    return checks.rows(BaseEstimator(), X, **{"reset": True, **options})


@pytest.mark.parametrize(
    ("given", "dtype", "expected"),
    [("f4", None, "f4"), ("f8", None, "f8"), ("i4", None, "f8"), ("?", None, "f8"),
     ("f2", None, "f8"), ("f4", "float64", "f8"), ("f8", "float32", "f4")],
)  # fmt: skip
def test_rows_are_float32_or_float64(given, dtype, expected):
    found = rows(np.eye(3).astype(given), dtype=dtype)
    assert found.dtype == np.dtype(expected)
    assert found.flags.c_contiguous


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_sparse_rows_become_csr(form):
    X = sp.random_array((6, 4), density=0.5, rng=np.random.default_rng(0)).asformat(form)
    found = rows(X)
    assert isinstance(found, Csr)
    assert found.indices.dtype == np.int32
    table = sp.csr_array((found.values, found.indices, found.indptr), shape=found.shape)
    np.testing.assert_array_equal(table.toarray(), X.toarray())


def test_rows_that_are_right_already_are_not_copied():
    X = np.ones((4, 3))
    assert rows(X) is X
    S = sp.csr_array(X)
    assert np.shares_memory(rows(S).values, S.data)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_value_that_is_not_finite_is_named_by_row_and_column(bad, form):
    X = np.ones((5, 4))
    X[3, 2] = bad
    kind = "NaN" if np.isnan(bad) else "infinity"
    with pytest.raises(InvalidInput, match=f"X contains {kind}.*: 1 value.*row 3, column 2"):
        rows(form(X))
    rows(form(X), finite_later=True)


def test_sums_that_overflow_are_not_mistaken_for_infinity():
    X = np.full((4, 2), 1.5e308)
    assert rows(X) is X


def test_duplicates_are_summed_and_the_given_matrix_is_left_alone():
    S = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3])))
    found = checks.compressed(S)
    assert found.entries == 2
    assert found.values.tolist() == [3.0, 5.0]
    assert S.data.tolist() == [1.0, 2.0, 5.0]


def test_a_tail_that_no_row_uses_is_dropped():
    S = sp.csr_array((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    S.data, S.indices = np.append(S.data, np.nan), np.append(S.indices, 7)
    assert checks.compressed(S).values.tolist() == [1.0, 1.0]


def test_a_broken_matrix_is_refused_before_anything_follows_its_indices():
    S = sp.csr_array(np.eye(3))
    S.indices[1] = 9
    with pytest.raises(InvalidInput, match="broken CSR matrix: entry 1 has index 9"):
        checks.sparse_structure(S)


def one_by_one(piece, count):
    return [piece(i) for i in range(count)]


def test_magnitudes():
    ok, weight = np.ones((2, 2)), np.ones(2)
    checks.magnitude(ok, one_by_one)
    checks.total_weight(1.0, weight)
    checks.total_weight(np.inf, weight)
    with pytest.raises(InvalidInput, match="Scale your features"):
        checks.magnitude(ok * 1e80, one_by_one)
    with pytest.raises(InvalidInput, match="Scale your features"):
        checks.magnitude((ok * 1e20).astype("f4"), one_by_one)
    with pytest.raises(InvalidInput, match="larger weights or a larger C"):
        checks.total_weight(1.0, weight * 5e-324)
    with pytest.raises(InvalidInput, match="larger weights or a larger C"):
        checks.total_weight(5e-324, weight)
    with pytest.raises(InvalidInput, match="smaller weights or a smaller C"):
        checks.total_weight(1e60, weight * 1e60)


# Labels and weights


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([3, 1, 3], [1, 3]),
        (["b", "a", "b"], ["a", "b"]),
        ([True, False, True], [False, True]),
        ([2.0, 1.0, 2.0], [1.0, 2.0]),
        (np.array([5, 4, 5], dtype=object), [4, 5]),
    ],
)
def test_labels_are_sorted_and_coded(y, classes):
    found, codes = checks.labels(None, y, 3)
    assert found.tolist() == classes
    assert codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i4", ">i4", "i8", "u8"])
@pytest.mark.parametrize("spread", [1, 3, 1000])
def test_whole_numbers_are_coded_as_numpy_does(kind, spread):
    """Counted where they are near each other, at either end of what their kind holds."""
    limits, rng = np.iinfo(kind), np.random.default_rng(spread)
    away = np.minimum(rng.integers(0, 9, 50) * spread, min(limits.max, 10_000)).astype(object)
    for y in ((limits.min + away).astype(kind), (limits.max - away).astype(kind)):
        expected = np.unique(y, return_inverse=True)
        for found, wanted in zip(checks.labels(None, y, 50), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype


@pytest.mark.parametrize(
    "y", [[1.5, 2.0, 1.0], [np.nan, 1.0, 2.0], ["a", 1, "b"], [None, "a", "b"], [b"a", b"b", b"a"]]
)
def test_labels_that_cannot_name_a_class_are_refused(y):
    with pytest.raises(InvalidInput, match="Unknown label type"):
        checks.labels(None, np.array(y, dtype=object) if None in y else y, 3)


def test_lengths_that_differ_are_all_named():
    checks.same_length(X=[1, 2], y=[1, 2], sample_weight=None)
    with pytest.raises(InvalidInput, match="X has 2, y has 3"):
        checks.same_length(X=[1, 2], y=[1, 2, 3], sample_weight=0.5)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1.0, -2.0, 1.0], "must not be negative; got -2 at row 1"),
        ([1.0, np.nan, 1.0], "NaN or infinity: 1 value.*row 1"),
        ([1.0, 1.0, np.inf], "row 2"),
        ([0.0, 0.0, 0.0], "zero everywhere"),
        ([[1.0], [1.0], [1.0]], "1D"),
        ([1.0, 2.0], "X has 3, sample_weight has 2"),
    ],
)
def test_weights_without_meaning_are_refused(weight, words):
    with pytest.raises(InvalidInput, match=words):
        checks.sample_weight(weight, 3)


def test_weights_are_a_copy_and_one_number_serves_all():
    given = np.array([1.0, 2.0])
    checks.sample_weight(given, 2)[0] = 9.0
    assert given[0] == 1.0
    assert checks.sample_weight(None, 2).tolist() == [1.0, 1.0]
    assert checks.sample_weight(3, 2).tolist() == [3.0, 3.0]


def test_class_weights_multiply_row_weights():
    classes, codes, weight = np.array(["a", "b"]), np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0])

    def found(setting):
        return checks.class_weights(setting, classes, codes, weight).tolist()

    assert found(None) == [1.0, 2.0, 3.0]
    assert found({"b": 10.0}) == [1.0, 20.0, 30.0]
    assert found("balanced") == pytest.approx([3.0, 1.2, 1.8])  # each class weighs 3 in all


@pytest.mark.parametrize(
    ("setting", "error", "words"),
    [
        ("even", InvalidInput, "'balanced'"),
        ({"c": 1.0}, InvalidInput, "names 'c', which y does not have"),
        ({"a": -1.0}, InvalidInput, r"class_weight\['a'\] must be at least 0"),
        (3.0, WrongType, "None, 'balanced' or a dict"),
    ],
)
def test_class_weights_that_are_refused(setting, error, words):
    with pytest.raises(error, match=words):
        checks.class_weights(setting, np.array(["a", "b"]), np.array([0, 1]), np.ones(2))


# Memory


def test_memory_is_refused_with_the_figure_and_the_advice():
    checks.memory(1.0, "nothing", "Relax.")
    with pytest.raises(ResourceLimit, match=r"the job needs about .* GiB but .* Use less"):
        checks.memory(1e18, "the job", "Use less.")


def test_every_check_is_listed():
    assert list(checks.__all__) == sorted(checks.__all__)
    assert all(callable(getattr(checks, name)) for name in checks.__all__)
