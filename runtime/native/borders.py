"""
Borders that are computed first (`passes/compute_borders_first`), in native code.

Before a construct whose border may be wanted, `__accopt_border_begin` puts the device's border queue after
the work so far on the construct's queue, and returns how many rows it is to compute. After the construct,
`__accopt_border_end` puts the construct's queue after that, and *announces* the construct: its footprint, and
that its queue has no other work since. A copy between devices that must come after the construct's queue then
comes after the border queue instead, if what it uses

- is not written by rows that the border lacks, for memory that is read, or
- is neither read nor written by any row, for memory that is written

(`EARLY_IR`, in `peers_code.py`). Everything else still waits for the construct's queue, which includes the
border. `runtime/borders.py` decides which constructs want how many rows.
"""

from __future__ import annotations

import ctypes

from ...compiler.base.abi import BORDER_SITES, BorderArray, BorderRow
from ..device import NativeDriver
from .code import NativeCode
from .devices import ROW_IR, NativeDevices
from .launch import NUMBER_IR, NUMBERS
from .queues import ORDER_IR, QUEUE_ADDRESSES, QUEUE_IR, RECORD_IR
from .text import structure

ARRAYS = 8
"""The most arrays of a footprint; constructs with more are launched as if they did not qualify."""
FEWEST_INNER = 4
"""A border is computed first only if all rows are at least so many times as many."""

structure("footprint")(BorderRow)
structure("touched")(BorderArray)


@structure("wish")
class Wish(ctypes.Structure):
    """
    What copies want of a construct: its first `low` rows and its last `high` ones. `wanted`: there are such
    copies, or copies to memory that it does not use. `missed`: the constructs since one has come early.
    `copied`: the bytes of the largest of these copies, and what follows from it for the bytes that the
    construct accesses (`BorderLimits`).
    """

    _fields_ = (
        ("low", ctypes.c_int64),
        ("high", ctypes.c_int64),
        ("wanted", ctypes.c_int64),
        ("missed", ctypes.c_int64),
        ("copied", ctypes.c_int64),
        ("least", ctypes.c_int64),
        ("most", ctypes.c_int64),
        ("border", ctypes.c_int64),
    )


@structure("borders")
class Borders(ctypes.Structure):
    """
    A device's borders. `border` is the `NativeQueue` of its border queue, 0 if there is none yet. `lock` is
    held from a begin to its end, whose footprint is at `token`, and while an announcement is read.

    The last announcement: `low` and `high` rows were computed by the border queue; `event` stands for its
    work, 0 if nothing was put there; `queue` is the construct's `NativeQueue`, which had `work` and
    `work_of_python` pieces of work. `valid`: nothing but the construct was put on its queue between begin and
    end. `used`: a copy has come early. The footprint is `row` and `arrays`.
    """

    _fields_ = (
        ("lock", ctypes.c_int64),
        ("border", ctypes.c_int64),
        ("token", ctypes.c_int64),
        ("low", ctypes.c_int64),
        ("high", ctypes.c_int64),
        ("event", ctypes.c_int64),
        ("queue", ctypes.c_int64),
        ("work", ctypes.c_int64),
        ("work_of_python", ctypes.c_int64),
        ("valid", ctypes.c_int64),
        ("used", ctypes.c_int64),
        ("row", BorderRow),
        ("arrays", BorderArray * ARRAYS),
        ("wishes", Wish * BORDER_SITES),
    )


