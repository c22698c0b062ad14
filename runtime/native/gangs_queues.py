"""
LLVM IR of the team's functions that stand for a driver's (`NativeDriver`), for the queues of the CPU as a
device (`gangs_code.py`).

A *stream* is 1 for the synchronous queue, or the address of a `QueueState` of an asynchronous queue, whose
work a thread of Python does (`host/queues.py`). While such a queue is *at rest*, i.e. all of its work is
done, the calling thread does what is asked for at once: copies, and launches that take less time than handing
them over would. Anything else is refused (status 1) and comes to Python, which hands it to the queue's
thread. So what a queue is given is done in order, and work that was done at once is over for all who wait
for the queue. Events are recorded for queues at rest only, so that there is nothing to wait for.
"""

from __future__ import annotations

import ctypes

from .rows_copy import DriverRowsCopy
from .text import structure

AT_ONCE_NS = 50_000
"""The time below which an asynchronous launch is made by the calling thread: handing it over takes as
long."""

SOON_NS = 20_000
"""The time for which such a launch waits until its queue is at rest."""


@structure("queue_state")
class QueueState(ctypes.Structure):
    """What native code sees of an asynchronous queue: `unfinished` is 0 if the queue is at rest."""

    _fields_ = (("unfinished", ctypes.c_int64),)


QUEUES = """\
; returns whether all work of a queue is finished
define internal i1 @at_rest(ptr %stream) {{
entry:
  if eq ptr %stream, inttoptr (i64 1 to ptr): yes, look
look:
  %unfinished = %stream->queue_state.unfinished acquire
  if eq i64 %unfinished, 0: yes, no
yes:
  ret i1 true
no:
  ret i1 false
}}

; returns the status of work that is only done if its queue is at rest
define internal i32 @status_of(ptr %stream) {{
  %rests = call i1 @at_rest(ptr %stream)
  %busy = xor i1 %rests, true
  %status = zext i1 %busy to i32
  ret i32 %status
}}

; runs a launch of an asynchronous queue, and records how long a gang of it took
define internal void @perform_timed(ptr %kernel, i64 %gangs, ptr %args) {{
  %start = call i64 @now()
  call void @perform(ptr %kernel, i64 %gangs, ptr %args)
  %end = call i64 @now()
  %spent = sub i64 %end, %start
  %fixed = shl i64 %spent, 10
  %each = udiv i64 %fixed, %gangs
  %some = call i64 @llvm.umax.i64(i64 %each, i64 1)
  %kernel->kernel.queued = %some monotonic
  ret void
}}

; as `cuLaunchKernel`; stream 0: from an asynchronous queue's thread
define i32 @launch(ptr %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
    ptr %stream, ptr %args, ptr %extra) {{
entry:
  %x = zext i32 %gx to i64
  %y = zext i32 %gy to i64
  %z = zext i32 %gz to i64
  %x1 = call i64 @llvm.umax.i64(i64 %x, i64 1)
  %y1 = call i64 @llvm.umax.i64(i64 %y, i64 1)
  %z1 = call i64 @llvm.umax.i64(i64 %z, i64 1)
  %xy = mul i64 %x1, %y1
  %gangs = mul i64 %xy, %z1
  if eq ptr %stream, inttoptr (i64 1 to ptr): now, later
now:
  call void @perform(ptr %kernel, i64 %gangs, ptr %args)
  br label %done
later:
  if eq ptr %stream, null: timed, ask
ask:
  %each = %kernel->kernel.queued monotonic
  %known = icmp ne i64 %each, 0
  %product = mul i64 %each, %gangs
  %expected = lshr i64 %product, 10
  %brief = icmp ult i64 %expected, {at_once_ns}
  %short = and i1 %known, %brief
  br i1 %short, label %await, label %refused
await:
  ; the queue's thread may be about to finish
  %start = call i64 @now()
  br label %look
look:
  %rests = call i1 @at_rest(ptr %stream)
  br i1 %rests, label %timed, label %still
still:
  {pause}
  %time = call i64 @now()
  %waited = sub i64 %time, %start
  if ult i64 %waited, {soon_ns}: look, refused
timed:
  call void @perform_timed(ptr %kernel, i64 %gangs, ptr %args)
  br label %done
done:
  ret i32 0
refused:
  ret i32 1
}}

; as `cuMemcpyHtoDAsync`, and `cuMemcpyDtoHAsync`
define i32 @copy_little(ptr %target, ptr %source, i64 %bytes, ptr %stream) {{
entry:
  %status = call i32 @status_of(ptr %stream)
  if eq i32 %status, 0: copy, done
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  br label %done
done:
  ret i32 %status
}}

; as `cuMemcpy2DAsync`
define i32 @copy_rows(ptr %copy, ptr %stream) {{
entry:
  %status = call i32 @status_of(ptr %stream)
  %from_kind = %copy->rows_copy.from_kind
  %from_host = %copy->rows_copy.from_host
  %from_device = %copy->rows_copy.from_device
  %to_kind = %copy->rows_copy.to_kind
  %to_host = %copy->rows_copy.to_host
  %to_device = %copy->rows_copy.to_device
  %reads_host = icmp eq i64 %from_kind, {host_memory}
  %writes_host = icmp eq i64 %to_kind, {host_memory}
  %from = select i1 %reads_host, i64 %from_host, i64 %from_device
  %to = select i1 %writes_host, i64 %to_host, i64 %to_device
  %from_pitch = %copy->rows_copy.from_pitch
  %to_pitch = %copy->rows_copy.to_pitch
  %width = %copy->rows_copy.width
  %height = %copy->rows_copy.height
  %source = inttoptr i64 %from to ptr
  %target = inttoptr i64 %to to ptr
  if eq i32 %status, 0: begin, done
begin:
  for i64 %i < %height: row, done
row:
  %from_at = mul i64 %i, %from_pitch
  %to_at = mul i64 %i, %to_pitch
  %from_row = getelementptr i8, ptr %source, i64 %from_at
  %to_row = getelementptr i8, ptr %target, i64 %to_at
  call void @llvm.memcpy.p0.p0.i64(ptr %to_row, ptr %from_row, i64 %width, i1 false)
  next %i
done:
  ret i32 %status
}}

; as `cuStreamSynchronize`: Python waits for a queue's thread
define i32 @synchronize(ptr %stream) {{
  %status = call i32 @status_of(ptr %stream)
  ret i32 %status
}}

; as `cuStreamQuery`
define i32 @query(ptr %stream) {{
  %rests = call i1 @at_rest(ptr %stream)
  %status = select i1 %rests, i32 0, i32 {not_ready}
  ret i32 %status
}}

; as `cuEventRecord`
define i32 @record(i64 %event, ptr %stream) {{
  %status = call i32 @status_of(ptr %stream)
  ret i32 %status
}}

; as `cuStreamWaitEvent`: what an event was recorded after is finished
define i32 @wait_event(ptr %stream, i64 %event, i32 %flags) {{
  ret i32 0
}}

; as `cuLaunchHostFunc`
define i32 @call_later(ptr %stream, ptr %function, ptr %argument) {{
entry:
  %status = call i32 @status_of(ptr %stream)
  if eq i32 %status, 0: call, done
call:
  call void %function(ptr %argument)
  br label %done
done:
  ret i32 %status
}}

"""
"""`launch`, and the other functions of the driver. Format fields: `at_once_ns`, `soon_ns`,
`not_ready`, `host_memory`."""

assert ctypes.sizeof(DriverRowsCopy) == 128
