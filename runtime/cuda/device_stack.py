"""
The stack of GPU threads, and the heap that they allocate from. ptxas adds up how much stack each kernel
needs, but not where functions call themselves: threads of such kernels get the stack of the context's
limit, 1 KiB by default, and deeper recursion fails. The limit is raised for programs with recursion, as far
as memory allows: the driver reserves the stack for every thread that fits on the device. The heap, 8 MiB by
default, is made larger for programs whose kernels call `malloc`.
"""

from __future__ import annotations

import os
import re

from ..errors import AccRuntimeError, ErrorClass

STACK_VARIABLE = "NVCOMPILER_ACC_CUDA_STACKSIZE"
"""The environment variable that gives the bytes for each thread, with nvc's name."""

HEAP_VARIABLE = "NVCOMPILER_ACC_CUDA_HEAPSIZE"
"""The environment variable that gives the bytes of the device's heap, with nvc's name."""

_SHARE = 32
_LEAST_HEAP, _MOST_HEAP, _HEAP_SHARE = 8 << 20, 1 << 30, 8
_LEAST, _MOST = 1 << 10, 16 << 10
_FUNCTION = re.compile(r"^(?:\.\w+\s+)*\.func\s+(?:\([^)]*\)\s*)?([\w$]+)", re.MULTILINE)
_ALLOCATES = re.compile(r"^\.extern\s+\.func\s+\([^)]*\)\s*malloc\b", re.MULTILINE)
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
    Bytes of stack for each thread: from the environment variable, or else a thirty-second of the `free`
    memory divided by the `threads` that fit on the device, at least 1 KiB and at most 16 KiB.
    """
    given = _given(STACK_VARIABLE, "for each thread")
    if given is None:
        return max(_LEAST, min(_MOST, free // _SHARE // max(threads, 1))) & -16
    return given


def uses_heap(ptx: str) -> bool:
    """Whether kernels of a PTX module allocate memory."""
    return _ALLOCATES.search(ptx) is not None


def heap_bytes(free: int) -> int:
    """
    Bytes of the device's heap: from the environment variable, or else an eighth of the `free` memory, at
    least 8 MiB and at most 1 GiB.
    """
    given = _given(HEAP_VARIABLE, "for the heap")
    return max(_LEAST_HEAP, min(_MOST_HEAP, free // _HEAP_SHARE)) if given is None else given


def _given(variable: str, what: str) -> int | None:
    """The number of bytes in an environment variable, if it is set."""
    text = os.environ.get(variable)
    if text is not None and not text.isdigit():
        raise AccRuntimeError(
            ErrorClass.INVALID_ARGUMENT,
            f"{variable} is '{text}'",
            remedy=f"set it to a number of bytes {what}",
        )
    return None if text is None else int(text)
