"""``argmax predict`` on sequences: every line as it came, with a label behind it; sentence by sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from ...data import Conll
from ...errors import InvalidInput
from ...features import Tokens
from ...persist import check_writable, load, replace_file
from ...report.safe import terminal
from ..console import Console, Stage, count
from ..outcome import OK
from .reading import opened_for

__all__ = ["bare", "run"]

SIZE = 2**18
"""Bytes of a file that are answered together; of a pipe, what is there."""


def run(
    model: str,
    data: str,
    proba: bool,
    top: int | None,
    target: str | None,
    output: str | None,
    read: list[str],
    force: bool,
    console: Console,
) -> int:
    """Stream the lines and their labels to a file or to stdout."""
    if output is not None:
        check_writable(output, overwrite=force)
    as_json = console.as_json or (output or "").endswith(".jsonl")
    if top is not None and (top < 1 or not as_json):
        raise InvalidInput("--top K, the K best labellings, needs --json and a K of 1 or more.")
    if target is not None and as_json:
        raise InvalidInput("--target, a column of lines to write into, does not go with --json.")
    tagger = load(model)
    answers = _Answers(
        tagger, *opened_for(tagger, data, read, once=True), proba, top, target, as_json
    )
    with console.stage(f"Tagging {answers.source.path}") as stage:
        if output is None:
            _to_stdout(answers, stage)
        else:
            replace_file(output, _written(answers, stage), overwrite=force)
        stage.done = f"Tagged {count(answers.tokens, 'token')} of {answers.source.path}"
    answers.warn(console)
    return OK


class _Answers:
    """Pieces of output, each for some whole sequences."""

    def __init__(
        self,
        tagger: Any,
        source: Conll,
        used: list[str],
        proba: bool,
        top: int | None,
        target: str | None,
        as_json: bool,
    ) -> None:
        self.tagger, self.source, self.used = tagger, source, used
        self.proba, self.top, self.as_json = proba, top, as_json
        self.sequences = self.tokens = 0
        if target is not None and target not in source.columns:
            raise InvalidInput(
                f"{source.path} has no column {target!r} for --target; it has {', '.join(source.columns)}."
            )
        self._place = None if target is None else source.columns.index(target)
        self._tabs = source.tabs
        self._codes = {name: i for i, name in enumerate(tagger.classes_.tolist())}

    def __iter__(self) -> Iterator[bytes]:
        size = 1 if self.source.streams else SIZE
        for lines, places, tokens in self.source.written(self.used, size=size):
            self.sequences, self.tokens = self.sequences + len(tokens), self.tokens + tokens.size
            labels = self.tagger.predict(tokens)
            sure = self._sure(tokens, labels)
            if self.as_json:
                yield self._as_json(tokens, labels, sure)
            else:
                yield self._as_lines(lines, places, labels, sure)

    def _sure(self, tokens: Tokens, labels: list[list[str]]) -> list[Any] | None:
        """The probability of each label, if it is asked for."""
        if not self.proba:
            return None
        tables = self.tagger.predict_marginals(tokens)
        return [
            p[np.arange(len(own)), [self._codes[label] for label in own]]
            for p, own in zip(tables, labels, strict=True)
        ]

    def _as_lines(self, lines: list[bytes], places: Any, labels: Any, sure: Any) -> bytes:
        gap = b"\t" if self._tabs else b" "
        flat = [str(label).encode() for own in labels for label in own]
        more = [b""] * len(flat)
        if sure is not None:
            more = [gap + f"{p:.6g}".encode() for own in sure for p in own.tolist()]
        for at, label, behind in zip(places.tolist(), flat, more, strict=True):
            lines[at] = self._line(lines[at], label, gap) + behind
        return b"\n".join(lines) + b"\n"

    def _line(self, line: bytes, label: bytes, gap: bytes) -> bytes:
        if self._place is None:
            return line.rstrip() + gap + label
        fields = line.split(b"\t") if self._tabs else line.split()
        fields[self._place] = label
        return gap.join(fields)

    def _as_json(self, tokens: Tokens, labels: list[list[str]], sure: Any) -> bytes:
        words = tokens.sequences(self.used[0])
        best = bare(self.tagger).predict_top_k(tokens, self.top) if self.top else None
        rows = []
        for i, (own, answer) in enumerate(zip(words, labels, strict=True)):
            row: dict[str, Any] = {"tokens": own, "labels": answer}
            if sure is not None:
                row["probabilities"] = [float(f"{p:.6g}") for p in sure[i].tolist()]
            if best is not None:
                row["top"] = [{"labels": y, "probability": _rounded(p)} for y, p in best[i]]
            rows.append(json.dumps(row, ensure_ascii=False) + "\n")
        return "".join(rows).encode()

    def warn(self, console: Console) -> None:
        """Say what was mended in the file."""
        if self.source.repairs.any:
            console.warn(f"{terminal(self.source.path)}: {self.source.repairs}")


def _to_stdout(answers: _Answers, stage: Stage) -> None:
    for piece in answers:
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()  # whoever reads them may be waiting
        stage.update(f"{answers.tokens:,} tokens")


def _written(answers: _Answers, stage: Stage) -> Callable[[IO[bytes]], None]:
    def write(stream: IO[bytes]) -> None:
        for piece in answers:
            stream.write(piece)
            stage.update(f"{answers.tokens:,} tokens")

    return write


def bare(tagger: Any) -> Any:
    """A tagger without its calibration."""
    from ...calibration import CalibratedTagger

    return tagger.estimator_ if isinstance(tagger, CalibratedTagger) else tagger


def _rounded(p: float) -> float | None:
    """Six digits, or None where the loss estimates no probabilities."""
    return None if np.isnan(p) else float(f"{p:.6g}")
