"""A small vocabulary of explicit vectors, for inner loops that the compiler does not vectorise itself.

    zeros(like, LANES)        a vector of zeros, with the dtype of the array ``like``
    load(flat, at, LANES)     LANES consecutive elements of a flat contiguous array
    store(flat, at, vector)   the way back
    fma(scalar, vector, acc)  scalar · vector + acc, one rounding
    get(flat, at)             one element, without the test for a negative index
    exp_in_place(flat)        exp of every element, vectorised
    gather(…), scatter(…)     a sparse row times a table of weights, and back: all lanes of all labels

``LANES`` is one of the tuples below: its *length* is part of its type, so one source serves every width
and is still found in the compile cache. Widths are powers of two: others are legalised badly. Why it is
here: a loop of a dozen steps over an array row pays for run-time alias checks and keeps its accumulators
in memory; a value of one of these types stays in registers.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from .compile import kernel

__all__ = [
    "L4",
    "L8",
    "L16",
    "exp_in_place",
    "fma",
    "gather",
    "get",
    "load",
    "scatter",
    "store",
    "zeros",
]

L4 = (0,) * 4
L8 = (0,) * 8
L16 = (0,) * 16


class VectorType(types.Type):
    def __init__(self, dtype, lanes):
        self.dtype, self.lanes = dtype, lanes
        super().__init__(name=f"Vector({dtype}, {lanes})")


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        element = ir.DoubleType() if vector.dtype == types.float64 else ir.FloatType()
        super().__init__(manager, vector, ir.VectorType(element, vector.lanes))


def _llvm(context, vector):
    return context.data_model_manager[vector].get_value_type()


def _address(context, builder, array_type, array, at, vector):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


@intrinsic
def zeros(typing, like, lanes):
    vector = VectorType(like.dtype, lanes.count)

    def generate(context, builder, signature, args):
        return ir.Constant(_llvm(context, vector), None)

    return vector(like, lanes), generate


@intrinsic
def load(typing, flat, at, lanes):
    vector = VectorType(flat.dtype, lanes.count)

    def generate(context, builder, signature, args):
        kind = _llvm(context, vector)
        value = builder.load(_address(context, builder, flat, args[0], args[1], kind))
        value.align = flat.dtype.bitwidth // 8  # NumPy promises no more than one element
        return value

    return vector(flat, types.intp, lanes), generate


@intrinsic
def store(typing, flat, at, vector):
    def generate(context, builder, signature, args):
        place = _address(context, builder, flat, args[0], args[1], args[2].type)
        builder.store(args[2], place).align = flat.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.none(flat, types.intp, vector), generate


@intrinsic
def fma(typing, scalar, vector, accumulator):
    suffix = "f64" if vector.dtype == types.float64 else "f32"

    def generate(context, builder, signature, args):
        kind = args[1].type
        first = ir.Constant(ir.IntType(32), 0)
        mask = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), None)
        blank = ir.Constant(kind, ir.Undefined)
        spread = builder.shuffle_vector(builder.insert_element(blank, args[0], first), blank, mask)
        name = f"llvm.fma.v{kind.count}{suffix}"
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * 3), name
        )
        return builder.call(function, [spread, args[1], args[2]])

    return vector(vector.dtype, vector, vector), generate


@intrinsic
def get(typing, flat, at):
    def generate(context, builder, signature, args):
        data = context.make_array(flat)(context, builder, args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return flat.dtype(flat, types.intp), generate


if config.DISABLE_JIT:  # the same words in plain NumPy, for coverage and for debuggers

    def zeros(like, lanes):
        return np.zeros(len(lanes), like.dtype)

    def load(flat, at, lanes):
        return flat[at : at + len(lanes)].copy()

    def store(flat, at, vector):
        flat[at : at + len(vector)] = vector

    def fma(scalar, vector, accumulator):
        return scalar * vector + accumulator

    def get(flat, at):
        return flat[at]


@kernel
def _gather_tile(indices, values, step, first, last, W, P, c, row, LANES):
    total = zeros(W, LANES)
    for t in range(first, last):
        total = fma(get(values, t * step), load(W, np.int64(get(indices, t)) * P + c, LANES), total)
    store(row, c, total)


@kernel
def gather(indices, values, step, first, last, W, P, row):
    """row_c = Σ_t values_t · W[indices_t, c] for t = first … last−1. Given flat W (d, P). Filled row (P,).

    Labels go in tiles of 16, 8 and 4 whose sums stay in registers; P is 1 or a multiple of 4.
    """
    c = 0
    if P == 1:
        total = row[0] * 0.0
        for t in range(first, last):
            total += get(values, t * step) * get(W, np.int64(get(indices, t)))
        row[0] = total
        c = 1
    while c + 16 <= P:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L16)
        c += 16
    if c + 8 <= P:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L8)
        c += 8
    if c + 4 <= P:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L4)


@kernel
def _scatter_tile(indices, values, step, first, last, W, P, c, row, LANES):
    residual = load(row, c, LANES)
    for t in range(first, last):
        at = np.int64(get(indices, t)) * P + c
        store(W, at, fma(get(values, t * step), residual, load(W, at, LANES)))


@kernel
def scatter(indices, values, step, first, last, W, P, row):
    """W[indices_t, c] += values_t · row_c for t = first … last−1: the adjoint of ``gather``."""
    c = 0
    if P == 1:
        for t in range(first, last):
            W[np.int64(get(indices, t))] += get(values, t * step) * row[0]
        c = 1
    while c + 16 <= P:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L16)
        c += 16
    if c + 8 <= P:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L8)
        c += 8
    if c + 4 <= P:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L4)


_LOG2E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 · 2⁵²: adding it leaves the nearest integer in the low bits


@kernel
def exp_in_place(flat):
    """flat ← exp(flat), for values ≤ 709. Below −708 the result is 0.

    A polynomial, because a call of the scalar library function costs three times as much and keeps the
    loop from being vectorised: x = n·log 2 + r with |r| ≤ ½ log 2, exp r by its Taylor series (degree 13:
    remainder below 2⁻⁵³), then n goes into the exponent bits. No conversion to integers, which AVX2
    lacks for 64 bits.
    """
    for i in range(len(flat)):
        x = flat[i]
        small = x < -708.0
        y = -708.0 if small else x
        shifted = y * _LOG2E + _ROUND
        n = shifted - _ROUND
        r = (y - n * _LN2_HIGH) - n * _LN2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52)
        flat[i] = 0.0 if small else p * power.view(np.float64)
