"""Faults 22 and 23: files that are broken, and files that are traps."""

import gzip
import io
import json
import lzma
import tempfile
from pathlib import Path

import pytest

from argmax.data import open_table
from argmax.errors import BadFile, ResourceLimit
from tests.faults.cases import refuses
from tests.faults.harness import GIB, alone

try:
    import resource
except ImportError:  # no such figures on this system
    resource = None

MIB = 2**20


def held():
    """The most memory that this process has had so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 if resource else 0.0


def read(path, **options):
    for _ in open_table(path, **options).batches():
        pass


def broken(cases, name):
    """Each content is refused with all its words, and the next file is read as if nothing had happened."""
    with tempfile.TemporaryDirectory() as folder:
        good, path = Path(folder, "good"), Path(folder, name)
        good.write_text("a,b\n1,x\n2,y\n")
        for content, says in cases:
            path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
            refuses(read, path, says=(name, *says), error=BadFile)
            read(good)


ROWS = [f"{i},{i / 4},town {i % 3},some words about {i}" for i in range(2000)]
CSV = "\n".join(["id,price,town,text", *ROWS]) + "\n"


def with_row(row, at=811):
    """The table with one row replaced; that row is line 812 unless another is named."""
    rows = [*ROWS[: at - 1], row, *ROWS[at:]]
    return "\n".join(["id,price,town,text", *rows]) + "\n"


@alone
def test_22_text():
    csv()
    csv_after_the_sample()
    encodings_and_delimiters()
    jsonl()


def csv():
    broken(
        [
            (CSV[: CSV.index("town", 50_000)], ("line ", "may be cut off")),
            (with_row("1,2,town"), ("line 812", "3 fields, the header has 4")),
            (with_row("1,2,town,x,y"), ("line 812", "5 fields", "needs quotes")),
            (with_row('1,2,town,"x'), ("line 812", "may not be closed")),
            (with_row('1,2,"to"wn,x'), ("line 812", "after a closing quote")),
            (with_row("1,2,town,a\0b"), ("line 812, column 11", "NUL")),
            (CSV.replace("id,price", "town,price"), ("line 1", "two columns are called 'town'")),
            ("", ("empty",)),
            ("\n\n", ("empty",)),
            ("id,price,town,text\n", ("a header, and no row",)),
            (CSV.replace("\n", "\r"), ("line 1", "carriage return")),
        ],
        "broken.csv",
    )


def csv_after_the_sample():
    rows = ROWS * 8
    rows[15_000] = "1,soon,town,x"
    broken(
        [
            (
                "\n".join(["id,price,town,text", *rows]),
                ("line 15002, column 'price'", "'soon'", "kinds="),
            )
        ],
        "long.csv",
    )


def encodings_and_delimiters():
    accents = with_row("1,2,town,café")
    broken(
        [
            (accents.encode("latin-1"), ("line 812, column 13", "0xe9", "encoding='latin-1'")),
            (accents.replace("é", "€").encode("cp1252"), ("line 812", "encoding='cp1252'")),
            (accents.encode("utf-16"), ("line 1", "encoding='utf-16'")),
            (accents.encode("utf-16-le"), ("line 1, column 2", "encoding='utf-16-le'")),
        ],
        "encoded.csv",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "semicolons.csv")
        path.write_text(CSV.replace(",", ";"))
        with pytest.raises(BadFile, match="delimiter=';'"):
            read(path, delimiter=",")
        for same in (
            CSV,
            "\ufeff" + CSV,
            CSV.replace("\n", "\r\n"),
            CSV.rstrip("\n"),
            CSV.replace(",", ";"),
        ):
            path.write_bytes(same.encode("utf-8"))
            source = open_table(path)
            assert list(source.kinds) == ["id", "price", "town", "text"]
            assert sum(map(len, source.batches())) == len(ROWS)


def jsonl():
    good = "".join(
        json.dumps({"id": i, "price": i / 4, "text": f"words {i}"}) + "\n" for i in range(99)
    )
    deep = '{"price": ' + "[" * 200_000 + "]" * 200_000 + "}"
    broken(
        [
            (good[:-8], ("line 99, column", "may be cut off")),
            (good + "[1, 2]\n", ("line 100", "an array, not an object")),
            (good + '{"id": 1, "id": 2}\n', ("line 100, column 'id'", "appears twice")),
            (good + '{"price": NaN}\n', ("line 100", "NaN is not JSON")),
            (good + f'{{"price": {"9" * 400}}}\n', ("line 100, column 'price'", "finite number")),
            (good + deep, ("line 100", "nested too deeply")),
            (good + '{"text": "\\ud800"}', ("line 100, column 'text'", "surrogate")),
            (good + '{"text": "a\0b"}', ("line 100", "NUL")),
            ('{\n"id": 1\n}\n', ("line 1", "on one line")),
            ('[{"id": 1}]', ("a JSON array",)),
        ],
        "broken.jsonl",
    )


@alone(seconds=300)
def test_22_parquet():
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    columns = {"size": [1.5, None, 2.0] * 4, "text": ["some words", "others", None] * 4}
    parquet.write_table(pa.table(columns), buffer)
    content = buffer.getvalue()
    cuts = [4, 10, len(content) // 2, len(content) - 9, len(content) - 1]
    broken([(content[:cut], ("damaged or cut off",)) for cut in cuts], "broken.parquet")
    # Every bit that the footer has: some of them make pyarrow's own view of it end the process.
    footer = int.from_bytes(content[-8:-4], "little") + 8
    outcomes = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "flipped.parquet")
        for at in range(len(content) - footer, len(content)):
            path.write_bytes(
                content[:at] + bytes([content[at] ^ (1 << at % 8)]) + content[at + 1 :]
            )
            try:
                read(path)
                outcomes.add("read")
            except (BadFile, ResourceLimit) as error:
                outcomes.add(type(error).__name__)
    assert outcomes >= {"read", "BadFile"}


@alone(memory=3 * GIB)
def test_23_traps():
    """Gigabytes out of a file of some kilobytes, or in one line, or a million columns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trap")
        read(good_file(folder))  # imports, buffers: what the figures shall not count
        for trap, spare in TRAPS.items():
            option = trap(path)
            before = held()
            refuses(
                read, path, says=("the limit is", f"limits=Limits({option}="), error=ResourceLimit
            )
            assert held() - before < spare, f"{trap.__name__}: {held() - before:.0f} MiB"


