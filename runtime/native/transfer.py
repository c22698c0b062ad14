"""
Native code for large transfers: threads move pieces between pageable memory and pinned buffers while the
DMA engine moves others.

    worker_in(ptr job), worker_out(ptr job), worker_find(ptr job)

Several threads (`threads.py`) run the same worker. Each has two buffers and takes the next piece until none
is left. A piece is moved by a function `move`: `memcpy`, or one of the host codec's. All are called with
the arguments of the one with the most parameters, as the C calling convention allows:

    move(ptr target, ptr source, i64 count, double a, double b, i64 stride) -> i32

A transfer counts in *units*, and a piece has up to `most` of them.

`worker_find` sends numbers and finds their range. A worker whose buffer is still in flight does not wait:
it scans a unit at the back. When front and back meet, all numbers have been scanned; those before the
meeting point were also copied.

No thread holds Python's global lock meanwhile: handing a piece to a Python thread takes 50 µs, as long as
copying 250 KB.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable
from typing import Literal

from .code import NativeCode
from .text import structure
from .threads import THREADS_IR, Team

BUFFERS = 2
"""The buffers of each thread: one is filled while the other one is in flight."""

NOT_READY = 600
"""CUDA_ERROR_NOT_READY: the result of `cuEventQuery` before the event has happened."""

_IR = """
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

; makes the context current and returns the calling worker's number
define internal i64 @begin(ptr %job) {{
  %workers = &%job->transfer.workers
  %number = atomicrmw add ptr %workers, i64 1 monotonic
  %context = %job->transfer.context
  %function = %job->transfer.set_current
  %status = call i32 %function(ptr %context)
  call void @check(ptr %job, i32 %status)
  ret i64 %number
}}

define internal void @check(ptr %job, i32 %status) {{
entry:
  if ne i32 %status, 0: note, done
note:
  %status_at = &%job->transfer.status
  %wide = zext i32 %status to i64
  store atomic i64 %wide, ptr %status_at monotonic, align 8
  br label %done
done:
  ret void
}}

; takes elements for the caller to move; returns the first and their number: a piece of the front, or (%last)
; a unit of the back; none if all are taken or a worker has failed
define internal {{ i64, i64 }} @take(ptr %job, i1 %last) {{
entry:
  %bounds = &%job->transfer.bounds
  %status_at = &%job->transfer.status
  %most = %job->transfer.most
  %unit = %job->transfer.unit
  %count = %job->transfer.count
  %status = load atomic i64, ptr %status_at monotonic, align 8
  %good = icmp eq i64 %status, 0
  %begin = load atomic i64, ptr %bounds monotonic, align 8
  br i1 %good, label %look, label %none
look:
  %word = phi i64 [ %begin, %entry ], [ %seen, %try ]
  %front = and i64 %word, 4294967295
  %back = lshr i64 %word, 32
  %left = sub i64 %back, %front
  if sgt i64 %left, 0: try, none
try:
  %piece = call i64 @llvm.smin.i64(i64 %most, i64 %left)
  %ahead = add i64 %word, %piece
  %behind = sub i64 %word, 4294967296
  %new = select i1 %last, i64 %behind, i64 %ahead
  %pair = cmpxchg ptr %bounds, i64 %word, i64 %new monotonic monotonic
  %seen = extractvalue {{ i64, i1 }} %pair, 0
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %mine, label %look
mine:
  %back_unit = sub i64 %back, 1
  %from = select i1 %last, i64 %back_unit, i64 %front
  %units = select i1 %last, i64 1, i64 %piece
  %first = mul i64 %from, %unit
  %elements = mul i64 %units, %unit
  %rest = sub i64 %count, %first
  %length = call i64 @llvm.smin.i64(i64 %elements, i64 %rest)
  %half = insertvalue {{ i64, i64 }} poison, i64 %first, 0
  %whole = insertvalue {{ i64, i64 }} %half, i64 %length, 1
  ret {{ i64, i64 }} %whole
none:
  ret {{ i64, i64 }} zeroinitializer
}}

define internal ptr @buffer(ptr %job, i64 %slot) {{
  %table = %job->transfer.buffers
  %buffer = load ptr, ptr %table[i64 %slot]
  ret ptr %buffer
}}

define internal ptr @event(ptr %job, i64 %slot) {{
  %table = %job->transfer.events
  %event = load ptr, ptr %table[i64 %slot]
  ret ptr %event
}}

