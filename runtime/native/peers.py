"""
Copies between two devices in native code, if the same copy was made before.

Python (`data/peer.py`) makes the first copy of two sections on a queue, and stores their device addresses
in a table. From then on, as long as neither device's present table changes (`DeviceRow.present`), native
code performs the copy:

- a copy with `async` becomes an aside of that queue on both devices (`peers_code.py`);
- a synchronous copy becomes an aside of the synchronous queues, after the queues that use the data, and the
  host goes on, if the program cannot observe that (docs/devices.md, "When the host waits");
- otherwise it is made if all queues of both devices are idle, and the host waits for it. If they are not
  idle, Python orders the copy after the pending work.
"""

from __future__ import annotations

import ctypes
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...compiler.base.abi import ASYNC_DEFAULT, ASYNC_NOVAL, ASYNC_SYNC, PeerUpdate
from ..data.peer_sections import PeerStrips
from ..device import NativeDriver
from .borders import EARLY_IR
from .code import NativeCode
from .devices import ROW_IR, NativeDevices
from .peers_code import COPY_IR
from .peers_entries import ENTRIES_IR
from .queues import ASIDE_IR, ORDER_IR, QUEUE_ADDRESSES, QUEUE_IR, RECORD_IR, NativeQueue
from .runs_code import RUN_IR
from .text import structure

PLACES = 64
"""The number of copies that are remembered: enough for the halo exchange of a few arrays on eight
devices."""
_SHAPED = -1
"""The value in place of a size for sections of more than one run of bytes."""


structure("peer_update")(PeerUpdate)


@structure("place")
class _Place(ctypes.Structure):
    """
    A remembered copy: the program's arguments, the device addresses, and the queues. `shape`: the words of
    its shape (`Known.shape`), null if it is one run of bytes; `rectangle`: the first of the `rectangles`
    rectangles that the driver then copies. `kernel`: the kernel that copies instead if other work waits for
    the copy (`_launch_words`), or null. `slot`: that of the queue in the tables of launches. `all` and
    `users`: `NativeQueue`s of the source's device, then of the target's; their numbers are in the counts.
    """

    _fields_ = (
        ("target", ctypes.c_int64),
        ("source", ctypes.c_int64),
        ("size", ctypes.c_int64),
        ("to", ctypes.c_int64),
        ("origin", ctypes.c_int64),
        ("number", ctypes.c_int64),
        ("to_address", ctypes.c_int64),
        ("from_address", ctypes.c_int64),
        ("to_extent", ctypes.c_int64),
        ("from_extent", ctypes.c_int64),
        ("to_present", ctypes.c_int64),
        ("from_present", ctypes.c_int64),
        ("to_queue", ctypes.c_int64),
        ("from_queue", ctypes.c_int64),
        ("lane", ctypes.c_int64),
        ("slot", ctypes.c_int64),
        ("shape", ctypes.c_int64),
        ("rectangle", ctypes.c_int64),
        ("rectangles", ctypes.c_int64),
        ("kernel", ctypes.c_int64),
        ("all", ctypes.c_int64),
        ("from_all", ctypes.c_int64),
        ("to_all", ctypes.c_int64),
        ("users", ctypes.c_int64),
        ("from_users", ctypes.c_int64),
        ("to_users", ctypes.c_int64),
    )


@dataclass(frozen=True, slots=True)
class PeerDriver:
    """The `driver` of each device, and addresses of further functions: `copy` is `cuMemcpyPeerAsync`,
    `copy_rectangle` `cuMemcpy3DPeerAsync`, `set_current` `cuCtxSetCurrent`."""

    driver: NativeDriver
    copy: int
    copy_rectangle: int
    set_current: int


@dataclass(frozen=True, slots=True)
class KernelCopy:
    """A copy by a kernel of the source's device: its handle, `blocks` of `threads`, and its arguments."""

    function: int
    blocks: int
    threads: int
    values: Sequence[ctypes.c_int64]


class PeerWay(Protocol):
    """The way of copies between two devices that have access to each other's memory."""

    def lane(self) -> NativeQueue:
        """A queue of the source's device that is used only for these copies."""
        ...

    def rectangles(
        self, target: int, source: int, strips: Sequence[PeerStrips]
    ) -> ctypes.Array[ctypes.c_int64]:
        """The arguments of `PeerDriver.copy_rectangle`, `RECTANGLE_BYTES` bytes for each of the strips."""
        ...

    def kernel(self, target: int, source: int, strips: Sequence[PeerStrips]) -> KernelCopy | None:
        """A kernel that copies the strips; None if the driver's copies are always faster."""
        ...


RECTANGLE_BYTES = 200


@dataclass(frozen=True, slots=True)
class Side:
    """
    One side of a copy: its host address in the program, its device's row, the device address of its first
    byte, the bytes from there to its last one, and queues of the device: the queue of the copy, all queues,
    and those that may use the data.
    """

    host: int
    row: int
    address: int
    extent: int
    queue: NativeQueue
    all: Sequence[NativeQueue]
    users: Sequence[NativeQueue]


@dataclass(frozen=True, slots=True)
class Known:
    """
    A copy just made; `number` is the value of the async clause. `shape`: for sections of more than one run
    of bytes, the words of `PeerUpdate` from `to_bytes` to `from_dims` and the contents of its shapes;
    otherwise empty. `strips`: the copied rectangles.
    """

    to: Side
    origin: Side
    way: PeerWay
    number: int
    strips: Sequence[PeerStrips]
    shape: Sequence[int] = ()


_MOST_EVENTS = 64
"""The most queues after which a native copy can be ordered; with more, Python makes the copy."""
_KEPT = 4096
"""Replaced lists of native code that other threads may still be reading."""


