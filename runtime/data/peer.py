"""
`update peer` and `acc_memcpy_d2d`: copy one device's copy of a section to another device's copy of a
section.

The copy is ordered on a queue of each of the two devices, after their previous work and before their next;
events order the two queues. The host waits only for a synchronous copy, where the program could observe the
difference (docs/devices.md, "When the host waits"), and holds no lock meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..device import Queue
from ..errors import AccRuntimeError, ErrorClass, HostRange, ProgramPlace
from ..native.peers import Known, Side
from ..native.queues import NativeQueue
from ..state import DeviceState
from .clauses import POINTER_BYTES
from .peer_sections import PeerStrips, paired, without
from .present import Entry
from .sections import Shape, strips_of

if TYPE_CHECKING:
    from ..program import Runtime


@dataclass(frozen=True, slots=True)
class PeerSection:
    """
    One side: the `bytes` bytes of host memory from `base` on, or the part of them that `shape` selects;
    `clause` and `name` are for messages.
    """

    state: DeviceState
    base: int
    bytes: int
    shape: Shape
    clause: str
    name: str

    @property
    def offset(self) -> int:
        """The offset of the section's first byte from `base`."""
        return sum(lower * stride for lower, _, stride in self.shape)

    @property
    def extent(self) -> int:
        """The bytes from the section's first to its last one, gaps included."""
        if not self.shape:
            return self.bytes
        extents = [extent for _, extent, _ in self.shape]
        if min(extents) <= 0:
            return 0
        *outer, (_, extent, stride) = self.shape
        return extent * stride + sum((e - 1) * s for _, e, s in outer)

    @property
    def size(self) -> int:
        """The number of bytes that the section selects."""
        if not self.shape or self.extent == 0:
            return self.extent
        size = self.shape[-1][2]
        for _, extent, _ in self.shape:
            size *= extent
        return size

    def find(self) -> tuple[Entry | None, int]:
        """The section's entry, and the device address of its first byte. The caller holds the device's
        lock. Raises `acc_error_not_present`."""
        start = self.base + self.offset
        try:
            entry = self.state.table.lookup(start, self.extent, self.name)
        except AccRuntimeError as partly:
            raise partly.located(None, self.state.device.name) from None
        if entry is None and self.state.device.shares_memory:
            return None, start
        if entry is None:
            raise AccRuntimeError(
                ErrorClass.NOT_PRESENT,
                f"'{self.name}' in '{self.clause}' is not present on device {self.state.number}",
                requested=HostRange(start, self.extent),
                overlapping=tuple(
                    e.range() for e in self.state.table.overlapping(start, self.extent)
                ),
                device=self.state.device.name,
                remedy=f"map it there first: enter data copyin({self.name}) deviceid({self.state.number})",
            )
        if entry.packed is not None:
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"'{self.name}' is compressed on the device, so it cannot be copied to another device",
                requested=HostRange(start, self.extent),
                device=self.state.device.name,
                remedy="copy it through the host: update self on one device, update device on the other",
            )
        return entry, entry.device_address(start)

    def attached(self, entry: Entry | None) -> list[int]:
        """The offsets of attached pointers from the section's first byte."""
        start = self.base + self.offset
        words = () if entry is None else entry.attachments
        return sorted(word - start for word in words)


def copy_peer(
    runtime: Runtime, place: ProgramPlace, to: PeerSection, origin: PeerSection, number: int
) -> None:
    """
    Copies `origin` to `to` on queue `number` of both devices. Raises `AccRuntimeError` for sections of
    different sizes (`acc_error_invalid_data_section`) and for absent ones.
    """
    if to.size != origin.size:
        raise AccRuntimeError(
            ErrorClass.INVALID_DATA_SECTION,
            f"'{to.name}' in '{to.clause}' has {to.size} bytes, and '{origin.name}' in"
            f" '{origin.clause}' has {origin.size}",
            place=place,
            remedy="name sections of the same size",
        )
    if to.size == 0:
        return
    default = runtime.thread.default_async
    queues = to.state.queue(number, default), origin.state.queue(number, default)
    synchronous = queues[0] is to.state.sync_queue
    goes_on = synchronous and runtime.may_go_on(to.state, origin.state)
    with runtime.visiting(to.state, origin.state):
        if synchronous and not goes_on:
            for queue in (queues[1], *_users(to), *_users(origin)):
                queue.wait()
            queues = queues[0], queues[0]
        first, second = sorted((to.state, origin.state), key=lambda state: state.row)
        with first.lock, second.lock:
            _put(runtime, to, origin, queues, number)
        if goes_on:
            runtime.went_on(to.state, origin.state)
            goes_on = runtime.may_go_on(to.state, origin.state)
        if synchronous and not goes_on:
            queues[0].wait()


