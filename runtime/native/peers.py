"""
Copies between two devices in native code, for those that have been made before.

Python (`peer.py`) makes the first copy of a run of bytes on a queue and remembers the device addresses of
both sides in a table. From then on, as long as neither device's present table changes
(`DeviceRow.present`), native code copies by itself:

- one with `async` goes onto the queue of either device, ordered by the queues' events;
- a synchronous one goes onto the synchronous queues, after the queues that use the data, and the host goes
  on, if the program cannot tell (docs/devices.md, "When the host waits");
- else it is made if all queues of both devices are idle, and waited for. If they are not, Python puts the
  copy after what is under way.
"""

from __future__ import annotations

import ctypes
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ...compiler.base.abi import ASYNC_DEFAULT, ASYNC_NOVAL, ASYNC_SYNC, PeerUpdate
from .code import NativeCode
from .devices import ROW_IR, NativeDevices
from .waits import QUEUE_IR, NativeQueue

PLACES = 64
"""Copies remembered: those of the halo exchange of a few arrays on eight devices."""


class _Place(ctypes.Structure):
    """
    A remembered copy: what the program names, what it is on the devices, and their queues. `slot`: that of
    the queue in the tables of launches. `all` and `users`: `NativeQueue`s of the source's device, then of
    the target's, as many as the counts say.
    """

    _fields_ = (
        ("target", ctypes.c_int64),
        ("source", ctypes.c_int64),
        ("size", ctypes.c_int64),
        ("to", ctypes.c_int64),
        ("origin", ctypes.c_int64),
        ("number", ctypes.c_int64),
        ("to_address", ctypes.c_int64),
        ("from_address", ctypes.c_int64),
        ("to_present", ctypes.c_int64),
        ("from_present", ctypes.c_int64),
        ("to_queue", ctypes.c_int64),
        ("from_queue", ctypes.c_int64),
        ("slot", ctypes.c_int64),
        ("all", ctypes.c_int64),
        ("from_all", ctypes.c_int64),
        ("to_all", ctypes.c_int64),
        ("users", ctypes.c_int64),
        ("from_users", ctypes.c_int64),
        ("to_users", ctypes.c_int64),
    )


@dataclass(frozen=True, slots=True)
class PeerDriver:
    """Addresses of the driver's functions of these names."""

    copy: int
    query: int
    synchronize: int
    set_current: int
    event_record: int
    stream_wait_event: int


@dataclass(frozen=True, slots=True)
class Side:
    """
    One side of a copy: its host address, its device's row, the device address, and queues of the device: the
    one that the copy is on, all, and those that may use the data.
    """

    host: int
    row: int
    address: int
    queue: NativeQueue
    all: Sequence[NativeQueue]
    users: Sequence[NativeQueue]


@dataclass(frozen=True, slots=True)
class Known:
    """A copy just made of `size` bytes; `number` is the value of the async clause."""

    to: Side
    origin: Side
    size: int
    number: int


_KEPT = 4096
"""Lists of queues that other threads may still be reading, though their place has been taken."""
_WORDS = ctypes.sizeof(_Place) // 8
_NAMED = ("target", "source", "size", "to", "origin", "number")
"""The fields that the program's arguments are compared with, in this order."""
_FIELDS = {
    name: getattr(_Place, name).offset // 8 for name, *_ in _Place._fields_ if name not in _NAMED
}
"""The others, by words."""

