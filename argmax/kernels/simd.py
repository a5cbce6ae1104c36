"""A small vocabulary of explicit vectors, for inner loops that the compiler does not vectorise itself.

    zeros(like, LANES)        a vector of zeros, with the dtype of the array ``like``
    load(flat, at, LANES)     LANES consecutive elements of a flat contiguous array
    store(flat, at, vector)   the way back
    get(flat, at)             one element, without the test for a negative index: in a loop over places in
    put(flat, at, scalar)     memory that test is a third of the time
    prefetch(flat, at)        asks memory for an element that is needed soon; does nothing else
    prefetch_far(flat, at)    the same, and leaves the first-level cache to what is needed now
    fma(x, vector, acc)       x · vector + acc, one rounding; x is a scalar or a vector
    add, mul, divide(a, b)    lane by lane; ``maximum`` and ``minimum`` too (where a is NaN: b)
    plus, times(scalar, a)    a scalar to every lane
    total(a), largest(a)      over all lanes, halves first: always in the same order
    first_equal(a, scalar)    the first lane that equals the scalar
    exp(a)                    for values ≤ 0; below −700 (float32: −85) it stays where it is, −inf gives 0
    exp_in_place(flat)        exp of every element, vectorised

``LANES`` is a ``Lanes(24)``: the number is part of its *type*, so one source serves every width and is still
found in the compile cache. Any number below 128 will do. Inside, a vector is held in parts whose widths are
powers of two (24 lanes are 16 and 8), because the compiler legalises other widths badly. Why it is here: a
loop of a dozen steps over an array row pays for run-time alias checks and keeps its accumulators in memory;
a value of one of these types stays in registers.
"""

import math

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    overload,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import load_item, store_item

from .compile import inner_kernel

__all__ = [
    "L4",
    "L8",
    "L16",
    "L24",
    "Lanes",
    "add",
    "divide",
    "exp",
    "exp_in_place",
    "first_equal",
    "fma",
    "get",
    "largest",
    "load",
    "maximum",
    "minimum",
    "mul",
    "plus",
    "prefetch",
    "prefetch_far",
    "put",
    "store",
    "times",
    "total",
    "zeros",
]

INDEX = ir.IntType(32)


# Widths


