"""Mutated model files: each is a ``ModelFileError``, or a model that answers. Never anything else.

    python -m tests.fuzz.model_files 100000            so many inputs
    python -m tests.fuzz.model_files 1 --first 4711    one input again

Input i depends on i alone. Half of the mutations leave the digest as it was, so that it must find them; the
others compute it anew, as an attacker would, and reach the checks behind it. Of every fiftieth input the
memory that loading asks for is measured. An input that takes a minute ends the run with a traceback.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import hashlib
import json
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from argmax import (
    CRFTagger,
    GraphLabeler,
    LinearClassifier,
    MulticlassPerceptron,
    MulticlassSVM,
    MultiLabelClassifier,
    OneVsOne,
    OneVsRest,
    OutputCode,
    SequenceTagger,
    SoftmaxRegression,
    load,
    save,
    shift,
)
from argmax.calibration import Calibrated, CalibratedTagger
from argmax.errors import ArgmaxError, ModelFileError
from argmax.features import Given, Table, Templates

DIGEST = b'"argmax":"'
SPARE = 2**20
"""Bytes that loading may take beside four times the file."""


# The seeds


@cache
def seeds() -> list[tuple[bytes, Any]]:
    """Small files of every kind, each with rows that its model can answer about."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    frame = {"size": X[:, 0], "city": np.array(["Oslo", "Rome", "Bern"])[y], "note": _notes(rng)}
    kinds = {"size": "number", "city": "category", "note": "text"}
    hashed = Table(kinds | {"size": "ignore"}, hash_bits=4, examples=2)
    weighted = {"class_weight": {"a": 2.0}, "solver": "lbfgs", "C": np.inf}
    models = [
        (SoftmaxRegression().fit(X, y), X),
        (LinearClassifier(penalty="l1", fit_intercept=False).fit(X, y > 0), X),
        (LinearClassifier(**weighted).fit(X, np.array(["a", "bé", "c"])[y]), X),
        (Pipeline([("table", Table(kinds)), ("model", LinearClassifier())]).fit(frame, y), frame),
        (Pipeline([("t", hashed), ("m", SoftmaxRegression())]).fit(frame, y), frame),
    ]
    every = [*models, *_margins(X, y), *_reductions(X, y), *_calibrated(X, y), *_sets(X, y)]
    every += _taggers(rng)
    return [(_written(model), rows) for model, rows in every]


def _reductions(X: Any, y: Any) -> list[tuple[Any, Any]]:
    return [
        (OneVsRest().fit(X, y), X),
        (OneVsOne(MulticlassSVM(), decision="tournament").fit(X, y), X),
        (OutputCode(code=[[1, 1], [-1, 1], [1, -1]], decoding="hamming").fit(X, y), X),
        (Calibrated(OutputCode(LinearClassifier(C=2.0)), "temperature", cv=2).fit(X, y), X),
    ]


def _margins(X: Any, y: Any) -> list[tuple[Any, Any]]:
    cost = [[0.0, 2.0, 1.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]]
    return [
        (MulticlassSVM(cost=cost, C=0.1).fit(X, y), X),
        (MulticlassPerceptron(loss="pa1", max_iter=3).fit(X, y), X),
    ]


def _calibrated(X: Any, y: Any) -> list[tuple[Any, Any]]:
    model = SoftmaxRegression().fit(X[:30], y[:30])
    scores = model.decision_function(X)
    found = shift.label(scores[:40], y[:40], scores[40:], resamples=20)
    return [
        (Calibrated(SoftmaxRegression(), "matrix", cv=2).fit(X, y), X),
        (Calibrated(SoftmaxRegression(), "matrix", cv=2, ensemble=False).fit(X, y), X),
        (Calibrated(LinearClassifier(), "temperature", cv=2).fit(X, y > 0), X),
        (Calibrated(LinearClassifier(), "isotonic", cv=2).fit(X, y), X),
        (Calibrated(LinearClassifier(), "top_label", cv=2).fit(X, y), X),
        (shift.adapt(model, found, "a note"), X),
    ]


