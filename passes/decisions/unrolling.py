"""
The unroll factor of a sequential innermost loop of a kernel.

A thread waits for each iteration's loads unless the next iteration's are already in flight: unrolling lets
ptxas put several iterations' loads before their uses. The cost is registers for the loaded values and space
in the instruction cache. On an H200 a factor of 8 takes a matrix product with eight rows per thread from
15.2 to 11.6 ms and a loop of pure arithmetic from 856 to 664 µs.
"""

from __future__ import annotations

from dataclasses import dataclass

LOADS_IN_FLIGHT = 80
"""The most loads of an unrolled body: ptxas delays loads for which it has no registers."""
OPERATIONS = 512
"""The most operations of an unrolled body, about 8 KiB of instructions."""
MOST = 8
FULLY_UNROLLED = 256
"""LLVM itself fully unrolls a loop of constant trip count with at most this many operations in all."""
OWN_OPERATIONS = 4096
"""
The most operations, in all iterations, of loops that are unrolled so that a thread's array becomes registers.
"""
MOST_CHOICES = 16
"""The most elements among which one at a run-time subscript of such an array is selected."""
MOST_CHOICES_IN_LOOPS = 4
"""The same in loops that are not unrolled, which an access to memory delays less than many selections."""
OWN_WORDS = 128
"""The most 32-bit words of such arrays: half of the registers that a thread can have."""

MOST_OWN_WORDS = 264
"""
The same for one array alone, over which a loop that stays runs a triangle of loops: prices of options in 256
steps take 2,498 µs on an H200 in local memory, which the second-level cache does not hold for all threads,
and 1,164 in registers, some of them spilled (CUDA 714).
"""
PARTS = range(8, 33)
"""The iterations of such a triangle that are left out together where there are none."""


def part_of(iterations: int) -> int:
    """The iterations of a part of so many: the most that divide them, or 1."""
    return next((size for size in reversed(PARTS) if iterations % size == 0), 1)


_SHORT = "fabs floor ceil trunc rint nearbyint round copysign fmin fmax fdim fma sqrt rsqrt abs labs llabs"
_SHORT_FUNCTIONS = frozenset(_SHORT.split())
"""Functions of a few instructions, in both precisions."""
_REDUCED_IN_FLOAT = frozenset(("sinf", "cosf", "tanf", "sincosf", "sinpif", "cospif"))
"""Functions whose libdevice code contains the reduction of large arguments, a loop of its own."""


def function_operations(name: str) -> int:
    """
    The operations that a mathematical function counts as, by its C name: about the instructions of its
    libdevice code, as LLVM inlines it. A loop of few functions can be longer than one of much arithmetic.
    """
    if name in _REDUCED_IN_FLOAT:
        return 100
    if name in _SHORT_FUNCTIONS or name.removesuffix("f") in _SHORT_FUNCTIONS:
        return 8
    return 45


@dataclass(frozen=True)
class LoopBody:
    """
    An innermost loop: its `loads`, its `operations` (loads, stores and arithmetic; no constants, no
    subscripts), its constant `trip` count if it has one; `opaque`: it calls functions of unknown
    length, or has effects besides stores.
    """

    loads: int
    operations: int
    trip: int | None = None
    opaque: bool = False


def unroll_factor(body: LoopBody) -> int | None:
    """
    The factor: a constant trip count, so that nothing of the loop is left, or a power of two of at least 2;
    None to leave the loop to LLVM.
    """
    if body.opaque or body.operations == 0:
        return None
    if body.trip is not None and body.trip * body.operations <= FULLY_UNROLLED:
        return None
    most = min(MOST, LOADS_IN_FLIGHT // max(body.loads, 1), OPERATIONS // body.operations)
    if body.trip is not None and 1 < body.trip <= most:
        return body.trip
    factor = 1
    while factor * 2 <= most:
        factor *= 2
    return factor if factor > 1 else None


STORING_LOADS = 24
"""The most loads, of which each takes registers, that come before the stores of an unrolled loop."""
STORING_BYTES = 192
"""The most bytes of such loads."""


def storing_factor(loads: int, bytes: int, body: LoopBody) -> int | None:
    """
    The factor, a power of two of at least 2, for a loop of which each iteration has `loads` of so many
    `bytes` that may come before the stores of the iterations before; None to leave it to LLVM.
    """
    if not loads or body.opaque or (body.trip is not None and body.trip < 2):
        return None
    in_flight = min(STORING_LOADS // loads, STORING_BYTES // bytes)
    most = min(MOST, in_flight, OPERATIONS // body.operations)
    factor = 1
    while factor * 2 <= most:
        factor *= 2
    return factor if factor > 1 else None
