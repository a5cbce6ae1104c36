"""Cost tables, and fault 14: a bad one is an error, a suspicious one a warning."""

import numpy as np
import pytest

from argmax import costs
from argmax.errors import InvalidInput, WrongType


@pytest.mark.parametrize("k", [1, 2, 5])
def test_zero_one_counts_wrong_answers(k):
    table = costs.zero_one(k)
    assert not np.diag(table).any()
    assert table.sum() == k * (k - 1)


@pytest.mark.parametrize(("k", "error"), [(0, InvalidInput), (2.0, WrongType), (True, WrongType)])
def test_the_number_of_labels_is_a_whole_number(k, error):
    with pytest.raises(error, match="k must be"):
        costs.zero_one(k)


def test_a_good_table_passes_as_a_copy():
    given = np.array([[0.0, 20.0], [1.0, 0.0]])
    table = costs.matrix(given, 2)
    table[0, 0] = 9.0
    assert given[0, 0] == 0.0


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0, 1, 2], [1, 0, 2]], "one row and one column for each of the 2 labels"),
        ([0, 1], "got shape"),
        ([[0, np.nan], [1, 0]], "finite"),
        ([[0, np.inf], [1, 0]], "finite"),
        ([[0, -1], [1, 0]], "not negative"),
    ],
)
def test_a_bad_table_is_refused(table, words):
    with pytest.raises(InvalidInput, match=words):
        costs.matrix(table, 2)


def test_a_diagonal_above_its_row_is_a_warning():
    with pytest.warns(UserWarning, match="pass its transpose"):
        table = costs.matrix([[5, 1], [1, 0]], 2)
    np.testing.assert_array_equal(table, [[5, 1], [1, 0]])


def test_a_single_label_has_nothing_to_warn_about():
    np.testing.assert_array_equal(costs.matrix([[3.0]], 1), [[3.0]])


# Costs of each example, and of a hierarchy


def test_costs_of_each_example_have_a_row_and_a_column_each():
    np.testing.assert_array_equal(costs.rows([[0, 2], [1, 0], [3, 0]], 3, 2)[2], [3.0, 0.0])
    with pytest.raises(
        InvalidInput, match=r"a row for each of the 2 examples .* got shape \(3, 2\)"
    ):
        costs.rows(np.zeros((3, 2)), 2, 2)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="finite and not negative"):
            costs.rows([[0.0, wrong]], 1, 2)


PARENTS = {"cat": "pet", "dog": "pet", "pet": "animal", "wolf": "animal", "ship": "thing"}


def test_a_hierarchy_counts_steps_to_the_first_common_group():
    labels = ["cat", "dog", "ship", "wolf"]
    table = costs.hierarchy(PARENTS, labels)
    np.testing.assert_array_equal(table, table.T)
    assert not np.diag(table).any()
    assert table.max() == 1.0
    near, far = table[0, 1], table[0, 2]
    assert 0 < near < table[0, 3] < far
    np.testing.assert_array_equal(costs.hierarchy({}, labels), costs.zero_one(4))


def test_a_hierarchy_is_a_tree():
    with pytest.raises(InvalidInput, match="not a tree"):
        costs.hierarchy({"a": "b", "b": "a"}, ["a", "b"])
