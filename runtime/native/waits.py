"""
Waits for queues in native code: `acc_wait`, `acc_wait_async` and `__accopt_wait` for queues that have been
used natively before, `acc_wait_all` and a bare `wait` for all of a device.

If several devices are in use, and the program cannot observe the difference (docs/devices.md, "When the
host waits"), the queue becomes an aside of the device's synchronous one and the host goes on: the wait is
*postponed*. That is not allowed while work on the memory of the host, or of another device, may be pending,
which `NativeQueue` records.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..device import NativeDriver
from .code import NativeCode
from .devices import ROW_IR, NativeDevices
from .launch import MAX_QUEUES
from .queues import ASIDE_IR, QUEUE_ADDRESSES, QUEUE_IR, RECORD_IR, WAIT_IR

_ROUTINES = ("acc_wait", "acc_wait_async", "acc_wait_all", "__accopt_wait")

QUEUE_OF_IR = """
; returns the state of a queue of the thread's device, null if it has not been used natively
define internal ptr @queue_of(ptr %row, i64 %number) {{
entry:
  %table = %row->row.queues as ptr
  %served = icmp ne ptr %table, null
  %numbered = icmp ult i64 %number, {max_queues}
  %good = and i1 %served, %numbered
  br i1 %good, label %look, label %none
look:
  %queue = load ptr, ptr %table[i64 %number]
  ret ptr %queue
none:
  ret ptr null
}}
"""
"""Behind `ROW_IR` and `QUEUE_IR`; `max_queues`: the number of queues in the tables of launches."""

_IR = """
define internal i1 @waits(ptr %row) {{
  %waits = %row->row.waits seq_cst
  %told = icmp ne i64 %waits, 0
  ret i1 %told
}}

; returns whether the program cannot observe that the host does not wait for a queue
define internal i1 @may_go_on(ptr %row, ptr %queue) {{
  %allowed = %row->row.postpones
  %several = icmp ne i64 %allowed, 0
  %told = call i1 @waits(ptr %row)
  %untold = xor i1 %told, true
  %transfers = %queue->queue.transfers seq_cst
  %settled = %queue->queue.settled
  %none = icmp eq i64 %transfers, %settled
  %b = all %several %untold %none
  ret i1 %b
}}

define internal i1 @postpone(ptr %row, ptr %queue) {{
entry:
  %sync = %row->row.sync as ptr
  %event = %queue->queue.event
  %marked = call i1 @mark(ptr %queue)
  br i1 %marked, label %put, label %no
put:
  %status = call i32 @put_beside(ptr %sync, i64 %event, i64 0, i64 -1, i64 1)
  if eq i32 %status, 0: count, no
count:
  %epoch_at = &%row->row.epoch
  %old_epoch = atomicrmw add ptr %epoch_at, i64 1 seq_cst
  %postponed_at = &%queue->queue.postponed
  %old = atomicrmw add ptr %postponed_at, i64 1 seq_cst
  %told = call i1 @waits(ptr %row)
  br i1 %told, label %no, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i1 @join(i64 %number) {{
entry:
  %row = call ptr @row()
  %queue = call ptr @queue_of(ptr %row, i64 %number)
  if ne ptr %queue, null: look, no
look:
  %free = call i1 @may_go_on(ptr %row, ptr %queue)
  br i1 %free, label %go_on, label %wait
go_on:
  %gone = call i1 @postpone(ptr %row, ptr %queue)
  br i1 %gone, label %yes, label %wait
wait:
  %waited = call i1 @wait_now(ptr %queue)
  ret i1 %waited
yes:
  ret i1 true
no:
  ret i1 false
}}

; lets queue `waiter` wait for queue `number`; returns whether it did
define internal i1 @chain(i64 %number, i64 %waiter) {{
entry:
  %row = call ptr @row()
  %queue = call ptr @queue_of(ptr %row, i64 %number)
  %other = call ptr @queue_of(ptr %row, i64 %waiter)
  %known = icmp ne ptr %queue, null
  %other_known = icmp ne ptr %other, null
  %both = and i1 %known, %other_known
  br i1 %both, label %look, label %no
look:
  if eq ptr %queue, %other: yes, put
put:
  %stream = load i64, ptr %other
  %event = %queue->queue.event
  %marked = call i1 @mark(ptr %queue)
  br i1 %marked, label %hold, label %no
hold:
  %status = call i32 @put_behind(i64 %stream, i64 %event)
  call void @count_work(ptr %other)
  %done = icmp eq i32 %status, 0
  %transfers = %queue->queue.transfers seq_cst
  %settled = %queue->queue.settled
  %pending = icmp ne i64 %transfers, %settled
  %more = zext i1 %pending to i64
  call void @count_transfers(ptr %other, i64 %more)
  ret i1 %done
yes:
  ret i1 true
no:
  ret i1 false
}}

; waits for all queues of the thread's device; returns whether it did
define internal i1 @join_all() {{
entry:
  %row = call ptr @row()
  %book = %row->row.book as ptr
  %sync = %row->row.sync as ptr
  %has_book = icmp ne ptr %book, null
  %has_sync = icmp ne ptr %sync, null
  %served = and i1 %has_book, %has_sync
  br i1 %served, label %look, label %no
look:
  %followed = %book->book.followed
  if ne i64 %followed, 0: first, no
first:
  %waited = call i1 @wait_now(ptr %sync)
  %queues = %row->row.asynchronous as ptr
  if ne ptr %queues, null: begin, alone
begin:
  %count = load i64, ptr %queues
  for i64 %i < %count: join, last
  %so_far = phi i1 [ %waited, %begin ], [ %both, %join ]
join:
  %number = add i64 %i, 1
  %queue = load ptr, ptr %queues[i64 %number]
  %done = call i1 @wait_now(ptr %queue)
  %both = and i1 %so_far, %done
  next %i
last:
  ret i1 %so_far
alone:
  ret i1 %waited
no:
  ret i1 false
}}

define void @native_acc_wait_all() {{
entry:
  %done = call i1 @join_all()
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_acc_wait_all} to ptr)()
  br label %end
end:
  ret void
}}

