"""
Questions in native code: `acc_is_present`, and `acc_async_test` and `acc_async_test_all` for queues that have
been used natively before. Programs ask them in loops.

Left to Python: questions about a device that native code does not serve, and those about a queue whose wait
was postponed, for which it waits first (docs/devices.md, "When the host waits").
"""

from __future__ import annotations

from collections.abc import Mapping

from ..device import NativeDriver
from .code import NativeCode
from .data import TRIES
from .data_code import LOCK_IR
from .devices import CONTEXT_IR, ROW_IR, NativeDevices
from .launch import MAX_QUEUES
from .present_rows import LAYOUT
from .present_rows_code import TEMPLATE as ROWS_TEMPLATE
from .queues import NOT_READY, QUEUE_ADDRESSES, QUEUE_IR
from .waits import QUEUE_OF_IR

_ROUTINES = ("acc_is_present", "acc_async_test", "acc_async_test_all")

_IR = """
; returns the present table of the row's device if native code serves it, else null
define internal ptr @served(ptr %row) {{
entry:
  %book = %row->row.book as ptr
  %sync = %row->row.sync as ptr
  %has_book = icmp ne ptr %book, null
  %has_sync = icmp ne ptr %sync, null
  %both = and i1 %has_book, %has_sync
  br i1 %both, label %look, label %no
look:
  %followed = %book->book.followed
  %is_followed = icmp ne i64 %followed, 0
  %found = select i1 %is_followed, ptr %book, ptr null
  ret ptr %found
no:
  ret ptr null
}}

; returns 1 if all work of a queue of the current device is finished, 0 if not, -1 if Python must decide
define internal i32 @test(ptr %queue) {{
entry:
  %postponed = %queue->queue.postponed seq_cst
  %joined = %queue->queue.joined
  if eq i64 %postponed, %joined: ask, python
ask:
  %caught_up = call i32 @catch_up(ptr %queue)
  %stream = %queue->queue.stream
  %queried = call i32 inttoptr (i64 {stream_query} to ptr)(i64 %stream)
  %status = or i32 %caught_up, %queried
  %done = icmp eq i32 %status, 0
  %pending = icmp eq i32 %status, {not_ready}
  %known = or i1 %done, %pending
  br i1 %known, label %answer, label %python
answer:
  %result = zext i1 %done to i32
  ret i32 %result
python:
  ret i32 -1
}}

define i32 @native_acc_async_test(i32 %number) {{
entry:
  %row = call ptr @row()
  %book = call ptr @served(ptr %row)
  if ne ptr %book, null: find, slow
find:
  %wide = sext i32 %number to i64
  %queue = call ptr @queue_of(ptr %row, i64 %wide)
  if ne ptr %queue, null: ask, slow
ask:
  call void @enter_context(ptr %row)
  %answer = call i32 @test(ptr %queue)
  if sge i32 %answer, 0: done, slow
done:
  ret i32 %answer
slow:
  %found = call i32 inttoptr (i64 {slow_acc_async_test} to ptr)(i32 %number)
  ret i32 %found
}}

define i32 @native_acc_async_test_all() {{
entry:
  %row = call ptr @row()
  %book = call ptr @served(ptr %row)
  if ne ptr %book, null: look, slow
look:
  %queues = %row->row.asynchronous as ptr
  if ne ptr %queues, null: begin, yes
begin:
  call void @enter_context(ptr %row)
  %count = load i64, ptr %queues
  for i64 %i < %count: ask, yes
ask:
  %number = add i64 %i, 1
  %queue = load ptr, ptr %queues[i64 %number]
  %answer = call i32 @test(ptr %queue)
  if slt i32 %answer, 0: slow, known
known:
  if eq i32 %answer, 0: no, on
on:
  next %i
yes:
  ret i32 1
no:
  ret i32 0
slow:
  %found = call i32 inttoptr (i64 {slow_acc_async_test_all} to ptr)()
  ret i32 %found
}}

define i32 @native_acc_is_present(i64 %host, i64 %bytes) {{
entry:
  %row = call ptr @row()
  %book = call ptr @served(ptr %row)
  %has_book = icmp ne ptr %book, null
  %some = icmp sgt i64 %bytes, 0
  %good = and i1 %has_book, %some
  br i1 %good, label %lock, label %slow
lock:
  %mine = call i32 @try_lock(ptr %row)
  if ne i32 %mine, 0: look, slow
look:
  %frozen = %book->book.frozen
  %found = call ptr @covering(ptr %book, i64 %host, i64 %bytes)
  call void @unlock(ptr %row)
  if eq i64 %frozen, 0: answer, slow
answer:
  %there = icmp ne ptr %found, null
  %result = zext i1 %there to i32
  ret i32 %result
slow:
  %told = call i32 inttoptr (i64 {slow_acc_is_present} to ptr)(i64 %host, i64 %bytes)
  ret i32 %told
}}
"""


class NativeQueries:
    """
    The functions (`addresses`, by their names) for the devices of `devices`. `slow`: C addresses of those in
    Python by the same names; `enter_context`: as for `NativeDevices`.
    """

    names = _ROUTINES

    def __init__(
        self,
        devices: NativeDevices,
        driver: NativeDriver,
        enter_context: int,
        slow: Mapping[str, int],
    ):
        self._code = NativeCode(
            ROW_IR + CONTEXT_IR + ROWS_TEMPLATE + QUEUE_IR + LOCK_IR + QUEUE_OF_IR + _IR,
            {
                **devices.addresses,
                **QUEUE_ADDRESSES,
                **driver.addresses,
                "enter_context": enter_context,
                **{f"slow_{name}": slow[name] for name in _ROUTINES},
            },
            {
                **devices.constants,
                **LAYOUT,
                "tries": TRIES,
                "max_queues": MAX_QUEUES,
                "not_ready": NOT_READY,
            },
        )
        self.addresses = {name: self._code.address(f"native_{name}") for name in _ROUTINES}
