"""Arithmetic on long vectors, several steps in one sweep: the weights of a text model are millions.

NumPy would do one step at a time, with memory for each result in between, and take the interpreter's lock
back after every one: sixteen threads then queue for it.
"""

from .compile import inner_kernel, kernel
from .simd import (
    L8,
    add,
    fma,
    get,
    largest,
    load,
    maximum,
    minimum,
    mul,
    store,
    times,
    total,
    zeros,
)

__all__ = ["combine", "conjugate_steps", "dots", "magnitude", "scale_rows", "squares"]


@kernel
def combine(a, x, b, y, out):
    """out = a x + b y. Given numbers a, b; x, y (n,). Filled out (n,), which may be x or y."""
    for i in range(len(out)):
        out[i] = a * x[i] + b * y[i]


@inner_kernel
def _dot(x, y, first, last):
    """Σ x_i y_i for i = first … last−1, in two vectors of eight sums: always in the same order."""
    even, odd, at = zeros(x, L8), zeros(x, L8), first
    while at + 16 <= last:
        even = add(even, mul(load(x, at, L8), load(y, at, L8)))
        odd = add(odd, mul(load(x, at + 8, L8), load(y, at + 8, L8)))
        at += 16
    rest = 0.0
    for i in range(at, last):
        rest += get(x, i) * get(y, i)
    return total(add(even, odd)) + rest


@kernel
def dots(x, y, starts, stops, out):
    """out_r = Σ x_i y_i for i = starts_r … stops_r−1. Given x, y (n,), float64. Filled out (R,)."""
    for r in range(len(out)):
        out[r] = _dot(x, y, starts[r], stops[r])


@kernel
def squares(x, a, y, starts, stops, out):
    """out_r = Σ (x_i + a y_i)² for i = starts_r … stops_r−1. Given x, y (n,), float64. Filled out (R,)."""
    for r in range(len(out)):
        even, odd, at = zeros(x, L8), zeros(x, L8), starts[r]
        while at + 16 <= stops[r]:
            one = fma(a, load(y, at, L8), load(x, at, L8))
            two = fma(a, load(y, at + 8, L8), load(x, at + 8, L8))
            even, odd = add(even, mul(one, one)), add(odd, mul(two, two))
            at += 16
        rest = 0.0
        for i in range(at, stops[r]):
            rest += (get(x, i) + a * get(y, i)) ** 2
        out[r] = total(add(even, odd)) + rest


@kernel
def conjugate_steps(step, p, product, d, residual, starts, stops, out):
    """d += step · p, residual −= step · product: Nocedal and Wright 2006, algorithm 5.2. All (n,), float64.

    In ranges starts_r … stops_r−1. Filled out (R,): ‖residual‖² of each.
    """
    for r in range(len(out)):
        at = starts[r]
        while at + 8 <= stops[r]:
            store(d, at, fma(step, load(p, at, L8), load(d, at, L8)))
            store(residual, at, add(load(residual, at, L8), times(-step, load(product, at, L8))))
            at += 8
        for i in range(at, stops[r]):
            d[i] += step * p[i]
            residual[i] -= step * product[i]
        out[r] = _dot(residual, residual, starts[r], stops[r])


@kernel
def scale_rows(table, scale, out):
    """out_j = scale_j · table_j. Given table (n, P), scale (n,). Filled out (n, P)."""
    n, P = table.shape
    for j in range(n):
        for c in range(P):
            out[j, c] = scale[j] * table[j, c]


@kernel
def magnitude(x):
    """max |x_i|, or NaN if some x_i is not finite. Given x (n,)."""
    low, high, sound, at = zeros(x, L8), zeros(x, L8), zeros(x, L8), 0
    while at + 8 <= len(x):
        some = load(x, at, L8)
        low, high, sound = minimum(low, some), maximum(high, some), fma(0.0, some, sound)
        at += 8
    rest, odd = 0.0, 0.0
    for i in range(at, len(x)):
        rest, odd = max(rest, abs(get(x, i))), odd + 0.0 * get(x, i)
    found = max(largest(high), largest(times(-1.0, low)))
    return max(found, rest) + total(sound) + odd
