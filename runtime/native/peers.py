"""
Synchronous copies between two devices in native code, for those that have been made before.

Python (`peer.py`) makes the first copy of a run of bytes and remembers the device addresses of both sides in
a table. From then on, as long as neither device's present table changes (`DeviceRow.present`), native code
copies by itself if all queues of both devices are idle; else Python puts the copy after what is under way.
"""

from __future__ import annotations

import ctypes
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ...compiler.base.abi import ASYNC_SYNC, PeerUpdate
from .code import NativeCode
from .devices import ROW_IR, NativeDevices

PLACES = 32
"""Copies remembered: those of the halo exchange of a few arrays on eight devices."""


class _Place(ctypes.Structure):
    """A remembered copy: what the program names, what it is on the devices, and their queues' streams."""

    _fields_ = (
        ("target", ctypes.c_int64),
        ("source", ctypes.c_int64),
        ("size", ctypes.c_int64),
        ("to", ctypes.c_int64),
        ("origin", ctypes.c_int64),
        ("to_address", ctypes.c_int64),
        ("from_address", ctypes.c_int64),
        ("to_present", ctypes.c_int64),
        ("from_present", ctypes.c_int64),
        ("stream", ctypes.c_int64),
        ("streams", ctypes.c_int64),
        ("count", ctypes.c_int64),
    )


@dataclass(frozen=True, slots=True)
class PeerDriver:
    """Addresses of the driver's functions of these names."""

    copy: int
    query: int
    synchronize: int
    set_current: int


@dataclass(frozen=True, slots=True)
class Known:
    """A copy just made: host addresses, devices, device addresses; `stream` of the target's device."""

    target: int
    source: int
    size: int
    to: int
    origin: int
    to_address: int
    from_address: int
    stream: int
    streams: Sequence[int]


_KEPT = 4096
"""Lists of streams that other threads may still be reading, though their place has been taken."""
_WORDS = ctypes.sizeof(_Place) // 8

