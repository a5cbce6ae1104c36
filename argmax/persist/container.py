"""The file: safetensors, with one strict document of ours and a digest of every bit.

    8 bytes   length of the header
    header    {"__metadata__": {"argmax": "<sha256> <document>"}, "<tensor>": {dtype, shape, data_offsets}, …}
    payload   the tensors, one after another, without gaps

The document is strict JSON: ``schema``, ``kind``, ``version`` (of the library) and ``content``. The digest is
that of the whole file, with its own 64 characters read as zeros: no flipped bit goes unseen.

Nothing of a file is believed before it is checked, and nothing is allocated that its size does not cover.
Every dtype, shape and offset is checked before the first tensor is read. Any safetensors reader can open it.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, Any, final

import numpy as np
from numpy.typing import NDArray

from .. import __version__, checks
from ..errors import ModelFileError, Unsupported
from . import strict
from .atomic import replace_file

__all__ = ["SCHEMA", "File", "Tensors", "glimpse", "naming", "read", "write"]

SCHEMA = 1
"""The newest schema that this version reads. It writes this one, and reads all older ones."""

KINDS = ("model", "checkpoint", "run")

HEADER = 2**20
"""Bytes of a header: ours take a few thousand."""

LARGE = 2**26
"""Bytes of a file from which on it is worth asking the system how much memory is left."""

KEY, ZEROS = b'"argmax":"', b"0" * 64

DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}

FOREIGN = {
    b"\x80": "a pickle",
    b"PK": "a ZIP archive (PyTorch, Keras, skops or NumPy write such files)",
    b"\x1f\x8b": "gzip-compressed",
    b"x\x01": "zlib-compressed (joblib writes such files)",
    b"x\x9c": "zlib-compressed (joblib writes such files)",
    b"x\xda": "zlib-compressed (joblib writes such files)",
    b"BZh": "bzip2-compressed",
    b"\xfd7zXZ": "xz-compressed",
    b"\x28\xb5\x2f\xfd": "zstandard-compressed",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "HDF5 (Keras writes such files)",
    b"lCRF": "a CRFsuite model",
    b"tree\n": "a LightGBM model",
    b"{": "JSON",
    b"\x08": "ONNX",
}
"""How files of others start: refused by name, and never loaded by what could run their code."""

Tensors = dict[str, NDArray[Any]]


@final
@dataclass(frozen=True, slots=True)
class File:
    """What a file holds: its document and its tensors, all of it checked but for what they mean."""

    path: str
    bytes: int
    sha256: str
    kind: str
    schema: int
    version: str
    content: dict[str, Any]
    tensors: Tensors

    def expect(self, kind: str) -> None:
        """Refuse a file of another kind."""
        if self.kind != kind:
            raise ModelFileError(f"is a {self.kind}, not a {kind}.")


@final
@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tensor lies in the payload."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


# Writing


def write(
    path: str | os.PathLike[str],
    kind: str,
    content: dict[str, Any],
    tensors: Tensors,
    *,
    overwrite: bool = False,
) -> None:
    """Write a document and its tensors, whole or not at all. The same content gives the same bytes."""
    from safetensors.numpy import save

    document = {"schema": SCHEMA, "kind": kind, "version": __version__, "content": content}
    metadata = {"argmax": f"{ZEROS.decode()} {strict.written(document)}"}
    whole = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    data = memoryview(save(whole, metadata))
    length = int.from_bytes(data[:8], "little")
    if length > HEADER:
        raise Unsupported(
            f"the options take {length} bytes; a model file has room for {HEADER}. "
            "Use fewer columns, or shorter names."
        )
    at = _digest_place(bytes(data[: 8 + length]))
    digest = hashlib.sha256(data).hexdigest().encode()

    def parts(stream: IO[bytes]) -> None:
        for part in (data[:at], digest, data[at + len(digest) :]):
            stream.write(part)

    replace_file(path, parts, overwrite=overwrite)


def _digest_place(start: bytes) -> int:
    return start.index(KEY) + len(KEY)


# Reading


def read(path: str | os.PathLike[str]) -> File:
    """Check a file from its first byte to its last, and take its document and its tensors."""
    name = checks.file_name(path)
    with naming(name), _opened(name) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > LARGE:
            checks.memory(2.0 * size, f"loading {name!r}", "Load it where there is more.")
        return _read(name, stream, size)


def glimpse(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The document in the header of a file, for those who only want to know what it claims to be."""
    name = checks.file_name(path)
    with naming(name), _opened(name) as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 2 <= length <= HEADER:
            raise ModelFileError("is not a model file of argmax, or was cut off.")
        return _understood(stream.read(length), length)[0]


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Sentences about a file get its name for a subject."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{name!r} {error}") from error.__cause__


@contextmanager
def _opened(name: str) -> Iterator[io.BufferedReader]:
    try:
        if "\0" in name or not stat.S_ISREG(os.stat(name).st_mode):  # a pipe would wait for ever
            raise ModelFileError("is not a regular file.")
        with open(name, "rb") as stream:
            yield stream
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}.") from error


