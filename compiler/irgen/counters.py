"""
Counted loops → counters in the form of `scf.for` and `acc.loop`: i32 or i64, signed comparison, positive
step, exclusive upper bound. The C variable is computed from the counter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import SSAValue

from ...passes.ir.ops.building import constant_value
from ..base.names import value_name
from ..c.types import LONG, FloatType, IntType, PointerType
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
    if isinstance(loop.compare_type, PointerType):
        raise AssertionError("an integer loop variable compared as a pointer")
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
    if isinstance(compare, FloatType):
        exact = b.resize(start, i64, signed=var.signed)
        bound, compare = integer_bound(fn, loop, bound, compare, exact), LONG
    assert isinstance(compare, IntType)
    width = _width(loop, compare, constant_value(bound))
    name = loop.var.name
    # The comparison's type decides how both sides extend to the counter.
    compared = arithmetic.convert(b, start, var, compare)
    first = b.resize(compared, width, signed=compare.signed)
    last = b.resize(bound, width, signed=compare.signed)
    last.name_hint = last.name_hint or value_name(f"{name}_end")
    step = _step(fn, loop, width)
    if not compare.signed and compare.bits == 64 and (_is_huge(first) or _is_huge(last)):
        return _wrapping_counter(fn, loop, var, (first, last), step)
    if not loop.down and not compare.signed and var.signed and compare.bits == 64:
        # A negative start compares as a huge unsigned number: no iteration.
        constant = constant_value(first)
        if constant is None or constant < 0:
            enters = b.cmp("ult", first, last)
            last = b.value(arith.SelectOp(enters, last, first), f"{name}_end")

    def to_variable(value: SSAValue) -> SSAValue:
        value.name_hint = value.name_hint or value_name(name)
        return b.resize(value, IntegerType(var.bits), signed=var.signed)

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


def _is_huge(value: SSAValue) -> bool:
    """Whether a value is known to be above the largest signed number, as an unsigned one."""
    constant = constant_value(value)
    return constant is not None and constant < 0


def _wrapping_counter(
    fn: FunctionState,
    loop: CountedLoop,
    var: IntType,
    ends: tuple[SSAValue, SSAValue],
    step: SSAValue,
) -> Counter:
    """
    The counter of a loop with 64-bit unsigned comparison, between `ends` that signed numbers need not order:
    it begins at 0, and the variable is computed modulo 2⁶⁴.
    """
    b, name, (first, last) = fn.b, loop.var.name, ends
    more = arith.SubiOp if loop.down else arith.AddiOp
    count = b.value(arith.SubiOp(*(ends if loop.down else (last, first))), f"{name}_count")
    if len(loop.op) == 2:
        count = b.value(arith.AddiOp(count, b.int(1, i64)), f"{name}_count")
    lower = b.int(0, i64)
    if not loop.meets:
        known = {">": "ugt", ">=": "uge", "<": "ult", "<=": "ule"}
        enters = b.cmp(known[loop.op], first, last)
        count = b.value(arith.SelectOp(enters, count, lower), f"{name}_count")

    def at(k: SSAValue) -> SSAValue:
        return b.resize(b.value(more(first, k), name), IntegerType(var.bits), signed=var.signed)

    return Counter(lower, count, step, at, lambda: at(_after(fn, lower, count, step)))


def integer_bound(
    fn: FunctionState, loop: CountedLoop, bound: SSAValue, t: FloatType, start: SSAValue
) -> SSAValue:
    """
    The i64 with which integers from `start` (an i64) on compare as with the floating-point `bound`: it is
    rounded up for `<` and `>=`, down for `<=` and `>`. With a NaN no iteration runs; a bound beyond all
    integers becomes the largest that the counter can reach.
    """
    b, name = fn.b, loop.var.name
    if t.bits == 32 and not isinstance(bound.owner, arith.ConstantOp):
        fn.module.sink.warn(
            loop.bound.loc,
            f"'{name}' is compared with a float, which cannot hold odd numbers above 16777216:"
            " iterations are counted as if it could",
            "convert the bound to an integer before the loop",
        )
    high, low = (arithmetic.convert(b, b.int(sign * _FARTHEST, i64), LONG, t) for sign in (1, -1))
    inside = bound
    for op, limit in ((">", high), ("<", low), ("!=", bound)):
        other = limit if op != "!=" else arithmetic.convert(b, b.int(0, i64), LONG, t)
        replaced = arithmetic.compare(b, op, bound, limit, t)
        inside = b.value(arith.SelectOp(replaced, other, inside))
    whole = arithmetic.convert(b, inside, t, LONG)
    up = loop.op in ("<", ">=")
    away = arithmetic.compare(
        b, "<" if up else ">", arithmetic.convert(b, whole, LONG, t), inside, t
    )
    beside = b.add_nsw(whole, b.int(1 if up else -1, i64))
    rounded = b.value(arith.SelectOp(away, beside, whole))
    never = b.add_nsw(start, b.int(1 if loop.down else -1, i64))
    is_number = arithmetic.compare(b, "==", bound, bound, t)
    return b.value(arith.SelectOp(is_number, rounded, never), f"{name}_end")


_FARTHEST = 1 << 62


def _width(loop: CountedLoop, compare: IntType, bound: int | None) -> IntegerType:
    """The type of the counter: i64 where 32 bits could overflow, in unsigned comparisons and in differences
    of loops that count down; otherwise i32."""
    if compare.bits == 64 or not compare.signed:
        return i64
    if loop.down and (bound is None or bound < (1 if loop.op == ">=" else 0)):
        return i64
    return i32


def _pointer_counter(fn: FunctionState, loop: CountedLoop, var: PointerType) -> Counter:
    b, pointee, name = fn.b, var.pointee.type, loop.var.name
    start = fn.rvalue(loop.start)
    bound = fn.rvalue(loop.bound)
    b.at(loop.start.loc)
    ends = (b.to_int(start), b.to_int(bound)) if loop.down else (b.to_int(bound), b.to_int(start))
    size = pointers.pointee_size(fn, pointee)
    count = b.value(arith.DivSIOp(b.value(arith.SubiOp(*ends)), size), f"{name}_count")
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
    span = b.sub_nsw(upper, lower)
    trips = b.value(arith.CeilDivSIOp(span, step), "trips")
    end = b.add_nsw(lower, b.mul_nsw(trips, step))
    return b.value(arith.SelectOp(runs, end, lower), "end")
