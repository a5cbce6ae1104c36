"""Units of the columns: powers of two, so nothing is lost on the way there and back."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from argmax.checks import compressed
from argmax.engines.reading import divided
from argmax.estimators.units import Units
from argmax.layouts import Full
from argmax.records import Structures
from argmax.surveys import column_sizes

X = np.random.default_rng(0).normal(size=(20, 3)) * np.array([1e-8, 1.0, 1e9])


def test_usual_columns_are_left_alone():
    usual = X / np.array([1e-8, 1.0, 1e9])
    assert Units.of(column_sizes(usual)).scale is None


@pytest.mark.parametrize("form", [np.asarray, lambda X: compressed(sp.csr_array(X))])
def test_the_largest_value_of_a_column_becomes_one_to_two(form):
    units = Units.of(column_sizes(form(X)))
    rows = divided(form(X), units.scale)
    values = rows if isinstance(rows, np.ndarray) else rows.values.reshape(20, 3)
    largest = np.abs(values).max(axis=0)
    assert ((largest >= 1.0) & (largest < 2.0)).all()
    np.testing.assert_array_equal(values * units.scale, X)  # not a digit lost


def test_empty_columns_keep_their_unit():
    assert Units.of(np.array([0.0, 1e6])).scale[0] == 1.0


def test_scores_are_the_same_inside_and_outside():
    units, layout = Units.of(column_sizes(X)), Full(3, 4)
    w = layout.pack(np.random.default_rng(1).normal(size=(4, 3)), np.ones(4))
    inside = units.inside(layout, w)
    np.testing.assert_array_equal(units.outside(layout, inside), w)
    np.testing.assert_allclose(
        layout.scores(Structures(divided(X, units.scale)), inside).node,
        layout.scores(Structures(X), w).node,
        rtol=1e-12,
    )


def test_callbacks_are_told_the_users_weights():
    from argmax.solvers import Progress

    units, layout, told = Units.of(column_sizes(X)), Full(3, 4), []
    w = layout.pack(np.ones((4, 3)))
    progress = Progress(1, 0.0, 0.0, 0.0, 0.0, units.inside(layout, w))
    units.told(layout, told.append)(progress)
    np.testing.assert_array_equal(told[0].w, w)
    assert replace(told[0], w=None) == replace(progress, w=None)
