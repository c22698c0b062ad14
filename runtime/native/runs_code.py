"""The bytes that a section selects, as native code (`text.py`): as one run, or as one rectangle of rows."""

from __future__ import annotations

RUN_IR = """
; returns the first byte and the size of a section of an object at %base: its %size bytes, or the bytes that
; %count triples of lower bound, extent and stride in bytes select, outermost first; size -1 for several runs
define internal {{ i64, i64 }} @run_of(i64 %base, i64 %size, i64 %count, ptr %shapes) {{
entry:
  if eq i64 %count, 0: done, inner
inner:
  %last = sub i64 %count, 1
  %innermost_at = getelementptr [3 x i64], ptr %shapes, i64 %last, i64 2
  %width = load i64, ptr %innermost_at
  br label %each
each:
  %i = phi i64 [ %last, %inner ], [ %before, %next ]
  %first = phi i64 [ %base, %inner ], [ %place, %next ]
  %run = phi i64 [ %width, %inner ], [ %length, %next ]
  %lower_at = getelementptr [3 x i64], ptr %shapes, i64 %i, i64 0
  %extent_at = getelementptr [3 x i64], ptr %shapes, i64 %i, i64 1
  %stride_at = getelementptr [3 x i64], ptr %shapes, i64 %i, i64 2
  %lower = load i64, ptr %lower_at
  %extent = load i64, ptr %extent_at
  %stride = load i64, ptr %stride_at
  %distance = mul i64 %lower, %stride
  %place = add i64 %first, %distance
  %one = icmp eq i64 %extent, 1
  %close = icmp eq i64 %stride, %run
  %together = or i1 %one, %close
  %some = icmp sgt i64 %extent, 0
  %good = and i1 %together, %some
  br i1 %good, label %next, label %many
next:
  %length = mul i64 %run, %extent
  %before = sub i64 %i, 1
  if sge i64 %before, 0: each, done
done:
  %from = phi i64 [ %base, %entry ], [ %place, %next ]
  %total = phi i64 [ %size, %entry ], [ %length, %next ]
  %half = insertvalue {{ i64, i64 }} poison, i64 %from, 0
  %result = insertvalue {{ i64, i64 }} %half, i64 %total, 1
  ret {{ i64, i64 }} %result
many:
  ret {{ i64, i64 }} {{ i64 0, i64 -1 }}
}}
"""

RECTANGLE_IR = """
; stores the first byte, the width, the number of rows and the distance between them of a section as in
; @run_of to four words; returns whether it is one rectangle of them (a run of bytes is one row)
define internal i1 @rectangle_of(i64 %base, i64 %size, i64 %count, ptr %shapes, ptr %words) {{
entry:
  if eq i64 %count, 0: done, inner
inner:
  %last = sub i64 %count, 1
  %innermost_at = getelementptr [3 x i64], ptr %shapes, i64 %last, i64 2
  %element = load i64, ptr %innermost_at
  br label %each
each:
  %i = phi i64 [ %last, %inner ], [ %before, %next ]
  %first = phi i64 [ %base, %inner ], [ %place, %next ]
  %width = phi i64 [ %element, %inner ], [ %new_width, %next ]
  %rows = phi i64 [ 1, %inner ], [ %new_rows, %next ]
  %pitch = phi i64 [ 0, %inner ], [ %new_pitch, %next ]
  %lower_at = getelementptr [3 x i64], ptr %shapes, i64 %i, i64 0
  %extent_at = getelementptr [3 x i64], ptr %shapes, i64 %i, i64 1
  %stride_at = getelementptr [3 x i64], ptr %shapes, i64 %i, i64 2
  %lower = load i64, ptr %lower_at
  %extent = load i64, ptr %extent_at
  %stride = load i64, ptr %stride_at
  %distance = mul i64 %lower, %stride
  %place = add i64 %first, %distance
  %one = icmp eq i64 %extent, 1
  %is_run = icmp eq i64 %pitch, 0
  %along = icmp eq i64 %stride, %width
  %more_run = and i1 %is_run, %along
  %past = mul i64 %rows, %pitch
  %below = icmp eq i64 %stride, %past
  %apart = icmp sgt i64 %stride, %width
  %opens = and i1 %is_run, %apart
  %some = icmp sgt i64 %extent, 0
  %fits = any %one %more_run %below %opens
  %good = and i1 %fits, %some
  br i1 %good, label %next, label %no
next:
  %several = xor i1 %one, true
  %widens = and i1 %several, %more_run
  %wider = mul i64 %width, %extent
  %new_width = select i1 %widens, i64 %wider, i64 %width
  %is_more = xor i1 %more_run, true
  %adds = and i1 %several, %is_more
  %higher = mul i64 %rows, %extent
  %new_rows = select i1 %adds, i64 %higher, i64 %rows
  %starts = and i1 %several, %opens
  %new_pitch = select i1 %starts, i64 %stride, i64 %pitch
  %before = sub i64 %i, 1
  if sge i64 %before, 0: each, done
done:
  %from = phi i64 [ %base, %entry ], [ %place, %next ]
  %bytes = phi i64 [ %size, %entry ], [ %new_width, %next ]
  %lines = phi i64 [ 1, %entry ], [ %new_rows, %next ]
  %step = phi i64 [ 0, %entry ], [ %new_pitch, %next ]
  store i64 %from, ptr %words
  store i64 %bytes, ptr %words[i64 1]
  store i64 %lines, ptr %words[i64 2]
  store i64 %step, ptr %words[i64 3]
  %right = icmp sgt i64 %bytes, 0
  ret i1 %right
no:
  ret i1 false
}}
"""
