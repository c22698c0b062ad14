"""
The loops of large transfers in native code: threads move pieces between pageable memory and pinned
buffers while the DMA engine moves others.

    transfer(ptr job, ptr worker, i32 threads)
    worker_in(ptr job), worker_out(ptr job), worker_find(ptr job)

`transfer` runs `worker` in so many threads, itself being one, and returns when all are done. Each
worker has two buffers and takes the next piece until none is left. What is done to a piece is a
function `move`: `memcpy`, or one of the host codec's. All are called with the same arguments, those
of the longest, as the C calling convention allows:

    move(ptr target, ptr source, i64 count, double a, double b, i64 stride) -> i32

A transfer counts in *units*. The first pieces and the last are single units, so that the bus has
something to do soon, and all threads end together; those between are up to `most` units.

`worker_find` sends numbers whose range is asked for. A worker that finds its buffer still on its way
does not wait: it scans a unit at the back. Where front and back meet all numbers have been scanned,
those before the meeting point while they were copied.

No thread holds Python's lock meanwhile: handing a piece to a Python thread costs 50 µs, as long as
copying 250 KB takes.
"""

from __future__ import annotations

import ctypes
from typing import Literal

MAX_THREADS = 16
BUFFERS = 2
"""Of each thread: one is filled while the other one's contents are on their way."""

NOT_READY = 600
"""CUDA_ERROR_NOT_READY: what `cuEventQuery` answers while the event is still ahead."""

