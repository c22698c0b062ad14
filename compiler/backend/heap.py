"""
The program's heap: memory that `malloc` and related functions return reads as zero when it is first used.

In a process that starts with the program, such memory comes fresh from the system and is zero, and some
programs rely on that by mistake. In our process, Python has used and freed memory before. So the program's
calls go through small functions in its own module, which clear the blocks they get from the C library. The
memory remains the C library's: blocks that the program allocates may be freed or grown elsewhere, and the
other way around (`strdup`, `getline`).

Blocks that were mapped for this call are fresh and need no clearing: bit 1 of the word before a block of
glibc's marks them. Small blocks come from the thread's own lists, which `calloc` of older versions does not
use.

For large fresh blocks the functions request large pages from Linux, which many systems use only on request:
loops over such arrays then have fewer TLB misses.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

_SMALL = 1032
"""The size of the largest block on a thread's own lists, in bytes."""
LARGE = 1 << 22
"""The size in bytes from which a block gets large pages."""
_PAGE = 4096
_HUGE_PAGES = 14
"""Linux's `MADV_HUGEPAGE`."""


@dataclass(frozen=True)
class _LibraryFunction:
    """A function of the C library: the signature it must be declared with, and the IR of its replacement."""

    result: str
    parameters: tuple[str, ...]
    body: str


_OWN = {
    "malloc": _LibraryFunction(
        "ptr",
        ("i64",),
        f"""
entry:
  %small = icmp ule i64 %0, {_SMALL}
  br i1 %small, label %listed, label %other
listed:
  %p = call ptr @malloc(i64 %0)
  %room = call i64 @malloc_usable_size(ptr %p)
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %room, i1 false)
  ret ptr %p
other:
  %q = call ptr @__accopt_zeroed(i64 1, i64 %0)
  ret ptr %q
""",
    ),
    "calloc": _LibraryFunction(
        "ptr",
        ("i64", "i64"),
        """
entry:
  %p = call ptr @__accopt_zeroed(i64 %0, i64 %1)
  ret ptr %p
""",
    ),
    "realloc": _LibraryFunction(
        "ptr",
        ("ptr", "i64"),
        """
entry:
  %old = call i64 @malloc_usable_size(ptr %0)
  %p = call ptr @realloc(ptr %0, i64 %1)
  %some = icmp ne ptr %p, null
  br i1 %some, label %grown, label %done
grown:
  %new = call i64 @malloc_usable_size(ptr %p)
  %more = icmp ugt i64 %new, %old
  br i1 %more, label %look, label %done
look:
  %fresh = call i1 @__accopt_is_fresh(ptr %p)
  br i1 %fresh, label %mapped, label %clear
mapped:
  call void @__accopt_mapped(ptr %p)
  br label %done
clear:
  %from = getelementptr i8, ptr %p, i64 %old
  %count = sub i64 %new, %old
  call void @llvm.memset.p0.i64(ptr %from, i8 0, i64 %count, i1 false)
  br label %done
done:
  ret ptr %p
""",
    ),
    "posix_memalign": _LibraryFunction(
        "i32",
        ("ptr", "i64", "i64"),
        """
entry:
  %status = call i32 @posix_memalign(ptr %0, i64 %1, i64 %2)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %clear, label %done
clear:
  %p = load ptr, ptr %0
  call void @__accopt_clear(ptr %p)
  br label %done
done:
  ret i32 %status
""",
    ),
} | {
    name: _LibraryFunction(
        "ptr",
        ("i64",) * count,
        f"""
entry:
  %p = call ptr @{name}({", ".join(f"i64 %{n}" for n in range(count))})
  call void @__accopt_clear(ptr %p)
  ret ptr %p
""",
    )
    for name, count in (("aligned_alloc", 2), ("memalign", 2), ("valloc", 1), ("pvalloc", 1))
}

