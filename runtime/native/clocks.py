"""
Functions that read a clock: before a program reads the time, its synchronous constructs must have finished,
as if the host had waited for each (docs/devices.md, "When the host waits"). Its calls of clock functions go
to these:

    i64 NAME(i64, ptr)      waits for the synchronous queues that have work, then calls C's function
    double MPI_Wtime()      the same with the monotonic clock (MPI 4.1, 9.6)
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from ..device import NativeDriver
from .code import NativeCode
from .devices import CONTEXT_IR, ROW_IR, NativeDevices
from .queues import ASIDES, QUEUE_ADDRESSES, QUEUE_IR

CLOCKS = (
    "clock",
    "clock_gettime",
    "getrusage",
    "gettimeofday",
    "time",
    "times",
    "timespec_get",
)
"""Clock functions of C with up to two arguments; arguments and result are integers or addresses."""

_IR = """
; waits for a queue's asides, without removing them; skips the event at %last
define internal void @wait_for_asides(ptr %queue, ptr %last) {{
entry:
  %events = alloca [{most} x i64]
  %some = call i1 @has_asides(ptr %queue)
  br i1 %some, label %copy, label %done
copy:
  call void @lock_queue(ptr %queue)
  %count = %queue->queue.count
  for i64 %i < %count: take, unlock
take:
  %asides = &%queue->queue.asides
  %event = %asides[i64 %i]->aside.event
  store i64 %event, ptr %events[i64 %i]
  next %i
unlock:
  call void @unlock_queue(ptr %queue)
  for i64 %k < %count: look, done
look:
  %held = load i64, ptr %events[i64 %k]
  %known = load i64, ptr %last
  if eq i64 %held, %known: on, wait
wait:
  %status = call i32 inttoptr (i64 {event_synchronize} to ptr)(i64 %held)
  store i64 %held, ptr %last
  br label %on
on:
  next %k
done:
  ret void
}}

; returns a device's counters. The second one counts copies only; it is raised last and read first: so work
; that raised both alike is certainly only copies
define internal {{ i64, i64 }} @counters(ptr %row) {{
  %beside = %row->row.beside seq_cst
  %epoch = %row->row.epoch seq_cst
  %half = insertvalue {{ i64, i64 }} poison, i64 %epoch, 0
  %both = insertvalue {{ i64, i64 }} %half, i64 %beside, 1
  ret {{ i64, i64 }} %both
}}

; waits for a device's synchronous constructs up to the counters %now, unless the host has waited for them;
; returns true after a wait, with the device's context current
define internal i1 @settle(ptr %row, {{ i64, i64 }} %now, ptr %last) {{
entry:
  %sync = %row->row.sync as ptr
  %settled = %row->row.settled seq_cst
  %epoch = extractvalue {{ i64, i64 }} %now, 0
  %beside = extractvalue {{ i64, i64 }} %now, 1
  %newer = icmp ne i64 %settled, %epoch
  %known = icmp ne ptr %sync, null
  %some = and i1 %newer, %known
  br i1 %some, label %wait, label %done
wait:
  call void @enter_context(ptr %row)
  call void @wait_for_asides(ptr %sync, ptr %last)
  %both = %row->row.settled_both seq_cst
  %all_before = trunc i64 %both to i32
  %upper = lshr i64 %both, 32
  %copies_before = trunc i64 %upper to i32
  %all_now = trunc i64 %epoch to i32
  %copies_now = trunc i64 %beside to i32
  %all = sub i32 %all_now, %all_before
  %copies = sub i32 %copies_now, %copies_before
  if eq i32 %all, %copies: note, join
join:
  %stream = %sync->queue.stream
  %status = call i32 inttoptr (i64 {stream_synchronize} to ptr)(i64 %stream)
  br label %note
note:
  %low = zext i32 %all_now to i64
  %copies_wide = zext i32 %copies_now to i64
  %high = shl i64 %copies_wide, 32
  %both_now = or i64 %high, %low
  %row->row.settled_both = %both_now seq_cst
  %row->row.settled = %epoch seq_cst
  ret i1 true
done:
  ret i1 false
}}

; reads all counters before the first wait, and waits for the work counted by then
define internal void @settle_all() {{
entry:
  %counters = alloca [{count} x {{ i64, i64 }}]
  %last = alloca i64
  store i64 0, ptr %last
  for i64 %i < {count}: read, each
read:
  %its_row = call ptr @device_row(i64 %i)
  %its = call {{ i64, i64 }} @counters(ptr %its_row)
  %its_at = getelementptr {{ i64, i64 }}, ptr %counters, i64 %i
  store {{ i64, i64 }} %its, ptr %its_at
  next %i
each:
  for i64 %number < {count}: wait, last_one
  %before = phi i1 [ false, %each ], [ %any, %wait ]
wait:
  %row = call ptr @device_row(i64 %number)
  %now_at = getelementptr {{ i64, i64 }}, ptr %counters, i64 %number
  %now = load {{ i64, i64 }}, ptr %now_at
  %waited = call i1 @settle(ptr %row, {{ i64, i64 }} %now, ptr %last)
  %any = or i1 %before, %waited
  next %number
last_one:
  br i1 %before, label %back, label %done
back:
  %own = call ptr @row()
  call void @enter_context(ptr %own)
  br label %done
done:
  ret void
}}

define double @settled_MPI_Wtime() {{
  %time = alloca [2 x i64]
  %status = call i64 @settled_clock_gettime(i64 1, ptr %time)
  %seconds = load i64, ptr %time
  %part = load i64, ptr %time[i64 1]
  %whole = sitofp i64 %seconds to double
  %nanoseconds = sitofp i64 %part to double
  %fraction = fdiv double %nanoseconds, 1.0e9
  %sum = fadd double %whole, %fraction
  ret double %sum
}}
"""

_CLOCK_IR = """
define i64 @settled_{name}(i64 %first, ptr %second) {{{{
  call void @settle_all()
  %result = call i64 inttoptr (i64 {{{name}}} to ptr)(i64 %first, ptr %second)
  ret i64 %result
}}}}
"""


class NativeClocks:
    """The compiled functions (`addresses`, by C's names); `enter_context(context)` makes a device
    current."""

    def __init__(self, devices: NativeDevices, driver: NativeDriver, enter_context: int):
        libc = ctypes.CDLL(None)
        real = {name: ctypes.cast(libc[name], ctypes.c_void_p).value or 0 for name in CLOCKS}
        self._code = NativeCode(
            ROW_IR
            + CONTEXT_IR
            + QUEUE_IR
            + _IR
            + "".join(_CLOCK_IR.format(name=name) for name in CLOCKS),
            {
                **devices.addresses,
                **real,
                **QUEUE_ADDRESSES,
                **driver.addresses,
                "enter_context": enter_context,
            },
            {
                **devices.constants,
                "count": devices.count,
                "most": ASIDES,
            },
        )
        self.addresses: Mapping[str, int] = {
            name: self._code.address(f"settled_{name}") for name in (*CLOCKS, "MPI_Wtime")
        }
