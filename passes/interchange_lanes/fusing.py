"""
Fuses products with sums, before a loop runs in lanes, where LLVM may fuse them (C17 6.5 p8).

Which iterations run in lanes depends on where a thread's range ends, so both codes must compute the same
bits. LLVM would fuse other products in lanes: not those that are the same for all lanes, which are computed
once, and maybe another one of two in a sum. It would also vectorise sums in order in the remaining
iterations, with the products apart.
"""

from __future__ import annotations

from collections.abc import Container

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerAttr, UnitAttr, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import SSAValue

from ...dialects import llvm_ext
from ...dialects.accx import INTERLEAVE, UNFUSED, VECTOR_WIDTH
from ..ir.loops.waiting_loops import waiting_cycles
from ..ir.ops.building import Cursor, erase


def fuse_products(loop: scf.ForOp, varying: Container[SSAValue]) -> None:
    """
    Fuses each sum in a loop with its first product that is not the same for all lanes (unless the sum is),
    and marks products so that LLVM fuses no others. `varying`: the values that differ between lanes.
    """
    for op in list(loop.body.walk()):
        if not isinstance(op, arith.AddfOp | arith.SubfOp):
            continue
        is_usual = isinstance(op.result.type, Float32Type | Float64Type)
        if is_usual and FastMathFlag.REASSOC not in op.fastmath.data:
            _fuse(op, varying)


def _fuse(op: arith.AddfOp | arith.SubfOp, varying: Container[SSAValue]) -> None:
    chosen: tuple[arith.MulfOp, bool, SSAValue] | None = None
    subtracts = isinstance(op, arith.SubfOp)
    for term, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        product, negative = _product(term)
        if product is None:
            continue
        product.attributes[UNFUSED] = UnitAttr()
        if chosen is None and (product.result in varying or op.result not in varying):
            chosen = product, negative != (subtracts and term is op.rhs), other
    if chosen is None:
        return
    product, negative, other = chosen
    at = Cursor.before(op)
    left = at.value(arith.NegfOp(product.lhs)) if negative else product.lhs
    if subtracts and other is op.rhs:
        other = at.value(arith.NegfOp(other))
    result = at.value(llvm_ext.FMulAddOp(left, product.rhs, other), op.result.name_hint)
    op.result.replace_all_uses_with(result)
    erase(op)


def _product(value: SSAValue) -> tuple[arith.MulfOp | None, bool]:
    """The product that a value is, and whether it is negated."""
    negative = False
    while isinstance(value.owner, arith.NegfOp):
        value, negative = value.owner.operand, not negative
    return (value.owner if isinstance(value.owner, arith.MulfOp) else None), negative


def keep_in_order(loop: scf.ForOp) -> None:
    """Keeps LLVM from vectorising loops in the remaining iterations whose sums are in order."""
    for op in loop.body.walk():
        if isinstance(op, scf.ForOp) and waiting_cycles(op):
            op.attributes[VECTOR_WIDTH] = op.attributes[INTERLEAVE] = IntegerAttr(1, i32)
