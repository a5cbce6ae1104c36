"""Faults 11 and 12: sparse matrices that are broken, and data that is too large."""

import warnings

import numpy as np
import scipy.sparse as sp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from argmax import LinearClassifier, SoftmaxRegression
from argmax.errors import ArgmaxError, NotConverged, ResourceLimit
from argmax.layouts import Full
from argmax.records import Csr, Structures
from tests.faults.cases import broken, problem, refuses, routes
from tests.faults.harness import GIB, alone


@alone
def test_11_broken_compressed_matrices_are_refused_at_fit_and_predict():
    X, y = problem()
    for _ in routes():
        model = SoftmaxRegression().fit(sp.csr_array(X), y)
        for form in (sp.csr_array, sp.csr_matrix, sp.csc_array):
            for matrix, problem_ in broken(form):
                refuses(model.fit, matrix, y, says=("broken CS", problem_, "Build it again"))
                refuses(model.predict, matrix, says=("broken CS", problem_))


def broken_otherwise(X):
    """The other formats, each with an entry that lies far outside the matrix."""
    far = 10**7
    coo = sp.coo_array(X)
    coo.coords = (np.full_like(coo.coords[0], far), coo.coords[1])
    yield coo
    coo = sp.coo_array(X)
    coo.coords = (coo.coords[0], coo.coords[1] - 4)
    yield coo
    coo = sp.coo_array(X)
    coo.data = coo.data[:-7]
    yield coo
    bsr = sp.bsr_array(X, blocksize=(2, 5))
    bsr.indices = bsr.indices + far
    yield bsr
    lil = sp.lil_array(X)
    lil.rows[3] = [far]
    lil.data[3] = [1.0]
    yield lil
    lil = sp.lil_array(X)
    lil.data[3] = lil.data[3] * 1000
    yield lil
    dia = sp.dia_array((np.ones((2, 5)), [0, -1]), shape=X.shape)
    dia.offsets = np.array([0])
    yield dia
    dia = sp.dia_array((np.ones((2, 5)), [0, -1]), shape=X.shape)
    dia.offsets = np.array([0, -far])
    yield dia


@alone
def test_11_broken_matrices_of_other_formats_are_refused():
    X, y = problem()
    model = SoftmaxRegression().fit(X, y)
    for matrix in broken_otherwise(X):
        refuses(model.fit, matrix, y, says=(f"broken {matrix.format.upper()}",))
        refuses(model.predict, matrix, says=(f"broken {matrix.format.upper()}",))


@alone
def test_11_duplicates_are_summed_and_any_order_is_accepted():
    X, y = problem()
    for _ in routes():
        model = SoftmaxRegression().fit(X, y)
        for pattern in ([0, 1, 1, 2, 3], [4, 3, 2, 1, 0], [3, 0, 3, 2, 3]):
            matrix = sp.csr_array(X)
            matrix.indices = np.tile(pattern, len(X)).astype(np.int32)
            matrix.has_canonical_format = matrix.has_sorted_indices = False
            dense, held = matrix.toarray(), matrix.indices.copy()
            scores = model.decision_function(matrix)
            np.testing.assert_allclose(scores, model.decision_function(dense), atol=1e-10)
            ours = SoftmaxRegression(tol=1e-12).fit(matrix, y).coef_
            np.testing.assert_allclose(
                ours, SoftmaxRegression(tol=1e-12).fit(dense, y).coef_, atol=1e-5
            )
            assert np.array_equal(matrix.indices, held)
        tail = sp.csr_array(X)  # entries that no row uses are not data
        tail.indices, tail.data = np.append(tail.indices, 4), np.append(tail.data, np.nan)
        assert np.array_equal(model.predict(tail), model.predict(X))
        assert np.isfinite(SoftmaxRegression().fit(tail, y).coef_).all()


