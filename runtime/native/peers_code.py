"""
LLVM IR of the functions of `peers.py`: orders a copy after other work, and copies.

A copy is put on the *lane* between its two devices, a stream of the source's device, after the work on the
streams of both queues and those of their asides with which it conflicts (`queues.py`); then it becomes an
aside of both queues. So copies of different memory run at the same time, in both directions and between
several pairs.
"""

from __future__ import annotations

COPY_IR = """
; returns whether no data of device %number has moved since its present table had the epoch `%known`
define internal i1 @is_present(i64 %known, i64 %number) {{
  %row = call ptr @device_row(i64 %number)
  %present = %row->row.present
  %same = icmp eq i64 %known, %present
  ret i1 %same
}}

define internal void @enter(ptr %row) {{
  %context = %row->row.context
  %set = call i32 inttoptr (i64 {set_current} to ptr)(i64 %context)
  ret void
}}

; returns whether the driver has finished all work of some queues of the current device
define internal i1 @idle(ptr %queues, i64 %count) {{
entry:
  for i64 %i < %count: ask, yes
ask:
  %queue = load ptr, ptr %queues[i64 %i]
  %caught_up = call i32 @catch_up(ptr %queue)
  %stream = %queue->queue.stream
  %queried = call i32 inttoptr (i64 {stream_query} to ptr)(i64 %stream)
  %status = or i32 %caught_up, %queried
  if eq i32 %status, 0: on, no
on:
  next %i
yes:
  ret i1 true
no:
  ret i1 false
}}

; makes the copy on a stream of the source's device, which is current: a GPU writes small pieces of another's
; memory in a third of the time in which it reads them. By a kernel if `%pressing` and there is one
define internal i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %stream, i1 %pressing) {{
entry:
  %launch = %place->place.kernel as ptr
  %known = icmp ne ptr %launch, null
  %by_kernel = and i1 %known, %pressing
  br i1 %by_kernel, label %kernel, label %by_engine
kernel:
  %function = load i64, ptr %launch[i64 0]
  %blocks_wide = load i64, ptr %launch[i64 1]
  %threads_wide = load i64, ptr %launch[i64 2]
  %blocks = trunc i64 %blocks_wide to i32
  %threads = trunc i64 %threads_wide to i32
  %arguments = getelementptr i64, ptr %launch, i64 3
  %launched = call i32 inttoptr (i64 {launch_kernel} to ptr)(i64 %function, i32 %blocks, i32 1, i32 1,
      i32 %threads, i32 1, i32 1, i32 0, i64 %stream, ptr %arguments, ptr null)
  ret i32 %launched
by_engine:
  %count = %place->place.rectangles
  if eq i64 %count, 0: run, each
run:
  %to_context = %to_row->row.context
  %from_context = %from_row->row.context
  %target = %place->place.to_address
  %source = %place->place.from_address
  %size = %place->place.to_extent
  %copied = call i32 inttoptr (i64 {copy} to ptr)(i64 %target, i64 %to_context, i64 %source,
      i64 %from_context, i64 %size, i64 %stream)
  ret i32 %copied
each:
  %i = phi i64 [ 0, %by_engine ], [ %next, %each ]
  %status = phi i32 [ 0, %by_engine ], [ %sum, %each ]
  %first = %place->place.rectangle as ptr
  %distance = mul i64 %i, {rectangle_bytes}
  %rectangle = getelementptr i8, ptr %first, i64 %distance
  %put = call i32 inttoptr (i64 {copy_rectangle} to ptr)(ptr %rectangle, i64 %stream)
  %sum = or i32 %status, %put
  %next = add i64 %i, 1
  if ult i64 %next, %count: each, done
done:
  ret i32 %sum
}}

; copies and waits, if neither device has unfinished work; returns whether it did
define internal i1 @copy_now(ptr %place, ptr %to_row, ptr %from_row) {{
entry:
  %from_queues = %place->place.all as ptr
  %from_count = %place->place.from_all
  %to_count = %place->place.to_all
  call void @enter(ptr %to_row)
  %to_queues = getelementptr ptr, ptr %from_queues, i64 %from_count
  %to_idle = call i1 @idle(ptr %to_queues, i64 %to_count)
  br i1 %to_idle, label %look, label %no
look:
  call void @enter(ptr %from_row)
  %from_idle = call i1 @idle(ptr %from_queues, i64 %from_count)
  br i1 %from_idle, label %go, label %no
go:
  %queue = %place->place.from_queue as ptr
  %stream = %queue->queue.stream
  %copied = call i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %stream,
      i1 false)
  if eq i32 %copied, 0: join, no
join:
  %joined = call i32 inttoptr (i64 {stream_synchronize} to ptr)(i64 %stream)
  %done = icmp eq i32 %joined, 0
  ret i1 %done
no:
  ret i1 false
}}

; adds an event after which a copy must come, unless it is there; returns 1 if there are too many
define internal i32 @collect(ptr %events, i64 %event) {{
entry:
  %count = load i64, ptr %events
  for i64 %i < %count: look, new
look:
  %number = add i64 %i, 1
  %held = load i64, ptr %events[i64 %number]
  if eq i64 %held, %event: done, other
other:
  next %i
new:
  if eq i64 %count, {most_events}: many, add
add:
  %new_count = add i64 %count, 1
  store i64 %event, ptr %events[i64 %new_count]
  store i64 %new_count, ptr %events
  br label %done
many:
  ret i32 1
done:
  ret i32 0
}}

; collects the work of a queue of the current device after which a copy must come that uses some bytes, and
; writes to them if `%writes`: all on its stream, and those of its asides that conflict
define internal i32 @collect_queue(ptr %events, ptr %queue, i64 %first, i64 %last, i64 %writes) {{
entry:
  %borders = %queue->queue.borders as ptr
  %sooner = call i64 @early(ptr %borders, ptr %queue, i64 %first, i64 %last, i64 %writes)
  if ne i64 %sooner, 0: border, ask
border:
  %after_border = call i32 @collect_early(ptr %events, i64 %sooner)
  br label %asides
ask:
  %state = call i32 @pending(ptr %queue)
  if eq i32 %state, 0: asides, busy
busy:
  %event = %queue->queue.event
  %recorded = lshr i32 %state, 1
  %collected = call i32 @collect(ptr %events, i64 %event)
  %both = or i32 %recorded, %collected
  br label %asides
asides:
  %so_far = phi i32 [ %after_border, %border ], [ 0, %ask ], [ %both, %busy ]
  %beside = call i32 @collect_asides(ptr %events, ptr %queue, i64 %first, i64 %last, i64 %writes)
  %status = or i32 %so_far, %beside
  ret i32 %status
}}

; collects the event of a border queue
define internal i32 @collect_early(ptr %events, i64 %event) {{
  %is_early = getelementptr i64, ptr %events, i64 {early_word}
  store i64 1, ptr %is_early
  %status = call i32 @collect(ptr %events, i64 %event)
  ret i32 %status
}}

; returns the event of the border queue if an aside is a postponed wait for a queue whose construct has
; announced a border that is enough, else 0
define internal i64 @early_aside(ptr %queue, i64 %event, i64 %first, i64 %last, i64 %writes) {{
entry:
  %borders = %queue->queue.borders as ptr
  if ne ptr %borders, null: look, no
look:
  %other = %borders->borders.queue as ptr
  if ne ptr %other, null: compare, no
compare:
  %its = %other->queue.event
  if eq i64 %its, %event: ask, no
ask:
  %sooner = call i64 @early(ptr %borders, ptr %other, i64 %first, i64 %last, i64 %writes)
  ret i64 %sooner
no:
  ret i64 0
}}

define internal i32 @collect_asides(ptr %events, ptr %queue, i64 %first, i64 %last, i64 %writes) {{
entry:
  %some = call i1 @has_asides(ptr %queue)
  br i1 %some, label %lock, label %none
lock:
  call void @lock_queue(ptr %queue)
  %count = %queue->queue.count
  for i64 %i < %count: look, end
  %sum = phi i32 [ 0, %lock ], [ %total, %done ]
look:
  %asides = &%queue->queue.asides
  %at = getelementptr %aside, ptr %asides, i64 %i
  %its_first = %at->aside.first
  %its_last = %at->aside.last
  %its_writes = %at->aside.writes
  %begins = icmp ult i64 %its_first, %last
  %ends = icmp ult i64 %first, %its_last
  %either = or i64 %writes, %its_writes
  %written = icmp ne i64 %either, 0
  %conflict = all %begins %ends %written
  br i1 %conflict, label %take, label %done
take:
  %event = %at->aside.event
  %sooner = call i64 @early_aside(ptr %queue, i64 %event, i64 %first, i64 %last, i64 %writes)
  if ne i64 %sooner, 0: border, whole
border:
  %after_border = call i32 @collect_early(ptr %events, i64 %sooner)
  br label %done
whole:
  %taken = call i32 @collect(ptr %events, i64 %event)
  br label %done
done:
  %status = phi i32 [ 0, %look ], [ %after_border, %border ], [ %taken, %whole ]
  %total = or i32 %sum, %status
  next %i
end:
  call void @unlock_queue(ptr %queue)
  ret i32 %sum
none:
  ret i32 0
}}

; collects the work on one side after which a copy must come: of its queue, and, if synchronous, of the queues
; that may use the data; the row's device is current
define internal i32 @collect_side(ptr %events, ptr %place, ptr %row, ptr %queue, ptr %users, i64 %count,
    i64 %first, i64 %last, i64 %writes, i1 %sync) {{
entry:
  br i1 %sync, label %each, label %constructs
each:
  for i64 %i < %count: user, finish
  %sum = phi i32 [ 0, %each ], [ %total, %user ]
user:
  %its = load ptr, ptr %users[i64 %i]
  %done = call i32 @collect_queue(ptr %events, ptr %its, i64 %first, i64 %last, i64 %writes)
  %total = or i32 %sum, %done
  next %i
constructs:
  %slot = %place->place.slot
  %stream = %queue->queue.stream
  %ordered = call i32 @after_constructs(ptr %row, i64 %stream, i64 %slot)
  br label %finish
finish:
  %so_far = phi i32 [ %sum, %i.test ], [ %ordered, %constructs ]
  %is_settled = call i1 @is_settled(ptr %row)
  %nothing = and i1 %sync, %is_settled
  br i1 %nothing, label %beside, label %own
beside:
  %asides = call i32 @collect_asides(ptr %events, ptr %queue, i64 %first, i64 %last, i64 %writes)
  br label %end
own:
  %collected = call i32 @collect_queue(ptr %events, ptr %queue, i64 %first, i64 %last, i64 %writes)
  br label %end
end:
  %last_status = phi i32 [ %asides, %beside ], [ %collected, %own ]
  %status = or i32 %so_far, %last_status
  ret i32 %status
}}

; lets a stream of the current device wait for the collected events, except the first, its own
define internal i32 @put_behind_events(i64 %stream, ptr %events) {{
entry:
  %count = load i64, ptr %events
  br label %test
test:
  %i = phi i64 [ 2, %entry ], [ %next, %go ]
  %sum = phi i32 [ 0, %entry ], [ %total, %go ]
  if ule i64 %i, %count: go, end
go:
  %event = load i64, ptr %events[i64 %i]
  %status = call i32 @put_behind(i64 %stream, i64 %event)
  %total = or i32 %sum, %status
  %next = add i64 %i, 1
  br label %test
end:
  ret i32 %sum
}}

; makes a copy an aside of a queue of each device: after the work of both so far, before their next work. The
; next synchronous constructs wait for a synchronous copy that has to wait itself
define internal i1 @put(ptr %place, ptr %to_row, ptr %from_row, i1 %sync) {{
entry:
  %events = alloca [{event_words} x i64]
  %to = %place->place.to_queue as ptr
  %from = %place->place.from_queue as ptr
  %lane = %place->place.lane as ptr
  %stream = %lane->queue.stream
  %event = %lane->queue.event
  %target = %place->place.to_address
  %target_size = %place->place.to_extent
  %target_end = add i64 %target, %target_size
  %source = %place->place.from_address
  %source_size = %place->place.from_extent
  %source_end = add i64 %source, %source_size
  %from_users = %place->place.users as ptr
  %from_count = %place->place.from_users
  %to_users = getelementptr ptr, ptr %from_users, i64 %from_count
  %to_count = %place->place.to_users
  store i64 0, ptr %events
  %early_at = getelementptr i64, ptr %events, i64 {early_word}
  store i64 0, ptr %early_at
  %known = call i32 @collect(ptr %events, i64 %event)
  call void @enter(ptr %to_row)
  %after_to = call i32 @collect_side(ptr %events, ptr %place, ptr %to_row, ptr %to, ptr %to_users,
      i64 %to_count, i64 %target, i64 %target_end, i64 1, i1 %sync)
  call void @enter(ptr %from_row)
  %after_from = call i32 @collect_side(ptr %events, ptr %place, ptr %from_row, ptr %from,
      ptr %from_users, i64 %from_count, i64 %source, i64 %source_end, i64 0, i1 %sync)
  %held = call i32 @put_behind_events(i64 %stream, ptr %events)
  %both = or i32 %after_to, %after_from
  %ordered = or i32 %both, %held
  if eq i32 %ordered, 0: go, no
go:
  %count_of_events = load i64, ptr %events
  %some = icmp ugt i64 %count_of_events, 1
  %early = load i64, ptr %early_at
  %late = icmp eq i64 %early, 0
  %pressing = all %sync %some %late
  %copied = call i32 @copy(ptr %place, ptr %to_row, ptr %from_row, i64 %stream, i1 %pressing)
  call void @count_work(ptr %lane)
  %then_marked = call i32 @record(ptr %lane)
  %beside_from = call i32 @put_beside(ptr %from, i64 %event, i64 %source, i64 %source_end, i64 0)
  call void @enter(ptr %to_row)
  %beside_to = call i32 @put_beside(ptr %to, i64 %event, i64 %target, i64 %target_end, i64 1)
  %t1 = or i32 %copied, %then_marked
  %t2 = or i32 %beside_to, %beside_from
  %status = or i32 %t1, %t2
  if eq i32 %status, 0: count, no
count:
  br i1 %sync, label %count_rows, label %count_queues
count_rows:
  call void @count_copy(ptr %to_row)
  call void @count_copy(ptr %from_row)
  %told = call i1 @must_wait(ptr %to_row, ptr %from_row)
  br i1 %told, label %wait, label %yes
wait:
  call void @enter(ptr %from_row)
  %joined = call i32 inttoptr (i64 {stream_synchronize} to ptr)(i64 %stream)
  %done = icmp eq i32 %joined, 0
  ret i1 %done
count_queues:
  call void @count_transfers(ptr %to, i64 1)
  call void @count_transfers(ptr %from, i64 1)
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}}

; clock functions rely on this order (`clocks.py`)
define internal void @count_copy(ptr %row) {{
  %epoch_at = &%row->row.epoch
  %old = atomicrmw add ptr %epoch_at, i64 1 seq_cst
  %beside_at = &%row->row.beside
  %old_beside = atomicrmw add ptr %beside_at, i64 1 seq_cst
  ret void
}}

; returns whether the host has waited for all work on the row's synchronous queue
define internal i1 @is_settled(ptr %row) {{
  %epoch = %row->row.epoch seq_cst
  %settled = %row->row.settled seq_cst
  %same = icmp eq i64 %epoch, %settled
  ret i1 %same
}}

; returns whether the host must wait for synchronous work of one of two devices
define internal i1 @must_wait(ptr %to_row, ptr %from_row) {{
  %to = %to_row->row.waits seq_cst
  %from = %from_row->row.waits seq_cst
  %either = or i64 %to, %from
  %must = icmp ne i64 %either, 0
  ret i1 %must
}}

define internal i1 @make(ptr %place, i64 %to, i64 %origin, i64 %number) {{
entry:
  %own = call ptr @row()
  %to_row = call ptr @device_row(i64 %to)
  %from_row = call ptr @device_row(i64 %origin)
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
