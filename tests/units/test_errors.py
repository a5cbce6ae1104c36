"""The tree of errors: what programs may catch."""

import pytest
from sklearn.exceptions import ConvergenceWarning

from argmax import errors

TREE = {
    "InvalidInput": ValueError,
    "BadFile": ValueError,
    "ModelFileError": ValueError,
    "NoLegalLabelling": ValueError,
    "WrongType": TypeError,
    "Unsupported": ValueError,
    "NoProbabilities": AttributeError,
    "NoSteps": AttributeError,
    "NotSeparable": ValueError,
    "ResourceLimit": MemoryError,
    "CannotWrite": OSError,
    "MissingExtra": ImportError,
    "WorkerLost": RuntimeError,
    "NumericalFailure": RuntimeError,
}


@pytest.mark.parametrize(("name", "builtin"), TREE.items())
def test_each_error_is_ours_and_pythons(name, builtin):
    error = getattr(errors, name)("a sentence.")
    assert isinstance(error, errors.ArgmaxError)
    assert isinstance(error, builtin)
    assert str(error) == "a sentence."


def test_codes_are_distinct_and_stable():
    codes = {getattr(errors, name).code for name in TREE}
    assert len(codes) == len(TREE)
    assert {"invalid-input", "wrong-type", "unsupported", "no-legal-labelling"} <= codes


def test_all_lists_every_error():
    listed = set(errors.__all__)
    assert listed == {*TREE, "ArgmaxError", "NotConverged", "PosteriorTooWide"}


def test_not_converged_is_scikit_learns_warning():
    assert issubclass(errors.NotConverged, ConvergenceWarning)
