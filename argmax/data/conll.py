"""Tagged sequences in text files: CoNLL columns and CoNLL-U, plain or compressed.

One token a line, its columns between blanks or tabs, and a blank line behind each sequence.

Both modes accept CRLF, a byte order mark, several blank lines and none at the end, comments, and -DOCSTART-
lines, which end a sequence and are no token; in CoNLL-U multiword tokens (1-2) and empty nodes (1.1), which
are no words. What else is wrong, strict reading refuses with the number of the line; lenient reading repairs
and counts it:

    a line with more or fewer columns      its sequence is left out; unless cutting it at spaces helps
    nothing between two tabs               is missing
    a tag that the scheme does not allow   becomes one that it does, with the same spans
    words of CoNLL-U out of order          stay as they are
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from .. import checks
from ..errors import BadFile, InvalidInput
from ..features import Tokens
from ..memory import give_back
from ..records import Ints
from .blocks import blocks, known_encoding, recoded
from .limits import Limits
from .origin import Origin, find
from .packing import Unpacked
from .readers import chosen
from .sentences import Form, Repairs, Sentences

__all__ = ["Conll", "looks_like", "open_conll"]

FORMATS = ("columns", "conllu")
CONLLU = (
    "id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc",
)  # fmt: skip
USUAL = {
    1: ("word",),
    2: ("word", "label"),
    3: ("word", "pos", "label"),
    4: ("word", "pos", "chunk", "label"),
}
"""Names of columns, for files that have so many: word and tag, CoNLL-2000, CoNLL-2003."""

HEAD = 2**16
PIECE = 2**22
"""Bytes parsed together: some 300 000 tokens."""

PARSED = 80.0
"""Bytes that parsing takes for each token, and does not need any more."""


def open_conll(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    strict: bool = True,
    scheme: str | None = None,
    label: str | None = None,
    comments: bool | None = None,
    encoding: str | None = None,
    limits: Limits = Limits(),  # noqa: B008, frozen
    once: bool = False,
) -> Conll:
    """Open a file of tagged sequences.

    Parameters
    ----------
    path : str or os.PathLike
        A file, plain or compressed, or "-" for standard input.
    format : "columns" or "conllu"
        None: by content; CoNLL-U numbers its words and has at least eight columns.
    columns : list of str
        Names of the columns. None: those of CoNLL-U, with the form called ``word``; or for one to four
        columns ``word``, ``pos``, ``chunk`` and, last, ``label``; for more, ``word``, ``column1``, …,
        ``label``.
    strict : bool
        Refuse what is malformed, with the number of the line; or repair and count it (``repairs``).
    scheme : "BIO" or "BILOU"
        Look whether the labels obey it. None: labels are not looked at.
    label : str
        The column of the labels. None: the last one.
    comments : bool
        Whether lines that start with # are comments. None: always in CoNLL-U; in columns, those before a
        sequence that do not have the right number of columns.
    encoding, limits, once
        As in ``open_table``.

    Examples
    --------
    >>> import os, tempfile
    >>> from argmax.data import open_conll
    >>> path = os.path.join(tempfile.mkdtemp(), "train.conll")
    >>> with open(path, "w") as file:
    ...     _ = file.write("Ada B-PER\\nLovelace I-PER\\nwrote O\\n\\nIn O\\nLondon I-LOC\\n")
    >>> tokens = open_conll(path).read()
    >>> tokens.sequences("word")
    [['Ada', 'Lovelace', 'wrote'], ['In', 'London']]
    >>> open_conll(path, scheme="BIO").read()
    Traceback (most recent call last):
      ...
    argmax.errors.BadFile: ...train.conll, line 6, column 'label': 'I-LOC' cannot follow 'O' in the scheme
    BIO. Mend it, or read with strict=False, which makes it legal and counts.
    >>> source = open_conll(path, scheme="BIO", strict=False)
    >>> source.read().sequences("label")[1], source.repairs.tags
    (['O', 'B-LOC'], 1)
    """
    if format is not None:
        checks.choice("format", format, FORMATS)
    encoding = known_encoding(encoding)
    origin = find(path, limits, once)
    head = _head(origin, limits, encoding)
    form = _form(head, origin.path, format, columns, comments)
    return Conll(origin, limits, encoding, replace(form, strict=strict, scheme=scheme, label=label))


def looks_like(content: bytes) -> str | None:
    """ "conllu" or "columns" if this is the beginning of such a file, else None.

    Columns must be at least two, with a blank line somewhere between, and the same number in nearly every
    line: one with more or fewer is what a reader then complains of.

    >>> from argmax.data.conll import looks_like
    >>> looks_like(b"the DT\\ncat NN\\n\\nso RB\\n"), looks_like(b"id,text\\n1,the cat\\n")
    ('columns', None)
    """
    lines = content[: content.rfind(b"\n") + 1].removeprefix(b"\xef\xbb\xbf").splitlines()
    rows = [line for line in lines if line.strip() and not line.startswith((b"# ", b"-DOCSTART-"))]
    if not rows:
        return None
    if _numbered(rows[0]):
        return "conllu"
    tabs = b"\t" in rows[0]
    ((width, right),) = Counter(
        len(row.split(b"\t") if tabs else row.split()) for row in rows
    ).most_common(1)
    odd = len(rows) - right
    alike = width > 1 and (not odd or (right > 2 and odd <= max(1, len(rows) // 20)))
    between = any(not line.strip() for line in lines[1:-1])
    delimited = any(all(mark in row for row in rows) for mark in (b",", b";", b"|"))
    return "columns" if between and alike and not delimited else None


def _numbered(line: bytes) -> bool:
    fields = line.split(b"\t")
    return len(fields) >= 8 and fields[0].split(b"-")[0] == b"1"


def _head(origin: Origin, limits: Limits, encoding: str | None) -> bytes:
    with Unpacked(origin, limits) as content:
        text, head = recoded(content, origin.path, encoding), b""
        while len(head) < HEAD and (part := text.read(HEAD - len(head))):
            head += part
            if origin.bytes is None and _has_token(head):
                break  # a pipe: whoever writes to it may be waiting for an answer
    return head.removeprefix(b"\xef\xbb\xbf")


def _has_token(head: bytes) -> bool:
    lines = head[: head.rfind(b"\n") + 1].split(b"\n")
    return any(line.strip() and not line.startswith((b"#", b"-DOCSTART-")) for line in lines)


def _form(
    head: bytes, path: str, format: str | None, columns: Sequence[str] | None, comments: bool | None
) -> Form:
    line = _first_row(head, path, comments)
    format = format or ("conllu" if _numbered(line) else "columns")
    tabs = format == "conllu" or b"\t" in line
    width = len(line.split(b"\t") if tabs else line.split())
    names = _usual(format, width, path) if columns is None else tuple(columns)
    if isinstance(columns, str) or len(set(names)) < len(names) or not names:
        raise InvalidInput(f"columns must be a list of different names; got {columns!r}.")
    if len(names) != width:
        raise BadFile(
            f"the first token has {width} columns, and columns names {len(names)} ({', '.join(names)}): "
            f"{line[:60].decode('utf-8', 'replace')!r}.",
            path=path,
        )
    return Form(format, tabs, names, True if format == "conllu" else comments)


def _first_row(head: bytes, path: str, comments: bool | None) -> bytes:
    """The first line that holds a token."""
    if not head.strip():
        raise BadFile("the file is empty.", path=path)
    for line in io.BytesIO(head):
        row = line.rstrip(b"\r\n")
        comment = row.startswith(b"#") and comments is not False
        if row.strip() and not comment and not row.lstrip().startswith(b"-DOCSTART-"):
            return row
    problem = "there is no token in this file. Lines that start with # are comments; if not, comments=False."
    raise BadFile(problem, path=path)


def _usual(format: str, width: int, path: str) -> tuple[str, ...]:
    if format == "conllu":
        if not 4 <= width <= len(CONLLU):
            problem = f"CoNLL-U has ten columns between tabs; the first word has {width}."
            raise BadFile(problem, path=path)
        return CONLLU[:width]
    between = tuple(f"column{i}" for i in range(1, width - 1))
    return USUAL.get(width) or ("word", *between, "label")


@final
class Conll:
    """A file of tagged sequences; ``open_conll`` makes it."""

    def __init__(self, origin: Origin, limits: Limits, encoding: str | None, form: Form) -> None:
        self._origin, self._limits, self._encoding, self._form = origin, limits, encoding, form
        self._repairs = Repairs()
        if form.scheme is not None:
            chosen([self.label], form.names, "label")

    def __repr__(self) -> str:
        return f"<Conll {self.path!r}: {self.format}, {len(self.columns)} columns>"

    @property
    def path(self) -> str:
        """The file, as it is named in messages."""
        return self._origin.path

    @property
    def format(self) -> str:
        """ "columns" or "conllu"."""
        return self._form.format

    @property
    def digest(self) -> str | None:
        """SHA-256 of the file; None for a pipe."""
        return self._origin.digest()

    @property
    def streams(self) -> bool:
        """Whether it is a pipe that is read as it comes."""
        return self._origin.bytes is None

    @property
    def tabs(self) -> bool:
        """Whether columns stand between tabs, and not between blanks."""
        return self._form.tabs

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._form.names

    @property
    def label(self) -> str:
        """The column of the labels."""
        return self._form.labels

    @property
    def repairs(self) -> Repairs:
        """What was mended in what has been read since reading last began."""
        return self._repairs

    def named(self, columns: Sequence[str], label: str | None = None) -> Conll:
        """The same file with other names for its columns, one for each.

        >>> import os, tempfile
        >>> from argmax.data import open_conll
        >>> path = os.path.join(tempfile.mkdtemp(), "new.conll")
        >>> with open(path, "w") as file:
        ...     _ = file.write("so RB\\nbe VB\\n")
        >>> open_conll(path).columns, open_conll(path).named(["word", "pos"]).columns
        (('word', 'label'), ('word', 'pos'))
        """
        names = tuple(columns)
        if len(set(names)) < len(names) or len(names) != len(self.columns):
            raise InvalidInput(
                f"columns must be {len(self.columns)} different names; got {list(columns)!r}."
            )
        form = replace(self._form, names=names, label=label)
        return Conll(self._origin, self._limits, self._encoding, form)

    def read(self, columns: Iterable[str] | None = None) -> Tokens:
        """The whole file. ``columns`` None: all of them."""
        pieces = list(self._batches(columns, None))
        if not pieces:
            raise BadFile("there is no token in this file.", path=self.path)
        give_back(PARSED * pieces[0].size)
        return pieces[0]

    def batches(
        self, columns: Iterable[str] | None = None, *, size: int = PIECE
    ) -> Iterator[Tokens]:
        """The file in batches of whole sequences, of about ``size`` bytes each: in bounded memory."""
        return self._batches(columns, checks.positive_integer("size", size))

    def written(
        self, columns: Iterable[str] | None = None, *, size: int = PIECE
    ) -> Iterator[tuple[list[bytes], Ints, Tokens]]:
        """``batches`` together with the file's own lines, for those who copy it.

        Lines (comments and blank ones too) in UTF-8 without their ends; which of them the tokens are; the
        tokens.

        >>> import os, tempfile
        >>> from argmax.data import open_conll
        >>> path = os.path.join(tempfile.mkdtemp(), "some.conll")
        >>> with open(path, "w") as file:
        ...     _ = file.write("# a comment\\nso RB\\nbe VB\\n")
        >>> ((lines, places, tokens),) = open_conll(path).written(["word"])
        >>> lines, places, tokens.columns["word"].tolist()
        ([b'# a comment', b'so RB', b'be VB'], array([1, 2]), ['so', 'be'])
        """
        for text, line, tokens in self._tokens(columns, checks.positive_integer("size", size)):
            lines = [each.rstrip(b"\r") for each in text.removesuffix(b"\n").split(b"\n")]
            numbers = np.zeros(0, np.int64) if tokens.lines is None else tokens.lines
            places = np.subtract(numbers, line, dtype=np.int64)
            yield lines, places, tokens

    def _batches(self, columns: Iterable[str] | None, size: int | None) -> Iterator[Tokens]:
        return (tokens for _, _, tokens in self._tokens(columns, size) if len(tokens))

    def _tokens(
        self, columns: Iterable[str] | None, size: int | None
    ) -> Iterator[tuple[bytes, int, Tokens]]:
        names = chosen(list(self.columns if columns is None else columns), self.columns, "columns")
        self._repairs = Repairs()
        with Unpacked(self._origin, self._limits, last=True) as content:
            for text, line in self._pieces(content, size):
                tokens, repairs = Sentences(self._form, self.path, text, line).tokens(names)
                self._repairs += repairs
                yield text, line, tokens

    def _pieces(self, content: Unpacked, size: int | None) -> Iterator[tuple[bytes, int]]:
        """(whole sequences, number of the first line)."""
        pending, line = bytearray(), 1
        for block in blocks(content, self.path, self._limits, self._encoding):
            if not block.data.isascii():
                block.text()  # raises where it is not UTF-8
            pending += block.data
            checks.memory(
                30.0 * len(pending), f"{self.path} without a blank line", "Use batches()."
            )
            if size is not None and len(pending) >= size and (end := _last_blank(pending)):
                yield bytes(pending[:end]), line
                line += pending.count(b"\n", 0, end)
                del pending[:end]
        if pending.strip():
            yield bytes(pending), line


def _last_blank(text: bytearray) -> int:
    """Where the line behind the last blank line starts; 0 if no line is blank."""
    stop = text.rfind(b"\n")
    while stop > 0:
        start = text.rfind(b"\n", 0, stop) + 1
        if not text[start:stop].strip():
            return stop + 1
        stop = start - 1
    return 0