def good_file(folder):
    path = Path(folder, "good")
    path.write_text(CSV)
    return path


def gzip_bomb(path):
    member = gzip.compress((b"some words " * 90 + b",1.5\n") * 1024)
    path.write_bytes(
        gzip.compress(b"text,size\n") + member * 1024
    )  # a gigabyte out of four megabytes
    return "ratio"


def xz_bomb(path):
    member = lzma.compress((b"some words " * 90 + b",1.5\n") * 8192, preset=1)
    path.write_bytes(lzma.compress(b"text,size\n") + member * 128)
    return "ratio"


def long_line(path):
    with path.open("wb") as file:
        file.write(b"text,size\nsome words,1.5\n")
        file.truncate(GIB)  # a hole in the file: a line of a gigabyte that takes no room
    return "line_bytes"


def long_field(path):
    path.write_bytes(b'text,size\n"' + b"some words\n" * (4 * MIB))
    return "field_bytes"


def long_row(path):
    path.write_bytes(b'text,size\n"' + b'some","words\n' * (4 * MIB))
    return "line_bytes"


def many_columns(path):
    header = ",".join(f"c{i}" for i in range(1_000_000))
    path.write_text(header + "\n" + "1," * 999_999 + "1\n")
    return "columns"


def many_keys(path):
    with path.open("w") as file:
        for start in range(0, 1_000_000, 1000):
            file.write(json.dumps(dict.fromkeys((f"k{start + i}" for i in range(1000)), 1)) + "\n")
    return "columns"


# In the order of the memory, in MiB, that each may take beyond what those before it took.
TRAPS = {
    gzip_bomb: 40,
    xz_bomb: 40,
    many_columns: 60,
    many_keys: 60,
    long_line: 80,
    long_field: 80,
    long_row: 300,
}


@alone(memory=3 * GIB)
def test_23_parquet_traps():
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trap")
        read(good_file(folder))
        # Pages that unpack to 24 MB each, in three columns.
        columns = {f"c{i}": ["x" * 24_000_000] for i in range(3)}
        parquet.write_table(pa.table(columns), path, compression="zstd", use_dictionary=False)
        del columns
        assert path.stat().st_size < MIB
        refuses(read, path, says=("limits=Limits(ratio=",), error=ResourceLimit)
        # Strings that repeat, in some hundreds of bytes, in two encodings.
        value = "x" * MIB
        for way in ({}, {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}):
            with parquet.ParquetWriter(path, pa.schema([("a", pa.string())]), **way) as writer:
                writer.write_table(pa.table({"a": [value] * 300}))
            before = held()
            sizes = [len(batch) for batch in open_table(path).batches(["a"])]
            assert sum(sizes) == 300
            assert held() - before < 200, f"{held() - before:.0f} MiB"


@alone
def test_23_a_long_file_takes_no_more_memory_than_a_short_one():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.jsonl")
        line = json.dumps({"text": "some words " * 100, "size": 1.5}) + "\n"
        with path.open("w") as file:
            file.writelines(line for _ in range(100_000))
        read(good_file(folder))
        before = held()
        assert sum(map(len, open_table(path).batches(["text", "size"]))) == 100_000
        assert held() - before < 40, (
            f"{held() - before:.0f} MiB for {path.stat().st_size / MIB:.0f}"
        )