; waits until the driver no longer uses a slot's buffer
define internal void @await(ptr %job, i64 %slot) {{
  %event = call ptr @event(ptr %job, i64 %slot)
  %function = %job->transfer.synchronize
  %status = call i32 %function(ptr %event)
  call void @check(ptr %job, i32 %status)
  ret void
}}

; returns whether the driver no longer uses a slot's buffer
define internal i1 @ready(ptr %job, i64 %slot) {{
  %event = call ptr @event(ptr %job, i64 %slot)
  %function = %job->transfer.query
  %status = call i32 %function(ptr %event)
  %busy = icmp eq i32 %status, {not_ready}
  %failure = select i1 %busy, i32 0, i32 %status
  call void @check(ptr %job, i32 %failure)
  %free = xor i1 %busy, true
  ret i1 %free
}}

; queues the copy of a piece between its place on the device and a slot's buffer
define internal void @issue(ptr %job, i64 %slot, {{ i64, i64 }} %range, i1 %out) {{
entry:
  %first = extractvalue {{ i64, i64 }} %range, 0
  %length = extractvalue {{ i64, i64 }} %range, 1
  %step = %job->transfer.device_step
  %bytes = mul i64 %length, %step
  %distance = mul i64 %first, %step
  %device = %job->transfer.device
  %address = add i64 %device, %distance
  %buffer = call ptr @buffer(ptr %job, i64 %slot)
  %buffer_word = ptrtoint ptr %buffer to i64
  %target = select i1 %out, i64 %buffer_word, i64 %address
  %source = select i1 %out, i64 %address, i64 %buffer_word
  %stream = %job->transfer.stream
  %function = %job->transfer.copy
  %status = call i32 %function(i64 %target, i64 %source, i64 %bytes, i64 %stream)
  call void @check(ptr %job, i32 %status)
  %event = call ptr @event(ptr %job, i64 %slot)
  %record = %job->transfer.record
  %recorded = call i32 %record(ptr %event, i64 %stream)
  call void @check(ptr %job, i32 %recorded)
  ret void
}}

; returns the address of a piece on the host
define internal ptr @place(ptr %job, {{ i64, i64 }} %range) {{
  %first = extractvalue {{ i64, i64 }} %range, 0
  %step = %job->transfer.host_step
  %distance = mul i64 %first, %step
  %host = %job->transfer.host
  %place = getelementptr i8, ptr %host, i64 %distance
  ret ptr %place
}}

; moves a piece between the host's memory and a slot's buffer, block by block, and prefetches the host's
; memory of the next block
define internal void @move(ptr %job, i64 %slot, {{ i64, i64 }} %range, i1 %out) {{
entry:
  %length = extractvalue {{ i64, i64 }} %range, 1
  %place = call ptr @place(ptr %job, {{ i64, i64 }} %range)
  %buffer = call ptr @buffer(ptr %job, i64 %slot)
  %host_step = %job->transfer.host_step
  %device_step = %job->transfer.device_step
  %first_target = select i1 %out, ptr %place, ptr %buffer
  %first_source = select i1 %out, ptr %buffer, ptr %place
  %target_step = select i1 %out, i64 %host_step, i64 %device_step
  %source_step = select i1 %out, i64 %device_step, i64 %host_step
  %a = %job->transfer.a
  %b = %job->transfer.b
  %stride = %job->transfer.stride
  %function = %job->transfer.move
  %block = %job->transfer.block
  %target_bytes = mul i64 %block, %target_step
  %source_bytes = mul i64 %block, %source_step
  %host_bytes = mul i64 %block, %host_step
  br label %look
look:
  %left = phi i64 [ %length, %entry ], [ %rest, %done ]
  %target = phi ptr [ %first_target, %entry ], [ %next_target, %done ]
  %source = phi ptr [ %first_source, %entry ], [ %next_source, %done ]
  %sum = phi i64 [ 0, %entry ], [ %sum_next, %done ]
  %next_target = getelementptr i8, ptr %target, i64 %target_bytes
  %next_source = getelementptr i8, ptr %source, i64 %source_bytes
  %next_host = select i1 %out, ptr %next_target, ptr %next_source
  %number = call i64 @llvm.smin.i64(i64 %left, i64 %block)
  %rest = sub i64 %left, %number
  %more = icmp sgt i64 %rest, 0
  br i1 %more, label %ask, label %go
ask:
  %at = phi i64 [ 0, %look ], [ %at_next, %asked ]
  %line = getelementptr i8, ptr %next_host, i64 %at
  br i1 %out, label %ask_to_write, label %ask_to_read
ask_to_write:
  call void @llvm.prefetch.p0(ptr %line, i32 1, i32 3, i32 1)
  br label %asked
ask_to_read:
  call void @llvm.prefetch.p0(ptr %line, i32 0, i32 3, i32 1)
  br label %asked
asked:
  %at_next = add i64 %at, 64
  if slt i64 %at_next, %host_bytes: ask, go
go:
  %result = call i32 %function(ptr %target, ptr %source, i64 %number, double %a, double %b, i64 %stride)
  %wide = zext i32 %result to i64
  %sum_next = add i64 %sum, %wide
  br label %done
done:
  br i1 %more, label %look, label %end
end:
  %total = &%job->transfer.total
  %old = atomicrmw add ptr %total, i64 %sum_next monotonic
  ret void
}}

