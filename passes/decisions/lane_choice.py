"""
How many lanes work on one row of a loop whose rows have different lengths.

A warp for a row of 27 entries leaves lanes idle and has one load per lane in flight; one lane per row
reads memory across. Measured on an H200 for a sparse matrix with 27 entries per row in float64: 531 µs
with one lane, 208 with 4, 431 with 32. So a lane should have several entries, and a block always 256
threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from .launch_shape import WARP

BLOCK = 256
ENTRIES_PER_LANE = 12
"""The mean number of entries up to which a lane is not helped by another."""
FEWEST_LANES = 4
ELEMENTS = 4
"""Entries that a lane loads side by side."""


@dataclass(frozen=True)
class LaneVersion:
    """A block shape for rows of at most `longest` entries on average (None: any length)."""

    lanes: int
    longest: int | None

    @property
    def workers(self) -> int:
        """Rows that a block works on together."""
        return BLOCK // self.lanes


def lane_versions() -> list[LaneVersion]:
    """The versions of a construct to choose from at run time, for short rows first."""
    versions: list[LaneVersion] = []
    lanes = FEWEST_LANES
    while lanes < WARP:
        versions.append(LaneVersion(lanes, lanes * ENTRIES_PER_LANE))
        lanes *= 2
    return [*versions, LaneVersion(WARP, None)]
