"""
Native code (`text.py`) that decides what the records of a region need: only to count, a cell, data that is
created without Python, or Python. It follows `present_rows_code.py`. Format fields: those of `LAYOUT`, and
`check_pages`, the address of msync(2), 0 if there is none.
"""

TEMPLATE = """
; returns whether a record is of a region that the compiler inferred, which all of its records or none enter
define internal i1 @is_inferred(ptr %record) {{
  %flags = %record->record.flags
  %inferred = %flags has i32 {flag_inferred}
  ret i1 %inferred
}}

; returns whether a clause only counts data that is present, and its section is not empty
define internal i1 @simple(ptr %record) {{
  %base = %record->record.base
  %some = icmp ne i64 %base, 0
  %bytes = %record->record.bytes
  %many = icmp sgt i64 %bytes, 0
  %kind = %record->record.kind
  %stays = icmp ule i32 %kind, {last_kind}
  %deletes = icmp eq i32 %kind, {delete}
  %dynamic = call i1 @is_dynamic(ptr %record)
  %ends = and i1 %deletes, %dynamic
  %counts = or i1 %stays, %ends
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
  if eq i64 %pointer, 0: no, look
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
  %cells = load ptr, ptr %sites[i32 %site]
  %some = icmp ne ptr %cells, null
  %good = all %marked %whole %small %some
  br i1 %good, label %look, label %no
look:
  %count = load i64, ptr %cells
  %wide = zext i32 %i to i64
  if ult i64 %wide, %count: take, no
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

; returns whether the section of record %i overlaps none of the others, of which there are not too many
define internal i1 @apart(ptr %records, i32 %count, i32 %i) {{
entry:
  %record = getelementptr %record, ptr %records, i32 %i
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %past = add i64 %start, %bytes
  if ugt i32 %count, {most_apart}: no, others
others:
  for i32 %j < %count: compare, yes
compare:
  %other = getelementptr %record, ptr %records, i32 %j
  %other_start = call i64 @start_of(ptr %other)
  %other_bytes = %other->record.bytes
  %other_past = add i64 %other_start, %other_bytes
  %begins = icmp ult i64 %other_start, %past
  %ends = icmp ugt i64 %other_past, %start
  %differs = icmp ne i32 %j, %i
  %over = all %begins %ends %differs
  br i1 %over, label %no, label %on
on:
  next %j
yes:
  ret i1 true
no:
  ret i1 false
}}

; returns whether a record's data stays in the program's memory while the region has it, if it is absent
define internal i1 @remains(ptr %book, ptr %record) {{
  %flags = %record->record.flags
  %marked = %flags has i32 {flag_shared}
  %bytes = %record->record.bytes
  %long = icmp uge i64 %bytes, {checked_from}
  %ways = %book->book.ways
  %possible = %ways has i64 {in_place}
  %result = all %marked %long %possible
  ret i1 %result
}}

; returns whether all pages of a record's section are in the process's memory
define internal i1 @is_mapped(ptr %record) {{
entry:
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %offset = urem i64 %start, {page_bytes}
  %page = sub i64 %start, %offset
  %length = add i64 %bytes, %offset
  if eq i64 {check_pages}, 0: unknown, ask
ask:
  %failed = call i32 inttoptr (i64 {check_pages} to ptr)(i64 %page, i64 %length, i32 {check_only})
  %all = icmp eq i32 %failed, 0
  ret i1 %all
unknown:
  ret i1 false
}}

; returns whether absent data of record %i can be entered without Python: it stays, or gets a kept block
define internal i1 @obtainable(ptr %book, ptr %records, i32 %count, i32 %i) {{
entry:
  %record = getelementptr %record, ptr %records, i32 %i
  %start = call i64 @start_of(ptr %record)
  %bytes = %record->record.bytes
  %kind = %record->record.kind
  %flags = %record->record.flags
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
  %remains = call i1 @remains(ptr %book, ptr %record)
  %is_shared = and i1 %remains, %allocates
  %creates = any %is_create %is_copy %is_shared
  %further = and i32 %flags, {not_created}
  %plain = icmp eq i32 %further, 0
  %taken = call i1 @reserved(ptr %book, i64 %start, i64 %bytes)
  %untaken = xor i1 %taken, true
  %good = all %may_create %free %creates %plain %untaken
  br i1 %good, label %pages, label %no
pages: ; shorter sections end within memory that the heap keeps
  %many = icmp uge i64 %bytes, {checked_from}
  %moves = xor i1 %is_create, true
  %unsure = and i1 %many, %moves
  br i1 %unsure, label %check, label %others
check:
  %there = call i1 @is_mapped(ptr %record)
  br i1 %there, label %others, label %no
others:
  %alone = call i1 @apart(ptr %records, i32 %count, i32 %i)
  ret i1 %alone
no:
  ret i1 false
}}

; returns what a record needs, before anything is changed: 0 Python, 1 counting, 2 a cell, 3 creation, 4 a
; cell of an asynchronous construct. %rests: all work of the construct's queue is done when native code has
; done it
define internal i32 @need(ptr %book, i32 %site, ptr %records, i32 %count, i32 %i, i1 %sync, i1 %rests) {{
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
  if eq ptr %row, null: missing, present
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
  %good = all %nowhere %no_pointer
  br i1 %good, label %way, label %python
way:
  br i1 %sync, label %which, label %late
late:
  %fits = call i1 @may_be_late(ptr %book, ptr %record)
  br i1 %fits, label %in_late, label %behind
in_late:
  ret i32 4
behind:
  br i1 %rests, label %other, label %python
which:
  %cell = call ptr @cell_of(ptr %book, i32 %site, ptr %records, i32 %i)
  if ne ptr %cell, null: in_cell, other
in_cell:
  ret i32 2
other:
  %can = call i1 @obtainable(ptr %book, ptr %records, i32 %count, i32 %i)
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
"""
