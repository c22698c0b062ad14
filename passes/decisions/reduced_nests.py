"""
Which reducing loop nests are distributed to gangs and lanes as one loop.

As one loop, all iterations are numbered consecutively: a grid that fills the device once, several elements
per lane, one reduction, whatever the number and length of rows. The alternative, a gang per row, is about
as fast for long rows (4096² squares on an H200: 45 µs, 42 as one loop), slow for short or few rows (262144
× 64: 520 µs and 42), and faster for a stencil, whose neighbouring rows read the same elements (a Jacobi
step with the largest change, 8192²: 228 µs and 266). If rows share their loads (sums over pairs of
particles), a nest keeps a row's values in registers.

The rows of a nest of three loops are too short for a combination of lanes at the end of each. Such a stencil
gets a grid of three dimensions, in which each thread adds up what it computes: as one loop, each element
costs two divisions. All other nests of three and more loops are one loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NEIGHBOURS = 256
"""Accesses at most this many bytes apart are in the same row."""
SHORT = 32
"""An innermost loop of fewer iterations does not fill a warp."""


@dataclass(frozen=True)
class ReducedNest:
    """
    A nest of loops whose iterations a reduction over gangs adds up. `moving`: accesses in its body that move
    with all loops. `streaming`: the body has no loops, and no calls that may contain loops. `distances`:
    bytes between such accesses of one array, None if not constant. `columns`: iterations of the innermost
    loop, None if not constant. `variables` of all loops. `alone`: the construct has no
    other nest, and this one reduces scalars, so that three loops can have a grid of three dimensions.
    """

    moving: int
    streaming: bool
    distances: Sequence[int | None] = ()
    columns: int | None = None
    variables: int = 2
    alone: bool = True


def pays_as_one(nest: ReducedNest) -> bool:
    """Whether to number the iterations of all loops consecutively."""
    if nest.columns is not None and nest.columns < SHORT:
        return True
    if nest.variables > 3 or (nest.variables == 3 and not (nest.streaming and nest.alone)):
        return True
    rows = any(distance is None or abs(distance) > NEIGHBOURS for distance in nest.distances)
    return nest.streaming and nest.moving > 0 and not rows
