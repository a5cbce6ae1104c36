"""The mutants of a source: each is the source with one small mistake in it.

    comparisons   < and <=, > and >= (loosened); < and > (turned round); == and !=, `is` and `is not`;
                  `in` and `not in`
    arithmetic    + and −, * and /, & and |, also in place; a sign that is lost
    logic         `and` and `or`, a lost `not`, a lost ~, True and False
    numbers       whole numbers below 10 one higher, others twice as large (0.5 -> 1.0), 0.0 -> 1.0; larger
                  whole numbers are sizes and limits of effort, of which one more or less is as good
    names         max and min, any and all, ceil and floor, the first of equals and the last

Nothing is changed in what does not compute: docstrings, messages, annotations, decorators, `raise`
statements, and names of exports.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

__all__ = ["LAST_OF_EQUALS", "Mutant", "mutants"]

COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
NAMES = {
    "max": "min",
    "maximum": "minimum",
    "amax": "amin",
    "any": "all",
    "ceil": "floor",
    "greater": "greater_equal",
    "less": "less_equal",
    "add": "subtract",
    "multiply": "divide",
}
NAMES |= {after: before for before, after in NAMES.items()}

UNSEEN = {"strict", "stacklevel"}
"""Arguments that change no result: they notice a slip of ours, or point a warning at a line."""

LAST_OF_EQUALS = '''"""argmax and argmin that take the last of equals, where NumPy's take the first."""

import numpy as np


def argmax(a, axis=None, **more):
    a = np.asarray(a)
    if axis is None:
        return a.size - 1 - np.argmax(a.ravel()[::-1], **more)
    return a.shape[axis] - 1 - np.argmax(np.flip(a, axis), axis, **more)


def argmin(a, axis=None, **more):
    return argmax(~a if a.dtype == bool else -a, axis, **more)
'''
"""A module that mutants of the order among equals import: ``last_of_equals``."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """``source[start:stop]`` becomes ``new``; ``line`` counts from 1."""

    path: str
    line: int
    start: int
    stop: int
    old: str
    new: str

    def applied(self, source: str) -> str:
        """The source with the mistake in it."""
        return source[: self.start] + self.new + source[self.stop :]

    def lines(self, source: str) -> tuple[str, str]:
        """The lines that change, before and after, without their indentation."""
        first = source.rfind("\n", 0, self.start) + 1
        last = source.find("\n", self.stop)
        last = len(source) if last < 0 else last
        after = source[first : self.start] + self.new + source[self.stop : last]
        return _flat(source[first:last]), _flat(after)


def mutants(source: str, path: str = "") -> list[Mutant]:
    """All mutants of a source, in the order of the text. Each of them can be parsed."""
    found = _Mutants(source, path)
    found.visit(ast.parse(source))
    return sorted(set(found.all), key=lambda mutant: (mutant.start, mutant.stop, mutant.new))


def _flat(text: str) -> str:
    return " ".join(text.split())


class _Mutants(ast.NodeVisitor):
    def __init__(self, source: str, path: str) -> None:
        self.source, self.path, self.all = source, path, list[Mutant]()
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    # Places. A column of the tree counts bytes of UTF-8.

    def _place(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _start(self, node: ast.expr) -> int:
        return self._place(node.lineno, node.col_offset)

    def _stop(self, node: ast.AST) -> int:
        return self._place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _add(self, start: int, stop: int, *new: str) -> None:
        line = self.source.count("\n", 0, start) + 1
        for text in new:
            self.all.append(Mutant(self.path, line, start, stop, self.source[start:stop], text))

    def _swap(self, start: int, stop: int, old: str, *new: str) -> None:
        """Replace the operator between two operands, where parentheses and comments may stand, too."""
        first, last = _between(self.source[start:stop], old)
        self._add(start + first, start + last, *new)

    # What is left alone.

    def visit_Raise(self, node: ast.Raise) -> None: ...

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in UNSEEN:
            self.visit(node.value)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    # What is changed.

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            old, new = COMPARISONS[type(operator)]
            self._swap(self._stop(left), self._start(right), old, *new)
            left = right
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        pair = ARITHMETIC.get(type(node.op))
        if pair and not any(_is_text(side) for side in (node.left, node.right)):
            self._swap(self._stop(node.left), self._start(node.right), *pair)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if (pair := ARITHMETIC.get(type(node.op))) and not _is_text(node.value):
            old, new = (f"{sign}=" for sign in pair)
            self._swap(self._stop(node.target), self._start(node.value), old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.op, ast.UAdd):
            # Parentheses around the operand stay as they are.
            sign = 3 if isinstance(node.op, ast.Not) else 1
            self._add(self._start(node), self._start(node) + sign, "")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._swap(self._stop(left), self._start(right), old, new)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            new = str(not value)
        elif isinstance(value, int) and value < 10:
            new = str(value + 1)
        elif isinstance(value, float):
            new = repr(2.0 * value or 1.0)
        else:
            return
        self._add(self._start(node), self._stop(node), new)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func
        if isinstance(name, ast.Name) and name.id in NAMES:
            self._add(self._start(name), self._stop(name), NAMES[name.id])
        elif isinstance(name, ast.Attribute) and name.attr in {"argmax", "argmin"}:
            self._ties(node, name)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in NAMES:
            end = self._stop(node)
            self._add(end - len(node.attr), end, NAMES[node.attr])
        self.generic_visit(node)

    def _ties(self, node: ast.Call, name: ast.Attribute) -> None:
        """The last of equals: of ``np.argmax(a, …)``, and of an array's own method.

        Spaces have a method of this name, too, but an array's takes nothing or an axis.
        """
        last = f'__import__("last_of_equals").{name.attr}('
        start, stop = self._start(node), self._stop(node)
        owner = self.source[self._start(name.value) : self._stop(name.value)]
        given = self.source[self._stop(name) + 1 : stop - 1]
        if owner == "np":
            self._add(start, stop, f"{last}{given})")
        elif all(isinstance(value, ast.Constant) for value in node.args) and all(
            keyword.arg == "axis" for keyword in node.keywords
        ):
            owner = (
                self.source[start : self._stop(name) - len(name.attr)].rstrip().removesuffix(".")
            )
            self._add(start, stop, f"{last}({owner}), {given})" if given else f"{last}{owner})")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _between(text: str, old: str) -> tuple[int, int]:
    """Where the operator stands between two operands: beside it are spaces, parentheses and comments only."""
    bare = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)
    found = re.search(r"\s+".join(map(re.escape, old.split())), bare)
    assert found is not None, f"no {old} in {text!r}"
    return found.span()
