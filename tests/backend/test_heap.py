"""The program's heap: fresh memory is zero, and it is the C library's memory."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest
from accopt.compiler.backend.heap import ask_for_large_pages, with_own_heap
from accopt.compiler.backend.jit import HostProgram

DECLARED = """
declare ptr @malloc(i64) nounwind
declare ptr @realloc(ptr, i64) nounwind
declare ptr @aligned_alloc(i64, i64) nounwind
declare i32 @posix_memalign(ptr, i64, i64) nounwind
declare ptr @calloc(i64, i64)
@text = constant [11 x i8] c"say @malloc"
@entry = global ptr @malloc
define ptr @new(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
define ptr @through_a_pointer(i64 %n) {
  %f = load ptr, ptr @entry
  %p = call ptr %f(i64 %n)
  ret ptr %p
}
define ptr @grow(ptr %p, i64 %n) {
  %q = call ptr @realloc(ptr %p, i64 %n)
  ret ptr %q
}
define ptr @aligned(i64 %n) {
  %p = call ptr @aligned_alloc(i64 128, i64 %n)
  ret ptr %p
}
define ptr @zeroed(i64 %n) {
  %p = call ptr @calloc(i64 %n, i64 1)
  ret ptr %p
}
define i32 @aligned_at(ptr %r, i64 %n) {
  %s = call i32 @posix_memalign(ptr %r, i64 256, i64 %n)
  ret i32 %s
}
"""
LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = LIBC.strdup.restype = ctypes.c_void_p
LIBC.free.argtypes = LIBC.strdup.argtypes = (ctypes.c_void_p,)
SIZES = [*range(1, 200, 7), *range(200, 5000, 333), 70_000, 140_000, 3 << 20]


def dirty_heap() -> None:
    """Blocks of all sizes, used and given back."""
    blocks = [(LIBC.malloc(ctypes.c_size_t(n)), n) for n in SIZES for _ in range(20)]
    for block, n in blocks:
        ctypes.memset(block, 0x5A, n)
    for block, _ in blocks:
        LIBC.free(block)


@pytest.fixture
def program() -> HostProgram:
    dirty_heap()
    return HostProgram(DECLARED)


@pytest.mark.parametrize("name", ["new", "through_a_pointer", "aligned", "zeroed"])
def test_new_memory_is_zero(program: HostProgram, name: str) -> None:
    new = program.function(name, ctypes.c_void_p, ctypes.c_size_t)
    blocks = [(new(n // 128 * 128 + 128), n) for n in SIZES for _ in range(10)]
    assert all(ctypes.string_at(block, n) == bytes(n) for block, n in blocks)
    assert name != "aligned" or all(block % 128 == 0 for block, _ in blocks)
    for block, _ in blocks:
        LIBC.free(block)


def test_memory_by_reference_is_zero(program: HostProgram) -> None:
    new = program.function("aligned_at", ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
    block = ctypes.c_void_p()
    for n in SIZES:
        assert new(ctypes.addressof(block), n) == 0 and (block.value or 1) % 256 == 0
        assert ctypes.string_at(block, n) == bytes(n)
        LIBC.free(block)


def test_what_is_added_is_zero_and_what_was_there_stays(program: HostProgram) -> None:
    grow = program.function("grow", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    block, before = 0, 0
    for n in SIZES:
        block = grow(block, n)
        assert ctypes.string_at(block, n) == b"\x11" * before + bytes(n - before)
        ctypes.memset(block, 0x11, n)
        before = n
    block = grow(block, 40)
    assert ctypes.string_at(block, 40) == b"\x11" * 40
    LIBC.free(block)


def test_memory_of_the_library_can_be_grown(program: HostProgram) -> None:
    grow = program.function("grow", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    block = grow(LIBC.strdup(b"words"), 9000)
    assert ctypes.string_at(block, 6) == b"words\0"
    assert ctypes.string_at(block + 32, 8000) == bytes(8000)
    LIBC.free(block)


def flags_at(address: int) -> str:
    """What Linux has noted of the mapping that holds an address."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if found := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(found[1], 16) <= address < int(found[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return line
    return ""


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="a system without large pages"
)
def test_large_memory_is_asked_to_be_in_large_pages(program: HostProgram) -> None:
    # A block of its own, not what this process has freed before: that one keeps what it has been told.
    LIBC.malloc_trim(0)
    large, wanted = 512 << 20, ctypes.c_void_p()
    new = {
        name: program.function(name, ctypes.c_void_p, ctypes.c_size_t)
        for name in ("new", "zeroed", "aligned")
    }
    blocks = [function(large) for function in new.values()]
    grow = program.function("grow", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    blocks.append(grow(LIBC.malloc(100), large))
    program.function("aligned_at", ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)(
        ctypes.addressof(wanted), large
    )
    blocks.append(wanted.value or 0)
    blocks.append(LIBC.malloc(ctypes.c_size_t(large)))
    ask_for_large_pages(blocks[-1], large)
    assert all(" hg" in flags_at(block) for block in blocks)
    assert all(" hg" in flags_at(block + large - 1) for block in blocks)
    for block in blocks:
        LIBC.free(block)


def test_texts_and_allocators_of_the_program_stay() -> None:
    changed = with_own_heap(DECLARED)
    assert 'c"say @malloc"' in changed and "call ptr @__accopt_malloc" in changed
    own = "define ptr @malloc(i64 %n) {\n  %p = call ptr @malloc(i64 1)\n  ret ptr %p\n}\n"
    assert with_own_heap(own) == own
    odd = "declare i32 @malloc(i32)\n"
    assert with_own_heap(odd) == odd