_SERVICES = f"""
; LLVM assumes that the bytes before an allocated block are not accessed: so the block's origin is hidden
define internal i1 @__accopt_is_fresh(ptr %0) {{
  %hidden = call ptr asm "", "=r,0"(ptr %0)
  %word = getelementptr i8, ptr %hidden, i64 -8
  %size = load i64, ptr %word
  %bit = and i64 %size, 2
  %fresh = icmp ne i64 %bit, 0
  ret i1 %fresh
}}

; advises large pages for a fresh block's whole mapping, so that the system does not split it
define internal void @__accopt_mapped(ptr %0) {{
entry:
  %room = call i64 @malloc_usable_size(ptr %0)
  %large = icmp uge i64 %room, {LARGE}
  br i1 %large, label %ask, label %done
ask:
  %address = ptrtoint ptr %0 to i64
  %header = sub i64 %address, 16
  %page = and i64 %header, -{_PAGE}
  %end = add i64 %address, %room
  %bytes = sub i64 %end, %page
  %start = inttoptr i64 %page to ptr
  %status = call i32 @madvise(ptr %start, i64 %bytes, i32 {_HUGE_PAGES})
  br label %done
done:
  ret void
}}

define internal noalias ptr @__accopt_zeroed(i64 %0, i64 %1) {{
entry:
  %p = call ptr @calloc(i64 %0, i64 %1)
  %bytes = mul i64 %0, %1
  %large = icmp uge i64 %bytes, {LARGE}
  %some = icmp ne ptr %p, null
  %look = and i1 %large, %some
  br i1 %look, label %large_block, label %done
large_block:
  %fresh = call i1 @__accopt_is_fresh(ptr %p)
  br i1 %fresh, label %mapped, label %done
mapped:
  call void @__accopt_mapped(ptr %p)
  br label %done
done:
  ret ptr %p
}}

define internal void @__accopt_clear(ptr %0) {{
entry:
  %some = icmp ne ptr %0, null
  br i1 %some, label %look, label %done
look:
  %fresh = call i1 @__accopt_is_fresh(ptr %0)
  br i1 %fresh, label %mapped, label %clear
mapped:
  call void @__accopt_mapped(ptr %0)
  br label %done
clear:
  %room = call i64 @malloc_usable_size(ptr %0)
  call void @llvm.memset.p0.i64(ptr %0, i8 0, i64 %room, i1 false)
  br label %done
done:
  ret void
}}
"""

_USED = {
    "malloc_usable_size": "declare i64 @malloc_usable_size(ptr)",
    "calloc": "declare ptr @calloc(i64, i64)",
    "madvise": "declare i32 @madvise(ptr, i64, i32)",
    "llvm.memset.p0.i64": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
}


def ask_for_large_pages(block: int, size: int) -> None:
    """
    Requests large pages for a block of `size` bytes at `block` that Python code has just got from the C
    library, as the program's functions do. Failure, on a system without large pages, is ignored.
    """
    if size >= LARGE and ctypes.c_size_t.from_address(block - 8).value & 2:
        page = (block - 16) // _PAGE * _PAGE
        bytes_ = ctypes.c_size_t(block + size - page)
        ctypes.CDLL(None).madvise(ctypes.c_void_p(page), bytes_, _HUGE_PAGES)


_ALLOCATOR = ("malloc", "calloc", "realloc", "free", "malloc_usable_size")


def with_own_heap(ir: str) -> str:
    """
    LLVM IR text whose calls of `malloc` and related functions go through functions of its own. Programs
    that define an allocator themselves, and functions that are declared differently from the C library's,
    are not changed.
    """
    # A few lines of a large text: each start of a program comes here.
    heads = "\n".join(line for line in ir.split("\n") if line.startswith(("declare ", "define ")))
    if any(re.search(rf"^define [^@\n]*@{name}\(", heads, re.MULTILINE) for name in _ALLOCATOR):
        return ir
    found = [name for name, function in _OWN.items() if _is_declared(heads, name, function)]
    if not found:
        return ir
    parts = [_with_calls_of(ir.rstrip("\n"), found), _SERVICES]
    for own in found:
        function = _OWN[own]
        noalias = "noalias " if function.result == "ptr" and own != "realloc" else ""
        head = f"define internal {noalias}{function.result} @__accopt_{own}"
        parts.append(f"{head}({', '.join(function.parameters)}) {{{function.body}}}\n")
    parts += [
        text
        for used, text in _USED.items()
        if not re.search(rf"^declare [^@\n]*@{re.escape(used)}\(", heads, re.MULTILINE)
    ]
    return "\n".join(parts) + "\n"


def _with_calls_of(ir: str, names: list[str]) -> str:
    """The text with calls of `names` replaced by calls of its own functions; declarations and strings are
    not changed."""
    pieces: list[str] = []
    done = 0
    for match in re.finditer(rf"@(?:{'|'.join(names)})(?![\w.$-])", ir):
        start = ir.rfind("\n", 0, match.start()) + 1
        end = ir.find("\n", start)
        line = ir[start : end if end >= 0 else len(ir)]
        if not line.startswith("declare ") and ' c"' not in line:
            pieces += [ir[done : match.start()], "@__accopt_"]
            done = match.start() + 1
    return "".join([*pieces, ir[done:]])


def _is_declared(ir: str, name: str, function: _LibraryFunction) -> bool:
    parameters = ", ".join(rf"{p}[^,)\n]*" for p in function.parameters)
    pattern = rf"^declare [^@\n]*\b{function.result} @{name}\({parameters}\)"
    return re.search(pattern, ir, re.MULTILINE) is not None
