"""
Whether it matters that arrays do not overlap: whether an iteration that has loaded and then stored to an
array loads from another one. LLVM and the GPU's assembler keep that load, and what is computed from it,
behind the store, which waits for the first load. A store that waits for nothing delays no load.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class OrderedAccess:
    """A load or a store of a part of `array`, as a `type`."""

    array: Hashable
    type: Hashable
    writes: bool


@dataclass(frozen=True)
class Repeated:
    """The body of a loop whose iterations one thread runs one after the other."""

    body: Sequence[Step]


Step = OrderedAccess | Repeated


def _accesses(steps: Sequence[Step]) -> Iterator[OrderedAccess]:
    for step in steps:
        if isinstance(step, Repeated):
            yield from _accesses(step.body)
        else:
            yield step


def loads_after_stores(
    steps: Sequence[Step], may_overlap: Callable[[OrderedAccess, OrderedAccess], bool]
) -> bool:
    """
    Whether one of the `steps`, in their order, loads from an array after a load and a later store to
    another array, for which `may_overlap(store, load)` holds. A loop's steps are also before those of its
    next iteration.
    """
    return _Search(may_overlap).finds(steps)


class _Search:
    def __init__(self, may_overlap: Callable[[OrderedAccess, OrderedAccess], bool]):
        self.may_overlap = may_overlap
        self.loaded = False
        self.stored: dict[OrderedAccess, None] = {}

    def finds(self, steps: Sequence[Step]) -> bool:
        for step in steps:
            if isinstance(step, Repeated):
                inside = list(_accesses(step.body))
                self.loaded |= any(not access.writes for access in inside)
                for access in inside:
                    self._store(access)
                if self.finds(step.body):
                    return True
            elif step.writes:
                self._store(step)
            elif self._may_follow(step):
                return True
            else:
                self.loaded = True
        return False

    def _store(self, access: OrderedAccess) -> None:
        if access.writes and self.loaded:
            self.stored[access] = None

    def _may_follow(self, load: OrderedAccess) -> bool:
        return any(s.array != load.array and self.may_overlap(s, load) for s in self.stored)
