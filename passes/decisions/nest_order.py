"""The order of a nest of parallel loops: the innermost is the one with contiguous accesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Walk:
    """Contiguous and strided accesses of a nest with respect to one of its variables."""

    contiguous: int
    strided: int

    @property
    def along(self) -> bool:
        return self.contiguous > self.strided

    @property
    def across(self) -> bool:
        return self.strided > self.contiguous


def best_order(walks: Sequence[Walk]) -> list[int] | None:
    """
    The best order of a nest as a permutation of its positions (`walks`: of the outermost variable first), or
    None to keep the order. If most accesses of the innermost variable are strided, the variable with most
    contiguous accesses becomes the innermost. If that was the outermost, the whole nest is reversed, else the
    others keep their order.
    """
    if not walks or not walks[-1].across:
        return None
    along = [p for p, walk in enumerate(walks) if walk.along]
    last = max(along, key=lambda p: (walks[p].contiguous - walks[p].strided, p), default=None)
    if last is None:
        return None
    if last == 0:
        return list(range(len(walks)))[::-1]
    return [p for p in range(len(walks)) if p != last] + [last]
