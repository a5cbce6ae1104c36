"""The transformer: what it takes, what it refuses, and that batches and threads change nothing."""

import pickle
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from argmax import LinearClassifier
from argmax.errors import InvalidInput, Unsupported, WrongType
from argmax.features import Table
from argmax.records import Batch, Csr, Strings

ROOT = Path(__file__).resolve().parents[3]

ROWS = {
    "size": [1.0, None, 3.0, 5.0, 2.0, 1.5],
    "city": ["Oslo", None, "Rome", "Oslo", "Rome", "Bonn"],
    "note": ["so so", "good wine", "bad wine", None, "ähm gut", "so good"],
    "key": ["u1", "u2", "u3", "u4", "u5", "u6"],
}
KINDS = {"note": "text", "key": "id"}
NAMES = [
    "size", "size=<missing>", "city=Bonn", "city=Oslo", "city=Rome", "city=<missing>",
    "note: good", "note: so", "note: wine",
]  # fmt: skip


def batch(start=0, stop=6):
    part = {name: values[start:stop] for name, values in ROWS.items()}
    size = np.array([np.nan if value is None else value for value in part.pop("size")])
    return Batch({"size": size, **{n: Strings.of(v) for n, v in part.items()}}, first=start)


@parametrize_with_checks([Table(), Table(standardise=False)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


# What it takes


def frames():
    yield "dict", dict
    yield "batch", lambda rows: batch()
    pd = pytest.importorskip("pandas")
    yield "pandas", pd.DataFrame
    yield "pandas nullable", lambda rows: pd.DataFrame(rows).convert_dtypes()
    yield "pandas category", lambda rows: pd.DataFrame(rows).astype({"city": "category"})
    yield "object array", lambda rows: np.array(pd.DataFrame(rows), dtype=object)


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in frames()])
def test_every_form_gives_the_same_rows(route, make):
    given = make(ROWS)
    kinds = KINDS
    if isinstance(given, np.ndarray):
        kinds = {"x2": "text", "x3": "id"}
    table = Table(kinds)
    X = table.fit_transform(given)
    if isinstance(given, np.ndarray):
        assert list(table.get_feature_names_out(list(ROWS))) == NAMES
    else:
        assert list(table.get_feature_names_out()) == NAMES
        assert table.kinds_ == {"size": "number", "city": "category", "note": "text", "key": "id"}
        assert table.missing_ == {"size": 1, "city": 1, "note": 1, "key": 0}
    np.testing.assert_array_equal(X.toarray(), table.transform(given).toarray())
    np.testing.assert_array_equal(X.toarray(), Table(KINDS).fit_transform(ROWS).toarray())


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_frames(library):
    module = pytest.importorskip(library)
    make = module.DataFrame if library == "polars" else module.table
    X = Table(KINDS).fit_transform(make(ROWS))
    np.testing.assert_array_equal(X.toarray(), Table(KINDS).fit_transform(ROWS).toarray())


def test_strings_alone_are_a_text():
    pd = pytest.importorskip("pandas")
    texts = ["red wine", "white wine", None]
    expected = Table(min_count=1).fit_transform({"text": [*texts[:2], ""]}).toarray()
    for given in (
        texts,
        np.array(texts, object),
        Strings.of(texts),
        tuple(texts),
        pd.Series(texts),
    ):
        table = Table(min_count=1)
        np.testing.assert_array_equal(table.fit_transform(given).toarray(), expected)
        assert table.feature_name(0) == "text: red"
        assert table.missing_ == {"text": 1}
    assert Table(min_count=1).fit(pd.Series(texts, name="memo")).feature_name(1) == "memo: white"


def test_numbers_alone_are_dense():
    X = np.array([[1, 2.0], [3, 2.0], [5, np.nan]])
    out = Table().fit_transform(X)
    np.testing.assert_allclose(out[:, 0], [-1.22474487, 0, 1.22474487])
    assert out[:, 1:].tolist() == [[0, 0], [0, 0], [0, 1]]
    assert Table().fit(X).get_feature_names_out().tolist() == ["x0", "x1", "x1=<missing>"]


def test_dates_are_seconds():
    dates = np.array(["1970-01-02", "NaT", "1970-01-01T00:00:05"], "datetime64[ns]")
    table = Table({"when": "number"}, standardise=False).fit({"when": dates})
    assert table.transform({"when": dates})[:, 0].tolist() == [86400, 43202.5, 5]


def test_sparse_numbers_pass_as_they_are():
    rows = Csr(np.array([0, 1, 3]), np.array([2, 0, 1]), np.array([4.0, 5, 6]), 3)
    table = Table().fit_batches([Batch({"features": rows[:1]}), Batch({"features": rows[1:]})])
    assert table.transform(Batch({"features": rows[1:]})).toarray().tolist() == [[5, 6, 0]]
    assert table.feature_name(2) == "features[2]"
    wider = Csr(np.array([0, 2]), np.array([1, 7]), np.array([1.0, 9]), 8)
    assert table.transform(Batch({"features": wider})).toarray().tolist() == [[0, 1, 0]]
    assert table.unknown_ == {"features": 1}


def test_numbers_written_as_strings_are_numbers():
    table = Table(standardise=False).fit({"a": ["1", " 2.5", "", None, "x"[:0]]})
    assert table.transform({"a": ["4"]}).tolist() == [[4, 0]]
    with pytest.raises(InvalidInput, match=r"'a'.*row 1 holds 'four'"):
        table.transform({"a": ["4", "four"]})


def test_numbers_can_be_categories():
    table = Table({"code": "category"}).fit({"code": [1, 2, 2.5, None]})
    names = ["code=1", "code=2", "code=2.5", "code=<missing>"]
    assert list(table.get_feature_names_out()) == names
    assert table.transform({"code": ["2", 1, 7]}).indices.tolist() == [1, 0]
    assert table.unknown_ == {"code": 1}


# Missing and unknown


def test_what_transform_meets_is_counted():
    table = Table(KINDS).fit(ROWS)
    one = {"size": [None, 1.0], "city": ["Paris", None], "note": [None, "x"]}
    for _ in range(2):
        table.transform(one)
    assert table.imputed_ == {"size": 2, "city": 2, "note": 2, "key": 0}
    assert table.unknown_ == {"size": 0, "city": 2, "note": 0, "key": 0}
    assert table.fit(ROWS).imputed_ == dict.fromkeys(ROWS, 0)


def test_missing_can_be_refused():
    table = Table(missing="refuse")
    with pytest.raises(InvalidInput, match="'size' has 1 missing"):
        table.fit(ROWS)
    table.fit([[1.0], [2.0]])
    with pytest.raises(InvalidInput, match="'x0' has 1 missing"):
        table.transform([[np.nan]])
    assert table.imputed_ == {"x0": 0}


def test_rare_categories_have_no_column():
    table = Table(KINDS, category_min_count=2).fit(ROWS)
    assert [n for n in table.get_feature_names_out() if n.startswith("city")] == [
        "city=Oslo", "city=Rome", "city=<missing>",
    ]  # fmt: skip


# Names


def test_names_are_checked():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS)
    table = Table(KINDS).fit(frame)
    for given in (frame, dict(frame)):
        with pytest.raises(InvalidInput, match="now missing:\n- city"):
            table.transform(given if given is None else {k: given[k] for k in ("size", "note")})
    with pytest.raises(InvalidInput, match="unseen at fit time:\n- more"):
        table.transform(frame.assign(more=1))
    with pytest.raises(InvalidInput, match=r"same order.*\n.*\n- city"):
        table.transform(frame[["city", "size", "note", "key"]])
    plain = table.transform(frame).toarray()
    np.testing.assert_array_equal(table.transform(frame.drop(columns="key")).toarray(), plain)
    backwards = {name: ROWS[name] for name in reversed(ROWS)}
    np.testing.assert_array_equal(table.transform(backwards).toarray(), plain)


