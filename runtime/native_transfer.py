"""
The loops of large transfers in native code: threads move pieces between pageable memory and pinned
buffers while the DMA engine moves others.

    transfer(ptr job, ptr worker, i32 threads)
    worker_in(ptr job), worker_out(ptr job)

`transfer` runs `worker` in so many threads, itself being one, and returns when all are done. Each
worker has two buffers and takes the next piece until none is left. What is done to a piece is a
function `move`: `memcpy`, or one of the host codec's. All are called with the same arguments, those
of the longest, as the C calling convention allows:

    move(ptr target, ptr source, i64 count, double a, double b, i64 stride) -> i32

No thread holds Python's lock meanwhile: handing a piece to a Python thread costs 50 µs, as long as
copying 250 KB takes.
"""

from __future__ import annotations

import ctypes

MAX_THREADS = 16
BUFFERS = 2
"""Of each thread: one is filled while the other one's contents are on their way."""

_IR = """
%job = type {{ i64, i64, i64, i64, i64, i64, i64, i64,
    i64, ptr, ptr, double, double, i64, i64, i64, ptr, ptr, ptr, ptr, ptr, ptr }}

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i64 @llvm.smin.i64(i64, i64)

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

; the calling worker's first slot, with the context current
define internal i64 @begin(ptr %job) {{
  %workers = getelementptr %job, ptr %job, i32 0, i32 1
  %number = atomicrmw add ptr %workers, i64 1 monotonic
  %slot = mul i64 %number, {buffers}
  %context_at = getelementptr %job, ptr %job, i32 0, i32 9
  %context = load ptr, ptr %context_at
  %function_at = getelementptr %job, ptr %job, i32 0, i32 18
  %function = load ptr, ptr %function_at
  %status = call i32 %function(ptr %context)
  call void @check(ptr %job, i32 %status)
  ret i64 %slot
}}

; the first piece that no worker has taken yet
define internal i64 @take(ptr %job) {{
  %piece_at = getelementptr %job, ptr %job, i32 0, i32 3
  %piece = load i64, ptr %piece_at
  %first = atomicrmw add ptr %job, i64 %piece monotonic
  ret i64 %first
}}

; whether there is such a piece, and nothing has failed
define internal i1 @valid(ptr %job, i64 %first) {{
  %count_at = getelementptr %job, ptr %job, i32 0, i32 2
  %count = load i64, ptr %count_at
  %status_at = getelementptr %job, ptr %job, i32 0, i32 15
  %status = load atomic i64, ptr %status_at monotonic, align 8
  %inside = icmp slt i64 %first, %count
  %good = icmp eq i64 %status, 0
  %both = and i1 %inside, %good
  ret i1 %both
}}

define internal i64 @length(ptr %job, i64 %first) {{
  %piece_at = getelementptr %job, ptr %job, i32 0, i32 3
  %piece = load i64, ptr %piece_at
  %count_at = getelementptr %job, ptr %job, i32 0, i32 2
  %count = load i64, ptr %count_at
  %left = sub i64 %count, %first
  %length = call i64 @llvm.smin.i64(i64 %piece, i64 %left)
  ret i64 %length
}}

define internal void @check(ptr %job, i32 %status) {{
entry:
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %note, label %done
note:
  %status_at = getelementptr %job, ptr %job, i32 0, i32 15
  %wide = zext i32 %status to i64
  store atomic i64 %wide, ptr %status_at monotonic, align 8
  br label %done
done:
  ret void
}}

define internal ptr @buffer(ptr %job, i64 %slot) {{
  %table_at = getelementptr %job, ptr %job, i32 0, i32 16
  %table = load ptr, ptr %table_at
  %at = getelementptr ptr, ptr %table, i64 %slot
  %buffer = load ptr, ptr %at
  ret ptr %buffer
}}

define internal ptr @event(ptr %job, i64 %slot) {{
  %table_at = getelementptr %job, ptr %job, i32 0, i32 17
  %table = load ptr, ptr %table_at
  %at = getelementptr ptr, ptr %table, i64 %slot
  %event = load ptr, ptr %at
  ret ptr %event
}}

; waits until the driver is done with a slot's buffer
define internal void @await(ptr %job, i64 %slot) {{
  %event = call ptr @event(ptr %job, i64 %slot)
  %function_at = getelementptr %job, ptr %job, i32 0, i32 19
  %function = load ptr, ptr %function_at
  %status = call i32 %function(ptr %event)
  call void @check(ptr %job, i32 %status)
  ret void
}}

; queues the copy of a piece between its place on the device and a slot's buffer
define internal void @issue(ptr %job, i64 %slot, i64 %first, i1 %out) {{
entry:
  %length = call i64 @length(ptr %job, i64 %first)
  %step_at = getelementptr %job, ptr %job, i32 0, i32 7
  %step = load i64, ptr %step_at
  %bytes = mul i64 %length, %step
  %distance = mul i64 %first, %step
  %device_at = getelementptr %job, ptr %job, i32 0, i32 6
  %device = load i64, ptr %device_at
  %address = add i64 %device, %distance
  %buffer = call ptr @buffer(ptr %job, i64 %slot)
  %buffer_word = ptrtoint ptr %buffer to i64
  %target = select i1 %out, i64 %buffer_word, i64 %address
  %source = select i1 %out, i64 %address, i64 %buffer_word
  %stream_at = getelementptr %job, ptr %job, i32 0, i32 8
  %stream = load i64, ptr %stream_at
  %function_at = getelementptr %job, ptr %job, i32 0, i32 20
  %function = load ptr, ptr %function_at
  %status = call i32 %function(i64 %target, i64 %source, i64 %bytes, i64 %stream)
  call void @check(ptr %job, i32 %status)
  %event = call ptr @event(ptr %job, i64 %slot)
  %record_at = getelementptr %job, ptr %job, i32 0, i32 21
  %record = load ptr, ptr %record_at
  %recorded = call i32 %record(ptr %event, i64 %stream)
  call void @check(ptr %job, i32 %recorded)
  ret void
}}

; moves a piece between its place on the host and a slot's buffer
define internal void @move(ptr %job, i64 %slot, i64 %first, i1 %out) {{
entry:
  %length = call i64 @length(ptr %job, i64 %first)
  %step_at = getelementptr %job, ptr %job, i32 0, i32 5
  %step = load i64, ptr %step_at
  %distance = mul i64 %first, %step
  %host_at = getelementptr %job, ptr %job, i32 0, i32 4
  %host = load ptr, ptr %host_at
  %place = getelementptr i8, ptr %host, i64 %distance
  %buffer = call ptr @buffer(ptr %job, i64 %slot)
  %target = select i1 %out, ptr %place, ptr %buffer
  %source = select i1 %out, ptr %buffer, ptr %place
  %a_at = getelementptr %job, ptr %job, i32 0, i32 11
  %a = load double, ptr %a_at
  %b_at = getelementptr %job, ptr %job, i32 0, i32 12
  %b = load double, ptr %b_at
  %stride_at = getelementptr %job, ptr %job, i32 0, i32 13
  %stride = load i64, ptr %stride_at
  %function_at = getelementptr %job, ptr %job, i32 0, i32 10
  %function = load ptr, ptr %function_at
  %result = call i32 %function(ptr %target, ptr %source, i64 %length, double %a, double %b, i64 %stride)
  %number = zext i32 %result to i64
  %total = getelementptr %job, ptr %job, i32 0, i32 14
  %old = atomicrmw add ptr %total, i64 %number monotonic
  ret void
}}

define ptr @worker_in(ptr %job) {{
entry:
  %base = call i64 @begin(ptr %job)
  br label %look
look:
  %turn = phi i64 [ 0, %entry ], [ %other, %go ]
  %first = call i64 @take(ptr %job)
  %some = call i1 @valid(ptr %job, i64 %first)
  br i1 %some, label %go, label %done
go:
  %slot = add i64 %base, %turn
  call void @await(ptr %job, i64 %slot)
  call void @move(ptr %job, i64 %slot, i64 %first, i1 false)
  call void @issue(ptr %job, i64 %slot, i64 %first, i1 false)
  %other = xor i64 %turn, 1
  br label %look
done:
  ret ptr null
}}

define ptr @worker_out(ptr %job) {{
entry:
  %base = call i64 @begin(ptr %job)
  %begin = call i64 @take(ptr %job)
  %any = call i1 @valid(ptr %job, i64 %begin)
  br i1 %any, label %fetch, label %done
fetch:
  call void @await(ptr %job, i64 %base)
  call void @issue(ptr %job, i64 %base, i64 %begin, i1 true)
  br label %look
look:
  %turn = phi i64 [ 0, %fetch ], [ %other, %take ]
  %first = phi i64 [ %begin, %fetch ], [ %ahead, %take ]
  %other = xor i64 %turn, 1
  %slot = add i64 %base, %turn
  %ahead = call i64 @take(ptr %job)
  %some = call i1 @valid(ptr %job, i64 %ahead)
  br i1 %some, label %prefetch, label %take
prefetch:
  %ahead_slot = add i64 %base, %other
  call void @await(ptr %job, i64 %ahead_slot)
  call void @issue(ptr %job, i64 %ahead_slot, i64 %ahead, i1 true)
  br label %take
take:
  call void @await(ptr %job, i64 %slot)
  call void @move(ptr %job, i64 %slot, i64 %first, i1 true)
  br i1 %some, label %look, label %done
done:
  ret ptr null
}}
"""


