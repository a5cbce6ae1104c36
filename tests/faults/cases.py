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

__all__ = ["problem", "refuses", "routes", "same_bits"]


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
