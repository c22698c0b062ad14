"""
Reports faults in a library of `accc -shared` that is loaded by a program of another compiler: the C line,
and the kind of pointer.

The library's constructor installs a handler for each signal for which the program has none, or another such
library has one, which is then called next. The handler looks for the library among the frames of the stack,
starts a process (`main`) that prints the report, and then lets the signal take its usual effect. Handlers
of the program, installed before or after, are not changed. For x86-64 only.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ...runtime.native.guard import Fault
from ..backend.elf import SHF_EXECINSTR, ElfFile
from ..backend.line_table import read_line_table
from ..base.diagnostics import UNKNOWN_LOC, CompileError, SourceLoc, render
from ..faults import explain

_SIGNALS = (11, 7, 8, 4, 6)
"""SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT."""
_MARK = 0x61636370740F0B0F
"""The bytes before the first instruction of every such handler, by which it is recognised."""
_FRAMES = 64
_CALLS = 16
"""The most calls that a report lists."""


def handler_code(*, traceback: bool) -> str:
    """LLVM IR of the handler, its constructor and destructor. `traceback`: reports list the callers."""
    packages = sysconfig.get_path("purelib")
    enter = f"import site; site.addsitedir({packages!r}); from {__name__} import main; main({traceback})"
    texts = {
        "python": sys.executable,
        "isolated": "-I",
        "dash_c": "-c",
        "enter": enter,
        "format": "%lx ",
        "lost": "accopt: a fault in a library of accc; the Python that would explain it was not found\n",
    }
    constants = "".join(
        f'@{name} = internal constant [{len(text.encode()) + 1} x i8] c"{_escaped(text)}"\n'
        for name, text in texts.items()
    )
    signals = ", ".join(f"i32 {number}" for number in _SIGNALS)
    return constants + _IR.format(
        signals=signals,
        count=len(_SIGNALS),
        mark=_MARK,
        frames=_FRAMES,
        lost=len(texts["lost"]),
    )


def _escaped(text: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in text.encode() + b"\0")


_IR = """
@__ehdr_start = external hidden global i8
@_end = external hidden global i8
@old = internal global [65 x [152 x i8]] zeroinitializer, align 8
@told = internal global i32 0
@file = internal global ptr null
@numbers = internal constant [{count} x i32] [{signals}]
@environ = external global ptr
%hook = type {{ i32, ptr, ptr }}
@llvm.global_ctors = appending global [1 x %hook] [%hook {{ i32 101, ptr @begin, ptr null }}]
@llvm.global_dtors = appending global [1 x %hook] [%hook {{ i32 101, ptr @finish, ptr null }}]
declare i32 @sigaction(i32, ptr, ptr)
declare i32 @sigaltstack(ptr, ptr)
declare ptr @malloc(i64)
declare i32 @backtrace(ptr, i32)
declare i32 @dladdr(ptr, ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare i64 @syscall(i64, ...)
declare i32 @execve(ptr, ptr, ptr)
declare void @_exit(i32)
declare i32 @waitpid(i32, ptr, i32)
declare i64 @write(i32, ptr, i64)
declare i32 @raise(i32)
declare i32 @pause()
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; Whether a handler belongs to such a library: then the word before its code has a mark.
define internal i1 @is_known(ptr %handler) {{
  %number = ptrtoint ptr %handler to i64
  %real = icmp ugt i64 %number, 4096
  br i1 %real, label %look, label %no
look:
  %before = getelementptr i8, ptr %handler, i64 -8
  %mark = load i64, ptr %before, align 1
  %known = icmp eq i64 %mark, {mark}
  ret i1 %known
no:
  ret i1 false
}}

define internal void @begin() {{
  %frames = alloca [4 x ptr]
  %loaded = call i32 @backtrace(ptr %frames, i32 4)
  %info = alloca [4 x ptr]
  %found = call i32 @dladdr(ptr @__ehdr_start, ptr %info)
  %name = load ptr, ptr %info
  store ptr %name, ptr @file
  %action = alloca [152 x i8], align 8
  br label %each
each:
  %n = phi i64 [ 0, %0 ], [ %next, %other ]
  %at = getelementptr i32, ptr @numbers, i64 %n
  %signal = load i32, ptr %at
  %wide = zext i32 %signal to i64
  %old = getelementptr [152 x i8], ptr @old, i64 %wide
  %asked = call i32 @sigaction(i32 %signal, ptr null, ptr %old)
  %handler = load ptr, ptr %old
  %none = icmp eq ptr %handler, null
  %known = call i1 @is_known(ptr %handler)
  %free = or i1 %none, %known
  br i1 %free, label %take, label %other
take:
  call void @llvm.memset.p0.i64(ptr %action, i8 0, i64 152, i1 false)
  store ptr @fault, ptr %action
  %flags = getelementptr i8, ptr %action, i64 136
  store i32 134217732, ptr %flags
  %set = call i32 @sigaction(i32 %signal, ptr %action, ptr null)
  br label %other
other:
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, {count}
  br i1 %more, label %each, label %stack
stack:
  %description = alloca [3 x i64]
  %shown = call i32 @sigaltstack(ptr null, ptr %description)
  %mode_at = getelementptr i64, ptr %description, i64 1
  %mode = load i32, ptr %mode_at
  %off = and i32 %mode, 2
  %without = icmp ne i32 %off, 0
  br i1 %without, label %make, label %end
make:
  %room = call ptr @malloc(i64 65536)
  store ptr %room, ptr %description
  store i64 0, ptr %mode_at
  %size_at = getelementptr i64, ptr %description, i64 2
  store i64 65536, ptr %size_at
  %given = call i32 @sigaltstack(ptr %description, ptr null)
  br label %end
end:
  ret void
}}

define internal void @finish() {{
  %current = alloca [152 x i8], align 8
  br label %each
each:
  %n = phi i64 [ 0, %0 ], [ %next, %other ]
  %at = getelementptr i32, ptr @numbers, i64 %n
  %signal = load i32, ptr %at
  %wide = zext i32 %signal to i64
  %asked = call i32 @sigaction(i32 %signal, ptr null, ptr %current)
  %handler = load ptr, ptr %current
  %ours = icmp eq ptr %handler, @fault
  br i1 %ours, label %restore, label %other
restore:
  %old = getelementptr [152 x i8], ptr @old, i64 %wide
  %set = call i32 @sigaction(i32 %signal, ptr %old, ptr null)
  br label %other
other:
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, {count}
  br i1 %more, label %each, label %end
end:
  ret void
}}

define internal i1 @inside(i64 %address) {{
  %low = icmp uge i64 %address, ptrtoint (ptr @__ehdr_start to i64)
  %high = icmp ult i64 %address, ptrtoint (ptr @_end to i64)
  %both = and i1 %low, %high
  ret i1 %both
}}

; Appends a number to the text, whose length is in %length.
define internal void @say(ptr %text, ptr %length, i64 %number) {{
  %before = load i64, ptr %length
  %end = getelementptr i8, ptr %text, i64 %before
  %written = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %end, i64 32, ptr @format, i64 %number)
  %wide = sext i32 %written to i64
  %after = add i64 %before, %wide
  store i64 %after, ptr %length
  ret void
}}