define void @native_acc_wait(i32 %queue) {{
  %wide = sext i32 %queue to i64
  %done = call i1 @join(i64 %wide)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_acc_wait} to ptr)(i32 %queue)
  br label %end
end:
  ret void
}}

define void @native_acc_wait_async(i32 %queue, i32 %waiter) {{
  %wide = sext i32 %queue to i64
  %other = sext i32 %waiter to i64
  %done = call i1 @chain(i64 %wide, i64 %other)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_acc_wait_async} to ptr)(i32 %queue, i32 %waiter)
  br label %end
end:
  ret void
}}

define void @native___accopt_wait(i32 %site, ptr %queues, i32 %count, i64 %async) {{
entry:
  %wide_count = sext i32 %count to i64
  %some = icmp sgt i32 %count, 0
  %sync = icmp eq i64 %async, -2
  br i1 %some, label %each, label %all
all:
  br i1 %sync, label %join_them, label %slow
join_them:
  %joined_all = call i1 @join_all()
  br i1 %joined_all, label %end, label %slow
each:
  %i = phi i64 [ 0, %entry ], [ %next, %done ]
  %queue = load i64, ptr %queues[i64 %i]
  br i1 %sync, label %on_host, label %on_queue
on_host:
  %joined = call i1 @join(i64 %queue)
  br label %done
on_queue:
  %chained = call i1 @chain(i64 %queue, i64 %async)
  br label %done
done:
  %good = phi i1 [ %joined, %on_host ], [ %chained, %on_queue ]
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %wide_count
  %again = and i1 %good, %more
  br i1 %again, label %each, label %last
last:
  br i1 %good, label %end, label %slow
slow:
  call void inttoptr (i64 {slow___accopt_wait} to ptr)(i32 %site, ptr %queues, i32 %count, i64 %async)
  br label %end
end:
  ret void
}}
"""


class NativeWaits:
    """
    The functions (`addresses`, by their names) for the devices of `devices`. `slow`: C addresses of those in
    Python by the same names, for queues that native code does not know.
    """

    names = _ROUTINES

    def __init__(self, devices: NativeDevices, driver: NativeDriver, slow: Mapping[str, int]):
        self._code = NativeCode(
            ROW_IR + QUEUE_IR + RECORD_IR + ASIDE_IR + WAIT_IR + QUEUE_OF_IR + _IR,
            {
                **devices.addresses,
                **QUEUE_ADDRESSES,
                **driver.addresses,
                **{f"slow_{name}": slow[name] for name in _ROUTINES},
            },
            {**devices.constants, "max_queues": MAX_QUEUES},
        )
        self.addresses = {name: self._code.address(f"native_{name}") for name in _ROUTINES}