_IR = """
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)

define void @transfer(ptr %job, ptr %worker, i32 %threads) {{
entry:
  %handles = alloca [{threads} x i64]
  %more = sub i32 %threads, 1
  br label %test
test:
  %i = phi i32 [ 0, %entry ], [ %next, %start ]
  %begun = phi i32 [ 0, %entry ], [ %begun_next, %start ]
  %some = icmp slt i32 %i, %more
  br i1 %some, label %start, label %work
start:
  %at = getelementptr i64, ptr %handles, i32 %begun
  %status = call i32 @pthread_create(ptr %at, ptr null, ptr %worker, ptr %job)
  %good = icmp eq i32 %status, 0
  %one = zext i1 %good to i32
  %begun_next = add i32 %begun, %one
  %next = add i32 %i, 1
  br label %test
work:
  %own = call ptr %worker(ptr %job)
  br label %join
join:
  %j = phi i32 [ 0, %work ], [ %j_next, %wait ]
  %left = icmp slt i32 %j, %begun
  br i1 %left, label %wait, label %done
wait:
  %handle_at = getelementptr i64, ptr %handles, i32 %j
  %handle = load i64, ptr %handle_at
  %joined = call i32 @pthread_join(i64 %handle, ptr null)
  %j_next = add i32 %j, 1
  br label %join
done:
  ret void
}}

; the calling worker's number, with the context current
define internal i64 @begin(ptr %job) {{
  %workers = call ptr @at_workers(ptr %job)
  %number = atomicrmw add ptr %workers, i64 1 monotonic
  %context = call ptr @get_context(ptr %job)
  %function = call ptr @get_set_current(ptr %job)
  %status = call i32 %function(ptr %context)
  call void @check(ptr %job, i32 %status)
  ret i64 %number
}}

define internal void @check(ptr %job, i32 %status) {{
entry:
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %note, label %done
note:
  %status_at = call ptr @at_status(ptr %job)
  %wide = zext i32 %status to i64
  store atomic i64 %wide, ptr %status_at monotonic, align 8
  br label %done
done:
  ret void
}}

; the elements that the caller is to move, first and number, which nobody has taken yet: a piece of
; the front or (last) a unit of the back; none if there are none, or something has failed
define internal {{ i64, i64 }} @take(ptr %job, i1 %last) {{
entry:
  %bounds = call ptr @at_bounds(ptr %job)
  %status_at = call ptr @at_status(ptr %job)
  %threads = call i64 @get_threads(ptr %job)
  %most = call i64 @get_most(ptr %job)
  %unit = call i64 @get_unit(ptr %job)
  %count = call i64 @get_count(ptr %job)
  %status = load atomic i64, ptr %status_at monotonic, align 8
  %good = icmp eq i64 %status, 0
  %begin = load atomic i64, ptr %bounds monotonic, align 8
  br i1 %good, label %look, label %none
look:
  %word = phi i64 [ %begin, %entry ], [ %seen, %try ]
  %front = and i64 %word, 4294967295
  %back = lshr i64 %word, 32
  %left = sub i64 %back, %front
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %try, label %none
try:
  %near = call i64 @llvm.smin.i64(i64 %front, i64 %left)
  %share = udiv i64 %near, %threads
  %least = call i64 @llvm.smax.i64(i64 %share, i64 1)
  %piece = call i64 @llvm.smin.i64(i64 %least, i64 %most)
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
  %table = call ptr @get_buffers(ptr %job)
  %at = getelementptr ptr, ptr %table, i64 %slot
  %buffer = load ptr, ptr %at
  ret ptr %buffer
}}

define internal ptr @event(ptr %job, i64 %slot) {{
  %table = call ptr @get_events(ptr %job)
  %at = getelementptr ptr, ptr %table, i64 %slot
  %event = load ptr, ptr %at
  ret ptr %event
}}

; waits until the driver is done with a slot's buffer
define internal void @await(ptr %job, i64 %slot) {{
  %event = call ptr @event(ptr %job, i64 %slot)
  %function = call ptr @get_synchronize(ptr %job)
  %status = call i32 %function(ptr %event)
  call void @check(ptr %job, i32 %status)
  ret void
}}

; whether it is
define internal i1 @free(ptr %job, i64 %slot) {{
  %event = call ptr @event(ptr %job, i64 %slot)
  %function = call ptr @get_query(ptr %job)
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
  %step = call i64 @get_device_step(ptr %job)
  %bytes = mul i64 %length, %step
  %distance = mul i64 %first, %step
  %device = call i64 @get_device(ptr %job)
  %address = add i64 %device, %distance
  %buffer = call ptr @buffer(ptr %job, i64 %slot)
  %buffer_word = ptrtoint ptr %buffer to i64
  %target = select i1 %out, i64 %buffer_word, i64 %address
  %source = select i1 %out, i64 %address, i64 %buffer_word
  %stream = call i64 @get_stream(ptr %job)
  %function = call ptr @get_copy(ptr %job)
  %status = call i32 %function(i64 %target, i64 %source, i64 %bytes, i64 %stream)
  call void @check(ptr %job, i32 %status)
  %event = call ptr @event(ptr %job, i64 %slot)
  %record = call ptr @get_record(ptr %job)
  %recorded = call i32 %record(ptr %event, i64 %stream)
  call void @check(ptr %job, i32 %recorded)
  ret void
}}

; the place of a piece on the host
define internal ptr @place(ptr %job, {{ i64, i64 }} %range) {{
  %first = extractvalue {{ i64, i64 }} %range, 0
  %step = call i64 @get_host_step(ptr %job)
  %distance = mul i64 %first, %step
  %host = call ptr @get_host(ptr %job)
  %place = getelementptr i8, ptr %host, i64 %distance
  ret ptr %place
}}

; moves a piece between its place on the host and a slot's buffer
define internal void @move(ptr %job, i64 %slot, {{ i64, i64 }} %range, i1 %out) {{
entry:
  %length = extractvalue {{ i64, i64 }} %range, 1
  %place = call ptr @place(ptr %job, {{ i64, i64 }} %range)
  %buffer = call ptr @buffer(ptr %job, i64 %slot)
  %target = select i1 %out, ptr %place, ptr %buffer
  %source = select i1 %out, ptr %buffer, ptr %place
  %a = call double @get_a(ptr %job)
  %b = call double @get_b(ptr %job)
  %stride = call i64 @get_stride(ptr %job)
  %function = call ptr @get_move(ptr %job)
  %result = call i32 %function(ptr %target, ptr %source, i64 %length, double %a, double %b, i64 %stride)
  %number = zext i32 %result to i64
  %total = call ptr @at_total(ptr %job)
  %old = atomicrmw add ptr %total, i64 %number monotonic
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
  %some = icmp ne i64 %length, 0
  br i1 %some, label %go, label %done
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
  %any = icmp ne i64 %begin_length, 0
  br i1 %any, label %fetch, label %done
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
  %table = call ptr @get_found(ptr %job)
  %own = getelementptr [2 x double], ptr %table, i64 %number
  %own_high = getelementptr double, ptr %own, i64 1
  %scan = call ptr @get_scan(ptr %job)
  %scan_copy = call ptr @get_scan_copy(ptr %job)
  br label %look
look:
  %turn = phi i64 [ 0, %entry ], [ %next_turn, %merge ]
  %slot = add i64 %base, %turn
  %free = call i1 @free(ptr %job, i64 %slot)
  %back = xor i1 %free, true
  %range = call {{ i64, i64 }} @take(ptr %job, i1 %back)
  %length = extractvalue {{ i64, i64 }} %range, 1
  %some = icmp ne i64 %length, 0
  br i1 %some, label %go, label %done
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


class TransferJob(ctypes.Structure):
    """
    One transfer of `count` elements, in units of `unit`. The units not taken are those from the lower
    half of `bounds` to its upper half. An element has `host_step` bytes of pageable
    memory at `host`, and `device_step` at `device` and in the buffers. The results of `move` are added
    up in `total`; the ranges that worker_find finds are in `found`, one for each worker, which begin
    as empty. `status` is that of a driver call that failed.
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
        ("move", ctypes.c_void_p),
        ("a", ctypes.c_double),
        ("b", ctypes.c_double),
        ("stride", ctypes.c_int64),
        ("scan", ctypes.c_void_p),
        ("scan_copy", ctypes.c_void_p),
        ("found", ctypes.c_void_p),
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

    def take_all(self, count: int, unit: int, most: int, threads: int) -> None:
        """Sets the elements to be moved, and the sizes of pieces."""
        self.count, self.unit, self.most, self.threads = count, unit, most, threads
        self.bounds = -(-count // unit) << 32
        self.workers = self.total = self.status = 0

    @property
    def sent(self) -> int:
        """The elements that were taken from the front."""
        return min((self.bounds & 0xFFFF_FFFF) * self.unit, self.count)


def _accessors() -> str:
    """IR functions for the fields of a job, all of which have 8 bytes: `at_…` and `get_…`."""
    kinds = {ctypes.c_int64: "i64", ctypes.c_void_p: "ptr", ctypes.c_double: "double"}
    text = ""
    for name, kind in TransferJob._fields_:
        at, type = getattr(TransferJob, name).offset, kinds[kind]
        text += f"""
define internal ptr @at_{name}(ptr %job) alwaysinline {{
  %at = getelementptr i8, ptr %job, i64 {at}
  ret ptr %at
}}
define internal {type} @get_{name}(ptr %job) alwaysinline {{
  %at = call ptr @at_{name}(ptr %job)
  %value = load {type}, ptr %at
  ret {type} %value
}}
"""
    return text


class NativeTransfer:
    """The compiled functions."""

    def __init__(self) -> None:
        from ..compiler.backend.cache import DiskCache
        from ..compiler.backend.jit import HostProgram

        text = _IR.format(threads=MAX_THREADS, buffers=BUFFERS, not_ready=NOT_READY)
        self._program = HostProgram(_accessors() + text, cache=DiskCache.default("host"))
        self._transfer = self._program.function(
            "transfer", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32
        )
        self._workers = {
            name: self._program.address(f"worker_{name}") for name in ("in", "out", "find")
        }
        self.memcpy = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value or 0

    def run(self, job: TransferJob, worker: Literal["in", "out", "find"]) -> None:
        """
        Performs the job in its `threads` (1 to `MAX_THREADS`). Its `status`, `total` and `found` are
        set then; copies to the device may still be on their way.
        """
        self._transfer(ctypes.addressof(job), self._workers[worker], job.threads)
