"""Lines of a CoNLL file -> token columns, with an eye on everything that can be wrong with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, InvalidInput
from ..features import Tokens
from ..features.interning import interned
from ..features.vocabulary import joined, taken
from ..records import Ints, Strings
from ..tags import Tags
from .lines import Lines

__all__ = ["Form", "Repairs", "Sentences"]

DOCUMENT = "-DOCSTART-"
_NO_WORD = re.compile(r"\d+-\d+|\d+\.\d+")  # a multiword token, or an empty node
_UNSPECIFIED = "_"


@final
@dataclass(frozen=True, slots=True)
class Repairs:
    """What was found in a file and mended, skipped or left out.

    >>> from argmax.data.sentences import Repairs
    >>> Repairs(tags=2).any, Repairs(comments=7).any
    (True, False)
    """

    comments: int = 0  # lines that are no tokens
    documents: int = 0  # -DOCSTART- lines
    skipped: int = 0  # multiword tokens and empty nodes
    recut: int = 0  # lines cut at spaces instead of tabs
    dropped: int = 0  # sequences left out because of a line with another number of columns
    empty: int = 0  # columns without anything in them
    numbers: int = 0  # words out of order
    tags: int = 0  # labels changed

    @property
    def any(self) -> bool:
        """Whether anything was changed or left out that a strict reader would have refused."""
        return bool(self.recut or self.dropped or self.empty or self.numbers or self.tags)

    def __add__(self, other: Repairs) -> Repairs:
        return Repairs(*(getattr(self, n) + getattr(other, n) for n in self.__dataclass_fields__))


@final
@dataclass(frozen=True, slots=True)
class Form:
    """How a file is laid out, and how it is to be read."""

    format: str
    tabs: bool
    names: tuple[str, ...]
    comments: bool | None
    strict: bool = True
    scheme: str | None = None
    label: str | None = None

    @property
    def labels(self) -> str:
        """The column of the labels."""
        return self.label or self.names[-1]


@final
class Sentences:
    """Whole sequences of a file, from line number ``line`` on."""

    def __init__(self, form: Form, path: str, text: bytes, line: int) -> None:
        self.form, self.path, self.number = form, path, line
        self.lines = Lines.of(text, form.tabs)
        self.repairs = Repairs()
        self._text = text
        self._begins = self._documents()

    def tokens(self, names: Sequence[str]) -> tuple[Tokens, Repairs]:
        """The columns of these names; and what was repaired."""
        there = self._there()
        wrong = there & (self.lines.fields != len(self.form.names))
        if wrong.any():
            if self._recut(wrong):
                return self.tokens(names)
            there &= ~self._dropped(wrong)
        if self.form.format == "conllu":
            there &= self._words(there)
        rows = np.flatnonzero(there)
        offsets = _offsets(self._sequence()[rows])
        tagged = {} if self.form.scheme is None else {self.form.labels: self._tagged(rows, offsets)}
        columns = {n: tagged[n] if n in tagged else self._column(rows, n) for n in names}
        lines = _narrow(self.number + rows)
        return Tokens({**columns}, offsets, lines=lines), self.repairs

    # Lines

    def _there(self) -> NDArray[np.bool_]:
        """(lines,) which lines hold a token, or should."""
        there, documents = self.lines.fields > 0, self._begins
        comments = self._comments(there & ~documents)
        self.repairs = replace(
            self.repairs, comments=int(comments.sum()), documents=int(documents.sum())
        )
        return there & ~comments & ~documents

    def _documents(self) -> NDArray[np.bool_]:
        """Which lines begin a document."""
        found = (self.lines.fields > 0) & self.lines.starting(DOCUMENT[:2])
        for line in np.flatnonzero(found).tolist():
            found[line] = self.lines.text(line).split()[0] == DOCUMENT
        return found

    def _comments(self, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which lines are comments; where that is open, those before a sequence that cannot be a token."""
        found = there & self.lines.starting("#")
        if self.form.comments is not None:
            return found & self.form.comments
        found &= self.lines.fields != len(self.form.names)
        if self.form.strict:
            for line in np.flatnonzero(found).tolist():
                found[line] = line == 0 or not there[line - 1] or bool(found[line - 1])
        return found

    def _sequence(self) -> Ints:
        """(lines,) the number of the sequence of each line: blank lines and documents end one."""
        return np.cumsum((self.lines.fields == 0) | self._begins)

    # What is wrong with them

    def _recut(self, wrong: NDArray[np.bool_]) -> bool:
        """Whether lines have the right number of columns if cut at all blanks; then they are."""
        if self.form.strict:
            raise self._ragged(int(np.argmax(wrong)))
        if not self.form.tabs or self.repairs.recut:
            return False
        lines, changed = self._text.split(b"\n"), 0
        for line in np.flatnonzero(wrong).tolist():
            fields = lines[line].split()
            if len(fields) == len(self.form.names):
                lines[line] = b"\t".join(fields)
                changed += 1
        if changed:
            self.lines = Lines.of(b"\n".join(lines), tabs=True)
            self._begins = self._documents()
            self.repairs = replace(self.repairs, recut=changed)
        return changed > 0

    def _ragged(self, line: int) -> BadFile:
        text, names = self.lines.text(line), self.form.names
        found, blanks = int(self.lines.fields[line]), len(text.split())
        if self.form.tabs and blanks == len(names):
            hint = "There are spaces where tabs should be."
        elif line == len(self.lines) - 1 and not self._text.endswith(b"\n"):
            hint = "The file may be cut off: its last line has no end."
        else:
            hint = "Read with strict=False to leave out such sequences."
        return BadFile(
            f"{found} column{'s' if found != 1 else ''} where the first token has {len(names)}: "
            f"{text[:60]!r}. {hint}",
            path=self.path,
            line=self.number + line,
        )

    def _dropped(self, wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The lines of sequences that have a wrong one."""
        sequence = self._sequence()
        bad = np.unique(sequence[wrong])
        self.repairs = replace(self.repairs, dropped=len(bad))
        return np.isin(sequence, bad)

    # CoNLL-U

    def _words(self, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which lines are words: those with a whole number. They count up from 1 in each sentence."""
        rows = np.flatnonzero(there)
        ids = self.lines.column(rows, 0)
        values = _whole_numbers(ids)
        for at in np.flatnonzero(values < 0).tolist():
            if not _NO_WORD.fullmatch(str(ids[at])):
                problem = f"{str(ids[at])[:40]!r} is no word (1), range (1-2) or empty node (1.1)."
                raise BadFile(
                    problem, path=self.path, line=self.number + int(rows[at]), column="id"
                )
        words = np.zeros(len(there), np.bool_)
        words[rows[values >= 0]] = True
        self.repairs = replace(self.repairs, skipped=int(np.count_nonzero(values < 0)))
        self._in_order(rows[values >= 0], values[values >= 0])
        return words

    def _in_order(self, rows: Ints, values: Ints) -> None:
        offsets = _offsets(self._sequence()[rows])
        expected = np.arange(len(rows)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
        wrong = np.flatnonzero(values != expected)
        if len(wrong) and self.form.strict:
            at = int(wrong[0])
            problem = (
                f"the word has number {values[at]}; in its sentence it is number {expected[at]}."
            )
            raise BadFile(problem, path=self.path, line=self.number + int(rows[at]), column="id")
        self.repairs = replace(self.repairs, numbers=len(wrong))

    # Columns

    def _column(self, rows: Ints, name: str) -> Strings:
        place = self.form.names.index(name)
        strings = self.lines.column(rows, place)
        empty = np.diff(strings.offsets) == 0
        if empty.any():
            if self.form.strict:
                line = self.number + int(rows[np.argmax(empty)])
                raise BadFile(
                    "there is nothing between two tabs. With strict=False it counts as missing.",
                    path=self.path,
                    line=line,
                    column=name,
                )
            self.repairs = replace(self.repairs, empty=self.repairs.empty + int(empty.sum()))
        if self.form.format == "conllu" and name not in ("id", "word", "lemma"):
            empty |= _are(strings, _UNSPECIFIED)
        found = _without(strings, empty) if empty.any() else strings
        return replace(found, offsets=_narrow(found.offsets))

    def _tagged(self, rows: Ints, offsets: Ints) -> Strings:
        """The labels, which obey the scheme or are made to."""
        form, strings = self.form, self._column(rows, self.form.labels)
        numbers, different = interned(strings)
        names = [str(name) for name in different.tolist()]
        known = tuple(dict.fromkeys([*names, "O"]))
        place = np.array([known.index(name) for name in [*names, "O"]])
        codes: Ints = place[numbers]  # missing is −1, the last place: it says as little as O does
        scheme = form.scheme or "BIO"
        try:
            tags = Tags(known)
            illegal = tags.illegal(codes, offsets, scheme)
        except InvalidInput as error:
            raise BadFile(str(error), path=self.path, column=form.labels) from error
        if not len(illegal):
            return strings
        if form.strict:
            raise self._illegal(tags, codes, offsets, int(illegal[0]), rows)
        written, codes, changed = tags.repaired(codes, offsets, scheme)
        self.repairs = replace(self.repairs, tags=changed)
        mended = taken(joined([name.encode("utf-8") for name in written]), codes)
        return mended if strings.missing is None else _without(mended, strings.missing)

    def _illegal(self, tags: Tags, codes: Ints, offsets: Ints, at: int, rows: Ints) -> BadFile:
        own = tags.names[codes[at]]
        if at in offsets:
            problem = f"{own!r} cannot begin a sequence"
        elif at + 1 in offsets and not tags.rules(self.form.scheme or "BIO")[2][codes[at]]:
            problem = f"{own!r} cannot end a sequence"
        else:
            problem = f"{own!r} cannot follow {tags.names[codes[at - 1]]!r}"
        return BadFile(
            f"{problem} in the scheme {self.form.scheme}. Mend it, or read with strict=False, which makes it "
            "legal and counts.",
            path=self.path,
            line=self.number + int(rows[at]),
            column=self.form.labels,
        )


def _offsets(sequence: Ints) -> Ints:
    """Where the sequences start, given the number of the sequence of each token."""
    changes = np.flatnonzero(np.diff(sequence)) + 1
    ends = [len(sequence)] if len(sequence) else []
    return np.concatenate([[0], changes, ends]).astype(np.int64)


def _narrow(numbers: Ints) -> Ints:
    """Rising numbers in half the memory, where they fit: a corpus has some for every token and column."""
    return numbers.astype(np.int32) if not len(numbers) or numbers[-1] < 2**31 else numbers


def _whole_numbers(strings: Strings) -> Ints:
    """The numbers that strings of digits are; −1 for others."""
    starts, sizes = strings.offsets[:-1], np.diff(strings.offsets)
    values, right = np.zeros(len(strings), np.int64), (sizes > 0) & (sizes < 10)
    for place in range(int(sizes[right].max(initial=0))):
        inside = right & (sizes > place)
        digit = strings.data[starts[inside] + place].astype(np.int64) - ord("0")
        values[inside] = 10 * values[inside] + digit
        right[inside] &= (digit >= 0) & (digit < 10)
    return np.where(right, values, -1)


def _are(strings: Strings, one: str) -> NDArray[np.bool_]:
    """Which strings are this one, of a single character."""
    found = np.asarray(np.diff(strings.offsets) == 1)
    found[found] = strings.data[strings.offsets[:-1][found]] == ord(one)
    return found


def _without(strings: Strings, missing: NDArray[np.bool_]) -> Strings:
    """The strings, some of them missing."""
    kept = taken(strings, np.flatnonzero(~missing))
    sizes = np.where(missing, 0, np.diff(strings.offsets))
    return Strings(kept.data, np.append(0, np.cumsum(sizes)), missing)
