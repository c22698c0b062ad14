"""
The number of lanes per row for a loop over rows of different lengths.

A whole warp for a row of 27 entries leaves lanes idle and has one load per lane in flight; with one lane
per row, neighbouring lanes read distant addresses. Measured on an H200 for a sparse matrix with 27 entries
per row in float64: 531 µs with one lane, 208 with 4, 431 with 32. So a lane should have several entries,
and a block always 256 threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from .device import WARP

BLOCK = 256
ENTRIES_PER_LANE = 12
"""For rows of at most this many entries on average, one lane per row is best."""
FEWEST_LANES = 4
ELEMENTS = 4
"""The entries that one lane should have."""
TERMS_PER_LANE = 48
"""
The entries from which on rows of which nothing but sums in order is computed get more lanes, each of which
adds up all terms: 64 to 127 neighbours of 262144 particles take 162 µs with 4 lanes, 188 with 8, 261 with 16,
224 with a thread (CUDA).
"""
WARP_IN_ORDER = 512
"""
The entries from which on rows have a warp, of which some sums in order and other things are computed
(`short_rows.py`).
"""


@dataclass(frozen=True)
class LaneVersion:
    """A block shape for rows of at most `longest` entries on average (None: any length)."""

    lanes: int
    longest: int | None

    @property
    def workers(self) -> int:
        """The rows that a block processes concurrently."""
        return BLOCK // self.lanes


@dataclass(frozen=True)
class RowFacts:
    """
    Rows whose entries are processed under a condition (`conditional`), by loops for which the program asks
    for lanes (`asked`), that store (`stores`), or of which some (`in_order`) or all (`all_in_order`) add up
    what has an order.
    """

    conditional: bool = False
    asked: bool = True
    stores: bool = False
    in_order: bool = False
    all_in_order: bool = False


def lane_versions(rows: RowFacts) -> list[LaneVersion]:
    """
    The versions of a construct to choose from at run time, ordered from short rows to long ones. Where rows
    are conditional, the lanes of those that are left out are idle: a third of a million nodes with 8 edges
    each to scattered neighbours takes 95 µs with a warp each and 31 with a thread. Also where no directive
    asks for lanes a thread takes short rows; if it stores, only very short ones (`short_rows.py`).
    """
    versions: list[LaneVersion] = []
    if rows.conditional:
        versions.append(LaneVersion(1, ENTRIES_PER_LANE))
    elif not rows.asked:
        versions.append(LaneVersion(1, FEWEST_LANES if rows.stores else ENTRIES_PER_LANE))
    lanes = FEWEST_LANES
    entries = TERMS_PER_LANE if rows.all_in_order else ENTRIES_PER_LANE
    while lanes < WARP:
        longest = lanes * entries
        if rows.in_order and not rows.all_in_order and lanes * 2 == WARP:
            longest = WARP_IN_ORDER
        versions.append(LaneVersion(lanes, longest))
        lanes *= 2
    return [*versions, LaneVersion(WARP, None)]
