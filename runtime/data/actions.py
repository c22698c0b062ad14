"""
What data clauses do on a device: memory, transfers and pointers. Each action is shown to a `Watch`, comes
after the other users of the memory (`ordering.py`), and is recorded in `moved`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol, TypeAlias

from ...compiler.base.abi import DataKind
from ..compression.arrays import Compressor, check_whole, plane_bytes
from ..device import Device, Queue, Strips
from ..errors import AccRuntimeError, ErrorClass
from .clauses import POINTER_BYTES, Request
from .ordering import Ordering
from .present import Entry
from .released import Released
from .sections import split_around, strips_of

COPIES_IN = frozenset((DataKind.COPY, DataKind.COPYIN))
COPIES_OUT = frozenset((DataKind.COPY, DataKind.COPYOUT))

Watch: TypeAlias = Callable[[str, Request, int, Queue], AbstractContextManager[None]]
"""Called with each device action: its kind, request, bytes and queue; the result wraps the action."""


def no_watch(what: str, request: Request, size: int, queue: Queue) -> AbstractContextManager[None]:
    """The `Watch` of a program that is not traced."""
    return nullcontext()


class Blocks(Protocol):
    """Keeps freed blocks of device memory on which only the synchronous queue may have work."""

    def take_block(self, size: int) -> int | None:
        """A block of `size` bytes; None if there is none."""
        ...

    def keep_block(self, address: int, size: int) -> int | None:
        """Keeps a block; returns a block to free instead, if there is one."""
        ...

    def drain(self) -> Sequence[int]:
        """Returns all kept blocks, and keeps none."""
        ...


class DataActions:
    """
    The actions on one device. `moved` becomes true with the first one that was put on a queue, so that a
    synchronous construct knows whether there is anything to wait for; the caller resets it.
    """

    def __init__(self, device: Device, ordering: Ordering):
        self.device = device
        self.ordering = ordering
        self.compressor = Compressor(device)
        self.watch: Watch = no_watch
        self.moved = False
        self.released = Released()
        self.blocks: Blocks | None = None
        """Keeps freed blocks of device memory for later."""

    # Memory

    def obtain(self, entry: Entry, request: Request, queue: Queue) -> None:
        """Gives a new entry device memory for the section of its request, which may be compressed."""
        size, wanted = request.bytes, request.packed
        if wanted is not None:
            size = plane_bytes(size, wanted.format) * wanted.format.members
        with self.watch("allocate", request, size, queue):
            if request.packed is None:
                entry.device = self._allocate(request, queue)
            else:
                copied = request.kind in COPIES_IN
                entry.packed = self.compressor.create(request, copied, queue)
                entry.device = self.compressor.place(entry.packed, request)
        self.moved = True

    def _allocate(self, request: Request, queue: Queue) -> int:
        """
        Allocates a block for a section: a kept one of that size if there is one, zeroed if the device
        requires that and nothing is copied to it. If memory is short, frees the kept blocks first.
        """
        size, kept = request.bytes, None
        if self.blocks is not None and queue is self.device.sync_queue:
            kept = self.blocks.take_block(size)
        if kept is not None:
            if self.device.clears_blocks and request.kind not in COPIES_IN:
                self.device.zero(kept, size, queue)
            return kept
        try:
            address = self.device.allocate(size, queue)
        except AccRuntimeError as failed:
            if failed.kind is not ErrorClass.OUT_OF_MEMORY or not self.free_kept():
                raise
            address = self.device.allocate(size, queue)
        self.released.reuse(address, size)
        return address

    def zero(self, entry: Entry, request: Request, queue: Queue) -> None:
        """Zeroes the device memory of an entry."""
        with self.watch("zero", request, entry.device_bytes, queue):
            self.device.zero(entry.device, entry.device_bytes, queue)

    def free(self, entry: Entry, request: Request, queue: Queue) -> None:
        """Frees an entry's memory, ordered on the queue, or keeps it if no other queue has work on it."""
        with self.watch("free", request, entry.device_bytes, queue):
            self._free(entry, queue)

    def _free(self, entry: Entry, queue: Queue) -> None:
        alone = queue is self.device.sync_queue and not self.ordering.pending(entry.users, queue)
        if self.blocks is None or not alone or entry.packed is not None:
            self.ordering.free(entry.allocation, entry.users, queue)
            return
        instead = self.blocks.keep_block(entry.device, entry.bytes)
        if instead is not None:
            self.device.free(instead, queue)

    def free_kept(self) -> int:
        """Frees the kept blocks; returns their number."""
        kept = self.blocks.drain() if self.blocks is not None else ()
        for address in kept:
            self.device.free(address, self.device.sync_queue)
        return len(kept)

    def check_address(self, address: int, what: str) -> None:
        """Raises `acc_error_not_present` for an address of device memory that was released."""
        if address in self.released:
            raise AccRuntimeError(
                ErrorClass.NOT_PRESENT,
                f"{what} is an address of device memory that has been released",
                remedy="ask for the address again, after the data has been mapped again",
            )

    # Contents

    def set_pointer(
        self, what: str, pointer: int, value: int, holder: Entry, request: Request, queue: Queue
    ) -> None:
        """Stores a value to the device copy of the pointer object at host address `pointer`, which is in
        `holder`; `what`: "attach" or "detach"."""
        self.ordering.before_copy(holder.users, queue)
        with self.watch(what, request, POINTER_BYTES, queue):
            self.device.store_pointer(holder.device_address(pointer), value, queue)
        self.moved = True

    def copy(
        self, what: Literal["copy in", "copy out"], entry: Entry, request: Request, queue: Queue
    ) -> None:
        """Copies the section of `request` to the device, or back, unless host and device share it."""
        if entry.shared:
            return
        inwards = what == "copy in"
        self.ordering.before_copy(entry.users, queue)
        self.ordering.use(entry.users, queue)
        if entry.packed is not None:
            strips = strips_of(request.shape, request.offset, request.bytes)
            check_whole(request, entry.packed.format)
            pack = self.compressor.copy_in if inwards else self.compressor.copy_out
            with self.watch(what, request, entry.packed.size_of(request.bytes), queue):
                pack(entry, request.start, strips, queue)
            self.moved = True
            return
        device, host = entry.device_address(request.start), request.start
        for strips in self._strips(entry, request):
            with self.watch(what, request, strips.width * strips.rows, queue):
                if inwards:
                    self.device.copy_in(device, host, strips, queue)
                else:
                    self.device.copy_out(host, device, strips, queue)
            self.moved = True

    def _strips(self, entry: Entry, request: Request) -> Iterable[Strips]:
        """
        The bytes to move for a request, without attached pointers: a host address is useless on the device,
        and a device address must not reach the host.
        """
        strips = strips_of(request.shape, request.offset, request.bytes)
        if not entry.attachments:
            return strips
        words = sorted(a - request.start for a in entry.attachments)
        return split_around(strips, words, POINTER_BYTES)
