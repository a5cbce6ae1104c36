"""Names of attributes, which nobody needs all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

__all__ = ["Names"]


@final
class Names(Sequence[str]):
    """A sequence of names that are written out when they are asked for.

    >>> from argmax.features.templates.names import Names
    >>> squares = Names(4, lambda i: str(i * i))
    >>> squares[-1], squares[1:3], len(squares)
    ('9', ['1', '4'], 4)
    """

    def __init__(self, size: int, name: Callable[[int], str]) -> None:
        self._size, self._name = size, name

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, item: Any) -> Any:
        places = range(self._size)[item]
        return [self._name(i) for i in places] if isinstance(places, range) else self._name(places)

    def __repr__(self) -> str:
        return f"<{self._size} names: {', '.join(map(repr, self[:3]))}, …>" if self else "<0 names>"
