"""
LLVM IR of the codec's loops over arrays, for the host: one module per packed format.

    encode(ptr target, ptr source, i64 count, double inverse) -> i32 saturated
    decode(ptr target, ptr source, i64 count, double c0, double c1) -> i32 saturated
    encode_strided, decode_strided: with an i64 stride, that of the plain numbers
    scan(ptr source, i64 count, ptr result)      minimum, maximum of the finite numbers (two doubles)
    measure(ptr source, i64 count, double c0, double c1, double inverse, ptr result)
                                largest absolute and relative error of the round trip (two doubles)

The loops are plain; LLVM vectorises them. The element operations are those that
`passes/compression/element_code.py` puts into kernels, so that every target has the same bits.
"""

from __future__ import annotations

import struct
import sys

from .packed import EXPONENT_OF_ONE, MANTISSA_BITS, Code, PackedFormat

_GREATEST = {32: 2.0**128 - 2.0**104, 64: sys.float_info.max}


def float_text(value: float) -> str:
    """A constant as LLVM writes it, exactly: the bits of the double."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def _limit(fmt: PackedFormat) -> str:
    return float_text(2.0 - 2.0**-fmt.bits)


def _encode_range(fmt: PackedFormat) -> str:
    word, real = f"i{fmt.base_bits}", _real(fmt)
    drop = MANTISSA_BITS[fmt.base_bits] - fmt.bits
    one, limit, middle = float_text(1.0), _limit(fmt), float_text(1.5)
    mask = (1 << fmt.bits) - 1
    return f"""
  %t = call {real} @llvm.fma.f{fmt.base_bits}({real} %x, {real} %inverse, {real} {middle})
  %above = fcmp ogt {real} %t, {one}
  %low = select i1 %above, {real} %t, {real} {one}
  %below = fcmp olt {real} %low, {limit}
  %kept = select i1 %below, {real} %low, {real} {limit}
  %raw = bitcast {real} %kept to {word}
  %rounded = add {word} %raw, {1 << (drop - 1)}
  %shifted = lshr {word} %rounded, {drop}
  %code = and {word} %shifted, {mask}
  %q = trunc {word} %code to i{8 * fmt.storage_bytes}
"""


def _decode_range(fmt: PackedFormat) -> str:
    word, real = f"i{fmt.base_bits}", _real(fmt)
    drop = MANTISSA_BITS[fmt.base_bits] - fmt.bits
    return f"""
  %wide = zext i{8 * fmt.storage_bytes} %q to {word}
  %moved = shl {word} %wide, {drop}
  %bits = or {word} %moved, {EXPONENT_OF_ONE[fmt.base_bits]}
  %t2 = bitcast {word} %bits to {real}
  %y = call {real} @llvm.fma.f{fmt.base_bits}({real} %t2, {real} %c0, {real} %c1)
"""


def _encode_small(fmt: PackedFormat) -> str:
    if fmt.code == Code.PLAIN:
        return f"  %q = bitcast {_real(fmt)} %x to i{fmt.base_bits}\n"
    narrow = "" if fmt.base_bits == 32 else "  %n = fptrunc double %x to float\n"
    name = "%x" if fmt.base_bits == 32 else "%n"
    if fmt.code == Code.HALF:
        return f"{narrow}  %h = fptrunc float {name} to half\n  %q = bitcast half %h to i16\n"
    return f"""{narrow}
  %raw = bitcast float {name} to i32
  %up = lshr i32 %raw, 16
  %odd = and i32 %up, 1
  %bias = add i32 %odd, 32767
  %biased = add i32 %raw, %bias
  %near = lshr i32 %biased, 16
  %quiet = or i32 %up, 64
  %nan = fcmp uno float {name}, {name}
  %code = select i1 %nan, i32 %quiet, i32 %near
  %q = trunc i32 %code to i16