_ROUTINES = ("acc_memcpy_d2d", "acc_memcpy_d2d_async", "acc_update_peer", "__accopt_update_peer")

_NAMED = ("target", "source", "size", "to", "origin", "number")
"""The fields that are compared with the arguments of the program; then `shape` is compared."""


class NativePeers:
    """
    The functions (`addresses`, by their names) for the devices of `devices`. `slow`: C addresses of those in
    Python by the same names.
    """

    def __init__(self, devices: NativeDevices, driver: PeerDriver, slow: Mapping[str, int]):
        self._devices = devices
        self._places = (_Place * PLACES)(*[_none()] * PLACES)
        self._shapes: list[tuple[int, ...]] = [()] * PLACES
        self._lock = ctypes.c_int64(0)
        self._lists: deque[object] = deque(maxlen=_KEPT)
        self._next = 0
        self._default_known = True
        self._code = NativeCode(
            ROW_IR
            + QUEUE_IR
            + RECORD_IR
            + ASIDE_IR
            + ORDER_IR
            + EARLY_IR
            + COPY_IR
            + RUN_IR
            + ENTRIES_IR,
            {
                **devices.addresses,
                **QUEUE_ADDRESSES,
                "places": ctypes.addressof(self._places),
                "lock": ctypes.addressof(self._lock),
                **driver.driver.addresses,
                "copy": driver.copy,
                "copy_rectangle": driver.copy_rectangle,
                "set_current": driver.set_current,
                **{f"slow_{name}": slow[name] for name in _ROUTINES},
            },
            {
                **devices.constants,
                "count": PLACES,
                "most_events": _MOST_EVENTS,
                "event_words": 2 + _MOST_EVENTS,
                "early_word": 1 + _MOST_EVENTS,
                "bytes": ctypes.sizeof(_Place),
                "rectangle_bytes": RECTANGLE_BYTES,
                "sync": ASYNC_SYNC,
                "shaped": _SHAPED,
            },
        )
        address = self._code.address
        self._try_lock = ctypes.PYFUNCTYPE(ctypes.c_int32)(address("try_lock"))
        self._unlock = ctypes.PYFUNCTYPE(None)(address("unlock"))
        self.addresses = {name: address(f"native_{name}") for name in _ROUTINES}

    def remember(self, known: Known, slot: int) -> None:
        """
        Lets native code perform a copy from now on; `slot`: that of its queue in the tables of launches,
        which both devices have. The caller holds the locks of both devices, so that `known` is up to date.
        """
        if known.number in (ASYNC_NOVAL, ASYNC_DEFAULT) and not self._default_known:
            return
        to, origin, rows = known.to, known.origin, self._devices.rows
        shape = tuple(known.shape)
        size = _SHAPED if shape else to.extent
        key = (to.host, origin.host, size, to.row, origin.row, known.number)
        index = next(
            (
                i
                for i, place in enumerate(self._places)
                if _key(place) == key and self._shapes[i] == shape
            ),
            self._next,
        )
        if index == self._next:
            self._next = (self._next + 1) % PLACES
        everything = _addresses((*origin.all, *to.all))
        users = _addresses((*origin.users, *to.users))
        words, rectangles = (ctypes.c_int64 * len(shape))(*shape), None
        if shape:
            rectangles = known.way.rectangles(to.address, origin.address, known.strips)
        kernel = known.way.kernel(to.address, origin.address, known.strips)
        launch = None if kernel is None else _launch_words(kernel)
        self._lists.append((everything, users, words, rectangles, kernel, launch))
        place = _Place(
            *key, to.address, origin.address, to.extent, origin.extent,
            rows[to.row].present, rows[origin.row].present,
            ctypes.addressof(to.queue), ctypes.addressof(origin.queue),
            ctypes.addressof(known.way.lane()), slot,
            ctypes.addressof(words) if shape else 0,
            ctypes.addressof(rectangles) if rectangles is not None else 0,
            len(known.strips) if shape else 0,
            ctypes.addressof(launch) if launch is not None else 0,
            ctypes.addressof(everything), len(origin.all), len(to.all),
            ctypes.addressof(users), len(origin.users), len(to.users),
        )  # fmt: skip
        self._replace(index, place, shape)

    def forget(self) -> None:
        """Sends everything to Python, until it is remembered again."""
        for index in range(PLACES):
            self._replace(index, _none())

    def forget_default(self) -> None:
        """Sends a bare `async` to Python from now on, as a thread has chosen its own default queue."""
        self._default_known = False
        for index, place in enumerate(self._places):
            if place.number in (ASYNC_NOVAL, ASYNC_DEFAULT):
                self._replace(index, _none())

    def _replace(self, index: int, place: _Place, shape: tuple[int, ...] = ()) -> None:
        while not self._try_lock():  # for the few instructions that native code holds it
            time.sleep(0)
        self._places[index] = place
        self._shapes[index] = shape
        self._unlock()


def _launch_words(kernel: KernelCopy) -> ctypes.Array[ctypes.c_int64]:
    """A launch in the form for native code: function, blocks, threads, and the addresses of the
    arguments."""
    places = map(ctypes.addressof, kernel.values)
    words = [kernel.function, kernel.blocks, kernel.threads, *places]
    return (ctypes.c_int64 * len(words))(*words)


def _none() -> _Place:
    """An empty place in the table."""
    return _Place(size=-2, to=-2)


def _key(place: _Place) -> tuple[int, ...]:
    return tuple(getattr(place, name) for name in _NAMED)


def _addresses(queues: Sequence[NativeQueue]) -> ctypes.Array[ctypes.c_int64]:
    """A list for native code; never of size zero, which has no address."""
    return (ctypes.c_int64 * max(len(queues), 1))(*map(ctypes.addressof, queues))
