"""svmlight files, with scikit-learn's reader as the oracle."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from argmax.data import Limits, blocks, open_table
from argmax.errors import BadFile, ResourceLimit, Unsupported


def matrix(batches):
    parts = [batch.columns["features"] for batch in batches]
    width = parts[-1].width
    rows = [sp.csr_array((p.values, p.indices, p.indptr), shape=(len(p), width)) for p in parts]
    return sp.vstack(rows).toarray()


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("block", [50, 2**18])
def test_the_numbers_are_scikit_learns(tmp_path, monkeypatch, zero_based, block):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 7)) * (rng.random((40, 7)) < 0.4)
    X[0, 0] = X[1, -1] = 1.5
    path = tmp_path / "rows"
    dump_svmlight_file(X, rng.integers(0, 3, 40), str(path), zero_based=zero_based)
    monkeypatch.setattr(blocks, "BLOCK", block)
    source = open_table(path)
    assert source.format == "svmlight"
    assert source.kinds == {"label": "category", "features": "number"}
    expected, y = load_svmlight_file(str(path), zero_based=True)  # index j is column j
    batches = list(source.batches(rows=9))
    np.testing.assert_array_equal(matrix(batches), expected.toarray())
    labels = [label for batch in batches for label in batch.columns["label"].tolist()]
    assert labels == [str(int(label)) for label in y]
    widths = [batch.columns["features"].width for batch in batches]
    assert widths == sorted(widths)


def test_comments_blank_lines_and_labels_of_all_sorts(file):
    path = file("# start\n+1 1:2 # note 5:6\n\n  spam\t2:.5   9:1e2  \r\n1,3\n")
    batch = next(open_table(path).batches())
    assert batch.columns["label"].tolist() == ["+1", "spam", "1,3"]
    features = batch.columns["features"]
    assert features.indptr.tolist() == [0, 1, 3, 3]
    assert features.indices.tolist() == [1, 2, 9]
    assert features.values.tolist() == [2.0, 0.5, 100.0]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1 x:2", "'x:2' is not a pair"),
        ("1 2:", "'2:' is not a pair"),
        ("1 2:3:4", "is not a pair"),
        ("1 2", "'2' is not a pair"),
        ("1 2:nan", "is not a pair"),
        ("1 2:1-2", "'1-2' is not a finite number"),
        ("1 2:1e999", "'1e999' is not a finite number"),
        ("1 5:1 3:1", "index 3 comes after 5"),
        ("1 5:1 5:1", "index 5 comes after 5"),
        ("1 qid:4 5:1", "qid is for ranking"),
        ("2:1 3:1", "no label"),
        ("1 99999999999999999999:1", "is not a pair"),
    ],
)
def test_malformed(file, line, says):
    with pytest.raises(BadFile) as caught:
        list(open_table(file("1 1:1\n2 2:2\n" + line), format="svmlight").batches())
    assert says in str(caught.value)
    assert caught.value.line == 3


def test_an_index_beyond_the_limit(file):
    with pytest.raises(ResourceLimit, match=r"line 2.*1,001.*limits=Limits\(features="):
        open_table(file("1 1:1\n2 1001:1\n"), limits=Limits(features=1000))


def test_features_are_numbers_and_nothing_else(file):
    source = open_table(file("1 1:1\n2 2:1\n"))
    with pytest.raises(Unsupported):
        next(source.batches(strings=["features"]))
