"""
The data path in native code: `__accopt_data_enter` and `__accopt_data_exit` for constructs whose data
is present, as most constructs in a loop are.

Python (`quick_entry.py`) finds out what a construct's records stand for. If nothing had to move, and
the data would stay present without this construct, it *arms* the site: it leaves the records, with
the device addresses they found, in a `Slot`. From then on a native function compiled once per program
compares the records the host code brings with those of the slot, and the first words of compressed
arrays' descriptors (format and flags) with those of then. If they are equal it stores the device
addresses, tells the descriptors their coefficients, moves the values of reductions to or from their
cells, and counts in the slot how many regions are open. Anything else goes to the Python entry point.

The counters of the present table lack the regions open in slots. That is safe because

- a slot is armed only while Python's counters alone keep its entries present, and Python *disarms*
  all slots before one of these counters falls to zero and before a clause that is more than counting;
- to disarm is to add the open regions to the entries' counters: their exits then come to Python.

One word is the lock between the two sides. Native code only tries it, and calls Python if it is
taken, so it never waits.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .abi import RECORD_BYTES, Compression
from .cells import Cell
from .compression import Answer
from .present import Entry

WAYS = 2
"""Slots of a site: programs that swap two arrays bring their records in two versions."""

_SLOT_BYTES = 64
_TOLD = struct.Struct(f"={(ctypes.sizeof(Compression) - Compression.coefficients.offset) // 8}q")
_TOLD_WORDS = _TOLD.size // 8
_ANSWER_WORDS = 2 + _TOLD_WORDS
"""An answer to a descriptor: its address, its first word, and the words it is told."""

_IR = """
%slot = type {{ i64, i64, i64, i64, ptr, ptr, i64, ptr }}

; the slot of the site that holds these records (with %device: their device addresses too), or null
define internal ptr @find(i32 %site, ptr %records, i32 %count, i1 %device) {{
entry:
  %words = mul i32 %count, 8
  %wanted = zext i32 %words to i64
  %first = mul i32 %site, {ways}
  br label %way
way:
  %w = phi i32 [ 0, %entry ], [ %next_way, %other ]
  %index = add i32 %first, %w
  %slot = getelementptr %slot, ptr inttoptr (i64 {slots} to ptr), i32 %index
  %armed = load i64, ptr %slot
  %held_at = getelementptr %slot, ptr %slot, i32 0, i32 2
  %held = load i64, ptr %held_at
  %known_at = getelementptr %slot, ptr %slot, i32 0, i32 4
  %known = load ptr, ptr %known_at
  %is_armed = icmp ne i64 %armed, 0
  %same_count = icmp eq i64 %held, %wanted
  %fits = and i1 %is_armed, %same_count
  br i1 %fits, label %word, label %other
word:
  %i = phi i64 [ 0, %way ], [ %next_word, %equal ]
  %a_at = getelementptr i64, ptr %records, i64 %i
  %b_at = getelementptr i64, ptr %known, i64 %i
  %a = load i64, ptr %a_at
  %b = load i64, ptr %b_at
  %same = icmp eq i64 %a, %b
  %field = and i64 %i, 7
  %is_device = icmp eq i64 %field, 4
  %differs = xor i1 %device, true
  %skipped = and i1 %is_device, %differs
  %match = or i1 %same, %skipped
  br i1 %match, label %equal, label %other
equal:
  %next_word = add i64 %i, 1
  %more = icmp ult i64 %next_word, %wanted
  br i1 %more, label %word, label %found
found:
  ret ptr %slot
other:
  %next_way = add i32 %w, 1
  %again = icmp ult i32 %next_way, {ways}
  br i1 %again, label %way, label %none
none:
  ret ptr null
}}

