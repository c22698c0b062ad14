"""
LLVM IR of a scan that finds the range of each member of an array of structures in one pass:

    scan_members(ptr source, i64 rows, ptr result)

A *row* is `records_of_row` structures, read at once: a lane of the vector always sees the same member.
`result` gets the smallest numbers of all lanes, then the largest ones, finite and in the base type; for a
lane without a finite number the smallest is above the largest. There is at least one row.
"""

from __future__ import annotations

from ...compiler.base.packed import PackedFormat
from ..compression.codec_ir import GREATEST, float_text

ROW_BYTES = 128
"""The most lanes of a row, unless a structure has more members: four registers each for minimum and
maximum."""

_FUNCTION = """
declare {vector} @llvm.fabs.v{lanes}f{base}({vector})
declare {vector} @llvm.minnum.v{lanes}f{base}({vector}, {vector})
declare {vector} @llvm.maxnum.v{lanes}f{base}({vector}, {vector})

define void @scan_members(ptr noalias %source, i64 %rows, ptr noalias %result) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %low = phi {vector} [ {greatest}, %entry ], [ %low_next, %loop ]
  %high = phi {vector} [ {least}, %entry ], [ %high_next, %loop ]
  %from = getelementptr inbounds [{lanes} x {real}], ptr %source, i64 %i
  %x = load {vector}, ptr %from, align {align}
  %size = call {vector} @llvm.fabs.v{lanes}f{base}({vector} %x)
  %finite = fcmp olt {vector} %size, {infinity}
  %x_low = select <{lanes} x i1> %finite, {vector} %x, {vector} {greatest}
  %x_high = select <{lanes} x i1> %finite, {vector} %x, {vector} {least}
  %low_next = call nnan nsz {vector} @llvm.minnum.v{lanes}f{base}({vector} %low, {vector} %x_low)
  %high_next = call nnan nsz {vector} @llvm.maxnum.v{lanes}f{base}({vector} %high, {vector} %x_high)
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %rows
  br i1 %more, label %loop, label %done
done:
  store {vector} %low_next, ptr %result, align {align}
  %second = getelementptr [{lanes} x {real}], ptr %result, i64 1
  store {vector} %high_next, ptr %second, align {align}
  ret void
}}
"""


def records_of_row(fmt: PackedFormat) -> int:
    """The number of structures that are read at once."""
    return max(1, ROW_BYTES // fmt.record_bytes)


def member_scan_ir(fmt: PackedFormat) -> str:
    """The function, and the intrinsic functions it calls, for a format with several members."""
    real = "float" if fmt.base_bits == 32 else "double"
    lanes = records_of_row(fmt) * fmt.members

    def splat(value: float) -> str:
        return f"splat ({real} {float_text(value)})"

    return _FUNCTION.format(
        real=real,
        base=fmt.base_bits,
        lanes=lanes,
        vector=f"<{lanes} x {real}>",
        align=fmt.base_bytes,
        greatest=splat(GREATEST[fmt.base_bits]),
        least=splat(-GREATEST[fmt.base_bits]),
        infinity=splat(float("inf")),
    )
