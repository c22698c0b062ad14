"""
Atomic operations (`c.AtomicOp`) as LLVM's (LangRef, "Atomic Memory Ordering Constraints"), on integers as
wide as the object.
"""

from __future__ import annotations

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Attribute, SSAValue

from ...dialects.llvm_ext import AtomicBinOp, AtomicOrdering, AtomicRMWOp, CmpXchgOp, FenceOp
from ..c import ast as c
from ..c.types import CType, PointerType, RecordType
from .function import FunctionState

_ORDERS = (
    AtomicOrdering.monotonic,
    AtomicOrdering.acquire,  # consume
    AtomicOrdering.acquire,
    AtomicOrdering.release,
    AtomicOrdering.acq_rel,
    AtomicOrdering.seq_cst,
)
_UPDATES = {
    "+": AtomicBinOp.add,
    "-": AtomicBinOp.sub,
    "&": AtomicBinOp.and_,
    "|": AtomicBinOp.or_,
    "^": AtomicBinOp.xor,
    "nand": AtomicBinOp.nand,
    "exchange": AtomicBinOp.xchg,
}
_AFTER = {
    "+": arith.AddiOp,
    "-": arith.SubiOp,
    "&": arith.AndIOp,
    "|": arith.OrIOp,
    "^": arith.XOrIOp,
}
"""Operator → the operation that computes the new value from the old one."""
_LOADS = {
    AtomicOrdering.release: AtomicOrdering.monotonic,
    AtomicOrdering.acq_rel: AtomicOrdering.acquire,
}
_STORES = {
    AtomicOrdering.acquire: AtomicOrdering.monotonic,
    AtomicOrdering.acq_rel: AtomicOrdering.release,
}


def rvalue(fn: FunctionState, e: c.AtomicOp) -> SSAValue | None:
    """The value of an atomic operation; None for stores and fences."""
    order = _ORDERS[e.order]
    if e.op == "fence":
        fn.b.at(e.loc)
        if order is not AtomicOrdering.monotonic:
            fn.b.add(FenceOp(order))
        return None
    assert e.pointer is not None
    pointer = fn.rvalue(e.pointer)
    operands = [fn.rvalue(operand) for operand in e.operands]
    fn.b.at(e.loc)
    bits, size = IntegerType(8 * e.of.size), e.of.size
    match e.op:
        case "load":
            kind = _LOADS.get(order, order)
            found = fn.b.value(llvm.LoadOp(pointer, bits, size, int(kind)), "atomic")
            return _from_bits(fn, found, e.of)
        case "store":
            kind = _STORES.get(order, order)
            value = _to_bits(fn, operands[0], e.of)
            fn.b.add(llvm.StoreOp(value, pointer, size, int(kind)))
            return None
        case "compare":
            return _compare(fn, e, pointer, operands)
        case "swap" | "swapped":
            expected, new = (_to_bits(fn, operand, e.of) for operand in operands)
            swap = CmpXchgOp(pointer, expected, new, order, order, alignment=size)
            pair = fn.b.value(swap, "swap")
            if e.op == "swapped":
                return _from_bits(fn, _part(fn, pair, 0), e.of)
            return _as_bool(fn, _part(fn, pair, 1))
        case _:
            return _update(fn, e, pointer, operands[0], order)


def _update(
    fn: FunctionState, e: c.AtomicOp, pointer: SSAValue, operand: SSAValue, order: AtomicOrdering
) -> SSAValue:
    value = operand if e.op in "+-" and operand.type == i64 else _to_bits(fn, operand, e.of)
    rmw = AtomicRMWOp(_UPDATES[e.op], pointer, value, order, alignment=e.of.size)
    old = fn.b.value(rmw, "old")
    if e.before or e.op == "exchange":
        return _from_bits(fn, old, e.of)
    if e.op == "nand":
        both = fn.b.value(arith.AndIOp(old, value))
        new = fn.b.value(arith.XOrIOp(both, fn.b.int(-1, both.type)))
    else:
        new = fn.b.value(_AFTER[e.op](old, value))
    return _from_bits(fn, new, e.of)


def _compare(
    fn: FunctionState, e: c.AtomicOp, pointer: SSAValue, operands: list[SSAValue]
) -> SSAValue:
    """Compare and exchange; the value found is stored over the expected one."""
    bits, size = IntegerType(8 * e.of.size), e.of.size
    expected = fn.b.value(llvm.LoadOp(operands[0], bits, 1), "expected")
    failure = _LOADS.get(_ORDERS[e.failure], _ORDERS[e.failure])
    new = _to_bits(fn, operands[1], e.of)
    swap = CmpXchgOp(pointer, expected, new, _ORDERS[e.order], failure, alignment=size)
    pair = fn.b.value(swap, "swap")
    fn.b.add(llvm.StoreOp(_part(fn, pair, 0), operands[0], 1))
    return _as_bool(fn, _part(fn, pair, 1))


def _part(fn: FunctionState, pair: SSAValue, index: int) -> SSAValue:
    assert isinstance(pair.type, llvm.LLVMStructType)
    kind: Attribute = pair.type.types.data[index]
    return fn.b.part(pair, index, kind)


def _as_bool(fn: FunctionState, truth: SSAValue) -> SSAValue:
    return fn.b.resize(truth, IntegerType(8), signed=False)


def _to_bits(fn: FunctionState, value: SSAValue, t: CType) -> SSAValue:
    """A value of type `t` as the integer that memory holds."""
    bits = IntegerType(8 * t.size)
    if isinstance(t, PointerType):
        return fn.b.to_int(value)
    if isinstance(t, RecordType) or (isinstance(value.type, AnyFloat) and t.size == 16):
        held = fn.scratch(value.type, 16, "atomic")
        fn.b.store(value, held)
        return fn.b.load(held, bits)
    return fn.b.value(arith.BitcastOp(value, bits)) if isinstance(value.type, AnyFloat) else value


def _from_bits(fn: FunctionState, value: SSAValue, t: CType) -> SSAValue:
    """The value of type `t` that memory holds as an integer."""
    kind = fn.module.types.convert(t)
    if isinstance(t, PointerType):
        return fn.b.value(llvm.IntToPtrOp(value), "atomic")
    if isinstance(t, RecordType) or (isinstance(kind, AnyFloat) and t.size == 16):
        held = fn.scratch(value.type, 16, "atomic")
        fn.b.store(value, held)
        return fn.b.load(held, kind)
    return fn.b.value(arith.BitcastOp(value, kind)) if isinstance(kind, AnyFloat) else value
