"""
How often to unroll a sequential innermost loop of a kernel.

A thread waits for each iteration's loads unless those of the next are under way: unrolling lets
ptxas put several iterations' loads before their uses. What it costs is registers for the loaded
values and room in the instruction cache.
"""

from __future__ import annotations

from dataclasses import dataclass

LOADS_IN_FLIGHT = 24
"""Loads of an unrolled body: each needs one to three registers for its value and address."""
OPERATIONS = 320
"""Operations of an unrolled body: about 5 KiB of instructions."""
MOST = 8
SMALL_ARITHMETIC = 4
"""Factor for short bodies without loads: only the loop's own counting and branching is saved."""
FULLY_UNROLLED = 256
"""Operations of a loop of constant length up to which LLVM unrolls it altogether, by itself."""


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
    """The factor, a power of two of at least 2; None to leave the loop to LLVM."""
    if body.opaque or body.operations == 0:
        return None
    if body.trip is not None and body.trip * body.operations <= FULLY_UNROLLED:
        return None
    most = MOST if body.loads else SMALL_ARITHMETIC
    if body.loads:
        most = min(most, LOADS_IN_FLIGHT // body.loads)
    most = min(most, OPERATIONS // body.operations)
    if body.trip is not None:
        most = min(most, body.trip)
    factor = 1
    while factor * 2 <= most:
        factor *= 2
    return factor if factor > 1 else None
