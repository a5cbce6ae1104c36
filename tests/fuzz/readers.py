"""A fuzzer for the readers of files.

    python -m tests.fuzz.readers 100000 [--seed 0]

Each input is a small file of some format, changed at random. It must end in a table that is read to its
end, and is what it claims to be, or in an error of the library's own. Memory is measured on one input in
twenty: what Python and NumPy allocate by tracemalloc, at its peak over opening and reading, and what Arrow
allocates by the peak of its memory pool over the whole run.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import lzma
import random
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from argmax.data import Limits, open_table, samples
from argmax.errors import ArgmaxError
from argmax.records import Batch, Csr, Strings

SPARE = 2**22
"""Bytes that reading any file may take, however small: buffers, and the sample of a few rows."""
MEASURED = 20
"""One input in so many is read under tracemalloc, which makes it slow."""


def seeds() -> tuple[list[bytes], ...]:
    """Good files of each format and kind: plain text, compressed text, Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("tickets.csv", "tickets.jsonl")]
        for path in paths:
            samples.write_tickets(path, n=25)
        csv, jsonl = (path.read_bytes() for path in paths)
    svm = b"+1 1:0.5 3:-2e3 # note\n-1 2:1\n\n# all\nspam 7:1 9:.5\n" * 4
    nested = b'{"a": [1, {"b": 2}], "c": true, "d": null}\n{"c": false, "d": 1.5}\n' * 4
    texts = [
        csv,
        jsonl,
        svm,
        nested,
        csv.replace(b",", b"\t"),
        b"\xef\xbb\xbfa;b\r\n1,5;x\r\n;y\r\n",
    ]
    packed = [gzip.compress(csv), bz2.compress(csv), lzma.compress(jsonl, preset=0), *_zstd(csv)]
    return texts, [*packed, csv.decode().encode("utf-16")], _parquets()


def _zstd(content: bytes) -> list[bytes]:
    try:
        import pyarrow as pa
    except ImportError:
        return []
    return [pa.compress(content, codec="zstd", asbytes=True)]


def _parquets() -> list[bytes]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return []
    table = pa.table(
        {
            "size": np.arange(60.0),
            "count": [None if i % 9 == 0 else i for i in range(60)],
            "city": [("Oslo", "Rome", None)[i % 3] for i in range(60)],
            "text": [f"some words {i} and é" for i in range(60)],
            "flag": [i % 2 == 0 for i in range(60)],
            "tags": [[1, 2], []] * 30,
        }
    )
    ways: list[dict[str, Any]] = [
        {"compression": "none"},
        {"compression": "snappy", "row_group_size": 20},
        {"compression": "zstd", "use_dictionary": False, "data_page_version": "2.0"},
        {
            "compression": "gzip",
            "use_dictionary": False,
            "column_encoding": {"text": "DELTA_BYTE_ARRAY"},
        },
    ]
    found = []
    for way in ways:
        buffer = io.BytesIO()
        parquet.write_table(table, buffer, **way)
        found.append(buffer.getvalue())
    return found


# Changes: each takes the random numbers, the bytes and some other file.


def _flip(rng: random.Random, data: bytearray, other: bytes) -> None:
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(rng: random.Random, data: bytearray, other: bytes) -> None:
    data[rng.randrange(len(data))] = rng.choice(b"\0\xff\x80,;|\t\"\n\r{}[]:# \\'_-.eE0\xc3\xed")


def _cut(rng: random.Random, data: bytearray, other: bytes) -> None:
    del data[rng.randrange(len(data)) :]


def _drop(rng: random.Random, data: bytearray, other: bytes) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice((1, 1, 4, 50, 400))]


def _insert(rng: random.Random, data: bytearray, other: bytes) -> None:
    at = rng.randrange(len(data))
    data[at:at] = rng.randbytes(rng.choice((1, 2, 8, 100)))


def _repeat(rng: random.Random, data: bytearray, other: bytes) -> None:
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.choice((1, 3, 40))] * rng.choice((2, 10, 300))


def _splice(rng: random.Random, data: bytearray, other: bytes) -> None:
    at, start = rng.randrange(len(data)), rng.randrange(len(other))
    data[at:] = other[start:]


def _odd(rng: random.Random, data: bytearray, other: bytes) -> None:
    """A number, a name or a sign that readers stumble over, in the place of some bytes."""
    at = rng.randrange(len(data))
    data[at : at + rng.randrange(6)] = rng.choice(ODD)


def _shuffle(rng: random.Random, data: bytearray, other: bytes) -> None:
    lines = bytes(data).split(b"\n")
    rng.shuffle(lines)
    data[:] = b"\n".join(lines)


ODD = (
    b"1e999", b"-inf", b"NaN", b"nan", b"1_000", "٣".encode(), b"9" * 400, b"0x1f", b"1e", b"--1",
    b'""', b'"', b'"\n"', b",,,", b"\r", b"\r\n", b"\n\n", b"null", b"true", b"{}", b"[]", b"[" * 2000,
    b'{"a":' * 500, b'"\\ud800"', b"\\u0000", b"\xff\xfe", b"\xef\xbb\xbf", b"PAR1", b"\x1f\x8b\x08",
    b"qid:1", b"1:1:1", b"99999999999999999999:1", b"#", "\u2028".encode(), b"\x85", b"\x0b", b"a" * 5000,
)  # fmt: skip

