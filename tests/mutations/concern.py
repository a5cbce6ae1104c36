"""Which tests are concerned by a module: found by names, without running anything.

A file of tests is concerned by ``argmax/<area>/<module>.py`` if it is

1. the module itself, whose docstrings have examples that run;
2. named after the module: ``test_<module>.py`` among the laws and the units;
3. named after the area: in ``tests/units/<area>/``, or called ``test_<area>.py``; first those that speak of a
   name that the module defines for others;
4. another file of laws or units that speaks of the area and of such a name.

The fourth are asked only where the others notice nothing.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

__all__ = ["concerned"]

FAR = 3


def concerned(root: Path, path: str) -> tuple[list[str], list[str]]:
    """The files of tests for a module, near (1 to 3) and far (4); paths are relative to the root."""
    module = Path(path)
    area, name = module.parts[1].removesuffix(".py"), module.stem
    exported = _exported(root / path)
    ranked = []
    for file in (root / "tests").rglob("test_*.py"):
        relative = file.relative_to(root)
        if relative.parts[1] not in {"laws", "units"}:
            continue
        text = file.read_text(encoding="utf-8")
        speaks = _speaks(text, area, exported)
        of_area = file.stem == f"test_{area}" or relative.parts[2] == area
        if file.stem == f"test_{name}" and (of_area or speaks):
            rank = 0
        elif of_area:
            rank = 1 if speaks else 2
        elif speaks:
            rank = FAR
        else:
            continue
        ranked.append((rank, len(text), relative.as_posix()))
    own = [path] if ">>>" in (root / path).read_text(encoding="utf-8") else []
    ordered = sorted(ranked)
    near = [file for rank, _, file in ordered if rank < FAR]
    return own + near, [file for rank, _, file in ordered if rank == FAR]


def _exported(module: Path) -> set[str]:
    """Names of the functions and classes that a module defines for others, and its own name."""
    body = ast.parse(module.read_text(encoding="utf-8")).body
    kinds = ast.FunctionDef | ast.ClassDef
    found = {node.name for node in body if isinstance(node, kinds) and node.name[0] != "_"}
    return found | ({module.stem} - {"__init__", "base"})


def _speaks(text: str, area: str, names: set[str]) -> bool:
    words = set(re.findall(r"\w+", text))
    return area in words and not names.isdisjoint(words)