def test_places_are_counted():
    table = Table().fit(np.eye(3))
    with pytest.raises(InvalidInput, match="X has 2 features, but Table is expecting 3"):
        table.transform(np.eye(2))
    pd = pytest.importorskip("pandas")
    with pytest.warns(UserWarning, match="fitted without feature names"):
        table.transform(pd.DataFrame(np.eye(3), columns=list("abc")))
    named = Table().fit(pd.DataFrame(np.eye(3), columns=list("abc")))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.transform(np.eye(3))


def test_names_of_one_column_and_of_all():
    table = Table(KINDS).fit(ROWS)
    every = table.get_feature_names_out().tolist()
    assert [table.feature_name(j) for j in range(len(every))] == every
    with pytest.raises(InvalidInput, match="column must be in 0 … 8"):
        table.feature_name(9)
    with pytest.raises(InvalidInput, match="not equal to feature_names_in_"):
        table.get_feature_names_out(["a"] * 4)


# Batches, threads, processes

N = 2000


def big(n=N):
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(400)] + ["été", "ΣΑΣ", "İx"])
    texts = [" ".join(rng.choice(words, rng.integers(0, 20))) for _ in range(n)]
    numbers = rng.normal(size=n) * 1e3
    numbers[rng.random(n) < 0.1] = np.nan
    return {
        "a": numbers,
        "b": rng.normal(size=n),
        "c": [str(v) if v else None for v in rng.integers(0, 9, n)],
        "t": texts,
    }


BIG = big()


@pytest.mark.parametrize("options", [{"ngrams": (1, 2)}, {"hash_bits": 8, "examples": 2}])
def test_batches_and_threads_change_no_bit(route, options, monkeypatch):
    monkeypatch.setattr("argmax.features.grams.CHUNK", 20_000)
    monkeypatch.setattr("argmax.features.numbers.BLOCK", 512)
    whole = Table(n_threads=1, **options).fit(BIG)
    X = whole.transform(BIG)
    for cuts, threads in (([1, 2, N - 1], 1), (range(7, N, 300), 3)):
        edges = [0, *cuts, N]
        parts = [{name: values[a:b] for name, values in BIG.items()} for a, b in pairwise(edges)]
        table = Table(n_threads=threads, **options).fit_batches(iter(parts))
        assert table.options() == whole.options()
        for name, array in whole.tensors().items():
            np.testing.assert_array_equal(table.tensors()[name], array)
        Y = sp.vstack([table.transform(part) for part in parts], format="csr")
        assert (X != Y).nnz == 0
    fitted = Table(n_threads=2, **options).fit_transform(BIG)
    np.testing.assert_array_equal(fitted.data, X.data)
    np.testing.assert_array_equal(fitted.indices, X.indices)


def test_both_ways_give_the_same_bits(monkeypatch):
    found = []
    for way in ("never", "always"):
        monkeypatch.setenv("ARGMAX_COMPILED", way)
        table = Table(ngrams=(1, 2), max_share=0.5)
        found.append((table.fit_transform(BIG), table.tensors()))
    (X, mine), (Y, yours) = found
    assert (X != Y).nnz == 0
    for name, array in mine.items():
        np.testing.assert_array_equal(yours[name], array)


def test_kinds_are_inferred_from_the_first_rows_whatever_the_batches(monkeypatch):
    monkeypatch.setattr("argmax.features.learning.SAMPLE", 50)
    monkeypatch.setattr("argmax.features.kinds.SAMPLE", 50)
    rows = {"n": [str(i % 7) for i in range(60)] + ["x"] * 0, "c": list("abcab" * 12)}
    parts = [{name: values[i : i + 1] for name, values in rows.items()} for i in range(60)]
    assert (
        Table().fit_batches(parts).kinds_
        == Table().fit(rows).kinds_
        == {"n": "number", "c": "category"}
    )


