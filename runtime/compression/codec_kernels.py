"""
LLVM IR of the codec's loops as GPU kernels. They are made from the same loops as the host's code
(`codec_ir.py`), so that the results are bit-identical.

    encode(ptr target, ptr source, i64 count, double inverse, double offset, i64 stride, ptr counter)
                                the number of saturated ones is added to the i64 at `counter`
    decode(ptr target, ptr source, i64 count, double c0, double c1, i64 stride)
    scan(ptr source, i64 count, i64 stride, ptr keys)
                                raises two i64 to the keys of the least and greatest finite number

Consecutive threads take consecutive elements. A *key* maps doubles to unsigned integers of the same order;
the key of the smallest number is complemented, so that both words start at zero and only grow.
"""

from __future__ import annotations

import struct

from ...compiler.base.packed import PackedFormat
from .codec_ir import Loop, declarations, decode_loop, encode_loop, scan_loop

_LANES = (16, 8, 4, 2, 1)

_FIRST = """  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %before = mul i32 %block, %threads
  %number = add i32 %before, %thread
  %all = mul i32 %blocks, %threads
  %begin = zext i32 %number to i64
  %step = zext i32 %all to i64
"""

_HELPERS = """
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i64 @llvm.umax.i64(i64, i64)

define internal i64 @other_lane(i64 %value, i32 %distance) alwaysinline {
  %low = trunc i64 %value to i32
  %shifted = lshr i64 %value, 32
  %high = trunc i64 %shifted to i32
  %a = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %low, i32 %distance, i32 31)
  %b = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %high, i32 %distance, i32 31)
  %a_wide = zext i32 %a to i64
  %b_wide = zext i32 %b to i64
  %b_up = shl i64 %b_wide, 32
  %other = or i64 %a_wide, %b_up
  ret i64 %other
}

define internal i64 @key(double %number) alwaysinline {
  %bits = bitcast double %number to i64
  %sign = ashr i64 %bits, 63
  %flip = or i64 %sign, -9223372036854775808
  %key = xor i64 %bits, %flip
  ret i64 %key
}

; the first thread of each warp raises the word to the largest of the warp's values
define internal void @raise(ptr %word, i64 %v0) alwaysinline {
entry:
MAXIMA
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %thread, 31
  %leads = icmp eq i32 %lane, 0
  br i1 %leads, label %write, label %done
write:
  %old = atomicrmw umax ptr %word, i64 %v5 monotonic
  br label %done
done:
  ret void
}

; the first thread of each warp adds the sum of the warp's counts to the word
define internal void @count(ptr %word, i32 %c) alwaysinline {
entry:
  %v0 = zext i32 %c to i64
SUMS
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %thread, 31
  %leads = icmp eq i32 %lane, 0
  %some = icmp ne i64 %v5, 0
  %writes = and i1 %leads, %some
  br i1 %writes, label %write, label %done
write:
  %old = atomicrmw add ptr %word, i64 %v5 monotonic
  br label %done
done:
  ret void
}
"""


def _over_lanes(combine: str) -> str:
    """Code that combines the values %v0 of all lanes of a warp into %v5, in five exchanges."""
    lines: list[str] = []
    for number, distance in enumerate(_LANES):
        lines.append(f"  %o{number} = call i64 @other_lane(i64 %v{number}, i32 {distance})")
        lines.append(f"  %v{number + 1} = " + combine.format(f"%v{number}", f"%o{number}"))
    return "\n".join(lines)


def codec_kernels(fmt: PackedFormat) -> str:
    """The module of kernels for one format, whose number of members is ignored."""
    encode = encode_loop(
        fmt, "  call void @count(ptr %counter, i32 %total)\n  ret void", strided=True
    )
    decode = decode_loop(fmt, strided=True, after="  ret void")
    scan = scan_loop(
        fmt,
        """  %low_key = call i64 @key(double %low_out)
  %low_word = xor i64 %low_key, -1
  %high_key = call i64 @key(double %high_out)
  call void @raise(ptr %keys, i64 %low_word)
  %second = getelementptr i64, ptr %keys, i64 1
  call void @raise(ptr %second, i64 %high_key)
  ret void""",
        strided=True,
    )
    helpers = _HELPERS.replace("MAXIMA", _over_lanes("call i64 @llvm.umax.i64(i64 {}, i64 {})"))
    helpers = helpers.replace("SUMS", _over_lanes("add i64 {}, {}"))
    return (
        'target triple = "nvptx64-nvidia-cuda"\n'
        + _kernel(
            encode,
            "encode(ptr noalias %target, ptr noalias %source, i64 %count, double %inverse_given,"
            " double %offset_given, i64 %stride, ptr noalias %counter)",
        )
        + _kernel(
            decode,
            "decode(ptr noalias %target, ptr noalias %source, i64 %count, double %c0_given,"
            " double %c1_given, i64 %stride)",
        )
        + _kernel(scan, "scan(ptr noalias %source, i64 %count, i64 %stride, ptr noalias %keys)")
        + declarations(fmt)
        + helpers
    )


def _kernel(loop: Loop, head: str) -> str:
    mine = Loop(_FIRST + loop.before, loop.phis, loop.body, loop.after)
    return mine.function(f"ptx_kernel void @{head}", "%begin", "%step")


def range_of_keys(low_word: int, high_word: int) -> tuple[float, float]:
    """The smallest and the largest number that `scan` found; (0, 0) if there is none."""
    low, high = _number(low_word ^ 0xFFFF_FFFF_FFFF_FFFF), _number(high_word)
    return (low, high) if low <= high else (0.0, 0.0)


def _number(key: int) -> float:
    flip = 0x8000_0000_0000_0000 if key >> 63 else 0xFFFF_FFFF_FFFF_FFFF
    return struct.unpack("=d", struct.pack("=Q", key ^ flip))[0]
