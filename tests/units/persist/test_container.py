"""The file itself: every bit is checked, and nothing is believed before."""

import hashlib
import json
import os
import pickle

import numpy as np
import pytest
import safetensors.numpy

from argmax.errors import ModelFileError, Unsupported
from argmax.persist import container
from tests.fuzz.model_files import header_of, with_header

TENSORS = {
    "x": np.arange(6.0).reshape(2, 3),
    "scalar": np.array(3.5),
    "empty": np.zeros((0, 3)),
    "flags": np.array([True, False, True]),
    "bytes": np.arange(5, dtype=np.uint8),
    "small": np.array([1, -2], np.int16),
}
CONTENT = {"a": [1, None, "é😀"], "b": {}}


@pytest.fixture
def path(tmp_path):
    container.write(tmp_path / "file", "model", CONTENT, TENSORS)
    return tmp_path / "file"


def changed(path, data):
    path.write_bytes(data)
    return path


def test_what_is_written_is_read_back(path):
    file = container.read(path)
    assert (file.kind, file.schema, file.content) == ("model", container.SCHEMA, CONTENT)
    assert (file.bytes, file.path) == (os.path.getsize(path), str(path))
    assert file.tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        found = file.tensors[name]
        assert (found.dtype, found.shape) == (tensor.dtype, tensor.shape)
        assert found.tobytes() == tensor.tobytes()


def test_the_same_content_gives_the_same_bytes(path, tmp_path):
    container.write(tmp_path / "again", "model", CONTENT, TENSORS)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_views_and_foreign_byte_orders_are_written_as_they_look(tmp_path):
    x = np.arange(12.0).reshape(3, 4)
    given = {"f": np.asfortranarray(x), "v": x[::2, 1:3], "b": x.astype(">f8")}
    container.write(tmp_path / "a", "model", {}, given)
    found = container.read(tmp_path / "a").tensors
    assert all(np.array_equal(found[name], tensor) for name, tensor in given.items())


def test_other_readers_of_safetensors_can_read_it(path):
    found = safetensors.numpy.load_file(path)
    assert all(np.array_equal(found[name], tensor) for name, tensor in TENSORS.items())


def test_the_digest_is_that_of_the_file_with_zeros_in_its_place(path):
    data = path.read_bytes()
    at = data.index(b'"argmax":"') + 10
    told = data[at : at + 64]
    assert hashlib.sha256(data.replace(told, b"0" * 64)).hexdigest() == told.decode()
    assert container.read(path).sha256 == told.decode()


def test_every_flipped_bit_is_found(path):
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 5):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ModelFileError):
            container.read(changed(path, data))


def test_every_cut_is_found(path):
    whole = path.read_bytes()
    for length in range(0, len(whole), 3):
        with pytest.raises(ModelFileError):
            container.read(changed(path, whole[:length]))
    with pytest.raises(ModelFileError, match="bytes of tensors where"):
        container.read(changed(path, whole + b"\0"))


FOREIGN = {
    "a pickle": pickle.dumps([0] * 100),
    "a ZIP archive": b"PK\x03\x04" + bytes(100),
    "gzip-compressed": b"\x1f\x8b\x08" + bytes(100) + b"\xff" * 9,
    "zlib-compressed": b"x\x9c" + b"\xff" * 100,
    "a NumPy array": b"\x93NUMPY\x01\x00" + bytes(100),
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "ONNX": b"\x08\x07\x12\x07pytorch" + bytes(100),
    "JSON": b'{"learner": {"attributes": {}}}',
    "a LightGBM model": b"tree\nversion=v4\n",
    "is empty": b"",
    "not a model file": b"some text that says nothing",
}


@pytest.mark.parametrize("what", FOREIGN)
def test_files_of_others_are_refused_by_name(what, tmp_path):
    with pytest.raises(ModelFileError, match=what):
        container.read(changed(tmp_path / "a", FOREIGN[what]))


def test_safetensors_of_others_are_refused(tmp_path):
    safetensors.numpy.save_file({"x": np.zeros(3)}, tmp_path / "a", {"format": "pt"})
    with pytest.raises(ModelFileError, match="header that argmax did not write"):
        container.read(tmp_path / "a")