EARLY_IR = """
; the bytes that an array of a footprint has in the rows from %lower up to %upper
define internal {{ i64, i64 }} @span_of(ptr %array, i64 %lower, i64 %upper) {{
  %first = %array->touched.first
  %last = %array->touched.last
  %slope = %array->touched.slope
  %end = sub i64 %upper, 1
  %near = mul i64 %slope, %lower
  %far = mul i64 %slope, %end
  %turned = icmp slt i64 %far, %near
  %least = select i1 %turned, i64 %far, i64 %near
  %most = select i1 %turned, i64 %near, i64 %far
  %begin = add i64 %first, %least
  %past = add i64 %last, %most
  %one = insertvalue {{ i64, i64 }} undef, i64 %begin, 0
  %both = insertvalue {{ i64, i64 }} %one, i64 %past, 1
  ret {{ i64, i64 }} %both
}}

define internal i1 @spans_meet({{ i64, i64 }} %a, {{ i64, i64 }} %b) {{
  %a_first = extractvalue {{ i64, i64 }} %a, 0
  %a_last = extractvalue {{ i64, i64 }} %a, 1
  %b_first = extractvalue {{ i64, i64 }} %b, 0
  %b_last = extractvalue {{ i64, i64 }} %b, 1
  %begins = icmp ult i64 %a_first, %b_last
  %ends = icmp ult i64 %b_first, %a_last
  %both = and i1 %begins, %ends
  ret i1 %both
}}

define internal i1 @try_borders(ptr %borders) {{
  %lock = &%borders->borders.lock
  %pair = cmpxchg ptr %lock, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  ret i1 %mine
}}

define internal void @leave_borders(ptr %borders) {{
  %borders->borders.lock = 0 release
  ret void
}}

; returns the event after which a copy may come that must come after a queue with the device's borders: 0
; if it must wait for the queue itself, on whose stream the program may have put work, too. The copy uses the
; memory from %first up to %last
define internal i64 @early(ptr %borders, ptr %queue, i64 %first, i64 %last, i64 %writes) {{
entry:
  if ne ptr %borders, null: try, no
try:
  %mine = call i1 @try_borders(ptr %borders)
  br i1 %mine, label %look, label %no
look:
  %valid = %borders->borders.valid
  %event = %borders->borders.event
  %its = %borders->borders.queue as ptr
  %shared = %queue->queue.shared
  %a = icmp ne i64 %valid, 0
  %b = icmp ne i64 %event, 0
  %c = icmp eq ptr %its, %queue
  %own = icmp eq i64 %shared, 0
  %known = all %a %b %c %own
  br i1 %known, label %ask, label %refuse
ask:
  %work = %queue->queue.work seq_cst
  %of_python = %queue->queue.work_of_python seq_cst
  %its_work = %borders->borders.work
  %its_of_python = %borders->borders.work_of_python
  %d = icmp eq i64 %work, %its_work
  %e = icmp eq i64 %of_python, %its_of_python
  %same = all %d %e
  br i1 %same, label %spans, label %refuse
spans:
  %one = insertvalue {{ i64, i64 }} undef, i64 %first, 0
  %span = insertvalue {{ i64, i64 }} %one, i64 %last, 1
  %row = &%borders->borders.row
  %lower = %row->footprint.lower
  %upper = %row->footprint.upper
  %count = %row->footprint.count
  %low = %borders->borders.low
  %high = %borders->borders.high
  %is_read = icmp eq i64 %writes, 0
  %done_low = select i1 %is_read, i64 %low, i64 0
  %done_high = select i1 %is_read, i64 %high, i64 0
  %from = add i64 %lower, %done_low
  %to = sub i64 %upper, %done_high
  for i64 %i < %count: array, free
array:
  %arrays = &%borders->borders.arrays
  %at = getelementptr %touched, ptr %arrays, i64 %i
  %array_writes = %at->touched.writes
  %either = or i64 %array_writes, %writes
  %counts = icmp ne i64 %either, 0
  %its_span = call {{ i64, i64 }} @span_of(ptr %at, i64 %from, i64 %to)
  %meet = call i1 @spans_meet({{ i64, i64 }} %span, {{ i64, i64 }} %its_span)
  %conflict = and i1 %counts, %meet
  br i1 %conflict, label %refuse, label %apart
apart:
  next %i
free:
  %borders->borders.used = 1
  call void @leave_borders(ptr %borders)
  ret i64 %event
refuse:
  call void @leave_borders(ptr %borders)
  br label %no
no:
  ret i64 0
}}
"""
"""LLVM IR in addition to `QUEUE_IR`, for modules that put copies after queues."""

