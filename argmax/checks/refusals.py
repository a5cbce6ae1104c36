"""What scikit-learn and NumPy refuse, and masked arrays, as errors of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import ArgmaxError, InvalidInput, ResourceLimit, WrongType

__all__ = ["as_ours", "no_mask"]


@contextmanager
def as_ours() -> Iterator[None]:
    """What scikit-learn and NumPy refuse, as our errors: their sentence, our code."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # ``finite`` and others look afterwards
            yield
    except ArgmaxError:
        raise
    except MemoryError as error:
        advice = "Pass fewer rows, float32, or a sparse matrix."
        raise ResourceLimit(f"{str(error) or 'Memory is full'}. {advice}") from error
    except (ValueError, OverflowError) as error:
        raise InvalidInput(str(error)) from error
    except TypeError as error:
        raise WrongType(str(error)) from error
    except (LookupError, AttributeError, RuntimeError) as error:  # of an object's own __array__
        raise InvalidInput(f"the values cannot be read: {error!r}.") from error


def no_mask(name: str, values: Any) -> None:
    """Refuse masked values."""
    if np.ma.is_masked(values):
        raise InvalidInput(
            f"{name} is a masked array with {int(np.ma.getmaskarray(values).sum())} masked value(s), "
            "which would be used as if they were not masked. Fill or remove them first."
        )