class Lanes:
    """How many lanes a vector has. To the compiler the number is a type, and the value nothing at all."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count


class LanesType(types.Type):
    def __init__(self, count):
        self.count = count
        super().__init__(name=f"Lanes({count})")


register_model(LanesType)(models.OpaqueModel)


@typeof_impl.register(Lanes)
def _type_of_lanes(lanes, context):
    return LanesType(lanes.count)


@unbox(LanesType)
def _from_python(lanes, value, context):
    return NativeValue(context.context.get_dummy_value())


@lower_constant(LanesType)
def _constant_lanes(context, builder, lanes, value):
    return context.get_dummy_value()


@overload(len)
def _count_lanes(lanes):
    if not isinstance(lanes, LanesType):
        return None
    count = lanes.count
    return lambda lanes: count


L4, L8, L12, L16, L20, L24 = (Lanes(count) for count in (4, 8, 12, 16, 20, 24))


# Vectors


class VectorType(types.Type):
    def __init__(self, dtype, lanes):
        self.dtype, self.lanes = dtype, lanes
        super().__init__(name=f"Vector({dtype}, {lanes})")


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        element = ir.DoubleType() if vector.dtype == types.float64 else ir.FloatType()
        widths = [1 << bit for bit in range(vector.lanes.bit_length()) if vector.lanes >> bit & 1]
        parts = [ir.VectorType(element, width) for width in reversed(widths)]
        super().__init__(manager, vector, ir.LiteralStructType(parts))


# The parts of a vector, widest first


def _parts(builder, vector):
    return [builder.extract_value(vector, i) for i in range(len(vector.type.elements))]


def _vector(builder, kind, parts):
    whole = ir.Constant(kind, ir.Undefined)
    for i, part in enumerate(parts):
        whole = builder.insert_value(whole, part, i)
    return whole


def _kind(context, vector):
    return context.data_model_manager[vector].get_value_type()


def _places(context, builder, flat, array, at, kind):
    """Where each part of a vector lies in an array that starts at ``at``."""
    data = context.make_array(flat)(context, builder, array).data
    for part in kind.elements:
        yield builder.bitcast(builder.gep(data, [at]), part.as_pointer())
        at = builder.add(at, ir.Constant(at.type, part.count))


def _lane_by_lane(builder, operation, *vectors):
    split = (_parts(builder, vector) for vector in vectors)
    results = [operation(builder, *parts) for parts in zip(*split, strict=True)]
    return _vector(builder, vectors[0].type, results)


# What is done to a part


def _spread(builder, scalar, kind):
    """The scalar in every lane."""
    blank, first = ir.Constant(kind, ir.Undefined), ir.Constant(INDEX, 0)
    everywhere = ir.Constant(ir.VectorType(INDEX, kind.count), None)
    return builder.shuffle_vector(builder.insert_element(blank, scalar, first), blank, everywhere)


def _half(builder, part, second):
    count = part.type.count // 2
    lanes = ir.Constant(ir.VectorType(INDEX, count), [second * count + i for i in range(count)])
    return builder.shuffle_vector(part, part, lanes)


def _fma(builder, a, b, c):
    kind = a.type
    suffix = "f64" if isinstance(kind.element, ir.DoubleType) else "f32"
    signature, name = ir.FunctionType(kind, [kind] * 3), f"llvm.fma.v{kind.count}{suffix}"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), [a, b, c])


def _maximum(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _minimum(builder, a, b):
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _folded(builder, operation, vector):
    """All lanes brought together: the wider half onto the narrower until one lane is left."""
    parts = _parts(builder, vector)
    while parts[0].type.count > 1:
        wide = parts.pop(0)
        half = operation(builder, _half(builder, wide, 0), _half(builder, wide, 1))
        if parts and parts[0].type.count == half.type.count:
            parts[0] = operation(builder, half, parts[0])
        else:
            parts.insert(0, half)
    return builder.extract_element(parts[0], ir.Constant(INDEX, 0))


# Words that touch memory


@intrinsic
def zeros(typing, like, lanes):
    vector = VectorType(like.dtype, lanes.count)

    def generate(context, builder, signature, args):
        return ir.Constant(_kind(context, vector), None)

    return vector(like, lanes), generate


@intrinsic
def load(typing, flat, at, lanes):
    vector = VectorType(flat.dtype, lanes.count)

    def generate(context, builder, signature, args):
        kind, parts = _kind(context, vector), []
        for place in _places(context, builder, flat, args[0], args[1], kind):
            parts.append(builder.load(place))
            parts[-1].align = flat.dtype.bitwidth // 8  # NumPy promises no more than one element
        return _vector(builder, kind, parts)

    return vector(flat, types.intp, lanes), generate


@intrinsic
def store(typing, flat, at, vector):
    def generate(context, builder, signature, args):
        places = _places(context, builder, flat, args[0], args[1], args[2].type)
        for place, part in zip(places, _parts(builder, args[2]), strict=True):
            builder.store(part, place).align = flat.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.none(flat, types.intp, vector), generate


@intrinsic
def get(typing, flat, at):
    def generate(context, builder, signature, args):
        data = context.make_array(flat)(context, builder, args[0]).data
        return load_item(context, builder, flat, builder.gep(data, [args[1]]))

    return flat.dtype(flat, types.intp), generate


@intrinsic
def put(typing, flat, at, scalar):
    def generate(context, builder, signature, args):
        data = context.make_array(flat)(context, builder, args[0]).data
        store_item(context, builder, flat, args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.none(flat, types.intp, flat.dtype), generate


def _prefetch(near):
    @intrinsic
    def word(typing, flat, at):
        def generate(context, builder, signature, args):
            data = context.make_array(flat)(context, builder, args[0]).data
            place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
            kind = ir.FunctionType(ir.VoidType(), [place.type, INDEX, INDEX, INDEX])
            word = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            read, data_not_code = 0, 1
            given = [ir.Constant(INDEX, x) for x in (read, near, data_not_code)]
            builder.call(word, [place, *given])
            return context.get_dummy_value()

        return types.none(flat, types.intp), generate

    return word


prefetch, prefetch_far = _prefetch(3), _prefetch(2)


# Words that compute


@intrinsic
def fma(typing, x, vector, accumulator):
    def generate(context, builder, signature, args):
        def part(builder, v, a):
            return _fma(builder, _spread(builder, args[0], v.type), v, a)

        if isinstance(x, VectorType):
            return _lane_by_lane(builder, _fma, *args)
        return _lane_by_lane(builder, part, args[1], args[2])

    first = vector if isinstance(x, VectorType) else vector.dtype
    return vector(first, vector, vector), generate


def _of_two_vectors(operation):
    @intrinsic
    def word(typing, a, b):
        def generate(context, builder, signature, args):
            return _lane_by_lane(builder, operation, *args)

        return a(a, a), generate

    return word


def _of_scalar_and_vector(operation):
    @intrinsic
    def word(typing, scalar, a):
        def generate(context, builder, signature, args):
            def part(builder, v):
                return operation(builder, _spread(builder, args[0], v.type), v)

            return _lane_by_lane(builder, part, args[1])

        return a(a.dtype, a), generate

    return word


def _of_all_lanes(operation):
    @intrinsic
    def word(typing, a):
        def generate(context, builder, signature, args):
            return _folded(builder, operation, args[0])

        return a.dtype(a), generate

    return word


add = _of_two_vectors(ir.IRBuilder.fadd)
mul = _of_two_vectors(ir.IRBuilder.fmul)
divide = _of_two_vectors(ir.IRBuilder.fdiv)
maximum = _of_two_vectors(_maximum)
minimum = _of_two_vectors(_minimum)
plus = _of_scalar_and_vector(ir.IRBuilder.fadd)
times = _of_scalar_and_vector(ir.IRBuilder.fmul)
total = _of_all_lanes(ir.IRBuilder.fadd)
largest = _of_all_lanes(_maximum)


@intrinsic
def first_equal(typing, vector, scalar):
    def generate(context, builder, signature, args):
        wide = ir.IntType(64)
        found, start = ir.Constant(wide, vector.lanes), vector.lanes
        for part in reversed(_parts(builder, args[0])):  # a hit in an earlier part overrules
            start -= part.type.count
            hits = builder.fcmp_ordered("==", part, _spread(builder, args[1], part.type))
            bits = builder.bitcast(hits, ir.IntType(part.type.count))
            bits = bits if part.type.count == 64 else builder.zext(bits, wide)
            lane = builder.cttz(bits, ir.Constant(ir.IntType(1), 0))
            none = builder.icmp_unsigned("==", bits, ir.Constant(wide, 0))
            found = builder.select(none, found, builder.add(lane, ir.Constant(wide, start)))
        return found

    return types.intp(vector, vector.dtype), generate


# The exponential

_LOG2E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 · 2⁵²: adding it leaves the nearest integer in the low bits

_RECIPES = {  # least, rounding constant, log 2 in two parts, degree, bits: width, bias, of the mantissa
    types.float64: (-700.0, _ROUND, _LN2_HIGH, _LN2_LOW, 13, 64, 1023, 52),
    types.float32: (-85.0, 12582912.0, 0.693359375, -2.12194440e-4, 7, 32, 127, 23),
}


def _exp(builder, x, recipe):
    """As in ``exp_in_place``, for one part."""
    least, rounding, high, low, degree, width, bias, mantissa = recipe
    kind, whole = x.type, ir.VectorType(ir.IntType(width), x.type.count)

    def constant(value):
        return _spread(builder, ir.Constant(kind.element, value), kind)

    def integer(value):
        return ir.Constant(whole, [value] * kind.count)

    y = builder.select(builder.fcmp_ordered("<", x, constant(least)), constant(least), x)
    shifted = _fma(builder, y, constant(_LOG2E), constant(rounding))
    n = builder.fsub(shifted, constant(rounding))
    r = _fma(builder, n, constant(-low), _fma(builder, n, constant(-high), y))
    p = constant(1.0 / math.factorial(degree))
    for power in reversed(range(degree)):
        p = _fma(builder, p, r, constant(1.0 / math.factorial(power)))
    exponent = builder.add(builder.bitcast(shifted, whole), integer(bias))
    power = builder.bitcast(builder.shl(exponent, integer(mantissa)), kind)
    never = builder.fcmp_ordered("==", x, constant(-math.inf))
    return builder.select(never, constant(0.0), builder.fmul(p, power))


@intrinsic
def exp(typing, vector):
    def generate(context, builder, signature, args):
        def part(builder, x):
            return _exp(builder, x, _RECIPES[vector.dtype])

        return _lane_by_lane(builder, part, args[0])

    return vector(vector), generate


if config.DISABLE_JIT:  # the same words in plain NumPy, for coverage and for debuggers

    def zeros(like, lanes):
        return np.zeros(len(lanes), like.dtype)

    def load(flat, at, lanes):
        return flat[at : at + len(lanes)].copy()

    def store(flat, at, vector):
        flat[at : at + len(vector)] = vector

    def get(flat, at):
        return flat[at]

    def put(flat, at, scalar):
        flat[at] = scalar

    def prefetch(flat, at):
        pass

    prefetch_far = prefetch

    def fma(x, vector, accumulator):
        return x * vector + accumulator

    def plus(scalar, vector):
        return vector.dtype.type(scalar) + vector

    def times(scalar, vector):
        return vector.dtype.type(scalar) * vector

    def maximum(a, b):
        return np.where(a > b, a, b)

    def minimum(a, b):
        return np.where(a < b, a, b)

    def first_equal(vector, scalar):
        return int(np.append(vector == scalar, True).argmax())

    def exp(vector):
        least = -700.0 if vector.dtype == np.float64 else -85.0
        return np.where(vector == -np.inf, 0.0, np.exp(np.where(vector < least, least, vector)))

    add, mul, divide, total, largest = np.add, np.multiply, np.divide, np.sum, np.max


@inner_kernel
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