def _check_apart(to: PeerSection, origin: PeerSection, target: int, source: int) -> None:
    """Raises `acc_error_invalid_data_section` for two runs of bytes that overlap on one device, where the
    result of a copy is not defined."""
    distance = abs(target - source)
    runs = to.extent == to.size and origin.extent == origin.size
    if to.state is origin.state and runs and 0 < distance < to.size:
        raise AccRuntimeError(
            ErrorClass.INVALID_DATA_SECTION,
            f"'{to.name}' in '{to.clause}' and '{origin.name}' in '{origin.clause}' overlap on device"
            f" {to.state.number}, by {to.size - distance} of {to.size} bytes",
            device=to.state.device.name,
            remedy="copy to other memory first, or less at a time",
        )


def _put(
    runtime: Runtime,
    to: PeerSection,
    origin: PeerSection,
    queues: tuple[Queue, Queue],
    number: int,
) -> None:
    """Enqueues the copy on queues of the two devices, whose locks are held; `queues` is the same queue
    twice if the other device is idle."""
    synchronous = queues[0] is to.state.sync_queue
    (entry, target), (other, source) = to.find(), origin.find()
    _check_apart(to, origin, target, source)
    for side, used, queue in ((to, entry, queues[0]), (origin, other, queues[1])):
        if not synchronous:
            if used is not None:
                side.state.mapper.actions.ordering.use(used.users, queue)
            continue
        for user in _users(side):
            queue.wait_for(user)
    whole = list(_strips(to, origin))
    attached = to.attached(entry), origin.attached(other)
    strips = list(without(whole, *attached, POINTER_BYTES))
    device = to.state.device
    memory = (target, target + to.extent), (source, source + origin.extent)
    sooner = None if synchronous else _after_borders(to, origin, memory, queues)
    device.copy_peer(origin.state.device, (target, source), strips, sooner or queues)
    if sooner is not None:
        for side, queue, border in zip((to, origin), queues, sooner, strict=True):
            queue.wait_for(border)
            side.state.borders.keep(queue)
    to.state.borders.wish(memory[0], writes=True)
    origin.state.borders.wish(memory[1], writes=False)
    if not synchronous:
        to.state.leaves_device(queues[0])
        origin.state.leaves_device(queues[1])
    if strips == whole and len(strips) <= _MOST_STRIPS:
        _remember(runtime, (to, origin), strips, number)


def _after_borders(
    to: PeerSection,
    origin: PeerSection,
    memory: tuple[tuple[int, int], tuple[int, int]],
    queues: tuple[Queue, Queue],
) -> tuple[Queue, Queue] | None:
    """The queues after which simulated devices copy instead of `queues`, if both allow it."""
    own = to.state.borders.early(queues[0], memory[0], writes=True)
    other = origin.state.borders.early(queues[1], memory[1], writes=False)
    return None if own is None or other is None else (own, other)


_MOST_STRIPS = 16
"""The most rectangles of a copy that native code repeats."""


def _remember(
    runtime: Runtime, sides: tuple[PeerSection, PeerSection], strips: list[PeerStrips], number: int
) -> None:
    """Registers a copy with native code, if that can perform the next one."""
    to, origin = sides
    way = to.state.device.native_way(origin.state.device)
    if way is None:
        return
    default = runtime.thread.default_async
    run = strips == [PeerStrips(0, 0, to.size)]
    shape = () if run else _words(to, origin)
    own, other = (_native_side(side, number, default, run=run) for side in (to, origin))
    runtime.copied(Known(own, other, way, number, strips, shape))


def _words(to: PeerSection, origin: PeerSection) -> list[int]:
    """The shapes of the sections as words in the form of `PeerUpdate`."""
    counts = [to.bytes, origin.bytes, len(to.shape), len(origin.shape)]
    return counts + [word for triple in (*to.shape, *origin.shape) for word in triple]


def _native_side(section: PeerSection, number: int, default: int, *, run: bool) -> Side:
    state = section.state
    entry, address = section.find()
    users = (
        [] if entry is None else state.mapper.actions.ordering.others(entry.users, state.sync_queue)
    )
    return Side(
        section.base + section.offset if run else section.base,
        state.row,
        address,
        section.extent,
        _native_queue(state, state.queue(number, default)),
        [_native_queue(state, queue) for queue in state.queues()],
        [_native_queue(state, queue) for queue in users],
    )


def _native_queue(state: DeviceState, queue: Queue) -> NativeQueue:
    known = state.device.native_queue(queue)
    assert known is not None, "native copies need devices with events"
    return known


def _strips(to: PeerSection, origin: PeerSection) -> Iterator[PeerStrips]:
    return paired(
        strips_of(to.shape, to.offset, to.extent),
        strips_of(origin.shape, origin.offset, origin.extent),
    )


def _users(side: PeerSection) -> list[Queue]:
    """The queues whose work on the section may not be finished."""
    with side.state.lock:
        entry, _ = side.find()
        if entry is None:
            return []
        return side.state.mapper.actions.ordering.pending(entry.users, side.state.sync_queue)
