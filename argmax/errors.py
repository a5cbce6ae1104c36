"""What can go wrong, as one tree.

    ArgmaxError                  everything this library raises on purpose; has a stable ``code``
    ├── InvalidInput             a value is wrong                    (also a ValueError)
    │   ├── BadFile              what a file holds is malformed; has path, line and column
    │   ├── ModelFileError       a file is not a model that this version can load
    │   └── NoLegalLabelling     constraints leave no answer at all
    ├── WrongType                a value has the wrong type          (also a TypeError)
    ├── Unsupported              two choices do not go together      (also a ValueError)
    │   ├── NoProbabilities      a loss estimates none               (also an AttributeError)
    │   ├── NoSteps              a penalty is not one for steps      (also an AttributeError)
    │   └── NotSeparable         no hyperplanes keep classes apart   (C = ∞ asked for some)
    ├── ResourceLimit            it would not fit                    (also a MemoryError)
    ├── CannotWrite              a file could not be written         (also an OSError)
    ├── MissingExtra             an optional package is not there    (also an ImportError)
    ├── WorkerLost               a cluster did not answer in time    (also a RuntimeError)
    └── NumericalFailure         arithmetic left the finite numbers  (also a RuntimeError)

    NotConverged                 a warning: the answer is usable, its certificate is not met
    PosteriorTooWide             a warning: averaging over a posterior predicts worse than its mode

Every message names the argument, says what it must be and what it got, then what to do.
"""

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "ArgmaxError",
    "BadFile",
    "CannotWrite",
    "InvalidInput",
    "MissingExtra",
    "ModelFileError",
    "NoLegalLabelling",
    "NoProbabilities",
    "NoSteps",
    "NotConverged",
    "NotSeparable",
    "NumericalFailure",
    "PosteriorTooWide",
    "ResourceLimit",
    "Unsupported",
    "WorkerLost",
    "WrongType",
]


class ArgmaxError(Exception):
    """Base of every error raised on purpose.

    ``code`` is a short stable string for programs; the message is for people.

    >>> from argmax.errors import InvalidInput
    >>> InvalidInput("C must be positive; got -1.0.").code
    'invalid-input'
    """

    code: str = "error"


class InvalidInput(ArgmaxError, ValueError):
    """A value is not one the argument can take."""

    code = "invalid-input"


class BadFile(InvalidInput):
    """A file does not hold what it should; the message says where.

    ``path`` is the file as the caller named it, ``line`` counts from 1, and ``column`` is the name of a
    column, or a position in the line (from 1) where no column is known. Each is None where it says nothing.

    >>> from argmax.errors import BadFile
    >>> error = BadFile("'soon' is not a number.", path="tickets.csv", line=812, column="waiting")
    >>> print(error)
    tickets.csv, line 812, column 'waiting': 'soon' is not a number.
    """

    code = "bad-file"

    def __init__(
        self,
        problem: str,
        *,
        path: str | None = None,
        line: int | None = None,
        column: str | int | None = None,
    ) -> None:
        places = (path, line and f"line {line}", column is not None and f"column {column!r}")
        where = ", ".join(place for place in places if place)
        super().__init__(f"{where}: {problem}" if where else problem)
        self.path, self.line, self.column = path, line, column


class ModelFileError(InvalidInput):
    """A file is not a model file, was damaged, or does not follow the schema; no code of it was run."""

    code = "model-file"


class NoLegalLabelling(InvalidInput):
    """The constraints (scores of −inf) leave an example without any answer."""

    code = "no-legal-labelling"


class WrongType(ArgmaxError, TypeError):
    """A value has a type the argument cannot take."""

    code = "wrong-type"


class Unsupported(ArgmaxError, ValueError):
    """Two choices do not go together, such as a loss and a solver."""

    code = "unsupported"


class NoProbabilities(Unsupported, AttributeError):
    """The loss of a model estimates no probabilities. To scikit-learn ``predict_proba`` is then not there."""

    code = "no-probabilities"


class NoSteps(Unsupported, AttributeError):
    """The penalty of a model has no single steps. To scikit-learn ``partial_fit`` is then not there."""

    code = "no-steps"


class NotSeparable(Unsupported):
    """A hard margin was asked for, and the classes overlap."""

    code = "not-separable"


class ResourceLimit(ArgmaxError, MemoryError):
    """The work would not fit into memory; the message has the figure and the way out."""

    code = "resource-limit"


class CannotWrite(ArgmaxError, OSError):
    """A file could not be written: what was there before still is, and nothing else was left behind."""

    code = "cannot-write"


class MissingExtra(ArgmaxError, ImportError):
    """An optional package is needed; the message has the install line."""

    code = "missing-extra"


class WorkerLost(ArgmaxError, RuntimeError):
    """A worker of a cluster died or did not answer in time, and nobody could take its place."""

    code = "worker-lost"


class NumericalFailure(ArgmaxError, RuntimeError):
    """The arithmetic overflowed or lost all precision."""

    code = "numerical-failure"


class NotConverged(ConvergenceWarning):
    """The solver stopped before its certificate was met, or a search ended at the border of its range.

    The answer is usable; the message says how far off it may be, or what was chosen.
    """


class PosteriorTooWide(UserWarning):
    """Averaging over an approximate posterior predicts worse than its mode on held-out rows."""