define ptr @worker_in(ptr %job) {{
entry:
  %number = call i64 @begin(ptr %job)
  %base = mul i64 %number, {buffers}
  br label %look
look:
  %turn = phi i64 [ 0, %entry ], [ %other, %go ]
  %range = call {{ i64, i64 }} @take(ptr %job, i1 false)
  %length = extractvalue {{ i64, i64 }} %range, 1
  if ne i64 %length, 0: go, done
go:
  %slot = add i64 %base, %turn
  call void @await(ptr %job, i64 %slot)
  call void @move(ptr %job, i64 %slot, {{ i64, i64 }} %range, i1 false)
  call void @issue(ptr %job, i64 %slot, {{ i64, i64 }} %range, i1 false)
  %other = xor i64 %turn, 1
  br label %look
done:
  ret ptr null
}}

define ptr @worker_out(ptr %job) {{
entry:
  %number = call i64 @begin(ptr %job)
  %base = mul i64 %number, {buffers}
  %begin = call {{ i64, i64 }} @take(ptr %job, i1 false)
  %begin_length = extractvalue {{ i64, i64 }} %begin, 1
  if ne i64 %begin_length, 0: fetch, done
fetch:
  call void @await(ptr %job, i64 %base)
  call void @issue(ptr %job, i64 %base, {{ i64, i64 }} %begin, i1 true)
  br label %look
look:
  %turn = phi i64 [ 0, %fetch ], [ %other, %put ]
  %range = phi {{ i64, i64 }} [ %begin, %fetch ], [ %ahead, %put ]
  %other = xor i64 %turn, 1
  %slot = add i64 %base, %turn
  %ahead = call {{ i64, i64 }} @take(ptr %job, i1 false)
  %ahead_length = extractvalue {{ i64, i64 }} %ahead, 1
  %some = icmp ne i64 %ahead_length, 0
  br i1 %some, label %prefetch, label %put
prefetch:
  %ahead_slot = add i64 %base, %other
  call void @await(ptr %job, i64 %ahead_slot)
  call void @issue(ptr %job, i64 %ahead_slot, {{ i64, i64 }} %ahead, i1 true)
  br label %put
put:
  call void @await(ptr %job, i64 %slot)
  call void @move(ptr %job, i64 %slot, {{ i64, i64 }} %range, i1 true)
  br i1 %some, label %look, label %done
done:
  ret ptr null
}}

