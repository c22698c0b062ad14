"""
Counted loops → counters in the form of `scf.for` and `acc.loop`: i32 or i64, signed comparison, positive
step, exclusive upper bound. The C variable is computed from the counter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import SSAValue

from ...passes.ir.ops.building import constant_value
from ..base.names import value_name
from ..c.tree import strip_casts
from ..c.types import LONG, ULONG, FloatType, IntType, PointerType
from . import arithmetic, pointers
from .counted import CountedLoop
from .function import FunctionState


@dataclass
class Counter:
    """The bounds of a counter, evaluated before the loop, and the C variable at a count and after the
    loop."""

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    variable: Callable[[SSAValue], SSAValue]
    final: Callable[[], SSAValue]


def make_counter(fn: FunctionState, loop: CountedLoop) -> Counter:
    """Evaluates start, bound and step of `loop` here."""
    if isinstance(loop.var.type, PointerType):
        return _pointer_counter(fn, loop, loop.var.type)
    assert isinstance(loop.var.type, IntType)
    return _integer_counter(fn, loop, loop.var.type)


def _plus(fn: FunctionState, value: SSAValue, n: int, hint: str) -> SSAValue:
    constant = constant_value(value)
    if constant is not None:
        return fn.b.int(constant + n, value.type)
    return fn.b.add_nsw(value, fn.b.int(n, value.type), hint)


def _step(fn: FunctionState, loop: CountedLoop, t: IntegerType) -> SSAValue:
    if isinstance(loop.step, int):
        return fn.b.int(loop.step, t)
    value = fn.rvalue(loop.step)
    signed = isinstance(loop.step.type, IntType) and loop.step.type.signed
    return fn.b.resize(value, t, signed=signed)


def _integer_counter(fn: FunctionState, loop: CountedLoop, var: IntType) -> Counter:
    b, compare = fn.b, loop.compare_type
    start = fn.rvalue(loop.start)
    bound = fn.rvalue(loop.bound)
    b.at(loop.start.loc)
    # The types that the variable is converted to decide how both sides extend to the counter.
    compared, t = start, var
    for cast in loop.casts:
        assert isinstance(cast, IntType)
        compared, t = arithmetic.convert(b, compared, t, cast), cast
    if isinstance(compare, FloatType):
        whole = LONG if t.signed or t.bits < 64 else ULONG
        bound = integer_bound(fn, loop, bound, (compare, whole))
        loop, compare = replace(loop, op=loop.op[0]), whole
    assert isinstance(compare, IntType)
    compared = arithmetic.convert(b, compared, t, compare)
    width = _width(loop, compare, constant_value(bound))
    name = loop.var.name
    first = b.resize(compared, width, signed=compare.signed)
    last = b.resize(bound, width, signed=compare.signed)
    last.name_hint = last.name_hint or value_name(f"{name}_end")
    step = _step(fn, loop, width)
    if _is_numbered(loop, var, compare, (first, last, step)):
        ends = (
            b.resize(compared, i64, signed=compare.signed),
            b.resize(bound, i64, signed=compare.signed),
        )
        return _numbered_counter(fn, loop, (var, compare), ends, b.resize(step, i64, signed=True))
    if not loop.down and not compare.signed and var.signed and compare.bits == 64:
        # A negative start compares as a huge unsigned number: no iteration.
        constant = constant_value(first)
        if constant is None or constant < 0:
            enters = b.cmp("ult", first, last)
            last = b.value(arith.SelectOp(enters, last, first), f"{name}_end")

    def to_variable(value: SSAValue) -> SSAValue:
        value.name_hint = value.name_hint or value_name(name)
        return b.resize(value, IntegerType(var.bits), signed=var.signed)

    if loop.down and _may_differ_much(loop, compare, first, last):
        # The complement of the variable counts up, and has no difference that may wrap around.
        lower, above = b.sub_nsw(b.int(-1, width), first), b.int(-1 if loop.op == ">" else 0, width)
        upper = b.sub_nsw(above, last, f"{name}_end")

        def complement(k: SSAValue) -> SSAValue:
            return to_variable(b.sub_nsw(b.int(-1, width), k, name))

        return Counter(
            lower, upper, step, complement, lambda: complement(_after(fn, lower, upper, step))
        )
    if loop.down:
        count = b.sub_nsw(first, last, f"{name}_count")
        if loop.op == ">=":
            count = _plus(fn, count, 1, f"{name}_count")
        lower = b.int(0, width)
        return Counter(
            lower,
            count,
            step,
            lambda k: to_variable(b.sub_nsw(first, k, name)),
            lambda: to_variable(b.sub_nsw(first, _after(fn, lower, count, step), name)),
        )
    upper = _plus(fn, last, 1, f"{name}_end") if loop.op == "<=" else last
    return Counter(
        first, upper, step, to_variable, lambda: to_variable(_after(fn, first, upper, step))
    )


_SMALL_STEP = 1 << 20
"""A loop of 2⁶³ in such steps would take hours."""


def _is_numbered(
    loop: CountedLoop, var: IntType, compare: IntType, parts: tuple[SSAValue, SSAValue, SSAValue]
) -> bool:
    """
    Whether the range from start to bound, with the step beyond it, may exceed the signed numbers of the
    counter, or the variable may wrap around on its way to a bound that it meets.
    """
    first, last, step = (constant_value(part) for part in parts)
    low, high = (last, first) if loop.down else (first, last)
    if loop.meets and not (var.signed and var.bits >= 32) and not loop.subscript:
        ordered = low is not None and high is not None and 0 <= low <= high
        never_wraps = low is not None and not var.signed and (low == 0 or var.bits == 64)
        if not ordered and not never_wraps:
            return True
    if compare.bits < 64:
        return False
    if any(end is not None and end < 0 for end in (low, high)) and not compare.signed:
        return True  # above 2⁶³
    if low is not None and high is not None:
        beyond = abs(high - low) if compare.signed else max(low, high)
        return beyond + (step or 1 << 62) >= 1 << 63
    if compare.signed:
        known = low is not None and low >= (loop.down and loop.op == ">=")
        return not known and _is_large(loop, var, step)
    known = low is not None and low < 1 << 62
    return _is_large(loop, var, step) or not (known or loop.subscript or var.bits < 64)


def _is_large(loop: CountedLoop, var: IntType, step: int | None) -> bool:
    """Whether few steps may cover 2⁶³."""
    if isinstance(loop.step, int) or step is not None:
        return step is None or not 0 <= step < _SMALL_STEP
    t = strip_casts(loop.step).type
    return var.bits == 64 and isinstance(t, IntType) and t.bits == 64


def _numbered_counter(
    fn: FunctionState,
    loop: CountedLoop,
    types: tuple[IntType, IntType],
    ends: tuple[SSAValue, SSAValue],
    step: SSAValue,
) -> Counter:
    """
    A counter that numbers the iterations from 0, of a loop whose variable and comparison have the `types`
    and that runs between `ends`; the variable is computed modulo 2⁶⁴.
    """
    (var, compare), (first, last), b, name = types, ends, fn.b, loop.var.name
    zero, one = b.int(0, i64), b.int(1, i64)
    span = b.value(arith.SubiOp(*(ends if loop.down else (last, first))))
    if loop.meets and var.bits < 64:
        span = b.value(arith.AndIOp(span, b.int((1 << var.bits) - 1, i64)))
    if loop.meets:
        enters = b.cmp("ne", span, zero)
    else:
        enters = arithmetic.compare(b, loop.op, first, last, LONG if compare.signed else ULONG)
    if len(loop.op) == 1:
        span = b.value(arith.SubiOp(span, one))
    # C allows a step of 0 only if no iteration runs.
    divisor = step if constant_value(step) else b.value(arith.MaxUIOp(step, one))
    later = span if constant_value(step) == 1 else b.value(arith.DivUIOp(span, divisor))
    later = b.value(arith.MinUIOp(later, b.int((1 << 63) - 2, i64)))
    trips = b.value(arith.AddiOp(later, one))
    count = b.value(arith.SelectOp(enters, trips, zero), f"{name}_count")
    move = arith.SubiOp if loop.down else arith.AddiOp

    def at(k: SSAValue) -> SSAValue:
        moved = k if constant_value(step) == 1 else b.value(arith.MuliOp(k, step))
        return b.resize(b.value(move(first, moved), name), IntegerType(var.bits), signed=var.signed)

    return Counter(zero, count, one, at, lambda: at(count))


def integer_bound(
    fn: FunctionState, loop: CountedLoop, bound: SSAValue, types: tuple[FloatType, IntType]
) -> SSAValue:
    """
    The bound with which the numbers of an integer type compare by `<` (`>` if the loop counts down) as by
    the loop's operator with the floating-point `bound`. `types`: those of both. No iteration runs with a
    NaN; a bound beyond all integers becomes the largest that the counter can reach.
    """
    b, name, (t, to) = fn.b, loop.var.name, types
    if t.bits == 32 and not isinstance(bound.owner, arith.ConstantOp):
        fn.module.sink.warn(
            loop.bound.loc,
            f"'{name}' is compared with a float, which cannot hold odd numbers above 16777216:"
            " iterations are counted as if it could",
            "convert the bound to an integer before the loop",
        )
    beyond = 1 << 63 if to.signed else 1 << 64
    far = {16: 65504, 32: beyond - (1 << 40)}.get(t.bits, beyond - (1 << 11))
    least = -far if to.signed else 0

    def as_float(value: SSAValue) -> SSAValue:
        return arithmetic.convert(b, value, to, t)

    inside = bound
    for op, limit in ((">", far), ("<", least), ("!=", 0)):
        replaced = arithmetic.compare(
            b, op, bound, bound if op == "!=" else as_float(b.int(limit, i64)), t
        )
        inside = b.value(arith.SelectOp(replaced, as_float(b.int(limit, i64)), inside))
    whole = arithmetic.convert(b, inside, t, to)
    # Truncated, the bound may be below or above what it was.
    moves = arithmetic.compare(b, loop.op, as_float(whole), inside, t)
    beside = b.value(arith.AddiOp(whole, b.int(-1 if loop.down else 1, i64)))
    end = b.value(arith.SelectOp(moves, beside, whole))
    never = beyond - 1 if loop.down else beyond - (1 << 64 if to.signed else beyond)
    some = arithmetic.compare(
        b, "<=" if loop.down else ">=", bound, as_float(b.int(far if loop.down else least, i64)), t
    )
    return b.value(arith.SelectOp(some, end, b.int(never, i64)), f"{name}_end")


def _width(loop: CountedLoop, compare: IntType, bound: int | None) -> IntegerType:
    """The type of the counter: i64 where 32 bits could overflow, in unsigned comparisons and in differences
    of loops that count down; otherwise i32."""
    if compare.bits == 64 or not compare.signed:
        return i64
    if loop.down and (bound is None or bound < (1 if loop.op == ">=" else 0)):
        return i64
    return i32


def _may_differ_much(loop: CountedLoop, compare: IntType, first: SSAValue, last: SSAValue) -> bool:
    """Whether the difference of signed ends, of a loop that counts down, may exceed their type."""
    high, low = constant_value(first), constant_value(last)
    if not compare.signed or first.type != IntegerType(compare.bits):
        return False
    if low is None:
        return True
    return low > (loop.op == ">=") and (high is None or high < 0)


def _pointer_counter(fn: FunctionState, loop: CountedLoop, var: PointerType) -> Counter:
    b, pointee, name = fn.b, var.pointee.type, loop.var.name
    start = fn.rvalue(loop.start)
    bound = fn.rvalue(loop.bound)
    b.at(loop.start.loc)
    first, last = b.to_int(start), bound if bound.type == i64 else b.to_int(bound)
    ends = (first, last) if loop.down else (last, first)
    size = pointers.pointee_size(fn, pointee)
    # Addresses that are compared in another type may lie between elements.
    between = arith.CeilDivSIOp if len(loop.op) == 1 else arith.FloorDivSIOp
    divide = arith.DivSIOp if loop.compare_type == var else between
    count = b.value(divide(b.value(arith.SubiOp(*ends)), size), f"{name}_count")
    if loop.op in ("<=", ">="):
        count = _plus(fn, count, 1, f"{name}_count")
    step = _step(fn, loop, i64)
    lower = b.int(0, i64)

    def at(k: SSAValue) -> SSAValue:
        index = b.sub_nsw(b.int(0, i64), k) if loop.down else k
        return pointers.element_address(fn, start, index, pointee, name)

    return Counter(lower, count, step, at, lambda: at(_after(fn, lower, count, step)))


def _after(fn: FunctionState, lower: SSAValue, upper: SSAValue, step: SSAValue) -> SSAValue:
    """The counter's value after the loop: the first `lower + k·step` that is not below `upper`."""
    b = fn.b
    runs = b.cmp("slt", lower, upper)
    if constant_value(step) == 1:
        return b.value(arith.SelectOp(runs, upper, lower), "end")
    # The range may exceed the largest signed number, not the largest unsigned one.
    span = b.value(arith.SubiOp(upper, lower))
    trips = b.value(arith.CeilDivUIOp(span, step), "trips")
    end = b.value(arith.AddiOp(lower, b.value(arith.MuliOp(trips, step))))
    return b.value(arith.SelectOp(runs, end, lower), "end")