_IR = """
define internal i64 @field(ptr %place, i64 %word) alwaysinline {{
  %at = getelementptr i64, ptr %place, i64 %word
  %value = load i64, ptr %at
  ret i64 %value
}}

define internal ptr @pointer(ptr %place, i64 %word) alwaysinline {{
  %at = getelementptr ptr, ptr %place, i64 %word
  %value = load ptr, ptr %at
  ret ptr %value
}}

define internal i1 @is(ptr %place, i64 %word, i64 %value) alwaysinline {{
  %held = call i64 @field(ptr %place, i64 %word)
  %same = icmp eq i64 %held, %value
  ret i1 %same
}}

define internal ptr @row_of(i64 %number) {{
  %row = getelementptr %row, ptr inttoptr (i64 {rows} to ptr), i64 %number
  ret ptr %row
}}

define internal i1 @is_present(ptr %place, i64 %word, i64 %number) {{
  %row = call ptr @row_of(i64 %number)
  %present_at = getelementptr %row, ptr %row, i32 0, i32 15
  %present = load i64, ptr %present_at
  %same = call i1 @is(ptr %place, i64 %word, i64 %present)
  ret i1 %same
}}

define internal void @enter(ptr %row) {{
  %context_at = getelementptr %row, ptr %row, i32 0, i32 2
  %context = load i64, ptr %context_at
  %set = call i32 inttoptr (i64 {set_current} to ptr)(i64 %context)
  ret void
}}

; whether the driver has done all work of some queues of the current device
define internal i1 @idle(ptr %queues, i64 %count) {{
entry:
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %ask ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %ask, label %yes
ask:
  %at = getelementptr ptr, ptr %queues, i64 %i
  %queue = load ptr, ptr %at
  %stream = load i64, ptr %queue
  %status = call i32 inttoptr (i64 {query} to ptr)(i64 %stream)
  %next = add i64 %i, 1
  %done = icmp eq i32 %status, 0
  br i1 %done, label %test, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %size) {{
  %to_at = getelementptr %row, ptr %to_row, i32 0, i32 2
  %from_at = getelementptr %row, ptr %from_row, i32 0, i32 2
  %to_context = load i64, ptr %to_at
  %from_context = load i64, ptr %from_at
  %target = call i64 @field(ptr %place, i64 {to_address})
  %source = call i64 @field(ptr %place, i64 {from_address})
  %queue = call ptr @pointer(ptr %place, i64 {to_queue})
  %stream = load i64, ptr %queue
  %copied = call i32 inttoptr (i64 {copy} to ptr)(i64 %target, i64 %to_context, i64 %source,
      i64 %from_context, i64 %size, i64 %stream)
  ret i32 %copied
}}

; copies if nothing is under way on either device, and waits; whether it could
define internal i1 @copy_now(ptr %place, ptr %to_row, ptr %from_row, i64 %size) {{
entry:
  %from_queues = call ptr @pointer(ptr %place, i64 {all})
  %from_count = call i64 @field(ptr %place, i64 {from_all})
  %to_count = call i64 @field(ptr %place, i64 {to_all})
  call void @enter(ptr %from_row)
  %from_idle = call i1 @idle(ptr %from_queues, i64 %from_count)
  br i1 %from_idle, label %look, label %no
look:
  call void @enter(ptr %to_row)
  %to_queues = getelementptr ptr, ptr %from_queues, i64 %from_count
  %to_idle = call i1 @idle(ptr %to_queues, i64 %to_count)
  br i1 %to_idle, label %go, label %no
go:
  %copied = call i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %size)
  %good = icmp eq i32 %copied, 0
  br i1 %good, label %join, label %no
join:
  %queue = call ptr @pointer(ptr %place, i64 {to_queue})
  %stream = load i64, ptr %queue
  %joined = call i32 inttoptr (i64 {synchronize} to ptr)(i64 %stream)
  %done = icmp eq i32 %joined, 0
  ret i1 %done
no:
  ret i1 false
}}

define internal i32 @record(ptr %queue) {{
  %stream = load i64, ptr %queue
  %event_at = getelementptr %queue, ptr %queue, i32 0, i32 1
  %event = load i64, ptr %event_at
  %status = call i32 inttoptr (i64 {event_record} to ptr)(i64 %event, i64 %stream)
  ret i32 %status
}}

; has queue `later` wait for the last record of a queue's event
define internal i32 @after(ptr %later, ptr %queue) {{
  %stream = load i64, ptr %later
  %event_at = getelementptr %queue, ptr %queue, i32 0, i32 1
  %event = load i64, ptr %event_at
  %status = call i32 inttoptr (i64 {stream_wait_event} to ptr)(i64 %stream, i64 %event, i32 0)
  ret i32 %status
}}

; records the events of some queues of the current device, if `records`, and has queue `later` of the
; current device wait for them, if it is not null; the statuses, joined by or
define internal i32 @each(ptr %queues, i64 %count, i1 %records, ptr %later) {{
entry:
  %waits = icmp ne ptr %later, null
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %done ]
  %status = phi i32 [ 0, %entry ], [ %sum, %done ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %go, label %end
go:
  %at = getelementptr ptr, ptr %queues, i64 %i
  %queue = load ptr, ptr %at
  br i1 %records, label %mark, label %marked
mark:
  %recorded = call i32 @record(ptr %queue)
  br label %marked
marked:
  %first = phi i32 [ 0, %go ], [ %recorded, %mark ]
  br i1 %waits, label %hold, label %done
hold:
  %held = call i32 @after(ptr %later, ptr %queue)
  br label %done
done:
  %second = phi i32 [ 0, %marked ], [ %held, %hold ]
  %both = or i32 %first, %second
  %sum = or i32 %status, %both
  %next = add i64 %i, 1
  br label %test
end:
  ret i32 %status
}}

; puts a queue of the current device after its synchronous constructs that nobody has waited for
define internal i32 @after_constructs(ptr %row, ptr %queue, i64 %slot) {{
entry:
  %ordered = call ptr @table(ptr %row, i32 10)
  %ordered_at = getelementptr i64, ptr %ordered, i64 %slot
  %known = load i64, ptr %ordered_at
  %epoch_at = getelementptr %row, ptr %row, i32 0, i32 14
  %epoch = load i64, ptr %epoch_at
  %same = icmp eq i64 %epoch, %known
  br i1 %same, label %done, label %order
order:
  %event_at = getelementptr %row, ptr %row, i32 0, i32 12, i32 0
  %event = load i64, ptr %event_at
  %first_at = getelementptr %row, ptr %row, i32 0, i32 12, i32 1
  %first = load i64, ptr %first_at
  %stream = load i64, ptr %queue
  %marked = call i32 inttoptr (i64 {event_record} to ptr)(i64 %event, i64 %first)
  %held = call i32 inttoptr (i64 {stream_wait_event} to ptr)(i64 %stream, i64 %event, i32 0)
  %status = or i32 %marked, %held
  %good = icmp eq i32 %status, 0
  br i1 %good, label %note, label %failed
note:
  store i64 %epoch, ptr %ordered_at
  br label %done
failed:
  ret i32 %status
done:
  ret i32 0
}}

; puts a copy onto a queue of either device: after what both have, and before what they are given next
define internal i1 @put(ptr %place, ptr %to_row, ptr %from_row, i64 %size, i1 %sync) {{
entry:
  %to = call ptr @pointer(ptr %place, i64 {to_queue})
  %from = call ptr @pointer(ptr %place, i64 {from_queue})
  %slot = call i64 @field(ptr %place, i64 {slot})
  %from_users = call ptr @pointer(ptr %place, i64 {users})
  %from_count = call i64 @field(ptr %place, i64 {from_users})
  %to_count = call i64 @field(ptr %place, i64 {to_users})
  %to_users = getelementptr ptr, ptr %from_users, i64 %from_count
  call void @enter(ptr %from_row)
  br i1 %sync, label %mark_users, label %order_source
mark_users:
  %s1 = call i32 @each(ptr %from_users, i64 %from_count, i1 true, ptr null)
  br label %mark
order_source:
  %s2 = call i32 @after_constructs(ptr %from_row, ptr %from, i64 %slot)
  br label %mark
mark:
  %source_status = phi i32 [ %s1, %mark_users ], [ %s2, %order_source ]
  %marked = call i32 @record(ptr %from)
  call void @enter(ptr %to_row)
  br i1 %sync, label %after_users, label %order_target
after_users:
  %s3 = call i32 @each(ptr %from_users, i64 %from_count, i1 false, ptr %to)
  %s4 = call i32 @each(ptr %to_users, i64 %to_count, i1 true, ptr %to)
  %s34 = or i32 %s3, %s4
  br label %order
order_target:
  %s5 = call i32 @after_constructs(ptr %to_row, ptr %to, i64 %slot)
  br label %order
order:
  %target_status = phi i32 [ %s34, %after_users ], [ %s5, %order_target ]
  %held = call i32 @after(ptr %to, ptr %from)
  %o1 = or i32 %source_status, %target_status
  %o2 = or i32 %marked, %held
  %ordered = or i32 %o1, %o2
  %in_order = icmp eq i32 %ordered, 0
  br i1 %in_order, label %go, label %no
go:
  %copied = call i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %size)
  %then_marked = call i32 @record(ptr %to)
  call void @enter(ptr %from_row)
  %then_held = call i32 @after(ptr %from, ptr %to)
  %t1 = or i32 %then_marked, %then_held
  %status = or i32 %copied, %t1
  %good = icmp eq i32 %status, 0
  br i1 %good, label %count, label %no
count:
  br i1 %sync, label %count_rows, label %count_queues
count_rows:
  call void @count_construct(ptr %to_row)
  call void @count_construct(ptr %from_row)
  %told = call i1 @must_wait(ptr %to_row, ptr %from_row)
  br i1 %told, label %wait, label %yes
wait:
  call void @enter(ptr %to_row)
  %stream = load i64, ptr %to
  %joined = call i32 inttoptr (i64 {synchronize} to ptr)(i64 %stream)
  %done = icmp eq i32 %joined, 0
  ret i1 %done
count_queues:
  call void @count_transfer(ptr %to)
  call void @count_transfer(ptr %from)
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal void @count_construct(ptr %row) {{
  %epoch_at = getelementptr %row, ptr %row, i32 0, i32 14
  %old = atomicrmw add ptr %epoch_at, i64 1 seq_cst
  ret void
}}

define internal void @count_transfer(ptr %queue) {{
  %transfers_at = getelementptr %queue, ptr %queue, i32 0, i32 2
  %old = atomicrmw add ptr %transfers_at, i64 1 seq_cst
  ret void
}}

; whether synchronous work of one of two devices has to be waited for
define internal i1 @must_wait(ptr %to_row, ptr %from_row) {{
  %to_at = getelementptr %row, ptr %to_row, i32 0, i32 11
  %from_at = getelementptr %row, ptr %from_row, i32 0, i32 11
  %to = load atomic i64, ptr %to_at seq_cst, align 8
  %from = load atomic i64, ptr %from_at seq_cst, align 8
  %either = or i64 %to, %from
  %must = icmp ne i64 %either, 0
  ret i1 %must
}}

define internal i1 @make(ptr %place, i64 %to, i64 %origin, i64 %size, i64 %number) {{
entry:
  %own = call ptr @row()
  %to_row = call ptr @row_of(i64 %to)
  %from_row = call ptr @row_of(i64 %origin)
  %sync = icmp eq i64 %number, {sync}
  br i1 %sync, label %ask, label %put
ask:
  %told = call i1 @must_wait(ptr %to_row, ptr %from_row)
  br i1 %told, label %now, label %put
now:
  %copied = call i1 @copy_now(ptr %place, ptr %to_row, ptr %from_row, i64 %size)
  br label %back
put:
  %queued = call i1 @put(ptr %place, ptr %to_row, ptr %from_row, i64 %size, i1 %sync)
  br label %back
back:
  %done = phi i1 [ %copied, %now ], [ %queued, %put ]
  call void @enter(ptr %own)
  ret i1 %done
}}

define internal i1 @known(i64 %target, i64 %source, i64 %size, i64 %to, i64 %origin, i64 %number) {{
entry:
  %held = alloca [{words} x i64]
  %pair = cmpxchg ptr inttoptr (i64 {lock} to ptr), i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %find, label %none
find:
  %i = phi i64 [ 0, %entry ], [ %next, %other ]
  %at = mul i64 %i, {words}
  %place = getelementptr i64, ptr inttoptr (i64 {places} to ptr), i64 %at
  %first = load i64, ptr %place
  %a = icmp eq i64 %first, %target
  br i1 %a, label %compare, label %other
compare:
  %b = call i1 @is(ptr %place, i64 1, i64 %source)
  %c = call i1 @is(ptr %place, i64 2, i64 %size)
  %d = call i1 @is(ptr %place, i64 3, i64 %to)
  %e = call i1 @is(ptr %place, i64 4, i64 %origin)
  %f = call i1 @is(ptr %place, i64 5, i64 %number)
  %bc = and i1 %b, %c
  %de = and i1 %d, %e
  %bcde = and i1 %bc, %de
  %same = and i1 %bcde, %f
  br i1 %same, label %found, label %other
other:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {count}
  br i1 %more, label %find, label %unknown
unknown:
  store atomic i64 0, ptr inttoptr (i64 {lock} to ptr) release, align 8
  br label %none
found:
  call void @llvm.memcpy.p0.p0.i64(ptr %held, ptr %place, i64 {bytes}, i1 false)
  store atomic i64 0, ptr inttoptr (i64 {lock} to ptr) release, align 8
  %there = call i1 @is_present(ptr %held, i64 {to_present}, i64 %to)
  %here = call i1 @is_present(ptr %held, i64 {from_present}, i64 %origin)
  %both = and i1 %there, %here
  br i1 %both, label %go, label %none
go:
  %done = call i1 @make(ptr %held, i64 %to, i64 %origin, i64 %size, i64 %number)
  ret i1 %done
none:
  ret i1 false
}}

define i32 @try_lock() {{
  %pair = cmpxchg ptr inttoptr (i64 {lock} to ptr), i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  %result = zext i1 %mine to i32
  ret i32 %result
}}

define void @unlock() {{
  store atomic i64 0, ptr inttoptr (i64 {lock} to ptr) release, align 8
  ret void
}}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @memcpy_d2d(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin) {{
  %to_wide = sext i32 %to to i64
  %from_wide = sext i32 %origin to i64
  %done = call i1 @known(i64 %target, i64 %source, i64 %size, i64 %to_wide, i64 %from_wide, i64 {sync})
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_d2d} to ptr)(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin)
  br label %end
end:
  ret void
}}

define void @memcpy_d2d_async(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin, i32 %queue) {{
  %to_wide = sext i32 %to to i64
  %from_wide = sext i32 %origin to i64
  %number = sext i32 %queue to i64
  %done = call i1 @known(i64 %target, i64 %source, i64 %size, i64 %to_wide, i64 %from_wide, i64 %number)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_d2d_async} to ptr)(i64 %target, i64 %source, i64 %size, i32 %to,
      i32 %origin, i32 %queue)
  br label %end
end:
  ret void
}}

define void @update_peer(i64 %target, i32 %to, i64 %source, i32 %origin, i64 %size) {{
  call void @memcpy_d2d(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin)
  ret void
}}

; the first byte and the size of one side of a directive; a size of -1 for more than one run of bytes
define internal {{ i64, i64 }} @side(ptr %update, i64 %base, i64 %bytes, i64 %dims, i64 %shape) {{
entry:
  %start = call i64 @field(ptr %update, i64 %base)
  %size = call i64 @field(ptr %update, i64 %bytes)
  %count = call i64 @field(ptr %update, i64 %dims)
  %shapes = call ptr @pointer(ptr %update, i64 %shape)
  %whole = icmp eq i64 %count, 0
  br i1 %whole, label %done, label %inner
inner:
  %last = sub i64 %count, 1
  %last_at = mul i64 %last, 3
  %innermost = getelementptr i64, ptr %shapes, i64 %last_at
  %width = call i64 @field(ptr %innermost, i64 2)
  br label %each
each:
  %i = phi i64 [ %last, %inner ], [ %before, %next ]
  %first = phi i64 [ %start, %inner ], [ %place, %next ]
  %run = phi i64 [ %width, %inner ], [ %length, %next ]
  %at = mul i64 %i, 3
  %triple = getelementptr i64, ptr %shapes, i64 %at
  %lower = call i64 @field(ptr %triple, i64 0)
  %extent = call i64 @field(ptr %triple, i64 1)
  %stride = call i64 @field(ptr %triple, i64 2)
  %distance = mul i64 %lower, %stride
  %place = add i64 %first, %distance
  %one = icmp eq i64 %extent, 1
  %close = icmp eq i64 %stride, %run
  %together = or i1 %one, %close
  %some = icmp sgt i64 %extent, 0
  %good = and i1 %together, %some
  br i1 %good, label %next, label %many
next:
  %length = mul i64 %run, %extent
  %before = sub i64 %i, 1
  %more = icmp sge i64 %before, 0
  br i1 %more, label %each, label %done
done:
  %from = phi i64 [ %start, %entry ], [ %place, %next ]
  %total = phi i64 [ %size, %entry ], [ %length, %next ]
  %half = insertvalue {{ i64, i64 }} poison, i64 %from, 0
  %side = insertvalue {{ i64, i64 }} %half, i64 %total, 1
  ret {{ i64, i64 }} %side
many:
  ret {{ i64, i64 }} {{ i64 0, i64 -1 }}
}}

define void @directive(i32 %site, ptr %update) {{
entry:
  %queue = call i64 @field(ptr %update, i64 {queue_word})
  %t = call {{ i64, i64 }} @side(ptr %update, i64 0, i64 4, i64 6, i64 8)
  %s = call {{ i64, i64 }} @side(ptr %update, i64 1, i64 5, i64 7, i64 9)
  %target = extractvalue {{ i64, i64 }} %t, 0
  %source = extractvalue {{ i64, i64 }} %s, 0
  %size = extractvalue {{ i64, i64 }} %t, 1
  %other_size = extractvalue {{ i64, i64 }} %s, 1
  %equal = icmp eq i64 %size, %other_size
  br i1 %equal, label %try, label %slow
try:
  %to = call i64 @field(ptr %update, i64 2)
  %origin = call i64 @field(ptr %update, i64 3)
  %done = call i1 @known(i64 %target, i64 %source, i64 %size, i64 %to, i64 %origin, i64 %queue)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_directive} to ptr)(i32 %site, ptr %update)
  br label %end
end:
  ret void
}}
"""


