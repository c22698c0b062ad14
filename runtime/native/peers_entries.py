"""
LLVM IR of the entry points of `peers.py`: they find the copy in the table, or call Python.
"""

from __future__ import annotations

ENTRIES_IR = """
; makes the copy, if it is known; `%shape`: the words of `PeerUpdate` from `to_bytes` on if the sections
; are more than one run of bytes, else null
define internal i1 @known(i64 %target, i64 %source, i64 %size, i64 %to, i64 %origin, i64 %number,
    ptr %shape) {{
entry:
  %held = alloca %place
  %mine = call i32 @try_lock()
  if ne i32 %mine, 0: find, none
find:
  %i = phi i64 [ 0, %entry ], [ %next, %other ]
  %place = getelementptr %place, ptr inttoptr (i64 {places} to ptr), i64 %i
  %its_target = %place->place.target
  if eq i64 %its_target, %target: compare, other
compare:
  %its_source = %place->place.source
  %b = icmp eq i64 %its_source, %source
  %its_size = %place->place.size
  %c = icmp eq i64 %its_size, %size
  %its_to = %place->place.to
  %d = icmp eq i64 %its_to, %to
  %its_origin = %place->place.origin
  %e = icmp eq i64 %its_origin, %origin
  %its_number = %place->place.number
  %f = icmp eq i64 %its_number, %number
  %named = all %b %c %d %e %f
  br i1 %named, label %shapes, label %other
shapes:
  %held_shape = %place->place.shape as ptr
  %same = call i1 @same_shape(ptr %held_shape, ptr %shape)
  br i1 %same, label %found, label %other
other:
  %next = add i64 %i, 1
  if ult i64 %next, {count}: find, unknown
unknown:
  call void @unlock()
  br label %none
found:
  call void @llvm.memcpy.p0.p0.i64(ptr %held, ptr %place, i64 {bytes}, i1 false)
  call void @unlock()
  %to_present = %held->place.to_present
  %there = call i1 @is_present(i64 %to_present, i64 %to)
  %from_present = %held->place.from_present
  %here = call i1 @is_present(i64 %from_present, i64 %origin)
  %both = and i1 %there, %here
  br i1 %both, label %go, label %none
go:
  %done = call i1 @make(ptr %held, i64 %to, i64 %origin, i64 %number)
  ret i1 %done
none:
  ret i1 false
}}

define i32 @try_lock() {{
  %pair = cmpxchg ptr inttoptr (i64 {lock} to ptr), i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  %result = zext i1 %mine to i32
  ret i32 %result
}}

define void @unlock() {{
  store atomic i64 0, ptr inttoptr (i64 {lock} to ptr) release, align 8
  ret void
}}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @native_acc_memcpy_d2d(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin) {{
  %to_wide = sext i32 %to to i64
  %from_wide = sext i32 %origin to i64
  %done = call i1 @known(i64 %target, i64 %source, i64 %size, i64 %to_wide, i64 %from_wide, i64 {sync},
      ptr null)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_acc_memcpy_d2d} to ptr)(i64 %target, i64 %source, i64 %size, i32 %to,
      i32 %origin)
  br label %end
end:
  ret void
}}

define void @native_acc_memcpy_d2d_async(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin,
    i32 %queue) {{
  %to_wide = sext i32 %to to i64
  %from_wide = sext i32 %origin to i64
  %number = sext i32 %queue to i64
  %done = call i1 @known(i64 %target, i64 %source, i64 %size, i64 %to_wide, i64 %from_wide, i64 %number,
      ptr null)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_acc_memcpy_d2d_async} to ptr)(i64 %target, i64 %source, i64 %size, i32 %to,
      i32 %origin, i32 %queue)
  br label %end
end:
  ret void
}}

define void @native_acc_update_peer(i64 %target, i32 %to, i64 %source, i32 %origin, i64 %size) {{
  call void @native_acc_memcpy_d2d(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin)
  ret void
}}

; returns the first byte and the size of one side of a directive; size -1 for more than one run of bytes
define internal {{ i64, i64 }} @side(ptr %update, i64 %base, i64 %bytes, i64 %dims, i64 %shape) {{
  %start = load i64, ptr %update[i64 %base]
  %size = load i64, ptr %update[i64 %bytes]
  %count = load i64, ptr %update[i64 %dims]
  %shapes = load ptr, ptr %update[i64 %shape]
  %side = call {{ i64, i64 }} @run_of(i64 %start, i64 %size, i64 %count, ptr %shapes)
  ret {{ i64, i64 }} %side
}}

; returns whether two sections have the same shapes as before: four words (`to_bytes` to `from_dims`), and the
; triples, which follow them in `%held`, and to which `%given`, a part of a `PeerUpdate`, points
define internal i1 @same_shape(ptr %held, ptr %given) {{
entry:
  %was_run = icmp eq ptr %held, null
  %is_run = icmp eq ptr %given, null
  %both = and i1 %was_run, %is_run
  %either = or i1 %was_run, %is_run
  br i1 %either, label %runs, label %words
runs:
  ret i1 %both
words:
  %equal = call i1 @same_words(ptr %held, ptr %given, i64 4)
  br i1 %equal, label %to_side, label %no
to_side:
  %to_dims = load i64, ptr %given[i64 2]
  %to_count = mul i64 %to_dims, 3
  %to_held = getelementptr i64, ptr %held, i64 4
  %to_given = load ptr, ptr %given[i64 4]
  %to_equal = call i1 @same_words(ptr %to_held, ptr %to_given, i64 %to_count)
  br i1 %to_equal, label %from_side, label %no
from_side:
  %from_dims = load i64, ptr %given[i64 3]
  %from_count = mul i64 %from_dims, 3
  %from_held = getelementptr i64, ptr %to_held, i64 %to_count
  %from_given = load ptr, ptr %given[i64 5]
  %from_equal = call i1 @same_words(ptr %from_held, ptr %from_given, i64 %from_count)
  ret i1 %from_equal
no:
  ret i1 false
}}

define internal i1 @same_words(ptr %one, ptr %other, i64 %count) {{
entry:
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %look ]
  if ult i64 %i, %count: look, yes
look:
  %a = load i64, ptr %one[i64 %i]
  %b = load i64, ptr %other[i64 %i]
  %next = add i64 %i, 1
  if eq i64 %a, %b: test, no
yes:
  ret i1 true
no:
  ret i1 false
}}

define void @native___accopt_update_peer(i32 %site, ptr %update) {{
entry:
  %queue = %update->peer_update.queue
  %to = %update->peer_update.to_device
  %origin = %update->peer_update.from_device
  %t = call {{ i64, i64 }} @side(ptr %update, i64 0, i64 4, i64 6, i64 8)
  %s = call {{ i64, i64 }} @side(ptr %update, i64 1, i64 5, i64 7, i64 9)
  %size = extractvalue {{ i64, i64 }} %t, 1
  %other_size = extractvalue {{ i64, i64 }} %s, 1
  %equal = icmp eq i64 %size, %other_size
  %some = icmp sge i64 %size, 0
  %run = and i1 %equal, %some
  br i1 %run, label %as_run, label %shaped
as_run:
  %target = extractvalue {{ i64, i64 }} %t, 0
  %source = extractvalue {{ i64, i64 }} %s, 0
  %copied = call i1 @known(i64 %target, i64 %source, i64 %size, i64 %to, i64 %origin, i64 %queue,
      ptr null)
  br i1 %copied, label %end, label %slow
shaped:
  %base = %update->peer_update.to
  %other_base = %update->peer_update.origin
  %shape = &%update->peer_update.to_bytes
  %done = call i1 @known(i64 %base, i64 %other_base, i64 {shaped}, i64 %to, i64 %origin, i64 %queue,
      ptr %shape)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow___accopt_update_peer} to ptr)(i32 %site, ptr %update)
  br label %end
end:
  ret void
}}
"""