def _read(name: str, stream: io.BufferedReader, size: int) -> File:
    start = stream.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or not 2 <= length <= min(size - 8, HEADER):
        raise ModelFileError(_foreign(start, size))
    header = stream.read(length)
    document, places = _understood(header, length)
    at = _digest_place(header)
    told = header[at : at + 64]
    digest = hashlib.sha256(start)
    digest.update(header[:at] + ZEROS + header[at + 64 :])
    _check_places(places, size - 8 - length)
    tensors = {place.name: _taken(stream, place, digest) for place in places}
    if digest.hexdigest().encode() != told:
        raise ModelFileError("is damaged: its digest does not match. Copy or download it again.")
    return File(
        path=name,
        bytes=size,
        sha256=told.decode(),
        kind=document["kind"],
        schema=document["schema"],
        version=document["version"],
        content=document["content"],
        tensors=tensors,
    )


def _foreign(start: bytes, size: int) -> str:
    if not size:
        return "is empty, not a model file."
    for magic, what in FOREIGN.items():
        if start.startswith(magic):
            return (
                f"is {what}, not a model file of argmax; it was not loaded. "
                "Write model files with argmax.save(model, path)."
            )
    return "is not a model file of argmax, or was cut off."


def _understood(header: bytes, length: int) -> tuple[dict[str, Any], list[_Place]]:
    """The document and the places of the tensors, in the order of the file."""
    if len(header) < length:
        raise ModelFileError("was cut off.")
    try:
        entries = strict.parsed(header.decode("ascii"))
        text = entries.pop("__metadata__")["argmax"]
        document = strict.parsed(text[65:])
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise ModelFileError(f"has a header that argmax did not write: {error}.") from error
    if not re.fullmatch("[0-9a-f]{64} ", text[:65]) or header.count(KEY) != 1:
        raise ModelFileError("has a header that argmax did not write: there is no digest.")
    _check_document(document)
    places = [_place(name, entry) for name, entry in entries.items()]
    return document, sorted(places, key=lambda place: (place.start, place.stop))


def _check_document(document: Any) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    if type(schema) is not int or schema < 1:
        raise ModelFileError("has a document without a schema.")
    if schema > SCHEMA:
        raise ModelFileError(
            f"has schema {schema}; this version of argmax reads schemas up to {SCHEMA}. "
            "Upgrade with pip install --upgrade argmax."
        )
    if document.keys() != {"schema", "kind", "version", "content"}:
        raise ModelFileError("has a document that argmax did not write.")
    version = document["version"]
    plain = isinstance(version, str) and re.fullmatch(r"[\w.+]{1,50}", version)
    if not plain or document["kind"] not in KINDS or not isinstance(document["content"], dict):
        raise ModelFileError("is of a kind or a version that is none of argmax.")


def _place(name: str, entry: Any) -> _Place:
    if not re.fullmatch(r"[A-Za-z0-9_.]{1,100}", name) or not isinstance(entry, dict):
        raise ModelFileError(f"has an entry {name[:100]!r} that is no tensor of argmax.")
    if entry.keys() != {"dtype", "shape", "data_offsets"} or entry["dtype"] not in list(DTYPES):
        raise ModelFileError(f"describes tensor {name!r} in a way that argmax does not.")
    shape, offsets = entry["shape"], entry["data_offsets"]
    for numbers in (shape, offsets):
        whole = isinstance(numbers, list) and all(type(n) is int for n in numbers)
        if not whole or not all(0 <= n < 2**62 for n in numbers):
            raise ModelFileError(f"gives tensor {name!r} sizes that are no whole numbers.")
    if len(shape) > 2 or len(offsets) != 2:
        raise ModelFileError(f"gives tensor {name!r} more dimensions than argmax uses.")
    return _Place(name, entry["dtype"], tuple(shape), *offsets)


def _check_places(places: list[_Place], payload: int) -> None:
    """The tensors must fill the payload one after another, and each its place exactly."""
    end = 0
    for place in places:
        needed = prod(place.shape) * np.dtype(DTYPES[place.dtype]).itemsize
        if place.start != end or place.stop - place.start != needed:
            raise ModelFileError(f"has a tensor {place.name!r} that does not fit its place.")
        end = place.stop
    if end != payload:
        raise ModelFileError(f"has {payload} bytes of tensors where {end} were announced.")


def _taken(stream: io.BufferedReader, place: _Place, digest: Any) -> NDArray[Any]:
    """A tensor, read where it is to stay."""
    array = np.empty(place.shape, np.dtype(DTYPES[place.dtype]).newbyteorder("<"))
    view = array.reshape(-1).view(np.uint8)
    if stream.readinto(view.data) != len(view):
        raise ModelFileError("was cut off.")
    digest.update(view.data)
    if place.dtype == "BOOL" and len(view) and view.max() > 1:
        raise ModelFileError(f"has truth values in {place.name!r} that are neither 0 nor 1.")
    return array.astype(DTYPES[place.dtype], copy=False)
