"""What the fault tests share: a small problem, and what a refusal must look like."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from argmax import SoftmaxRegression
from argmax.errors import ArgmaxError, InvalidInput

__all__ = ["broken", "problem", "refuses", "routes", "same_bits"]


def routes() -> Iterator[str]:
    """Both ways through the code, one after the other: never compiled, always compiled."""
    for route in ("never", "always"):
        os.environ["ARGMAX_COMPILED"] = route  # of this process, which is the test's own
        yield route


def problem(n: int = 120, d: int = 5, k: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Rows and labels drawn from a softmax model: noisy, so never separable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


def refuses(
    call: Callable[..., Any], *arguments: Any, says: tuple[str, ...], error: Any = InvalidInput
) -> None:
    """The call raises our error, which has a code and says all the words.

    The call may be the ``fit`` of a fitted model: then the model must be as it was.
    """
    owner = getattr(call, "__self__", None)
    before = copy.deepcopy(vars(owner)) if isinstance(owner, SoftmaxRegression) else None
    with pytest.raises(error) as caught:
        call(*arguments)
    message = str(caught.value)
    assert isinstance(caught.value, ArgmaxError), f"{type(caught.value)}: {message}"
    assert caught.value.code
    for word in says:
        assert word in message, f"{word!r} is not in {message!r}"
    if before is not None:
        assert before.keys() == vars(owner).keys()
        for name in ("coef_", "intercept_", "classes_"):
            assert np.array_equal(before.get(name), vars(owner).get(name))


def same_bits(one: Any, other: Any) -> bool:
    """Whether two fitted models hold the same numbers to the last bit."""
    return one.coef_.tobytes() == other.coef_.tobytes() and (
        one.intercept_.tobytes() == other.intercept_.tobytes()
    )


def broken(form: Callable[[Any], Any]) -> Iterator[tuple[Any, str]]:
    """Compressed matrices with arrays assigned after SciPy's own checks, and what is wrong."""

    def changed(name: str, change: Callable[[Any], Any]) -> Any:
        matrix = form(problem()[0])
        array = getattr(matrix, name).copy()
        setattr(matrix, name, change(array))
        return matrix

    def at(index: int, value: int) -> Callable[[Any], Any]:
        def change(array: Any) -> Any:
            array[index] = value
            return array

        return change

    many = 10**6  # far enough to leave the page
    yield changed("indices", at(3, many)), f"index {many}"
    yield changed("indices", at(3, 2**31 - 1)), "index 2147483647"
    yield changed("indices", at(3, -1)), "index -1"
    yield changed("indices", at(-1, -many)), f"index -{many}"
    yield changed("indptr", at(2, many)), "never fall"
    yield changed("indptr", at(-1, many)), f"asks for {many}"
    yield changed("indptr", lambda a: at(-1, 2**62)(a.astype(np.int64))), f"asks for {2**62}"
    yield changed("indptr", at(0, -many)), "start at 0"
    yield changed("indptr", at(0, 1)), "start at 0"
    yield changed("indptr", lambda a: a[::-1].copy()), "start at 0"
    yield changed("indptr", lambda a: a[:-1]), "indptr has"
    yield changed("indptr", lambda a: a[:0]), "indptr has 0"
    yield changed("indptr", lambda a: np.append(a, a[-1])), "indptr has"
    yield changed("indices", lambda a: a[:-5]), "asks for"
    yield changed("data", lambda a: a[:-5]), "asks for"
    yield changed("data", lambda a: a[:, None]), "1-D"
    yield changed("indices", lambda a: a + 0.5), "whole numbers"
    yield changed("indices", lambda a: a.tolist()), "arrays"
    yield changed("indptr", lambda _: None), "arrays"
