"""
The functions of `updates.py` as native code (`text.py`), after that of rows, contexts, the present table's
rows, queues, locks and runs of bytes.
"""

from __future__ import annotations

UPDATE_IR = """
; returns what a record of an update moves: 0 Python must decide, 1 nothing, 2 see %move. The row of its data
; must have one of the flags %wanted. Sets %ordered to nonzero if asynchronous queues may use the data
define internal i32 @move_of(ptr %book, ptr %record, ptr %move, i64 %wanted, ptr %ordered) {{
entry:
  %words = alloca [4 x i64]
  %base = %record->record.base
  %bytes = %record->record.bytes
  %kind = %record->record.kind
  %flags = %record->record.flags
  %further = %flags has i32 {not_plain}
  %plain = xor i1 %further, true
  %inwards = icmp eq i32 %kind, {to_device}
  %home = icmp eq i32 %kind, {to_host}
  %update = or i1 %inwards, %home
  %some = icmp ne i64 %base, 0
  %many = icmp sgt i64 %bytes, 0
  %good = all %plain %update %some %many
  br i1 %good, label %look, label %python
look:
  %start = call i64 @start_of(ptr %record)
  %row = call ptr @covering(ptr %book, i64 %start, i64 %bytes)
  if eq ptr %row, null: missing, present
missing:
  %partly = call i1 @touched(ptr %book, i64 %start, i64 %bytes)
  %nowhere = xor i1 %partly, true
  %optional = %flags has i32 {if_present}
  %skipped = and i1 %nowhere, %optional
  %nothing = zext i1 %skipped to i32
  ret i32 %nothing
present:
  %row_flags = %row->entry.flags
  %counted = and i64 %row_flags, {counts_alone}
  %counts = icmp eq i64 %counted, {counts}
  %fits = %row_flags has i64 %wanted
  %moves = and i1 %counts, %fits
  br i1 %moves, label %measure, label %python
measure:
  %dims = %record->record.dims
  %wide_dims = sext i32 %dims to i64
  %shape = %record->record.shape as ptr
  %no_dims = icmp sle i32 %dims, 0
  %no_shape = icmp eq ptr %shape, null
  %flat = or i1 %no_dims, %no_shape
  %count = select i1 %flat, i64 0, i64 %wide_dims
  %counted_from = select i1 %flat, i64 %start, i64 %base
  %is_rectangle = call i1 @rectangle_of(i64 %counted_from, i64 %bytes, i64 %count, ptr %shape, ptr %words)
  br i1 %is_rectangle, label %size, label %python
size:
  %first = load i64, ptr %words
  %length = load i64, ptr %words[i64 1]
  %rows = load i64, ptr %words[i64 2]
  %pitch = load i64, ptr %words[i64 3]
  %little = icmp slt i64 %length, {staged}
  %several = icmp sgt i64 %rows, 1
  %suits = or i1 %little, %several
  br i1 %suits, label %note, label %python
note:
  %address = call i64 @device_address(ptr %row, i64 %first)
  %home_word = zext i1 %home to i64
  %on_queues = and i64 %row_flags, {asynchronous}
  %others = load i64, ptr %ordered
  %all_others = or i64 %others, %on_queues
  store i64 %all_others, ptr %ordered
  %move->move.device = %address
  %move->move.host = %first
  %move->move.bytes = %length
  %move->move.home = %home_word
  %move->move.rows = %rows
  %move->move.pitch = %pitch
  %same = icmp eq i64 %address, %first ; memory that host and device share
  %answer = select i1 %same, i32 1, i32 2
  ret i32 %answer
python:
  ret i32 0
}}

; stores the moves of a directive's records to %moves; returns their number, or -1 if Python must make them.
; Sets %ordered to nonzero if asynchronous queues may use the data
define internal i64 @plan(ptr %row, ptr %book, ptr %records, i64 %count, i1 %sync, ptr %moves,
    ptr %ordered) {{
entry:
  %mine = call i32 @try_lock(ptr %row)
  if ne i32 %mine, 0: begin, busy
begin:
  store i64 0, ptr %ordered
  %followed = %book->book.followed
  %known_table = icmp ne i64 %followed, 0
  %wanted = select i1 %sync, i64 {used}, i64 {asynchronous}
  br i1 %known_table, label %records_of, label %python
records_of:
  for i64 %i < %count: look, done
  %n = phi i64 [ 0, %records_of ], [ %n_now, %known ]
look:
  %record = getelementptr %record, ptr %records, i64 %i
  %move = getelementptr %move, ptr %moves, i64 %n
  %what = call i32 @move_of(ptr %book, ptr %record, ptr %move, i64 %wanted, ptr %ordered)
  if eq i32 %what, 0: python, known
known:
  %noted = icmp eq i32 %what, 2
  %step = zext i1 %noted to i64
  %n_now = add i64 %n, %step
  next %i
done:
  call void @unlock(ptr %row)
  ret i64 %n
python:
  call void @unlock(ptr %row)
  br label %busy
busy:
  ret i64 -1
}}

; lets the driver copy the rows of a move on a stream; returns its status
define internal i32 @copy_rectangle(ptr %move, i64 %stream) {{
entry:
  %copy = alloca %rows_copy
  %device = %move->move.device
  %host = %move->move.host
  %bytes = %move->move.bytes
  %home = %move->move.home
  %rows = %move->move.rows
  %pitch = %move->move.pitch
  %out = icmp ne i64 %home, 0
  %from_kind = select i1 %out, i64 {device_memory}, i64 {host_memory}
  %to_kind = select i1 %out, i64 {host_memory}, i64 {device_memory}
  store %rows_copy zeroinitializer, ptr %copy
  %copy->rows_copy.from_kind = %from_kind
  %copy->rows_copy.from_host = %host
  %copy->rows_copy.from_device = %device
  %copy->rows_copy.from_pitch = %pitch
  %copy->rows_copy.to_kind = %to_kind
  %copy->rows_copy.to_host = %host
  %copy->rows_copy.to_device = %device
  %copy->rows_copy.to_pitch = %pitch
  %copy->rows_copy.width = %bytes
  %copy->rows_copy.height = %rows
  %status = call i32 inttoptr (i64 {copy_rows} to ptr)(ptr %copy, i64 %stream)
  ret i32 %status
}}

; lets the driver copy on a stream; returns its status
define internal i32 @copy_all(ptr %moves, i64 %count, i64 %stream) {{
entry:
  for i64 %i < %count: look, done
  %sum = phi i32 [ 0, %entry ], [ %total, %copied ]
look:
  %device = %moves[i64 %i]->move.device
  %host = %moves[i64 %i]->move.host
  %bytes = %moves[i64 %i]->move.bytes
  %home = %moves[i64 %i]->move.home
  %rows = %moves[i64 %i]->move.rows
  if sgt i64 %rows, 1: rectangle, run
rectangle:
  %move = getelementptr %move, ptr %moves, i64 %i
  %sent_rows = call i32 @copy_rectangle(ptr %move, i64 %stream)
  br label %copied
run:
  if ne i64 %home, 0: out, in
in:
  %sent = call i32 inttoptr (i64 {copy_in} to ptr)(i64 %device, i64 %host, i64 %bytes, i64 %stream)
  br label %copied
out:
  %fetched = call i32 inttoptr (i64 {copy_out} to ptr)(i64 %host, i64 %device, i64 %bytes, i64 %stream)
  br label %copied
copied:
  %status = phi i32 [ %sent_rows, %rectangle ], [ %sent, %in ], [ %fetched, %out ]
  %total = or i32 %sum, %status
  next %i
done:
  ret i32 %sum
}}

; lets a stream wait for all unfinished asynchronous queues of the row's device; returns whether it did
define internal i1 @after_users(ptr %row, i64 %stream) {{
entry:
  %queues = %row->row.asynchronous as ptr
  if eq ptr %queues, null: yes, begin
begin:
  %count = load i64, ptr %queues
  for i64 %i < %count: look, yes
look:
  %number = add i64 %i, 1
  %queue = load ptr, ptr %queues[i64 %number]
  %beside = call i1 @has_asides(ptr %queue)
  %state = call i32 @pending(ptr %queue)
  %busy = icmp ne i32 %state, 0
  %pending = or i1 %busy, %beside
  br i1 %pending, label %hold, label %on
hold:
  %event = %queue->queue.event
  %marked = call i1 @mark(ptr %queue)
  %held = call i32 @put_behind(i64 %stream, i64 %event)
  %in_order = icmp eq i32 %held, 0
  %good = and i1 %marked, %in_order
  br i1 %good, label %on, label %no
on:
  next %i
yes:
  ret i1 true
no:
  ret i1 false
}}

; makes moves on the synchronous queue and waits; returns whether it did
define internal i1 @move_now(ptr %row, ptr %moves, i64 %count, i1 %ordered) {{
entry:
  %queue = %row->row.sync as ptr
  %stream = %queue->queue.stream
  br i1 %ordered, label %order, label %catch
order:
  %put = call i1 @after_users(ptr %row, i64 %stream)
  br label %catch
catch:
  %behind = phi i1 [ true, %entry ], [ %put, %order ]
  %caught_up = call i32 @catch_up(ptr %queue)
  %in_order = icmp eq i32 %caught_up, 0
  %good = and i1 %behind, %in_order
  br i1 %good, label %copy, label %no
copy:
  %status = call i32 @copy_all(ptr %moves, i64 %count, i64 %stream)
  call void @count_work(ptr %queue)
  if eq i32 %status, 0: join, no
join:
  %done = call i1 @wait_now(ptr %queue)
  ret i1 %done
no:
  ret i1 false
}}

; returns whether results of asynchronous reductions are to come to the host's memory (`late_cells.py`), so
; that Python must wait for them before the driver reads it
define internal i1 @results_to_come(ptr %row) {{
entry:
  %book = %row->row.book as ptr
  %pending = %book->book.late_pending
  if eq ptr %pending, null: no, look
look:
  %count = load atomic i64, ptr %pending seq_cst, align 8
  %some = icmp ne i64 %count, 0
  ret i1 %some
no:
  ret i1 false
}}

; puts moves on an asynchronous queue that has been used natively; returns whether it did
define internal i1 @move_later(ptr %row, i64 %number, ptr %moves, i64 %count) {{
entry:
  %queues = call ptr @queues(ptr %row)
  %served = icmp ne ptr %queues, null
  %slot = call i64 @slot_of(i64 %number)
  %has_slot = icmp sge i64 %slot, 0
  %known = and i1 %served, %has_slot
  %later = call i1 @results_to_come(ptr %row)
  %now = xor i1 %later, true
  %may = and i1 %known, %now
  br i1 %may, label %find, label %no
find:
  %queue = load ptr, ptr %queues[i64 %slot]
  if ne ptr %queue, null: order, no
order:
  %stream = %queue->queue.stream
  %ordered = call i32 @after_constructs(ptr %row, i64 %stream, i64 %slot)
  %caught_up = call i32 @catch_up(ptr %queue)
  %both = or i32 %ordered, %caught_up
  if eq i32 %both, 0: copy, no
copy:
  %status = call i32 @copy_all(ptr %moves, i64 %count, i64 %stream)
  call void @count_work(ptr %queue)
  call void @count_transfers(ptr %queue, i64 1)
  %copied = icmp eq i32 %status, 0
  ret i1 %copied
no:
  ret i1 false
}}

; performs the update of some records; returns whether it did
define internal i1 @updated(ptr %records, i64 %count, i64 %queue) {{
entry:
  %moves = alloca [{most} x %move]
  %ordered = alloca i64
  %row = call ptr @row()
  %book = %row->row.book as ptr
  %served = icmp ne ptr %book, null
  %few = icmp ule i64 %count, {most}
  %good = and i1 %served, %few
  br i1 %good, label %look, label %no
look:
  %sync = call i1 @is_synchronous(i64 %queue)
  %n = call i64 @plan(ptr %row, ptr %book, ptr %records, i64 %count, i1 %sync, ptr %moves,
      ptr %ordered)
  if sge i64 %n, 0: some, no
some:
  if eq i64 %n, 0: yes, go
go:
  call void @enter_context(ptr %row)
  br i1 %sync, label %now, label %later
now:
  %users = load i64, ptr %ordered
  %has_users = icmp ne i64 %users, 0
  %done = call i1 @move_now(ptr %row, ptr %moves, i64 %n, i1 %has_users)
  ret i1 %done
later:
  %put = call i1 @move_later(ptr %row, i64 %queue, ptr %moves, i64 %n)
  ret i1 %put
yes:
  ret i1 true
no:
  ret i1 false
}}

define void @native___accopt_update(i32 %site, ptr %records, i32 %count, i64 %queue) {{
entry:
  %wide = zext i32 %count to i64
  %done = call i1 @updated(ptr %records, i64 %wide, i64 %queue)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow___accopt_update} to ptr)(i32 %site, ptr %records, i32 %count, i64 %queue)
  br label %end
end:
  ret void
}}

; performs the update of one run of bytes; returns whether it did
define internal i1 @updated_run(i64 %host, i64 %bytes, i32 %kind, i64 %queue) {{
  %record = alloca %record
  store %record zeroinitializer, ptr %record
  %record->record.base = %host
  %record->record.bytes = %bytes
  %record->record.kind = %kind
  %done = call i1 @updated(ptr %record, i64 1, i64 %queue)
  ret i1 %done
}}
"""

ROUTINE_IR = """
define void @native_{name}(i64 %host, i64 %bytes) {{{{
entry:
  %done = call i1 @updated_run(i64 %host, i64 %bytes, i32 {kind:d}, i64 {{sync}})
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {{slow_{name}}} to ptr)(i64 %host, i64 %bytes)
  br label %end
end:
  ret void
}}}}

define void @native_{name}_async(i64 %host, i64 %bytes, i32 %queue) {{{{
entry:
  %wide = sext i32 %queue to i64
  %done = call i1 @updated_run(i64 %host, i64 %bytes, i32 {kind:d}, i64 %wide)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {{slow_{name}_async}} to ptr)(i64 %host, i64 %bytes, i32 %queue)
  br label %end
end:
  ret void
}}}}
"""
"""A routine and its form for a queue: `name`, and the `kind` of the corresponding clause."""
