"""
`__accopt_extent` in native code: the device memory that is mapped at a host address, from the rows of the
present table. Addresses that no row has, packed arrays, and a device in use by another thread are left to
Python.
"""

from __future__ import annotations

from .code import NativeCode
from .data import TRIES
from .data_code import LOCK_IR
from .devices import ROW_IR, NativeDevices
from .present_rows import LAYOUT
from .present_rows_code import TEMPLATE as ROWS_TEMPLATE

_IR = """
; stores the begin and end of the device memory of a row to %result
define internal void @store_extent(ptr %place, ptr %result) {{
  %begin = %place->entry.device
  %last = %place->entry.end
  %end = call i64 @device_address(ptr %place, i64 %last)
  store i64 %begin, ptr %result
  %second = getelementptr i64, ptr %result, i64 1
  store i64 %end, ptr %second
  ret void
}}

define void @native___accopt_extent(i64 %host, ptr %result) {{
entry:
  %row = call ptr @row()
  %book = %row->row.book as ptr
  if eq ptr %book, null: python, lock
lock:
  %mine = call i32 @try_lock(ptr %row)
  if ne i32 %mine, 0: begin, python
begin:
  %followed = %book->book.followed
  if ne i64 %followed, 0: find, leave
find:
  %place = call ptr @covering(ptr %book, i64 %host, i64 1)
  if eq ptr %place, null: leave, look
look:
  %flags = %place->entry.flags
  %counts = %flags has i64 {counts}
  br i1 %counts, label %found, label %leave
found:
  call void @store_extent(ptr %place, ptr %result)
  call void @unlock(ptr %row)
  ret void
leave:
  call void @unlock(ptr %row)
  br label %python
python:
  call void inttoptr (i64 {slow___accopt_extent} to ptr)(i64 %host, ptr %result)
  ret void
}}
"""


class NativeExtents:
    """The function (`addresses`, by its name) for the devices of `devices`; `slow`: that in Python."""

    def __init__(self, devices: NativeDevices, slow: int):
        self._code = NativeCode(
            ROW_IR + ROWS_TEMPLATE + LOCK_IR + _IR,
            {**devices.addresses, "slow___accopt_extent": slow},
            {**devices.constants, **LAYOUT, "tries": TRIES},
        )
        self.addresses = {"__accopt_extent": self._code.address("native___accopt_extent")}
