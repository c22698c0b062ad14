"""
Tests whether a code is that of a saturated number (docs/compression.md, "Codec"), on the operations with
which `element_code.py` computes codes.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import SSAValue

from ...compiler.base.packed import EXPONENT_OF_ONE, MANTISSA_BITS, Code, PackedFormat
from ..ir.ops.building import Cursor

_UPPER_BITS = 20
"""The mantissa bits in the upper word of a double."""

_INFINITY = {Code.HALF: 0x7C00, Code.BFLOAT16: 0x7F80}
_MAGNITUDE = 0x7FFF


def distance(at: Cursor, fmt: PackedFormat, code: SSAValue) -> tuple[SSAValue, int]:
    """
    An i32 and a limit, such that the i32 is at least the limit exactly if `code` is that of a saturated
    number.
    """
    if not fmt.needs_range:
        return _magnitude(at, code), _INFINITY[fmt.code]
    word = _rounded(code)
    if word is None:
        return at.value(arith.ExtUIOp(is_saturated(at, fmt, code), i32)), 1
    one, bits = EXPONENT_OF_ONE[fmt.base_bits], fmt.bits
    drop = MANTISSA_BITS[fmt.base_bits] - bits
    if fmt.base_bits == 64:
        one >>= 32
        if word.type == i64:
            # The upper word suffices: numbers of the range are further from the ends than the lower word's
            # weight.
            word = at.value(arith.TruncIOp(at.value(arith.ShRUIOp(word, at.i64(32))), i32))
            bits, drop = _UPPER_BITS, 0
        else:
            drop -= 32
    # Counted from the second code, the last lies at the limit, and the first wraps around beyond it.
    second = one + (1 << drop)
    return at.value(arith.AddiOp(word, at.constant(-second, i32))), ((1 << bits) - 2) << drop


def is_saturated(at: Cursor, fmt: PackedFormat, code: SSAValue) -> SSAValue:
    """An i1: `code` is that of a saturated number."""
    if not fmt.needs_range:
        return at.value(
            arith.CmpiOp(_magnitude(at, code), at.i32(_INFINITY[fmt.code]), "eq"), "infinite"
        )
    word = code.type
    assert isinstance(word, IntegerType)
    ones = (1 << word.width.data) - 1
    last = (1 << fmt.bits) - 1
    if ones == last:
        less = at.value(arith.AddiOp(code, at.constant(ones, word)))
        return at.value(arith.CmpiOp(less, at.constant(last - 1, word), "uge"), "extreme")
    first = at.value(arith.CmpiOp(code, at.constant(0, word), "eq"))
    final = at.value(arith.CmpiOp(code, at.constant(last, word), "eq"))
    return at.value(arith.OrIOp(first, final), "extreme")


def _magnitude(at: Cursor, code: SSAValue) -> SSAValue:
    """The code of a half or bfloat16 without its sign, as an i32."""
    return at.value(arith.AndIOp(at.value(arith.ExtUIOp(code, i32)), at.i32(_MAGNITUDE)))


def _rounded(code: SSAValue) -> SSAValue | None:
    """
    The rounded number in [1, 2), or its upper word, of which `code` is the leading mantissa bits; None for
    other codes.
    """
    owner = code.owner
    while isinstance(owner, arith.TruncIOp | arith.AndIOp):
        owner = owner.operands[0].owner
    return owner.lhs if isinstance(owner, arith.ShRUIOp) else None