class TransferJob(ctypes.Structure):
    """
    One transfer of `count` elements, `piece` at a time. An element has `host_step` bytes of pageable
    memory at `host`, and `device_step` at `device` and in the buffers. The results of `move` are added
    up in `total`. `status` is that of a driver call that failed.
    """

    _fields_ = (
        ("next", ctypes.c_int64),
        ("workers", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("piece", ctypes.c_int64),
        ("host", ctypes.c_int64),
        ("host_step", ctypes.c_int64),
        ("device", ctypes.c_int64),
        ("device_step", ctypes.c_int64),
        ("stream", ctypes.c_int64),
        ("context", ctypes.c_void_p),
        ("move", ctypes.c_void_p),
        ("a", ctypes.c_double),
        ("b", ctypes.c_double),
        ("stride", ctypes.c_int64),
        ("total", ctypes.c_int64),
        ("status", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
        ("events", ctypes.c_void_p),
        ("set_current", ctypes.c_void_p),
        ("synchronize", ctypes.c_void_p),
        ("copy", ctypes.c_void_p),
        ("record", ctypes.c_void_p),
    )


class NativeTransfer:
    """The compiled functions."""

    def __init__(self) -> None:
        from ..compiler.backend.cache import DiskCache
        from ..compiler.backend.jit import HostProgram

        text = _IR.format(threads=MAX_THREADS, buffers=BUFFERS)
        self._program = HostProgram(text, cache=DiskCache.default("host"))
        self._transfer = self._program.function(
            "transfer", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32
        )
        self._in = self._program.address("worker_in")
        self._out = self._program.address("worker_out")
        self.memcpy = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value or 0

    def run(self, job: TransferJob, threads: int, *, out: bool) -> None:
        """
        Performs the job in so many threads (1 to `MAX_THREADS`). Its `status` and `total` are set
        then; copies to the device may still be on their way.
        """
        worker = self._out if out else self._in
        self._transfer(ctypes.addressof(job), worker, threads)
