"""
Whether to hoist a sequential loop whose result is the same in every iteration of the parallel loop around
it.

Hoisting changes the schedule of the nest: a gang then runs one iteration of the outer loop, with all of its
lanes on the inner one, instead of a tile of both. That pays where the loop is most of the work.
"""

from __future__ import annotations

from dataclasses import dataclass

from .device import WARP

FEW_TRIPS = 4
"""A loop of at most this many iterations costs less than the change of schedule."""
MOST_UNROLLED = 64
"""A hoisted loop with at most this many iterations is unrolled fully, so that all its loads are in flight."""
MANY_GANGS = 128
"""With fewer outer iterations, one gang for each leaves much of the device idle."""


@dataclass(frozen=True)
class Invariant:
    """
    A sequential loop of `trips` iterations in a parallel loop of `inner` iterations, inside one of
    `outer` (None: not constant). `others`: the inner body also has loops that vary, or calls.
    """

    trips: int | None
    inner: int | None
    outer: int | None
    others: bool


def keep_inside(case: Invariant) -> str | None:
    """The reason not to hoist the loop; None if it is to be hoisted."""
    if case.trips is not None and case.trips < FEW_TRIPS:
        return f"only {case.trips} iterations"
    if case.inner is not None and case.inner < WARP:
        return f"only {case.inner} iterations would share it"
    if case.outer is not None and case.outer < MANY_GANGS:
        return f"the outer loop has only {case.outer} iterations for gangs"
    if case.others:
        return "the body's other loops gain more from rows side by side"
    return None


def unroll_factor(trips: int | None) -> int:
    """The unroll factor of a hoisted loop without inner loops; 0: LLVM decides."""
    return trips if trips is not None and 1 < trips <= MOST_UNROLLED else 0
