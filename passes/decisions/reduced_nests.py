"""
Which nests of loops that reduce are one loop to gangs and lanes.

The iterations of all loops numbered through are a stream: a grid that fills the device once, several
elements per lane, one reduction, whatever the rows' number and length are. A gang per row is as fast for
long rows (4096² squares on an H200: 45 µs, 42 as a stream), slow for short or few ones (262144 × 64: 520 µs
and 42), and faster where a stencil reads what neighbouring rows read (a Jacobi step with the largest
change, 8192²: 228 µs and 266). Where rows share what they read (sums over pairs of particles), a nest
keeps what belongs to a row in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NEIGHBOURS = 256
"""Bytes between accesses in the same row; those farther apart are in other rows."""
SHORT = 32
"""Iterations of an innermost loop that do not fill a warp."""


@dataclass(frozen=True)
class ReducedNest:
    """
    A nest of loops whose iterations a reduction over gangs adds up. `moving`: accesses in its body that move
    with all loops. `streaming`: the body holds no loops and no calls that stand for loops. `distances`: bytes
    between such accesses of one array, None if not constant. `columns`: iterations of the innermost
    loop, None if not constant.
    """

    moving: int
    streaming: bool
    distances: Sequence[int | None] = ()
    columns: int | None = None


def pays_as_one(nest: ReducedNest) -> bool:
    """Whether to number the iterations of all loops through."""
    if nest.columns is not None and nest.columns < SHORT:
        return True
    rows = any(distance is None or abs(distance) > NEIGHBOURS for distance in nest.distances)
    return nest.streaming and nest.moving > 0 and not rows
