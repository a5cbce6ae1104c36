"""JSON as strict as a file from a stranger deserves: no doubt about its meaning, no surprise in its size."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from ..errors import Unsupported

__all__ = ["parsed", "written"]

DEPTH, TOKENS = 32, 2**17
"""How deep values may be nested, and how many brackets, commas and strings there may be: a text of two bytes
a value can become a hundred bytes of memory."""

TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["\[{\]},]', re.DOTALL)


def parsed(text: str, tokens: int = TOKENS) -> Any:
    """The value of a JSON text; ValueError if it is not strict, too deep or too large.

    >>> from argmax.persist.strict import parsed
    >>> parsed('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> parsed('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the name 'a' occurs twice
    """
    _check_size(text, tokens)
    value = json.loads(
        text,
        object_pairs_hook=_unique,
        parse_constant=_refused,
        parse_float=_finite,
        parse_int=_whole,
    )
    json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    return value


def written(value: Any, tokens: int = TOKENS) -> str:
    """The JSON text of a value, in ASCII; Unsupported where ``parsed`` could not read it back.

    >>> from argmax.persist.strict import written
    >>> written({"C": 1.0, "loss": "log"})
    '{"C":1.0,"loss":"log"}'
    """
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
        parsed(text, tokens)
    except ValueError as error:
        raise Unsupported(f"the options do not fit into a model file: {error}.") from error
    return text


def _check_size(text: str, tokens: int) -> None:
    depth = 0
    for count, token in enumerate(TOKEN.finditer(text)):
        if token[0] == '"':  # here, or every quote after it would be searched to the end
            raise ValueError("a string without an end")
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > DEPTH or count >= tokens:
            raise ValueError(f"nested deeper than {DEPTH}, or longer than {tokens} tokens")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"the name {name!r} occurs twice")
        result[name] = value
    return result


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _whole(digits: str) -> int:
    if len(digits) > 21 or abs(value := int(digits)) >= 2**64:
        raise ValueError(f"{digits[:20]} is too large")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large")
    return value
