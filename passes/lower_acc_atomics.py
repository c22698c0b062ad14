"""
Lower `acc.atomic.*` to LLVM's atomic operations (OpenACC 3.4, 2.12), on both targets and in host code,
since threads of another queue may be running.

Reads and writes are atomic loads and stores. An update is `llvm.atomicrmw` where the hardware has
the operation: `+ - & | ^`, minimum and maximum on 32- and 64-bit integers, `+ -` on f32 and f64, and
replacement. Everything else (`* / << >>`, other types, `e - x`) is a loop around a
compare-and-exchange on the value's bits; its `scf.while` carries `accx.atomic`, so that later passes do not
split it. A capture gives the old or the new value. With a false `if`, the operation is plain. Orderings are
monotonic: OpenACC atomics do not order other accesses.

Takes:  any IR with acc.atomic operations.
Leaves: no acc.atomic operation.
Fails:  on types wider than the hardware's atomics, such as `long double`.

Before:
  acc.atomic.update %x : !llvm.ptr { ^bb0(%old: i32): %new = arith.addi %old, %e : i32  acc.yield %new : i32 }
After:
  %0 = llvm.atomicrmw add %x, %e monotonic : !llvm.ptr, i32
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    IntegerType,
    ModuleOp,
    UnitAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..compiler.base.diagnostics import SourceLoc, error
from ..dialects.accx import ATOMIC
from ..dialects.llvm_ext import AtomicBinOp, AtomicOrdering, AtomicRMWOp, CmpXchgOp
from ..dialects.volatility import set_volatile
from .ir.ops.atomic_updates import RmwMatch, match_rmw
from .ir.ops.building import Cursor, erase
from .ir.ops.layout import size_of

_ATOMIC_WIDTHS = (8, 16, 32, 64)
_ATOMICS = (acc.AtomicReadOp, acc.AtomicWriteOp, acc.AtomicUpdateOp, acc.AtomicCaptureOp)
_ORDERING = AtomicOrdering.monotonic


def _bits_type(op: Operation, type: Attribute) -> IntegerType:
    """
    The integer type of the width of `type`. Raises `CompileError` if no atomic operation has that width.
    """
    if not isinstance(type, llvm.LLVMStructType | llvm.LLVMArrayType):
        bits = 8 * size_of(type)
        if bits in _ATOMIC_WIDTHS:
            return IntegerType(bits)
    raise error(
        SourceLoc.from_attr(op.location),
        f"there is no atomic operation on values of type {type}",
        "use an integer of at most 64 bits, float or double",
    )


def _to_bits(at: Cursor, value: SSAValue, bits: IntegerType) -> SSAValue:
    if isinstance(value.type, llvm.LLVMPointerType):
        return at.value(llvm.PtrToIntOp(value, bits))
    return at.value(arith.BitcastOp(value, bits)) if isinstance(value.type, AnyFloat) else value


def _from_bits(at: Cursor, value: SSAValue, type: Attribute) -> SSAValue:
    if isinstance(type, llvm.LLVMPointerType):
        return at.value(llvm.IntToPtrOp(value))
    return at.value(arith.BitcastOp(value, type)) if isinstance(type, AnyFloat) else value


def _load(at: Cursor, op: Operation, pointer: SSAValue, type: Attribute, atomic: bool) -> SSAValue:
    if not atomic:
        return at.load(pointer, type, "old")
    _bits_type(op, type)
    size = size_of(type)
    load = llvm.LoadOp(pointer, type, alignment=size, ordering=int(_ORDERING))
    # Volatile, so that LLVM does not infer that a kernel only reads its argument: its NVPTX
    # backend fails on an atomic load that the read-only cache could serve.
    set_volatile(load)
    return at.value(load, "old")


def _store(at: Cursor, op: Operation, value: SSAValue, pointer: SSAValue, atomic: bool) -> None:
    if not atomic:
        at.store(value, pointer)
        return
    _bits_type(op, value.type)
    size = size_of(value.type)
    at.insert(llvm.StoreOp(value, pointer, alignment=size, ordering=int(_ORDERING)))


def _inline(at: Cursor, block: Block, old: SSAValue) -> SSAValue:
    """Clones the update in `block`, applied to `old`; returns the new value."""
    values: dict[SSAValue, SSAValue] = {block.args[0]: old}
    for op in block.ops:
        if isinstance(op, acc.YieldOp):
            return values.get(op.operands[0], op.operands[0])
        at.clone(op, values)
    raise AssertionError("an atomic update without a yield")


def _hoist_operand(
    at: Cursor, block: Block, match: RmwMatch
) -> tuple[SSAValue, dict[SSAValue, SSAValue]]:
    """
    Clones the operations that compute the operand of `match` at `at`; returns the operand and the value
    map.
    """
    values: dict[SSAValue, SSAValue] = {}
    for op in block.ops:
        if op is match.op:
            break
        copy = op.clone(values)
        at.insert(copy)
        copy.location = op.location
        values.update(zip(op.results, copy.results, strict=True))
    return values.get(match.operand, match.operand), values


def _update(at: Cursor, op: acc.AtomicUpdateOp, atomic: bool) -> tuple[SSAValue, SSAValue]:
    """Emits the update; returns the old and the new value."""
    block = op.region.block
    type = block.args[0].type
    if not atomic:
        old = at.load(op.x, type, "old")
        new = _inline(at, block, old)
        at.store(new, op.x)
        return old, new
    match = match_rmw(op)
    if match is None:
        return _compare_and_exchange(at, op)
    operand, values = _hoist_operand(at, block, match)
    added = at.value(arith.NegfOp(operand)) if match.negate else operand
    old = at.value(AtomicRMWOp(match.kind, op.x, added, _ORDERING), "old")
    again = match.op.clone({**values, block.args[0]: old})
    return old, at.value(again, "new")


def _compare_and_exchange(at: Cursor, op: acc.AtomicUpdateOp) -> tuple[SSAValue, SSAValue]:
    """
    Emits the loop that retries until no other thread has changed the value in between; returns the old and
    the new value.
    """
    block = op.region.block
    type = block.args[0].type
    bits = _bits_type(op, type)
    first = _load(at, op, op.x, bits, atomic=True)
    before, after = Block(arg_types=[bits]), Block(arg_types=[bits, type])
    loop = scf.WhileOp([first], [bits, type], Region(before), Region(after))
    loop.attributes[ATOMIC] = UnitAttr()
    at.insert(loop)
    body = Cursor.at_end(before, at.loc)
    before.args[0].name_hint = "expected"
    new = _inline(body, block, _from_bits(body, before.args[0], type))
    exchange = CmpXchgOp(op.x, before.args[0], _to_bits(body, new, bits), _ORDERING, _ORDERING)
    pair = body.value(exchange)
    found = body.value(llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [0]), pair, bits), "found")
    done = body.value(llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [1]), pair, i1), "done")
    retry = body.value(arith.XOrIOp(done, body.constant(1, i1)), "retry")
    body.insert(scf.ConditionOp(retry, found, new))
    Cursor.at_end(after, at.loc).insert(scf.YieldOp(after.args[0]))
    return _from_bits(at, loop.results[0], type), loop.results[1]


def _exchange(at: Cursor, op: acc.AtomicWriteOp, atomic: bool) -> SSAValue:
    """Emits the exchange; returns the old value."""
    if not atomic:
        old = at.load(op.x, op.expr.type, "old")
        at.store(op.expr, op.x)
        return old
    bits = _bits_type(op, op.expr.type)
    rmw = AtomicRMWOp(AtomicBinOp.xchg, op.x, _to_bits(at, op.expr, bits), _ORDERING)
    return _from_bits(at, at.value(rmw, "old"), op.expr.type)


def _emit(at: Cursor, op: Operation, atomic: bool) -> None:
    """Emits the atomic operation `op`, or its plain form unless `atomic`."""
    match op:
        case acc.AtomicReadOp():
            at.store(_load(at, op, op.x, op.element_type, atomic), op.v)
        case acc.AtomicWriteOp():
            _store(at, op, op.expr, op.x, atomic)
        case acc.AtomicUpdateOp():
            _, new = _update(at, op, atomic)
            if atomic and not new.uses and isinstance(new.owner, Operation) and match_rmw(op):
                erase(new.owner)
        case acc.AtomicCaptureOp():
            _capture(at, op, atomic)
        case _:
            raise AssertionError(f"{op.name} is not an atomic operation")


def _capture(at: Cursor, op: acc.AtomicCaptureOp, atomic: bool) -> None:
    first, second = list(op.region.block.ops)[:2]
    match first, second:
        case acc.AtomicUpdateOp(), acc.AtomicReadOp():
            at.store(_update(at, first, atomic)[1], second.v)
        case acc.AtomicReadOp(), acc.AtomicUpdateOp():
            at.store(_update(at, second, atomic)[0], first.v)
        case acc.AtomicReadOp(), acc.AtomicWriteOp():
            at.store(_exchange(at, second, atomic), first.v)
        case _:
            raise AssertionError("acc.atomic.capture does not verify")


def _lower(op: Operation, condition: SSAValue | None) -> None:
    at = Cursor.before(op)
    if condition is None:
        _emit(at, op, atomic=True)
    else:
        branches: list[Region] = []
        for atomic in (True, False):
            block = Block()
            inner = Cursor.at_end(block, op.location)
            _emit(inner, op, atomic)
            inner.insert(scf.YieldOp())
            branches.append(Region(block))
        at.insert(scf.IfOp(condition, [], branches[0], branches[1]))
    erase(op)


@dataclass(frozen=True)
class LowerAccAtomicsPass(ModulePass):
    """Atomic directives as LLVM atomics; see the file's docstring."""

    name = "lower-acc-atomics"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        atomics = [
            (found, found.if_cond)
            for found in op.walk()
            if isinstance(found, _ATOMICS)
            and not isinstance(found.parent_op(), acc.AtomicCaptureOp)
        ]
        for atomic, condition in atomics:
            _lower(atomic, condition)
