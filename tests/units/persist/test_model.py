"""Models in files: the same answers after loading, and nothing in the file that does not belong there."""

import json
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import argmax
from argmax import (
    LinearClassifier,
    MulticlassSVM,
    SoftmaxRegression,
    engines,
    losses,
    persist,
    solvers,
)
from argmax.errors import CannotWrite, ModelFileError, Unsupported
from argmax.features import Table
from tests.fuzz.model_files import header_of, payload_of, with_header


def problem(n=120, d=5, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


X, Y = problem()
NAMES = np.array(["a", "bb", "école"])

LABELS = {
    "int64": Y,
    "int8": Y.astype(np.int8),
    "uint16": Y.astype(np.uint16),
    "int32, big-endian": Y.astype(">i4"),
    "float64": Y.astype(float),
    "float32": Y.astype(np.float32),
    "bool": Y > 0,
    "str": NAMES[Y],
    "object": NAMES.astype(object)[Y],
    "list": NAMES[Y].tolist(),
    "two strings": np.where(Y > 0, "yes", "no"),
}


def reloaded(model, path):
    argmax.save(model, path, overwrite=True)
    return argmax.load(path)


def same(one, other, rows):
    assert one.predict_proba(rows).tobytes() == other.predict_proba(rows).tobytes()
    assert one.decision_function(rows).tobytes() == other.decision_function(rows).tobytes()
    assert one.predict(rows).tolist() == other.predict(rows).tolist()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


@pytest.mark.parametrize("labels", LABELS)
def test_classes_keep_their_kind(labels, path):
    y = LABELS[labels]
    model = SoftmaxRegression().fit(X, y)
    again = reloaded(model, path)
    assert again.classes_.dtype.newbyteorder("=") == model.classes_.dtype.newbyteorder("=")
    assert again.classes_.tolist() == model.classes_.tolist()
    same(model, again, X)
    assert again.score(X, y) == model.score(X, y)


@pytest.mark.parametrize(
    "form", [np.asarray, np.float32, sp.csr_array], ids=["dense", "float32", "sparse"]
)
@pytest.mark.parametrize("k", [2, 9])
@pytest.mark.parametrize("compiled", ["never", "always"])
def test_the_same_bits_with_any_number_of_threads(form, k, compiled, path, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", compiled)
    rows, y = problem(n=300, d=7, k=k)
    rows = form(rows * (rows > 0.5))
    for options in ({}, {"fit_intercept": False}, {"penalty": "l1", "C": 0.3}):
        model = LinearClassifier(**options).fit(rows, y)
        again = reloaded(model, path)
        for threads in (1, 2, 7):
            again.n_threads = threads
            same(model, again, rows)
        assert again.row_scorer()(np.ones(7)).tobytes() == model.row_scorer()(np.ones(7)).tobytes()


@pytest.mark.parametrize(
    "loss", ["hinge", "weston_watkins", "squared_hinge", "squared", "ovr_log", "softmax_margin"]
)
@pytest.mark.parametrize("k", [2, 3])
def test_every_loss_is_kept(loss, k, path):
    rows, y = problem(k=k)
    cost = np.full((k, k), 2.0) - 2.0 * np.eye(k) if loss in ("hinge", "softmax_margin") else None
    model = LinearClassifier(loss, cost=cost).fit(rows, y)
    again = reloaded(model, path)
    assert again.decision_function(rows).tobytes() == model.decision_function(rows).tobytes()
    assert hasattr(again, "predict_proba") == (loss in ("ovr_log", "softmax_margin"))
    if cost is not None:
        np.testing.assert_array_equal(again.cost, cost)
    np.testing.assert_allclose(clone(again).fit(rows, y).coef_, model.coef_, atol=1e-12)


@pytest.mark.parametrize("kind", ["SoftmaxRegression", "MulticlassPerceptron"])
def test_costs_of_a_model_that_has_none_are_refused(kind, path):
    argmax.save(MulticlassSVM(cost=np.ones((3, 3)) - np.eye(3)).fit(X, Y), path)
    data = path.read_bytes()
    header = header_of(data)
    header["document"]["content"]["estimator"] |= {"estimator": kind, "parameters": {}}
    path.write_bytes(with_header(data, header))
    with pytest.raises(ModelFileError, match=f"parameters that {kind} does not have"):
        argmax.load(path)


@pytest.mark.parametrize("loss", ["log", "pa1"])
def test_a_seed_that_is_none_is_refused(loss, path):
    argmax.save(LinearClassifier(loss).fit(X, Y), path)
    data = path.read_bytes()
    header = header_of(data)
    header["document"]["content"]["estimator"]["parameters"]["random_state"] = -1
    path.write_bytes(with_header(data, header))
    with pytest.raises(ModelFileError, match="random_state must be None, a whole number from 0"):
        argmax.load(path)


def test_a_cost_that_does_not_fit_the_classes_is_refused(path):
    model = MulticlassSVM(cost=np.ones((3, 3)) - np.eye(3)).fit(X, Y)
    model.cost = np.ones((4, 4)) - np.eye(4)
    with pytest.raises(Unsupported):
        argmax.save(model, path)


def test_a_loaded_model_has_everything_that_a_fitted_one_has(path):
    model = LinearClassifier().fit(X, NAMES[Y])
    again = reloaded(model, path)
    assert vars(again).keys() == vars(model).keys()
    for name in (
        "objective",
        "gap",
        "relative_gap",
        "status",
        "message",
        "solver",
        "passes",
        "seconds",
        "history",
    ):
        assert getattr(again.solution_, name) == getattr(model.solution_, name)
    assert (again.n_iter_, again.n_features_in_) == (model.n_iter_, model.n_features_in_)
    assert again.coef_.flags.writeable


def test_it_can_be_fitted_again_cloned_and_pickled(path):
    model = LinearClassifier(solver="lbfgs").fit(X, Y)
    again = reloaded(model, path)
    assert clone(again).fit(X, Y).coef_.tobytes() == model.coef_.tobytes()
    same(again, pickle.loads(pickle.dumps(again)), X)
    again.set_params(warm_start=True, tol=1e-3).fit(X, Y)
    assert again.solution_.passes <= 3  # it starts where it was


def test_saving_twice_gives_the_same_file(path, tmp_path):
    model = SoftmaxRegression().fit(X, Y)
    argmax.save(model, path)
    argmax.save(argmax.load(path), tmp_path / "again")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


def test_names_of_columns_are_kept(path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "größe", "d", ""])
    model = SoftmaxRegression().fit(frame, Y)
    again = reloaded(model, path)
    assert again.feature_names_in_.tolist() == list(frame.columns)
    assert again.feature_names_in_.dtype == object
    same(model, again, frame)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"a": "z"}))


