"""
Native code (`text.py`) of the functions of `data.py`. It follows the code of the devices' rows, which hold
its tables, and that of regions that only count (`counted_regions_code.py`). Format fields: `ways`, slots of
a site; `tries`, how often a lock is tried; `slow_enter` and `slow_exit`, addresses of the Python entry
points; `answer_at` and `told_words`, the place and the number of words of answers to compressed arrays'
descriptors; those of the driver (`NativeDriver`) and of `NUMBER_IR`.
"""

LOCK_IR = """
; takes the lock of a device, unless a few attempts fail
define i32 @try_lock(ptr %row) {{
entry:
  %lock = &%row->row.lock
  br label %try
try:
  %i = phi i32 [ 0, %entry ], [ %next, %again ]
  %pair = cmpxchg ptr %lock, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  %next = add i32 %i, 1
  br i1 %mine, label %done, label %again
again:
  if ult i32 %next, {tries}: try, done
done:
  %result = zext i1 %mine to i32
  ret i32 %result
}}

define void @unlock(ptr %row) {{
  %row->row.lock = 0 release
  ret void
}}
"""
"""Behind the code of the devices' rows; `tries`, how often a lock is tried."""

TEMPLATE = """
; returns the slot of the site with these records (with %device: also their device addresses), or null
define internal ptr @find(ptr %slots, i32 %site, ptr %records, i32 %count, i1 %device) {{
entry:
  %words = mul i32 %count, 8
  %wanted = zext i32 %words to i64
  %first = mul i32 %site, {ways}
  br label %way
way:
  %w = phi i32 [ 0, %entry ], [ %next_way, %other ]
  %index = add i32 %first, %w
  %slot = getelementptr %slot, ptr %slots, i32 %index
  %armed = %slot->slot.armed
  %held = %slot->slot.words
  %known = %slot->slot.records
  %is_armed = icmp ne i64 %armed, 0
  %same_count = icmp eq i64 %held, %wanted
  %fits = and i1 %is_armed, %same_count
  br i1 %fits, label %word, label %other
word:
  %i = phi i64 [ 0, %way ], [ %next_word, %equal ]
  %a = load i64, ptr %records[i64 %i]
  %b = load i64, ptr %known[i64 %i]
  %same = icmp eq i64 %a, %b
  %field = and i64 %i, 7
  %is_device = icmp eq i64 %field, 4
  %differs = xor i1 %device, true
  %skipped = and i1 %is_device, %differs
  %match = or i1 %same, %skipped
  br i1 %match, label %equal, label %other
equal:
  %next_word = add i64 %i, 1
  if ult i64 %next_word, %wanted: word, found
found:
  ret ptr %slot
other:
  %next_way = add i32 %w, 1
  if ult i32 %next_way, {ways}: way, none
none:
  ret ptr null
}}

; returns whether the first words of all compressed arrays' descriptors are unchanged
define internal i1 @agree(ptr %slot) {{
entry:
  %count = %slot->slot.answer_count
  %answers = %slot->slot.answers
  for i64 %i < %count: look, yes
look:
  %descriptor = %answers[i64 %i]->answer.descriptor
  %head = %answers[i64 %i]->answer.head
  %now = load i64, ptr %descriptor
  if eq i64 %head, %now: on, no
on:
  next %i
yes:
  ret i1 true
no:
  ret i1 false
}}

; returns whether the memory at the records' pointers, on which the answer depends, is unchanged
define internal i1 @unchanged(ptr %slot) {{
entry:
  %count = %slot->slot.watch_count
  %watches = %slot->slot.watches
  for i64 %i < %count: look, yes
look:
  %memory = %watches[i64 %i]->watch.memory
  %words = %watches[i64 %i]->watch.words
  %copy = %watches[i64 %i]->watch.copy
  for i64 %w < %words: compare, equal
compare:
  %now = load i64, ptr %memory[i64 %w]
  %then = load i64, ptr %copy[i64 %w]
  if eq i64 %now, %then: same_word, no
same_word:
  next %w
equal:
  next %i
yes:
  ret i1 true
no:
  ret i1 false
}}

; stores the known answers to the compressed arrays' descriptors
define internal void @answer(ptr %slot) {{
entry:
  %count = %slot->slot.answer_count
  %answers = %slot->slot.answers
  for i64 %i < %count: take, done
take:
  %descriptor = %answers[i64 %i]->answer.descriptor
  %place = getelementptr i8, ptr %descriptor, i64 {answer_at}
  %words = &%answers[i64 %i]->answer.words
  for i64 %w < {told_words}: word, told
word:
  %value = load i64, ptr %words[i64 %w]
  store i64 %value, ptr %place[i64 %w]
  next %w
told:
  next %i
done:
  ret void
}}

; copies the values of reductions to their cells, or (%out) from them
define internal void @move(ptr %slot, i1 %out) {{
entry:
  %count = %slot->slot.cell_count
  %cells = %slot->slot.cells
  for i64 %i < %count: take, done
take:
  %variable = %cells[i64 %i]->served.variable
  %cell = %cells[i64 %i]->served.cell
  %size = %cells[i64 %i]->served.bytes
  %from = select i1 %out, ptr %cell, ptr %variable
  %to = select i1 %out, ptr %variable, ptr %cell
  call void @move_bytes(ptr %to, ptr %from, i64 %size)
  next %i
done:
  ret void
}}

; ends an entry or exit whose records were all counted; waits for copies if %counted is 2
define internal void @finish(ptr %row, ptr %book, i32 %counted) {{
entry:
  %stream = %book->book.stream
  call void @unlock(ptr %row)
  if eq i32 %counted, 2: wait, done
wait:
  %status = call i32 inttoptr (i64 {stream_synchronize} to ptr)(i64 %stream)
  br label %done
done:
  ret void
}}

; stores the device addresses of records of host_data; returns false if others are among them, or only Python
; has the answer. The program already knows addresses of this device (so its host waits for all constructs)
; and of these data, which any queue may use
define internal i1 @translate(ptr %device, ptr %book, ptr %records, i32 %count) {{
entry:
  %waits = %device->row.waits seq_cst
  %told = icmp ne i64 %waits, 0
  %some_records = icmp ne i32 %count, 0
  %may = and i1 %told, %some_records
  br i1 %may, label %begin, label %no
begin:
  for i32 %i < %count: look, yes
look:
  %base = %records[i32 %i]->record.base
  %kind = %records[i32 %i]->record.kind
  %uses = icmp eq i32 %kind, {use_device}
  %some = icmp ne i64 %base, 0
  %flags = %records[i32 %i]->record.flags
  %more = %flags has i32 {not_plain}
  %plain = xor i1 %more, true
  %good = all %uses %some %plain
  br i1 %good, label %find, label %no
find:
  %record = getelementptr %record, ptr %records, i32 %i
  %start = call i64 @start_of(ptr %record)
  %given = %record->record.bytes
  %positive = icmp sgt i64 %given, 0
  %bytes = select i1 %positive, i64 %given, i64 1
  %row = call ptr @covering(ptr %book, i64 %start, i64 %bytes)
  if eq ptr %row, null: no, present
present:
  %row_flags = %row->entry.flags
  %known = %row_flags has i64 {asynchronous}
  br i1 %known, label %store, label %no
store:
  %address = call i64 @device_address(ptr %row, i64 %base)
  %record->record.device = %address
  next %i
yes:
  ret i1 true
no:
  ret i1 false
}}

; returns the row of the thread's device, locked, or null if native code does not serve it
define internal ptr @locked_row() {{
entry:
  %row = call ptr @row()
  %slots = %row->row.slots as ptr
  if ne ptr %slots, null: try, no
try:
  %mine = call i32 @try_lock(ptr %row)
  if ne i32 %mine, 0: yes, no
yes:
  ret ptr %row
no:
  ret ptr null
}}

; returns the queue of an asynchronous construct; null for others, and if native code does not know it
define internal ptr @queue_named(ptr %row, i64 %number, i1 %sync) {{
entry:
  %queues = %row->row.queues as ptr
  %none = icmp eq ptr %queues, null
  %slot = call i64 @slot_of(i64 %number)
  %no_slot = icmp slt i64 %slot, 0
  %unknown = any %sync %none %no_slot
  br i1 %unknown, label %no, label %yes
yes:
  %queue = load ptr, ptr %queues[i64 %slot]
  ret ptr %queue
no:
  ret ptr null
}}

; returns whether all work of a construct's queue is done when native code has done it: the synchronous queue,
; or one of the CPU's that is at rest
define internal i1 @is_done_at_once(ptr %book, ptr %queue, i1 %sync) {{
entry:
  %ways = %book->book.ways
  %looks = %ways has i64 {in_process}
  %known = icmp ne ptr %queue, null
  %asks = and i1 %looks, %known
  br i1 %asks, label %ask, label %end
ask:
  %rests = call i1 @rests(ptr %queue)
  br label %end
end:
  %result = phi i1 [ %sync, %entry ], [ %rests, %ask ]
  ret i1 %result
}}

define void @enter(i32 %site, ptr %records, i32 %count, i64 %queue) {{
entry:
  %row = call ptr @locked_row()
  if ne ptr %row, null: look, slow
look:
  %slots = %row->row.slots as ptr
  %busy_table = %row->row.busy as ptr
  %busy_at = getelementptr i64, ptr %busy_table, i32 %site
  %sync = call i1 @is_synchronous(i64 %queue)
  %book = %row->row.book as ptr
  %translated = call i1 @translate(ptr %row, ptr %book, ptr %records, i32 %count)
  br i1 %translated, label %told, label %count_them
told:
  call void @unlock(ptr %row)
  ret void
count_them:
  %own_queue = call ptr @queue_named(ptr %row, i64 %queue, i1 %sync)
  %rests = call i1 @is_done_at_once(ptr %book, ptr %own_queue, i1 %sync)
  %counted = call i32 @enter_rows(ptr %row, ptr %book, ptr %busy_at, i32 %site, ptr %records, i32 %count,
      i1 %sync, ptr %own_queue, i1 %rests)
  if ne i32 %counted, 0: over, search
over:
  call void @finish(ptr %row, ptr %book, i32 %counted)
  ret void
search:
  %slot = call ptr @find(ptr %slots, i32 %site, ptr %records, i32 %count, i1 false)
  if eq ptr %slot, null: leave, check
check:
  %cells = %slot->slot.cell_count
  %has_cells = icmp ne i64 %cells, 0
  %busy = load i64, ptr %busy_at
  %is_busy = icmp ne i64 %busy, 0
  %async = xor i1 %sync, true
  %unfit = or i1 %is_busy, %async
  %cells_unfit = and i1 %has_cells, %unfit
  %asynchronous = %slot->slot.asynchronous
  %sync_only = icmp eq i64 %asynchronous, 0
  %untold = and i1 %sync_only, %async
  %agree = call i1 @agree(ptr %slot)
  %disagree = xor i1 %agree, true
  %unchanged = call i1 @unchanged(ptr %slot)
  %changed = xor i1 %unchanged, true
  %refused = any %cells_unfit %untold %disagree %changed
  br i1 %refused, label %leave, label %take
take:
  %step = zext i1 %has_cells to i64
  %now_busy = add i64 %busy, %step
  store i64 %now_busy, ptr %busy_at
  %open = %slot->slot.open
  %more_open = add i64 %open, 1
  %slot->slot.open = %more_open
  call void @move(ptr %slot, i1 false)
  call void @answer(ptr %slot)
  %known = %slot->slot.records
  %number = zext i32 %count to i64
  br label %fill
fill:
  %i = phi i64 [ 0, %take ], [ %next, %fill ]
  %word = mul i64 %i, 8
  %field = add i64 %word, 4
  %device = load i64, ptr %known[i64 %field]
  store i64 %device, ptr %records[i64 %field]
  %next = add i64 %i, 1
  if ult i64 %next, %number: fill, done
done:
  call void @unlock(ptr %row)
  ret void
leave:
  call void @unlock(ptr %row)
  br label %slow
slow:
  call void inttoptr (i64 {slow_enter} to ptr)(i32 %site, ptr %records, i32 %count, i64 %queue)
  ret void
}}

define void @exit(i32 %site, ptr %records, i32 %count, i64 %queue) {{
entry:
  %row = call ptr @locked_row()
  if ne ptr %row, null: look, slow
look:
  %slots = %row->row.slots as ptr
  %busy_table = %row->row.busy as ptr
  %busy_at = getelementptr i64, ptr %busy_table, i32 %site
  %sync = call i1 @is_synchronous(i64 %queue)
  %waited = icmp ne i64 %queue, {on_device}
  %book = %row->row.book as ptr
  %own_queue = call ptr @queue_named(ptr %row, i64 %queue, i1 %sync)
  %rests = call i1 @is_done_at_once(ptr %book, ptr %own_queue, i1 %sync)
  %counted = call i32 @exit_rows(ptr %row, ptr %book, ptr %busy_at, i32 %site, ptr %records, i32 %count,
      ptr %own_queue, i1 %rests, i1 %waited)
  if ne i32 %counted, 0: over, search
over:
  call void @finish(ptr %row, ptr %book, i32 %counted)
  ret void
search:
  %slot = call ptr @find(ptr %slots, i32 %site, ptr %records, i32 %count, i1 true)
  if eq ptr %slot, null: leave, check
check:
  %open = %slot->slot.open
  %is_open = icmp sgt i64 %open, 0
  %cells = %slot->slot.cell_count
  %has_cells = icmp ne i64 %cells, 0
  %no_cells = xor i1 %has_cells, true
  %done = or i1 %no_cells, %waited
  %good = and i1 %is_open, %done
  br i1 %good, label %take, label %leave
take:
  %less_open = sub i64 %open, 1
  %slot->slot.open = %less_open
  %step = zext i1 %has_cells to i64
  %busy = load i64, ptr %busy_at
  %less_busy = sub i64 %busy, %step
  store i64 %less_busy, ptr %busy_at
  call void @move(ptr %slot, i1 true)
  call void @unlock(ptr %row)
  ret void
leave:
  call void @unlock(ptr %row)
  br label %slow
slow:
  call void inttoptr (i64 {slow_exit} to ptr)(i32 %site, ptr %records, i32 %count, i64 %queue)
  ret void
}}
"""
