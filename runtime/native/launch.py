"""
The launch path in native code: `__accopt_launch` for kernels and queues that have been used before,
and `__accopt_scratch` for memory that has been allocated.

A repeated launch needs three words: the kernel's handle, the queue's stream, and the status. They are in
two tables of each device that Python fills on the first launch of each site and queue; a native function
compiled once per program reads those of the calling thread's device (`devices.py`) and calls
`cuLaunchKernel` by address. Launches that it does not know, or that fail, go to the Python entry point,
which launches again and reports errors.

Launches that use the same scratch memory must run one after the other, so a site with scratch memory takes
the native path only on the queue of its last launch: on another queue, Python orders the launch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from ...compiler.base.abi import (
    ASYNC_BORDER,
    ASYNC_DEFAULT,
    ASYNC_NOVAL,
    ASYNC_ON_DEVICE,
    ASYNC_SYNC,
    Launch,
)
from ..device import NativeDriver
from .code import EVERY_CONSTRUCT, NativeCode
from .devices import ROW_IR, DeviceRow, NativeDevices
from .queues import ORDER_IR, QUEUE_ADDRESSES, QUEUE_IR, RECORD_IR
from .text import structure

MAX_QUEUES = 64
"""Queues with numbers from 0 up to this take the native path; after them come three slots:"""
SYNC_SLOT = MAX_QUEUES
DEFAULT_SLOT = MAX_QUEUES + 1
"""The queue of a bare `async`, while no thread has chosen another than the default."""
BORDER_SLOT = MAX_QUEUES + 2
"""The device's border queue (`borders.py`)."""
_SLOTS = BORDER_SLOT + 1

NUMBERS: dict[str, int | str] = {
    "sync": ASYNC_SYNC,
    "on_device": ASYNC_ON_DEVICE,
    "bare": ASYNC_NOVAL,
    "default": ASYNC_DEFAULT,
    "max_queues": MAX_QUEUES,
    "sync_slot": SYNC_SLOT,
    "default_slot": DEFAULT_SLOT,
    "border": ASYNC_BORDER,
    "border_slot": BORDER_SLOT,
}
"""The format fields of `NUMBER_IR`."""

NUMBER_IR = """
; returns whether constructs with this value of the async clause are on the synchronous queue
define internal i1 @is_synchronous(i64 %number) {{
  %waits = icmp eq i64 %number, {sync}
  %on_device = icmp eq i64 %number, {on_device}
  %result = or i1 %waits, %on_device
  ret i1 %result
}}

; returns the place of a queue in the tables of launches, by the value of the async clause; -1 if it has none
define i64 @slot_of(i64 %number) {{
entry:
  %in_order = call i1 @is_synchronous(i64 %number)
  %bare = icmp eq i64 %number, {bare}
  %named = icmp eq i64 %number, {default}
  %is_default = or i1 %bare, %named
  %is_border = icmp eq i64 %number, {border}
  %no_number = select i1 %is_border, i64 {border_slot}, i64 -1
  %numbered = icmp ult i64 %number, {max_queues}
  %own = select i1 %numbered, i64 %number, i64 %no_number
  %other = select i1 %is_default, i64 {default_slot}, i64 %own
  %slot = select i1 %in_order, i64 {sync_slot}, i64 %other
  ret i64 %slot
}}
"""
"""As `LaunchTables.slot`, in native code."""

_ANY_QUEUE = -1
"""The entry in the table of scratch memory's queues for a site without scratch memory."""

structure("launch")(Launch)

