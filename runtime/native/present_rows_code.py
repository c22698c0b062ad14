"""
The functions over the rows of `present_rows.py` as LLVM IR: to find, make and count them. Format fields:
those of `LAYOUT`. What a whole region does is in `counted_regions_code.py`.
"""

TEMPLATE = """
; count, capacity, frozen, the device's ways (IN_PLACE, CREATES, COPIES, CLEARS), rows, kept blocks, their
; table, spans that no array is created over, their table, cells of sites, rows made here, the stream of
; synchronous constructs
%book = type {{ i64, i64, i64, i64, ptr, i64, ptr, i64, ptr, ptr, i64, i64 }}
; host, end, device, open regions counted here, flags (COUNTS, ASYNCHRONOUS, OWN), bytes of the block
%entry = type {{ i64, i64, i64, i64, i64, i64, i64, i64 }}
; base, offset, bytes, pointer, device, kind, flags, var, dims, shape
%record = type {{ i64, i64, i64, i64, i64, i32, i32, i32, i32, i64 }}
; place in host memory, device address, variable, bytes, whether a region that was entered here is in it
%cell = type {{ i64, i64, i64, i64, i64 }}

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i64 @field(ptr %book, i32 %i) alwaysinline {{
  %at = getelementptr i64, ptr %book, i32 %i
  %value = load i64, ptr %at
  ret i64 %value
}}

define internal void @add_to(ptr %word, i64 %step) alwaysinline {{
  %old = load i64, ptr %word
  %new = add i64 %old, %step
  store i64 %new, ptr %word
  ret void
}}

; the number of rows that begin at %address or before
define internal i64 @begun(ptr %book, i64 %address) {{
entry:
  %count = call i64 @field(ptr %book, i32 0)
  %rows_at = getelementptr ptr, ptr %book, i32 4
  %rows = load ptr, ptr %rows_at
  br label %test
test:
  %low = phi i64 [ 0, %entry ], [ %low_next, %look ]
  %high = phi i64 [ %count, %entry ], [ %high_next, %look ]
  %more = icmp ult i64 %low, %high
  br i1 %more, label %look, label %done
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

; the last row that begins at %address or before; null if there is none
define internal ptr @row_at(ptr %book, i64 %address) {{
  %number = call i64 @begun(ptr %book, i64 %address)
  %none = icmp eq i64 %number, 0
  %index = sub i64 %number, 1
  %rows_at = getelementptr ptr, ptr %book, i32 4
  %rows = load ptr, ptr %rows_at
  %row = getelementptr %entry, ptr %rows, i64 %index
  %result = select i1 %none, ptr null, ptr %row
  ret ptr %result
}}

; the row that has all of the bytes, or null
define internal ptr @covering(ptr %book, i64 %start, i64 %bytes) {{
entry:
  %row = call ptr @row_at(ptr %book, i64 %start)
  %none = icmp eq ptr %row, null
  br i1 %none, label %no, label %look
look:
  %end_at = getelementptr %entry, ptr %row, i32 0, i32 1
  %end = load i64, ptr %end_at
  %last = add i64 %start, %bytes
  %in = icmp ule i64 %last, %end
  br i1 %in, label %yes, label %no
yes:
  ret ptr %row
no:
  ret ptr null
}}

; whether a row has any of the bytes
define internal i1 @touched(ptr %book, i64 %start, i64 %bytes) {{
entry:
  %past = add i64 %start, %bytes
  %last = sub i64 %past, 1
  %row = call ptr @row_at(ptr %book, i64 %last)
  %none = icmp eq ptr %row, null
  br i1 %none, label %no, label %look
look:
  %end_at = getelementptr %entry, ptr %row, i32 0, i32 1
  %end = load i64, ptr %end_at
  %over = icmp ugt i64 %end, %start
  ret i1 %over
no:
  ret i1 false
}}

; whether one of the spans that nothing is created over has any of the bytes
define internal i1 @reserved(ptr %book, i64 %start, i64 %bytes) {{
entry:
  %count = call i64 @field(ptr %book, i32 7)
  %table_at = getelementptr ptr, ptr %book, i32 8
  %table = load ptr, ptr %table_at
  %past = add i64 %start, %bytes
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %look ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %no
look:
  %span = getelementptr [2 x i64], ptr %table, i64 %i
  %first = load i64, ptr %span
  %end_at = getelementptr i64, ptr %span, i64 1
  %end = load i64, ptr %end_at
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

; the first byte of a record's section
define internal i64 @start_of(ptr %record) alwaysinline {{
  %base = load i64, ptr %record
  %offset_at = getelementptr i64, ptr %record, i64 1
  %offset = load i64, ptr %offset_at
  %start = add i64 %base, %offset
  ret i64 %start
}}

; the smallest kept block that is large enough, or null
define internal ptr @block_for(ptr %book, i64 %bytes) {{
entry:
  %count = call i64 @field(ptr %book, i32 5)
  %table_at = getelementptr ptr, ptr %book, i32 6
  %table = load ptr, ptr %table_at
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %look ]
  %best = phi ptr [ null, %entry ], [ %better, %look ]
  %least = phi i64 [ -1, %entry ], [ %less, %look ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %block = getelementptr [2 x i64], ptr %table, i64 %i
  %size_at = getelementptr i64, ptr %block, i64 1
  %size = load i64, ptr %size_at
  %enough = icmp uge i64 %size, %bytes
  %smaller = icmp ult i64 %size, %least
  %suits = and i1 %enough, %smaller
  %better = select i1 %suits, ptr %block, ptr %best
  %less = select i1 %suits, i64 %size, i64 %least
  %next = add i64 %i, 1
  br label %test
done:
  ret ptr %best
}}

; puts a row into its place; the caller has seen that there is room
define void @insert_row(ptr %book, i64 %host, i64 %bytes, i64 %device, i64 %flags, i64 %block) {{
  %index = call i64 @begun(ptr %book, i64 %host)
  %count = call i64 @field(ptr %book, i32 0)
  %rows_at = getelementptr ptr, ptr %book, i32 4
  %rows = load ptr, ptr %rows_at
  %row = getelementptr %entry, ptr %rows, i64 %index
  %next = getelementptr %entry, ptr %row, i64 1
  %behind = sub i64 %count, %index
  %size = mul i64 %behind, 64
  call void @llvm.memmove.p0.p0.i64(ptr %next, ptr %row, i64 %size, i1 false)
  %end = add i64 %host, %bytes
  store i64 %host, ptr %row
  %end_at = getelementptr i64, ptr %row, i64 1
  store i64 %end, ptr %end_at
  %device_at = getelementptr i64, ptr %row, i64 2
  store i64 %device, ptr %device_at
  %open_at = getelementptr i64, ptr %row, i64 3
  store i64 0, ptr %open_at
  %flags_at = getelementptr i64, ptr %row, i64 4
  store i64 %flags, ptr %flags_at
  %block_at = getelementptr i64, ptr %row, i64 5
  store i64 %block, ptr %block_at
  call void @add_to(ptr %book, i64 1)
  ret void
}}

; takes out the row that begins at %host
define void @remove_row(ptr %book, i64 %host) {{
  %row = call ptr @row_at(ptr %book, i64 %host)
  %next = getelementptr %entry, ptr %row, i64 1
  %number = call i64 @begun(ptr %book, i64 %host)
  %count = call i64 @field(ptr %book, i32 0)
  %behind = sub i64 %count, %number
  %size = mul i64 %behind, 64
  call void @llvm.memmove.p0.p0.i64(ptr %row, ptr %next, i64 %size, i1 false)
  call void @add_to(ptr %book, i64 -1)
  ret void
}}

; gives a row made here back, which nothing holds
define internal void @let_go(ptr %book, ptr %row) {{
  %host = load i64, ptr %row
  %device_at = getelementptr i64, ptr %row, i64 2
  %device = load i64, ptr %device_at
  %size_at = getelementptr i64, ptr %row, i64 5
  %size = load i64, ptr %size_at
  %kept_at = getelementptr i64, ptr %book, i32 5
  %kept = load i64, ptr %kept_at
  %table_at = getelementptr ptr, ptr %book, i32 6
  %table = load ptr, ptr %table_at
  %block = getelementptr [2 x i64], ptr %table, i64 %kept
  store i64 %device, ptr %block
  %block_size_at = getelementptr i64, ptr %block, i64 1
  store i64 %size, ptr %block_size_at
  call void @add_to(ptr %kept_at, i64 1)
  %own_at = getelementptr i64, ptr %book, i32 10
  call void @add_to(ptr %own_at, i64 -1)
  call void @remove_row(ptr %book, i64 %host)
  ret void
}}

; the row of the data that a record was given the device address of, or null
define internal ptr @row_of(ptr %book, ptr %record) {{
entry:
  %start = call i64 @start_of(ptr %record)
  %bytes_at = getelementptr %record, ptr %record, i32 0, i32 2
  %bytes = load i64, ptr %bytes_at
  %row = call ptr @covering(ptr %book, i64 %start, i64 %bytes)
  %absent = icmp eq ptr %row, null
  br i1 %absent, label %no, label %look
look:
  %base = load i64, ptr %record
  %device_at = getelementptr %record, ptr %record, i32 0, i32 4
  %device = load i64, ptr %device_at
  %host = load i64, ptr %row
  %there_at = getelementptr i64, ptr %row, i64 2
  %there = load i64, ptr %there_at
  %distance = sub i64 %base, %host
  %address = add i64 %there, %distance
  %same = icmp eq i64 %address, %device
  br i1 %same, label %yes, label %no
yes:
  ret ptr %row
no:
  ret ptr null
}}

; adds %step to the open regions of the first %count records' data
define internal void @count_all(ptr %book, ptr %records, i32 %count, i64 %step) {{
entry:
  br label %test
test:
  %i = phi i32 [ 0, %entry ], [ %next, %on ]
  %more = icmp ult i32 %i, %count
  br i1 %more, label %look, label %done
look:
  %record = getelementptr %record, ptr %records, i32 %i
  %row = call ptr @row_of(ptr %book, ptr %record)
  %absent = icmp eq ptr %row, null
  br i1 %absent, label %on, label %count_row
count_row:
  %open_at = getelementptr i64, ptr %row, i64 3
  call void @add_to(ptr %open_at, i64 %step)
  br label %on
on:
  %next = add i32 %i, 1
  br label %test
done:
  ret void
}}

; lets those rows of the first %count records go that were made here and that nothing holds
define internal void @sweep(ptr %book, ptr %records, i32 %count) {{
entry:
  br label %test
test:
  %i = phi i32 [ 0, %entry ], [ %next, %on ]
  %more = icmp ult i32 %i, %count
  br i1 %more, label %look, label %done
look:
  %record = getelementptr %record, ptr %records, i32 %i
  %row = call ptr @row_of(ptr %book, ptr %record)
  %absent = icmp eq ptr %row, null
  br i1 %absent, label %on, label %held
held:
  %over = call i1 @is_over(ptr %row)
  br i1 %over, label %go, label %on
go:
  call void @let_go(ptr %book, ptr %row)
  br label %on
on:
  %next = add i32 %i, 1
  br label %test
done:
  ret void
}}

; whether a row was made here and nothing holds it
define internal i1 @is_over(ptr %row) {{
  %open_at = getelementptr i64, ptr %row, i64 3
  %open = load i64, ptr %open_at
  %free = icmp eq i64 %open, 0
  %flags_at = getelementptr i64, ptr %row, i64 4
  %flags = load i64, ptr %flags_at
  %own_bit = and i64 %flags, {is_own}
  %own = icmp ne i64 %own_bit, 0
  %result = and i1 %free, %own
  ret i1 %result
}}

; copies few bytes
define internal void @move_bytes(ptr %to, ptr %from, i64 %bytes) {{
entry:
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %byte ]
  %more = icmp ult i64 %i, %bytes
  br i1 %more, label %byte, label %done
byte:
  %source = getelementptr i8, ptr %from, i64 %i
  %target = getelementptr i8, ptr %to, i64 %i
  %value = load i8, ptr %source
  store i8 %value, ptr %target
  %next = add i64 %i, 1
  br label %test
done:
  ret void
}}
"""
