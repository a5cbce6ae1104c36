"""The columns of a later table against those of the first: by name, or by place."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import InvalidInput
from .intake import Sheet

__all__ = ["matched", "renamed"]


def matched(given: Sheet, kinds: Mapping[str, str], named: bool) -> Sheet:
    """The sheet with the columns of the fit, under their names. ``named``: whether the fit had names.

    An error names what is missing, unknown or out of place. Ignored columns may be absent.
    """
    if given.form == "texts" or given.form == "array" or not (named or given.form == "mapping"):
        return _by_place(given, kinds, named)
    needed = [name for name, kind in kinds.items() if kind not in ("id", "ignore")]
    unknown = [name for name in given.columns if name not in kinds]
    absent = [name for name in needed if name not in given.columns]
    if unknown or absent:
        raise InvalidInput(
            "The feature names should match those that were passed during fit."
            + _listed("Feature names unseen at fit time", unknown)
            + _listed("Feature names seen at fit time, yet now missing", absent)
        )
    if given.form == "frame" and (moved := _moved(list(given.columns), kinds)):
        raise InvalidInput(
            "Feature names must be in the same order as they were in fit."
            + _listed("The first one out of place", [moved])
        )
    return given


def _by_place(given: Sheet, kinds: Mapping[str, str], named: bool) -> Sheet:
    if len(given.columns) != len(kinds):
        raise InvalidInput(
            f"X has {len(given.columns)} features, but Table is expecting {len(kinds)} features as input."
        )
    if given.form == "array" and named:
        warnings.warn(
            "X does not have valid feature names, but Table was fitted with feature names",
            UserWarning,
            stacklevel=4,
        )
    if given.form == "frame":
        warnings.warn(
            "X has feature names, but Table was fitted without feature names",
            UserWarning,
            stacklevel=4,
        )
    return replace(given, columns=dict(zip(kinds, given.columns.values(), strict=True)))


def _moved(names: list[str], kinds: Mapping[str, str]) -> str | None:
    order = [name for name in kinds if name in names]
    return next((name for name, right in zip(names, order, strict=True) if name != right), None)


def _listed(what: str, names: list[str]) -> str:
    if not names:
        return ""
    more = ["…"] if len(names) > 10 else []
    return "".join([f"\n{what}:", *(f"\n- {name}" for name in names[:10] + more)])


def renamed(input_features: Any, kinds: Mapping[str, str], named: bool) -> dict[str, str]:
    """What each column of the fit is called in the names of the result."""
    if input_features is None:
        return {}
    given = [str(name) for name in input_features]
    if named and given != list(kinds):
        raise InvalidInput("input_features is not equal to feature_names_in_")
    if len(given) != len(kinds):
        raise InvalidInput(
            f"input_features should have length equal to number of features ({len(kinds)}), got {len(given)}"
        )
    return dict(zip(kinds, given, strict=True))