_IR = """
define ptr @scratch(i32 %site, i64 %bytes) {{
entry:
  %row = call ptr @row()
  %sizes = %row->row.scratch_bytes as ptr
  if ne ptr %sizes, null: look, slow
look:
  %held = load i64, ptr %sizes[i32 %site]
  %enough = icmp uge i64 %held, %bytes
  %given = icmp ne i64 %held, 0
  %known = and i1 %enough, %given
  br i1 %known, label %answer, label %slow
answer:
  %addresses = %row->row.scratch as ptr
  %address = load ptr, ptr %addresses[i32 %site]
  ret ptr %address
slow:
  %new = call ptr inttoptr (i64 {slow_scratch} to ptr)(i32 %site, i64 %bytes)
  ret ptr %new
}}

; these two are in Python until the program calls one (`borders.py`)
define i64 @border_begin(ptr %footprint) {{
  %functions = inttoptr i64 {borders} to ptr
  %function = load ptr, ptr %functions[i64 0]
  %rows = call i64 %function(ptr %footprint)
  ret i64 %rows
}}

define void @border_end(ptr %footprint) {{
  %functions = inttoptr i64 {borders} to ptr
  %function = load ptr, ptr %functions[i64 1]
  call void %function(ptr %footprint)
  ret void
}}

define void @launch(i32 %site, ptr %launch) {{
entry:
  %row = call ptr @row()
  %kernels = %row->row.kernels as ptr
  %streams = %row->row.streams as ptr
  %owners = %row->row.owners as ptr
  %served = icmp ne ptr %kernels, null
  %queue = %launch->launch.queue
  %in_order = call i1 @is_synchronous(i64 %queue)
  %index = call i64 @slot_of(i64 %queue)
  %has_slot = icmp sge i64 %index, 0
  %known_queue = and i1 %has_slot, %served
  br i1 %known_queue, label %find, label %slow
find:
  %kernel = load i64, ptr %kernels[i32 %site]
  %stream = load i64, ptr %streams[i64 %index]
  %no_kernel = icmp eq i64 %kernel, 0
  %no_stream = icmp eq i64 %stream, 0
  %owner = load i64, ptr %owners[i32 %site]
  %owned = icmp ne i64 %owner, {any_queue}
  %elsewhere = icmp ne i64 %owner, %index
  %to_order = and i1 %owned, %elsewhere
  %ordered = %row->row.ordered as ptr
  %known_epoch = load i64, ptr %ordered[i64 %index]
  %epoch_at = &%row->row.epoch
  %epoch = load i64, ptr %epoch_at
  %newer = icmp ne i64 %epoch, %known_epoch
  %other_queue = xor i1 %in_order, true
  %behind = and i1 %newer, %other_queue
  %unknown = any %no_kernel %no_stream %to_order
  br i1 %unknown, label %slow, label %known
known:
  br i1 %behind, label %order, label %go
order:
  %late = call i32 @after_constructs(ptr %row, i64 %stream, i64 %index)
  if eq i32 %late, 0: go, slow
go:
  %known_queues = call ptr @queues(ptr %row)
  %own_queue = load ptr, ptr %known_queues[i64 %index]
  %has_own = icmp ne ptr %own_queue, null
  br i1 %has_own, label %catch, label %call
catch:
  %caught_up = call i32 @catch_up(ptr %own_queue)
  if eq i32 %caught_up, 0: call, slow
call:
  %grid = &%launch->launch.grid
  %gx = load i32, ptr %grid
  %gy = load i32, ptr %grid[i64 1]
  %gz = load i32, ptr %grid[i64 2]
  %block = &%launch->launch.block
  %bx = load i32, ptr %block
  %by = load i32, ptr %block[i64 1]
  %bz = load i32, ptr %block[i64 2]
  %shared = %launch->launch.shared_bytes
  %args = %launch->launch.args as ptr
  %status = call i32 inttoptr (i64 {launch_kernel} to ptr)(i64 %kernel, i32 %gx, i32 %gy, i32 %gz,
      i32 %bx, i32 %by, i32 %bz, i32 %shared, i64 %stream, ptr %args, ptr null)
  if eq i32 %status, 0: after, slow
after:
  br i1 %has_own, label %count, label %next
count:
  call void @count_work(ptr %own_queue)
  br label %next
next:
  if eq i64 %queue, {on_device}: note, ask
ask:
  br i1 %in_order, label %join, label %done
note:
  %old = atomicrmw add ptr %epoch_at, i64 1 monotonic
  %waits = %row->row.waits
  if ne i64 %waits, 0: join, done
join:
  %result = call i32 inttoptr (i64 {stream_synchronize} to ptr)(i64 %stream)
  if eq i32 %result, 0: done, failed
failed:
  call void inttoptr (i64 {failed} to ptr)(i32 %site, i32 %result)
  br label %done
slow:
  call void inttoptr (i64 {slow} to ptr)(i32 %site, ptr %launch)
  br label %done
done:
  ret void
}}
"""


