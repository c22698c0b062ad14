"""The bytes that a section selects, as native code (`text.py`)."""

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