define internal void @fault(i32 %signal, ptr %info, ptr %context) prefix i64 {mark} {{
  %code_at = getelementptr i8, ptr %info, i64 8
  %code = load i32, ptr %code_at
  %address_at = getelementptr i8, ptr %info, i64 16
  %address = load i64, ptr %address_at
  %stack_at = getelementptr i8, ptr %context, i64 160
  %stack = load i64, ptr %stack_at
  %place_at = getelementptr i8, ptr %context, i64 168
  %place = load i64, ptr %place_at
  %error_at = getelementptr i8, ptr %context, i64 192
  %error = load i64, ptr %error_at
  %same = icmp eq i64 %place, %address
  %memory = icmp eq i32 %signal, 11
  %called = and i1 %same, %memory
  %text = alloca [4096 x i8], align 16
  %length = alloca i64
  store i64 0, ptr %length
  %wide_signal = zext i32 %signal to i64
  %wide_code = sext i32 %code to i64
  %mask = and i64 %error, 2
  call void @say(ptr %text, ptr %length, i64 %wide_signal)
  call void @say(ptr %text, ptr %length, i64 %wide_code)
  call void @say(ptr %text, ptr %length, i64 %address)
  call void @say(ptr %text, ptr %length, i64 %mask)
  call void @say(ptr %text, ptr %length, i64 %stack)
  call void @say(ptr %text, ptr %length, i64 ptrtoint (ptr @__ehdr_start to i64))
  call void @say(ptr %text, ptr %length, i64 %place)
  %ours = call i1 @inside(i64 %place)
  br i1 %called, label %caller, label %walk
caller:
  ; There is no code: the stack begins with the return address of the call.
  %top = inttoptr i64 %stack to ptr
  %return = load i64, ptr %top
  call void @say(ptr %text, ptr %length, i64 %return)
  %by_us = call i1 @inside(i64 %return)
  br i1 %by_us, label %tell, label %chain
walk:
  %frames = alloca [{frames} x i64]
  %count = call i32 @backtrace(ptr %frames, i32 {frames})
  %last = zext i32 %count to i64
  br label %each
each:
  %n = phi i64 [ 0, %walk ], [ %next, %step ]
  %seen = phi i1 [ false, %walk ], [ %seen_now, %step ]
  %any = phi i1 [ %ours, %walk ], [ %any_now, %step ]
  %more = icmp ult i64 %n, %last
  br i1 %more, label %look, label %looked
look:
  %frame_at = getelementptr i64, ptr %frames, i64 %n
  %frame = load i64, ptr %frame_at
  %is_place = icmp eq i64 %frame, %place
  br i1 %seen, label %one, label %skip
one:
  call void @say(ptr %text, ptr %length, i64 %frame)
  %is_ours = call i1 @inside(i64 %frame)
  %any_one = or i1 %any, %is_ours
  br label %step
skip:
  br label %step
step:
  %seen_now = phi i1 [ true, %one ], [ %is_place, %skip ]
  %any_now = phi i1 [ %any_one, %one ], [ %any, %skip ]
  %next = add i64 %n, 1
  br label %each
looked:
  br i1 %any, label %tell, label %chain
tell:
  %before = atomicrmw xchg ptr @told, i32 1 seq_cst
  %first = icmp eq i32 %before, 0
  br i1 %first, label %fork, label %wait
wait:
  %woken = call i32 @pause()
  br label %wait
fork:
  %file = load ptr, ptr @file
  %words = alloca [7 x ptr]
  store ptr @python, ptr %words
  %word_1 = getelementptr ptr, ptr %words, i64 1
  store ptr @isolated, ptr %word_1
  %word_2 = getelementptr ptr, ptr %words, i64 2
  store ptr @dash_c, ptr %word_2
  %word_3 = getelementptr ptr, ptr %words, i64 3
  store ptr @enter, ptr %word_3
  %word_4 = getelementptr ptr, ptr %words, i64 4
  store ptr %file, ptr %word_4
  %word_5 = getelementptr ptr, ptr %words, i64 5
  store ptr %text, ptr %word_5
  %word_6 = getelementptr ptr, ptr %words, i64 6
  store ptr null, ptr %word_6
  %environment = load ptr, ptr @environ
  ; clone(SIGCHLD), as fork would run handlers that the program has registered
  %child = call i64 (i64, ...) @syscall(i64 56, i64 17, i64 0, i64 0, i64 0, i64 0)
  %is_child = icmp eq i64 %child, 0
  br i1 %is_child, label %explain, label %parent
explain:
  %gone = call i32 @execve(ptr @python, ptr %words, ptr %environment)
  call void @_exit(i32 127)
  unreachable
parent:
  %status = alloca i32
  store i32 0, ptr %status
  %short = trunc i64 %child to i32
  %ended = call i32 @waitpid(i32 %short, ptr %status, i32 0)
  %result = load i32, ptr %status
  %fine = icmp eq i32 %result, 0
  br i1 %fine, label %default, label %lost
lost:
  %written = call i64 @write(i32 2, ptr @lost, i64 {lost})
  br label %default
chain:
  %old = getelementptr [152 x i8], ptr @old, i64 %wide_signal
  %handler = load ptr, ptr %old
  %none = icmp eq ptr %handler, null
  br i1 %none, label %default, label %call
call:
  call void %handler(i32 %signal, ptr %info, ptr %context)
  ret void
default:
  %action = alloca [152 x i8], align 8
  call void @llvm.memset.p0.i64(ptr %action, i8 0, i64 152, i1 false)
  %set = call i32 @sigaction(i32 %signal, ptr %action, ptr null)
  %sent = icmp sle i32 %code, 0
  br i1 %sent, label %again, label %end
again:
  %raised = call i32 @raise(i32 %signal)
  br label %end
end:
  ret void
}}
"""


@dataclass
class LoadedFile:
    """A library that is loaded at address `base`, with the contents of its file."""

    path: Path
    base: int

    @cached_property
    def elf(self) -> ElfFile:
        return ElfFile(self.path.read_bytes(), str(self.path))

    def function(self, address: int) -> str | None:
        """The name of the function that contains an address; None if there is none."""
        offset = address - self.base
        for symbol in (*self.elf.symbols, *self.elf.dynamic_symbols):
            if symbol.section and symbol.is_function_at(offset):
                return symbol.name
        return None

    def place(self, address: int) -> tuple[str, SourceLoc] | None:
        """Function and C line of an instruction; None for one that is not this file's."""
        name = self.function(address)
        if name is None:
            return None
        found = read_line_table(self.elf.data).at(0, address - self.base)
        loc = UNKNOWN_LOC if found is None else SourceLoc(found[0], found[1], max(found[2], 1))
        return name.partition(".")[0], loc

    def bytes_at(self, address: int) -> bytes:
        """The bytes at an address of code; empty if the file has no code there."""
        offset = address - self.base
        for s in self.elf.sections:
            if s.flags & SHF_EXECINSTR and s.address <= offset < s.address + s.size:
                at = s.offset + offset - s.address
                return self.elf.data[at : at + 1]
        return b""