# Parameters


PARAMETERS = [
    {"C": np.inf},
    {"C": np.float32(0.5), "max_iter": np.int64(50), "fit_intercept": np.bool_(False)},
    {"penalty": "elasticnet", "l1_ratio": 0.25},
    {"penalty": None},
    {"class_weight": "balanced"},
    {"class_weight": {"a": 2, "bb": 0.5}},
    {"solver": solvers.LBFGS(memory=5, refresh=(2, 7))},
    {"solver": solvers.Dual(seed=3, augmentation=0.2)},
    {"solver": solvers.Newton()},
    {"loss": losses.Log(), "time_limit": 1e9, "verbose": 0, "n_threads": 2, "random_state": 4},
    {"dtype": np.float32},
    {"dtype": "float64"},
]


@pytest.mark.filterwarnings("ignore::argmax.errors.NotConverged")
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_parameters_are_kept(parameters, path):
    model = LinearClassifier(**parameters).fit(X, NAMES[Y])
    again = reloaded(model, path)
    was, found = model.get_params(), again.get_params()
    simple = was.keys() - {"loss", "dtype", "solver"}
    assert {name: found[name] for name in simple} == {name: was[name] for name in simple}
    assert repr(found["solver"]) == repr(was["solver"])
    assert found["dtype"] == (None if was["dtype"] is None else np.dtype(was["dtype"]))
    assert clone(again).fit(X, NAMES[Y]).coef_.tobytes() == model.coef_.tobytes()


def test_whole_numbers_and_flags_as_labels_of_weights(path):
    model = LinearClassifier(class_weight={True: 2.0, False: 1.0}).fit(X, Y > 0)
    assert reloaded(model, path).class_weight == {True: 2.0, False: 1.0}
    model = LinearClassifier(class_weight={np.int64(2): 2.0}).fit(X, Y)
    assert reloaded(model, path).class_weight == {2: 2.0}


def test_what_belongs_to_the_process_is_left_out_and_said(path):
    model = LinearClassifier(engine=engines.Threads(2), callbacks=[lambda progress: None])
    again = reloaded(model.fit(X, Y), path)
    assert (again.engine, again.callbacks) == (None, None)
    assert persist.describe(path)["left_out"] == ["engine", "callbacks"]


