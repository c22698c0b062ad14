"""`=`, `op=`, `++` and `--` (C11 6.5.16, 6.5.2.4, 6.5.3.1) → values that are stored."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.tree import describe
from ..c.types import IntType, PointerType, RecordType
from . import arithmetic, places, pointers
from .function import FunctionState
from .objects import assign_record


def assign(fn: FunctionState, e: c.Assign) -> SSAValue:
    if isinstance(e.type, RecordType):
        return fn.b.load(assign_record(fn, e), fn.module.types.convert(e.type))
    target, value = _operands(fn, e)
    return places.store(fn, target, value, volatile=e.volatile)


def _operands(fn: FunctionState, e: c.Assign | c.CompoundAssign) -> tuple[places.Place, SSAValue]:
    """The place that is assigned, and the value; for a variable, the value is evaluated first."""
    value = fn.rvalue(e.value) if isinstance(e.target, c.VarRef) else None
    target = fn.place(e.target)
    if value is None:
        value = fn.rvalue(e.value)
    fn.b.at(e.loc)
    return target, value


def compound_assign(fn: FunctionState, e: c.CompoundAssign) -> SSAValue:
    """`a += b` and the like (C11 6.5.16.2), computed in the type that the checker found; the new value."""
    op = e.op[:-1] if e.op.endswith("=") else e.op
    target, value = _operands(fn, e)
    old = places.load(fn, target, volatile=e.volatile)
    t = e.compute_type
    if isinstance(t, PointerType):
        assert isinstance(e.value.type, IntType)
        index = fn.b.resize(value, i64, signed=e.value.type.signed)
        if op == "-":
            index = fn.b.sub_nsw(fn.b.int(0, i64), index)
        new = pointers.element_address(fn, old, index, t.pointee.type, target.hint)
    else:
        wide = arithmetic.convert(fn.b, old, e.target.type, t)
        new = arithmetic.binary(fn.b, op, wide, value, t)
        new = arithmetic.convert(fn.b, new, t, e.target.type)
    return places.store(fn, target, new, volatile=e.volatile)


def increment(fn: FunctionState, e: c.IncDec) -> SSAValue:
    """`++a`, `a--` and the like (C11 6.5.2.4, 6.5.3.1); the value of the expression."""
    target = fn.place(e.target)
    fn.b.at(e.loc)
    old = places.load(fn, target, volatile=e.volatile)
    new = stepped(fn, old, e)
    stored = places.store(fn, target, new, volatile=e.volatile)
    return stored if e.is_prefix else old


def stepped(fn: FunctionState, old: SSAValue, e: c.IncDec) -> SSAValue:
    """`old` plus or minus one, in the type of `e`'s target (C11 6.5.2.4)."""
    t = e.target.type
    op = "+" if e.is_increment else "-"
    if isinstance(t, PointerType):
        one = fn.b.int(1 if e.is_increment else -1, i64)
        return pointers.element_address(fn, old, one, t.pointee.type, describe(e.target))
    if isinstance(t, IntType):
        if t.rank == 0:  # _Bool: ++ gives 1, -- toggles
            one = fn.b.int(1, old.type)
            return one if e.is_increment else fn.b.value(arith.XOrIOp(old, one))
        one = fn.b.int(1, old.type)
        if t.bits < 32:
            # Narrow types are computed in int, so they wrap rather than overflow.
            return fn.b.value((arith.AddiOp if e.is_increment else arith.SubiOp)(old, one))
        return arithmetic.binary(fn.b, op, old, one, t)
    return arithmetic.binary(fn.b, op, old, fn.b.float(1.0, old.type), t)
