"""Rows dealt out: every entry has the owner of its feature, and owners have as much to do as each other."""

import numpy as np
import pytest
import scipy.sparse as sp

from argmax.checks import compressed
from argmax.engines import Threads
from argmax.engines.columns import OWNERS, sampled
from argmax.engines.dealt import FREQUENT, TOGETHER, deal, hands
from argmax.kernels.dealt import GROUP
from argmax.records import Csr
from tests.laws.problems import make_rows, plain


def in_turn(piece, count):
    return [piece(i) for i in range(count)]


def text(n=400, d=3000, seed=0):
    """Rows with frequent and rare features."""
    rng = np.random.default_rng(seed)
    columns = (d ** rng.random((n, 40))).astype(int) % d
    X = sp.csr_array(
        (np.ones(columns.size), (np.repeat(np.arange(n), 40), columns.ravel())), (n, d)
    )
    X.sum_duplicates()
    return compressed(X)


def gathered(rows, given, dealt):
    """The rows again, as a table, from what each owner holds."""
    table, feature = np.zeros(rows.shape), np.full(given.size, -1)
    feature[given.place] = np.arange(rows.width)
    for g in range(dealt.groups):
        for r in range(OWNERS):
            for slot in range(GROUP):
                at = (g * OWNERS + r) * GROUP + slot
                for t in range(dealt.starts[at], dealt.starts[at + 1]):
                    j = feature[dealt.indices[t]]
                    assert given.owner[j] == r
                    table[dealt.order[g * GROUP + slot], j] += dealt.values[t * dealt.step]
    return table


@pytest.mark.parametrize("kind", ["csr", "indicators"])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 70])
@pytest.mark.parametrize("d", [1, 5, 40])
def test_dealt_rows_are_the_rows(kind, n, d):
    rows = make_rows(kind, np.random.default_rng(n * d), n, d)
    given = hands(rows)
    dealt = deal(rows, given, float, in_turn)
    np.testing.assert_array_equal(gathered(rows, given, dealt), plain(rows))
    assert sorted(dealt.order) == list(range(n))


def test_some_rows_of_more_are_dealt_by_their_own_features():
    """Their entries do not begin where the arrays do."""
    rows = make_rows("csr", np.random.default_rng(0), 60, 8)[20:50]
    assert rows.indptr[0] > 0
    given = hands(rows)
    np.testing.assert_array_equal(
        gathered(rows, given, deal(rows, given, float, in_turn)), plain(rows)
    )
    np.testing.assert_array_equal(
        sampled(rows, 10**6), rows.indices[rows.indptr[0] : rows.indptr[-1]]
    )


def test_wide_indices():
    rows = make_rows("csr", np.random.default_rng(0), 30, 8)
    wide = Csr(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.values, rows.width)
    given = hands(wide)
    np.testing.assert_array_equal(
        gathered(wide, given, deal(wide, given, float, in_turn)), plain(rows)
    )


def test_values_in_single_precision():
    rows = make_rows("csr", np.random.default_rng(0), 30, 8)
    given = hands(rows)
    dealt = deal(rows, given, np.float32, in_turn)
    assert dealt.values.dtype == np.float32
    expected = plain(rows).astype(np.float32)
    np.testing.assert_array_equal(gathered(rows, given, dealt), expected)


def test_rows_without_any_entry():
    rows = Csr(np.zeros(21, np.int32), np.zeros(0, np.int32), np.zeros(0), 7)
    given = hands(rows)
    dealt = deal(rows, given, float, in_turn)
    assert dealt.starts.tolist() == [0] * (2 * OWNERS * GROUP + 1)


def test_every_feature_has_a_place_of_its_own_in_the_range_of_its_owner():
    rows = text()
    given = hands(rows)
    assert len(set(given.place.tolist())) == rows.width
    assert given.place.max() < given.size
    first = [given.place[given.owner == o].min() for o in range(OWNERS)]
    last = [given.place[given.owner == o].max() for o in range(OWNERS)]
    assert all(begin % TOGETHER == 0 for begin in first)
    assert all(end < begin for end, begin in zip(last, first[1:], strict=False))


def test_owners_have_as_many_entries_and_features_as_each_other():
    rows = text()
    given = hands(rows)
    entries = np.bincount(given.owner[rows.indices], minlength=OWNERS)
    features = np.bincount(given.owner, minlength=OWNERS)
    assert rows.width > 2 * FREQUENT
    assert entries.max() <= 1.05 * entries.mean()
    assert features.max() <= 1.25 * features.mean()


def test_any_number_of_threads_deals_the_same():
    rows = text()
    given = hands(rows)
    found = []
    for n in (1, 3):
        with Threads(n).open() as crew:
            found.append(deal(rows, given, float, crew.run))
    for one, other in zip(found[0].arguments(), found[1].arguments(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["csr", "indicators"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("P", [4, 8, 12, 16, 20, 24, 28, 44])
def test_the_adjoint_has_all_digits_whatever_visits_read(kind, dtype, P):
    rng = np.random.default_rng(P)
    rows = make_rows(kind, rng, 70, 30)
    dealt, residual = deal(rows, hands(rows), dtype, in_turn), rng.normal(size=(70, P))
    gradient = np.full((30, P), np.nan)
    dealt.adjoint(residual, gradient, 1, in_turn)
    np.testing.assert_allclose(gradient, plain(rows).T @ residual, atol=1e-13)


def test_values_that_were_given_in_single_precision_have_no_rest():
    rows = make_rows("csr", np.random.default_rng(0), 30, 8)
    single = Csr(rows.indptr, rows.indices, rows.values.astype(np.float32), rows.width)
    assert deal(rows, hands(rows), np.float32, in_turn).rest.any()
    assert deal(single, hands(single), np.float32, in_turn).rest is None


@pytest.mark.parametrize("threads", [2, 3, 7, 16])
def test_any_number_of_threads_adds_the_same(threads):
    rows = text()
    dealt = deal(rows, hands(rows), np.float32, in_turn)
    residual = np.random.default_rng(0).normal(size=(len(rows), 8))
    one, many = np.empty((rows.width, 8)), np.empty((rows.width, 8))
    dealt.adjoint(residual, one, 1, in_turn)
    with Threads(threads).open() as crew:
        dealt.adjoint(residual, many, threads, crew.run)
    assert one.tobytes() == many.tobytes()