_IR = """
define internal i64 @field(ptr %place, i64 %word) alwaysinline {{
  %at = getelementptr i64, ptr %place, i64 %word
  %value = load i64, ptr %at
  ret i64 %value
}}

define internal i1 @is(ptr %place, i64 %word, i64 %value) alwaysinline {{
  %held = call i64 @field(ptr %place, i64 %word)
  %same = icmp eq i64 %held, %value
  ret i1 %same
}}

define internal ptr @row_of(i64 %number) {{
  %row = getelementptr %row, ptr inttoptr (i64 {rows} to ptr), i64 %number
  ret ptr %row
}}

define internal i1 @is_present(ptr %place, i64 %word, i64 %number) {{
  %row = call ptr @row_of(i64 %number)
  %present_at = getelementptr %row, ptr %row, i32 0, i32 15
  %present = load i64, ptr %present_at
  %same = call i1 @is(ptr %place, i64 %word, i64 %present)
  ret i1 %same
}}

; whether the driver has done all work of a place's streams
define internal i1 @idle(ptr %streams, i64 %count) {{
entry:
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %ask ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %ask, label %yes
ask:
  %at = getelementptr i64, ptr %streams, i64 %i
  %stream = load i64, ptr %at
  %status = call i32 inttoptr (i64 {query} to ptr)(i64 %stream)
  %next = add i64 %i, 1
  %done = icmp eq i32 %status, 0
  br i1 %done, label %test, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i1 @make(ptr %place, i64 %to, i64 %origin, i64 %size) {{
entry:
  %own = call ptr @row()
  %to_row = call ptr @row_of(i64 %to)
  %from_row = call ptr @row_of(i64 %origin)
  %to_at = getelementptr %row, ptr %to_row, i32 0, i32 2
  %from_at = getelementptr %row, ptr %from_row, i32 0, i32 2
  %own_at = getelementptr %row, ptr %own, i32 0, i32 2
  %to_context = load i64, ptr %to_at
  %from_context = load i64, ptr %from_at
  %own_context = load i64, ptr %own_at
  %streams_word = call i64 @field(ptr %place, i64 10)
  %streams = inttoptr i64 %streams_word to ptr
  %count = call i64 @field(ptr %place, i64 11)
  %from_set = call i32 inttoptr (i64 {set_current} to ptr)(i64 %from_context)
  %to_count = load i64, ptr %streams
  %from_streams = getelementptr i64, ptr %streams, i64 1
  %from_count = sub i64 %count, %to_count
  %from_idle = call i1 @idle(ptr %from_streams, i64 %from_count)
  %to_set = call i32 inttoptr (i64 {set_current} to ptr)(i64 %to_context)
  br i1 %from_idle, label %look, label %no
look:
  %to_streams = getelementptr i64, ptr %from_streams, i64 %from_count
  %to_idle = call i1 @idle(ptr %to_streams, i64 %to_count)
  br i1 %to_idle, label %go, label %no
go:
  %target = call i64 @field(ptr %place, i64 5)
  %source = call i64 @field(ptr %place, i64 6)
  %stream = call i64 @field(ptr %place, i64 9)
  %copied = call i32 inttoptr (i64 {copy} to ptr)(i64 %target, i64 %to_context, i64 %source,
      i64 %from_context, i64 %size, i64 %stream)
  %good = icmp eq i32 %copied, 0
  br i1 %good, label %join, label %no
join:
  %joined = call i32 inttoptr (i64 {synchronize} to ptr)(i64 %stream)
  %back = call i32 inttoptr (i64 {set_current} to ptr)(i64 %own_context)
  %done = icmp eq i32 %joined, 0
  ret i1 %done
no:
  %return = call i32 inttoptr (i64 {set_current} to ptr)(i64 %own_context)
  ret i1 false
}}

define internal i1 @known(i64 %target, i64 %source, i64 %size, i64 %to, i64 %origin) {{
entry:
  %held = alloca [{words} x i64]
  %pair = cmpxchg ptr inttoptr (i64 {lock} to ptr), i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %find, label %none
find:
  %i = phi i64 [ 0, %entry ], [ %next, %other ]
  %at = mul i64 %i, {words}
  %place = getelementptr i64, ptr inttoptr (i64 {places} to ptr), i64 %at
  %a = call i1 @is(ptr %place, i64 0, i64 %target)
  %b = call i1 @is(ptr %place, i64 1, i64 %source)
  %c = call i1 @is(ptr %place, i64 2, i64 %size)
  %d = call i1 @is(ptr %place, i64 3, i64 %to)
  %e = call i1 @is(ptr %place, i64 4, i64 %origin)
  %ab = and i1 %a, %b
  %cd = and i1 %c, %d
  %abcd = and i1 %ab, %cd
  %same = and i1 %abcd, %e
  br i1 %same, label %found, label %other
other:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {count}
  br i1 %more, label %find, label %unknown
unknown:
  store atomic i64 0, ptr inttoptr (i64 {lock} to ptr) release, align 8
  br label %none
found:
  call void @llvm.memcpy.p0.p0.i64(ptr %held, ptr %place, i64 {bytes}, i1 false)
  store atomic i64 0, ptr inttoptr (i64 {lock} to ptr) release, align 8
  %there = call i1 @is_present(ptr %held, i64 7, i64 %to)
  %here = call i1 @is_present(ptr %held, i64 8, i64 %origin)
  %both = and i1 %there, %here
  br i1 %both, label %go, label %none
go:
  %done = call i1 @make(ptr %held, i64 %to, i64 %origin, i64 %size)
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

define void @memcpy_d2d(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin) {{
  %to_wide = sext i32 %to to i64
  %from_wide = sext i32 %origin to i64
  %done = call i1 @known(i64 %target, i64 %source, i64 %size, i64 %to_wide, i64 %from_wide)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_d2d} to ptr)(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin)
  br label %end
end:
  ret void
}}

define void @update_peer(i64 %target, i32 %to, i64 %source, i32 %origin, i64 %size) {{
  call void @memcpy_d2d(i64 %target, i64 %source, i64 %size, i32 %to, i32 %origin)
  ret void
}}

; the first byte and the size of one side of a directive; a size of -1 for more than one dimension
define internal {{ i64, i64 }} @side(ptr %update, i64 %base, i64 %bytes, i64 %dims, i64 %shape) {{
entry:
  %start = call i64 @field(ptr %update, i64 %base)
  %size = call i64 @field(ptr %update, i64 %bytes)
  %count = call i64 @field(ptr %update, i64 %dims)
  %word = call i64 @field(ptr %update, i64 %shape)
  %triple = inttoptr i64 %word to ptr
  switch i64 %count, label %many [ i64 0, label %whole
                                   i64 1, label %one ]
whole:
  %w = insertvalue {{ i64, i64 }} poison, i64 %start, 0
  %whole_side = insertvalue {{ i64, i64 }} %w, i64 %size, 1
  ret {{ i64, i64 }} %whole_side
one:
  %lower = call i64 @field(ptr %triple, i64 0)
  %extent = call i64 @field(ptr %triple, i64 1)
  %stride = call i64 @field(ptr %triple, i64 2)
  %distance = mul i64 %lower, %stride
  %first = add i64 %start, %distance
  %length = mul i64 %extent, %stride
  %o = insertvalue {{ i64, i64 }} poison, i64 %first, 0
  %one_side = insertvalue {{ i64, i64 }} %o, i64 %length, 1
  ret {{ i64, i64 }} %one_side
many:
  ret {{ i64, i64 }} {{ i64 0, i64 -1 }}
}}

define void @directive(i32 %site, ptr %update) {{
entry:
  %queue = call i64 @field(ptr %update, i64 {queue_word})
  %sync = icmp eq i64 %queue, {sync}
  br i1 %sync, label %look, label %slow
look:
  %t = call {{ i64, i64 }} @side(ptr %update, i64 0, i64 4, i64 6, i64 8)
  %s = call {{ i64, i64 }} @side(ptr %update, i64 1, i64 5, i64 7, i64 9)
  %target = extractvalue {{ i64, i64 }} %t, 0
  %source = extractvalue {{ i64, i64 }} %s, 0
  %size = extractvalue {{ i64, i64 }} %t, 1
  %other_size = extractvalue {{ i64, i64 }} %s, 1
  %equal = icmp eq i64 %size, %other_size
  br i1 %equal, label %try, label %slow
try:
  %to = call i64 @field(ptr %update, i64 2)
  %origin = call i64 @field(ptr %update, i64 3)
  %done = call i1 @known(i64 %target, i64 %source, i64 %size, i64 %to, i64 %origin)
  br i1 %done, label %end, label %slow
slow:
  call void inttoptr (i64 {slow_directive} to ptr)(i32 %site, ptr %update)
  br label %end
end:
  ret void
}}
"""


