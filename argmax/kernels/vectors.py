"""Arithmetic on long vectors, several steps in one sweep: the weights of a text model are millions.

NumPy would do one step at a time, with memory for each result in between, and take the interpreter's lock
back after every one: sixteen threads then queue for it.
"""

from .compile import kernel

__all__ = ["combine", "conjugate_step", "scale_rows"]


@kernel
def combine(a, x, b, y, out):
    """out = a x + b y. Given numbers a, b; x, y (n,). Filled out (n,), which may be x or y."""
    for i in range(len(out)):
        out[i] = a * x[i] + b * y[i]


@kernel
def conjugate_step(step, p, product, d, residual):
    """d += step · p, residual −= step · product: Nocedal and Wright 2006, algorithm 5.2. All (n,)."""
    for i in range(len(d)):
        d[i] += step * p[i]
        residual[i] -= step * product[i]


@kernel
def scale_rows(table, scale, out):
    """out_j = scale_j · table_j. Given table (n, P), scale (n,). Filled out (n, P)."""
    n, P = table.shape
    for j in range(n):
        for c in range(P):
            out[j, c] = scale[j] * table[j, c]
