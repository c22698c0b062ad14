"""
When a sequential loop that gives the same result in every iteration of a parallel loop is computed
once before it.

It costs the nest its shape: a gang then takes one iteration of the outer loop, with all of its
lanes on the inner one, rather than a tile of both. That pays where the loop is most of the work.
"""

from __future__ import annotations

from dataclasses import dataclass

from .launch_shape import WARP

FEW_TRIPS = 4
"""A loop this short costs no more than the shape of the nest is worth."""
MOST_UNROLLED = 64
"""Iterations of a hoisted loop that are unrolled as a whole, so that all its loads are in flight."""
MANY_GANGS = 128
"""Outer iterations below which one gang for each leaves much of the device idle."""


@dataclass(frozen=True)
class Invariant:
    """
    A sequential loop of `trips` iterations in a parallel loop of `inner` iterations, inside one of
    `outer` (None: not constant). `others`: the inner body has loops that do vary, or calls.
    """

    trips: int | None
    inner: int | None
    outer: int | None
    others: bool


def keep_inside(case: Invariant) -> str | None:
    """Why the loop stays where it is; None if it is to be hoisted."""
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
    """By how much to unroll a hoisted loop without loops inside; 0: leave it to LLVM."""
    return trips if trips is not None and 1 < trips <= MOST_UNROLLED else 0
