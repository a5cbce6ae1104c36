"""Faults 24, 25 and 26: model files that are broken, hostile, or not ours."""

import json
import os
import pickle
import random
import tracemalloc
import zipfile

import joblib
import numpy as np
import pytest
import safetensors.numpy

from argmax import LinearClassifier, SoftmaxRegression, load, save
from argmax.errors import ModelFileError
from argmax.persist import describe
from tests.faults.cases import problem, refuses, same_bits
from tests.faults.harness import GIB, alone
from tests.fuzz.model_files import header_of, payload_of, with_digest, with_header


def written(tmp):
    X, y = problem()
    model = SoftmaxRegression().fit(X, y)
    path = os.path.join(tmp, "model")
    save(model, path, overwrite=True)
    return model, path


def content(path):
    with open(path, "rb") as stream:
        return stream.read()


def put(path, data):
    with open(path, "wb") as stream:
        stream.write(data)


def refused(path, *says):
    refuses(load, path, says=(repr(path), *says), error=ModelFileError)
    refuses(describe, path, says=(repr(path), *says), error=ModelFileError)


@pytest.fixture
def tmp(tmp_path):
    return str(tmp_path)


@alone
def test_24_empty_cut_flipped_random_newer_and_foreign_files(tmp):
    model, path = written(tmp)
    whole = content(path)
    put(path, b"")
    refused(path, "empty")
    for length in range(1, len(whole), 17):
        put(path, whole[:length])
        refused(path)
    for bit in range(0, 8 * len(whole), 37):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        put(path, data)
        refused(path)
    data = bytearray(whole)
    data[-1] ^= 16
    put(path, data)
    refused(path, "damaged", "digest", "again")
    for seed in range(50):
        put(path, random.Random(seed).randbytes(seed * 7))
        refused(path)
    header = header_of(whole)
    header["document"]["schema"] += 1
    put(path, with_header(whole, header))
    refused(path, "schema 2", "Upgrade")
    header = header_of(whole)
    header["document"]["content"]["estimator"]["estimator"] = "LogisticRegression"
    put(path, with_header(whole, header))
    refused(path, "estimator that this version does not have")
    safetensors.numpy.save_file({"coef": np.zeros((3, 5))}, path, {"format": "pt"})
    refused(path, "did not write")
    put(path, whole)
    assert same_bits(load(path), model)


def hostile():
    """Changes to a header: name of the tensor, and what becomes of its entry."""
    return [
        ("coef", {"shape": [3, 2**50]}),
        ("coef", {"shape": [2**31, 2**31]}),
        ("coef", {"shape": [2**62, 4]}),
        ("coef", {"shape": [3, -5]}),
        ("coef", {"shape": [10**30, 1]}),
        ("coef", {"data_offsets": [0, 2**50]}),
        ("coef", {"data_offsets": [-120, 0]}),
        ("coef", {"data_offsets": [8, 128]}),
        ("intercept", {"data_offsets": [0, 24]}),
        ("intercept", {"shape": [3.0]}),
        ("solution.history", {"shape": [2**40, 3]}),
        ("classes", {"dtype": "F64"}),
        ("classes", {"dtype": "O"}),
    ]


@alone(memory=2 * GIB)
def test_25_huge_overlapping_negative_and_missing_tensors_are_refused_before_allocation(tmp):
    _, path = written(tmp)
    whole = content(path)
    tracemalloc.start()
    for name, change in hostile():
        header = header_of(whole)
        header["tensors"][name] |= change
        put(path, with_header(whole, header))
        refused(path)
    for name in header_of(whole)["tensors"]:
        header = header_of(whole)
        del header["tensors"][name]
        put(path, with_header(whole, header))
        refused(path)
        twice = header_of(whole)
        entry = json.dumps(twice["tensors"][name]).encode()
        end = 8 + int.from_bytes(whole[:8], "little")
        text = whole[8:end].rstrip()[:-1] + b',"%s":%s}' % (name.encode(), entry)
        put(path, with_digest(len(text).to_bytes(8, "little") + text + whole[end:]))
        refused(path, "occurs twice")
    for claim in (2**20 + 1, 2**31, 2**63, 2**64 - 1):
        put(path, claim.to_bytes(8, "little") + whole[8:])
        refused(path)
    _, peak = tracemalloc.get_traced_memory()
    assert peak < 2**20, f"{peak} bytes were asked for"


