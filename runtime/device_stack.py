"""
The stack of GPU threads. ptxas adds up how much of it each kernel needs, but not where functions call
themselves: such kernels get what the context's limit gives every thread, 1 KiB by default, and deeper
recursion fails. The limit is raised for programs with recursion, as far as memory allows: the driver keeps
that much for every thread that fits on the device.
"""

from __future__ import annotations

import os
import re

from .errors import AccRuntimeError, ErrorClass

STACK_VARIABLE = "NVCOMPILER_ACC_CUDA_STACKSIZE"
"""The environment variable that gives the bytes for each thread, with nvc's name."""

_SHARE = 32
_LEAST, _MOST = 1 << 10, 16 << 10
_FUNCTION = re.compile(r"^(?:\.\w+\s+)*\.func\s+(?:\([^)]*\)\s*)?([\w$]+)", re.MULTILINE)
_CALL = re.compile(r"\bcall(?:\.uni)?\s+(?:\([^)]*\),\s*)?([\w$]+)")


def has_recursion(ptx: str) -> bool:
    """Whether a function of a PTX module can call itself."""
    calls: dict[str, set[str]] = {}
    for start in _FUNCTION.finditer(ptx):
        body = ptx[start.end() : ptx.find("\n}", start.end())]
        calls.setdefault(start[1], set()).update(_CALL.findall(body))
    return any(name in _reachable(name, calls) for name in calls)


def _reachable(start: str, calls: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    work = [start]
    while work:
        for name in calls.get(work.pop(), set()) - found:
            found.add(name)
            work.append(name)
    return found


def stack_bytes(free: int, threads: int) -> int:
    """
    Bytes of stack for each thread: what the environment says, or a thirty-second of the `free` memory
    shared by the `threads` that fit on the device, 1 KiB to 16 KiB.
    """
    text = os.environ.get(STACK_VARIABLE)
    if text is None:
        return max(_LEAST, min(_MOST, free // _SHARE // max(threads, 1))) & -16
    if not text.isdigit():
        raise AccRuntimeError(
            ErrorClass.INVALID_ARGUMENT,
            f"{STACK_VARIABLE} is '{text}'",
            remedy="set it to a number of bytes for each thread",
        )
    return int(text)
