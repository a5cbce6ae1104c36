"""Checkpoints: a fit that is cut off goes on where it was, and ends with the same model.

kind "checkpoint"
content   problem, solver, passes, and of what the solver holds: whole numbers, flags and words
tensors   seconds ()  history (h, 3)  and of what the solver holds, as state.…: arrays and other numbers
"""

from __future__ import annotations

import os
import time
from typing import Any, final

import numpy as np

from .. import __version__, checks
from ..errors import CannotWrite, ModelFileError
from ..solvers import Keeper, Progress, Snapshot
from . import container
from .atomic import check_writable
from .checked import same_keys, take
from .container import File, Tensors

__all__ = ["Checkpoint"]

KIND = "checkpoint"
CONTENT = ("problem", "solver", "passes", "values")


@final
class Checkpoint(Keeper):
    """A callback that writes the whole state of a fit to a file, so that it can go on after a crash.

    Every ``every`` seconds, and when ``max_iter`` or ``time_limit`` ends the fit, the state at the end of a
    pass is written, in one step: a process killed at any moment leaves the last state or the one before.

    With ``resume=True`` a fit whose checkpoint is there goes on from it, and ends with the same bits as one
    that was never cut off; without a file it starts as usual, so one program serves both. Data, parameters
    and version must be those of the checkpoint. ``tol`` and the limits may differ: passes are counted from
    the very start, ``time_limit`` from the latest. Without ``resume`` a file that is there is refused.

    The file stays when the fit is done; ``remove()`` deletes it, best after the model was saved. A
    checkpoint is for one fit. It holds numbers that were computed from the data, some solvers one for each
    row and class: treat it as you treat the data.

    >>> import pathlib, tempfile
    >>> from argmax import SoftmaxRegression, persist
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "digits.checkpoint"
    >>> class Crash(Exception): ...
    >>> def crash(progress):
    ...     if progress.passes == 5:
    ...         raise Crash
    >>> model = SoftmaxRegression(callbacks=[persist.Checkpoint(path, every=0), crash])
    >>> try:
    ...     model.fit(X, y)
    ... except Crash:
    ...     checkpoint = persist.Checkpoint(path, resume=True)
    >>> model = SoftmaxRegression(callbacks=[checkpoint]).fit(X, y)
    >>> bool((model.coef_ == SoftmaxRegression().fit(X, y).coef_).all())
    True
    >>> checkpoint.remove()
    """

    def __init__(
        self, path: str | os.PathLike[str], every: float = 60.0, *, resume: bool = False
    ) -> None:
        self.path, self.resume = checks.file_name(path), bool(resume)
        self.every = checks.number("every", every, 0.0)
        self._problem: dict[str, Any] = {}
        self._written = time.monotonic()

    def __repr__(self) -> str:
        return f"Checkpoint({self.path!r}, every={self.every:g}, resume={self.resume})"

    def __call__(self, progress: Progress) -> None:
        """Write the state, if it is time."""
        if not progress.last and time.monotonic() - self._written < self.every:
            return
        if (snapshot := progress.snapshot()) is not None:
            content, tensors = _parts(snapshot)
            content["problem"] = self._problem
            container.write(self.path, KIND, content, tensors, overwrite=True)
            self._written = time.monotonic()

    def found(self, problem: dict[str, Any]) -> Snapshot | None:
        """The snapshot in the file; a file of another problem, or one that is in the way, is an error."""
        self._problem, self._written = problem, time.monotonic()
        check_writable(self.path, overwrite=True)  # now, and not after the first minutes
        if not os.path.exists(self.path):
            return None
        if not self.resume:
            raise CannotWrite(
                f"{self.path!r} exists. Go on from it with resume=True, or delete it to start anew."
            )
        file = container.read(self.path)
        with container.naming(file.path):
            return _snapshot(file, problem)

    def remove(self) -> None:
        """Delete the file, if it is there."""
        if os.path.exists(self.path):
            os.unlink(self.path)


def _parts(snapshot: Snapshot) -> tuple[dict[str, Any], Tensors]:
    words = {k: v for k, v in snapshot.values.items() if isinstance(v, bool | int | str)}
    numbers = {f"state.{k}": np.asarray(v) for k, v in snapshot.values.items() if k not in words}
    tensors = {
        "seconds": np.asarray(snapshot.seconds),
        "history": np.array(snapshot.history).reshape(-1, 3),
    }
    content = {"solver": snapshot.solver, "passes": snapshot.passes, "values": words}
    return content, tensors | numbers


def _snapshot(file: File, problem: dict[str, Any]) -> Snapshot:
    file.expect(KIND)
    if file.version != __version__:
        raise ModelFileError(
            f"was written by argmax {file.version}; this is {__version__}. Finish the fit with the "
            "version that began it, or start anew without resume."
        )
    content, tensors = same_keys("document", file.content, CONTENT), dict(file.tensors)
    was, passes, words = content["problem"], content["passes"], content["values"]
    if not (isinstance(was, dict) and isinstance(words, dict) and type(passes) is int):
        raise ModelFileError("has a document that argmax did not write.")
    if was != problem:
        changed = [
            f"{name} was {was.get(name)!r} and is {problem.get(name)!r}"
            for name in {**was, **problem}
            if was.get(name) != problem.get(name)
        ]
        raise ModelFileError(
            f"is a checkpoint of another fit: {'; '.join(changed)}. Use the same data and parameters, or "
            "start anew without resume."
        )
    seconds = float(take(tensors, "seconds", np.float64))
    history = take(tensors, "history", np.float64, None, 3)
    values = {
        name.removeprefix("state."): array if array.ndim else float(array)
        for name, array in tensors.items()
    }
    rows = tuple((a, b, c) for a, b, c in history.tolist())
    return Snapshot(content["solver"], passes, seconds, rows, values | words)
