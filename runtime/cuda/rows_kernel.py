"""
A kernel that copies rows of bytes into memory that its GPU has access to, for small copies between GPUs.

    copy_rows_W(ptr target, ptr source, i32 width, i32 all, i64 target_pitch, i64 source_pitch)
                                `all` words of W bytes, `width` in a row; rows are so many bytes apart

Starting a copy engine after a kernel, and a kernel after the copy engine, takes longer than a small copy
itself.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

from ..data.peer_sections import PeerStrips

WORDS = (16, 8, 4)
"""The widths of accesses in bytes, best first."""
THREADS = 256


@dataclass(frozen=True, slots=True)
class RowsCopy:
    """A launch of the kernel for words of `word` bytes: blocks of `THREADS` threads, and its values."""

    word: int
    blocks: int
    values: tuple[ctypes.c_int64, ...] = field(repr=False)


def rows_copy(target: int, source: int, strips: PeerStrips) -> RowsCopy | None:
    """The copy of `strips` between device addresses; None if its places are not multiples of a word."""
    places = [target + strips.target, source + strips.source, strips.width]
    pitches = [strips.target_pitch, strips.source_pitch] if strips.rows > 1 else [0, 0]
    word = next((w for w in WORDS if not any(p % w for p in (*places, *pitches))), 0)
    if not word:
        return None
    width = strips.width // word
    values = (places[0], places[1], width, width * strips.rows, *pitches)
    return RowsCopy(word, -(-values[3] // THREADS), tuple(map(ctypes.c_int64, values)))


def kernel_name(word: int) -> str:
    """The name of the kernel for words of `word` bytes."""
    return f"copy_rows_{word}"


def rows_kernels() -> str:
    """The module of the kernels, as LLVM IR."""
    types = {16: "<4 x i32>", 8: "i64", 4: "i32"}
    return (
        'target triple = "nvptx64-nvidia-cuda"\n'
        + "".join(_KERNEL.format(name=kernel_name(w), word=w, type=types[w]) for w in WORDS)
        + _DECLARATIONS
    )


_KERNEL = """
define ptx_kernel void @{name}(ptr noalias %target, ptr noalias %source, i32 %width, i32 %all,
    i64 %target_pitch, i64 %source_pitch) {{
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %before = mul i32 %block, %threads
  %number = add i32 %before, %thread
  %some = icmp ult i32 %number, %all
  br i1 %some, label %copy, label %done
copy:
  %row = udiv i32 %number, %width
  %whole = mul i32 %row, %width
  %column = sub i32 %number, %whole
  %row_wide = zext i32 %row to i64
  %column_wide = zext i32 %column to i64
  %along = mul i64 %column_wide, {word}
  %target_row = mul i64 %row_wide, %target_pitch
  %source_row = mul i64 %row_wide, %source_pitch
  %target_offset = add i64 %target_row, %along
  %source_offset = add i64 %source_row, %along
  %source_at = getelementptr i8, ptr %source, i64 %source_offset
  %target_at = getelementptr i8, ptr %target, i64 %target_offset
  %value = load {type}, ptr %source_at, align {word}
  store {type} %value, ptr %target_at, align {word}
  br label %done
done:
  ret void
}}
"""

_DECLARATIONS = """
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
"""
