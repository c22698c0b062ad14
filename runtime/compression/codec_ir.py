"""
LLVM IR of the codec's loops over arrays, for the host: one module per packed format.

    encode(ptr target, ptr source, i64 count, double inverse, double offset, i64) -> i32 saturated
    decode(ptr target, ptr source, i64 count, double c0, double c1, i64) -> i32 0
    encode_strided, decode_strided: where the plain numbers are that i64 of numbers apart
    scan(ptr source, i64 count, ptr result)      minimum, maximum of the finite numbers (two doubles)
    measure(ptr source, i64 count, double c0, double c1, double inverse, double offset, i64, ptr result)
                                largest absolute and relative error of the round trip (two doubles)
    scan_strided, measure_strided: as the others

The loops are plain; LLVM vectorises them. `codec_kernels.py` makes GPU kernels of them. The element
operations are those that `passes/compress_arrays/element_code.py` puts into kernels, so that every target
has the same bits.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass

from ...compiler.base.packed import (
    BFLOAT16_NAN,
    EXPONENT_OF_ONE,
    HALF_NAN,
    MANTISSA_BITS,
    Code,
    PackedFormat,
)

GREATEST = {32: 2.0**128 - 2.0**104, 64: sys.float_info.max}


def float_text(value: float) -> str:
    """A constant in LLVM's exact form: the bits of the double in hexadecimal."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def _limit(fmt: PackedFormat) -> str:
    return float_text(2.0 - 2.0**-fmt.bits)


