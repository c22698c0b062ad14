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
from .devices import CONTEXT_IR, ROW_BYTES, ROW_IR, NativeDevices
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
; waits for the asides that a queue has now, which it keeps
define internal void @wait_for_asides(ptr %queue) {{
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
  %slot = getelementptr i64, ptr %events, i64 %i
  store i64 %event, ptr %slot
  next %i
unlock:
  call void @unlock_queue(ptr %queue)
  for i64 %k < %count: wait, done
wait:
  %held_at = getelementptr i64, ptr %events, i64 %k
  %held = load i64, ptr %held_at
  %status = call i32 inttoptr (i64 {event_synchronize} to ptr)(i64 %held)
  next %k
done:
  ret void
}}

; waits for a device's synchronous constructs, if there are any that nobody has waited for; its context is
; current then, and the result true
define internal i1 @settle(ptr %row) {{
entry:
  %sync = %row->row.sync as ptr
  %settled = %row->row.settled
  %epoch = %row->row.epoch
  %newer = icmp ne i64 %settled, %epoch
  %known = icmp ne ptr %sync, null
  %some = and i1 %newer, %known
  br i1 %some, label %wait, label %done
wait:
  call void @enter_context(ptr %row)
  %stream = load i64, ptr %sync
  call void @wait_for_asides(ptr %sync)
  %status = call i32 inttoptr (i64 {synchronize} to ptr)(i64 %stream)
  %row->row.settled = %epoch
  ret i1 true
done:
  ret i1 false
}}

define internal void @settle_all() {{
entry:
  br label %each
each:
  %number = phi i64 [ 0, %entry ], [ %next, %each ]
  %before = phi i1 [ false, %entry ], [ %any, %each ]
  %at = mul i64 %number, {row_bytes}
  %row = getelementptr i8, ptr inttoptr (i64 {rows} to ptr), i64 %at
  %waited = call i1 @settle(ptr %row)
  %any = or i1 %before, %waited
  %next = add i64 %number, 1
  %more = icmp ult i64 %next, {count}
  br i1 %more, label %each, label %last
last:
  br i1 %any, label %back, label %done
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
  %part_at = getelementptr i64, ptr %time, i64 1
  %part = load i64, ptr %part_at
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
                "stream_wait_event": driver.stream_wait_event,
                "event_synchronize": driver.event_synchronize,
                "synchronize": driver.stream_synchronize,
                "enter_context": enter_context,
            },
            {
                **devices.constants,
                "count": devices.count,
                "row_bytes": ROW_BYTES,
                "most": ASIDES,
            },
        )
        self.addresses: Mapping[str, int] = {
            name: self._code.address(f"settled_{name}") for name in (*CLOCKS, "MPI_Wtime")
        }
