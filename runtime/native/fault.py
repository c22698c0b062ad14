"""What a signal said, as a frame of a guarded call has it (`guard_code.py`, the table)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_TRACE = 64
"""Addresses of a traceback, at most."""


@dataclass(frozen=True)
class Fault:
    """
    What a signal said: its number and code (sigaction(2)), the address that was accessed and whether it
    was to be written, the stack pointer, and the instruction at fault followed by return addresses.
    """

    signal: int
    code: int
    address: int
    writes: bool
    stack: int
    places: tuple[int, ...]


def read_fault(frame: bytes) -> Fault | None:
    """The fault that the bytes of a frame describe, None if it was no signal."""
    number, code, address, rip, error, stack, count, why = struct.unpack_from(
        "<iiQQQQii", frame, 80
    )
    if why != 2:
        return None
    trace = struct.unpack_from(f"<{_TRACE}Q", frame, 128)[: max(count, 0)]
    later = trace[trace.index(rip) + 1 :] if rip in trace else ()
    return Fault(number, code, address, bool(error & 2), stack, (rip, *filter(None, later)))
