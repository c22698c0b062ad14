"""
Native code (`text.py`) for regions that are entered and left by the rows of the present table alone. It
follows the code of the devices' rows, with contexts, and that of `present_rows_code.py` in the same module.
Format fields: those of `LAYOUT`; `copy_to` and `copy_from`, addresses of functions as `cuMemcpyHtoDAsync`
and `cuMemcpyDtoHAsync`.
"""

TEMPLATE = """
; returns whether a clause only counts data that is present, and its section is not empty
define internal i1 @simple(ptr %record) {{
  %base = %record->record.base
  %some = icmp ne i64 %base, 0
  %bytes = %record->record.bytes
  %many = icmp sgt i64 %bytes, 0
  %kind = %record->record.kind
  %counts = icmp ule i32 %kind, {last_kind}
  %flags = %record->record.flags
  %further = and i32 %flags, {not_simple}
  %plain = icmp eq i32 %further, 0
  %dims = %record->record.dims
  %flat = icmp eq i32 %dims, 0
  %d = all %some %many %counts %plain %flat
  ret i1 %d
}}

; returns whether a record is a device address from the program (`deviceptr`)
define internal i1 @is_address(ptr %record) {{
  %kind = %record->record.kind
  %given = icmp eq i32 %kind, {deviceptr}
  %flags = %record->record.flags
  %more = %flags has i32 {not_simple}
  %plain = xor i1 %more, true
  %result = and i1 %given, %plain
  ret i1 %result
}}

; returns whether a record's pointer object has a copy on the device, to be attached
define internal i1 @attaches(ptr %book, ptr %record) {{
entry:
  %pointer = %record->record.pointer
  %none = icmp eq i64 %pointer, 0
  br i1 %none, label %no, label %look
look:
  %held = call i1 @touched(ptr %book, i64 %pointer, i64 8)
  ret i1 %held
no:
  ret i1 false
}}

; returns the cell of record %i of a site, if it fits its scalar, or null
define internal ptr @cell_of(ptr %book, i32 %site, ptr %records, i32 %i) {{
entry:
  %record = getelementptr %record, ptr %records, i32 %i
  %flags = %record->record.flags
  %marked = %flags has i32 {flag_cell}
  %offset = %record->record.offset
  %whole = icmp eq i64 %offset, 0
  %bytes = %record->record.bytes
  %small = icmp ule i64 %bytes, {cell_bytes}
  %sites = %book->book.cells
  %at = getelementptr ptr, ptr %sites, i32 %site
  %cells = load ptr, ptr %at
  %some = icmp ne ptr %cells, null
  %good = all %marked %whole %small %some
  br i1 %good, label %look, label %no
look:
  %count = load i64, ptr %cells
  %wide = zext i32 %i to i64
  %there = icmp ult i64 %wide, %count
  br i1 %there, label %take, label %no
take:
  %first = getelementptr i64, ptr %cells, i64 1
  %cell = getelementptr %cell, ptr %first, i64 %wide
  %place = %cell->cell.slot
  %known = icmp ne i64 %place, 0
  %result = select i1 %known, ptr %cell, ptr null
  ret ptr %result
no:
  ret ptr null
}}

; returns whether absent data of a record, which overlaps none before it in %records, can be created natively
define internal i1 @obtainable(ptr %book, ptr %records, i32 %i) {{
entry:
  %record = getelementptr %record, ptr %records, i32 %i
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %kind = %record->record.kind
  %flags = %record->record.flags
  %past = add i64 %start, %bytes
  %ways = %book->book.ways
  %is_marked = %flags has i32 {flag_in_place}
  %may_stay = %ways has i64 {in_place}
  %stays = and i1 %is_marked, %may_stay
  br i1 %stays, label %others, label %creation
creation:
  %may_create = %ways has i64 {creates}
  %frozen = %book->book.frozen
  %free = icmp eq i64 %frozen, 0
  %is_create = icmp eq i32 %kind, {create}
  %may_copy = %ways has i64 {copies}
  %little = icmp ult i64 %bytes, {most_copied}
  %allocates = icmp ule i32 %kind, {create}
  %is_copy = all %may_copy %little %allocates
  %creates = or i1 %is_create, %is_copy
  %further = and i32 %flags, {not_created}
  %plain = icmp eq i32 %further, 0
  %taken = call i1 @reserved(ptr %book, i64 %start, i64 %bytes)
  %untaken = xor i1 %taken, true
  %good = all %may_create %free %creates %plain %untaken
  br i1 %good, label %others, label %no
others:
  %j = phi i32 [ 0, %entry ], [ 0, %creation ], [ %next, %apart ]
  %more = icmp ult i32 %j, {most_absent}
  %before = icmp ult i32 %j, %i
  br i1 %before, label %compare, label %yes
compare:
  %other = getelementptr %record, ptr %records, i32 %j
  %other_start = call i64 @start_of(ptr %other)
  %other_bytes = %other->record.bytes
  %other_past = add i64 %other_start, %other_bytes
  %begins = icmp ult i64 %other_start, %past
  %ends = icmp ugt i64 %other_past, %start
  %over = and i1 %begins, %ends
  %far = xor i1 %more, true
  %bad = or i1 %over, %far
  br i1 %bad, label %no, label %apart
apart:
  %next = add i32 %j, 1
  br label %others
yes:
  ret i1 true
no:
  ret i1 false
}}

; returns what a record needs, before anything is changed: 0 Python, 1 counting, 2 a cell, 3 creation
define internal i32 @need(ptr %book, i32 %site, ptr %records, i32 %i, i1 %sync) {{
entry:
  %record = getelementptr %record, ptr %records, i32 %i
  %simple = call i1 @simple(ptr %record)
  %attaches = call i1 @attaches(ptr %book, ptr %record)
  %alone = xor i1 %attaches, true
  %plain = and i1 %simple, %alone
  br i1 %plain, label %look, label %python
look:
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %row = call ptr @covering(ptr %book, i64 %start, i64 %bytes)
  %absent = icmp eq ptr %row, null
  br i1 %absent, label %missing, label %present
present:
  %flags = %row->entry.flags
  %wanted = select i1 %sync, i64 {counts}, i64 {counts_asynchronous}
  %has = and i64 %flags, %wanted
  %counts = icmp eq i64 %has, %wanted
  %answer = zext i1 %counts to i32
  ret i32 %answer
missing:
  %partly = call i1 @touched(ptr %book, i64 %start, i64 %bytes)
  %nowhere = xor i1 %partly, true
  %pointer = %record->record.pointer
  %no_pointer = icmp eq i64 %pointer, 0
  %good = all %nowhere %no_pointer %sync
  br i1 %good, label %which, label %python
which:
  %cell = call ptr @cell_of(ptr %book, i32 %site, ptr %records, i32 %i)
  %fits = icmp ne ptr %cell, null
  br i1 %fits, label %in_cell, label %other
in_cell:
  ret i32 2
other:
  %can = call i1 @obtainable(ptr %book, ptr %records, i32 %i)
  %had = select i1 %can, i32 3, i32 0
  ret i32 %had
python:
  ret i32 0
}}

; returns whether a record's kind is one of these two
define internal i1 @is_kind(ptr %record, i32 %one, i32 %other) alwaysinline {{
  %kind = %record->record.kind
  %is_one = icmp eq i32 %kind, %one
  %is_other = icmp eq i32 %kind, %other
  %either = or i1 %is_one, %is_other
  ret i1 %either
}}

; copies a record's data to its row's block, or (%out) from there; returns false if the driver fails
define internal i1 @transfer(ptr %device, ptr %book, ptr %record, ptr %row, i1 %out) {{
entry:
  call void @enter_context(ptr %device)
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %host = %row->entry.host
  %there = %row->entry.device
  %distance = sub i64 %start, %host
  %place = add i64 %there, %distance
  %stream = %book->book.stream
  br i1 %out, label %home, label %there_to
there_to:
  %status_to = call i32 inttoptr (i64 {copy_to} to ptr)(i64 %place, i64 %start, i64 %bytes, i64 %stream)
  br label %done
home:
  %status_from = call i32 inttoptr (i64 {copy_from} to ptr)(i64 %start, i64 %place, i64 %bytes, i64 %stream)
  br label %done
done:
  %status = phi i32 [ %status_to, %there_to ], [ %status_from, %home ]
  %good = icmp eq i32 %status, 0
  ret i1 %good
}}

; takes a kept block for a record's data; returns false if none is suitable
define internal i1 @create(ptr %book, ptr %record) {{
entry:
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %block = call ptr @block_for(ptr %book, i64 %bytes)
  %found = icmp ne ptr %block, null
  %count = %book->book.count
  %capacity = %book->book.capacity
  %room = icmp ult i64 %count, %capacity
  %good = and i1 %found, %room
  br i1 %good, label %take, label %no
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
  call void @insert_row(ptr %book, i64 %start, i64 %bytes, i64 %device, i64 {own}, i64 %size)
  %own_at = &%book->book.own
  call void @add_to(ptr %own_at, i64 1)
  ret i1 true
no:
  ret i1 false
}}

; zeroes the first %bytes of a row made natively, if the device clears memory
define internal void @clear(ptr %book, ptr %row, i64 %bytes) {{
entry:
  %ways = %book->book.ways
  %way = and i64 %ways, {clears}
  %leaves = icmp eq i64 %way, 0
  br i1 %leaves, label %done, label %zero
zero:
  %device = %row->entry.device
  %block = inttoptr i64 %device to ptr
  call void @llvm.memset.p0.i64(ptr %block, i8 0, i64 %bytes, i1 false)
  br label %done
done:
  ret void
}}

; enters a region whose records only count, find their cells, or create data in kept blocks; returns 1, or 2
; if the caller must wait for the stream, or 0 if some records need more, and nothing is changed
define internal i32 @enter_rows(ptr %device, ptr %book, ptr %busy_at, i32 %site, ptr %records, i32 %count,
    i1 %sync) {{
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
  %asked = call i32 @need(ptr %book, i32 %site, ptr %records, i32 %i, i1 %sync)
  %python = icmp eq i32 %asked, 0
  br i1 %python, label %no, label %noted
noted:
  %need = phi i32 [ 1, %given ], [ %asked, %ask ]
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
  %more_records = icmp ult i32 %k, %count
  br i1 %more_records, label %find, label %finish
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
  %absent = icmp eq ptr %row, null
  br i1 %absent, label %missing, label %counted
counted:
  %found = phi ptr [ %row, %search ], [ %created, %bare ], [ %created, %fill ]
  %is_made = phi i1 [ %made, %search ], [ true, %bare ], [ true, %fill ]
  %is_moved = phi i1 [ %moved, %search ], [ %moved, %bare ], [ true, %fill ]
  %host = %found->entry.host
  %there = %found->entry.device
  %distance = sub i64 %base, %host
  %address = add i64 %there, %distance
  %at->record.device = %address
  %open_at = &%found->entry.open
  call void @add_to(ptr %open_at, i64 1)
  br label %entered
missing:
  %cell = call ptr @cell_of(ptr %book, i32 %site, ptr %records, i32 %k)
  %no_cell = icmp eq ptr %cell, null
  br i1 %no_cell, label %elsewhere, label %store
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
  %had = call i1 @create(ptr %book, ptr %at)
  br i1 %had, label %again, label %undo
again:
  %created = call ptr @covering(ptr %book, i64 %start, i64 %bytes)
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
  %made_now = phi i1 [ %is_made, %counted ], [ %made, %store ], [ %made, %stay ]
  %moved_now = phi i1 [ %is_moved, %counted ], [ %moved, %store ], [ %moved, %stay ]
  %k_next = add i32 %k, 1
  br label %record
undo:
  ; Python stores a cell's value again
  call void @count_all(ptr %book, ptr %records, i32 %k, i64 -1)
  call void @sweep(ptr %book, ptr %records, i32 %k)
  call void @leave_cells(ptr %book, i32 %site, ptr %records, i32 %k, ptr %busy_at, i1 false)
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
  %none = icmp eq ptr %cell, null
  br i1 %none, label %no, label %compare
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
  %none = icmp eq ptr %cell, null
  br i1 %none, label %on, label %leave
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

; returns the row in which a record was counted, if that has open regions, or null
define internal ptr @counted_in(ptr %book, ptr %record) {{
entry:
  %row = call ptr @row_of(ptr %book, ptr %record)
  %absent = icmp eq ptr %row, null
  br i1 %absent, label %no, label %look
look:
  %open = %row->entry.open
  %some = icmp sgt i64 %open, 0
  br i1 %some, label %yes, label %no
yes:
  ret ptr %row
no:
  ret ptr null
}}

; leaves a region that `enter_rows` entered; %waited: cells have their results
define internal i32 @exit_rows(ptr %device, ptr %book, ptr %busy_at, i32 %site, ptr %records, i32 %count,
    i1 %sync, i1 %waited) {{
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
  %absent = icmp eq ptr %row, null
  br i1 %absent, label %uncounted, label %counted
counted:
  %open_at = &%row->entry.open
  call void @add_to(ptr %open_at, i64 -1)
  %over = call i1 @is_over(ptr %row)
  br i1 %over, label %last, label %on
last:
  %leaves = call i1 @is_kind(ptr %record, i32 {copy}, i32 {copyout})
  %goes_home = and i1 %leaves, %sync
  br i1 %goes_home, label %home, label %freed
home:
  %copied = call i1 @transfer(ptr %device, ptr %book, ptr %record, ptr %row, i1 true)
  br i1 %copied, label %on, label %undo_this
freed:
  br i1 %sync, label %on, label %undo_this
undo_this:
  call void @add_to(ptr %open_at, i64 1)
  br label %undo
uncounted:
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
  %in_place = and i1 %same, %marked
  br i1 %in_place, label %on, label %undo
on:
  %moved_now = phi i1 [ %moved, %counted ], [ true, %home ], [ %moved, %freed ],
      [ %moved, %uncounted ], [ %moved, %stayed ], [ %moved, %look ]
  next %i
undo:
  call void @count_all(ptr %book, ptr %records, i32 %i, i64 1)
  ret i32 0
yes:
  call void @leave_cells(ptr %book, i32 %site, ptr %records, i32 %count, ptr %busy_at, i1 true)
  call void @sweep(ptr %book, ptr %records, i32 %count)
  %own_after = %book->book.own
  %gone = icmp ne i64 %own_before, %own_after
  br i1 %gone, label %tell, label %left
tell:
  call void @changed(ptr %device)
  br label %left
left:
  %answer = select i1 %moved, i32 2, i32 1
  ret i32 %answer
}}
"""
