"""Imports go one way. Read from the source, so that an import inside a function counts as well."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "argmax"

# Lowest first: a part imports parts of earlier rows, never of its own row or of a later one.
PIPELINE = (
    ("errors", "memory"),
    ("records",),
    ("tags",),
    ("kernels",),
    ("checks",),
    ("features", "costs"),
    ("layouts", "spaces"),
    ("losses",),
    ("engines",),
    ("passes",),
    ("surveys",),
    ("objective",),
    ("solvers",),
    ("estimators",),
    ("reductions",),
)
FOUNDATION = {"errors", "memory", "records", "tags", "checks"}
ARRAYS = {"calibration", "decisions", "shift", "bounds", "margins", "metrics"}
FACES = {"plots", "report", "cli"}
BESIDE = {  # parts beside the pipeline, and what each may import
    "bayes": FOUNDATION
    | ARRAYS
    | {"estimators"},  # a posterior around the mode that an estimator finds
    "data": FOUNDATION | {"features"},
    "persist": FOUNDATION
    | {"costs", "features", "layouts", "spaces", "losses", "solvers", "estimators", "reductions"}
    | {"calibration", "shift"},
}
LINE = {part for row in PIPELINE for part in row}
PARTS = LINE | ARRAYS | FACES | BESIDE.keys() | {"testing"}

OPTIONAL = {"dask", "distributed", "fastapi", "matplotlib", "pandas", "pyarrow", "torch", "uvicorn"}
HEAVY = ("numba", "numpy", "scipy", "sklearn", "pandas", "matplotlib")


def allowed(part: str) -> set[str]:
    """The parts that this part may import, itself included."""
    if part in FACES:
        return PARTS
    if part == "testing":
        return PARTS - FACES
    if part in ARRAYS:
        return FOUNDATION | ARRAYS | {"kernels"}
    if part in BESIDE:
        return BESIDE[part] | {part}
    row = next(i for i, parts in enumerate(PIPELINE) if part in parts)
    below = {lower for parts in PIPELINE[:row] for lower in parts}
    on_top = part in {"estimators", "reductions"}
    return below | {part} | (ARRAYS | {"data"} if on_top else set())


def imported(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of every import; ``from a import b`` gives ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                here = module.split(".")
                parents = here[: len(here) - node.level + is_package]
                base = ".".join([*parents, base] if base else parents)
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            target = node.args[0]
            if name in {"import_module", "__import__"} and isinstance(target, ast.Constant):
                yield node.lineno, str(target.value)


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """Every import of ``source`` that goes the wrong way, as a sentence."""
    part = module.split(".")[1]
    if part not in PARTS:
        return [
            f"{module}: '{part}' has no place in the order of imports; give it one in this test"
        ]
    found = []
    for line, name in imported(ast.parse(source), module, is_package):
        top, _, rest = name.partition(".")
        if top != "argmax" or rest == "__version__":
            continue
        target = rest.split(".")[0]
        if target not in PARTS and part not in FACES:
            found.append(f"{module}:{line} imports '{name}'; name the part it comes from")
        elif target in PARTS and target not in allowed(part):
            found.append(f"{module}:{line} imports '{target}', which is not below '{part}'")
    return found


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        steps = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(steps[:-1] if steps[-1] == "__init__" else steps), path


MODULES = dict(modules())
BELOW_ROOT = [name for name in MODULES if name not in {"argmax", "argmax.__main__"}]


def source_of(module: str) -> str:
    return MODULES[module].read_text(encoding="utf-8")


def test_the_package_is_there():
    assert {"argmax.errors", "argmax.losses", "argmax.spaces"} <= MODULES.keys()


@pytest.mark.parametrize("module", BELOW_ROOT)
def test_imports_go_one_way(module):
    is_package = MODULES[module].name == "__init__.py"
    assert violations(source_of(module), module, is_package) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("argmax.losses", "import argmax.solvers.dual"),
        ("argmax.losses", "from argmax.objective import Objective"),
        ("argmax.losses", "from argmax import solvers"),
        ("argmax.losses", "def f():\n    from argmax.estimators import classifier"),
        ("argmax.losses", "from . import objective"),
        ("argmax.losses", "import importlib\nimportlib.import_module('argmax.solvers')"),
        ("argmax.losses", "from argmax import SoftmaxRegression"),
        ("argmax.spaces.chain", "from ..layouts import Full"),
        ("argmax.spaces.chain", "if True:\n    from argmax.losses import Log"),
        ("argmax.engines.threads", "from argmax.objective import Objective"),
        ("argmax.estimators.classifier", "from argmax.plots import curve"),
        ("argmax.metrics", "from argmax.solvers import dual"),
        ("argmax.testing", "from argmax.cli import app"),
        ("argmax.nowhere", "import math"),
    ],
)
def test_a_wrong_import_is_seen(module, source):
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("argmax.losses", "import numpy\nfrom argmax.spaces.classes import Classes"),
        ("argmax.spaces.chain", "from .classes import Classes\nfrom ..records import Scores"),
        ("argmax.objective", "from argmax.engines.threads import Threads"),
        ("argmax.bayes.regression", "from argmax.metrics import log_loss"),
        ("argmax.cli.demo", "from argmax import SoftmaxRegression\nimport argmax.report"),
    ],
)
def test_a_right_import_passes(module, source):
    assert violations(source, module) == []


def test_numba_stays_in_kernels():
    offenders = [
        f"{module}:{line}"
        for module in BELOW_ROOT
        if not module.startswith("argmax.kernels.")
        for line, name in imported(ast.parse(source_of(module)), module, False)
        if name.split(".")[0] in {"numba", "llvmlite"}
    ]
    assert offenders == []


KERNELS = [module for module in BELOW_ROOT if module.startswith("argmax.kernels.")]


@pytest.mark.parametrize("module", KERNELS)
def test_a_kernel_file_imports_kernels_only(module):
    """The compile cache is named by a hash of the kernels' folder: nothing outside it may be compiled in."""
    ours = {
        ".".join(name.split(".")[:3])
        for _, name in imported(ast.parse(source_of(module)), module, False)
        if name.split(".")[0] == "argmax"
    }
    assert all(name.startswith("argmax.kernels") for name in ours)


@pytest.mark.parametrize("module", KERNELS)
def test_a_kernel_uses_no_threads_or_classes_of_numba(module):
    tree = ast.parse(source_of(module))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert names.isdisjoint({"prange", "jitclass", "guvectorize", "cfunc"})
    keywords = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
    assert not [word.value.lineno for word in keywords if word.arg == "parallel"]


def at_import_time(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported: everything outside function bodies."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from at_import_time(node)


def test_optional_packages_are_imported_where_they_are_needed():
    offenders = []
    for module, path in MODULES.items():
        eager = ast.Module(
            body=[
                node
                for node in at_import_time(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Import | ast.ImportFrom)
            ],
            type_ignores=[],
        )
        for line, name in imported(eager, module, path.name == "__init__.py"):
            if name.split(".")[0] in OPTIONAL:
                offenders.append(f"{module}:{line} imports {name}")
    assert offenders == []


@pytest.mark.parametrize("module", ["argmax", "argmax.cli"])
def test_nothing_heavy_is_imported_before_it_is_needed(module):
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []
