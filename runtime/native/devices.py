"""
The device of each host thread, in a form for compiled code.

A thread's device is a variable of the thread (`pthread_getspecific`): the address of a *row*, one for each
device that the program may use and one for the host; null for the device to begin with. A row has the data
about its device that native code needs: the context to make current, and the tables of `launch.py` and
`data.py`. So a construct on one of many devices takes as long as on a single one.

    enter(i32 site, i64 number) -> i64 former      makes `number` the thread's device
    leave(i32 site, i64 former)                    makes the former one the thread's device again

Rows do not share cache lines, nor do the fields of a row that are written: threads with different devices
do not slow one another down.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable
from typing import Any

from ...compiler.base.abi import NO_DEVICE
from .code import NativeCode, offset_from
from .text import structure

_LINE = 64
ROW_BYTES = 3 * _LINE


@structure("row")
class DeviceRow(ctypes.Structure):
    """
    The data of a device for native code. `opened`: it has been used. `context`: the argument of
    `enter_context` that makes it current, 0 if that is not needed. `waits`: the host waits for synchronous
    constructs. `sync`: the address of the synchronous queue's `NativeQueue`. `asynchronous`: that of a table
    with the number of the other queues and the addresses of theirs, 0 if there are none. `postpones`: waits
    for other queues may be postponed. `epoch`: the number of synchronous constructs, postponed waits and
    copies between devices for which the host has not waited; `beside`: the number of these copies; `settled`:
    the epoch at the last reading of a clock; `settled_both`: that and `beside`, 32 bits of each. `present`
    changes whenever the present table, the queues or the users of data change. The tables, and `lock`, are
    those of `NativeLauncher` and `NativeData`; `book` is that of `PresentRows`.
    """

    _fields_ = (
        ("number", ctypes.c_int64),
        ("opened", ctypes.c_int64),
        ("context", ctypes.c_int64),
        ("kernels", ctypes.c_int64),
        ("streams", ctypes.c_int64),
        ("owners", ctypes.c_int64),
        ("scratch", ctypes.c_int64),
        ("scratch_bytes", ctypes.c_int64),
        ("slots", ctypes.c_int64),
        ("busy", ctypes.c_int64),
        ("ordered", ctypes.c_int64),
        ("waits", ctypes.c_int64),
        ("sync", ctypes.c_int64),
        ("asynchronous", ctypes.c_int64),
        ("queues", ctypes.c_int64),
        ("postpones", ctypes.c_int64),
        ("lock", ctypes.c_int64),
        ("epoch", ctypes.c_int64),
        ("present", ctypes.c_int64),
        ("settled", ctypes.c_int64),
        ("book", ctypes.c_int64),
        ("beside", ctypes.c_int64),
        ("settled_both", ctypes.c_int64),
        ("unused_of_lock", ctypes.c_int64),
    )


ROW_IR = """
; returns the row of the calling thread's device
define internal ptr @row() alwaysinline {{
  %own = call ptr inttoptr (i64 {getspecific} to ptr)(i32 trunc (i64 {key} to i32))
  %none = icmp eq ptr %own, null
  %row = select i1 %none, ptr inttoptr (i64 {initial} to ptr), ptr %own
  ret ptr %row
}}

; returns the row of a device by its number
define internal ptr @device_row(i64 %number) alwaysinline {{
  %row = getelementptr %row, ptr inttoptr (i64 {rows} to ptr), i64 %number
  ret ptr %row
}}
"""
"""
The beginning of modules that read rows; its fields are in `addresses` and `constants` of `NativeDevices`.
"""

CONTEXT_IR = """
; makes the context of a row's device current
define internal void @enter_context(ptr %row) {{
entry:
  %context = %row->row.context
  if ne i64 %context, 0: switch, done
switch:
  %status = call i32 inttoptr (i64 {enter_context} to ptr)(i64 %context)
  br label %done
done:
  ret void
}}
"""
"""For modules that change contexts; the field `enter_context` is the address of the driver's function."""

