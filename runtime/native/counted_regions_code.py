"""
Native code (`text.py`) for regions that are entered and left by the rows of the present table alone. It
follows the code of the devices' rows, with contexts, of queues, that of `present_rows_code.py`,
`late_cells.py` and `record_needs_code.py` in the same module. Format fields: those of `LAYOUT` and of the
driver.
"""

TEMPLATE = """
; copies a record's data to its row's block, or (%out) from there; returns false if the driver fails
define internal i1 @transfer(ptr %device, ptr %book, ptr %record, ptr %row, i1 %out) {{
entry:
  call void @enter_context(ptr %device)
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %place = call i64 @device_address(ptr %row, i64 %start)
  %stream = %book->book.stream
  br i1 %out, label %home, label %there_to
there_to:
  %status_to = call i32 inttoptr (i64 {copy_in} to ptr)(i64 %place, i64 %start, i64 %bytes, i64 %stream)
  br label %done
home:
  %status_from = call i32 inttoptr (i64 {copy_out} to ptr)(i64 %start, i64 %place, i64 %bytes, i64 %stream)
  br label %done
done:
  %status = phi i32 [ %status_to, %there_to ], [ %status_from, %home ]
  %good = icmp eq i32 %status, 0
  ret i1 %good
}}

; adds a row of native code for a record's data, in device memory with a kept block's bytes (0: no block)
define internal ptr @own_row(ptr %book, i32 %site, ptr %record, i64 %device, i64 %block) {{
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  ; where the CPU is the device, any queue may use the row, as all are looked at when it is removed
  %ways = %book->book.ways
  %looks = %ways has i64 {in_process}
  %flags = select i1 %looks, i64 {own_in_process}, i64 {own}
  %row = call ptr @insert_row(ptr %book, i64 %start, i64 %bytes, i64 %device, i64 %flags, i64 %block)
  %base = %record->record.base
  %row->entry.base = %base
  %var = %record->record.var
  %row->entry.site = %site
  %row->entry.var = %var
  %own_at = &%book->book.own
  call void @add_to(ptr %own_at, i64 1)
  ret ptr %row
}}

; returns a new row for a record's data: where it is, or in a kept block; null if none is suitable
define internal ptr @create(ptr %book, i32 %site, ptr %record) {{
entry:
  %count = %book->book.count
  %capacity = %book->book.capacity
  if ult i64 %count, %capacity: room, no
room:
  %remains = call i1 @remains(ptr %book, ptr %record)
  br i1 %remains, label %stay, label %search
stay:
  %start = call i64 @start_of(ptr %record)
  %shared = call ptr @own_row(ptr %book, i32 %site, ptr %record, i64 %start, i64 0)
  ret ptr %shared
search:
  %bytes = %record->record.bytes
  %block = call ptr @block_for(ptr %book, i64 %bytes)
  if ne ptr %block, null: take, no
take:
  %device = %block->block.device
  %size = %block->block.bytes
  %kept_at = &%book->book.kept
  call void @add_to(ptr %kept_at, i64 -1)
  %kept = load i64, ptr %kept_at
  %table = %book->book.blocks
  %last = getelementptr [2 x i64], ptr %table, i64 %kept
  %last_device = %last->block.device
  %last_size = %last->block.bytes
  %block->block.device = %last_device
  %block->block.bytes = %last_size
  %row = call ptr @own_row(ptr %book, i32 %site, ptr %record, i64 %device, i64 %size)
  ret ptr %row
no:
  ret ptr null
}}

; zeroes the first %bytes of a row made natively, if the device clears memory
define internal void @clear(ptr %book, ptr %row, i64 %bytes) {{
entry:
  %ways = %book->book.ways
  %way = and i64 %ways, {clears}
  if eq i64 %way, 0: done, zero
zero:
  %device = %row->entry.device
  %block = inttoptr i64 %device to ptr
  call void @llvm.memset.p0.i64(ptr %block, i8 0, i64 %bytes, i1 false)
  br label %done
done:
  ret void
}}

; enters a region whose records only count, find their cells, or create data in kept blocks; returns 1, or 2
; if the caller must wait for the stream, or 0 if some records need more, and nothing is changed. %queue: that
; of an asynchronous construct, or null; %rests: see @need
define internal i32 @enter_rows(ptr %device, ptr %book, ptr %busy_at, i32 %site, ptr %records, i32 %count,
    i1 %sync, ptr %queue, i1 %rests) {{
entry:
  ; the program's first address of the device's memory must come from Python
  %waits = %device->row.waits seq_cst
  %has_some = icmp ne i64 %waits, 0
  %allowed = %book->book.ways
  %may_have = %allowed has i64 {addresses}
  %has_addresses = and i1 %has_some, %may_have
  for i32 %i < %count: look, known
  %cells = phi i1 [ false, %entry ], [ %cells_now, %noted ]
  %new = phi i1 [ false, %entry ], [ %new_now, %noted ]
  %pointers = phi i1 [ false, %entry ], [ %pointers_now, %noted ]
look:
  %this = getelementptr %record, ptr %records, i32 %i
  %address_given = call i1 @is_address(ptr %this)
  br i1 %address_given, label %given, label %ask
given:
  br i1 %has_addresses, label %noted, label %no
ask:
  %asked = call i32 @need(ptr %book, i32 %site, ptr %records, i32 %count, i32 %i, i1 %sync,
      i1 %rests)
  %is_late = icmp eq i32 %asked, 4
  %no_queue = icmp eq ptr %queue, null
  %homeless = and i1 %is_late, %no_queue
  %for_python = icmp eq i32 %asked, 0
  %not_here = or i1 %homeless, %for_python
  br i1 %not_here, label %no, label %answered
answered:
  %inferred = call i1 @is_inferred(ptr %this)
  br i1 %inferred, label %others, label %noted
others:
  %alone = call i1 @apart(ptr %records, i32 %count, i32 %i)
  br i1 %alone, label %noted, label %no
noted:
  %need = phi i32 [ 1, %given ], [ %asked, %answered ], [ %asked, %others ]
  %is_cell = icmp eq i32 %need, 2
  %cells_now = or i1 %cells, %is_cell
  %is_new = icmp eq i32 %need, 3
  %new_now = or i1 %new, %is_new
  %pointer = %records[i32 %i]->record.pointer
  %is_pointer = icmp ne i64 %pointer, 0
  %pointers_now = or i1 %pointers, %is_pointer
  next %i
known:
  %busy = load i64, ptr %busy_at
  %is_busy = icmp ne i64 %busy, 0
  %occupied = and i1 %cells, %is_busy
  ; a pointer object may be in data that is still absent
  %unclear = and i1 %new, %pointers
  %refused = or i1 %occupied, %unclear
  br i1 %refused, label %no, label %record
record:
  %k = phi i32 [ 0, %known ], [ %k_next, %entered ]
  %made = phi i1 [ false, %known ], [ %made_now, %entered ]
  %moved = phi i1 [ false, %known ], [ %moved_now, %entered ]
  if ult i32 %k, %count: find, finish
find:
  %at = getelementptr %record, ptr %records, i32 %k
  %base = load i64, ptr %at
  %start = call i64 @start_of(ptr %at)
  %bytes = %at->record.bytes
  %flags = %at->record.flags
  %is_given = call i1 @is_address(ptr %at)
  br i1 %is_given, label %stay, label %search
search:
  %row = call ptr @covering(ptr %book, i64 %start, i64 %bytes)
  if eq ptr %row, null: missing, counted
counted:
  %found = phi ptr [ %row, %search ], [ %created, %again ], [ %created, %bare ], [ %created, %fill ]
  %is_made = phi i1 [ %made, %search ], [ true, %again ], [ true, %bare ], [ true, %fill ]
  %is_moved = phi i1 [ %moved, %search ], [ %moved, %again ], [ %moved, %bare ], [ true, %fill ]
  %address = call i64 @device_address(ptr %found, i64 %base)
  %at->record.device = %address
  %counter = call ptr @counter_of(ptr %found, ptr %at)
  call void @add_to(ptr %counter, i64 1)
  br label %entered
missing:
  br i1 %sync, label %own_cell, label %late
late:
  %fits = call i1 @may_be_late(ptr %book, ptr %at)
  br i1 %fits, label %later, label %elsewhere
later:
  call void @enter_context(ptr %device)
  %late_cell = call ptr @enter_late(ptr %book, ptr %queue, ptr %at)
  if eq ptr %late_cell, null: undo, entered_late
entered_late:
  %late_device = %late_cell->late.device
  %at->record.device = %late_device
  br label %entered
own_cell:
  %cell = call ptr @cell_of(ptr %book, i32 %site, ptr %records, i32 %k)
  if eq ptr %cell, null: elsewhere, store
store:
  %place = %cell->cell.slot
  %slot = inttoptr i64 %place to ptr
  %variable = inttoptr i64 %base to ptr
  call void @move_bytes(ptr %slot, ptr %variable, i64 %bytes)
  %cell_device = %cell->cell.device
  %at->record.device = %cell_device
  %cell->cell.base = %base
  %cell->cell.bytes = %bytes
  %cell->cell.open = 1
  store i64 1, ptr %busy_at
  br label %entered
elsewhere:
  %marked = %flags has i32 {flag_in_place}
  %ways = %book->book.ways
  %may_stay = %ways has i64 {in_place}
  %stays = and i1 %marked, %may_stay
  br i1 %stays, label %stay, label %make
stay:
  %at->record.device = %base
  br label %entered
make:
  %created = call ptr @create(ptr %book, i32 %site, ptr %at)
  if eq ptr %created, null: undo, again
again:
  %is_here = call i1 @is_shared(ptr %created)
  br i1 %is_here, label %counted, label %apart
apart:
  %comes = call i1 @is_kind(ptr %at, i32 {copy}, i32 {copyin})
  br i1 %comes, label %fill, label %bare
bare:
  call void @clear(ptr %book, ptr %created, i64 %bytes)
  br label %counted
fill:
  %filled = call i1 @transfer(ptr %device, ptr %book, ptr %at, ptr %created, i1 false)
  br i1 %filled, label %counted, label %empty
empty:
  call void @let_go(ptr %book, ptr %created)
  br label %undo
entered:
  %made_now = phi i1 [ %is_made, %counted ], [ %made, %store ], [ %made, %stay ],
      [ %made, %entered_late ]
  %moved_now = phi i1 [ %is_moved, %counted ], [ %moved, %store ], [ %moved, %stay ],
      [ %moved, %entered_late ]
  %k_next = add i32 %k, 1
  br label %record
undo:
  ; Python stores a cell's value again
  call void @count_all(ptr %book, ptr %records, i32 %k, i64 -1)
  call void @sweep(ptr %book, ptr %records, i32 %k)
  call void @leave_cells(ptr %book, i32 %site, ptr %records, i32 %k, ptr %busy_at, i1 false)
  call void @drop_late(ptr %book, ptr %records, i32 %k)
  br label %no
finish:
  br i1 %made, label %tell, label %yes
tell:
  call void @changed(ptr %device)
  br label %yes
yes:
  %answer = select i1 %moved, i32 2, i32 1
  ret i32 %answer
no:
  ret i32 0
}}

; copies of these bytes between devices must look the data up again
define internal void @changed(ptr %device) {{
  %present_at = &%device->row.present
  %old = atomicrmw add ptr %present_at, i64 1 monotonic
  ret void
}}

; returns the open cell of a record, or null
define internal ptr @open_cell(ptr %book, i32 %site, ptr %records, i32 %i) {{
entry:
  %cell = call ptr @cell_of(ptr %book, i32 %site, ptr %records, i32 %i)
  if eq ptr %cell, null: no, compare
compare:
  %device = %records[i32 %i]->record.device
  %own = %cell->cell.device
  %same = icmp eq i64 %device, %own
  %in = %cell->cell.open
  %open = icmp ne i64 %in, 0
  %both = and i1 %same, %open
  br i1 %both, label %yes, label %no
yes:
  ret ptr %cell
no:
  ret ptr null
}}

; leaves the cells of the first %count records; %out: copies their values out
define internal void @leave_cells(ptr %book, i32 %site, ptr %records, i32 %count, ptr %busy_at, i1 %out) {{
entry:
  for i32 %i < %count: look, done
look:
  %cell = call ptr @open_cell(ptr %book, i32 %site, ptr %records, i32 %i)
  if eq ptr %cell, null: on, leave
leave:
  %cell->cell.open = 0
  store i64 0, ptr %busy_at
  br i1 %out, label %fetch, label %on
fetch:
  %place = %cell->cell.slot
  %slot = inttoptr i64 %place to ptr
  %base = %cell->cell.base
  %variable = inttoptr i64 %base to ptr
  %size = %cell->cell.bytes
  call void @move_bytes(ptr %variable, ptr %slot, i64 %size)
  br label %on
on:
  next %i
done:
  ret void
}}

; returns the row in which a record was counted, if native code has counted there, or null
define internal ptr @counted_in(ptr %book, ptr %record) {{
entry:
  %row = call ptr @row_of(ptr %book, ptr %record)
  if eq ptr %row, null: no, look
look:
  %counter = call ptr @counter_of(ptr %row, ptr %record)
  %counted = load i64, ptr %counter
  if sgt i64 %counted, 0: yes, no
yes:
  ret ptr %row
no:
  ret ptr null
}}

; returns whether no asynchronous queue may still use a row that native code has made
define internal i1 @unused(ptr %device, ptr %book) {{
entry:
  %ways = %book->book.ways
  %looks = %ways has i64 {in_process}
  %queues = %device->row.asynchronous as ptr
  %some = icmp ne ptr %queues, null
  %asks = and i1 %looks, %some
  br i1 %asks, label %begin, label %yes
begin:
  %count = load i64, ptr %queues
  for i64 %i < %count: look, yes
look:
  %number = add i64 %i, 1
  %queue = load ptr, ptr %queues[i64 %number]
  %rests = call i1 @rests(ptr %queue)
  br i1 %rests, label %on, label %no
on:
  next %i
yes:
  ret i1 true
no:
  ret i1 false
}}

; returns whether all work of a queue is finished
define internal i1 @rests(ptr %queue) {{
  %stream = %queue->queue.stream
  %status = call i32 inttoptr (i64 {stream_query} to ptr)(i64 %stream)
  %over = icmp eq i32 %status, 0
  ret i1 %over
}}

; leaves a region that `enter_rows` entered, with the same %queue and %rests; %waited: cells have their
; results
define internal i32 @exit_rows(ptr %device, ptr %book, ptr %busy_at, i32 %site, ptr %records, i32 %count,
    ptr %queue, i1 %rests, i1 %waited) {{
entry:
  %own_before = %book->book.own
  for i32 %i < %count: look, yes
  %moved = phi i1 [ false, %entry ], [ %moved_now, %on ]
look:
  %record = getelementptr %record, ptr %records, i32 %i
  %given = call i1 @is_address(ptr %record)
  br i1 %given, label %on, label %others
others:
  %simple = call i1 @simple(ptr %record)
  %attaches = call i1 @attaches(ptr %book, ptr %record)
  %alone = xor i1 %attaches, true
  %plain = and i1 %simple, %alone
  br i1 %plain, label %which, label %undo
which:
  %row = call ptr @counted_in(ptr %book, ptr %record)
  if eq ptr %row, null: uncounted, counted
counted:
  %counter = call ptr @counter_of(ptr %row, ptr %record)
  call void @add_to(ptr %counter, i64 -1)
  %over = call i1 @is_over(ptr %row)
  br i1 %over, label %last, label %on
last:
  %is_unused = call i1 @unused(ptr %device, ptr %book)
  br i1 %is_unused, label %ends, label %undo_this
ends:
  %leaves = call i1 @is_kind(ptr %record, i32 {copy}, i32 {copyout})
  %is_here = call i1 @is_shared(ptr %row)
  %is_away = xor i1 %is_here, true
  %goes_home = all %leaves %is_away %rests
  br i1 %goes_home, label %size, label %freed
size: ; what enter data has created may be large
  %bytes = %record->record.bytes
  %ways = %book->book.ways
  %may_copy = %ways has i64 {copies}
  %little = icmp ult i64 %bytes, {most_copied}
  %suits = and i1 %may_copy, %little
  br i1 %suits, label %home, label %undo_this
home:
  %copied = call i1 @transfer(ptr %device, ptr %book, ptr %record, ptr %row, i1 true)
  br i1 %copied, label %on, label %undo_this
freed:
  br i1 %rests, label %on, label %undo_this
undo_this:
  call void @add_to(ptr %counter, i64 1)
  br label %undo
uncounted:
  %late = call ptr @late_of(ptr %book, ptr %record)
  %is_late = icmp ne ptr %late, null
  %known = icmp ne ptr %queue, null
  %comes_later = and i1 %is_late, %known
  br i1 %comes_later, label %later, label %at_once
later:
  call void @enter_context(ptr %device)
  %left_later = call i1 @leave_late(ptr %queue, ptr %late)
  br i1 %left_later, label %on, label %undo
at_once:
  %cell = call ptr @open_cell(ptr %book, i32 %site, ptr %records, i32 %i)
  %in_cell = icmp ne ptr %cell, null
  %done = and i1 %in_cell, %waited
  br i1 %done, label %on, label %stayed
stayed:
  %base = %record->record.base
  %there = %record->record.device
  %same = icmp eq i64 %base, %there
  %flags = %record->record.flags
  %marked = %flags has i32 {flag_in_place}
  ; data that a region shares is at its host address too, but counted
  %start = call i64 @start_of(ptr %record)
  %extent = %record->record.bytes
  %present = call i1 @touched(ptr %book, i64 %start, i64 %extent)
  %absent = xor i1 %present, true
  %in_place = all %same %marked %absent
  br i1 %in_place, label %on, label %undo
on:
  %moved_now = phi i1 [ %moved, %counted ], [ true, %home ], [ %moved, %freed ],
      [ %moved, %at_once ], [ %moved, %stayed ], [ %moved, %look ], [ %moved, %later ]
  next %i
undo:
  call void @count_all(ptr %book, ptr %records, i32 %i, i64 1)
  ret i32 0
yes:
  call void @leave_cells(ptr %book, i32 %site, ptr %records, i32 %count, ptr %busy_at, i1 true)
  call void @sweep(ptr %book, ptr %records, i32 %count)
  %own_after = %book->book.own
  if ne i64 %own_before, %own_after: tell, left
tell:
  call void @changed(ptr %device)
  br label %left
left:
  %answer = select i1 %moved, i32 2, i32 1
  ret i32 %answer
}}
"""