_IR = """
; returns whether no array that the construct writes meets one that it only reads
define internal i1 @is_apart(ptr %borders) {{
entry:
  %row = &%borders->borders.row
  %lower = %row->footprint.lower
  %upper = %row->footprint.upper
  %count = %row->footprint.count
  %arrays = &%borders->borders.arrays
  %pairs = mul i64 %count, %count
  for i64 %i < %pairs: look, yes
look:
  %a = udiv i64 %i, %count
  %b = urem i64 %i, %count
  %left = getelementptr %touched, ptr %arrays, i64 %a
  %right = getelementptr %touched, ptr %arrays, i64 %b
  %left_writes = %left->touched.writes
  %right_writes = %right->touched.writes
  %differ = icmp ugt i64 %left_writes, %right_writes
  %one = call {{ i64, i64 }} @span_of(ptr %left, i64 %lower, i64 %upper)
  %two = call {{ i64, i64 }} @span_of(ptr %right, i64 %lower, i64 %upper)
  %meet = call i1 @spans_meet({{ i64, i64 }} %one, {{ i64, i64 }} %two)
  %bad = and i1 %differ, %meet
  br i1 %bad, label %no, label %go_on
go_on:
  next %i
yes:
  ret i1 true
no:
  ret i1 false
}}

; the rows of a wish if the construct has enough others, else none: the low ones, and the high ones
define internal {{ i64, i64 }} @rows_of(ptr %wish, i64 %trips) {{
  %low = %wish->wish.low
  %high = %wish->wish.high
  %sum = add i64 %low, %high
  %many = mul i64 %sum, {fewest_inner}
  %enough = icmp sle i64 %many, %trips
  %chosen_low = select i1 %enough, i64 %low, i64 0
  %chosen_high = select i1 %enough, i64 %high, i64 0
  %one = insertvalue {{ i64, i64 }} undef, i64 %chosen_low, 0
  %both = insertvalue {{ i64, i64 }} %one, i64 %chosen_high, 1
  ret {{ i64, i64 }} %both
}}

; returns whether a border takes less time than it saves (`compiler/base/border_times.py`)
define internal i1 @saves(ptr %borders, ptr %wish, i64 %trips) {{
entry:
  %row = &%borders->borders.row
  %always = %row->footprint.always
  if ne i64 %always, 0: yes, add_up
add_up:
  %lower = %row->footprint.lower
  %upper = %row->footprint.upper
  %count = %row->footprint.count
  for i64 %i < %count: array, compare
  %sum = phi i64 [ 0, %add_up ], [ %total, %array ]
array:
  %arrays = &%borders->borders.arrays
  %at = getelementptr %touched, ptr %arrays, i64 %i
  %span = call {{ i64, i64 }} @span_of(ptr %at, i64 %lower, i64 %upper)
  %first = extractvalue {{ i64, i64 }} %span, 0
  %last = extractvalue {{ i64, i64 }} %span, 1
  %bytes = sub i64 %last, %first
  %total = add i64 %sum, %bytes
  next %i
compare:
  %least = %wish->wish.least
  %most = %wish->wish.most
  %border = %wish->wish.border
  %rows = call {{ i64, i64 }} @rows_of(ptr %wish, i64 %trips)
  %low = extractvalue {{ i64, i64 }} %rows, 0
  %high = extractvalue {{ i64, i64 }} %rows, 1
  %both = add i64 %low, %high
  %a_row = sdiv i64 %sum, %trips
  %its_bytes = mul i64 %a_row, %both
  %long = icmp sge i64 %sum, %least
  %short = icmp sle i64 %sum, %most
  %small = icmp sle i64 %its_bytes, %border
  %good = all %long %short %small
  ret i1 %good
yes:
  ret i1 true
}}

; puts the border queue after the construct's queue; returns whether the driver did
define internal i1 @put_border(ptr %row, ptr %queue, i64 %slot, ptr %border) {{
entry:
  %stream = %queue->queue.stream
  if eq i64 %slot, {sync_slot}: go, order
order:
  %ordered = call i32 @after_constructs(ptr %row, i64 %stream, i64 %slot)
  br label %go
go:
  %first = phi i32 [ 0, %entry ], [ %ordered, %order ]
  %caught_up = call i32 @catch_up(ptr %queue)
  %recorded = call i32 @record(ptr %queue)
  %event = %queue->queue.event
  %border_stream = %border->queue.stream
  %behind = call i32 @put_behind(i64 %border_stream, i64 %event)
  call void @count_work(ptr %border)
  %table = %row->row.ordered as ptr
  %ordered_at = getelementptr i64, ptr %table, i64 {border_slot}
  %epoch = %row->row.epoch
  store i64 %epoch, ptr %ordered_at
  %s1 = or i32 %first, %caught_up
  %s2 = or i32 %recorded, %behind
  %status = or i32 %s1, %s2
  %good = icmp eq i32 %status, 0
  ret i1 %good
}}

; counts the constructs since a copy has come early
define internal void @count_miss(ptr %borders, ptr %wish) {{
  %used = %borders->borders.used
  %missed = %wish->wish.missed
  %times = add i64 %missed, 1
  %is_used = icmp ne i64 %used, 0
  %new = select i1 %is_used, i64 0, i64 %times
  %wish->wish.missed = %new
  ret void
}}

; returns whether a wish has not often been in vain, or is to be tried again
define internal i1 @pays(ptr %wish) {{
  %missed = %wish->wish.missed
  %often = icmp ugt i64 %missed, {most_missed}
  %turn = urem i64 %missed, {retried}
  %later = icmp ne i64 %turn, 0
  %given_up = and i1 %often, %later
  %wanted = %wish->wish.wanted
  %is_wanted = icmp ne i64 %wanted, 0
  %kept = xor i1 %given_up, true
  %both = and i1 %is_wanted, %kept
  ret i1 %both
}}

define i64 @begin(ptr %footprint) {{
entry:
  %row = call ptr @row()
  %sync = %row->row.sync as ptr
  if ne ptr %sync, null: open, no
open:
  %borders = %sync->queue.borders as ptr
  if ne ptr %borders, null: size, slow
slow: ; the device's first
  %opened = call i64 inttoptr (i64 {slow} to ptr)(ptr %footprint)
  ret i64 %opened
size:
  %lower = %footprint->footprint.lower
  %upper = %footprint->footprint.upper
  %count = %footprint->footprint.count
  %number = %footprint->footprint.number
  %trips = sub i64 %upper, %lower
  %some = icmp sgt i64 %trips, 0
  %few = icmp ule i64 %count, {arrays}
  %clause = %footprint->footprint.queue
  %slot = call i64 @slot_of(i64 %clause)
  %numbered = icmp ne i64 %slot, -1
  %queues = call ptr @queues(ptr %row)
  %tables = icmp ne ptr %queues, null
  %fit = all %some %few %numbered
  br i1 %fit, label %find, label %no
find:
  br i1 %tables, label %known, label %try
known:
  %queue_at = getelementptr ptr, ptr %queues, i64 %slot
  %its_queue = load ptr, ptr %queue_at
  br label %try
try:
  %queue = phi ptr [ null, %find ], [ %its_queue, %known ]
  %has_queue = icmp ne ptr %queue, null
  %mine = call i1 @try_borders(ptr %borders)
  br i1 %mine, label %note, label %no
note:
  %wishes = &%borders->borders.wishes
  %wish = getelementptr %wish, ptr %wishes, i64 %number
  %same_site_at = &%borders->borders.row
  %last_number = %same_site_at->footprint.number
  if eq i64 %last_number, %number: miss, copy
miss:
  call void @count_miss(ptr %borders, ptr %wish)
  br label %copy
copy:
  %array_bytes = mul i64 %count, {array_bytes}
  %bytes = add i64 %array_bytes, {row_bytes}
  call void @llvm.memcpy.p0.p0.i64(ptr %same_site_at, ptr %footprint, i64 %bytes, i1 false)
  %token = ptrtoint ptr %footprint to i64
  %queue_address = ptrtoint ptr %queue to i64
  %borders->borders.token = %token
  %borders->borders.queue = %queue_address
  %borders->borders.valid = 0
  %borders->borders.used = 0
  %borders->borders.event = 0
  %borders->borders.low = 0
  %borders->borders.high = 0
  br i1 %has_queue, label %decide, label %unknown
unknown: ; the first copies after it make wishes all the same
  %borders->borders.token = 0
  call void @leave_borders(ptr %borders)
  br label %no
decide:
  %pays = call i1 @pays(ptr %wish)
  br i1 %pays, label %ask, label %plain
ask:
  %apart = call i1 @is_apart(ptr %borders)
  %border = %borders->borders.border as ptr
  %has_border = icmp ne ptr %border, null
  %saves = call i1 @saves(ptr %borders, ptr %wish, i64 %trips)
  %may = all %apart %has_border %saves
  br i1 %may, label %put, label %plain
put:
  %done = call i1 @put_border(ptr %row, ptr %queue, i64 %slot, ptr %border)
  br i1 %done, label %choose, label %plain
choose:
  %rows = call {{ i64, i64 }} @rows_of(ptr %wish, i64 %trips)
  %low = extractvalue {{ i64, i64 }} %rows, 0
  %high = extractvalue {{ i64, i64 }} %rows, 1
  %event = %border->queue.event
  %borders->borders.event = %event
  %borders->borders.low = %low
  %borders->borders.high = %high
  %shifted = shl i64 %high, 32
  %both = or i64 %low, %shifted
  br label %plain
plain:
  %result = phi i64 [ 0, %decide ], [ 0, %ask ], [ 0, %put ], [ %both, %choose ]
  %work = %queue->queue.work seq_cst
  %of_python = %queue->queue.work_of_python seq_cst
  %borders->borders.work = %work
  %borders->borders.work_of_python = %of_python
  ret i64 %result
no:
  ret i64 0
}}

define void @end(ptr %footprint) {{
entry:
  %row = call ptr @row()
  %sync = %row->row.sync as ptr
  if ne ptr %sync, null: open, done
open:
  %borders = %sync->queue.borders as ptr
  if ne ptr %borders, null: own, done
own:
  %token = %borders->borders.token
  %address = ptrtoint ptr %footprint to i64
  if eq i64 %token, %address: go, done
go:
  %queue = %borders->borders.queue as ptr
  %work = %queue->queue.work seq_cst
  %of_python = %queue->queue.work_of_python seq_cst
  %its_work = %borders->borders.work
  %its_of_python = %borders->borders.work_of_python
  %next_work = add i64 %its_work, 1
  %once = icmp eq i64 %work, %next_work
  %untouched = icmp eq i64 %of_python, %its_of_python
  %event = %borders->borders.event
  if ne i64 %event, 0: join, announce
join:
  %border = %borders->borders.border as ptr
  %stream = %queue->queue.stream
  %recorded = call i32 @record(ptr %border)
  %behind = call i32 @put_behind(i64 %stream, i64 %event)
  call void @count_work(ptr %queue)
  %status = or i32 %recorded, %behind
  %good = icmp eq i32 %status, 0
  br label %announce
announce:
  %in_order = phi i1 [ false, %go ], [ %good, %join ]
  %known = all %once %untouched %in_order
  %valid = zext i1 %known to i64
  %now = %queue->queue.work seq_cst
  %borders->borders.work = %now
  %borders->borders.valid = %valid
  %borders->borders.token = 0
  call void @leave_borders(ptr %borders)
  br label %done
done:
  ret void
}}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

_MOST_MISSED = 16
"""After so many constructs in a row whose border no copy has used, it is no longer computed first ..."""
_RETRIED = 64
"""... except once in so many."""


class NativeBorders:
    """
    The functions `__accopt_border_begin` and `__accopt_border_end` (`addresses`) for the devices of
    `devices`. `slow`: the C address of the former in Python, for a device's first construct.
    """

    def __init__(self, devices: NativeDevices, driver: NativeDriver, slow: int):
        self._code = NativeCode(
            ROW_IR + QUEUE_IR + RECORD_IR + ORDER_IR + NUMBER_IR + EARLY_IR + _IR,
            {
                **devices.addresses,
                **QUEUE_ADDRESSES,
                **driver.addresses,
                "slow": slow,
            },
            {
                **devices.constants,
                **NUMBERS,
                "arrays": ARRAYS,
                "array_bytes": ctypes.sizeof(BorderArray),
                "row_bytes": ctypes.sizeof(BorderRow),
                "fewest_inner": FEWEST_INNER,
                "most_missed": _MOST_MISSED,
                "retried": _RETRIED,
            },
        )
        self.addresses = self._code.address("begin"), self._code.address("end")
