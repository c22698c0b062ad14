"""From how many sums on a thread should compute each sum of a nest of two or more parallel loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .device import WARP
from .short_rows import MANY_THREADS, RowAccess

_NEAR_BYTES = 16
"""Elements up to this many bytes apart count as neighbours."""


def _has_near_lanes(access: RowAccess) -> bool:
    """Whether iterations of the loop around access the same element, or neighbours."""
    step = None if access.across is None else access.across.as_constant
    return step is not None and abs(step) <= _NEAR_BYTES


def threads_from(accesses: Iterable[RowAccess], trips: Sequence[int | None]) -> int | None:
    """
    From how many sums on a thread should compute each, rather than lanes together (0: always; None: never).
    `trips`: the numbers of terms that are constants. Lanes are idle if there are fewer terms than a warp has
    lanes; for longer sums, threads should access elements next to each other.
    """
    if all(count is not None and count < WARP for count in trips):
        return 0
    moving = [access for access in accesses if not (access.is_fixed() and _has_near_lanes(access))]
    near = sum(map(_has_near_lanes, moving))
    return MANY_THREADS if 2 * near > len(moving) else None
