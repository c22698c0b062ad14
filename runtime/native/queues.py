"""
The state of a queue for native code: its stream, its event, and its asides.

Copies between devices are not put on the streams of their queues, where they would run one after the other,
but on streams of their own (`peers_code.py`). A queue's next work must still come after them: so the queue
has a list of events for which its stream must still wait, its *asides*, and code that puts work on the
stream, or waits for it, lets it *catch up* first. A wait that was postponed (`waits.py`) is an aside, too.
Work on another stream that must come after the queue waits for the queue's event, which covers the work on
the stream, and for the asides themselves.

An aside has the range of device memory that it uses, so that a copy waits only for those asides with which
it conflicts. An aside without a range uses all memory. An event may be recorded again, after more work on
the same stream, while others still wait for it.
"""

from __future__ import annotations

import ctypes

from .code import NativeCode
from .text import structure

NOT_READY = 600
"""`CUDA_ERROR_NOT_READY`: the status of a query of a queue with unfinished work."""

ASIDES = 16
"""The most asides of a queue; before it gets another one, it catches up with the first ones."""


@structure("aside")
class _Aside(ctypes.Structure):
    """An event after work on the device memory from `first` up to `last` (exclusive); `writes`: the work
    writes to it."""

    _fields_ = (
        ("event", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("last", ctypes.c_int64),
        ("writes", ctypes.c_int64),
    )


@structure("queue")
class NativeQueue(ctypes.Structure):
    """
    The state of a queue. `transfers` counts the work on the queue that accesses memory outside of its
    device, or waits for a queue with such work; `settled` is the number of them for which the host has
    waited. `postponed` counts the postponed waits, `joined` those of them that have been made up for.
    `lock` is held while the list of `count` asides changes. `work` counts what native code has put on the
    stream, `work_of_python` rises at the end of each entry point in Python; `marked` is one more than their
    sum when the event was last recorded. `borders`: the address of the device's `Borders`, 0 if it has
    none. `shared`: 1 if the program has the stream and may put work on it that is not counted. `quiet`:
    as `marked`, when the driver last said that all work is finished; `unasked`: how often it was not asked
    since the event was recorded.

    Each count is raised after the work was enqueued, and a thread that waits reads it before waiting: so
    the value that it then stores to `settled` or `joined` covers only finished work, whatever other threads
    do.
    """

    _fields_ = (
        ("stream", ctypes.c_int64),
        ("event", ctypes.c_int64),
        ("transfers", ctypes.c_int64),
        ("settled", ctypes.c_int64),
        ("postponed", ctypes.c_int64),
        ("joined", ctypes.c_int64),
        ("lock", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("work", ctypes.c_int64),
        ("work_of_python", ctypes.c_int64),
        ("marked", ctypes.c_int64),
        ("borders", ctypes.c_int64),
        ("shared", ctypes.c_int64),
        ("quiet", ctypes.c_int64),
        ("unasked", ctypes.c_int64),
        ("asides", _Aside * ASIDES),
    )


QUEUE_IR = """
; counts work that was put on the queue's stream
define internal void @count_work(ptr %queue) alwaysinline {{
  %work_at = &%queue->queue.work
  %old = atomicrmw add ptr %work_at, i64 1 seq_cst
  ret void
}}

; counts work on the queue that accesses memory outside of its device
define internal void @count_transfers(ptr %queue, i64 %more) alwaysinline {{
  %transfers_at = &%queue->queue.transfers
  %old = atomicrmw add ptr %transfers_at, i64 %more seq_cst
  ret void
}}

define internal i32 @put_behind(i64 %stream, i64 %event) alwaysinline {{
  %status = call i32 inttoptr (i64 {stream_wait_event} to ptr)(i64 %stream, i64 %event, i32 0)
  ret i32 %status
}}

define internal void @lock_queue(ptr %queue) {{
entry:
  %lock = &%queue->queue.lock
  br label %try
try:
  %pair = cmpxchg ptr %lock, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %done, label %again
again:
  %given = call i32 inttoptr (i64 {yield} to ptr)()
  br label %try
done:
  ret void
}}

define internal void @unlock_queue(ptr %queue) {{
  %queue->queue.lock = 0 release
  ret void
}}

define internal i1 @has_asides(ptr %queue) alwaysinline {{
  %count = %queue->queue.count acquire
  %some = icmp ne i64 %count, 0
  ret i1 %some
}}

; returns whether no aside of a queue before number `%i` has the same event
define internal i1 @is_first(ptr %queue, i64 %i, i64 %event) {{
entry:
  br label %test
test:
  %k = phi i64 [ 0, %entry ], [ %next, %look ]
  if ult i64 %k, %i: look, yes
look:
  %asides = &%queue->queue.asides
  %its = %asides[i64 %k]->aside.event
  %same = icmp eq i64 %its, %event
  %next = add i64 %k, 1
  br i1 %same, label %no, label %test
yes:
  ret i1 true
no:
  ret i1 false
}}

; lets a stream of the current device wait for the asides of a queue, except the event `%own`; the queue is
; locked
define internal i32 @put_behind_asides(ptr %queue, i64 %stream, i64 %own) {{
entry:
  %count = %queue->queue.count
  for i64 %i < %count: look, end
  %sum = phi i32 [ 0, %entry ], [ %total, %done ]
look:
  %asides = &%queue->queue.asides
  %event = %asides[i64 %i]->aside.event
  %other = icmp ne i64 %event, %own
  %first = call i1 @is_first(ptr %queue, i64 %i, i64 %event)
  %needed = and i1 %other, %first
  br i1 %needed, label %go, label %done
go:
  %put = call i32 @put_behind(i64 %stream, i64 %event)
  br label %done
done:
  %status = phi i32 [ 0, %look ], [ %put, %go ]
  %total = or i32 %sum, %status
  next %i
end:
  ret i32 %sum
}}

; lets the queue's stream wait for its asides, which are then removed; the queue is locked
define internal i32 @drain(ptr %queue) {{
  %stream = %queue->queue.stream
  %status = call i32 @put_behind_asides(ptr %queue, i64 %stream, i64 0)
  call void @count_work(ptr %queue)
  %queue->queue.count = 0 release
  ret i32 %status
}}

; lets the queue, one of the current device, catch up
define i32 @catch_up(ptr %queue) {{
entry:
  %some = call i1 @has_asides(ptr %queue)
  br i1 %some, label %go, label %none
go:
  call void @lock_queue(ptr %queue)
  %status = call i32 @drain(ptr %queue)
  call void @unlock_queue(ptr %queue)
  ret i32 %status
none:
  ret i32 0
}}
"""
"""LLVM IR of the type of a `NativeQueue` and its functions; its fields are `QUEUE_ADDRESSES` and the
driver's."""

ASIDE_IR = f"""
; adds an aside to the queue, one of the current device
define internal i32 @put_beside(ptr %queue, i64 %event, i64 %first, i64 %last, i64 %writes) {{{{
entry:
  call void @lock_queue(ptr %queue)
  %count = %queue->queue.count
  for i64 %i < %count: look, new
look:
  %asides = &%queue->queue.asides
  %at = getelementptr %aside, ptr %asides, i64 %i
  %its_event = load i64, ptr %at
  %its_first = %at->aside.first
  %its_last = %at->aside.last
  %its_writes = %at->aside.writes
  %a = icmp eq i64 %its_event, %event
  %b = icmp eq i64 %its_first, %first
  %c = icmp eq i64 %its_last, %last
  %d = icmp eq i64 %its_writes, %writes
  %same = all %a %b %c %d
  br i1 %same, label %done, label %other
other:
  next %i
new:
  if eq i64 %count, {ASIDES}: empty, store
empty:
  %drained = call i32 @drain(ptr %queue)
  br label %store
store:
  %status = phi i32 [ 0, %new ], [ %drained, %empty ]
  %index = phi i64 [ %count, %new ], [ 0, %empty ]
  %slots = &%queue->queue.asides
  %place = getelementptr %aside, ptr %slots, i64 %index
  store i64 %event, ptr %place
  %place->aside.first = %first
  %place->aside.last = %last
  %place->aside.writes = %writes
  %new_count = add i64 %index, 1
  %queue->queue.count = %new_count release
  br label %done
done:
  %result = phi i32 [ 0, %look ], [ %status, %store ]
  call void @unlock_queue(ptr %queue)
  ret i32 %result
}}}}
"""
"""LLVM IR in addition to `QUEUE_IR`, for modules that add asides to queues."""

RECORD_IR = """
; makes the queue's event cover all work put on its stream so far. It is recorded again only if there is
; more, as a GPU takes time for each record. The counters are read before the record: work that is counted
; later is not covered
define internal i32 @record(ptr %queue) {{
entry:
  %work = %queue->queue.work seq_cst
  %of_python = %queue->queue.work_of_python seq_cst
  %all = add i64 %work, %of_python
  %stamp = add i64 %all, 1
  %marked = %queue->queue.marked seq_cst
  %same = icmp eq i64 %marked, %stamp
  %shared = %queue->queue.shared
  %all_known = icmp eq i64 %shared, 0
  %covered = and i1 %same, %all_known
  br i1 %covered, label %done, label %again
again:
  %stream = %queue->queue.stream
  %event = %queue->queue.event
  %status = call i32 inttoptr (i64 {event_record} to ptr)(i64 %event, i64 %stream)
  if eq i32 %status, 0: note, failed
note:
  %queue->queue.marked = %stamp seq_cst
  %queue->queue.unasked = 0
  br label %done
done:
  ret i32 0
failed:
  ret i32 %status
}}

; returns 0 if all work put on the queue's stream is finished, 1 if not, and the queue's event covers it, 2 if
; the driver fails. It is asked only if there was work since it last said so, and the event was not recorded
; just before (waited for less than 4 times, twice for each of two neighbours): an answer takes longer than
; a wait for an event
define internal i32 @pending(ptr %queue) {{
entry:
  %work = %queue->queue.work seq_cst
  %of_python = %queue->queue.work_of_python seq_cst
  %all = add i64 %work, %of_python
  %stamp = add i64 %all, 1
  %shared = %queue->queue.shared
  %counted = icmp eq i64 %shared, 0
  %quiet = %queue->queue.quiet seq_cst
  %is_quiet = icmp eq i64 %quiet, %stamp
  %known_quiet = and i1 %is_quiet, %counted
  br i1 %known_quiet, label %none, label %look
look:
  %marked = %queue->queue.marked seq_cst
  %is_marked = icmp eq i64 %marked, %stamp
  %unasked = %queue->queue.unasked
  %recently = icmp ult i64 %unasked, 4
  %known = all %is_marked %counted %recently
  br i1 %known, label %again, label %ask
again:
  %times = add i64 %unasked, 1
  %queue->queue.unasked = %times
  br label %some
ask:
  %stream = %queue->queue.stream
  %queried = call i32 inttoptr (i64 {stream_query} to ptr)(i64 %stream)
  if eq i32 %queried, 0: note, mark
note:
  %queue->queue.quiet = %stamp seq_cst
  br label %none
mark:
  %queue->queue.unasked = 0
  %status = call i32 @record(ptr %queue)
  if eq i32 %status, 0: some, failed
none:
  ret i32 0
some:
  ret i32 1
failed:
  ret i32 2
}}
"""
"""LLVM IR in addition to `QUEUE_IR`, for modules that record events; precedes `WAIT_IR` and `ORDER_IR`."""

WAIT_IR = """
; records the queue's event after all its work so far; returns whether the driver did
define internal i1 @mark(ptr %queue) {{
  %caught_up = call i32 @catch_up(ptr %queue)
  %marked = call i32 @record(ptr %queue)
  %either = or i32 %caught_up, %marked
  %good = icmp eq i32 %either, 0
  ret i1 %good
}}

; waits for a queue on the host; returns whether the driver did
define internal i1 @wait_now(ptr %queue) {{
entry:
  %stream = %queue->queue.stream
  %transfers = %queue->queue.transfers seq_cst
  %postponed = %queue->queue.postponed seq_cst
  %caught_up = call i32 @catch_up(ptr %queue)
  %work = %queue->queue.work seq_cst
  %of_python = %queue->queue.work_of_python seq_cst
  %all = add i64 %work, %of_python
  %stamp = add i64 %all, 1
  %joined = call i32 inttoptr (i64 {stream_synchronize} to ptr)(i64 %stream)
  %status = or i32 %caught_up, %joined
  %good = icmp eq i32 %status, 0
  br i1 %good, label %note, label %done
note:
  %queue->queue.settled = %transfers
  %queue->queue.joined = %postponed
  %queue->queue.quiet = %stamp seq_cst
  br label %done
done:
  ret i1 %good
}}
"""
"""Beside `QUEUE_IR`, for modules that wait for queues, or have others wait for them."""

ORDER_IR = """
; the table of the queues' `NativeQueue`s
define internal ptr @queues(ptr %row) {{
  %queues = %row->row.queues as ptr
  ret ptr %queues
}}

; lets a queue of the row's device, which is current, wait for the synchronous constructs for which the host
; has not, if there were any since it last did; `%slot`: its place in the tables of launches
define internal i32 @after_constructs(ptr %row, i64 %stream, i64 %slot) {{
entry:
  %ordered = %row->row.ordered as ptr
  %ordered_at = getelementptr i64, ptr %ordered, i64 %slot
  %known = load i64, ptr %ordered_at
  %epoch = %row->row.epoch
  if eq i64 %epoch, %known: done, order
order:
  %sync = %row->row.sync as ptr
  if eq ptr %sync, null: failed, look
look:
  %beside = call i1 @has_asides(ptr %sync)
  br i1 %beside, label %ask, label %mark
ask: ; asides may be the only work
  %state = call i32 @pending(ptr %sync)
  if eq i32 %state, 0: asides, mark
mark:
  %event = %sync->queue.event
  %marked = call i32 @record(ptr %sync)
  %held = call i32 @put_behind(i64 %stream, i64 %event)
  %sum = or i32 %marked, %held
  br label %asides
asides:
  %so_far = phi i32 [ 0, %ask ], [ %sum, %mark ]
  %own = call i64 @event_of(ptr %row, i64 %slot)
  call void @lock_queue(ptr %sync)
  %behind = call i32 @put_behind_asides(ptr %sync, i64 %stream, i64 %own)
  call void @unlock_queue(ptr %sync)
  %status = or i32 %so_far, %behind
  call void @count_work_of(ptr %row, i64 %slot)
  if eq i32 %status, 0: note, failed
note:
  store i64 %epoch, ptr %ordered_at
  br label %done
failed:
  ret i32 1
done:
  ret i32 0
}}

; counts work on the stream of the queue at a place of the tables, if it is known
define internal void @count_work_of(ptr %row, i64 %slot) {{
entry:
  %queues = call ptr @queues(ptr %row)
  %queue = load ptr, ptr %queues[i64 %slot]
  if ne ptr %queue, null: count, done
count:
  call void @count_work(ptr %queue)
  br label %done
done:
  ret void
}}

; returns the event of the queue at a place of the tables, 0 if it is not known
define internal i64 @event_of(ptr %row, i64 %slot) {{
entry:
  %queues = call ptr @queues(ptr %row)
  %queue = load ptr, ptr %queues[i64 %slot]
  if ne ptr %queue, null: look, none
look:
  %event = %queue->queue.event
  ret i64 %event
none:
  ret i64 0
}}
"""
"""LLVM IR in addition to `ROW_IR` and `QUEUE_IR`, for modules that put work on asynchronous queues."""

_libc = ctypes.CDLL(None)
QUEUE_ADDRESSES = {"yield": ctypes.cast(_libc.sched_yield, ctypes.c_void_p).value or 0}


class NativeCatchUp:
    """`catch_up` for the runtime in Python; `stream_wait_event`: the driver's function."""

    def __init__(self, stream_wait_event: int):
        addresses = {**QUEUE_ADDRESSES, "stream_wait_event": stream_wait_event}
        self._code = NativeCode(QUEUE_IR, addresses, {})
        function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
        self._call = function(self._code.address("catch_up"))

    def __call__(self, queue: NativeQueue) -> int:
        """Lets the queue catch up, and returns the driver's status. The context of the queue's device must
        be current."""
        return self._call(ctypes.addressof(queue))
