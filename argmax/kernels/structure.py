"""Questions about the structure of sparse rows."""

import numpy as np

from .compile import kernel

__all__ = ["has_duplicates"]


@kernel
def has_duplicates(indptr, indices, width):
    """Whether some row names a feature twice. Given indptr (R+1,), indices in 0 … width−1, in any order."""
    seen = np.full(width, -1, np.int64)  # the last row that named each feature
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            if seen[indices[t]] == i:
                return True
            seen[indices[t]] = i
    return False