class NativePeers:
    """
    The compiled functions for the devices of `devices`. `slow_d2d` and `slow_directive`: C addresses of
    `acc_memcpy_d2d` and `__accopt_update_peer` in Python.
    """

    def __init__(
        self, devices: NativeDevices, driver: PeerDriver, slow_d2d: int, slow_directive: int
    ):
        self._devices = devices
        self._places = (_Place * PLACES)()
        self._lock = ctypes.c_int64(0)
        self._streams: deque[object] = deque(maxlen=_KEPT)
        self._next = 0
        self._code = NativeCode(
            ROW_IR + _IR,
            {
                **devices.addresses,
                "places": ctypes.addressof(self._places),
                "lock": ctypes.addressof(self._lock),
                "copy": driver.copy,
                "query": driver.query,
                "synchronize": driver.synchronize,
                "set_current": driver.set_current,
                "slow_d2d": slow_d2d,
                "slow_directive": slow_directive,
            },
            {
                **devices.constants,
                "count": PLACES,
                "words": _WORDS,
                "bytes": ctypes.sizeof(_Place),
                "queue_word": PeerUpdate.queue.offset // 8,
                "sync": ASYNC_SYNC,
            },
        )
        address = self._code.address
        self._try_lock = ctypes.PYFUNCTYPE(ctypes.c_int32)(address("try_lock"))
        self._unlock = ctypes.PYFUNCTYPE(None)(address("unlock"))
        self.addresses = {
            "acc_memcpy_d2d": address("memcpy_d2d"),
            "acc_update_peer": address("update_peer"),
            "__accopt_update_peer": address("directive"),
        }

    def remember(self, known: Known, to_streams: Sequence[int]) -> None:
        """
        A copy that is native code's from now on; `known.streams`: those of the other device's queues. Called
        with the locks of both devices held, so that what is known of them is true now.
        """
        index = next(
            (i for i, p in enumerate(self._places) if (p.target, p.source) == (known.target, known.source)
             and (p.size, p.to, p.origin) == (known.size, known.to, known.origin)),
            self._next,
        )  # fmt: skip
        if index == self._next:
            self._next = (self._next + 1) % PLACES
        streams = (len(to_streams), *known.streams, *to_streams)
        table = (ctypes.c_int64 * len(streams))(*streams)
        rows = self._devices.rows
        place = _Place(
            known.target, known.source, known.size, known.to, known.origin,
            known.to_address, known.from_address,
            rows[known.to].present, rows[known.origin].present,
            known.stream, ctypes.addressof(table), len(streams) - 1,
        )  # fmt: skip
        self._streams.append(table)
        self._replace(index, place)

    def forget(self) -> None:
        """Everything comes to Python."""
        for index in range(PLACES):
            self._replace(index, _Place())

    def _replace(self, index: int, place: _Place) -> None:
        while not self._try_lock():  # for the few instructions that native code holds it
            time.sleep(0)
        self._places[index] = place
        self._unlock()
