"""
Data regions that the compiler inferred, which are entered completely or not at all.

No directive requests them, so they must not make a program fail that runs without them. Its constructs
would map their sections one after another; the region maps all of them at once, each as wide as its
constructs together need. That is not possible where two sections overlap or one is present in part, because
data on the device cannot grow (OpenACC 3.4, 2.6.4), nor if the device has too little memory. Then every
construct maps its own data, as the program is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ...compiler.base.abi import DataFlag
from .present import PresentTable

if TYPE_CHECKING:
    from .clauses import Request

SKIPPED = 0
"""The value of `device` in requests of a region that was not entered, and for empty or null sections."""


def is_inferred(requests: Sequence[Request]) -> bool:
    """Whether the requests are those of an inferred region."""
    return bool(requests) and bool(requests[0].flags & DataFlag.INFERRED)


def can_enter(requests: Sequence[Request], table: PresentTable) -> bool:
    """Whether each section is absent or present as a whole, uncompressed, and apart from the others."""
    mapped = [r for r in requests if r.base != 0 and r.bytes > 0]
    for request in mapped:
        entry = table.containing(request.start, request.bytes)
        if entry is None and table.overlapping(request.start, request.bytes):
            return False
        if entry is not None and entry.packed is not None:
            return False
    ranges = sorted((r.start, r.start + r.bytes) for r in mapped)
    return all(before[1] <= after[0] for before, after in pairwise(ranges))
