"""The data of a signal, read from the frame of a guarded call (`guard_code.py`, the table)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_TRACE = 64
"""The most addresses in a traceback."""


@dataclass(frozen=True)
class Fault:
    """
    A signal: its number and code (sigaction(2)), the accessed address and whether the access was a write,
    the stack pointer, and the address of the faulting instruction followed by return addresses.
    """

    signal: int
    code: int
    address: int
    writes: bool
    stack: int
    places: tuple[int, ...]


def read_fault(frame: bytes) -> Fault | None:
    """The fault in the bytes of a frame; None if the call did not end by a signal."""
    number, code, address, rip, error, stack, count, why = struct.unpack_from(
        "<iiQQQQii", frame, 80
    )
    if why != 2:
        return None
    trace = struct.unpack_from(f"<{_TRACE}Q", frame, 128)[: max(count, 0)]
    later = trace[trace.index(rip) + 1 :] if rip in trace else ()
    return Fault(number, code, address, bool(error & 2), stack, (rip, *filter(None, later)))