CHANGES: tuple[Callable[[random.Random, bytearray, bytes], None], ...] = (
    _flip, _flip, _set, _set, _cut, _drop, _insert, _repeat, _splice, _odd, _odd, _shuffle,
)  # fmt: skip

PACKERS = (gzip.compress, bz2.compress, lambda data: lzma.compress(data, preset=0))


def inputs(count: int, seed: int) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Files and the options to open them with. Input i is the same whatever the count."""
    texts, packed, parquets = seeds()
    files = [*texts, *packed, *parquets]
    for i in range(count):
        rng = random.Random(f"{seed} {i}")
        data = bytearray(rng.choice(rng.choice((texts, texts, texts, packed, parquets or texts))))
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            if data:
                rng.choice(CHANGES)(rng, data, rng.choice(files))
        yield (rng.choice(PACKERS)(data) if rng.random() < 0.1 else bytes(data)), _options(rng)


def _options(rng: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rng.random() < 0.1:
        options["format"] = rng.choice(("csv", "tsv", "jsonl", "svmlight", "parquet"))
    if rng.random() < 0.1:
        options["encoding"] = rng.choice(
            ("utf-16", "latin-1", "cp1252", "utf-16-le", "ascii", "utf-7")
        )
    if rng.random() < 0.05:
        options["delimiter"] = rng.choice(",;\t|x")
    if rng.random() < 0.1:
        options["sample_rows"] = rng.choice((1, 3, 10))
    if rng.random() < 0.1:
        options["missing"] = rng.choice(((), ("x",), ("NA", "-")))
    if rng.random() < 0.1:
        options["limits"] = Limits(line_bytes=300, field_bytes=100, columns=8, features=1000)
    return options


# What must hold


def read(path: Path, options: dict[str, Any], rows: int) -> str:
    """Open and read a file to its end; the name of what came of it."""
    try:
        source = open_table(path, **options)
        done = 0
        for batch in source.batches(rows=rows):
            check(batch, rows)
            assert batch.first == done
            done += len(batch)
        assert done == source.rows
        strings = [name for name, kind in source.kinds.items() if kind in ("number", "category")]
        for batch in source.batches(strings, strings=[n for n in strings if n != "features"]):
            check(batch, len(batch))
    except ArgmaxError as error:
        return f"{type(error).__name__}{'' if str(error) else ' without a word'}"
    return "read"


def check(batch: Batch, most: int) -> None:
    """A batch is what it says it is."""
    assert 0 < len(batch) <= most
    for column in batch.columns.values():
        assert len(column) == len(batch)
        if isinstance(column, Strings):
            assert column.offsets[0] >= 0
            assert np.all(np.diff(column.offsets) >= 0)
            assert column.offsets[-1] <= len(column.data)
            bytes(column.data[column.offsets[0] : column.offsets[-1]]).decode("utf-8")
            if column.missing is not None:
                assert not np.diff(column.offsets)[column.missing].any()
        elif isinstance(column, Csr):
            assert np.all(np.isfinite(column.values))
            assert column.indices.min(initial=0) >= 0
            assert column.indices.max(initial=0) <= column.width
        else:
            assert not np.isinf(column).any()


def fuzz(count: int, seed: int = 0, say: Callable[[str], None] = lambda line: None) -> Counter[str]:
    """Read so many inputs; how often each thing came of it. Raises, with the input, on anything else."""
    outcomes: Counter[str] = Counter()
    worst, start = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input")
        for good in chain(*seeds()):  # imports what is imported late, before memory is measured
            path.write_bytes(good)
            read(path, {}, 10)
        before = arrow_peak()
        for i, (data, options) in enumerate(inputs(count, seed)):
            path.write_bytes(data)
            measured = i % MEASURED == 0
            if measured:
                tracemalloc.start()
            try:
                outcomes[read(path, options, rows=(1, 7, 10_000)[i % 3])] += 1
            except BaseException as error:
                kept = Path(tempfile.gettempdir(), f"fuzz-{seed}-{i}")
                kept.write_bytes(data)
                raise AssertionError(f"input {i}, kept as {kept}, opened with {options}") from error
            if measured:
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                worst = max(worst, peak)
                assert peak <= 4 * len(data) + SPARE, f"input {i}: {peak:,} bytes for {len(data):,}"
            if (i + 1) % 5000 == 0:
                rate = (i + 1) / (time.monotonic() - start)
                say(f"{i + 1:,} inputs, {rate:.0f} a second, {dict(outcomes)}")
    say(f"peak of Python and NumPy: {worst:,} bytes; of Arrow: {arrow_peak():,} bytes")
    assert arrow_peak() <= max(before, SPARE)
    return outcomes


def arrow_peak() -> int:
    """The most that Arrow has held in this process so far."""
    if "pyarrow" not in sys.modules:
        return 0
    return int(sys.modules["pyarrow"].default_memory_pool().max_memory())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = fuzz(arguments.count, arguments.seed, say=lambda line: print(line, flush=True))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
