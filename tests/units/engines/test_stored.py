"""Stored sets: what is written is what is read, and what is broken is refused."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import LinearClassifier
from argmax.engines import Stored
from argmax.errors import BadFile, InvalidInput, Unsupported
from argmax.records import Csr, Strings

X = np.random.default_rng(0).normal(size=(30, 4))
Y = np.array(["b", "a", "c"] * 10)


def halves(X, y, weight=None):
    for part in (slice(0, 17), slice(17, 30)):
        yield X[part], y[part], None if weight is None else weight[part]


def everything(stored, rows=7):
    parts = list(stored.blocks(rows))
    dense = [part[0] if isinstance(part[0], np.ndarray) else part[0].toarray() for part in parts]
    weights = None if parts[0][2] is None else np.concatenate([part[2] for part in parts])
    return np.concatenate(dense), np.concatenate([part[1] for part in parts]), weights


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_matrix])
def test_what_is_written_is_read(form, dtype, tmp_path):
    values = X.astype(dtype)
    blocks = [(form(values[:17]), Y[:17]), (form(values[17:]), Y[17:])]
    stored = Stored.write(tmp_path, blocks)
    rows, labels, weights = everything(Stored.open(tmp_path))
    np.testing.assert_array_equal(rows, values)
    assert rows.dtype == dtype
    assert labels.tolist() == Y.tolist()
    assert weights is None
    assert stored.shape == (30, 4)
    assert stored.classes.tolist() == ["a", "b", "c"]
    assert stored.totals.tolist() == [10.0, 10.0, 10.0]
    stored.verify()


def test_rows_of_weight_zero_are_left_out(tmp_path):
    weight = np.where(Y == "c", 0.0, np.linspace(0.5, 2.0, 30))
    stored = Stored.write(tmp_path, halves(X, Y, weight))
    rows, labels, weights = everything(stored)
    np.testing.assert_array_equal(rows, X[Y != "c"])
    np.testing.assert_array_equal(weights, weight[Y != "c"])
    np.testing.assert_array_equal(stored.weights(), weights)
    assert stored.labels().tolist() == labels.tolist() == Y[Y != "c"].tolist()
    assert stored.classes.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(30) % 3,
        np.arange(30, dtype=np.int8) % 3 - 1,
        np.arange(30) % 2 == 0,
        (np.arange(30) % 3).astype(float),
        Y.astype(object),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_classes_are_those_of_a_fit_in_memory(labels, tmp_path):
    here = LinearClassifier().fit(X, labels)
    there = LinearClassifier().fit(Stored.write(tmp_path, halves(X, labels)))
    assert there.classes_.dtype == here.classes_.dtype
    assert there.classes_.tolist() == here.classes_.tolist()
    assert there.predict(X).tolist() == here.predict(X).tolist()


def test_records_of_tables_are_taken_as_they_are(tmp_path):
    csr = sp.csr_array(X)
    rows = Csr(csr.indptr, csr.indices, csr.data, 4)
    stored = Stored.write(tmp_path, [(rows, Strings.of(Y.tolist()))])
    np.testing.assert_array_equal(everything(stored)[0], X)
    assert everything(stored)[1].tolist() == Y.tolist()


def test_names_come_back_and_are_compared(tmp_path):
    stored = Stored.write(tmp_path / "a", halves(X, Y), names=["one", "two", "three", "four"])
    model = LinearClassifier().fit(stored)
    assert model.feature_names_in_.tolist() == ["one", "two", "three", "four"]
    other = Stored.write(tmp_path / "b", halves(X, Y), names=["one", "three", "two", "four"])
    with pytest.raises(InvalidInput, match="column 1 was 'two' and is 'three'"):
        model.predict(other)
    with pytest.raises(InvalidInput, match="X has 2 features, but LinearClassifier is expecting 4"):
        model.predict(Stored.write(tmp_path / "c", halves(X[:, :2], Y)))


def test_rows_without_labels_can_be_answered(tmp_path):
    stored = Stored.write(tmp_path, [(X, None)])
    model = LinearClassifier().fit(X, Y)
    np.testing.assert_array_equal(model.predict(stored), model.predict(X))
    assert next(stored.blocks())[1] is None
    with pytest.raises(InvalidInput, match="the target y is None"):
        LinearClassifier().fit(stored)
    with pytest.raises(InvalidInput, match="without labels"):
        stored.labels()


# Refusals when writing


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ((np.full((3, 4), np.nan), ["a"] * 3), r"block 2 \(from row 30 on\).*NaN"),
        ((np.full((3, 4), 1e300), ["a"] * 3), "overflow"),
        ((np.zeros((3, 5)), ["a"] * 3), "dense with 5 columns; those before are dense with 4"),
        ((sp.csr_array((3, 4)), ["a"] * 3), "sparse with 4 columns"),
        ((np.zeros((3, 4)), [1, 2, 3]), "mixes strings with numbers"),
        ((np.zeros((3, 4)), ["a"] * 2), "inconsistent numbers of samples"),
        ((np.zeros((3, 4)), ["a", None, "b"]), "Unknown label type"),
        ((np.zeros((3, 4)), None), "labels must be given for every block, or for none"),
        ((np.zeros((3, 4)), ["a"] * 3, [1.0, -1.0, 1.0]), "must not be negative"),
    ],
)
def test_a_bad_block_is_named_and_leaves_no_set(second, says, tmp_path):
    with pytest.raises(InvalidInput, match=says):
        Stored.write(tmp_path, [(X, Y), second])
    with pytest.raises(BadFile, match="no finished set"):
        Stored.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_set_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored = Stored.write("here", halves(X, Y))
    monkeypatch.chdir("/")
    assert LinearClassifier().fit(stored).classes_.tolist() == ["a", "b", "c"]


def test_no_digit_is_dropped_unasked(tmp_path):
    narrow, wide = (X[:15].astype(np.float32), Y[:15]), (X[15:], Y[15:])
    with pytest.raises(
        InvalidInput, match=r"float64; those before are float32\. Pass dtype='float64'"
    ):
        Stored.write(tmp_path / "a", [narrow, wide])
    assert Stored.write(tmp_path / "b", [wide, narrow]).dtype == np.float64
    assert Stored.write(tmp_path / "c", [narrow, wide], dtype="float32").dtype == np.float32


def test_a_set_is_not_replaced_unasked(tmp_path):
    Stored.write(tmp_path, halves(X, Y))
    with pytest.raises(InvalidInput, match="not empty"):
        Stored.write(tmp_path, halves(X, Y))
    assert Stored.write(tmp_path, halves(-X, Y), overwrite=True).shape == (30, 4)


def test_nothing_is_no_set(tmp_path):
    with pytest.raises(InvalidInput, match="no rows to store"):
        Stored.write(tmp_path, [])
    with pytest.raises(InvalidInput, match="X has 4, names has 1"):
        Stored.write(tmp_path, halves(X, Y), names=["one"])


# Refusals when reading: files change, break off, or lie


def damage(path, at, value):
    content = bytearray(path.read_bytes())
    content[at : at + len(value)] = value
    path.write_bytes(content)


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    Stored.write(tmp_path, halves(X, Y))
    content = (tmp_path / "rows.npy").read_bytes()
    (tmp_path / "rows.npy").write_bytes(content[:-100])
    with pytest.raises(BadFile, match=r"rows\.npy.*bytes, but its header asks for"):
        Stored.open(tmp_path)


def test_a_file_that_is_cut_off_later_is_an_error_too(tmp_path):
    stored = Stored.write(tmp_path, halves(X, Y))
    (tmp_path / "labels.npy").write_bytes((tmp_path / "labels.npy").read_bytes()[:140])
    with pytest.raises(BadFile, match="ends too early"):
        LinearClassifier().fit(stored)


@pytest.mark.parametrize(
    ("name", "says"),
    [("indices", "outside"), ("indptr", "outside"), ("labels", "none of the classes")],
)
def test_numbers_that_point_outside_are_refused(name, says, tmp_path):
    stored = Stored.write(tmp_path, halves(sp.csr_array(X), Y))
    damage(tmp_path / f"{name}.npy", 128 + 8, np.array([2**31 - 1], np.int32).tobytes())
    with pytest.raises(BadFile, match=says):
        LinearClassifier().fit(stored)
    with pytest.raises(BadFile, match="bytes have changed"):
        stored.verify()


def test_values_and_weights_that_went_bad_are_refused(tmp_path):
    stored = Stored.write(tmp_path / "a", halves(X, Y))
    damage(tmp_path / "a" / "rows.npy", 128 + 8 * 4 * 20, np.array([np.nan]).tobytes())
    with pytest.raises(InvalidInput, match="NaN or infinity, first in row 20"):
        LinearClassifier().fit(stored)
    stored = Stored.write(tmp_path / "b", halves(X, Y, np.full(30, 2.0)))
    damage(tmp_path / "b" / "weights.npy", 128, np.array([-1.0]).tobytes())
    with pytest.raises(BadFile, match="not a positive number"):
        LinearClassifier().fit(stored)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", "something else"),
        ("rows", "30"),
        ("rows", 10**12),
        ("rows", 0),
        ("features", 5),
        ("classes", ["a"]),
        ("classes", [1, 2, 3]),
        ("classes", [["a"], "b", "c"]),
        ("classes_dtype", "<U1000000000000"),
        ("classes_dtype", "V100"),
        ("sparse", True),
        ("weighted", True),
    ],
)
def test_a_manifest_that_lies_is_refused_or_harmless(field, value, tmp_path):
    Stored.write(tmp_path, halves(X, Y))
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    if field == "classes_dtype" and "U" in value:
        assert Stored.open(tmp_path).classes.tolist() == ["a", "b", "c"]
        return
    with pytest.raises(BadFile):
        Stored.open(tmp_path)


def test_a_folder_without_a_manifest_is_no_set(tmp_path):
    with pytest.raises(BadFile, match="no finished set"):
        Stored.open(tmp_path / "nowhere")
    (tmp_path / "manifest.json").write_text("not json")
    with pytest.raises(BadFile, match="not JSON"):
        Stored.open(tmp_path)


# Refusals of a fit


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"solver": "dual"}, Unsupported, "solver 'dual' visits single rows"),
        ({"dtype": "float32"}, Unsupported, "these rows are float64 where they lie"),
        ({"class_weight": {"a": 0.0}}, Unsupported, "class_weight is 0 for 'a'"),
        ({"class_weight": {"z": 1.0}}, InvalidInput, "class_weight names 'z'"),
        ({"C": 1e300}, InvalidInput, "at most 1e100"),
    ],
)
def test_a_fit_says_what_it_cannot_do(options, error, says, tmp_path):
    stored = Stored.write(tmp_path, halves(X, Y))
    with pytest.raises(error, match=says):
        LinearClassifier(**options).fit(stored)


def test_labels_come_with_the_set(tmp_path):
    stored = Stored.write(tmp_path, halves(X, Y))
    with pytest.raises(Unsupported, match="brings its own labels"):
        LinearClassifier().fit(stored, Y)
    with pytest.raises(InvalidInput, match="one class: 'x'"):
        LinearClassifier().fit(Stored.write(tmp_path / "one", [(X, ["x"] * 30)]))


def test_auto_says_why_it_does_not_visit_single_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    stored = Stored.write(tmp_path, halves(sp.csr_array(X), Y))
    model = LinearClassifier(C=0.1).fit(stored)
    assert model.solution_.solver == "newton_cg"
    assert LinearClassifier(C=0.1).fit(sp.csr_array(X), Y).solution_.solver == "dual"


def test_the_file_of_scores_goes_where_it_is_told(tmp_path):
    (tmp_path / "scratch").mkdir()
    stored = Stored.write(tmp_path / "set", halves(X, Y), scratch=tmp_path / "scratch", memory=0)
    assert LinearClassifier().fit(stored).solution_.converged
    assert list((tmp_path / "scratch").iterdir()) == []  # it has no name
    assert len(list((tmp_path / "set").iterdir())) == 3


@pytest.mark.parametrize(("sparse", "name"), [(False, "rows"), (True, "values")])
def test_bytes_that_have_changed_are_found_when_a_set_is_opened(sparse, name, tmp_path):
    Stored.write(tmp_path, halves(sp.csr_array(X) if sparse else X, Y))
    Stored.open(tmp_path)
    damage(tmp_path / f"{name}.npy", 128 + 8 * 4, np.full(20, 7, np.uint8).tobytes())
    with pytest.raises(BadFile, match=f"{name}.npy: its bytes have changed since it was written"):
        Stored.open(tmp_path)


def test_a_large_set_is_compared_before_its_first_fit(tmp_path, monkeypatch):
    Stored.write(tmp_path, halves(X, Y))
    monkeypatch.setattr("argmax.engines.stored.AT_ONCE", 100)
    good = Stored.open(tmp_path)
    LinearClassifier().fit(good)
    damage(tmp_path / "rows.npy", 128 + 8 * 4, np.full(20, 7, np.uint8).tobytes())
    with pytest.raises(BadFile, match="its bytes have changed since it was written"):
        LinearClassifier().fit(Stored.open(tmp_path))
    LinearClassifier().fit(good)  # it has been compared, and is not read once more


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["labels.npy", "rows.npy", "manifest.json"])
def test_a_named_pipe_is_not_waited_for(name, tmp_path):
    Stored.write(tmp_path, halves(X, Y))
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(BadFile, match=f"{name}: it is no plain file"):
        Stored.open(tmp_path)


def test_only_files_of_the_set_are_compared(tmp_path):
    Stored.write(tmp_path, halves(X, Y))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["digests"]["/dev/zero"] = "0" * 32
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BadFile, match="digests are not those of its files"):
        Stored.open(tmp_path)
