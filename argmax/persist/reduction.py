"""A fitted reduction over a base of ours as a document and tensors, and back.

    document  estimator, parameters, left_out, base (None, or its estimator, parameters, left_out), classes,
              solution
    tensors   code (k, L)  coef (L, d)  intercept (L,)  classes.…  those of ``solutions``
              names.data and names.offsets, where the columns had names

However its problems were solved, what a reduction says depends on the weights of its binary models and on the
code alone. So a loaded one has ``coef_``, ``intercept_`` and ``solution_``, and no ``estimators_``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InvalidInput, ModelFileError, Unsupported
from ..records import Solution
from ..reductions import OneVsOne, OneVsRest, OutputCode, codes
from ..reductions.banks import Bank, Separate, Together
from ..reductions.distances import checked as checked_code
from ..reductions.subsets import summed
from .checked import Room, finite, same_keys, take
from .classifier import CLASSIFIERS, feature_names
from .container import Tensors
from .labels import label_tensors, labels, name_tensors
from .parameters import checked, decoded, encoded
from .solutions import rebuilt_solution, solution_parts

__all__ = ["REDUCTIONS", "rebuilt_reduction", "reduction_parts"]

REDUCTIONS = {kind.__name__: kind for kind in (OneVsOne, OneVsRest, OutputCode)}

DOCUMENT = ("estimator", "parameters", "left_out", "base", "classes", "solution")
BASE = ("estimator", "parameters", "left_out")
PARAMETERS: dict[str, dict[str, tuple[type, ...]]] = {
    "OneVsOne": {"decision": (str,), "together": (bool, str), "n_jobs": (int, type(None))},
    "OneVsRest": {"together": (bool, str), "n_jobs": (int, type(None))},
    "OutputCode": {
        "code": (str, type(None)),  # None: the matrix itself was given
        "length": (int, type(None)),
        "decoding": (str,),
        "together": (bool, str),
        "random_state": (int, type(None)),
        "n_jobs": (int, type(None)),
    },
}


# Out


def reduction_parts(reduction: Any) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted reduction."""
    name, base = type(reduction).__name__, reduction.estimator
    coef, intercept, solution = _weights(reduction._bank)
    dtype, tensors = label_tensors(reduction.classes_)
    told, numbers = solution_parts(solution)
    tensors |= {"code": reduction.code_, "coef": coef, "intercept": intercept} | numbers
    if getattr(reduction, "feature_names_in_", None) is not None:
        tensors |= name_tensors("names", reduction.feature_names_in_.tolist())
    document: dict[str, Any] = {
        "estimator": name,
        "parameters": _plain(reduction),
        "left_out": [],
        "base": None if base is None else _base_parts(base),
        "classes": dtype,
        "solution": told,
    }
    return document, tensors


def _weights(bank: Bank) -> tuple[NDArray[Any], NDArray[Any], Solution]:
    if isinstance(bank, Together):
        return np.ascontiguousarray(bank.coef), bank.intercept, bank.solution
    assert isinstance(bank, Separate)
    kinds = {type(model) for model in bank.models} - set(CLASSIFIERS.values())
    if kinds or bank.stacked is None:
        raise Unsupported(
            f"the reduction is over {', '.join(sorted(kind.__name__ for kind in kinds))}. A model file holds "
            f"reductions over {', '.join(CLASSIFIERS)}. Use one of them, or pickle the model for your own "
            "processes."
        )
    weights, intercept = bank.stacked
    coef = np.ascontiguousarray(weights.T)
    accounts = [model.solution_ for model in bank.models]
    return coef, intercept, summed(coef, accounts, sum(account.seconds for account in accounts))


def _plain(reduction: Any) -> dict[str, Any]:
    given = reduction.get_params(deep=False)
    found = {name: given[name] for name in PARAMETERS[type(reduction).__name__]}
    if "code" in found and not isinstance(found["code"], str):
        found["code"] = None
    for name, value in found.items():
        if isinstance(value, np.generic):
            found[name] = value = value.item()
        if not isinstance(value, PARAMETERS[type(reduction).__name__][name]):
            raise Unsupported(
                f"{name}={value!r} cannot be stored in a model file. Set it to a name, a number or None "
                f"first, with set_params({name}=...)."
            )
    return found


def _base_parts(base: Any) -> dict[str, Any]:
    parameters, left_out = encoded(base)
    return {"estimator": type(base).__name__, "parameters": parameters, "left_out": left_out}


# Back


def rebuilt_reduction(given: Any, tensors: Tensors, room: Room) -> Any:
    """The fitted reduction; its tensors are taken out of the others."""
    document = same_keys("document", given, DOCUMENT)
    kind = REDUCTIONS[document["estimator"]]
    classes = labels(document["classes"], tensors, room)
    code = _code(kind.__name__, take(tensors, "code", np.int8, len(classes), None))
    coef = finite("coef", take(tensors, "coef", np.float64, code.shape[1], None))
    intercept = finite("intercept", take(tensors, "intercept", np.float64, code.shape[1]))
    reduction = kind(_base(document["base"]), **_parameters(kind, document["parameters"], code))
    with checked():
        _check(reduction)
    solution = rebuilt_solution(document["solution"], coef, tensors, room)
    reduction.classes_, reduction.code_ = classes, code
    reduction._bank = Together(coef, intercept, solution)
    reduction.n_features_in_ = coef.shape[1]
    if not coef.shape[1]:
        raise ModelFileError("has weights of no feature.")
    if "names.data" in tensors:
        reduction.feature_names_in_ = feature_names(tensors, coef.shape[1], room)
    return reduction


def _code(name: str, code: NDArray[Any]) -> NDArray[Any]:
    """The words of the classes, if they are such as this reduction has."""
    k, length = code.shape
    wanted = {"OneVsOne": k * (k - 1) // 2, "OneVsRest": k if k > 2 else 1}.get(name, length)
    try:
        whole = length == wanted and bool(length)
        if whole and name == "OneVsOne":
            whole = np.array_equal(code, codes.all_pairs(k))
        elif whole and name == "OneVsRest":
            whole = np.array_equal(code, codes.one_vs_rest(k))
        elif whole:
            checked_code(code, k)
    except InvalidInput:
        whole = False
    if not whole:
        raise ModelFileError(f"has a code that {name} does not have.")
    return code


def _base(given: Any) -> Any:
    if given is None:
        return None
    told = same_keys("base", given, BASE)
    if told["estimator"] not in list(CLASSIFIERS):
        raise ModelFileError("has a base that this version does not have.")
    base = decoded(CLASSIFIERS[told["estimator"]], told["parameters"])
    with checked():
        checks.choice("dtype", base.dtype, (None, "float32", "float64"))
    return base


def _parameters(kind: Any, given: Any, code: NDArray[Any]) -> dict[str, Any]:
    types = PARAMETERS[kind.__name__]
    told = same_keys("reduction", given, types)
    for name, value in told.items():
        if not isinstance(value, types[name]) or (value is True and name in ("n_jobs", "length")):
            raise ModelFileError(f"has a parameter that does not do: {name}={repr(value)[:100]}.")
    return told | ({"code": code.copy()} if told.get("code", "") is None else {})


def _check(reduction: Any) -> None:
    """Parameters as ``fit`` would check them."""
    checks.choice("together", reduction.together, ("auto", True, False))
    if isinstance(reduction, OneVsOne):
        reduction._decision(reduction._base())
    if isinstance(reduction, OutputCode):
        reduction._decoding(reduction._base())
        if isinstance(reduction.code, str):
            checks.choice("code", reduction.code, tuple(codes.CODES))