class NativePeers:
    """
    The compiled functions for the devices of `devices`. `slow`: C addresses of `acc_memcpy_d2d`,
    `acc_memcpy_d2d_async` and `__accopt_update_peer` in Python.
    """

    def __init__(self, devices: NativeDevices, driver: PeerDriver, slow: tuple[int, int, int]):
        self._devices = devices
        self._places = (_Place * PLACES)(*[_none()] * PLACES)
        self._lock = ctypes.c_int64(0)
        self._lists: deque[object] = deque(maxlen=_KEPT)
        self._next = 0
        self._default_known = True
        slow_d2d, slow_d2d_async, slow_directive = slow
        self._code = NativeCode(
            ROW_IR + QUEUE_IR + _IR,
            {
                **devices.addresses,
                "places": ctypes.addressof(self._places),
                "lock": ctypes.addressof(self._lock),
                "copy": driver.copy,
                "query": driver.query,
                "synchronize": driver.synchronize,
                "set_current": driver.set_current,
                "event_record": driver.event_record,
                "stream_wait_event": driver.stream_wait_event,
                "slow_d2d": slow_d2d,
                "slow_d2d_async": slow_d2d_async,
                "slow_directive": slow_directive,
            },
            {
                **devices.constants,
                **_FIELDS,
                "count": PLACES,
                "words": _WORDS,
                "bytes": ctypes.sizeof(_Place),
                "queue_word": PeerUpdate.queue.offset // 8,
                "sync": ASYNC_SYNC,
            },
        )
        address = self._code.address
        self._try_lock = ctypes.PYFUNCTYPE(ctypes.c_int32)(address("try_lock"))
        self._unlock = ctypes.PYFUNCTYPE(None)(address("unlock"))
        self.addresses = {
            "acc_memcpy_d2d": address("memcpy_d2d"),
            "acc_memcpy_d2d_async": address("memcpy_d2d_async"),
            "acc_update_peer": address("update_peer"),
            "__accopt_update_peer": address("directive"),
        }

    def remember(self, known: Known, slot: int) -> None:
        """
        A copy that is native code's from now on; `slot`: that of its queue in the tables of launches, which
        both devices have. Called with the locks of both devices held, so that what is known of them is true
        now.
        """
        if known.number in (ASYNC_NOVAL, ASYNC_DEFAULT) and not self._default_known:
            return
        to, origin, rows = known.to, known.origin, self._devices.rows
        key = (to.host, origin.host, known.size, to.row, origin.row, known.number)
        index = next((i for i, p in enumerate(self._places) if _key(p) == key), self._next)
        if index == self._next:
            self._next = (self._next + 1) % PLACES
        everything = _addresses((*origin.all, *to.all))
        users = _addresses((*origin.users, *to.users))
        self._lists.append((everything, users))
        place = _Place(
            *key, to.address, origin.address, rows[to.row].present, rows[origin.row].present,
            ctypes.addressof(to.queue), ctypes.addressof(origin.queue), slot,
            ctypes.addressof(everything), len(origin.all), len(to.all),
            ctypes.addressof(users), len(origin.users), len(to.users),
        )  # fmt: skip
        self._replace(index, place)

    def forget(self) -> None:
        """Everything comes to Python."""
        for index in range(PLACES):
            self._replace(index, _none())

    def forget_default(self) -> None:
        """A thread has chosen its own default queue: a bare `async` goes to Python for good."""
        self._default_known = False
        for index, place in enumerate(self._places):
            if place.number in (ASYNC_NOVAL, ASYNC_DEFAULT):
                self._replace(index, _none())

    def _replace(self, index: int, place: _Place) -> None:
        while not self._try_lock():  # for the few instructions that native code holds it
            time.sleep(0)
        self._places[index] = place
        self._unlock()


def _none() -> _Place:
    """A place that stands for no copy."""
    return _Place(size=-2, to=-2)


def _key(place: _Place) -> tuple[int, ...]:
    return tuple(getattr(place, name) for name in _NAMED)


def _addresses(queues: Sequence[NativeQueue]) -> ctypes.Array[ctypes.c_int64]:
    """A list for native code; never of size zero, which has no address."""
    return (ctypes.c_int64 * max(len(queues), 1))(*map(ctypes.addressof, queues))