; whether all compressed arrays' descriptors begin with the words they began with
define internal i1 @agree(ptr %slot) {{
entry:
  %count_at = getelementptr %slot, ptr %slot, i32 0, i32 6
  %count = load i64, ptr %count_at
  %answers_at = getelementptr %slot, ptr %slot, i32 0, i32 7
  %answers = load ptr, ptr %answers_at
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %look ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %yes
look:
  %at = getelementptr [{answer_words} x i64], ptr %answers, i64 %i
  %descriptor = load ptr, ptr %at
  %head_at = getelementptr i64, ptr %at, i64 1
  %head = load i64, ptr %head_at
  %now = load i64, ptr %descriptor
  %same = icmp eq i64 %head, %now
  %next = add i64 %i, 1
  br i1 %same, label %test, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

; what compressed arrays' descriptors are told
define internal void @answer(ptr %slot) {{
entry:
  %count_at = getelementptr %slot, ptr %slot, i32 0, i32 6
  %count = load i64, ptr %count_at
  %answers_at = getelementptr %slot, ptr %slot, i32 0, i32 7
  %answers = load ptr, ptr %answers_at
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %told ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %take, label %done
take:
  %at = getelementptr [{answer_words} x i64], ptr %answers, i64 %i
  %descriptor = load ptr, ptr %at
  %place = getelementptr i8, ptr %descriptor, i64 {answer_at}
  %words = getelementptr i64, ptr %at, i64 2
  br label %word
word:
  %w = phi i64 [ 0, %take ], [ %next_word, %word ]
  %source = getelementptr i64, ptr %words, i64 %w
  %target = getelementptr i64, ptr %place, i64 %w
  %value = load i64, ptr %source
  store i64 %value, ptr %target
  %next_word = add i64 %w, 1
  %more_words = icmp ult i64 %next_word, {told_words}
  br i1 %more_words, label %word, label %told
told:
  %next = add i64 %i, 1
  br label %test
done:
  ret void
}}

; the values of reductions into their cells, or (%out) from them
define internal void @move(ptr %slot, i1 %out) {{
entry:
  %count_at = getelementptr %slot, ptr %slot, i32 0, i32 3
  %count = load i64, ptr %count_at
  %cells_at = getelementptr %slot, ptr %slot, i32 0, i32 5
  %cells = load ptr, ptr %cells_at
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %moved ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %take, label %done
take:
  %at = getelementptr [3 x i64], ptr %cells, i64 %i
  %variable = load ptr, ptr %at
  %cell_at = getelementptr i64, ptr %at, i64 1
  %cell = load ptr, ptr %cell_at
  %size_at = getelementptr i64, ptr %at, i64 2
  %size = load i64, ptr %size_at
  %from = select i1 %out, ptr %cell, ptr %variable
  %to = select i1 %out, ptr %variable, ptr %cell
  br label %byte
byte:
  %b = phi i64 [ 0, %take ], [ %next_byte, %byte ]
  %source = getelementptr i8, ptr %from, i64 %b
  %target = getelementptr i8, ptr %to, i64 %b
  %value = load i8, ptr %source
  store i8 %value, ptr %target
  %next_byte = add i64 %b, 1
  %more_bytes = icmp ult i64 %next_byte, %size
  br i1 %more_bytes, label %byte, label %moved
moved:
  %next = add i64 %i, 1
  br label %test
done:
  ret void
}}

define i32 @try_lock() {{
  %pair = cmpxchg ptr inttoptr (i64 {lock} to ptr), i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  %result = zext i1 %mine to i32
  ret i32 %result
}}

define void @unlock() {{
  store atomic i32 0, ptr inttoptr (i64 {lock} to ptr) release, align 4
  ret void
}}

define void @enter(i32 %site, ptr %records, i32 %count, i64 %queue) {{
entry:
  %mine = call i32 @try_lock()
  %locked = icmp ne i32 %mine, 0
  br i1 %locked, label %look, label %slow
look:
  %slot = call ptr @find(i32 %site, ptr %records, i32 %count, i1 false)
  %unknown = icmp eq ptr %slot, null
  br i1 %unknown, label %leave, label %check
check:
  %cells_at = getelementptr %slot, ptr %slot, i32 0, i32 3
  %cells = load i64, ptr %cells_at
  %has_cells = icmp ne i64 %cells, 0
  %busy_at = getelementptr i64, ptr inttoptr (i64 {busy} to ptr), i32 %site
  %busy = load i64, ptr %busy_at
  %is_busy = icmp ne i64 %busy, 0
  %async = icmp ne i64 %queue, -2
  %unfit = or i1 %is_busy, %async
  %no_cells = and i1 %has_cells, %unfit
  %agree = call i1 @agree(ptr %slot)
  %disagree = xor i1 %agree, true
  %refused = or i1 %no_cells, %disagree
  br i1 %refused, label %leave, label %take
take:
  %step = zext i1 %has_cells to i64
  %now_busy = add i64 %busy, %step
  store i64 %now_busy, ptr %busy_at
  %open_at = getelementptr %slot, ptr %slot, i32 0, i32 1
  %open = load i64, ptr %open_at
  %more_open = add i64 %open, 1
  store i64 %more_open, ptr %open_at
  call void @move(ptr %slot, i1 false)
  call void @answer(ptr %slot)
  %known_at = getelementptr %slot, ptr %slot, i32 0, i32 4
  %known = load ptr, ptr %known_at
  %number = zext i32 %count to i64
  br label %fill
fill:
  %i = phi i64 [ 0, %take ], [ %next, %fill ]
  %word = mul i64 %i, 8
  %field = add i64 %word, 4
  %source = getelementptr i64, ptr %known, i64 %field
  %target = getelementptr i64, ptr %records, i64 %field
  %device = load i64, ptr %source
  store i64 %device, ptr %target
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %number
  br i1 %more, label %fill, label %done
done:
  call void @unlock()
  ret void
leave:
  call void @unlock()
  br label %slow
slow:
  call void inttoptr (i64 {slow_enter} to ptr)(i32 %site, ptr %records, i32 %count, i64 %queue)
  ret void
}}

define void @exit(i32 %site, ptr %records, i32 %count, i64 %queue) {{
entry:
  %mine = call i32 @try_lock()
  %locked = icmp ne i32 %mine, 0
  br i1 %locked, label %look, label %slow
look:
  %slot = call ptr @find(i32 %site, ptr %records, i32 %count, i1 true)
  %unknown = icmp eq ptr %slot, null
  br i1 %unknown, label %leave, label %check
check:
  %open_at = getelementptr %slot, ptr %slot, i32 0, i32 1
  %open = load i64, ptr %open_at
  %is_open = icmp sgt i64 %open, 0
  br i1 %is_open, label %take, label %leave
take:
  %less_open = sub i64 %open, 1
  store i64 %less_open, ptr %open_at
  %cells_at = getelementptr %slot, ptr %slot, i32 0, i32 3
  %cells = load i64, ptr %cells_at
  %has_cells = icmp ne i64 %cells, 0
  %step = zext i1 %has_cells to i64
  %busy_at = getelementptr i64, ptr inttoptr (i64 {busy} to ptr), i32 %site
  %busy = load i64, ptr %busy_at
  %less_busy = sub i64 %busy, %step
  store i64 %less_busy, ptr %busy_at
  call void @move(ptr %slot, i1 true)
  call void @unlock()
  ret void
leave:
  call void @unlock()
  br label %slow
slow:
  call void inttoptr (i64 {slow_exit} to ptr)(i32 %site, ptr %records, i32 %count, i64 %queue)
  ret void
}}
"""


class _Slot(ctypes.Structure):
    """What native code reads and counts; `words` of `records` are compared, as 64-bit integers."""

    _fields_ = (
        ("armed", ctypes.c_int64),
        ("open", ctypes.c_int64),
        ("words", ctypes.c_int64),
        ("cell_count", ctypes.c_int64),
        ("records", ctypes.c_void_p),
        ("cells", ctypes.c_void_p),
        ("answer_count", ctypes.c_int64),
        ("answers", ctypes.c_void_p),
    )


@dataclass(frozen=True, slots=True)
class _Armed:
    """What an armed slot stands for, and the memory it points at."""

    site: int
    entries: Sequence[Entry]
    cells: Sequence[tuple[Cell, int, int]]
    """Each cell with the address and size of the variable it serves here."""
    records: ctypes.Array[ctypes.c_char]
    cell_table: ctypes.Array[ctypes.c_int64]
    answer_table: ctypes.Array[ctypes.c_int64]


class NativeData:
    """
    The compiled functions (`enter_address`, `exit_address`) and the slots of one program.

    `slow_enter` and `slow_exit`: C addresses of the Python entry points. All methods are called with
    the runtime's lock held.
    """

    def __init__(self, sites: int, slow_enter: int, slow_exit: int):
        self._slots = (_Slot * (WAYS * max(sites, 1)))()
        self._busy = (ctypes.c_int64 * max(sites, 1))()
        self._lock = ctypes.c_int32(0)
        self._armed: dict[int, _Armed] = {}
        self._next_way = [0] * max(sites, 1)
        llvm: Any = import_module("llvmlite.binding")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        text = _IR.format(
            ways=WAYS,
            answer_words=_ANSWER_WORDS,
            answer_at=Compression.coefficients.offset,
            told_words=_TOLD_WORDS,
            slots=ctypes.addressof(self._slots),
            busy=ctypes.addressof(self._busy),
            lock=ctypes.addressof(self._lock),
            slow_enter=slow_enter,
            slow_exit=slow_exit,
        )
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
        self._engine: Any = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        self._engine.finalize_object()
        address = self._engine.get_function_address
        self.enter_address: int = address("enter")
        self.exit_address: int = address("exit")
        self._try_lock = ctypes.CFUNCTYPE(ctypes.c_int32)(address("try_lock"))
        self._unlock = ctypes.CFUNCTYPE(None)(address("unlock"))

    def arm(
        self,
        site: int,
        records: bytes,
        entries: Sequence[Entry],
        cells: Sequence[Cell],
        answers: Sequence[Answer] = (),
    ) -> None:
        """
        Takes over the region just entered at `site`, whose `records` hold their device addresses
        and whose `entries` (those of `cells` among them) have been counted once for each record:
        these counts become the slot's first open region. `answers`: to the descriptors of compressed
        arrays, for as long as they ask for the same.
        """
        first = site * WAYS
        free = [i for i in range(first, first + WAYS) if i not in self._armed]
        index = free[0] if free else first + self._next_way[site]
        self._next_way[site] = (index - first + 1) % WAYS
        self._take_lock()
        try:
            self._disarm(index)
            buffer = ctypes.create_string_buffer(records, len(records))
            words = [word for c in cells for word in (c.base, c.slot, c.size)]
            table = (ctypes.c_int64 * max(len(words), 1))(*words)
            known = [(cell, cell.base, cell.size) for cell in cells]
            told = _answer_table(answers)
            self._armed[index] = _Armed(site, entries, known, buffer, table, told)
            for entry in entries:
                entry.structured -= 1
            self._busy[site] += 1 if cells else 0
            self._slots[index] = _Slot(
                1,
                1,
                len(records) // 8,
                len(cells),
                ctypes.addressof(buffer),
                ctypes.addressof(table),
                len(answers),
                ctypes.addressof(told),
            )
        finally:
            self._unlock()

    def settle(self, site: int) -> None:
        """Disarms the site's slots that have open regions: their next exit or entry is Python's."""
        first = site * WAYS
        indices = [i for i in range(first, first + WAYS) if i in self._armed]
        if indices:
            self._take_lock()
            try:
                for index in indices:
                    if self._slots[index].open:
                        self._disarm(index)
            finally:
                self._unlock()

    def disarm(self) -> None:
        """Disarms all slots: the counters of the present table are complete again."""
        if self._armed:
            self._take_lock()
            try:
                for index in list(self._armed):
                    self._disarm(index)
            finally:
                self._unlock()

    @property
    def armed(self) -> int:
        """How many slots are armed."""
        return len(self._armed)

    def _disarm(self, index: int) -> None:
        known = self._armed.pop(index, None)
        if known is None:
            return
        opened = self._slots[index].open
        self._slots[index].armed = 0
        for entry in known.entries:
            entry.structured += opened
        if opened and known.cells:
            self._busy[known.site] -= opened
            for cell, base, size in known.cells:
                cell.base, cell.size = base, size

    def _take_lock(self) -> None:
        while not self._try_lock():
            pass


def _answer_table(answers: Sequence[Answer]) -> ctypes.Array[ctypes.c_int64]:
    words = [
        word
        for answer in answers
        for word in (answer.address, answer.head, *_TOLD.unpack(answer.words))
    ]
    return (ctypes.c_int64 * max(len(words), 1))(*words)


assert ctypes.sizeof(_Slot) == _SLOT_BYTES and RECORD_BYTES == 64, "as in the code above"