def _mapped(process: int, address: int) -> LoadedFile | None:
    """The file that a process has mapped at an address (proc_pid_maps(5))."""
    starts: dict[str, int] = {}
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        span, _, offset, _, _, *name = line.split(maxsplit=5)
        begin, end = (int(part, 16) for part in span.split("-"))
        if name and name[0].startswith("/"):
            starts.setdefault(name[0], begin - int(offset, 16))
            if begin <= address < end:
                return LoadedFile(Path(name[0]), starts[name[0]])
    return None


def main(traceback: bool) -> None:
    """
    Prints an explanation of a fault to standard error, with the calls that led to it if `traceback`. The
    handler starts it in a process of its own, whose parent has the fault; the command line describes
    the fault.
    """
    path, numbers = sys.argv[1:3]
    signal, code, address, writes, stack, base, *places = (int(n, 16) for n in numbers.split())
    code -= (code >> 63) << 64
    fault = Fault(signal, code, address, bool(writes), stack, tuple(places))
    library = LoadedFile(Path(path), base)
    process = os.getppid()

    def function(at: int) -> str:
        try:
            found = _mapped(process, at)
            return (found and found.function(at)) or ""
        except (OSError, CompileError, ValueError):
            return ""

    diagnostic = explain(
        fault, [library], lambda _: None, library_function=function, bytes_at=library.bytes_at
    )
    notes = diagnostic.notes[:_CALLS] if traceback else ()
    print(render(replace(diagnostic, notes=notes)), file=sys.stderr, flush=True)
