"""The public names: listed, sorted, importable, documented."""

import importlib
import inspect
import re
from types import ModuleType

import pytest

import argmax

NAMES = [name for name in argmax.__all__ if not name.startswith("_")]
NAMESPACES = [name for name in NAMES if isinstance(getattr(argmax, name), ModuleType)]
INSIDE = [
    f"{namespace}.{name}"
    for namespace in NAMESPACES
    for name in getattr(getattr(argmax, namespace), "__all__", [])
]


def resolve(dotted):
    value = argmax
    for name in dotted.split("."):
        value = getattr(value, name)
    return value


def test_the_first_names_a_user_types_are_there():
    assert {"LinearClassifier", "SoftmaxRegression"} <= set(NAMES)
    assert {"engines", "losses", "solvers", "spaces"} <= set(NAMESPACES)


def test_all_is_sorted_and_without_repeats():
    assert list(argmax.__all__) == sorted(set(argmax.__all__))


def test_dir_shows_the_public_names_and_no_others():
    shown = [name for name in dir(argmax) if not name.startswith("_")]
    assert shown == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_star_import_would_find_it(name):
    assert name in dir(argmax)
    assert getattr(argmax, name) is getattr(importlib.import_module("argmax"), name)


def test_a_missing_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        argmax.no_such_name  # noqa: B018
    assert not hasattr(argmax, "no_such_name")


def test_the_version_is_a_release_number():
    assert re.fullmatch(r"\d+\.\d+\.\d+([abrc.]+(dev|post)?\d+)?", argmax.__version__)


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_namespace_lists_its_names(namespace):
    module = getattr(argmax, namespace)
    assert list(module.__all__) == sorted(set(module.__all__))
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("dotted", NAMES + INSIDE)
def test_a_public_object_is_documented(dotted):
    value = resolve(dotted)
    if not (inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value)):
        pytest.skip("a constant; its module documents it")
    own = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    first, *_ = (own or "").strip().splitlines() or [""]
    assert first, f"argmax.{dotted} has no docstring of its own"
    assert not first.startswith(f"{dotted.rpartition('.')[2]}("), "a generated signature is none"


CLASSES = sorted({dotted for dotted in NAMES + INSIDE if inspect.isclass(resolve(dotted))})


@pytest.mark.parametrize("dotted", CLASSES)
def test_public_methods_are_documented(dotted):
    ours = [kind for kind in resolve(dotted).__mro__ if kind.__module__.startswith("argmax")]
    bare = {
        f"{kind.__name__}.{name}"
        for kind in ours
        for name, value in vars(kind).items()
        if not name.startswith("_")
        and inspect.isfunction(inspect.unwrap(getattr(value, "__func__", value)))
        and not inspect.getdoc(getattr(resolve(dotted), name))
    }
    assert bare == set()