class NativeLauncher:
    """
    The compiled functions (`address`, `scratch_address`) of one program, for the devices of `devices`.

    `slow(site, launch)`, `failed(site, status)` and `slow_scratch(site, bytes)` are C addresses of
    the Python entry points, `slow_borders` those of `__accopt_border_begin` and `__accopt_border_end`.
    """

    def __init__(
        self,
        sites: int,
        devices: NativeDevices,
        driver: NativeDriver,
        slow: int,
        failed: int,
        slow_scratch: int,
        slow_borders: tuple[int, int] = (0, 0),
    ):
        self._sites = sites
        self._devices = devices
        self._tables: dict[int, LaunchTables] = {}
        self._default_known = True
        self.slow_borders = slow_borders
        self._borders = (ctypes.c_int64 * 2)(*slow_borders)
        self._code = NativeCode(
            ROW_IR + QUEUE_IR + RECORD_IR + ORDER_IR + NUMBER_IR + _IR,
            {
                **devices.addresses,
                **QUEUE_ADDRESSES,
                **driver.addresses,
                "failed": failed,
                "slow": slow,
                "slow_scratch": slow_scratch,
                "borders": ctypes.addressof(self._borders),
            },
            {
                **devices.constants,
                **NUMBERS,
                "any_queue": _ANY_QUEUE,
            },
            optimize=EVERY_CONSTRUCT,
        )
        self.address: int = self._code.address("launch")
        self.scratch_address: int = self._code.address("scratch")
        self.border_addresses = {
            f"__accopt_{name}": self._code.address(name) for name in ("border_begin", "border_end")
        }

    def compute_borders(self, begin: int, end: int) -> None:
        """Lets functions in native code serve `__accopt_border_begin` and `__accopt_border_end`."""
        self._borders[1], self._borders[0] = end, begin

    def of(self, device: int) -> LaunchTables:
        """The tables of a device by its number."""
        found = self._tables.get(device)
        if found is None:
            found = LaunchTables(self._sites, self._devices.rows[device], self._default_known)
            self._tables[device] = found
        return found

    def forget_default(self) -> None:
        """Sends a bare `async` to Python from now on, as a thread has chosen its own default queue."""
        self._default_known = False
        for tables in self._tables.values():
            tables.forget_default()

    def forget(self) -> None:
        """Sends everything to Python, until it is remembered again."""
        for tables in self._tables.values():
            tables.forget()


class LaunchTables:
    """The tables of one device, which native code reads through the device's row."""

    def __init__(self, sites: int, row: DeviceRow, default_known: bool = True):
        table = ctypes.c_int64 * max(sites, 1)
        self._kernels, self._scratch, self._scratch_bytes = table(), table(), table()
        self._owners = table(*[_ANY_QUEUE] * max(sites, 1))
        self._streams = (ctypes.c_int64 * _SLOTS)()
        self._queues = (ctypes.c_int64 * _SLOTS)()
        self._default_known = default_known
        self._row = row
        self._ordered = (ctypes.c_int64 * _SLOTS)()
        row.ordered = ctypes.addressof(self._ordered)
        row.streams = ctypes.addressof(self._streams)
        row.queues = ctypes.addressof(self._queues)
        row.owners = ctypes.addressof(self._owners)
        row.scratch = ctypes.addressof(self._scratch)
        row.scratch_bytes = ctypes.addressof(self._scratch_bytes)
        row.kernels = ctypes.addressof(self._kernels)

    def remember(
        self,
        site: int,
        kernel: int,
        stream: int,
        queue: int,
        *,
        scratch: bool = False,
        epoch: int = 0,
        known: int = 0,
    ) -> None:
        """
        Lets launches of this site, and on this queue (the value of the async clause), take the native path.
        `scratch`: the site uses scratch memory, and this launch was the last to do so. `epoch`: the row's
        epoch when the queue was ordered after the constructs for which the host has not waited. `known`:
        the address of the queue's `NativeQueue`, 0 if waits for it go to Python.
        """
        index = self.slot(queue)
        if index is None:
            return
        self._ordered[index] = epoch
        self._queues[index] = known
        self._owners[site] = index if scratch else _ANY_QUEUE
        self._streams[index] = stream
        self._kernels[site] = kernel

    def slot(self, queue: int) -> int | None:
        """The index of a queue in the tables, by the value of the async clause; None if it has none."""
        if queue in (ASYNC_SYNC, ASYNC_ON_DEVICE):
            return SYNC_SLOT
        if queue in (ASYNC_NOVAL, ASYNC_DEFAULT):
            return DEFAULT_SLOT if self._default_known else None
        if queue == ASYNC_BORDER:
            return BORDER_SLOT
        return queue if 0 <= queue < MAX_QUEUES else None

    def forget_default(self) -> None:
        """Sends a bare `async` to Python from now on, as a thread has chosen its own default queue."""
        self._default_known = False
        self._streams[DEFAULT_SLOT] = self._queues[DEFAULT_SLOT] = 0

    def interrupt(self, site: int) -> None:
        """Sends the site's next launch to Python."""
        self._kernels[site] = 0

    def remember_scratch(self, site: int, address: int, size: int) -> None:
        """Registers the scratch memory of a site: `size` bytes at `address`."""
        self._scratch_bytes[site] = 0
        self._scratch[site] = address
        self._scratch_bytes[site] = size

    def forget(self) -> None:
        """Sends everything to Python, until it is remembered again."""
        for table in (self._kernels, self._streams, self._queues, self._scratch_bytes):
            ctypes.memset(table, 0, ctypes.sizeof(table))

    def known(self) -> tuple[Sequence[int], Sequence[int]]:
        """The tables, for tests."""
        return list(self._kernels), list(self._streams)