def test_it_pickles_and_clones():
    table = Table(KINDS, ngrams=(1, 2), min_count=1).fit(ROWS)
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(again.transform(ROWS).toarray(), table.transform(ROWS).toarray())
    fresh = clone(table)
    assert fresh.get_params() == table.get_params()
    with pytest.raises(NotFittedError):
        fresh.transform(ROWS)


def test_threads_may_share_a_fitted_table(route):
    table = Table(min_count=1).fit(BIG["t"])
    expected, wrong = table.transform(BIG["t"][:200]).toarray(), []

    def use():
        for _ in range(5):
            if not np.array_equal(table.transform(BIG["t"][:200]).toarray(), expected):
                wrong.append(1)

    workers = [threading.Thread(target=use) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_a_pipeline_with_a_classifier():
    labels = np.array([value in ("1", "2", "3", None) for value in BIG["c"]])
    pd = pytest.importorskip("pandas")
    model = make_pipeline(Table({"t": "text"}), LinearClassifier())
    assert cross_val_score(model, pd.DataFrame(BIG), labels, cv=3).mean() > 0.99


def test_a_small_fit_needs_no_compiler():
    code = (
        "import sys; from argmax.features import Table; Table(min_count=1).fit_transform(['red', 'ähm']);"
        "Table().fit_transform([[1.0], [2.0]]); print(*({'numba', 'llvmlite'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == []


# Errors


def test_a_failed_fit_changes_nothing():
    table = Table(KINDS).fit(ROWS)
    before = table.transform(ROWS).toarray()
    with pytest.raises(InvalidInput):
        table.fit(
            {"size": [np.inf, 1.0], "city": ["a", "b"], "note": ["x y", "z"], "key": ["1", "2"]}
        )
    np.testing.assert_array_equal(table.transform(ROWS).toarray(), before)
    fresh = Table()
    with pytest.raises(InvalidInput):
        fresh.fit([[np.inf]])
    assert not [name for name in vars(fresh) if name.endswith("_")]


def test_parameters_set_after_a_fit_wait_for_the_next():
    table = Table(KINDS).fit(ROWS)
    table.set_params(dtype="float32", weight="counts", missing="refuse")
    assert table.transform(ROWS).dtype == np.float64
    assert table.options()["parameters"]["weight"] == "tfidf"


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"kinds": {"size": "amount"}}, InvalidInput, r"kinds\['size'\] must be one of"),
        ({"kinds": ["text"]}, WrongType, "kinds must be None or a dict"),
        ({"kinds": {"nope": "text"}}, InvalidInput, "kinds names 'nope', which X does not have"),
        ({"ngrams": (2, 1)}, InvalidInput, "ngrams must not fall"),
        ({"ngrams": 2}, InvalidInput, "ngrams must be a pair"),
        ({"ngrams": (0, 1)}, InvalidInput, "ngrams must be at least 1"),
        ({"ngrams": (1, 10**12)}, InvalidInput, "ngrams must be at most 100 long"),
        ({"min_count": 0}, InvalidInput, "min_count must be at least 1"),
        ({"min_count": 0.5}, WrongType, "min_count must be a whole number"),
        ({"max_share": 1.5}, InvalidInput, "max_share must be greater than 0 and at most 1"),
        ({"max_features": 0}, InvalidInput, "max_features must be at least 1"),
        ({"weight": "idf"}, InvalidInput, "weight must be one of 'tfidf', 'counts', 'binary'"),
        ({"norm": "l1"}, InvalidInput, "norm must be one of 'l2', None"),
        ({"analyzer": "words"}, InvalidInput, "analyzer must be one of"),
        ({"lowercase": "yes"}, InvalidInput, "lowercase must be one of True, False"),
        ({"hash_bits": 31}, InvalidInput, "hash_bits must be at most 30"),
        ({"signed": True}, Unsupported, "signed is about hashed text"),
        ({"examples": 2}, Unsupported, "examples is about hashed text"),
        ({"hash_bits": 4, "max_features": 9}, Unsupported, "max_features needs a dictionary"),
        ({"dtype": "int8"}, InvalidInput, "dtype must be 'float32' or 'float64'"),
        ({"dtype": "float"}, None, ""),
        ({"missing": "drop"}, InvalidInput, "missing must be one of 'mean', 'refuse'"),
        ({"n_threads": 0}, InvalidInput, "n_threads must be at least 1"),
        ({"category_min_count": 0}, InvalidInput, "category_min_count must be at least 1"),
        ({"standardise": None}, InvalidInput, "standardise must be one of True, False"),
    ],
)
def test_every_option_is_checked(parameters, error, message):
    table = Table(**parameters)
    if error is None:
        table.fit(ROWS)
        return
    with pytest.raises(error, match=message):
        table.fit(ROWS)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("one string", WrongType, "one string"),
        ({"a": "one string"}, WrongType, "'a' is one string"),
        ({"a": [1, 2], "b": [1]}, InvalidInput, "'a' has 2, 'b' has 1"),
        ({"a": [{}, 1]}, WrongType, "'a', row 0 holds {}"),
        ({"a": [b"x", b"y"]}, WrongType, "bytes need decoding|row 0 holds b'x'"),
        ({"a": [1j, 2]}, WrongType, "'a'"),
        ({"a": [["x"], ["y"]]}, InvalidInput, "one-dimensional"),
        ({"a": ["fine", "\ud800"]}, InvalidInput, "'a', row 1: the string has a lone surrogate"),
        ({"a": []}, InvalidInput, "0 rows"),
        ({"a": ["x", "x"]}, InvalidInput, "every column is ignored"),
        ({}, InvalidInput, "0 rows"),
        ([1.0, 2.0], InvalidInput, "Reshape your data"),
        (np.zeros((0, 3)), InvalidInput, "0 sample"),
        (np.zeros((3, 0)), InvalidInput, "0 feature"),
        (sp.eye_array(3, format="csr"), WrongType, "Sparse data was passed"),
        (np.ma.masked_equal(np.eye(2), 1), InvalidInput, "masked"),
    ],
)
def test_what_is_no_table_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        Table().fit(given)