define ptr @worker_find(ptr %job) {{
entry:
  %piece = alloca [2 x double]
  %piece_high = getelementptr double, ptr %piece, i64 1
  %number = call i64 @begin(ptr %job)
  %base = mul i64 %number, {buffers}
  %table = %job->transfer.found
  %own = getelementptr [2 x double], ptr %table, i64 %number
  %own_high = getelementptr double, ptr %own, i64 1
  %scan = %job->transfer.scan
  %scan_copy = %job->transfer.scan_copy
  %idle = %job->transfer.idle
  br label %look
look:
  %turn = phi i64 [ 0, %entry ], [ %next_turn, %merge ]
  %slot = add i64 %base, %turn
  %asked_turn = xor i64 %turn, %idle
  %asked = add i64 %base, %asked_turn
  %free = call i1 @ready(ptr %job, i64 %asked)
  %back = xor i1 %free, true
  %range = call {{ i64, i64 }} @take(ptr %job, i1 %back)
  %length = extractvalue {{ i64, i64 }} %range, 1
  if ne i64 %length, 0: go, done
go:
  %source = call ptr @place(ptr %job, {{ i64, i64 }} %range)
  br i1 %free, label %send, label %read
send:
  %buffer = call ptr @buffer(ptr %job, i64 %slot)
  call void %scan_copy(ptr %buffer, ptr %source, i64 %length, ptr %piece)
  call void @issue(ptr %job, i64 %slot, {{ i64, i64 }} %range, i1 false)
  %other = xor i64 %turn, 1
  br label %merge
read:
  call void %scan(ptr %source, i64 %length, ptr %piece)
  br label %merge
merge:
  %next_turn = phi i64 [ %other, %send ], [ %turn, %read ]
  %low = load double, ptr %piece
  %least = load double, ptr %own
  %lower = fcmp olt double %low, %least
  %low_next = select i1 %lower, double %low, double %least
  store double %low_next, ptr %own
  %high = load double, ptr %piece_high
  %greatest = load double, ptr %own_high
  %higher = fcmp ogt double %high, %greatest
  %high_next = select i1 %higher, double %high, double %greatest
  store double %high_next, ptr %own_high
  br label %look
done:
  ret ptr null
}}
"""


@structure("transfer")
class TransferJob(ctypes.Structure):
    """
    One transfer of `count` elements, in units of `unit`. The units not taken are those from the lower half
    of `bounds` to its upper half. An element has `host_step` bytes of pageable memory at `host`, and
    `device_step` at `device` and in the buffers. `move` is called with `block` elements at a time; its
    results are added up in `total`. `idle`: the number of its buffers (0 or 1) that a worker_find leaves
    unused, so that they do not queue for the bus. The ranges that worker_find finds are in `found`, one for
    each worker, initially empty. `status` is that of a driver call that failed.
    """

    _fields_ = (
        ("bounds", ctypes.c_int64),
        ("workers", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("unit", ctypes.c_int64),
        ("most", ctypes.c_int64),
        ("threads", ctypes.c_int64),
        ("host", ctypes.c_void_p),
        ("host_step", ctypes.c_int64),
        ("device", ctypes.c_int64),
        ("device_step", ctypes.c_int64),
        ("stream", ctypes.c_int64),
        ("block", ctypes.c_int64),
        ("move", ctypes.c_void_p),
        ("a", ctypes.c_double),
        ("b", ctypes.c_double),
        ("stride", ctypes.c_int64),
        ("scan", ctypes.c_void_p),
        ("scan_copy", ctypes.c_void_p),
        ("found", ctypes.c_void_p),
        ("idle", ctypes.c_int64),
        ("total", ctypes.c_int64),
        ("status", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
        ("events", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("set_current", ctypes.c_void_p),
        ("synchronize", ctypes.c_void_p),
        ("query", ctypes.c_void_p),
        ("copy", ctypes.c_void_p),
        ("record", ctypes.c_void_p),
    )

    @property
    def sent(self) -> int:
        """The number of elements that were taken from the front."""
        return min((self.bounds & 0xFFFF_FFFF) * self.unit, self.count)


class NativeTransfer:
    """The compiled functions."""

    def __init__(self) -> None:
        constants = {"buffers": BUFFERS, "not_ready": NOT_READY}
        code = NativeCode(THREADS_IR + _IR, constants=constants, optimize=3)
        pointer = ctypes.c_void_p
        types = (pointer, pointer, pointer, ctypes.c_int64)
        self._perform = code.function("perform", None, *types)
        self._team = Team()
        dismiss = code.function("dismiss", None, pointer)
        self._dismiss = weakref.finalize(self, _dismiss, code, dismiss, self._team, os.getpid())
        self._workers = {name: code.address(f"worker_{name}") for name in ("in", "out", "find")}
        self.memcpy = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value or 0

    def run(self, job: TransferJob, worker: Literal["in", "out", "find"]) -> None:
        """
        Performs the job in its `threads` (1 to `MAX_THREADS`), and sets its `status`, `total` and `found`.
        Copies to the device may still be in flight afterwards.
        """
        team, work = ctypes.addressof(self._team), self._workers[worker]
        self._perform(team, work, ctypes.addressof(job), job.threads)

    def close(self) -> None:
        """Ends the threads."""
        self._dismiss()


def _dismiss(code: NativeCode, dismiss: Callable[[int], None], team: Team, process: int) -> None:
    """
    Ends a team's threads; `code` is their code, which must outlive them. Does nothing in a forked
    process, which has the team's memory without its threads.
    """
    if os.getpid() == process:
        dismiss(ctypes.addressof(team))
