"""Layouts: where each weight lives."""

import numpy as np
import pytest

from argmax.layouts import Full, as_matrix, csr_arguments, padded, two_classes
from argmax.records import Csr, Structures

SHAPES = [{}, {"intercept": False}, {"edge_kinds": 2}, {"sparse": True}, {"labels": 10}]


def layout(**options):
    return Full(**{"features": 3, "labels": 4, **options})


@pytest.mark.parametrize(
    ("m", "dense", "sparse"),
    [(1, 1, 1), (2, 4, 4), (4, 4, 4), (9, 12, 16), (12, 12, 16), (13, 16, 16)],
)
def test_padded_widths(m, dense, sparse):
    assert (padded(m), padded(m, sparse=True)) == (dense, sparse)


@pytest.mark.parametrize("m", range(1, 60))
def test_padding_is_little_and_a_multiple_of_four(m):
    for width in (padded(m), padded(m, sparse=True)):
        assert m <= width < m + 8
        assert width == 1 or width % 4 == 0


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_named_is_the_way_back_from_pack(options):
    where, rng = layout(**options), np.random.default_rng(0)
    coef, intercept = rng.normal(size=(where.columns, 3)), rng.normal(size=where.columns)
    edge = rng.normal(size=(where.edge_kinds, where.labels, where.labels))
    w = where.pack(coef, intercept, edge if where.edge_kinds else None)
    named = where.named(w)
    assert len(w) == where.size
    np.testing.assert_array_equal(named["coef"], coef)
    np.testing.assert_array_equal(named["intercept"], intercept * where.intercept)
    assert ("edge" in named) == bool(where.edge_kinds)
    if where.edge_kinds:
        np.testing.assert_array_equal(named["edge"], edge)


def test_named_parts_are_copies():
    where = layout()
    w = where.pack(np.ones((4, 3)))
    where.named(w)["coef"][:] = 7.0
    assert w.max() == 1.0


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_free_entries_are_the_intercept_and_nothing_else(options):
    where = layout(**options)
    w = where.pack(np.ones((where.columns, 3)), np.full(where.columns, 2.0))
    expected = where.columns if where.intercept else 0
    assert w[where.free].tolist() == [2.0] * expected
    penalised = layout(**options, free_intercept=False)
    assert len(w[penalised.free]) == 0


def test_padding_is_zero_in_packed_weights():
    where = layout(labels=5)
    w = where.pack(np.ones((5, 3)), np.ones(5))
    assert where.width == 8
    assert not where.matrix(w)[:, 5:].any()
    assert w.sum() == 20.0


def test_two_classes_share_one_vector():
    where = Full(2, 2, two_classes())
    assert (where.columns, where.width, where.size) == (1, 1, 3)
    w = where.pack(np.array([[2.0, 0.0]]), np.array([1.0]))
    scores = where.scores(Structures(np.array([[3.0, 5.0]])), w).node
    np.testing.assert_array_equal(scores, [[-3.5, 3.5]])


def test_the_label_matrix_is_written_out():
    np.testing.assert_array_equal(layout().label_matrix, np.eye(4))
    np.testing.assert_array_equal(Full(1, 2, two_classes()).label_matrix, [[-0.5], [0.5]])


def test_indicators_are_a_single_one_read_again_and_again():
    rows = Csr(np.array([0, 1, 3]), np.array([2, 0, 1]), None, 3)
    *_, values, step = csr_arguments(rows)
    assert (values.tolist(), step) == ([1.0], 0)
    np.testing.assert_array_equal(as_matrix(rows).toarray(), [[0, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(as_matrix(rows[1:]).toarray(), [[1, 1, 0]])


@pytest.mark.parametrize("compiled", [False, True])
def test_precise_products_of_float32_rows_are_those_of_float64(compiled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)).astype("f4")
    short, precise = (layout(compiled=compiled, precise=precise) for precise in (False, True))
    w = short.pack(rng.normal(size=(4, 3)), rng.normal(size=4))
    exact = X.astype(float) @ short.named(w)["coef"].T + short.named(w)["intercept"]
    assert 1e-12 < np.abs(short.scores(Structures(X), w).node - exact).max() < 1e-5
    np.testing.assert_allclose(precise.scores(Structures(X), w).node, exact, rtol=1e-12)
