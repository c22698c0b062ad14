"""
The descriptor of a compressed array, to which its data record points (`compiler/base/abi.py`,
`Compression`): host code fills it, and reads the coefficients from it after the runtime has entered the
record.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import f64
from xdsl.ir import Operation, SSAValue

from ...compiler.base.abi import Compression, CompressionFlag
from ...dialects.accx_compress import COUNTED, DECODES, PACKED, CoefficientsOp, PackedType, RangeOp
from ..ir.kernels.outline import DATA_ENTRY
from ..ir.ops.building import Cursor

_WORD, _WORDS = 8, 4
"""The bytes of a coefficient, and the coefficients of a member, in the table of a `Compression`."""


@dataclass(frozen=True)
class Packing:
    """The packed form of an array, as a data operation describes it."""

    packed: PackedType
    decodes: bool
    range: tuple[SSAValue, SSAValue] | None
    device: SSAValue

    @staticmethod
    def of(entry: Operation) -> Packing | None:
        """The packing of a data entry operation; None for plain data."""
        packed = entry.attributes.get(PACKED)
        if not isinstance(packed, PackedType) or not isinstance(entry, DATA_ENTRY):
            return None
        ranges = [u.operation for u in entry.acc_var.uses if isinstance(u.operation, RangeOp)]
        limits = (ranges[0].minimum, ranges[0].maximum) if ranges else None
        return Packing(packed, DECODES in entry.attributes, limits, entry.acc_var)

    @property
    def words(self) -> int:
        """
        The number of 64-bit words of the descriptor; for kernels there is space for coefficients after it.
        """
        coefficients = _WORDS * self.packed.members.data if self.decodes else 0
        return ctypes.sizeof(Compression) // 8 + coefficients

    def fill(self, at: Cursor, memory: SSAValue, shape: SSAValue) -> None:
        """Writes the descriptor at `memory`; `shape` is the address of the section's shape, or 0."""
        flags = CompressionFlag(0)
        if self.decodes:
            flags |= CompressionFlag.DECODES
            counted = any(
                isinstance(u.operation, CoefficientsOp) and COUNTED in u.operation.attributes
                for u in self.device.uses
            )
            flags |= CompressionFlag(0) if counted else CompressionFlag.UNCOUNTED
        if self.range is not None:
            flags |= CompressionFlag.HAS_RANGE
            at.store(self.range[0], at.field(memory, Compression.minimum.offset))
            at.store(self.range[1], at.field(memory, Compression.maximum.offset))
        head = int(flags) << 32 | self.packed.format.word
        at.store(at.i64(head), memory)
        at.store(shape, at.field(memory, Compression.shape.offset))
        if self.decodes:
            # If there is nothing to enter, the runtime writes no coefficients, and any will do.
            table = at.field(memory, ctypes.sizeof(Compression))
            at.store(table, at.field(memory, Compression.coefficients.offset))


def read_coefficients(at: Cursor, memory: SSAValue, op: CoefficientsOp) -> None:
    """
    Replaces the results of `op` by loads from the descriptor at `memory`, and from the table to which it
    points.
    """
    for result, place in ((op.plane, Compression.plane), (op.counter, Compression.counter)):
        if result.uses:
            value = at.load(at.field(memory, place.offset), result.type, result.name_hint)
            result.replace_all_uses_with(value)
    used = [(i, r) for i, r in enumerate((op.c0, op.c1, op.inverse, op.offset)) if r.uses]
    if not used:
        return
    place = at.field(memory, Compression.coefficients.offset)
    table = at.load(place, llvm.LLVMPointerType(), "coefficients")
    for number, result in used:
        field = at.field(table, _WORD * (_WORDS * op.number + number))
        value = at.load(field, f64, result.name_hint)
        if result.type != f64:
            value = at.value(arith.TruncFOp(value, result.type), result.name_hint)
        result.replace_all_uses_with(value)
