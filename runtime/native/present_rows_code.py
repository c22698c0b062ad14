"""
Native code (`text.py`) of the functions on the rows of `present_rows.py`: find, add and count rows. Format
fields: those of `LAYOUT`. Entry to and exit from regions are in `counted_regions_code.py`.
"""

TEMPLATE = """
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @add_to(ptr %word, i64 %step) alwaysinline {{
  %old = load i64, ptr %word
  %new = add i64 %old, %step
  store i64 %new, ptr %word
  ret void
}}

; returns the number of rows that begin at %address or before
define internal i64 @begun(ptr %book, i64 %address) {{
entry:
  %count = %book->book.count
  %rows = %book->book.rows
  br label %test
test:
  %low = phi i64 [ 0, %entry ], [ %low_next, %look ]
  %high = phi i64 [ %count, %entry ], [ %high_next, %look ]
  if ult i64 %low, %high: look, done
look:
  %sum = add i64 %low, %high
  %middle = lshr i64 %sum, 1
  %host_at = getelementptr %entry, ptr %rows, i64 %middle
  %host = load i64, ptr %host_at
  %before = icmp ule i64 %host, %address
  %past = add i64 %middle, 1
  %low_next = select i1 %before, i64 %past, i64 %low
  %high_next = select i1 %before, i64 %high, i64 %middle
  br label %test
done:
  ret i64 %low
}}

; returns the last row that begins at %address or before, or null
define internal ptr @row_at(ptr %book, i64 %address) {{
  %number = call i64 @begun(ptr %book, i64 %address)
  %none = icmp eq i64 %number, 0
  %index = sub i64 %number, 1
  %rows = %book->book.rows
  %row = getelementptr %entry, ptr %rows, i64 %index
  %result = select i1 %none, ptr null, ptr %row
  ret ptr %result
}}

; returns the row that has all of the bytes, or null
define internal ptr @covering(ptr %book, i64 %start, i64 %bytes) {{
entry:
  %row = call ptr @row_at(ptr %book, i64 %start)
  if eq ptr %row, null: no, look
look:
  %end = %row->entry.end
  %last = add i64 %start, %bytes
  if ule i64 %last, %end: yes, no
yes:
  ret ptr %row
no:
  ret ptr null
}}

; returns whether a row has any of the bytes
define internal i1 @touched(ptr %book, i64 %start, i64 %bytes) {{
entry:
  %past = add i64 %start, %bytes
  %last = sub i64 %past, 1
  %row = call ptr @row_at(ptr %book, i64 %last)
  if eq ptr %row, null: no, look
look:
  %end = %row->entry.end
  %over = icmp ugt i64 %end, %start
  ret i1 %over
no:
  ret i1 false
}}

; returns whether one of the reserved spans has any of the bytes
define internal i1 @reserved(ptr %book, i64 %start, i64 %bytes) {{
entry:
  %count = %book->book.span_count
  %table = %book->book.spans
  %past = add i64 %start, %bytes
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %look ]
  if ult i64 %i, %count: look, no
look:
  %span = getelementptr [2 x i64], ptr %table, i64 %i
  %first = %span->span.first
  %end = %span->span.end
  %begins = icmp ult i64 %first, %past
  %ends = icmp ugt i64 %end, %start
  %over = and i1 %begins, %ends
  %next = add i64 %i, 1
  br i1 %over, label %yes, label %test
yes:
  ret i1 true
no:
  ret i1 false
}}

; returns the first byte of a record's section
define internal i64 @start_of(ptr %record) alwaysinline {{
  %base = %record->record.base
  %offset = %record->record.offset
  %start = add i64 %base, %offset
  ret i64 %start
}}

; returns the device address that corresponds to a host address of a row's array
define internal i64 @device_address(ptr %row, i64 %at) alwaysinline {{
  %host = %row->entry.host
  %there = %row->entry.device
  %distance = sub i64 %at, %host
  %address = add i64 %there, %distance
  ret i64 %address
}}

; returns the smallest kept block that is large enough, or null
define internal ptr @block_for(ptr %book, i64 %bytes) {{
entry:
  %count = %book->book.kept
  %table = %book->book.blocks
  for i64 %i < %count: look, done
  %best = phi ptr [ null, %entry ], [ %better, %look ]
  %least = phi i64 [ -1, %entry ], [ %less, %look ]
look:
  %block = getelementptr [2 x i64], ptr %table, i64 %i
  %size = %block->block.bytes
  %enough = icmp uge i64 %size, %bytes
  %smaller = icmp ult i64 %size, %least
  %suits = and i1 %enough, %smaller
  %better = select i1 %suits, ptr %block, ptr %best
  %less = select i1 %suits, i64 %size, i64 %least
  next %i
done:
  ret ptr %best
}}

; inserts and returns a row; the caller has checked that there is space for it
define ptr @insert_row(ptr %book, i64 %host, i64 %bytes, i64 %device, i64 %flags, i64 %block) {{
  %index = call i64 @begun(ptr %book, i64 %host)
  %count = %book->book.count
  %rows = %book->book.rows
  %row = getelementptr %entry, ptr %rows, i64 %index
  %next = getelementptr %entry, ptr %row, i64 1
  %behind = sub i64 %count, %index
  %size = mul i64 %behind, {row_bytes}
  call void @llvm.memmove.p0.p0.i64(ptr %next, ptr %row, i64 %size, i1 false)
  %end = add i64 %host, %bytes
  %row->entry.host = %host
  %row->entry.end = %end
  %row->entry.device = %device
  %row->entry.open = 0
  %row->entry.dynamic = 0
  %row->entry.flags = %flags
  %row->entry.block = %block
  call void @add_to(ptr %book, i64 1)
  ret ptr %row
}}

; removes the row that begins at %host
define void @remove_row(ptr %book, i64 %host) {{
  %row = call ptr @row_at(ptr %book, i64 %host)
  %next = getelementptr %entry, ptr %row, i64 1
  %number = call i64 @begun(ptr %book, i64 %host)
  %count = %book->book.count
  %behind = sub i64 %count, %number
  %size = mul i64 %behind, {row_bytes}
  call void @llvm.memmove.p0.p0.i64(ptr %row, ptr %next, i64 %size, i1 false)
  call void @add_to(ptr %book, i64 -1)
  ret void
}}

; returns whether a row's data is in the program's own memory
define internal i1 @is_shared(ptr %row) alwaysinline {{
  %host = %row->entry.host
  %device = %row->entry.device
  %same = icmp eq i64 %host, %device
  ret i1 %same
}}

; removes a row of native code that nothing refers to, and keeps its block if it has one
define internal void @let_go(ptr %book, ptr %row) {{
entry:
  %host = %row->entry.host
  %device = %row->entry.device
  %shared = call i1 @is_shared(ptr %row)
  br i1 %shared, label %forget, label %keep
keep:
  %size = %row->entry.block
  %kept_at = &%book->book.kept
  %kept = load i64, ptr %kept_at
  %table = %book->book.blocks
  %block = getelementptr [2 x i64], ptr %table, i64 %kept
  %block->block.device = %device
  %block->block.bytes = %size
  call void @add_to(ptr %kept_at, i64 1)
  br label %forget
forget:
  %own_at = &%book->book.own
  call void @add_to(ptr %own_at, i64 -1)
  call void @remove_row(ptr %book, i64 %host)
  ret void
}}

; returns whether a record is of enter data or exit data
define internal i1 @is_dynamic(ptr %record) alwaysinline {{
  %flags = %record->record.flags
  %dynamic = %flags has i32 {flag_dynamic}
  ret i1 %dynamic
}}

; returns where a record is counted in its row: with the dynamic references, or the open regions
define internal ptr @counter_of(ptr %row, ptr %record) {{
  %dynamic = call i1 @is_dynamic(ptr %record)
  %open_at = &%row->entry.open
  %dynamic_at = &%row->entry.dynamic
  %at = select i1 %dynamic, ptr %dynamic_at, ptr %open_at
  ret ptr %at
}}

; returns the row of the data at a record's device address (exit data has none), or null
define internal ptr @row_of(ptr %book, ptr %record) {{
entry:
  %kind = %record->record.kind
  %dynamic = call i1 @is_dynamic(ptr %record)
  %counts = icmp ule i32 %kind, {last_kind}
  %may = or i1 %counts, %dynamic
  br i1 %may, label %find, label %no
find:
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %row = call ptr @covering(ptr %book, i64 %start, i64 %bytes)
  if eq ptr %row, null: no, look
look:
  %base = %record->record.base
  %device = %record->record.device
  %address = call i64 @device_address(ptr %row, i64 %base)
  %same = icmp eq i64 %address, %device
  %found = or i1 %same, %dynamic
  br i1 %found, label %yes, label %no
yes:
  ret ptr %row
no:
  ret ptr null
}}

; adds %step to the counters of the first %count records' data
define internal void @count_all(ptr %book, ptr %records, i32 %count, i64 %step) {{
entry:
  for i32 %i < %count: look, done
look:
  %record = getelementptr %record, ptr %records, i32 %i
  %row = call ptr @row_of(ptr %book, ptr %record)
  if eq ptr %row, null: on, count_row
count_row:
  %counter = call ptr @counter_of(ptr %row, ptr %record)
  call void @add_to(ptr %counter, i64 %step)
  br label %on
on:
  next %i
done:
  ret void
}}

; removes the rows of the first %count records that native code made and nothing refers to
define internal void @sweep(ptr %book, ptr %records, i32 %count) {{
entry:
  for i32 %i < %count: look, done
look:
  %record = getelementptr %record, ptr %records, i32 %i
  %row = call ptr @row_of(ptr %book, ptr %record)
  if eq ptr %row, null: on, held
held:
  %over = call i1 @is_over(ptr %row)
  br i1 %over, label %go, label %on
go:
  call void @let_go(ptr %book, ptr %row)
  br label %on
on:
  next %i
done:
  ret void
}}

; returns whether native code made a row, and nothing refers to it
define internal i1 @is_over(ptr %row) {{
  %open = %row->entry.open
  %dynamic = %row->entry.dynamic
  %both = or i64 %open, %dynamic
  %free = icmp eq i64 %both, 0
  %flags = %row->entry.flags
  %own = %flags has i64 {is_own}
  %result = and i1 %free, %own
  ret i1 %result
}}

; copies a few bytes
define internal void @move_bytes(ptr %to, ptr %from, i64 %bytes) {{
entry:
  for i64 %i < %bytes: byte, done
byte:
  %value = load i8, ptr %from[i64 %i]
  store i8 %value, ptr %to[i64 %i]
  next %i
done:
  ret void
}}
"""