def _encode_range(fmt: PackedFormat) -> str:
    word, real = f"i{fmt.base_bits}", _real(fmt)
    drop = MANTISSA_BITS[fmt.base_bits] - fmt.bits
    one, limit = float_text(1.0), _limit(fmt)
    middle = "%offset" if fmt.code == Code.CENTRED else float_text(1.5)
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
        return f"""{narrow}
  %h = fptrunc float {name} to half
  %near = bitcast half %h to i16
  %nan = fcmp uno float {name}, {name}
  %q = select i1 %nan, i16 {HALF_NAN}, i16 %near
"""
    return f"""{narrow}
  %raw = bitcast float {name} to i32
  %up = lshr i32 %raw, 16
  %odd = and i32 %up, 1
  %bias = add i32 %odd, 32767
  %biased = add i32 %raw, %bias
  %near = lshr i32 %biased, 16
  %nan = fcmp uno float {name}, {name}
  %code = select i1 %nan, i32 {BFLOAT16_NAN}, i32 %near
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


def _coefficients(fmt: PackedFormat, *names: str) -> str:
    """Code that converts the arguments of these names to the base type."""
    if fmt.base_bits == 64:
        return "".join(f"  %{name} = fadd double %{name}_given, -0.0\n" for name in names)
    return "".join(f"  %{name} = fptrunc double %{name}_given to float\n" for name in names)


def _doubles(fmt: PackedFormat, numbers: dict[str, str]) -> str:
    """Code that sets each name to the double of a number of the base type."""
    form = "fadd double {}, -0.0" if fmt.base_bits == 64 else "fpext float {} to double"
    return "".join(f"  {name} = {form.format(number)}\n" for name, number in numbers.items())


_LOOP = """
entry:
{before}
  %any = icmp slt i64 {first}, %count
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [ {first}, %entry ], [ %next, %loop ]
{phis}
{body}
  %next = add nuw nsw i64 %i, {step}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
{after}
}}
"""


@dataclass(frozen=True)
class Loop:
    """
    The text of a loop over an array: the code before it, the values it carries, its body for element `%i`,
    and the code after it.
    """

    before: str
    phis: str
    body: str
    after: str

    def function(self, head: str, first: str = "0", step: str = "1") -> str:
        """A function with the header `head`, whose loop takes every `step`-th of `%count` elements, from
        `first` on."""
        text = _LOOP.format(
            before=self.before,
            phis=self.phis,
            body=self.body,
            after=self.after,
            first=first,
            step=step,
        )
        return f"define {head} {{{text}"


def codec_ir(fmt: PackedFormat) -> str:
    """The module for one format."""
    result = "  ret i32 %total"
    copies = ""
    arrays = "(ptr noalias %target, ptr noalias %source, i64 %count"
    for suffix, strided in (("", False), ("_strided", True)):
        copies += encode_loop(fmt, result, strided=strided).function(
            f"i32 @encode{suffix}{arrays}, double %inverse_given, double %offset_given, i64 %stride)"
        )
        copies += decode_loop(fmt, "  ret i32 0", strided=strided).function(
            f"i32 @decode{suffix}{arrays}, double %c0_given, double %c1_given, i64 %stride)"
        )
        source = "(ptr noalias %source, i64 %count"
        copies += scan_loop(fmt, SCAN_RESULT, strided=strided).function(
            f"void @scan{suffix}{source}, {'i64 %stride, ' if strided else ''}ptr noalias %result)"
        )
        copies += _measure_loop(fmt, strided=strided).function(
            f"void @measure{suffix}{source}, double %c0_given, double %c1_given,"
            " double %inverse_given, double %offset_given, i64 %stride, ptr noalias %result)"
        )
    return copies + declarations(fmt)


SCAN_RESULT = """  store double %low_out, ptr %result
  %second = getelementptr double, ptr %result, i64 1
  store double %high_out, ptr %second
  ret void"""


def _saturated(fmt: PackedFormat) -> str:
    """Code that sets `%extreme` to whether `%q` is a code for numbers out of range."""
    store = f"i{8 * fmt.storage_bytes}"
    match fmt.code:
        case Code.RANGE | Code.CENTRED:
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


def _element(fmt: PackedFormat) -> tuple[str, str, int]:
    """The integer of a packed number, the type of its place in memory, and its alignment."""
    store, size = f"i{8 * fmt.storage_bytes}", fmt.storage_bytes
    return (store, store, size) if size in (1, 2, 4, 8) else (store, f"[{size} x i8]", 1)


def encode_loop(fmt: PackedFormat, after: str, *, strided: bool) -> Loop:
    """
    A loop that packs `%source` into `%target`; `strided`: the plain numbers are `%stride` numbers apart.
    The code `after` it has the number of saturated ones in `%total`.
    """
    store, unit, align = _element(fmt)
    return Loop(
        _coefficients(fmt, "inverse", "offset"),
        "  %sum = phi i32 [ 0, %entry ], [ %sum_next, %loop ]",
        f"""{_load(fmt, strided)}
{_encode(fmt)}
  %to = getelementptr inbounds {unit}, ptr %target, i64 %i
  store {store} %q, ptr %to, align {align}
{_saturated(fmt)}
  %one = zext i1 %extreme to i32
  %sum_next = add i32 %sum, %one""",
        f"  %total = phi i32 [ 0, %entry ], [ %sum_next, %loop ]\n{after}",
    )


def decode_loop(fmt: PackedFormat, after: str, *, strided: bool) -> Loop:
    """A loop that unpacks `%source` into `%target`; for the arguments see `encode_loop`."""
    real, (store, unit, align) = _real(fmt), _element(fmt)
    return Loop(
        _coefficients(fmt, "c0", "c1"),
        "",
        f"""  %from = getelementptr inbounds {unit}, ptr %source, i64 %i
  %q = load {store}, ptr %from, align {align}
{_decode(fmt)}
{_place(strided)}  %to = getelementptr inbounds {real}, ptr %target, i64 {_plain(strided)}
  store {real} %y, ptr %to, align {fmt.base_bytes}""",
        after,
    )


def _load(fmt: PackedFormat, strided: bool) -> str:
    """Code that loads the plain number %x of element `%i`."""
    real = _real(fmt)
    return f"""{_place(strided)}  %from = getelementptr inbounds {real}, ptr %source, i64 {_plain(strided)}
  %x = load {real}, ptr %from, align {fmt.base_bytes}"""


def _place(strided: bool) -> str:
    return "  %plain_at = mul nsw i64 %i, %stride\n" if strided else ""


def _plain(strided: bool) -> str:
    return "%plain_at" if strided else "%i"


def scan_loop(fmt: PackedFormat, after: str, *, strided: bool = False) -> Loop:
    """
    A loop that finds the smallest and the largest finite number of `%source`; the code `after` it has them
    in `%low_end` and `%high_end`, and as doubles in `%low_out` and `%high_out`. `strided`: as for
    `encode_loop`.
    """
    real, base = _real(fmt), fmt.base_bits
    infinity = float_text(float("inf"))
    # For elements that do not count, not infinity: LLVM would not vectorise the minimum.
    greatest = float_text(GREATEST[base])
    least = float_text(-GREATEST[base])
    extend = _doubles(fmt, {"%low_out": "%low_end", "%high_out": "%high_end"})
    return Loop(
        "",
        f"""  %low = phi {real} [ {greatest}, %entry ], [ %low_next, %loop ]
  %high = phi {real} [ {least}, %entry ], [ %high_next, %loop ]""",
        f"""{_load(fmt, strided)}
  %size = call {real} @llvm.fabs.f{base}({real} %x)
  %finite = fcmp olt {real} %size, {infinity}
  %x_low = select i1 %finite, {real} %x, {real} {greatest}
  %x_high = select i1 %finite, {real} %x, {real} {least}
  %low_next = call nnan nsz {real} @llvm.minnum.f{base}({real} %low, {real} %x_low)
  %high_next = call nnan nsz {real} @llvm.maxnum.f{base}({real} %high, {real} %x_high)""",
        f"""  %low_end = phi {real} [ {greatest}, %entry ], [ %low_next, %loop ]
  %high_end = phi {real} [ {least}, %entry ], [ %high_next, %loop ]
{extend}{after}""",
    )


def _measure_loop(fmt: PackedFormat, *, strided: bool) -> Loop:
    infinity, zero = float_text(float("inf")), float_text(0.0)
    return Loop(
        _coefficients(fmt, "c0", "c1", "inverse", "offset"),
        f"""  %worst = phi double [ {zero}, %entry ], [ %worst_next, %loop ]
  %ratio = phi double [ {zero}, %entry ], [ %ratio_next, %loop ]""",
        f"""{_load(fmt, strided)}
{_encode(fmt)}
{_decode(fmt)}
{_doubles(fmt, {"%ax": "%x", "%ay": "%y"})}  %difference = fsub double %ay, %ax
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


def declarations(fmt: PackedFormat) -> str:
    """The intrinsic functions that the loops call."""
    names = {f"llvm.fma.f{fmt.base_bits}": fmt.base_bits, f"llvm.fabs.f{fmt.base_bits}": 0}
    names |= {f"llvm.{name}.f{fmt.base_bits}": 0 for name in ("minnum", "maxnum")}
    names |= {"llvm.fabs.f64": 0, "llvm.maxnum.f64": 0}
    text = ""
    for name in names:
        real = "float" if name.endswith("f32") else "double"
        count = 3 if "fma" in name else 1 if "fabs" in name else 2
        text += f"declare {real} @{name}({', '.join([real] * count)})\n"
    return text