def mutated(draw):
    """A CSR or CSC matrix with up to three random changes to its arrays."""
    form = draw(st.sampled_from([sp.csr_array, sp.csc_array]))
    matrix = form(problem(n=12)[0] * (np.arange(60).reshape(12, 5) % 3 > 0))
    extreme = st.sampled_from([-(2**31), -1, 0, 1, 4, 5, 12, 39, 2**31 - 1])
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(["indptr", "indices", "data"]))
        array = getattr(matrix, name).copy()
        change = draw(st.sampled_from(["set", "cut", "extend", "shuffle", "widen"]))
        if change == "set" and len(array):
            array[draw(st.integers(0, len(array) - 1))] = draw(extreme)
        elif change == "cut":
            array = array[: draw(st.integers(0, len(array)))]
        elif change == "extend":
            array = np.append(array, array[:3])
        elif change == "shuffle":
            array = array[draw(st.permutations(range(len(array))))]
        else:
            array = array.astype(draw(st.sampled_from(["i8", "u4", "f8", "i2"])))
        setattr(matrix, name, array)
    return matrix


@alone
def test_11_randomly_mutated_matrices_are_refused_or_answered_with_finite_numbers():
    X, y = problem(n=12)
    warnings.simplefilter("ignore", NotConverged)  # huge values may hide the certificate
    outcomes = {"refused": 0, "answered": 0}

    @settings(
        max_examples=100, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
    )
    @given(st.data())
    def check(data):
        matrix = mutated(data.draw)
        for answer in (model.predict_proba, lambda rows: SoftmaxRegression().fit(rows, y).coef_):
            try:
                assert np.isfinite(answer(matrix)).all()
                outcomes["answered"] += 1
            except ArgmaxError:
                outcomes["refused"] += 1

    for _ in routes():
        model = SoftmaxRegression().fit(X, y)
        check()
    assert min(outcomes.values()) > 20, outcomes


@alone
def test_12_indices_of_64_bits_give_the_same_answer():
    X, y = problem()
    matrix = sp.csr_array(X * (np.abs(X) > 0.5))
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for route in routes():
        model, other = (SoftmaxRegression().fit(rows, y) for rows in (matrix, wide))
        assert np.array_equal(model.coef_, other.coef_)
        # Beyond 2³¹ entries the kernels themselves run on 64 bits.
        layout = Full(5, 3, sparse=True, compiled=route == "always")
        w = np.linspace(-1, 1, layout.size)
        rows = [Csr(m.indptr, m.indices, m.data, 5) for m in (matrix, wide)]
        narrow_scores, wide_scores = (layout.scores(Structures(r), w).node for r in rows)
        assert np.array_equal(narrow_scores, wide_scores)


@alone(memory=3 * GIB)
def test_12_rows_times_classes_beyond_memory_are_refused_with_the_figure():
    labels = np.arange(60_000) // 3
    rows = np.random.default_rng(0).normal(size=(60_000, 2))
    model = SoftmaxRegression()
    says = ("60000 rows", "20000 classes", "GiB", "Reduce")
    refuses(model.fit, rows, labels, says=says, error=ResourceLimit)

    broad = sp.csr_array((np.ones(4), ([0, 1, 2, 3], [0, 1, 2**31, 2**33])), shape=(4, 2**34))
    refuses(model.fit, broad, [0, 1, 0, 1], says=("17179869184 features",), error=ResourceLimit)

    model = SoftmaxRegression(max_iter=2, solver="lbfgs", tol=1.0).fit(rows[:1500], labels[:1500])
    many = np.zeros((10**6, 2))
    says = ("1000000 rows", "500 classes", "GiB", "fewer rows at a time")
    refuses(model.predict, many, says=says, error=ResourceLimit)
    assert len(model.predict(many[:10])) == 10


@alone(memory=3 * GIB)
def test_12_steps_on_single_rows_take_no_table_of_rows_and_classes():
    k = 20_000  # whose table would be 3 GiB
    labels = np.arange(k)
    rows = np.random.default_rng(0).normal(size=(k, 2))
    for loss, solver in (("perceptron", "auto"), ("pa1", "auto"), ("log", "sgd"), ("hinge", "sgd")):
        model = LinearClassifier(loss=loss, solver=solver, max_iter=1).fit(rows, labels)
        assert model.coef_.shape == (k, 2)
        assert model.coef_.any()
        assert model.solution_.status == "epochs done"
        assert np.isinf(model.solution_.gap)
    assert "20000 rows have too many scores of 20000 classes" in model.solution_.message
