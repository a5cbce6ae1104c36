"""A fit that was cut off goes on where it was, and ends with the same model."""

import copy
import os

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import LinearClassifier, SoftmaxRegression, solvers
from argmax.engines import Stored, Threads
from argmax.errors import CannotWrite, ModelFileError
from argmax.estimators import resuming
from argmax.persist import Checkpoint, checkpoint, container, save
from argmax.solvers import dual


class Cut(Exception):
    """What ends a fit from outside."""


class CutAfter:
    def __init__(self, passes):
        self.passes = passes

    def __call__(self, progress):
        if progress.passes >= self.passes:
            raise Cut


def problem(n=400, d=6, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(0, 1, d)
    y = (X @ rng.normal(size=(d, k)) + 3 * rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


X, Y = problem()
SPARSE = sp.csr_array(X * (np.abs(X) > 1))
EVEN = SPARSE / np.logspace(0, 1, 6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoint"


def cut_off(model, path, passes, rows, y, **options):
    """Fit until so many passes are done, as if killed then."""
    callbacks = [Checkpoint(path, every=0, **options), CutAfter(passes)]
    with pytest.raises(Cut):
        copy.copy(model).set_params(callbacks=callbacks).fit(rows, y)


def resumed(model, path, rows, y):
    return copy.copy(model).set_params(callbacks=[Checkpoint(path, resume=True)]).fit(rows, y)


CASES = [
    ({"solver": "dual", "C": 0.01}, SPARSE),
    ({"solver": "lbfgs"}, X),
    ({"solver": "lbfgs", "dtype": "float32", "tol": 1e-12}, X),
    ({"solver": "newton", "class_weight": "balanced"}, X),
    ({"solver": "newton_cg", "C": np.inf}, SPARSE * 1000.0),
    ({"solver": "proximal", "penalty": "l1"}, X),
    ({"solver": solvers.Proximal(full=0), "penalty": "elasticnet", "l1_ratio": 0.5}, EVEN),
    ({}, X),
]


@pytest.mark.parametrize(("options", "rows"), CASES, ids=lambda value: str(value)[:60])
def test_cut_off_after_any_pass_it_ends_with_the_same_bits(options, rows, path, monkeypatch):
    monkeypatch.setattr(dual, "PATIENCE", (0.0, 0.0))
    model = LinearClassifier(**options)
    whole = copy.copy(model).fit(rows, Y)
    assert whole.n_iter_ > 3
    for passes in range(1, whole.n_iter_ + 1, max(1, whole.n_iter_ // 15)):
        cut_off(model, path, passes, rows, Y)
        again = resumed(model, path, rows, Y)
        assert again.coef_.tobytes() == whole.coef_.tobytes()
        assert again.intercept_.tobytes() == whole.intercept_.tobytes()
        assert again.n_iter_ == whole.n_iter_
        assert again.solution_.status == whole.solution_.status
        path.unlink()


def test_cut_off_again_and_again(path):
    model = LinearClassifier(solver="lbfgs", tol=1e-10)
    whole = copy.copy(model).fit(X, Y)
    for passes in range(1, whole.n_iter_, 2):
        cut_off(model, path, passes, X, Y, resume=True)
    assert resumed(model, path, X, Y).coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_another_number_of_threads_goes_on_with_the_same_bits(threads, path):
    model = LinearClassifier(solver="newton_cg")
    whole = copy.copy(model).fit(X, Y)
    cut_off(model, path, 2, X, Y)
    model.engine = Threads(threads)
    assert resumed(model, path, X, Y).coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("rows", [X, SPARSE], ids=["dense", "sparse"])
def test_rows_in_files_go_on_from_where_rows_in_memory_were(rows, path, tmp_path):
    model = LinearClassifier(solver="newton_cg")
    whole = copy.copy(model).fit(rows, Y)
    cut_off(model, path, 2, rows, Y)
    stored = Stored.write(tmp_path / "rows", [(rows[:150], Y[:150]), (rows[150:], Y[150:])])
    assert resumed(model, path, stored, None).coef_.tobytes() == whole.coef_.tobytes()


def test_without_a_file_a_fit_starts_as_usual(path):
    whole = SoftmaxRegression().fit(X, Y)
    again = resumed(SoftmaxRegression(), path, X, Y)
    assert again.coef_.tobytes() == whole.coef_.tobytes()


def test_a_finished_fit_taken_up_again_ends_at_once_with_the_same_bits(path):
    model = LinearClassifier(solver="lbfgs", callbacks=[Checkpoint(path, every=0)]).fit(X, Y)
    heard = []
    again = LinearClassifier(
        solver="lbfgs", callbacks=[Checkpoint(path, resume=True), heard.append]
    ).fit(X, Y)
    assert again.coef_.tobytes() == model.coef_.tobytes()
    assert again.n_iter_ == model.n_iter_
    assert len(heard) < model.n_iter_ / 2


@pytest.mark.filterwarnings("ignore::argmax.errors.NotConverged")
@pytest.mark.parametrize("limit", [{"max_iter": 3}, {"time_limit": 0.0}])
def test_a_limit_leaves_a_checkpoint_to_go_on_from(limit, path):
    short = LinearClassifier(solver="newton_cg", callbacks=[Checkpoint(path)], **limit).fit(X, Y)
    assert not short.solution_.converged
    again = resumed(LinearClassifier(solver="newton_cg"), path, X, Y)
    whole = LinearClassifier(solver="newton_cg").fit(X, Y)
    assert again.solution_.converged
    if "max_iter" in limit:
        assert again.coef_.tobytes() == whole.coef_.tobytes()
    else:
        np.testing.assert_allclose(again.coef_, whole.coef_, atol=1e-8)


def test_it_is_written_so_often_and_no_more(path, monkeypatch):
    written, now = [], [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(container, "write", lambda *given, **options: written.append(now[0]))

    def tick(progress):
        now[0] += 1.0

    model = LinearClassifier(solver="lbfgs", tol=1e-12, callbacks=[tick, Checkpoint(path, every=3)])
    model.fit(X, Y)
    assert len(written) >= 3
    assert set(np.diff(written)) == {3.0}


# Another problem


OTHERS = {
    "C": ({"C": 2.0}, X, Y, "C was 1.0 and is 2.0"),
    "penalty": ({"penalty": None}, X, Y, "l2 was 1.0 and is 0.0"),
    "intercept": ({"fit_intercept": False}, X, Y, "fit_intercept was True and is False"),
    "solver": ({"solver": "newton"}, X, Y, r"solver was 'lbfgs\(.*and is 'newton\(\)'"),
    "rows": ({}, X[:-1], Y[:-1], "rows was 400 and is 399"),
    "columns": ({}, X[:, 1:], Y, "features was 6 and is 5"),
    "one value": ({}, X + np.eye(400, 6) * 1e-13, Y, "data was '[0-9a-f]{64}' and is"),
    "labels": ({}, X, np.roll(Y, 1), "data was"),
    "weights": ({"class_weight": "balanced"}, X, Y, "data was"),
    "dtype": ({"dtype": "float32"}, X, Y, "data was"),
    "form": ({}, sp.csr_array(X), Y, "data was"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_problem_is_refused_with_the_difference(what, path):
    options, rows, y, words = OTHERS[what]
    cut_off(LinearClassifier(solver="lbfgs"), path, 3, X, Y)
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=f"checkpoint of another fit: .*{words}"):
        resumed(LinearClassifier(**{"solver": "lbfgs", **options}), path, rows, y)
    assert path.read_bytes() == before


def test_seed_tolerance_limits_and_names_of_classes_may_differ(path):
    cut_off(LinearClassifier(solver="lbfgs"), path, 3, X, Y)
    other = LinearClassifier(solver="lbfgs", random_state=5, tol=1e-6, max_iter=99, time_limit=60)
    assert resumed(other, path, X, np.array(["a", "b", "c"])[Y]).solution_.converged


def test_another_version_is_refused(path, monkeypatch):
    cut_off(LinearClassifier(), path, 3, X, Y)
    monkeypatch.setattr(checkpoint, "__version__", "9.9")
    with pytest.raises(ModelFileError, match=r"by argmax .*; this is 9.9. Finish the fit with"):
        resumed(LinearClassifier(), path, X, Y)


def test_a_model_is_no_checkpoint(path):
    save(LinearClassifier().fit(X, Y), path)
    with pytest.raises(ModelFileError, match="is a model, not a checkpoint"):
        resumed(LinearClassifier(), path, X, Y)


def test_a_damaged_file_is_refused_and_kept(path):
    cut_off(LinearClassifier(), path, 3, X, Y)
    damaged = path.read_bytes()[:-1] + b"x"
    path.write_bytes(damaged)
    with pytest.raises(ModelFileError, match="damaged"):
        resumed(LinearClassifier(), path, X, Y)
    assert path.read_bytes() == damaged


# Its file


def test_a_file_that_is_there_is_in_the_way_unless_resumed(path):
    cut_off(LinearClassifier(), path, 3, X, Y)
    before = path.read_bytes()
    with pytest.raises(CannotWrite, match="Go on from it with resume=True, or delete it"):
        LinearClassifier(callbacks=[Checkpoint(path)]).fit(X, Y)
    assert path.read_bytes() == before


def test_a_path_that_cannot_be_written_is_refused_before_the_first_pass(tmp_path):
    heard = []
    for path in (tmp_path, tmp_path / "no folder" / "a"):
        with pytest.raises(CannotWrite):
            LinearClassifier(callbacks=[Checkpoint(path), heard.append]).fit(X, Y)
    assert heard == []


def test_remove_takes_the_file_away(path):
    kept = Checkpoint(path, every=0)
    LinearClassifier(callbacks=[kept]).fit(X, Y)
    assert os.listdir(path.parent) == ["checkpoint"]
    kept.remove()
    kept.remove()
    assert os.listdir(path.parent) == []


def test_it_looks_like_what_it_is(path):
    assert repr(Checkpoint("a", 30)) == "Checkpoint('a', every=30, resume=False)"
    assert repr(copy.deepcopy(Checkpoint("a", resume=True))).endswith("resume=True)")
    with pytest.raises(ValueError, match="every must be at least 0"):
        Checkpoint("a", -1)


def test_without_a_keeper_no_data_are_read(monkeypatch):
    monkeypatch.setattr(resuming, "described", None)
    LinearClassifier(callbacks=[lambda progress: None]).fit(X, Y)


def test_a_failed_write_ends_the_fit_and_keeps_the_last_checkpoint(path, monkeypatch):
    cut_off(LinearClassifier(solver="lbfgs"), path, 3, X, Y)
    before = path.read_bytes()

    def full(*given, **options):
        raise CannotWrite("no space left.")

    monkeypatch.setattr(container, "write", full)
    again = LinearClassifier(solver="lbfgs", callbacks=[Checkpoint(path, 0, resume=True)])
    with pytest.raises(CannotWrite):
        again.fit(X, Y)
    assert path.read_bytes() == before
    assert not hasattr(again, "coef_")