@pytest.mark.parametrize(
    "column",
    [
        Strings(np.zeros(3, np.uint8), np.array([0, 5])),
        Strings(np.zeros(3, np.uint8), np.array([2, 1])),
        Strings(np.zeros(3, np.uint8), np.array([-1, 1])),
        Strings(np.zeros(3, np.uint8), np.zeros(0, np.int64)),
        Strings(np.zeros(3, np.uint8), np.array([0, 1]), np.array([True])),
        Strings(np.zeros(3, np.uint8), np.array([0, 1]), np.array([True, False])),
        Csr(np.array([0, 2]), np.array([0, 9]), None, 3),
        Csr(np.array([0, 5]), np.array([0, 1]), None, 3),
        Csr(np.array([0, 1]), np.array([0]), np.array([np.nan]), 3),
    ],
)
def test_broken_columns_are_refused(column):
    with pytest.raises(InvalidInput, match=r"broken|NaN"):
        Table({"a": "text"} if isinstance(column, Strings) else None).fit(Batch({"a": column}))


def test_repeated_names_are_refused():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidInput, match="more than one column named 'a'"):
        Table().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_batches_with_other_columns_are_refused():
    with pytest.raises(InvalidInput, match="a batch has the columns 'b'; the first one had 'a'"):
        Table({"a": "number"}).fit_batches([{"a": np.arange(20_000)}, {"b": [1]}])


def test_a_kind_that_does_not_suit_a_sparse_column():
    rows = Csr(np.array([0, 1]), np.array([0]), None, 3)
    with pytest.raises(InvalidInput, match="'f' is sparse"):
        Table({"f": "text"}).fit(Batch({"f": rows}))
