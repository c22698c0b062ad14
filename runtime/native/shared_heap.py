"""
The heap of programs that share memory between host and GPU (`-gpu=managed`): `malloc` and related functions
in one range of addresses. Blocks that do not fit come from the C library, and blocks from there (`strdup`,
`getline`, …) are freed there.

A block begins with its size. The word 8 bytes before its memory holds the distance of that memory from 16
bytes after the block's start (not zero for aligned memory). Sizes up to a mebibyte are powers of two, with
a list of free blocks for each; larger ones are multiples of 64 KiB, and the first free one that is at most
twice as large as requested is used. Memory that was not in a block before is assumed to be zero, as it
comes from the system and the GPU's driver.
"""

from __future__ import annotations

import ctypes

from .code import NativeCode

_NAMES = (
    "malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign", "posix_memalign",
    "malloc_usable_size",
)  # fmt: skip
_PREFIX = "accopt_shared_"

_CODE = """
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare ptr @calloc(i64, i64)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare i64 @malloc_usable_size(ptr)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@lock = internal global i32 0
@base = internal global i64 0
@next = internal global i64 0
@end = internal global i64 0
@lists = internal global [64 x i64] zeroinitializer

define void @accopt_shared_begin(i64 %base, i64 %size) {
  store i64 %base, ptr @base
  store i64 %base, ptr @next
  %end = add i64 %base, %size
  store i64 %end, ptr @end
  ret void
}

define internal void @enter() {
  br label %try
try:
  %old = atomicrmw xchg ptr @lock, i32 1 acquire
  if ne i32 %old, 0: try, done
done:
  ret void
}

define internal void @leave() {
  store atomic i32 0, ptr @lock release, align 4
  ret void
}

define internal i1 @is_shared(ptr %p) {
  %at = ptrtoint ptr %p to i64
  %base = load i64, ptr @base
  %end = load i64, ptr @end
  %above = icmp uge i64 %at, %base
  %below = icmp ult i64 %at, %end
  %in = and i1 %above, %below
  ret i1 %in
}

define internal ptr @list_of(i64 %block) {
  %small = icmp ule i64 %block, 1048576
  %power = call i64 @llvm.cttz.i64(i64 %block, i1 true)
  %index = select i1 %small, i64 %power, i64 63
  %list = getelementptr i64, ptr @lists, i64 %index
  ret ptr %list
}

; Returns the start of a block for n bytes, null if there is no space, and whether the block is new.
define internal { i64, i1 } @take(i64 %n) {
entry:
  if ugt i64 %n, 1125899906842624: none, sized
sized:
  %wanted = add i64 %n, 16
  %most = call i64 @llvm.umax.i64(i64 %wanted, i64 32)
  %less = sub i64 %most, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 true)
  %bits = sub i64 64, %zeros
  %power = shl i64 1, %bits
  %up = add i64 %wanted, 65535
  %rounded = and i64 %up, -65536
  %small = icmp ule i64 %power, 1048576
  %block = select i1 %small, i64 %power, i64 %rounded
  %twice = shl i64 %block, 1
  call void @enter()
  %list = call ptr @list_of(i64 %block)
  br label %look
look:
  %link = phi ptr [ %list, %sized ], [ %behind, %on ]
  %free = load i64, ptr %link
  if ne i64 %free, 0: fits, fresh
fits:
  %start = inttoptr i64 %free to ptr
  %has = load i64, ptr %start
  %enough = icmp uge i64 %has, %block
  %close = icmp ule i64 %has, %twice
  %good = and i1 %enough, %close
  %behind = getelementptr i8, ptr %start, i64 16
  br i1 %good, label %again, label %on
on:
  br label %look
again:
  %following = load i64, ptr %behind
  store i64 %following, ptr %link
  call void @leave()
  br label %found
fresh:
  %next = load i64, ptr @next
  %end = load i64, ptr @end
  %room = sub i64 %end, %next
  if ult i64 %room, %block: without, new
new:
  %after = add i64 %next, %block
  store i64 %after, ptr @next
  call void @leave()
  %first = inttoptr i64 %next to ptr
  store i64 %block, ptr %first
  br label %found
found:
  %at = phi i64 [ %free, %again ], [ %next, %new ]
  %unused = phi i1 [ false, %again ], [ true, %new ]
  %place = inttoptr i64 %at to ptr
  %later = getelementptr i8, ptr %place, i64 8
  store i64 0, ptr %later
  %one = insertvalue { i64, i1 } undef, i64 %at, 0
  %both = insertvalue { i64, i1 } %one, i1 %unused, 1
  ret { i64, i1 } %both
without:
  call void @leave()
  br label %none
none:
  ret { i64, i1 } zeroinitializer
}

define ptr @accopt_shared_malloc(i64 %n) {
  %taken = call { i64, i1 } @take(i64 %n)
  %at = extractvalue { i64, i1 } %taken, 0
  if eq i64 %at, 0: other, own
other:
  %q = call ptr @malloc(i64 %n)
  ret ptr %q
own:
  %start = inttoptr i64 %at to ptr
  %p = getelementptr i8, ptr %start, i64 16
  ret ptr %p
}

define ptr @accopt_shared_calloc(i64 %count, i64 %each) {
  %product = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %count, i64 %each)
  %n = extractvalue { i64, i1 } %product, 0
  %over = extractvalue { i64, i1 } %product, 1
  br i1 %over, label %other, label %ask
ask:
  %taken = call { i64, i1 } @take(i64 %n)
  %at = extractvalue { i64, i1 } %taken, 0
  %unused = extractvalue { i64, i1 } %taken, 1
  if eq i64 %at, 0: other, own
other:
  %q = call ptr @calloc(i64 %count, i64 %each)
  ret ptr %q
own:
  %start = inttoptr i64 %at to ptr
  %p = getelementptr i8, ptr %start, i64 16
  br i1 %unused, label %done, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)
  br label %done
done:
  ret ptr %p
}

define internal ptr @start_of(ptr %p) {
  %word = getelementptr i8, ptr %p, i64 -8
  %later = load i64, ptr %word
  %back = sub i64 -16, %later
  %start = getelementptr i8, ptr %p, i64 %back
  ret ptr %start
}

define i64 @accopt_shared_malloc_usable_size(ptr %p) {
  %in = call i1 @is_shared(ptr %p)
  br i1 %in, label %own, label %other
other:
  %size = call i64 @malloc_usable_size(ptr %p)
  ret i64 %size
own:
  %start = call ptr @start_of(ptr %p)
  %block = load i64, ptr %start
  %from = ptrtoint ptr %start to i64
  %at = ptrtoint ptr %p to i64
  %end = add i64 %from, %block
  %rest = sub i64 %end, %at
  ret i64 %rest
}

define void @accopt_shared_free(ptr %p) {
  %in = call i1 @is_shared(ptr %p)
  br i1 %in, label %own, label %other
other:
  call void @free(ptr %p)
  ret void
own:
  %start = call ptr @start_of(ptr %p)
  %block = load i64, ptr %start
  %list = call ptr @list_of(i64 %block)
  %link = getelementptr i8, ptr %start, i64 16
  %from = ptrtoint ptr %start to i64
  call void @enter()
  %following = load i64, ptr %list
  store i64 %following, ptr %link
  store i64 %from, ptr %list
  call void @leave()
  ret void
}

define ptr @accopt_shared_realloc(ptr %p, i64 %n) {
  if eq ptr %p, null: allocate, known
allocate:
  %a = call ptr @accopt_shared_malloc(i64 %n)
  ret ptr %a
known:
  %in = call i1 @is_shared(ptr %p)
  br i1 %in, label %own, label %other
other:
  %b = call ptr @realloc(ptr %p, i64 %n)
  ret ptr %b
own:
  if eq i64 %n, 0: drop, some
drop:
  call void @accopt_shared_free(ptr %p)
  ret ptr null
some:
  %room = call i64 @accopt_shared_malloc_usable_size(ptr %p)
  if ule i64 %n, %room: stay, move
stay:
  ret ptr %p
move:
  %q = call ptr @accopt_shared_malloc(i64 %n)
  if eq ptr %q, null: sorry, copy
sorry:
  ret ptr null
copy:
  %bytes = call i64 @llvm.umin.i64(i64 %room, i64 %n)
  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 %bytes, i1 false)
  call void @accopt_shared_free(ptr %p)
  ret ptr %q
}

define ptr @accopt_shared_aligned_alloc(i64 %alignment, i64 %n) {
  %most = call i64 @llvm.umax.i64(i64 %alignment, i64 16)
  %more = add i64 %n, %most
  %taken = call { i64, i1 } @take(i64 %more)
  %at = extractvalue { i64, i1 } %taken, 0
  if eq i64 %at, 0: other, own
other:
  %q = call ptr @aligned_alloc(i64 %alignment, i64 %n)
  ret ptr %q
own:
  %plain = add i64 %at, 16
  %less = sub i64 %most, 1
  %up = add i64 %plain, %less
  %mask = sub i64 0, %most
  %aligned = and i64 %up, %mask
  %later = sub i64 %aligned, %plain
  %p = inttoptr i64 %aligned to ptr
  %word = getelementptr i8, ptr %p, i64 -8
  store i64 %later, ptr %word
  ret ptr %p
}

define ptr @accopt_shared_memalign(i64 %alignment, i64 %n) {
  %p = call ptr @accopt_shared_aligned_alloc(i64 %alignment, i64 %n)
  ret ptr %p
}

define i32 @accopt_shared_posix_memalign(ptr %out, i64 %alignment, i64 %n) {
  %p = call ptr @accopt_shared_aligned_alloc(i64 %alignment, i64 %n)
  if eq ptr %p, null: full, done
full:
  ret i32 12
done:
  store ptr %p, ptr %out
  ret i32 0
}
"""


class SharedHeap:
    """
    The functions of a heap in the `size` bytes at address `base`, which are zero. `functions`: their
    addresses by C's names. This object must live as long as a program uses them.
    """

    def __init__(self, base: int, size: int):
        self.base, self.size = base, size
        self._code = NativeCode(_CODE)
        begin = self._code.function(f"{_PREFIX}begin", None, ctypes.c_uint64, ctypes.c_uint64)
        begin(base, size)
        self.functions = {name: self._code.address(_PREFIX + name) for name in _NAMES}
