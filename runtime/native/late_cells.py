"""
Cells for scalars of asynchronous reductions: places in memory that host and device access, one for each
construct whose result is still to come.

A construct enters with the scalar's value in a cell, unless work that may write the scalar is still on the
construct's queue: then the queue stores the value there (`call_later`: `cuLaunchHostFunc`, or its counterpart
for the CPU). At the exit the queue gets the function that brings the result to the variable, after the
kernel; the host goes on, and after a wait for the queue the result is there. So the value is read and written
when a `copy` clause on that queue would read and write it (OpenACC 3.4, 2.5.15), and constructs with the same
variable on one queue need no wait in between.

The word `pending` counts the results to come. While there are any, a copy from the host's memory must not be
given to an asynchronous queue of a GPU: the driver reads pageable memory at once (`cuda/device.py`).
"""

from __future__ import annotations

import ctypes

from ..data.cells import CELL, LATE_CELLS
from ..device import CellPage
from .text import structure

_FREE, _ENTERED, _LEAVING = 0, 1, 2


@structure("late")
class LateCell(ctypes.Structure):
    """
    A cell: whether it is free (0), entered (1), or its result is to come (2); its place for the host and the
    device; the variable and its size; the address of `pending`.
    """

    _fields_ = (
        ("state", ctypes.c_int64),
        ("slot", ctypes.c_void_p),
        ("device", ctypes.c_int64),
        ("base", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("pending", ctypes.c_void_p),
    )


class LateCells:
    """The cells of one device, at the beginning of its page; none if there is no page."""

    def __init__(self, page: CellPage | None):
        self.count = LATE_CELLS if page is not None else 0
        self.cells = (LateCell * max(self.count, 1))()
        if page is not None:
            ctypes.memset(page.host, 0, CELL)
        self.pending = page.host if page is not None else 0
        self.first = page.device + CELL if page is not None else 0
        for i in range(self.count):
            cell = self.cells[i]
            assert page is not None
            cell.slot, cell.device = page.host + (1 + i) * CELL, self.first + i * CELL
            cell.pending = page.host

    def holding(self, device: int, base: int) -> LateCell | None:
        """The cell at a device address, if a construct has entered it with this variable."""
        if not self.has(device):
            return None
        cell = self.cells[(device - self.first) // CELL]
        return cell if cell.state == _ENTERED and cell.base == base else None

    def has(self, device: int) -> bool:
        """Whether a device address is in one of the cells."""
        return self.first <= device < self.first + self.count * CELL

    def leave(self, cell: LateCell) -> None:
        """Notes that the result of a construct is to come, before its queue gets `late_fetch`."""
        cell.state = _LEAVING
        ctypes.c_int64.from_address(self.pending).value += 1


LATE_IR = f"""
; returns whether the scalar of record %i of an asynchronous construct fits into a cell
define internal i1 @may_be_late(ptr %book, ptr %record) {{{{
  %flags = %record->record.flags
  %marked = %flags has i32 {{flag_cell}}
  %offset = %record->record.offset
  %whole = icmp eq i64 %offset, 0
  %bytes = %record->record.bytes
  %small = icmp ule i64 %bytes, {{cell_bytes}}
  %count = %book->book.late_count
  %some = icmp ne i64 %count, 0
  %good = all %marked %whole %small %some
  ret i1 %good
}}}}

; brings the value of a cell's variable to the cell
define void @late_store(ptr %cell) {{{{
  %slot = %cell->late.slot
  %base = %cell->late.base as ptr
  %bytes = %cell->late.bytes
  call void @move_bytes(ptr %slot, ptr %base, i64 %bytes)
  ret void
}}}}

; brings a cell's result to its variable, and frees the cell
define void @late_fetch(ptr %cell) {{{{
  %slot = %cell->late.slot
  %base = %cell->late.base as ptr
  %bytes = %cell->late.bytes
  %pending = %cell->late.pending
  call void @move_bytes(ptr %base, ptr %slot, i64 %bytes)
  %cell->late.state = {_FREE} release
  %old = atomicrmw sub ptr %pending, i64 1 seq_cst
  ret void
}}}}

; puts a scalar of an asynchronous construct into a cell; returns the cell, or null if none is free or the
; queue refuses. The device is locked
define internal ptr @enter_late(ptr %book, ptr %queue, ptr %record) {{{{
entry:
  %count = %book->book.late_count
  %cells = %book->book.late
  %stream = %queue->queue.stream
  %base = %record->record.base
  %bytes = %record->record.bytes
  for i64 %i < %count: look, none
look:
  %cell = getelementptr %late, ptr %cells, i64 %i
  %state = %cell->late.state acquire
  if eq i64 %state, {_FREE}: take, on
on:
  next %i
take:
  %cell->late.base = %base
  %cell->late.bytes = %bytes
  %transfers = %queue->queue.transfers seq_cst
  %settled = %queue->queue.settled
  if eq i64 %transfers, %settled: now, later
now:
  call void @late_store(ptr %cell)
  br label %entered
later:
  %status = call i32 inttoptr (i64 {{call_later}} to ptr)(i64 %stream, ptr @late_store, ptr %cell)
  call void @count_work(ptr %queue)
  if eq i32 %status, 0: entered, none
entered:
  %cell->late.state = {_ENTERED}
  ret ptr %cell
none:
  ret ptr null
}}}}

; returns the cell that an asynchronous construct has entered with a record, or null
define internal ptr @late_of(ptr %book, ptr %record) {{{{
entry:
  %device = %record->record.device
  %base = %record->record.base
  %cells = %book->book.late
  %count = %book->book.late_count
  if eq i64 %count, 0: no, find
find:
  %first = %cells->late.device
  %distance = sub i64 %device, %first
  %index = udiv i64 %distance, {CELL}
  if ult i64 %index, %count: look, no
look:
  %cell = getelementptr %late, ptr %cells, i64 %index
  %state = %cell->late.state acquire
  %is_entered = icmp eq i64 %state, {_ENTERED}
  %held = %cell->late.base
  %same = icmp eq i64 %held, %base
  %found = and i1 %is_entered, %same
  br i1 %found, label %yes, label %no
yes:
  ret ptr %cell
no:
  ret ptr null
}}}}

; lets the queue bring a cell's result to its variable; returns false if it refuses, and nothing is changed
define internal i1 @leave_late(ptr %queue, ptr %cell) {{{{
entry:
  %stream = %queue->queue.stream
  %pending = %cell->late.pending
  %old = atomicrmw add ptr %pending, i64 1 seq_cst
  %cell->late.state = {_LEAVING} release
  %status = call i32 inttoptr (i64 {{call_later}} to ptr)(i64 %stream, ptr @late_fetch, ptr %cell)
  call void @count_work(ptr %queue)
  if eq i32 %status, 0: yes, no
yes:
  call void @count_transfers(ptr %queue, i64 1)
  ret i1 true
no:
  %cell->late.state = {_ENTERED}
  %before = atomicrmw sub ptr %pending, i64 1 seq_cst
  ret i1 false
}}}}

; frees the cells of the first %count records
define internal void @drop_late(ptr %book, ptr %records, i32 %count) {{{{
entry:
  for i32 %i < %count: look, done
look:
  %record = getelementptr %record, ptr %records, i32 %i
  %cell = call ptr @late_of(ptr %book, ptr %record)
  if eq ptr %cell, null: on, drop
drop:
  %cell->late.state = {_FREE} release
  br label %on
on:
  next %i
done:
  ret void
}}}}
"""
"""Behind `QUEUE_IR` and `present_rows_code.TEMPLATE`; its fields are those of `LAYOUT` and the driver's."""
