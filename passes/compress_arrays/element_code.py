"""
The operations that decode a loaded element and encode a stored one (docs/compression.md, "Codec").

`runtime/compression/codec_ir.py` emits the same operations for whole arrays on the host: both must give the
same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, llvm, math
from xdsl.dialects.builtin import (
    Float16Type,
    IntegerAttr,
    IntegerType,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.base.packed import BFLOAT16_NAN, EXPONENT_OF_ONE, HALF_NAN, MANTISSA_BITS, Code
from ...dialects.accx_compress import COUNTED, CoefficientsOp, PackedType
from ..ir.ops.building import Cursor

f16 = Float16Type()
_UPPER_ONE = EXPONENT_OF_ONE[64] >> 32
_COEFFICIENTS = ("c0", "c1", "inverse", "offset", "plane", "counter")


@dataclass(frozen=True)
class ElementCode:
    """
    The code of one array, or of one member: its format and its coefficients. `number` identifies the array
    for `count-saturated-stores`, which counts its saturated stores; None if they are not counted.
    """

    packed: PackedType
    coefficients: CoefficientsOp
    number: int | None = None

    @staticmethod
    def before(
        construct: Operation,
        device: SSAValue,
        packed: PackedType,
        name: str,
        number: int | None,
        member: int = 0,
    ) -> ElementCode:
        """The code of array `name` (or of its `member`), with coefficients read before `construct`."""
        op = Cursor.before(construct).insert(CoefficientsOp(device, packed.base, member))
        prefix = f"{name}_{member}" if member else name
        for result, hint in zip(op.results, _COEFFICIENTS, strict=True):
            result.name_hint = f"{prefix}_{hint}"
        if number is not None:
            op.attributes[COUNTED] = IntegerAttr(number, i32)
        return ElementCode(packed, op, number)

    @property
    def integer(self) -> IntegerType:
        """The integer type that is loaded and stored."""
        return IntegerType(8 * self.packed.format.storage_bytes)

    @property
    def memory_type(self) -> Attribute:
        """The element type of subscripts: an integer whose size LLVM does not pad."""
        size = self.packed.format.storage_bytes
        return self.integer if size in (1, 2, 4, 8) else llvm.LLVMArrayType(size, i8)

    @property
    def alignment(self) -> int:
        size = self.packed.format.storage_bytes
        return size if size in (1, 2, 4, 8) else 1

    def decode(self, at: Cursor, code: SSAValue, hint: str | None) -> SSAValue:
        """The number that the loaded integer `code` encodes."""
        fmt = self.packed.format
        if not fmt.needs_range:
            return self._decode_small(at, code, hint)
        word = IntegerType(fmt.base_bits)
        drop = MANTISSA_BITS[fmt.base_bits] - fmt.bits
        c0, c1 = self.coefficients.c0, self.coefficients.c1
        if fmt.base_bits == 64 and drop >= 32:
            return at.value(math.FmaOp(self._upper_half(at, code, drop), c0, c1), hint)
        wide = at.value(arith.ExtUIOp(code, word))
        moved = at.value(arith.ShLIOp(wide, at.constant(drop, word)))
        one = at.constant(EXPONENT_OF_ONE[fmt.base_bits], word)
        bits = at.value(arith.OrIOp(moved, one))
        t = at.value(arith.BitcastOp(bits, self.packed.base), "t")
        return at.value(math.FmaOp(t, c0, c1), hint)

    def encode(self, at: Cursor, number: SSAValue) -> SSAValue:
        """
        The integer that is stored for `number`: the nearest code, for numbers beyond the range the first or
        last one.
        """
        code = self._encode(at, number)
        if self.number is not None and isinstance(code.owner, Operation):
            code.owner.attributes[COUNTED] = IntegerAttr(self.number, i32)
        return code

    def _encode(self, at: Cursor, number: SSAValue) -> SSAValue:
        fmt = self.packed.format
        if not fmt.needs_range:
            return self._encode_small(at, number)
        base, word = self.packed.base, IntegerType(fmt.base_bits)
        drop = MANTISSA_BITS[fmt.base_bits] - fmt.bits
        centred = fmt.code == Code.CENTRED
        offset = self.coefficients.offset if centred else at.constant(1.5, base)
        t = at.value(math.FmaOp(number, self.coefficients.inverse, offset), "t")
        if fmt.base_bits == 64 and drop > 32:
            return self._encode_upper_half(at, t, drop)
        least, greatest = at.constant(1.0, base), at.constant(2.0 - 2.0**-fmt.bits, base)
        # Ordered comparisons: a NaN becomes the least code.
        above = at.value(arith.CmpfOp(t, least, "ogt"))
        low = at.value(arith.SelectOp(above, t, least))
        below = at.value(arith.CmpfOp(low, greatest, "olt"))
        kept = at.value(arith.SelectOp(below, low, greatest), "saturated")
        raw = at.value(arith.BitcastOp(kept, word))
        rounded = at.value(arith.AddiOp(raw, at.constant(1 << (drop - 1), word)))
        code = at.value(arith.ShRUIOp(rounded, at.constant(drop, word)))
        if fmt.bits != 8 * fmt.storage_bytes:
            code = at.value(arith.AndIOp(code, at.constant((1 << fmt.bits) - 1, word)))
        return at.value(arith.TruncIOp(code, self.integer), "code")

    def _upper_half(self, at: Cursor, code: SSAValue, drop: int) -> SSAValue:
        """The double in [1, 2) whose mantissa begins with `code`, of which the lower word is 0."""
        moved = at.value(arith.ShLIOp(at.value(arith.ExtUIOp(code, i32)), at.i32(drop - 32)))
        upper = at.value(arith.OrIOp(moved, at.i32(_UPPER_ONE)))
        wide = at.value(arith.ExtUIOp(upper, i64))
        bits = at.value(arith.ShLIOp(wide, at.i64(32)))
        return at.value(arith.BitcastOp(bits, f64), "t")

    def _encode_upper_half(self, at: Cursor, t: SSAValue, drop: int) -> SSAValue:
        """
        As `encode`, in the upper word alone: half the instructions of 64-bit arithmetic, which limits
        kernels with this format. Rounding cannot carry out of the lower word.
        """
        bits = self.packed.format.bits
        raw = at.value(arith.BitcastOp(t, i64))
        upper = at.value(arith.TruncIOp(at.value(arith.ShRUIOp(raw, at.i64(32))), i32))
        rounded = at.value(arith.AddiOp(upper, at.i32(1 << (drop - 33))))
        above = at.value(arith.CmpfOp(t, at.constant(1.0, f64), "ogt"))
        low = at.value(arith.SelectOp(above, rounded, at.i32(_UPPER_ONE)))
        greatest = _UPPER_ONE | ((1 << bits) - 1) << (drop - 32)
        kept = at.value(arith.MinUIOp(low, at.i32(greatest)), "saturated")
        code = at.value(arith.ShRUIOp(kept, at.i32(drop - 32)))
        if bits != 8 * self.packed.format.storage_bytes:
            code = at.value(arith.AndIOp(code, at.i32((1 << bits) - 1)))
        if self.integer == i32:
            return code
        return at.value(arith.TruncIOp(code, self.integer), "code")

    def _decode_small(self, at: Cursor, code: SSAValue, hint: str | None) -> SSAValue:
        if self.packed.format.code == Code.PLAIN:
            return at.value(arith.BitcastOp(code, self.packed.base), hint)
        if self.packed.format.code == Code.HALF:
            half = at.value(arith.BitcastOp(code, f16))
            single = at.value(arith.ExtFOp(half, f32), hint)
        else:
            wide = at.value(arith.ExtUIOp(code, i32))
            bits = at.value(arith.ShLIOp(wide, at.i32(16)))
            single = at.value(arith.BitcastOp(bits, f32), hint)
        if self.packed.base == f64:
            return at.value(arith.ExtFOp(single, f64), hint)
        return single

    def _encode_small(self, at: Cursor, number: SSAValue) -> SSAValue:
        if self.packed.format.code == Code.PLAIN:
            return at.value(arith.BitcastOp(number, self.integer))
        if number.type == f64:
            number = at.value(arith.TruncFOp(number, f32))
        nan = at.value(arith.CmpfOp(number, number, "uno"))
        if self.packed.format.code == Code.HALF:
            near = at.value(arith.BitcastOp(at.value(arith.TruncFOp(number, f16)), i16))
            return at.value(arith.SelectOp(nan, at.constant(HALF_NAN, i16), near), "code")
        # Round to nearest even by hand: a conversion to bfloat is a library call on many hosts.
        raw = at.value(arith.BitcastOp(number, i32))
        up = at.value(arith.ShRUIOp(raw, at.i32(16)))
        odd = at.value(arith.AndIOp(up, at.i32(1)))
        bias = at.value(arith.AddiOp(odd, at.i32(0x7FFF)))
        near = at.value(arith.ShRUIOp(at.value(arith.AddiOp(raw, bias)), at.i32(16)))
        code = at.value(arith.SelectOp(nan, at.i32(BFLOAT16_NAN), near))
        return at.value(arith.TruncIOp(code, i16), "code")
