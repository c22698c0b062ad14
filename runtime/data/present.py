"""
The present table of one device: the host memory that has a copy on it (OpenACC 3.4, 2.6).

An `Entry` maps a range of host bytes to a device address and carries the structured and dynamic reference
counters, and the attachment counters of the pointer objects in it. Entries never overlap, so every lookup
is one bisection of a list sorted by start address. The table does not access the device; `mapping.py`
performs data clauses on it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from ..compression.arrays import Packed
from ..errors import AccRuntimeError, ErrorClass, HostRange
from .ordering import Users

MAP_DATA = "acc_map_data"
"""The origin of entries for device memory of the program's own."""


@dataclass(slots=True, eq=False)
class Entry:
    """
    Host bytes `[host, host + bytes)` with their device address.

    `pinned` entries (declare, acc_map_data) are never freed by a counter reaching zero.
    `packed`: how the numbers are compressed on the device; None for plain data.
    `attachments`: host address of a pointer object in this entry → its attachment counter.
    `users`: the queues that may be using the device memory.
    `base`: the address of the array of which the entry is a section; 0 if it is not known.
    `shared`: the device memory is the host's: nothing is copied or freed.
    """

    host: int
    bytes: int
    device: int
    structured: int = 0
    dynamic: int = 0
    pinned: bool = False
    origin: str = ""
    base: int = 0
    packed: Packed | None = None
    attachments: dict[int, int] = field(default_factory=dict[int, int])
    users: Users = field(default_factory=Users)
    shared: bool = False

    @property
    def end(self) -> int:
        """The first host address after the entry."""
        return self.host + self.bytes

    @property
    def live(self) -> bool:
        """Whether a counter still keeps the data on the device."""
        return self.pinned or self.structured + self.dynamic > 0

    def device_address(self, host: int) -> int:
        """The device address that corresponds to a host address (which may lie outside)."""
        if self.packed is not None:
            return self.device + self.packed.bytes_of(host - self.host)
        return self.device + (host - self.host)

    @property
    def allocation(self) -> int:
        """The device address that was allocated."""
        return self.device if self.packed is None else self.packed.allocation

    @property
    def device_bytes(self) -> int:
        """The bytes of the entry's device memory."""
        if self.packed is None:
            return self.bytes
        return max(self.packed.plane * self.packed.format.members, 1)

    def range(self) -> HostRange:
        """The host range, for messages."""
        return HostRange(self.host, self.bytes, self.origin)


class Mirror(Protocol):
    """Is notified of each entry that is added or removed, and of changes to one."""

    def insert(self, entry: Entry) -> None: ...

    def remove(self, entry: Entry) -> None: ...

    def renew(self, entry: Entry) -> None: ...


def _freed(name: str, held: Sequence[Entry]) -> str:
    """A hint for messages if another variable is mapped in the memory of this one, whose memory may have
    been freed."""
    others = [e.origin for e in held if e.origin and f"'{name}'" not in e.origin]
    return f"; if what {others[0]} maps was freed: delete it before" if others else ""


class PresentTable:
    """
    Entries sorted by host address.

    `epoch` changes whenever an entry is added or removed: a remembered answer is valid as long as the epoch
    is unchanged.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.changed: Callable[[], None] = lambda: None
        """Called when an entry was added or is about to be removed, and when it gets more users."""
        self.mirror: Mirror | None = None
        """A copy of the table that follows its changes (`native/present_rows.py`)."""
        self._starts: list[int] = []
        self._entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def section_of(self, base: int) -> Entry | None:
        """The only entry that is a section of the array at `base`; None if there are none, or several."""
        found = [entry for entry in self._entries if entry.base == base]
        return found[0] if len(found) == 1 else None

    def at(self, address: int) -> Entry | None:
        """The entry that contains the byte at `address`."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        entry = self._entries[index]
        return entry if address < entry.host + entry.bytes else None

    def containing(self, start: int, size: int) -> Entry | None:
        """The entry that contains all of `[start, start + size)`; None if there is none."""
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return None
        entry = self._entries[index]
        last = start + size if size > 0 else start + 1
        return entry if last <= entry.host + entry.bytes else None

    def overlapping(self, start: int, size: int) -> tuple[Entry, ...]:
        """All entries that share a byte with `[start, start + size)`."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_right(self._starts, start + size - 1)
        return tuple(e for e in self._entries[first:last] if e.end > start)

    def lookup(self, start: int, size: int, name: str) -> Entry | None:
        """
        The entry that contains `[start, start + size)`, or None when no byte of it is present.

        A size of zero asks for the byte at `start`. Raises `acc_error_partly_present` when only
        part of the range is present: data on the device never grows.
        """
        entry = self.containing(start, size)
        if entry is not None or size <= 0:
            return entry
        held = self.overlapping(start, size)
        if not held:
            return None
        raise AccRuntimeError(
            ErrorClass.PARTLY_PRESENT,
            f"'{name}' is only partly present on the device, and data there cannot grow",
            requested=HostRange(start, size),
            overlapping=tuple(e.range() for e in held),
            remedy="map the larger section first, or delete the smaller one before mapping this one"
            + _freed(name, held),
        )

    def insert(self, entry: Entry) -> Entry:
        """Adds an entry, which must not overlap another one nor be empty."""
        assert entry.bytes > 0 and not self.overlapping(entry.host, entry.bytes)
        if self.mirror is not None:
            self.mirror.insert(entry)
        return self._insert(entry)

    def follow(self, entry: Entry) -> Entry:
        """Adds an entry that the mirror already has."""
        return self._insert(entry)

    def _insert(self, entry: Entry) -> Entry:
        index = bisect_right(self._starts, entry.host)
        self._starts.insert(index, entry.host)
        self._entries.insert(index, entry)
        entry.users.grown = partial(self.renew, entry)
        self.epoch += 1
        self.changed()
        return entry

    def remove(self, entry: Entry) -> None:
        """Removes an entry; the caller frees its device memory."""
        index = bisect_right(self._starts, entry.host) - 1
        assert self._entries[index] is entry
        self.changed()
        if self.mirror is not None:
            self.mirror.remove(entry)
        del self._starts[index]
        del self._entries[index]
        self.epoch += 1

    def renew(self, entry: Entry) -> None:
        """An entry has pointers attached in it, none any more, or more users."""
        self.changed()
        if self.mirror is not None:
            self.mirror.renew(entry)

    def index(self, entry: Entry) -> int | None:
        """The index of an entry in the order of host addresses; None if it is not in the table."""
        index = bisect_right(self._starts, entry.host) - 1
        return index if index >= 0 and self._entries[index] is entry else None

    def by_device_address(self, address: int) -> Entry | None:
        """The entry whose device copy contains `address` (linear: only `acc_hostptr` and `MeanTrips` ask)."""
        for entry in self._entries:
            if entry.device <= address < entry.device + entry.device_bytes:
                return entry
        return None