def test_what_cannot_be_read_is_refused(tmp_path):
    for path, words in [
        (tmp_path / "nothing", "cannot be read: No such file"),
        (tmp_path, "not a regular file"),
        ("a\0b", "not a regular file"),
    ]:
        with pytest.raises(ModelFileError, match=words):
            container.read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        container.read(tmp_path / "pipe")


def edited(path, change):
    """The file with its header changed, and the digest that fits."""
    header = header_of(path.read_bytes())
    change(header)
    return changed(path, with_header(path.read_bytes(), header))


def test_a_newer_schema_asks_for_an_upgrade(path):
    def newer(header):
        header["document"]["schema"] = container.SCHEMA + 1

    with pytest.raises(ModelFileError, match=r"schema 2; this version .* Upgrade with pip install"):
        container.read(edited(path, newer))


@pytest.mark.parametrize(
    "change",
    [
        *({"schema": schema} for schema in (0, -1, "1", 1.0, True, None)),
        *({"kind": kind} for kind in ("thing", "", None, ["model"], "\x1b[31m")),
        *({"version": version} for version in (1, "", "1\n", "\x1b[31m", "9" * 60)),
        *({"content": content} for content in (None, [], "{}")),
        {"more": 1},
    ],
    ids=str,
)
def test_a_document_that_is_none_is_refused(path, change):
    with pytest.raises(ModelFileError) as caught:
        container.read(edited(path, lambda header: header["document"].update(change)))
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("x", {"shape": [2**40, 3]}),
        ("x", {"shape": [2**62, 2**62]}),
        ("x", {"shape": [-2, -3]}),
        ("x", {"shape": [2.0, 3]}),
        ("x", {"shape": [True, 6]}),
        ("x", {"shape": [1, 2, 3]}),
        ("x", {"shape": "23"}),
        ("x", {"dtype": "F128"}),
        ("x", {"dtype": ["F64"]}),
        ("x", {"dtype": "F32"}),
        ("x", {"data_offsets": [0, 48, 48]}),
        ("x", {"data_offsets": [-8, 40]}),
        ("x", {"data_offsets": [8, 48]}),
        ("x", {"data_offsets": [48, 0]}),
        ("x", {"data_offsets": [2**61, 2**61 + 48]}),
        ("x", {"more": 1}),
        ("small", {"data_offsets": [0, 4]}),
        ("flags", {"dtype": "U8"}),
        ("../x", {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}),
        ("x" * 200, {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}),
    ],
)  # fmt: skip
def test_a_tensor_must_fit_its_place_exactly(path, name, entry):
    def change(header):
        header["tensors"][name] = header["tensors"].get(name, {}) | entry

    if (name, entry) == ("flags", {"dtype": "U8"}):  # as wide as before: a question of the schema
        assert container.read(edited(path, change)).tensors["flags"].dtype == np.uint8
        return
    with pytest.raises(ModelFileError):
        container.read(edited(path, change))


def test_a_tensor_that_is_announced_twice_is_refused(path):
    data = path.read_bytes()
    twice = data.replace(b'"small":', b'"bytes":')
    with pytest.raises(ModelFileError, match="'bytes' occurs twice"):
        container.read(changed(path, twice))


def test_truth_values_are_0_or_1(path):
    header = header_of(path.read_bytes())
    header["tensors"]["bytes"]["dtype"] = "BOOL"
    with pytest.raises(ModelFileError, match="neither 0 nor 1"):
        container.read(changed(path, with_header(path.read_bytes(), header)))


def test_a_header_is_never_larger_than_its_limit(tmp_path):
    data = json.dumps({"__metadata__": {"argmax": "x" * container.HEADER}}).encode()
    path = changed(tmp_path / "a", len(data).to_bytes(8, "little") + data)
    with pytest.raises(ModelFileError, match="not a model file"):
        container.read(path)


def test_what_could_not_be_read_is_not_written(tmp_path):
    for content in ({"a": list(range(200_000))}, {"a": "x" * container.HEADER}):
        with pytest.raises(Unsupported, match="the options"):
            container.write(tmp_path / "a", "model", content, {})
    assert os.listdir(tmp_path) == []
