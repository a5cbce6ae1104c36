"""One column a category: sorted, exact, missing and unknown told apart."""

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from argmax.features.categories import CategoryLearner
from argmax.records import Strings

VALUES = ["b", "a", "", "É", "b", "a b", " a", "b\0", "A", "b"]


def learned(*batches, min_count=1):
    learner = CategoryLearner(min_count, threads=1)
    for batch in batches:
        learner.add(Strings.of(batch))
    return learner.category()


def dense(category, values):
    rows, unknown = category.transform(Strings.of(values), np.float64)
    out = np.zeros(rows.shape)
    for i in range(len(values)):
        out[i, rows.indices[rows.indptr[i] : rows.indptr[i + 1]]] = 1
    return out, unknown


def test_columns_are_those_of_a_one_hot_encoder(route):
    category = learned(VALUES)
    theirs = OneHotEncoder(sparse_output=False).fit(np.array(VALUES, object)[:, None])
    assert [category.name(j) for j in range(category.width)] == theirs.categories_[0].tolist()
    out, unknown = dense(category, VALUES)
    np.testing.assert_array_equal(out, theirs.transform(np.array(VALUES, object)[:, None]))
    assert unknown == 0


def test_missing_is_a_category_where_training_had_it(route):
    category = learned(["x", None, "y"])
    assert [category.name(j) for j in range(3)] == ["x", "y", "<missing>"]
    assert dense(category, [None, "y"])[0].tolist() == [[0, 0, 1], [0, 1, 0]]
    without = learned(["x", "y"])
    out, unknown = dense(without, [None, "z", "x"])
    assert out.tolist() == [[0, 0], [0, 0], [1, 0]]
    assert unknown == 1


def test_batches_change_nothing(route):
    whole, parts = learned(VALUES * 3), learned(VALUES, [], VALUES[:3], VALUES[3:], VALUES)
    assert parts.values.strings.tolist() == whole.values.strings.tolist()


def test_rare_values_are_left_out(route):
    assert learned(VALUES, min_count=3).values.strings.tolist() == ["b"]
