"""The frame of a guarded call (`guard_code.py`), and the data of a signal in it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from .text import structure

PLACES = 64
"""The most addresses in a traceback."""
_SIGNALLED = 2


@structure("frame")
class GuardFrame(ctypes.Structure):
    """
    The frame of a guarded call. `outer`: that of the call around it. Then the caller's registers, where the
    return address is and what it was, and the modes of SSE and x87 arithmetic. Of a fault: `signal` to
    `stack` (as in `Fault`), and the traceback of `count` addresses in `trace`, whose rest is 0. `why` the
    call ends: 0 it returned, 1 a callback failed, 2 a signal. `inside`: the number of callbacks into Python
    that it is in. `described`: a fault is being described.
    """

    _fields_ = (
        ("outer", ctypes.c_void_p),
        ("rbx", ctypes.c_int64),
        ("rbp", ctypes.c_int64),
        ("r12", ctypes.c_int64),
        ("r13", ctypes.c_int64),
        ("r14", ctypes.c_int64),
        ("r15", ctypes.c_int64),
        ("return_at", ctypes.c_int64),
        ("return_to", ctypes.c_int64),
        ("sse_mode", ctypes.c_uint32),
        ("x87_mode", ctypes.c_uint32),
        ("signal", ctypes.c_int32),
        ("code", ctypes.c_int32),
        ("address", ctypes.c_uint64),
        ("instruction", ctypes.c_uint64),
        ("error", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("count", ctypes.c_int32),
        ("why", ctypes.c_int32),
        ("trace", ctypes.c_uint64 * PLACES),
        ("inside", ctypes.c_int32),
        ("described", ctypes.c_int32),
        ("unused", ctypes.c_int64 * 15),
    )


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


def read_fault(frame: GuardFrame) -> Fault | None:
    """The fault in a frame; None if the call did not end by a signal."""
    if frame.why != _SIGNALLED:
        return None
    trace: list[int] = frame.trace[: max(frame.count, 0)]
    here: int = frame.instruction
    later = trace[trace.index(here) + 1 :] if here in trace else ()
    writes = bool(frame.error & 2)
    places = (here, *filter(None, later))
    return Fault(frame.signal, frame.code, frame.address, writes, frame.stack, places)
