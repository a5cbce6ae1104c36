"""What a file is, from its first bytes and never from its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ..checks import choice
from ..errors import BadFile, InvalidInput
from . import conll, svmlight
from .delimited import DELIMITERS, best_delimiter

__all__ = ["FORMATS", "Form", "recognise"]

FORMATS = ("csv", "tsv", "jsonl", "parquet", "svmlight")

_AS_CSV = "Save the table as CSV, JSON lines or Parquet."
_THE_TABLE = "Give the table that goes with it."

_MISTAKES = {
    b"PK\x03\x04": ("a zip archive or an Excel workbook", f"Unpack it. {_AS_CSV}"),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word file", _AS_CSV),
    b"\x93NUMPY": ("a NumPy array", "Load it with numpy.load and pass the array to fit."),
    b"\x89HDF": ("an HDF5 file", _AS_CSV),
    b"SQLite format 3": ("an SQLite database", _AS_CSV),
    b"ARROW1": ("a Feather (Arrow) file", _AS_CSV),
    b"ORC": ("an ORC file", _AS_CSV),
    b"Obj\x01": ("an Avro file", _AS_CSV),
    b"%PDF": ("a PDF document", _AS_CSV),
    b"{\\rtf": ("a word processor's document", _AS_CSV),
    b"\x89PNG": ("an image", _THE_TABLE),
    b"\xff\xd8\xff": ("an image", _THE_TABLE),
    b"GIF8": ("an image", _THE_TABLE),
    b"\x7fELF": ("a program", _THE_TABLE),
    b"7z\xbc\xaf\x27\x1c": ("a 7-Zip archive", "Unpack it first."),
    b"Rar!": ("a RAR archive", "Unpack it first."),
    b"version https://git-lfs": ("a pointer of Git LFS", "Fetch the file itself: git lfs pull."),
    b"<?xml": ("an XML document", _AS_CSV),
}
"""How files start that people hand over by mistake: what they are, and what to do."""


def _mistake(head: bytes) -> tuple[str, str] | None:
    """What a file is that is no table, and what to do; None if it may be one."""
    for magic, answer in _MISTAKES.items():
        if head.startswith(magic):
            return answer
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "a pickle", f"It could run code, so it is never loaded here. {_AS_CSV}"
    if head[:2] in (b"x\x9c", b"x\x01", b"x\xda"):
        return "compressed with zlib, as joblib does", f"It is never loaded here. {_AS_CSV}"
    if head[4:9] == b"\0\0\0\0{":
        return "a safetensors file", "Is it the model? Then the table is another argument."
    if head[257:262] == b"ustar":
        return "a tar archive", "Unpack it first."
    if head.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
        return "a web page", "The download has brought a page instead of the file. Fetch it again."
    if head.lstrip().startswith(b"["):
        return (
            "a JSON array",
            "Write one object a line: pandas.read_json(…).to_json(…, lines=True).",
        )
    return None


@final
@dataclass(frozen=True, slots=True)
class Form:
    """A format, and the delimiter of a delimited one."""

    format: str
    delimiter: str = ","


def recognise(head: bytes, path: str, format: str | None, delimiter: str | None) -> Form:
    """The format of a file that starts with ``head``; raises if it is none that can be read.

    ``format`` and ``delimiter`` are what the caller says: they win where they are possible.

    >>> recognise(b'{"text": "hello"}', "tickets", None, None).format
    'jsonl'
    >>> recognise(b"a;b\\n1;2\\n", "tickets", None, None)
    Form(format='csv', delimiter=';')
    """
    _check_options(format, delimiter)
    content = head.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise BadFile("the file is empty.", path=path)
    if (content[:4] == b"PAR1") != (format == "parquet") and format is not None:
        there = "is" if content[:4] == b"PAR1" else "is not"
        raise BadFile(f"this {there} a Parquet file: format={format!r} does not fit.", path=path)
    if format is None and delimiter is None:
        format = _format(content, path)
    if format in ("csv", "tsv", None):
        return _delimited(
            content, path, "\t" if format == "tsv" else delimiter, delimiter is not None
        )
    return Form(format)


def _check_options(format: str | None, delimiter: str | None) -> None:
    if format is not None:
        choice("format", format, FORMATS)
    if delimiter is None:
        return
    if format not in ("csv", "tsv", None) or (format == "tsv" and delimiter != "\t"):
        raise InvalidInput(f"delimiter={delimiter!r} and format={format!r} do not go together.")
    if len(delimiter) != 1 or delimiter in '"\r\n\0' or "\ud800" <= delimiter <= "\udfff":
        raise InvalidInput(f"delimiter must be one character such as ','; got {delimiter!r}.")


def _format(content: bytes, path: str) -> str:
    if content.startswith(b"PAR1"):
        return "parquet"
    if found := _mistake(content):
        what, advice = found
        raise BadFile(f"this is {what}, not a table that can be read. {advice}", path=path)
    if content.lstrip().startswith(b"{"):
        return "jsonl"
    if svmlight.looks_like(_whole_lines(content)):
        return "svmlight"
    if conll.looks_like(content):
        raise BadFile(
            "this holds sequences of tokens (CoNLL), not a table: one token a line, and blank lines between. "
            "Read it with argmax.data.open_conll; if it is a table all the same, pass format='csv' or 'tsv'.",
            path=path,
        )
    return "csv"


def _delimited(content: bytes, path: str, delimiter: str | None, given: bool) -> Form:
    text = _whole_lines(content).decode("utf-8", "replace")
    best = best_delimiter(text)
    # One column: any delimiter will do, and best one that is not in the text of the rows.
    delimiter = delimiter or best or next((mark for mark in DELIMITERS if mark not in text), ",")
    if given and best not in (None, delimiter) and delimiter not in text.lstrip().split("\n")[0]:
        raise BadFile(
            f"the header is one column when it is split at {delimiter!r}. Between the fields is "
            f"{DELIMITERS[best or ',']}, it seems: pass delimiter={best!r}, or none.",
            path=path,
            line=1,
        )
    return Form("tsv" if delimiter == "\t" else "csv", delimiter)


def _whole_lines(content: bytes) -> bytes:
    return content[: content.rfind(b"\n") + 1] or content
