"""
Native code that finds the range of numbers in host memory while a transfer reads them (`transfer.py`):

    scan32, scan64(ptr source, i64 count, ptr result)
    scan_copy32, scan_copy64(ptr target, ptr source, i64 count, ptr result)

`result` gets the smallest and the largest finite number, as doubles; if no number is finite, the first is
larger than the second.

The loops use compare and select, which ignores NaNs, +inf for the smallest and -inf for the largest number.
If an infinity remains, the piece is read again by the codec's loop (`codec_ir.py`), which tests every
number. That is rare, and with two operations per number instead of six a thread reads as fast as the memory
allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...compiler.base.packed import Code, PackedFormat
from ..compression.codec_ir import GREATEST, SCAN_RESULT, declarations, float_text, scan_loop
from .code import NativeCode

VECTOR_BYTES = 64
VECTORS = 2
"""The vectors in each pass of a loop, whose minima are independent of each other."""

PREFETCH = 2 << 10
"""The distance in bytes of prefetches, which are a tenth faster than the processor's own."""


@dataclass(frozen=True, slots=True)
class NativeScan:
    """The compiled functions for numbers of one size."""

    bytes: int
    scan: int
    scan_copy: int


_FUNCTION = """
define void @{name}({target}ptr noalias %source, i64 %count, ptr noalias %result) {{
entry:
  %whole = and i64 %count, -{step}
  %any = icmp sgt i64 %whole, 0
  br i1 %any, label %loop, label %rest
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{loop}
  %next = add nuw nsw i64 %i, {step}
  %more = icmp slt i64 %next, %whole
  br i1 %more, label %loop, label %rest
rest:
{rest}
  %tail = sub i64 %count, %whole
  %tail_at = getelementptr inbounds {real}, ptr %source, i64 %whole
{copy_tail}
  call void @careful{bits}(ptr %tail_at, i64 %tail, ptr %result)
  %low_tail = load double, ptr %result
  %second = getelementptr double, ptr %result, i64 1
  %high_tail = load double, ptr %second
  %lower = fcmp olt double %low_tail, %low
  %low_all = select i1 %lower, double %low_tail, double %low
  %higher = fcmp ogt double %high_tail, %high
  %high_all = select i1 %higher, double %high_tail, double %high
  store double %low_all, ptr %result
  store double %high_all, ptr %second
  %low_finite = fcmp ogt double %low_all, {minus_infinity}
  %high_finite = fcmp olt double %high_all, {infinity}
  %finite = and i1 %low_finite, %high_finite
  br i1 %finite, label %done, label %again
again:
  call void @careful{bits}(ptr %source, i64 %count, ptr %result)
  br label %done
done:
  ret void
}}
"""


def scan_ir(base_bits: int) -> str:
    """LLVM IR of the functions for numbers of `base_bits` bits."""
    fmt = PackedFormat(base_bits, Code.RANGE, 8)
    careful = scan_loop(fmt, SCAN_RESULT).function(
        f"internal void @careful{base_bits}(ptr noalias %source, i64 %count, ptr noalias %result) noinline"
    )
    real, lanes = _types(base_bits)
    declared = "".join(
        f"declare {real} @{_reduction(base_bits, name)}(<{lanes} x {real}>)\n"
        for name in ("fmin", "fmax")
    )
    declared += "declare ptr @memcpy(ptr, ptr, i64)\n"
    declared += "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
    functions = _function(base_bits, copies=False) + _function(base_bits, copies=True)
    return functions + careful + declarations(fmt) + declared


