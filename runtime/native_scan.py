"""
The range of numbers in host memory, found while a transfer reads them (`native_transfer.py`), in
native code:

    scan32, scan64(ptr source, i64 count, ptr result)
    scan_copy32, scan_copy64(ptr target, ptr source, i64 count, ptr result)

`result` is the least and greatest finite number, as doubles, the greater one first if there is none.
The loops are those of the codec (`codec_ir.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .codec_ir import SCAN_RESULT, declarations, scan_loop
from .packed import Code, PackedFormat

EMPTY = (sys.float_info.max, -sys.float_info.max)
"""The range of no numbers."""


@dataclass(frozen=True, slots=True)
class NativeScan:
    """The functions for numbers of so many bytes."""

    bytes: int
    scan: int
    scan_copy: int


def scan_ir(base_bits: int) -> str:
    """The functions for numbers of so many bits."""
    fmt = PackedFormat(base_bits, Code.RANGE, 8)
    real = "float" if base_bits == 32 else "double"
    loop = scan_loop(fmt, SCAN_RESULT)
    store = f"""
  %to = getelementptr inbounds {real}, ptr %target, i64 %i
  store {real} %x, ptr %to, align {fmt.base_bytes}"""
    rest = "ptr noalias %source, i64 %count, ptr noalias %result)"
    return (
        loop.function(f"void @scan{base_bits}({rest}")
        + replace(loop, body=loop.body + store).function(
            f"void @scan_copy{base_bits}(ptr noalias %target, {rest}"
        )
        + declarations(fmt)
    )


def native_scan(base_bits: int) -> tuple[NativeScan, object]:
    """The functions, and what must live as long as they are used."""
    from ..compiler.backend.cache import DiskCache
    from ..compiler.backend.jit import HostProgram

    program = HostProgram(scan_ir(base_bits), cache=DiskCache.default("host"))
    names = (f"scan{base_bits}", f"scan_copy{base_bits}")
    return NativeScan(base_bits // 8, *map(program.address, names)), program


def union(ranges: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The range of all numbers; (0, 0) if there is none."""
    lows, highs = zip(EMPTY, *ranges, strict=True)
    low, high = min(lows), max(highs)
    return (low, high) if low <= high else (0.0, 0.0)
