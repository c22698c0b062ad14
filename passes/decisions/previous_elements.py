"""Whether an iteration loads what the one before it has stored."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from .polynomials import Polynomial


def is_of_previous(
    load: Sequence[Polynomial | None],
    store: Sequence[Polynomial | None],
    variable: Hashable,
    step: int,
) -> bool:
    """
    Whether the subscripts of a load in one iteration of a loop over `variable` are those of a store in the
    iteration before, `step` earlier, and not those of the store in the same iteration.
    """
    if len(load) != len(store):
        return False
    moved = False
    for read, written in zip(load, store, strict=True):
        if read is None or written is None:
            return False
        slope = written.slope(variable)
        if slope is None or (written - read).as_constant != slope * step:
            return False
        moved = moved or slope != 0
    return moved