def _types(base_bits: int) -> tuple[str, int]:
    return ("float", VECTOR_BYTES // 4) if base_bits == 32 else ("double", VECTOR_BYTES // 8)


def _reduction(base_bits: int, name: str) -> str:
    return f"llvm.vector.reduce.{name}.v{_types(base_bits)[1]}f{base_bits}"


def _function(base_bits: int, *, copies: bool) -> str:
    real, lanes = _types(base_bits)
    size, step = base_bits // 8, lanes * VECTORS
    copy_tail = f"""  %target_tail = getelementptr inbounds {real}, ptr %target, i64 %whole
  %tail_bytes = mul i64 %tail, {size}
  %copied = call ptr @memcpy(ptr %target_tail, ptr %tail_at, i64 %tail_bytes)"""
    return _FUNCTION.format(
        name=f"scan_copy{base_bits}" if copies else f"scan{base_bits}",
        target="ptr noalias %target, " if copies else "",
        step=step,
        loop=_loop(base_bits, copies=copies),
        rest=_rest(base_bits),
        real=real,
        bits=base_bits,
        copy_tail=copy_tail if copies else "",
        infinity=float_text(float("inf")),
        minus_infinity=float_text(-float("inf")),
    )


def _loop(base_bits: int, *, copies: bool) -> str:
    """The code of one pass: loads the vectors and updates the smallest and largest number in each of their
    lanes."""
    real, lanes = _types(base_bits)
    vector = f"<{lanes} x {real}>"
    greatest, least = (float_text(sign * GREATEST[base_bits]) for sign in (1, -1))
    carried, body = "", ""
    for k in range(VECTORS):
        for name, start in (("low", greatest), ("high", least)):
            first = f"splat ({real} {start})"
            carried += (
                f"  %{name}{k} = phi {vector} [ {first}, %entry ], [ %{name}_next{k}, %loop ]\n"
            )
        body += f"""  %at{k} = add nuw nsw i64 %i, {k * lanes}
  %from{k} = getelementptr inbounds {real}, ptr %source, i64 %at{k}
  %soon{k} = getelementptr i8, ptr %from{k}, i64 {PREFETCH}
  call void @llvm.prefetch.p0(ptr %soon{k}, i32 0, i32 3, i32 1)
  %x{k} = load {vector}, ptr %from{k}, align {base_bits // 8}
  %less{k} = fcmp olt {vector} %x{k}, %low{k}
  %low_next{k} = select <{lanes} x i1> %less{k}, {vector} %x{k}, {vector} %low{k}
  %more{k} = fcmp ogt {vector} %x{k}, %high{k}
  %high_next{k} = select <{lanes} x i1> %more{k}, {vector} %x{k}, {vector} %high{k}
"""
        if copies:
            body += f"""  %to{k} = getelementptr inbounds {real}, ptr %target, i64 %at{k}
  store {vector} %x{k}, ptr %to{k}, align {base_bits // 8}
"""
    return carried + body


def _rest(base_bits: int) -> str:
    """Code that computes `%low` and `%high`, the smallest and the largest number of all lanes, as
    doubles."""
    real, lanes = _types(base_bits)
    vector = f"<{lanes} x {real}>"
    text = after = ""
    for name, sign, relation, reduce in (("low", 1, "olt", "fmin"), ("high", -1, "ogt", "fmax")):
        start = f"splat ({real} {float_text(sign * GREATEST[base_bits])})"
        for k in range(VECTORS):
            text += (
                f"  %{name}_end{k} = phi {vector} [ {start}, %entry ], [ %{name}_next{k}, %loop ]\n"
            )
        best = f"%{name}_end0"
        for k in range(1, VECTORS):
            other, new = f"%{name}_end{k}", f"%{name}_best{k}"
            after += f"""  %{name}_is{k} = fcmp {relation} {vector} {other}, {best}
  {new} = select <{lanes} x i1> %{name}_is{k}, {vector} {other}, {vector} {best}
"""
            best = new
        after += (
            f"  %{name}_one = call nnan {real} @{_reduction(base_bits, reduce)}({vector} {best})\n"
        )
        after += (
            f"  %{name} = fpext float %{name}_one to double\n"
            if base_bits == 32
            else f"  %{name} = fadd double %{name}_one, -0.0\n"
        )
    return text + after


def native_scan(base_bits: int) -> tuple[NativeScan, object]:
    """The compiled functions, and an object that must live as long as they are used."""
    code = NativeCode(scan_ir(base_bits), optimize=3)
    names = (f"scan{base_bits}", f"scan_copy{base_bits}")
    return NativeScan(base_bits // 8, *map(code.address, names)), code


EMPTY = (GREATEST[64], -GREATEST[64])
"""The range of an empty set of numbers."""


def union(ranges: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The union of ranges; (0, 0) if all are empty."""
    lows, highs = zip(EMPTY, *ranges, strict=True)
    low, high = min(lows), max(highs)
    return (low, high) if low <= high else (0.0, 0.0)