_IR = """
define i64 @current() {{
  %row = call ptr @row()
  %number = %row->row.number
  ret i64 %number
}}

define internal void @become(ptr %row) {{
  %set = call i32 inttoptr (i64 {setspecific} to ptr)(i32 trunc (i64 {key} to i32), ptr %row)
  call void @enter_context(ptr %row)
  ret void
}}

define void @count(i64 %number) {{
  %row = call ptr @device_row(i64 %number)
  %epoch_at = &%row->row.epoch
  %old = atomicrmw add ptr %epoch_at, i64 1 monotonic
  ret void
}}

define i64 @enter(i32 %site, i64 %number) {{
entry:
  %row = call ptr @row()
  %former = %row->row.number
  %own = icmp eq i64 %former, %number
  %any = icmp eq i64 %number, {no_device}
  %same = or i1 %own, %any
  br i1 %same, label %done, label %look
look:
  if ult i64 %number, {count}: ask, slow
ask:
  %new = call ptr @device_row(i64 %number)
  %opened = %new->row.opened acquire
  if ne i64 %opened, 0: go, slow
go:
  call void @become(ptr %new)
  br label %done
done:
  ret i64 %former
slow:
  %answer = call i64 inttoptr (i64 {slow_enter} to ptr)(i32 %site, i64 %number)
  ret i64 %answer
}}

; acc_set_device_num
define void @set_device(i32 %number, i32 %type) {{
entry:
  %wide = sext i32 %number to i64
  %known = icmp ult i64 %wide, {count}
  %small = icmp ult i32 %type, 64
  %kind = zext i32 %type to i64
  %bit = select i1 %small, i64 %kind, i64 63
  %shifted = lshr i64 {types}, %bit
  %ours = %shifted has i64 1
  %good = and i1 %known, %ours
  br i1 %good, label %ask, label %slow
ask:
  %new = call ptr @device_row(i64 %wide)
  %opened = %new->row.opened acquire
  if ne i64 %opened, 0: go, slow
go:
  call void @become(ptr %new)
  ret void
slow:
  %function = load ptr, ptr inttoptr (i64 {slow_set} to ptr)
  call void %function(i32 %number, i32 %type)
  ret void
}}

define void @leave(i32 %site, i64 %former) {{
entry:
  %row = call ptr @row()
  %number = %row->row.number
  if eq i64 %former, %number: done, go
go:
  %new = call ptr @device_row(i64 %former)
  call void @become(ptr %new)
  br label %done
done:
  ret void
}}
"""


class NativeDevices:
    """
    The rows of `count` devices and the host, and the functions over them (`enter_address`,
    `leave_address`). `initial`: the row of the device to begin with. `slow_enter(site, number)`: C address
    of the entry point in Python, for devices that are not open. `enter_context(context)`: C address of the
    driver's function, 0 if devices need none. `types`: the device types that select these devices.
    """

    def __init__(
        self,
        count: int,
        initial: int,
        slow_enter: int = 0,
        enter_context: int = 0,
        types: Iterable[int] = (),
    ):
        self.count = count
        self.slow_set = ctypes.c_int64(0)
        """The C address of `acc_set_device_num` in Python."""
        space = (ctypes.c_char * (ROW_BYTES * (count + 1) + _LINE))()
        start = -(-ctypes.addressof(space) // _LINE) * _LINE
        self.rows = (DeviceRow * (count + 1)).from_address(start)
        self._space = space
        for number, row in enumerate(self.rows):
            row.number = number
        libc = ctypes.CDLL(None)
        key = ctypes.c_uint()
        if libc.pthread_key_create(ctypes.byref(key), None):
            raise OSError("no thread-specific key is left in this process (pthread_key_create)")
        self.close = weakref.finalize(self, libc.pthread_key_delete, key)
        """Deletes the thread-specific key (a process has about a thousand); no code may use it
        afterwards."""
        self.addresses = {
            "getspecific": _address(libc.pthread_getspecific),
            "key": key.value,
            "rows": start,
        }
        """The format fields of `ROW_IR` that are addresses (`NativeCode`), or numbers of this process."""
        self.constants: dict[str, int | str] = {
            "initial": offset_from("rows", ROW_BYTES * initial),
        }
        """Its other fields."""
        self._code = NativeCode(
            ROW_IR + CONTEXT_IR + _IR,
            {
                **self.addresses,
                "setspecific": _address(libc.pthread_setspecific),
                "slow_set": ctypes.addressof(self.slow_set),
                "slow_enter": slow_enter,
                "enter_context": enter_context,
            },
            {
                **self.constants,
                "count": count,
                "no_device": NO_DEVICE,
                "types": sum(1 << type for type in set(types)),
            },
        )
        address = self._code.address
        self.enter_address: int = address("enter")
        self.leave_address: int = address("leave")
        self.set_device_address: int = address("set_device")
        # These two keep Python's lock: releasing it would take longer than they do.
        self.current = ctypes.PYFUNCTYPE(ctypes.c_int64)(address("current"))
        """The number of the calling thread's device; `count` for the host."""
        self.count_construct = ctypes.PYFUNCTYPE(None, ctypes.c_int64)(address("count"))
        """Adds one to the `epoch` of a device."""
        self._leave = ctypes.PYFUNCTYPE(None, ctypes.c_int32, ctypes.c_int64)(self.leave_address)

    def become(self, number: int) -> None:
        """Makes device `number`, or the host for `count`, that of the calling thread."""
        self._leave(0, number)

    def row_address(self, number: int) -> int:
        """The address of the row of a device."""
        return ctypes.addressof(self.rows[number])


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


assert ctypes.sizeof(DeviceRow) == ROW_BYTES