"""


def _decode_small(fmt: PackedFormat) -> str:
    if fmt.code == Code.PLAIN:
        return f"  %y = bitcast i{fmt.base_bits} %q to {_real(fmt)}\n"
    name = "%y" if fmt.base_bits == 32 else "%f"
    widen = "" if fmt.base_bits == 32 else "  %y = fpext float %f to double\n"
    if fmt.code == Code.HALF:
        return f"  %h2 = bitcast i16 %q to half\n  {name} = fpext half %h2 to float\n{widen}"
    return f"""
  %wide = zext i16 %q to i32
  %bits = shl i32 %wide, 16
  {name} = bitcast i32 %bits to float
{widen}"""


def _real(fmt: PackedFormat) -> str:
    return "float" if fmt.base_bits == 32 else "double"


def _encode(fmt: PackedFormat) -> str:
    return _encode_range(fmt) if fmt.needs_range else _encode_small(fmt)


def _decode(fmt: PackedFormat) -> str:
    return _decode_range(fmt) if fmt.needs_range else _decode_small(fmt)


def _coefficient(fmt: PackedFormat, name: str) -> str:
    if fmt.base_bits == 64:
        return f"  %{name} = fadd double %{name}_given, -0.0\n"
    return f"  %{name} = fptrunc double %{name}_given to float\n"


_LOOP = """
entry:
{before}
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{phis}
{body}
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
{after}
}}
"""


def _function(head: str, before: str, phis: str, body: str, after: str) -> str:
    return f"define {head} {{" + _LOOP.format(before=before, phis=phis, body=body, after=after)


def codec_ir(fmt: PackedFormat) -> str:
    """The module for one format."""
    copies = _transfers(fmt, "", strided=False) + _transfers(fmt, "_strided", strided=True)
    return copies + _scan(fmt) + _measure(fmt) + _declarations(fmt)


def _saturated(fmt: PackedFormat) -> str:
    """Whether `%q` is a code of numbers out of range, as `%extreme`."""
    store = f"i{8 * fmt.storage_bytes}"
    match fmt.code:
        case Code.RANGE:
            return f"""  %first = icmp eq {store} %q, 0
  %last = icmp eq {store} %q, {(1 << fmt.bits) - 1}
  %extreme = or i1 %first, %last"""
        case Code.PLAIN:
            return f"  %extreme = icmp ult {store} %q, 0"
        case Code.HALF | Code.BFLOAT16:
            infinity = 0x7C00 if fmt.code == Code.HALF else 0x7F80
            return (
                f"  %magnitude = and i16 %q, 32767\n  %extreme = icmp eq i16 %magnitude, {infinity}"
            )


def _transfers(fmt: PackedFormat, suffix: str, *, strided: bool) -> str:
    """`encode` and `decode`; `strided`: the plain numbers are `stride` numbers apart."""
    real, store = _real(fmt), f"i{8 * fmt.storage_bytes}"
    unit = f"[{fmt.storage_bytes} x i8]" if fmt.storage_bytes not in (1, 2, 4, 8) else store
    align = fmt.storage_bytes if fmt.storage_bytes in (1, 2, 4, 8) else 1
    base_align = fmt.base_bytes
    saturated = _saturated(fmt)
    stride = ", i64 %stride" if strided else ""
    place = "  %plain_at = mul nsw i64 %i, %stride\n" if strided else ""
    plain = "%plain_at" if strided else "%i"
    encode = _function(
        f"i32 @encode{suffix}(ptr noalias %target, ptr noalias %source, i64 %count,"
        f" double %inverse_given{stride})",
        _coefficient(fmt, "inverse"),
        "  %sum = phi i32 [ 0, %entry ], [ %sum_next, %loop ]",
        f"""{place}  %from = getelementptr inbounds {real}, ptr %source, i64 {plain}
  %x = load {real}, ptr %from, align {base_align}
{_encode(fmt)}
  %to = getelementptr inbounds {unit}, ptr %target, i64 %i
  store {store} %q, ptr %to, align {align}
{saturated}
  %one = zext i1 %extreme to i32
  %sum_next = add i32 %sum, %one""",
        "  %total = phi i32 [ 0, %entry ], [ %sum_next, %loop ]\n  ret i32 %total",
    )
    decode = _function(
        f"i32 @decode{suffix}(ptr noalias %target, ptr noalias %source, i64 %count,"
        f" double %c0_given, double %c1_given{stride})",
        _coefficient(fmt, "c0") + _coefficient(fmt, "c1"),
        "  %sum = phi i32 [ 0, %entry ], [ %sum_next, %loop ]",
        f"""  %from = getelementptr inbounds {unit}, ptr %source, i64 %i
  %q = load {store}, ptr %from, align {align}
{_decode(fmt)}
{saturated}
  %one = zext i1 %extreme to i32
  %sum_next = add i32 %sum, %one
{place}  %to = getelementptr inbounds {real}, ptr %target, i64 {plain}
  store {real} %y, ptr %to, align {base_align}""",
        "  %total = phi i32 [ 0, %entry ], [ %sum_next, %loop ]\n  ret i32 %total",
    )
    return encode + decode


def _scan(fmt: PackedFormat) -> str:
    real, base = _real(fmt), fmt.base_bits
    infinity = float_text(float("inf"))
    # Not infinity for what does not count: LLVM would make a select of the minimum, and not vectorise.
    greatest = float_text(_GREATEST[base])
    least = float_text(-_GREATEST[base])
    extend = (
        "  %low_out = fpext float %low_end to double\n  %high_out = fpext float %high_end to double\n"
        if base == 32
        else "  %low_out = fadd double %low_end, -0.0\n  %high_out = fadd double %high_end, -0.0\n"
    )
    return _function(
        "void @scan(ptr noalias %source, i64 %count, ptr noalias %result)",
        "",
        f"""  %low = phi {real} [ {greatest}, %entry ], [ %low_next, %loop ]
  %high = phi {real} [ {least}, %entry ], [ %high_next, %loop ]""",
        f"""  %from = getelementptr inbounds {real}, ptr %source, i64 %i
  %x = load {real}, ptr %from, align {fmt.base_bytes}
  %size = call {real} @llvm.fabs.f{base}({real} %x)
  %finite = fcmp olt {real} %size, {infinity}
  %x_low = select i1 %finite, {real} %x, {real} {greatest}
  %x_high = select i1 %finite, {real} %x, {real} {least}
  %low_next = call nnan nsz {real} @llvm.minnum.f{base}({real} %low, {real} %x_low)
  %high_next = call nnan nsz {real} @llvm.maxnum.f{base}({real} %high, {real} %x_high)""",
        f"""  %low_end = phi {real} [ {greatest}, %entry ], [ %low_next, %loop ]
  %high_end = phi {real} [ {least}, %entry ], [ %high_next, %loop ]
{extend}  store double %low_out, ptr %result
  %second = getelementptr double, ptr %result, i64 1
  store double %high_out, ptr %second
  ret void""",
    )


def _measure(fmt: PackedFormat) -> str:
    real, base = _real(fmt), fmt.base_bits
    infinity, zero = float_text(float("inf")), float_text(0.0)
    widen = (
        "  %ax = fpext float %x to double\n  %ay = fpext float %y to double"
        if base == 32
        else "  %ax = fadd double %x, -0.0\n  %ay = fadd double %y, -0.0"
    )
    return _function(
        "void @measure(ptr noalias %source, i64 %count, double %c0_given, double %c1_given,"
        " double %inverse_given, ptr noalias %result)",
        "".join(_coefficient(fmt, name) for name in ("c0", "c1", "inverse")),
        f"""  %worst = phi double [ {zero}, %entry ], [ %worst_next, %loop ]
  %ratio = phi double [ {zero}, %entry ], [ %ratio_next, %loop ]""",
        f"""  %from = getelementptr inbounds {real}, ptr %source, i64 %i
  %x = load {real}, ptr %from, align {fmt.base_bytes}
{_encode(fmt)}
{_decode(fmt)}
{widen}
  %difference = fsub double %ay, %ax
  %wrong = call double @llvm.fabs.f64(double %difference)
  %size = call double @llvm.fabs.f64(double %ax)
  %finite = fcmp olt double %size, {infinity}
  %error = select i1 %finite, double %wrong, double {zero}
  %nonzero = fcmp ogt double %size, {zero}
  %divisor = select i1 %nonzero, double %size, double {float_text(1.0)}
  %quotient = fdiv double %error, %divisor
  %relative = select i1 %nonzero, double %quotient, double {zero}
  %worst_next = call nnan nsz double @llvm.maxnum.f64(double %worst, double %error)
  %ratio_next = call nnan nsz double @llvm.maxnum.f64(double %ratio, double %relative)""",
        f"""  %worst_end = phi double [ {zero}, %entry ], [ %worst_next, %loop ]
  %ratio_end = phi double [ {zero}, %entry ], [ %ratio_next, %loop ]
  store double %worst_end, ptr %result
  %second = getelementptr double, ptr %result, i64 1
  store double %ratio_end, ptr %second
  ret void""",
    )


def _declarations(fmt: PackedFormat) -> str:
    names = {f"llvm.fma.f{fmt.base_bits}": fmt.base_bits, f"llvm.fabs.f{fmt.base_bits}": 0}
    names |= {f"llvm.{name}.f{fmt.base_bits}": 0 for name in ("minnum", "maxnum")}
    names |= {"llvm.fabs.f64": 0, "llvm.maxnum.f64": 0}
    text = ""
    for name in names:
        real = "float" if name.endswith("f32") else "double"
        count = 3 if "fma" in name else 1 if "fabs" in name else 2
        text += f"declare {real} @{name}({', '.join([real] * count)})\n"
    return text
