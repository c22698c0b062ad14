"""
The functions of `peers.py` as IR: what a copy comes after, and the copy.

A copy is put on the *lane* between its two devices, a stream of the source's, after what the queues of both
have on their streams and those of their asides that it has to come after (`queues.py`); then it is an aside
of both. So copies of different memory are made at the same time, in both directions and between several
pairs.
"""

from __future__ import annotations

COPY_IR = """
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
  %caught_up = call i32 @catch_up(ptr %queue)
  %stream = load i64, ptr %queue
  %queried = call i32 inttoptr (i64 {query} to ptr)(i64 %stream)
  %status = or i32 %caught_up, %queried
  %next = add i64 %i, 1
  %done = icmp eq i32 %status, 0
  br i1 %done, label %test, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i64 @context_of(ptr %row) {{
  %at = getelementptr %row, ptr %row, i32 0, i32 2
  %context = load i64, ptr %at
  ret i64 %context
}}

; the copy, on a stream of the source's device, which is current: a GPU writes small pieces of another's
; memory in a third of the time in which it reads them
define internal i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %stream) {{
entry:
  %count = call i64 @field(ptr %place, i64 {rectangles})
  %is_run = icmp eq i64 %count, 0
  br i1 %is_run, label %run, label %each
run:
  %to_context = call i64 @context_of(ptr %to_row)
  %from_context = call i64 @context_of(ptr %from_row)
  %target = call i64 @field(ptr %place, i64 {to_address})
  %source = call i64 @field(ptr %place, i64 {from_address})
  %size = call i64 @field(ptr %place, i64 {to_extent})
  %copied = call i32 inttoptr (i64 {copy} to ptr)(i64 %target, i64 %to_context, i64 %source,
      i64 %from_context, i64 %size, i64 %stream)
  ret i32 %copied
each:
  %i = phi i64 [ 0, %entry ], [ %next, %each ]
  %status = phi i32 [ 0, %entry ], [ %sum, %each ]
  %first = call ptr @pointer(ptr %place, i64 {rectangle})
  %distance = mul i64 %i, {rectangle_bytes}
  %rectangle = getelementptr i8, ptr %first, i64 %distance
  %put = call i32 inttoptr (i64 {copy_rectangle} to ptr)(ptr %rectangle, i64 %stream)
  %sum = or i32 %status, %put
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %each, label %done
done:
  ret i32 %sum
}}

; copies if nothing is under way on either device, and waits; whether it could
define internal i1 @copy_now(ptr %place, ptr %to_row, ptr %from_row) {{
entry:
  %from_queues = call ptr @pointer(ptr %place, i64 {all})
  %from_count = call i64 @field(ptr %place, i64 {from_all})
  %to_count = call i64 @field(ptr %place, i64 {to_all})
  call void @enter(ptr %to_row)
  %to_queues = getelementptr ptr, ptr %from_queues, i64 %from_count
  %to_idle = call i1 @idle(ptr %to_queues, i64 %to_count)
  br i1 %to_idle, label %look, label %no
look:
  call void @enter(ptr %from_row)
  %from_idle = call i1 @idle(ptr %from_queues, i64 %from_count)
  br i1 %from_idle, label %go, label %no
go:
  %queue = call ptr @pointer(ptr %place, i64 {from_queue})
  %stream = load i64, ptr %queue
  %copied = call i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %stream)
  %good = icmp eq i32 %copied, 0
  br i1 %good, label %join, label %no
join:
  %joined = call i32 inttoptr (i64 {synchronize} to ptr)(i64 %stream)
  %done = icmp eq i32 %joined, 0
  ret i1 %done
no:
  ret i1 false
}}

; records a queue's event, if it has work: else what the event stands for is done
define internal i32 @record_if_busy(ptr %queue) {{
entry:
  %stream = load i64, ptr %queue
  %status = call i32 inttoptr (i64 {query} to ptr)(i64 %stream)
  %idle = icmp eq i32 %status, 0
  br i1 %idle, label %done, label %busy
busy:
  %recorded = call i32 @record(ptr %queue)
  ret i32 %recorded
done:
  ret i32 0
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
; current device come after them, if it is not null; the statuses, joined by or
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
  %caught_up = call i32 @catch_up(ptr %queue)
  %just = call i32 @record_if_busy(ptr %queue)
  %recorded = or i32 %caught_up, %just
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

; puts a copy beside a queue of either device: after what both have, and before what they are given next
define internal i1 @put(ptr %place, ptr %to_row, ptr %from_row, i1 %sync) {{
entry:
  %to = call ptr @pointer(ptr %place, i64 {to_queue})
  %from = call ptr @pointer(ptr %place, i64 {from_queue})
  %lane = call ptr @pointer(ptr %place, i64 {lane})
  %stream = load i64, ptr %lane
  %event = call i64 @field(ptr %lane, i64 1)
  %target = call i64 @field(ptr %place, i64 {to_address})
  %target_size = call i64 @field(ptr %place, i64 {to_extent})
  %target_end = add i64 %target, %target_size
  %source = call i64 @field(ptr %place, i64 {from_address})
  %source_size = call i64 @field(ptr %place, i64 {from_extent})
  %source_end = add i64 %source, %source_size
  call void @enter(ptr %to_row)
  %marked = call i32 @mark_target(ptr %place, ptr %to_row, i1 %sync)
  call void @enter(ptr %from_row)
  %held = call i32 @hold(ptr %place, ptr %from_row, i1 %sync)
  %b1 = call i32 @after_asides(i64 %stream, ptr %from, i64 %source, i64 %source_end, i64 0)
  %b2 = call i32 @after_asides(i64 %stream, ptr %to, i64 %target, i64 %target_end, i64 1)
  %o1 = or i32 %marked, %held
  %o2 = or i32 %b1, %b2
  %ordered = or i32 %o1, %o2
  %in_order = icmp eq i32 %ordered, 0
  br i1 %in_order, label %go, label %no
go:
  %copied = call i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %stream)
  %then_marked = call i32 @record(ptr %lane)
  %beside_from = call i32 @put_beside(ptr %from, i64 %event, i64 %source, i64 %source_end, i64 0)
  call void @enter(ptr %to_row)
  %beside_to = call i32 @put_beside(ptr %to, i64 %event, i64 %target, i64 %target_end, i64 1)
  %t1 = or i32 %copied, %then_marked
  %t2 = or i32 %beside_to, %beside_from
  %status = or i32 %t1, %t2
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
  call void @enter(ptr %from_row)
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

; the events of what the copy comes after on the target's device, which is current
define internal i32 @mark_target(ptr %place, ptr %row, i1 %sync) {{
entry:
  %queue = call ptr @pointer(ptr %place, i64 {to_queue})
  br i1 %sync, label %users, label %constructs
users:
  %count = call i64 @field(ptr %place, i64 {to_users})
  %first = call ptr @users_of_target(ptr %place)
  %s1 = call i32 @each(ptr %first, i64 %count, i1 true, ptr null)
  br label %mark
constructs:
  %slot = call i64 @field(ptr %place, i64 {slot})
  %own = load i64, ptr %queue
  %s2 = call i32 @after_constructs(ptr %row, i64 %own, i64 %slot)
  br label %mark
mark:
  %ordered = phi i32 [ %s1, %users ], [ %s2, %constructs ]
  %marked = call i32 @record_if_busy(ptr %queue)
  %status = or i32 %ordered, %marked
  ret i32 %status
}}

define internal ptr @users_of_target(ptr %place) {{
  %all = call ptr @pointer(ptr %place, i64 {users})
  %before = call i64 @field(ptr %place, i64 {from_users})
  %first = getelementptr ptr, ptr %all, i64 %before
  ret ptr %first
}}

; puts the copy's lane after the queues of both devices; the source's is current
define internal i32 @hold(ptr %place, ptr %row, i1 %sync) {{
entry:
  %to = call ptr @pointer(ptr %place, i64 {to_queue})
  %from = call ptr @pointer(ptr %place, i64 {from_queue})
  %lane = call ptr @pointer(ptr %place, i64 {lane})
  br i1 %sync, label %users, label %constructs
users:
  %from_users = call ptr @pointer(ptr %place, i64 {users})
  %from_count = call i64 @field(ptr %place, i64 {from_users})
  %to_count = call i64 @field(ptr %place, i64 {to_users})
  %to_users = call ptr @users_of_target(ptr %place)
  %s1 = call i32 @each(ptr %from_users, i64 %from_count, i1 true, ptr %lane)
  %s2 = call i32 @each(ptr %to_users, i64 %to_count, i1 false, ptr %lane)
  %s12 = or i32 %s1, %s2
  br label %mark
constructs:
  %slot = call i64 @field(ptr %place, i64 {slot})
  %own = load i64, ptr %from
  %s3 = call i32 @after_constructs(ptr %row, i64 %own, i64 %slot)
  br label %mark
mark:
  %ordered = phi i32 [ %s12, %users ], [ %s3, %constructs ]
  %marked = call i32 @record_if_busy(ptr %from)
  %h1 = call i32 @after(ptr %lane, ptr %from)
  %h2 = call i32 @after(ptr %lane, ptr %to)
  %m1 = or i32 %ordered, %marked
  %m2 = or i32 %h1, %h2
  %status = or i32 %m1, %m2
  ret i32 %status
}}

; puts a stream of the current device after those asides of a queue that use some bytes, and write to them, or
; use them at all if `%writes`
define internal i32 @after_asides(i64 %stream, ptr %queue, i64 %first, i64 %last, i64 %writes) {{
entry:
  %some = call i1 @has_asides(ptr %queue)
  br i1 %some, label %lock, label %none
lock:
  call void @lock_queue(ptr %queue)
  %count = call i64 @field(ptr %queue, i64 7)
  br label %test
test:
  %i = phi i64 [ 0, %lock ], [ %next, %done ]
  %sum = phi i32 [ 0, %lock ], [ %total, %done ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %end
look:
  %at = getelementptr %queue, ptr %queue, i32 0, i32 8, i64 %i
  %its_first = call i64 @field(ptr %at, i64 1)
  %its_last = call i64 @field(ptr %at, i64 2)
  %its_writes = call i64 @field(ptr %at, i64 3)
  %begins = icmp ult i64 %its_first, %last
  %ends = icmp ult i64 %first, %its_last
  %overlap = and i1 %begins, %ends
  %either = or i64 %writes, %its_writes
  %written = icmp ne i64 %either, 0
  %conflict = and i1 %overlap, %written
  br i1 %conflict, label %hold, label %done
hold:
  %event = call i64 @field(ptr %at, i64 0)
  %held = call i32 @put_behind(i64 %stream, i64 %event)
  br label %done
done:
  %status = phi i32 [ 0, %look ], [ %held, %hold ]
  %total = or i32 %sum, %status
  %next = add i64 %i, 1
  br label %test
end:
  call void @unlock_queue(ptr %queue)
  ret i32 %sum
none:
  ret i32 0
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

define internal i1 @make(ptr %place, i64 %to, i64 %origin, i64 %number) {{
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
  %copied = call i1 @copy_now(ptr %place, ptr %to_row, ptr %from_row)
  br label %back
put:
  %queued = call i1 @put(ptr %place, ptr %to_row, ptr %from_row, i1 %sync)
  br label %back
back:
  %done = phi i1 [ %copied, %now ], [ %queued, %put ]
  call void @enter(ptr %own)
  ret i1 %done
}}
"""
