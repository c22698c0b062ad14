"""
Objects whose bytes are known when the program is compiled: reading numbers from their bytes, and the limit on
their size.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass

MOST_BYTES = 4096
"""
The largest table that device code contains. Loops that read larger ones are not unrolled, so that they would
only make the code longer.
"""


@dataclass(frozen=True)
class Number:
    """The form of a number in memory: `bits` wide; an integer in two's complement, or an IEEE 754 number."""

    bits: int
    is_float: bool = False

    @property
    def _format(self) -> str:
        return {16: "<e", 32: "<f", 64: "<d"}[self.bits]

    @property
    def bytes(self) -> int:
        return max(1, self.bits // 8)

    def pack(self, value: float) -> bytes:
        """The bytes of `value`, which a number of this form can hold."""
        if self.is_float:
            return struct.pack(self._format, value)
        return (int(value) % (1 << 8 * self.bytes)).to_bytes(self.bytes, "little")

    def read(self, image: bytes, offset: int) -> int | float | None:
        """
        The number at byte `offset` of an object; None outside of the object, and for a NaN, whose bits a
        float of Python may not keep.
        """
        data = image[max(0, offset) : offset + self.bytes]
        if len(data) < self.bytes:
            return None
        if not self.is_float:
            return int.from_bytes(data, "little", signed=True)
        (value,) = struct.unpack(self._format, data)
        return None if math.isnan(value) else value


def image(size: int, stores: Iterable[tuple[int, bytes]]) -> bytes:
    """
    The bytes of an object of `size` bytes after stores of bytes at offsets, one after the other. Bytes that
    none of them writes are zero: the program may not read them.
    """
    made = bytearray(size)
    for offset, data in stores:
        made[offset : offset + len(data)] = data
    return bytes(made)