def _sets(X: Any, y: Any) -> list[tuple[Any, Any]]:
    labels = np.stack([y == 0, X[:, 0] > 0, X[:, 1] > 0], axis=1).astype(int)
    named = MultiLabelClassifier([(0, 2)], labels=["a", "bé", "c"], fit_intercept=False)
    edges = np.array([[0, 1], [1, 2], [0, 2]])
    graphs = [(X[[i, i - 1, i - 2], :2], edges) for i in range(60)]
    contrasts = [
        (nodes, edges, np.abs(nodes[edges[:, 0]] - nodes[edges[:, 1]])) for nodes, _ in graphs
    ]
    nodes = [y[[i, i - 1, i - 2]] for i in range(60)]
    return [
        (MultiLabelClassifier().fit(X, labels), X),
        (named.fit(X, labels), X),
        (MultiLabelClassifier("none").fit(X, y), X),
        (GraphLabeler(edges="potts").fit(graphs, nodes), graphs),
        (GraphLabeler("pseudo", class_weight=None).fit(contrasts, nodes), contrasts),
    ]


def _taggers(rng: np.random.Generator) -> list[tuple[Any, Any]]:
    words = [note.split() for note in _notes(rng)]
    labels = [["B-X" if len(word) > 4 else "O" for word in note] for note in words]
    named = [[["bias", f"word={word}"] for word in note] for note in words]
    plain = Templates(["word[0]", "word[-1]|word[0]", "suffix(word[0],2)"])
    few = Templates(["shape(word[0])", "word[1]"], hash_bits=5, examples=1)
    rules: list[Any] = []
    costly = {"loss": "softmax_margin", "cost": [[0.0, 1.0], [2.0, 0.0]]}
    return [
        (SequenceTagger(plain, constraints="BIO").fit(words, labels), words),
        (SequenceTagger(few, order=2, constraints=rules, **costly).fit(words, labels), words),
        (CRFTagger(Given(), C=0.1, start=False).fit(named, labels), named),
        (CalibratedTagger(CRFTagger(plain), "temperature", cv=2).fit(words, labels), words),
    ]


def _notes(rng: np.random.Generator) -> list[str]:
    words = np.array(["good", "bad", "naïve", "day", "night", "日本"])
    return [" ".join(rng.choice(words, 3)) for _ in range(60)]


