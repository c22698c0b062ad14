"""
Placement of barriers between accesses of threads that run the same code redundantly.

In gang-redundant (or worker-redundant) code every thread loads for itself, one thread stores, and
partitioned loops let all threads do both. `EffectTracker` remembers the accesses since the last
barrier; a new access that conflicts with one of them needs a barrier first. So there is no barrier without
a later access, nor between two accesses of the leader.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from xdsl.ir import SSAValue


class Space(Enum):
    """Kinds of memory objects that threads may share."""

    DEVICE = "device"
    """Global memory: a kernel argument, a global variable, or a pointer loaded from memory."""
    SHARED = "shared"
    """A gang- or worker-private variable in shared memory."""
    INTERNAL = "internal"
    """A buffer of the lowering itself (broadcasts, reductions)."""
    UNKNOWN = "unknown"
    """Either of the first two."""


@dataclass(frozen=True, slots=True)
class Root:
    """
    The object that a pointer points into. `key` identifies it within its space (None: unknown; "*": any
    internal buffer). `distinct`: no other pointer in the kernel points into it.
    """

    space: Space
    key: SSAValue | str | None = None
    distinct: bool = False


UNKNOWN = Root(Space.UNKNOWN)
ANY_INTERNAL = Root(Space.INTERNAL, "*")


def may_alias(a: Root, b: Root) -> bool:
    """Whether accesses through the two roots may touch the same memory."""
    if a == b:
        return True
    spaces = {a.space, b.space}
    if Space.INTERNAL in spaces:
        return len(spaces) == 1 and "*" in (a.key, b.key)
    if Space.UNKNOWN in spaces:
        return True
    if Space.SHARED in spaces:
        return False
    return not a.distinct and not b.distinct


@dataclass(frozen=True, slots=True)
class ObjectAccess:
    """A read or write of `root`; `leader`: by one thread only, which is the same for all such accesses."""

    root: Root
    write: bool
    leader: bool

    def conflicts(self, later: ObjectAccess) -> bool:
        """Whether threads must synchronise between this access and a later one."""
        if not (self.write or later.write) or (self.leader and later.leader):
            return False
        return may_alias(self.root, later.root)


def accesses(reads: Iterable[Root], writes: Iterable[Root], *, leader: bool) -> list[ObjectAccess]:
    """The accesses that read and write these roots."""
    return [ObjectAccess(r, False, leader) for r in reads] + [
        ObjectAccess(w, True, leader) for w in writes
    ]


@dataclass
class EffectTracker:
    """Accesses since the last barrier."""

    pending: set[ObjectAccess] = field(default_factory=set[ObjectAccess])

    def conflicts(self, new: Iterable[ObjectAccess]) -> bool:
        """Whether any of the new accesses needs a barrier before it."""
        return any(old.conflicts(access) for access in new for old in self.pending)

    def add(self, new: Iterable[ObjectAccess]) -> None:
        self.pending.update(new)

    def clear(self) -> None:
        """Forgets all accesses, after a barrier."""
        self.pending.clear()

    def copy(self) -> EffectTracker:
        return EffectTracker(set(self.pending))
