"""``--checkpoint``: what a run has done so far, so that after a crash it goes on to the same model.

    FILE         the journal: what is being done, the trials that are done, and the weights to go on from
    FILE.1 …     the fit under way, written as it runs (``persist.Checkpoint``); one at a time
    FILE.rows    rows in files, where they do not fit into memory

Each is written whole or not at all, and a trial counts as done when the journal says so: whenever the process
is killed, what is there describes one moment of the run. All of it is removed when the model is written.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, final

from ..errors import CannotWrite, InvalidInput, ModelFileError
from ..persist import Checkpoint, check_writable, container
from ..persist.checked import Room
from ..persist.estimator import estimator_parts, rebuilt_estimator

__all__ = ["Journal", "check_outputs", "journal_for"]

KIND = "run"
EVERY = 15.0
"""Seconds between two states of a fit."""


def journal_for(options: Any, named: str, **told: Any) -> Journal:
    """The record of this run, if one is asked for: by ``named`` options and what else is ``told``."""
    if options.checkpoint is None:
        if options.resume:
            raise InvalidInput("--resume needs --checkpoint FILE: where shall it go on from?")
        return Journal(None)
    given = {name: getattr(options, name) for name in named.split()}
    return Journal(options.checkpoint, options.resume, given | told)


def check_outputs(options: Any, overwrite: bool, *inputs: str | None) -> None:
    """Refuse, before any work, paths that could not be written to after it."""
    paths = [
        options.data,
        options.output,
        options.report,
        options.checkpoint,
        options.test,
        *inputs,
    ]
    given = [os.path.abspath(path) for path in paths if path and path != "-"]
    if len(set(given)) < len(given):
        raise InvalidInput(
            "data, test, templates, model, report and checkpoint must be different files."
        )
    if options.resume and not overwrite and os.path.exists(options.output):
        raise CannotWrite(
            f"{options.output!r} exists, and there is no {options.checkpoint!r} to go on from: the run has "
            "ended. Pass --force to train anew."
        )
    for path in filter(None, (options.output, options.report)):
        check_writable(path, overwrite=overwrite)


@final
class Journal:
    """The record of one run. Without a path it records nothing.

    ``told`` describes the run: a journal of another one is refused.
    """

    def __init__(
        self, path: str | None, resume: bool = False, told: dict[str, Any] | None = None
    ) -> None:
        self.path, self.told = path, told or {}
        self.trials: list[tuple[float, float]] = []  # C, loss
        self.steps: list[float] = []  # C of the fits on all rows that lead to the last one
        self.models: dict[str, Any] = {}  # "last", and among trials "best"
        self.resumed = False
        if path is None:
            return
        check_writable(path, overwrite=True)
        if os.path.exists(path):
            if not resume:
                raise CannotWrite(
                    f"{path!r} exists. Go on from it with --resume, or delete it to start anew."
                )
            self._read(path)

    def begin(self) -> None:
        """Start the record, unless it goes on."""
        if self.path is not None and not self.resumed:
            self._clear()
            self._write()

    @property
    def rows(self) -> Path | None:
        """Where rows are kept that do not fit into memory."""
        return None if self.path is None else Path(f"{self.path}.rows")

    def keeper(self) -> list[Checkpoint]:
        """The callback for the fit that comes next."""
        if self.path is None:
            return []
        return [Checkpoint(f"{self.path}.{self._fits + 1}", EVERY, resume=True)]

    def tried(self, C: float, loss: float, last: Any, best: Any) -> None:
        """A trial is done: the model it gave, and the best so far."""
        self.trials.append((C, loss))
        self._done({"last": last, "best": best})

    def scored(self, C: float, score: float) -> None:
        """A trial is done whose weights nobody goes on from."""
        self.trials.append((C, score))
        self._done({})

    def climbed(self, C: float, last: Any) -> None:
        """A fit on all rows is done that leads to the next."""
        self.steps.append(C)
        self._done({"last": last})

    @property
    def _fits(self) -> int:
        return len(self.trials) + len(self.steps)

    def _done(self, models: dict[str, Any]) -> None:
        self.models = models
        if self.path is not None:
            self._write()
            self._remove(f"{self.path}.{self._fits}")

    def close(self) -> None:
        """The model is written: nothing of this is needed any more."""
        if self.path is not None:
            self._clear()
            self._remove(self.path)

    def _write(self) -> None:
        documents: dict[str, Any] = {}
        tensors: dict[str, Any] = {}
        for name, model in self.models.items():
            document, parts = estimator_parts(model)
            documents[name] = document
            tensors |= {f"{name}.{key}": tensor for key, tensor in parts.items()}
        done = {"trials": self.trials, "steps": self.steps, "models": documents}
        assert self.path is not None
        container.write(self.path, KIND, {"told": self.told} | done, tensors, overwrite=True)

    def _read(self, path: str) -> None:
        file = container.read(path)
        with container.naming(path):
            if file.kind != KIND:
                raise ModelFileError(f"is a {file.kind}, not the journal of a run.")
            self._compare(file.content.get("told"))
            self.trials = [(float(C), float(loss)) for C, loss in file.content["trials"]]
            self.steps = [float(C) for C in file.content["steps"]]
            for name, document in file.content["models"].items():
                tensors = {
                    key.removeprefix(f"{name}."): tensor
                    for key, tensor in file.tensors.items()
                    if key.startswith(f"{name}.")
                }
                self.models[name] = rebuilt_estimator(document, tensors, Room(file.bytes))
        self.resumed = True

    def _compare(self, was: Any) -> None:
        if was == self.told:
            return
        before = was if isinstance(was, dict) else {}
        changed = [
            f"{name} was {before.get(name)!r} and is {self.told.get(name)!r}"
            for name in {**before, **self.told}
            if before.get(name) != self.told.get(name)
        ]
        raise ModelFileError(
            f"is the checkpoint of another run: {'; '.join(changed)}. Use the same data and options, or "
            "delete it to start anew."
        )

    def _clear(self) -> None:
        """Remove whatever belongs to the journal but the journal itself."""
        folder, name = os.path.split(self.path or "")
        for entry in os.listdir(folder or os.curdir):
            stem, _, number = entry.rpartition(".")
            torn = entry.startswith(f".{name[:60]}.") and number == "part"
            if torn or (stem == name and number.isdigit()):
                self._remove(os.path.join(folder, entry))
        if self.rows is not None and self.rows.is_dir():
            shutil.rmtree(self.rows)

    @staticmethod
    def _remove(path: str) -> None:
        if os.path.exists(path):
            os.unlink(path)