@alone
def test_25_weights_that_are_not_finite_and_offsets_that_do_not_fit(tmp):
    X, y = problem()
    path = os.path.join(tmp, "model")
    save(LinearClassifier().fit(X, np.array(["a", "bé", "c"])[y]), path)
    whole = content(path)
    tensors = header_of(whole)["tensors"]

    def changed(name, array, at=0):
        start = tensors[name]["data_offsets"][0] + at
        data, payload = array.tobytes(), payload_of(whole)
        put(
            path,
            with_header(
                whole, header_of(whole), payload[:start] + data + payload[start + len(data) :]
            ),
        )

    for value in (np.nan, np.inf, -np.inf):
        for name in ("coef", "intercept"):
            changed(name, np.array([value]), 8)
            refused(path, "not finite", name)
    changed("solution.numbers", np.array([np.nan]))
    refused(path, "solution")
    broken = [0, 1, 5, 4], [0, 3, 1, 5], [-1, 1, 4, 5], [1, 1, 4, 5], [0, 1, 4, 2**60], [0, 1, 1, 5]
    for offsets in broken:  # of a, bé and c: 0, 1, 4, 5
        changed("classes.offsets", np.array(offsets, np.int64))
        refused(path)
    changed("classes.offsets", np.array([0, 1, 3, 5], np.int64))
    refused(path, "UTF-8")
    changed("classes.data", np.frombuffer(b"\xff", np.uint8))
    refused(path, "UTF-8")
    changed("classes.data", np.frombuffer(b"z", np.uint8))
    refused(path, "sorted")


@alone(memory=GIB)
def test_25_a_small_file_cannot_ask_for_much_memory(tmp):
    """Strings, documents and shapes that would grow a hundredfold as Python objects."""
    import resource  # not on every system

    _, path = written(tmp)
    whole = content(path)
    bombs = ["[" * 2**19, "[]," * 2**18, '"ab",' * 2**17, "0," * 2**19, '{"a":' * 2**17]
    for bomb in bombs:
        text = b'{"__metadata__":{"argmax":"' + b"0" * 64 + b' "},"x":[' + bomb.encode() + b"0]}"
        put(path, with_digest(len(text).to_bytes(8, "little") + text))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        refused(path)
        grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        assert grown < 4 * len(text) + 2**24
    many = 2**20
    header = header_of(whole)
    names = np.arange(many + 1, dtype=np.int64) * 2
    header["document"]["content"]["estimator"]["classes"] = "object"
    end = header["tensors"].pop("classes")["data_offsets"]
    payload = payload_of(whole)[: end[0]] + payload_of(whole)[end[1] :]
    for entry in header["tensors"].values():
        if entry["data_offsets"][0] >= end[1]:
            entry["data_offsets"] = [n - end[1] + end[0] for n in entry["data_offsets"]]
    start = len(payload)
    header["tensors"]["classes.offsets"] = {
        "dtype": "I64", "shape": [many + 1], "data_offsets": [start, start + names.nbytes],
    }  # fmt: skip
    header["tensors"]["classes.data"] = {
        "dtype": "U8", "shape": [2 * many],
        "data_offsets": [start + names.nbytes, start + names.nbytes + 2 * many],
    }  # fmt: skip
    put(path, with_header(whole, header, payload + names.tobytes() + b"ab" * many))
    refused(path, "more or longer classes than its size allows")


class Trap:
    """Unpickling it would leave a mark."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@alone
def test_26_pickles_and_the_files_of_others_are_refused_by_name_and_never_run(tmp):
    path, mark = os.path.join(tmp, "model"), os.path.join(tmp, "mark")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        put(path, pickle.dumps(Trap(mark), protocol))
        refused(path, *(["a pickle", "argmax.save"] if protocol >= 2 else ["not a model file"]))
    for compress in (0, 3, ("gzip", 3), ("bz2", 3), ("xz", 3)):
        joblib.dump(Trap(mark), path, compress=compress)
        refused(path, "not a model file of argmax")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Trap(mark)))
    refused(path, "a ZIP archive")
    np.savez(os.path.join(tmp, "a.npz"), x=np.zeros(3))
    refused(os.path.join(tmp, "a.npz"), "a ZIP archive")
    np.save(os.path.join(tmp, "a.npy"), np.array([Trap(mark)], dtype=object), allow_pickle=True)
    refused(os.path.join(tmp, "a.npy"), "a NumPy array")
    put(path, b"\x89HDF\r\n\x1a\n" + bytes(100))
    refused(path, "HDF5")
    put(path, b"\x08\x08\x12\x07pytorch\x1a\x052.0.0" + bytes(100))
    refused(path, "ONNX")
    assert not os.path.exists(mark)
