"""
Which nests of loops that reduce are one loop to gangs and lanes.

A gang per row reduces each row on its own, with one element of it in flight per lane. The same
iterations numbered through are a stream: a grid that fills the device once, several elements per lane,
one reduction. That pays where memory is what limits them, that is where an access moves with all loops;
the quotient and the remainder of a number cost nothing beside it. Where rows share what they read (sums
over pairs of particles), a nest keeps what belongs to a row in registers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReducedNest:
    """
    A nest of loops whose iterations a reduction over gangs adds up. `moving`: accesses in its body that move
    with all loops. `streaming`: the body holds no loops and no calls that stand for loops.
    """

    moving: int
    streaming: bool


def pays_as_one(nest: ReducedNest) -> bool:
    """Whether to number the iterations of all loops through."""
    return nest.streaming and nest.moving > 0
