"""Trip counts of loops as values before a construct, for launch shapes."""

from __future__ import annotations

from xdsl.dialects import acc, arith, llvm
from xdsl.ir import SSAValue

from ..ops.acc_ops import MAPPING_OPS
from ..ops.building import Cursor
from ..ops.expressions import parts_of
from .region_values import HostEmitter, RegionSymbols

Count = SSAValue | int
"""An i64 value before the construct, or a constant."""


class Counts:
    """i64 arithmetic at a cursor, with constants folded."""

    def __init__(self, at: Cursor):
        self.at = at

    def value(self, count: Count) -> SSAValue:
        return self.at.i64(count) if isinstance(count, int) else count

    def _binary(
        self, op: type[arith.AddiOp | arith.SubiOp | arith.MuliOp], a: Count, b: Count
    ) -> SSAValue:
        return self.at.value(op(self.value(a), self.value(b)))

    def at_least(self, count: Count, least: int, hint: str) -> SSAValue | bool:
        """Whether a count is at least `least`: a constant, or an i1."""
        if isinstance(count, int):
            return count >= least
        return self.at.value(arith.CmpiOp(count, self.at.i64(least), "sge"), hint)

    def add(self, a: Count, b: Count) -> Count:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return a if b == 0 else self._binary(arith.AddiOp, a, b)

    def subtract(self, a: Count, b: Count) -> Count:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self._binary(arith.SubiOp, a, b)

    def multiply(self, a: Count, b: Count) -> Count:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 1 in (a, b):
            return b if a == 1 else a
        return self._binary(arith.MuliOp, a, b)

    def ceil_divide(self, a: Count, b: Count) -> Count:
        """`a / b` rounded up, for `b > 0`; not positive where `a` is not."""
        if isinstance(a, int) and isinstance(b, int):
            return -(-a // b)
        if b == 1:
            return a
        rounded = self.add(a, self.subtract(b, 1))
        return self.at.value(arith.DivSIOp(self.value(rounded), self.value(b)))

    def divide(self, a: Count, b: Count) -> Count:
        """`a / b` rounded down, for `a >= 0` and `b > 0`."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        if b == 1:
            return a
        return self.at.value(arith.DivSIOp(self.value(a), self.value(b)))

    def minimum(self, a: Count, b: Count) -> Count:
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return self.at.value(arith.MinSIOp(self.value(a), self.value(b)))

    def maximum(self, a: Count, b: Count) -> Count:
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return self.at.value(arith.MaxSIOp(self.value(a), self.value(b)))


class Arithmetic(Counts):
    """i64 arithmetic before a construct, also on values of its region."""

    def __init__(self, emit: HostEmitter):
        super().__init__(emit)
        self.emit = emit


def host_value(value: SSAValue, symbols: RegionSymbols, math: Arithmetic) -> Count | None:
    """The value of a region's integer, computed before the construct; None if only the device knows it."""
    poly = symbols.polynomial(value)
    if poly is not None:
        if any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in poly.symbols):
            return None
        known = poly.as_constant
        return math.emit.emit(poly) if known is None else known
    copied = math.emit.copy_expression(value, symbols)
    return None if copied is None else math.emit.symbol(copied)


def trip_count(
    loop: acc.LoopOp, symbols: RegionSymbols, math: Arithmetic
) -> tuple[Count, bool] | None:
    """
    The number of iterations, computed before the construct, and whether the device must check it (a mapped
    scalar may hold another value there). None if only the device knows it.
    """
    total: Count = 1
    exact = True
    inclusive = loop.inclusive_upperbound
    ends = [bool(v) for v in inclusive.get_values()] if inclusive is not None else []
    for index, bounds in enumerate(zip(loop.lowerbound, loop.upperbound, loop.step, strict=True)):
        lower, upper, step = (host_value(value, symbols, math) for value in bounds)
        if lower is None or upper is None or step is None:
            return None
        exact = exact and all(_is_exact(value, symbols) for value in bounds)
        span = math.subtract(upper, lower)
        if index < len(ends) and ends[index]:
            span = math.add(span, 1)
        span = math.ceil_divide(span, step)
        if len(loop.upperbound) > 1:
            span = math.maximum(span, 0)
        total = math.multiply(total, span)
    if isinstance(total, SSAValue):
        total.name_hint = total.name_hint or "trip"
    return total, exact


def distance(
    lower: SSAValue, upper: SSAValue, symbols: RegionSymbols, math: Arithmetic
) -> Count | None:
    """
    `upper - lower`, both of the region, computed before the construct; None if only the device knows it.
    """
    low, high = (host_value(value, symbols, math) for value in (lower, upper))
    return None if low is None or high is None else math.subtract(high, low)


def _is_exact(value: SSAValue, symbols: RegionSymbols) -> bool:
    """Whether `value` does not depend on a load of a mapped variable."""

    def is_leaf(part: SSAValue) -> bool:
        return isinstance(part.owner, llvm.LoadOp) or not symbols.is_inside(part)

    return not any(
        isinstance(part.owner, llvm.LoadOp)
        and isinstance(part.owner.ptr.owner, MAPPING_OPS)
        and symbols.is_inside(part)
        for part in parts_of(value, is_leaf)
    )
