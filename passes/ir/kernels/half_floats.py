"""
Conversions between f16 and types wider than f32, for host code. LLVM would call functions for them that
libgcc has only since GCC 12.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute, SSAValue

from ..ops.building import Cursor


def widened_twice(at: Cursor, x: SSAValue, type: Attribute) -> SSAValue:
    """An f16 as a wider `type`, by way of f32."""
    return at.value(arith.ExtFOp(at.value(arith.ExtFOp(x, f32)), type), x.name_hint)


def rounded_once(at: Cursor, x: SSAValue, type: Attribute) -> SSAValue:
    """
    `x`, wider than f32, rounded to the narrower `type`, by way of the f32 next to `x` of which the last
    digit is odd, unless `x` is an f32: the type rounds that as it rounds `x` (Boldo and Melquiond,
    "Emulation of a FMA and correctly rounded sums", 2008).
    """
    near = at.value(arith.TruncFOp(x, f32))
    back = at.value(arith.ExtFOp(near, x.type))
    bits = at.value(arith.BitcastOp(near, i32))
    negative = at.value(arith.CmpiOp(bits, at.i32(0), "slt"))
    above = at.value(arith.CmpfOp(back, x, "ogt"))
    beyond = at.value(arith.ExtUIOp(at.value(arith.XOrIOp(above, negative)), i32), "beyond")
    odd = at.value(arith.OrIOp(at.value(arith.SubiOp(bits, beyond)), at.i32(1)), "odd")
    exact = at.value(arith.CmpfOp(back, x, "ueq"), "exact")
    single = at.value(arith.BitcastOp(at.value(arith.SelectOp(exact, bits, odd)), f32))
    return at.value(arith.TruncFOp(single, type), x.name_hint)