def _written(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


# A header, taken apart and put together again


def header_of(data: bytes) -> dict[str, Any]:
    """{"document": of ours, "tensors": by name}."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    document = json.loads(header.pop("__metadata__")["argmax"][65:])
    return {"document": document, "tensors": header}


def payload_of(data: bytes) -> bytes:
    return data[8 + int.from_bytes(data[:8], "little") :]


def with_header(data: bytes, header: dict[str, Any], payload: bytes | None = None) -> bytes:
    """The file with another header (and payload), and the digest that fits."""
    document = "0" * 64 + " " + json.dumps(header["document"])
    entries = {"__metadata__": {"argmax": document}, **header["tensors"]}
    text = json.dumps(entries, separators=(",", ":")).encode()
    payload = payload_of(data) if payload is None else payload
    return with_digest(len(text).to_bytes(8, "little") + text + payload)


def with_digest(data: bytes) -> bytes:
    at = data.find(DIGEST) + len(DIGEST)
    zeros = data[:at] + b"0" * 64 + data[at + 64 :]
    return zeros[:at] + hashlib.sha256(zeros).hexdigest().encode() + zeros[at + 64 :]


# Mutations that the digest must find


def flip(rng: Any, data: bytes) -> bytes:
    changed = bytearray(data)
    for bit in rng.integers(0, 8 * len(data), rng.integers(1, 9)):
        changed[bit // 8] ^= 1 << int(bit % 8)
    return bytes(changed)


def cut(rng: Any, data: bytes) -> bytes:
    return data[: rng.integers(0, len(data))]


def extend(rng: Any, data: bytes) -> bytes:
    return data + rng.bytes(rng.integers(1, 100))


def overwrite(rng: Any, data: bytes) -> bytes:
    at, length = rng.integers(0, len(data)), rng.integers(1, 200)
    piece = rng.bytes(length) if rng.random() < 0.5 else bytes(length)
    return data[:at] + piece + data[at + length :]


def splice(rng: Any, data: bytes) -> bytes:
    other = seeds()[rng.integers(len(seeds()))][0]
    return data[: rng.integers(0, len(data))] + other[rng.integers(0, len(other)) :]


def length(rng: Any, data: bytes) -> bytes:
    claims = (0, 1, 8, len(data), 2**20, 2**31, 2**63, 2**64 - 1, int(rng.integers(2**62)))
    return claims[rng.integers(len(claims))].to_bytes(8, "little") + data[8:]


def noise(rng: Any, data: bytes) -> bytes:
    starts = (b"", b"\x80\x04\x95", b"PK\x03\x04", b"\x1f\x8b", b"\x08", b"{", bytes(8), data[:100])
    return starts[rng.integers(len(starts))] + rng.bytes(rng.integers(0, 500))


# Mutations with a digest that fits


NASTY = (
    None, True, False, 0, -1, 1, 2, 3, 2**31, 2**63, 2**64, -(2**63), 10**400, 0.5, -0.0, 1e308,
    "", "x", "é", "\ud83d", "x" * 5000, "log", "inf", "str", "object", "int64", "newton",
    "F64", "F32", "I64", "U8", "BOOL", [], {}, [[]], [0, 0], [1, 2, 3], [0] * 1000,
    {"number": "inf"}, {"pairs": [["a", 1]]}, {"solver": "newton", "options": {}},
)  # fmt: skip


def places(value: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """(container, key) of everything in a JSON value."""
    found = [] if found is None else found
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            places(value[key], found)
    return found


def edit(rng: Any, value: Any) -> None:
    """Change one place of a JSON value."""
    found = places(value)
    if not found:
        return
    owner, key = found[rng.integers(len(found))]
    action = rng.integers(6)
    if action == 0:
        del owner[key]
    elif action == 1 and isinstance(owner, dict):
        owner[f"{key}x" if rng.random() < 0.5 else "\udc00"] = owner.pop(key)
    elif action == 2:
        other, there = found[rng.integers(len(found))]
        owner[key] = copy.deepcopy(other[there])
    elif action == 3 and isinstance(owner[key], int | float):
        owner[key] += int(rng.choice([-8, -1, 1, 8, 2**40]))
    else:
        owner[key] = copy.deepcopy(NASTY[rng.integers(len(NASTY))])


def document(rng: Any, data: bytes) -> bytes:
    header = header_of(data)
    for _ in range(rng.integers(1, 4)):
        edit(rng, header["document"])
    return with_header(data, header)


def entries(rng: Any, data: bytes) -> bytes:
    header = header_of(data)
    for _ in range(rng.integers(1, 4)):
        edit(rng, header["tensors"])
    return with_header(data, header)


def duplicate(rng: Any, data: bytes) -> bytes:
    header = header_of(data)
    names = sorted(header["tensors"])
    name, other = (names[i] for i in rng.integers(0, len(names), 2))
    end = 8 + int.from_bytes(data[:8], "little")
    more = f',"{name}":{json.dumps(header["tensors"][other])}}}'.encode()
    text = data[8:end].rstrip()[:-1] + more
    return with_digest(len(text).to_bytes(8, "little") + text + data[end:])


VALUES = (
    0,
    1,
    2**31,
    2**63 - 1,
    2**64 - 1,
    2**63,
    0x7FF0000000000000,
    0x7FF8000000000000,
    0x7FE0000000000000,
)


def numbers(rng: Any, data: bytes) -> bytes:
    """NaN, infinity, falling offsets, broken UTF-8: other values in a tensor."""
    header, payload = header_of(data), bytearray(payload_of(data))
    chosen = [entry for entry in header["tensors"].values() if entry["data_offsets"][1] > 0]
    for _ in range(rng.integers(1, 4)):
        start, stop = chosen[rng.integers(len(chosen))]["data_offsets"]
        if stop - start >= 8 and rng.random() < 0.7:
            at = start + 8 * int(rng.integers((stop - start) // 8))
            payload[at : at + 8] = VALUES[rng.integers(len(VALUES))].to_bytes(8, "little")
        elif stop > start:
            payload[rng.integers(start, stop)] = rng.integers(256)
    return with_header(data, header, bytes(payload))


def resize(rng: Any, data: bytes) -> bytes:
    """Another length or shape of a tensor, with offsets and payload that fit it."""
    header, payload = header_of(data), payload_of(data)
    name = sorted(header["tensors"])[rng.integers(len(header["tensors"]))]
    entry = header["tensors"][name]
    start, stop = entry["data_offsets"]
    if rng.random() < 0.3 and len(entry["shape"]) == 2:
        entry["shape"] = entry["shape"][::-1] if rng.random() < 0.5 else [stop // 8 - start // 8]
        return with_header(data, header)
    wide = {"F64": 8, "I64": 8}.get(entry["dtype"], 1)
    rows = int(rng.integers(0, 40))
    inner = entry["shape"][1:] if entry["shape"] else []
    size = wide * rows * int(np.prod(inner))
    entry["shape"], entry["data_offsets"] = [rows, *inner], [start, start + size]
    for other in header["tensors"].values():
        if other is not entry and other["data_offsets"][0] >= stop:
            other["data_offsets"] = [n + size - (stop - start) for n in other["data_offsets"]]
    filling = (payload[start:stop] * 40 + bytes(size))[:size]
    return with_header(data, header, payload[:start] + filling + payload[stop:])


def options(rng: Any, data: bytes) -> bytes:
    """The options of a table or of templates, where there are any."""
    header, payload = header_of(data), payload_of(data)
    names = [name for name in header["tensors"] if name.endswith(".options")]
    if not names:
        return document(rng, data)
    entry = header["tensors"][names[0]]
    start, stop = entry["data_offsets"]
    value = json.loads(payload[start:stop])
    for _ in range(rng.integers(1, 3)):
        edit(rng, value)
    text = json.dumps(value).encode()
    entry["shape"], entry["data_offsets"] = [len(text)], [start, start + len(text)]
    for other in header["tensors"].values():
        if other is not entry and other["data_offsets"][0] >= stop:
            moved = [n + len(text) - (stop - start) for n in other["data_offsets"]]
            other["data_offsets"] = moved
    return with_header(data, header, payload[:start] + text + payload[stop:])


Mutation = Callable[[Any, bytes], bytes]
FOUND: list[Mutation] = [flip, flip, flip, cut, extend, overwrite, splice, length, noise]
DEEP: list[Mutation] = [
    document,
    document,
    entries,
    duplicate,
    numbers,
    numbers,
    resize,
    options,
    options,
]


# One input


def mutated(i: int) -> tuple[bytes, bytes, Any, bool]:
    """Input i: the file, the one it comes from, rows for its model, and whether the digest must find it."""
    rng = np.random.default_rng([7, i])
    data, rows = seeds()[rng.integers(len(seeds()))]
    deep = bool(rng.random() < 0.5)
    kinds = DEEP if deep else FOUND
    return kinds[rng.integers(len(kinds))](rng, data), data, rows, not deep


def check(i: int, path: Path, measure: bool = False) -> str:
    """ "refused" or "loaded"; anything else is raised."""
    data, original, rows, found = mutated(i)
    path.write_bytes(data)
    try:
        model = _load(path, 4 * len(data) + SPARE if measure else None)
    except ModelFileError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert refused.startswith(repr(str(path))), f"input {i}: {refused}"
        assert data != original, f"input {i}: a good file was refused: {refused}"
        return "refused"
    assert not found or data == original, f"input {i}: the digest did not find the change"
    try:
        _answers(model, rows)
    except ArgmaxError:  # other columns, other sizes: said in a sentence
        return "loaded, but not for these rows"
    return "loaded"


def _answers(model: Any, rows: Any) -> None:
    if isinstance(model, SequenceTagger | CRFTagger | CalibratedTagger | GraphLabeler):
        model.predict(rows)
        model.predict_marginals(rows)
        if isinstance(model, CalibratedTagger):
            model.span_confidence(rows)
    elif hasattr(model, "predict_proba"):
        model.predict_proba(rows)
    else:
        model.decision_function(rows)


def _load(path: Path, limit: int | None) -> Any:
    if limit is None:
        return load(path)
    tracemalloc.start()
    try:
        return load(path)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak <= limit, f"{peak} bytes asked for, {limit} allowed"


def run(first: int, count: int, path: Path, seconds: float | None = None) -> Counter[str]:
    """Inputs first … first + count − 1, and how they ended; one that takes ``seconds`` ends the process."""
    found: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(first, first + count):
            if seconds is not None:
                faulthandler.dump_traceback_later(seconds, exit=True)
                if i % 10_000 == 0:
                    print(f"input {i}", file=sys.stderr, flush=True)
            found[check(i, path, i % 50 == 0)] += 1
    faulthandler.cancel_dump_traceback_later()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = run(given.first, given.count, Path(folder) / "model", seconds=60.0)
    print(f"{given.count} inputs in {time.perf_counter() - began:.0f} s: {dict(found)}")


if __name__ == "__main__":
    main()