class Mine(solvers.Solver):
    name = "lbfgs"

    def minimise(self, objective, start, report, state=None):
        return solvers.LBFGS().minimise(objective, start, report, state)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"solver": Mine()}, r"solver=Mine\(\) cannot be stored"),
        ({"random_state": np.random.RandomState(0)}, "random_state=RandomState"),
        ({"random_state": np.random.default_rng(0)}, "random_state=Generator"),
    ],
)
def test_other_objects_are_refused_by_name(parameters, words, path):
    with pytest.raises(Unsupported, match=words):
        argmax.save(LinearClassifier(**parameters).fit(X, Y), path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "value"), [("C", -1.0), ("class_weight", {7: 1.0}), ("loss", "none"), ("tol", "1")]
)
def test_parameters_that_no_fit_would_take_are_refused(name, value, path):
    model = LinearClassifier().fit(X, Y).set_params(**{name: value})
    with pytest.raises(Unsupported, match=name):
        argmax.save(model, path)


# Models that are none


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LogisticRegression(), "the model is a LogisticRegression"),
        (StandardScaler(), "the model is a StandardScaler"),
        (42, "the model is a int"),
        (
            make_pipeline(StandardScaler(), SoftmaxRegression()),
            "step 'standardscaler' of the pipeline",
        ),
        (make_pipeline(Table(), LogisticRegression()), "step 'logisticregression' of the pipeline"),
        (make_pipeline(SoftmaxRegression()), "step 'softmaxregression' of the pipeline"),
        (make_pipeline(Table(), "passthrough", SoftmaxRegression()), "step 'passthrough'|'str'"),
        (make_pipeline(Table(), SoftmaxRegression(), SoftmaxRegression()), "softmaxregression"),
        (make_pipeline(Table()), "ends after its first step"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_other_models_are_refused_by_name(model, words, path):
    with pytest.raises(Unsupported, match=words) as caught:
        argmax.save(model, path)
    assert "features.Table" in str(caught.value)
    assert not path.exists()


def test_a_model_must_be_fitted(path):
    for model in (SoftmaxRegression(), make_pipeline(Table(), SoftmaxRegression())):
        with pytest.raises(NotFittedError):
            argmax.save(model, path)


def test_a_label_that_is_no_text_is_refused(path):
    with pytest.raises(Unsupported, match="classes hold characters that no text has"):
        argmax.save(SoftmaxRegression().fit(X, np.where(Y > 0, "a", "\ud800")), path)


def test_an_old_file_is_kept_unless_it_may_be_overwritten(path):
    model = SoftmaxRegression().fit(X, Y)
    argmax.save(model, path)
    with pytest.raises(CannotWrite, match="exists"):
        argmax.save(model, path)


def test_a_checkpoint_is_no_model(path):
    LinearClassifier(callbacks=[persist.Checkpoint(path, every=0)]).fit(X, Y)
    with pytest.raises(ModelFileError, match="is a checkpoint, not a model"):
        argmax.load(path)


# Pipelines


TABLE = {
    "size": np.where(X[:, 0] > 1, np.nan, X[:, 0]),
    "city": NAMES[Y],
    "note": [f"{'good' if v > 0 else 'bad'} naïve day {i % 7}" for i, v in enumerate(X[:, 1])],
    "id": [f"row {i}" for i in range(len(X))],
}


@pytest.mark.parametrize(
    "options", [{}, {"hash_bits": 5, "examples": 1}, {"weight": "counts", "norm": None}]
)
def test_a_pipeline_answers_as_before(options, path):
    table = Table({"note": "text", "city": "category", "id": "id"}, **options)
    model = Pipeline([("columns", table), ("classes", SoftmaxRegression())], verbose=False)
    model.fit(TABLE, NAMES[Y])
    again = reloaded(model, path)
    assert [name for name, _ in again.steps] == ["columns", "classes"]
    same(model, again, TABLE)
    assert again.fit(TABLE, NAMES[Y])[-1].coef_.tobytes() == model[-1].coef_.tobytes()


def test_a_list_of_texts_and_an_array_of_numbers(path):
    for rows in (TABLE["note"], X):
        model = make_pipeline(Table(), SoftmaxRegression()).fit(rows, Y)
        same(model, reloaded(model, path), rows)


def test_a_text_model_holds_the_tokens_of_its_columns_and_no_others(path):
    texts = ["common words here", "common words there", "common secret here"] * 2 + [
        "unique password"
    ]
    y = [0, 1, 2, 0, 1, 2, 0]
    argmax.save(make_pipeline(Table(min_count=2), SoftmaxRegression()).fit(texts, y), path)
    content = path.read_bytes()
    assert b"secret" in content
    assert b"unique" not in content
    assert b"password" not in content


def test_a_hashed_text_model_holds_no_token(path):
    texts = ["common words here", "common words there", "common secret here"]
    argmax.save(make_pipeline(Table(hash_bits=4), SoftmaxRegression()).fit(texts, [0, 1, 2]), path)
    content = path.read_bytes()
    assert not any(word.encode() in content for text in texts for word in text.split())


def test_a_table_that_would_never_answer_is_refused(path):
    argmax.save(make_pipeline(Table(), SoftmaxRegression()).fit(TABLE["note"], Y), path)
    header, payload = header_of(path.read_bytes()), payload_of(path.read_bytes())
    start, stop = header["tensors"]["table.options"]["data_offsets"]
    options = payload[start:stop].replace(b'"ngrams":[1,1]', b'"ngrams":[1,1000000000000]')
    more = len(options) - (stop - start)
    header["tensors"]["table.options"]["shape"] = [len(options)]
    for entry in header["tensors"].values():
        entry["data_offsets"] = [n + more * (n >= stop) for n in entry["data_offsets"]]
    path.write_bytes(with_header(b"", header, payload[:start] + options + payload[stop:]))
    with pytest.raises(ModelFileError, match="ngrams must be at most 100 long"):
        argmax.load(path)


@pytest.mark.filterwarnings("ignore:Persisting input arguments")  # on a busy disk
def test_a_pipeline_with_a_memory_is_refused(path, tmp_path):
    model = make_pipeline(Table(), SoftmaxRegression(), memory=str(tmp_path / "cache"))
    with pytest.raises(Unsupported, match="memory"):
        argmax.save(model.fit(X, Y), path)


def test_a_wide_table_fits(path):
    wide = {f"column {i}": X[:, 0] for i in range(3000)}
    model = make_pipeline(Table(), SoftmaxRegression(C=0.01)).fit(wide, Y)
    same(model, reloaded(model, path), wide)


# What a file says about itself


def test_describe_is_json_and_tells_the_story(path):
    model = make_pipeline(Table({"note": "text"}), LinearClassifier(C=2.0)).fit(TABLE, NAMES[Y])
    argmax.save(model, path)
    found = json.loads(json.dumps(persist.describe(path), allow_nan=False))
    assert found["kind"] == "model"
    assert found["estimator"] == "LinearClassifier"
    assert found["parameters"]["C"] == 2.0
    assert found["classes"] == NAMES.tolist()
    assert found["bytes"] == os.path.getsize(path)
    assert found["solution"]["status"] == "converged"
    assert found["solution"]["objective"] == model[-1].solution_.objective
    assert [column["name"] for column in found["table"]["columns"]] == list(TABLE)
    assert found["features"] == model[-1].n_features_in_


def test_describe_without_a_penalty_has_no_certificate(path):
    argmax.save(LinearClassifier(C=np.inf).fit(X, Y), path)
    assert persist.describe(path)["solution"]["gap"] is None
    assert argmax.load(path).solution_.gap == np.inf


def test_describe_knows_checkpoints(path):
    LinearClassifier(callbacks=[persist.Checkpoint(path, every=0)]).fit(X, Y)
    found = persist.describe(path)
    assert (found["kind"], found["solver"], found["problem"]["rows"]) == (
        "checkpoint",
        "newton",
        120,
    )


def test_describe_checks_as_load_does(path):
    argmax.save(SoftmaxRegression().fit(X, Y), path)
    header = header_of(path.read_bytes())
    header["document"]["content"]["estimator"]["classes"] = "float32"
    path.write_bytes(with_header(path.read_bytes(), header))
    with pytest.raises(ModelFileError, match="classes"):
        persist.describe(path)


def test_what_could_not_be_loaded_is_not_saved(path):
    model = SoftmaxRegression().fit(X, Y)
    model.coef_ = model.coef_ * np.nan
    with pytest.raises(Unsupported, match="the model has values in 'coef' that are not finite"):
        argmax.save(model, path)
    assert not path.exists()
