"""
Updates in native code: `__accopt_update`, `acc_update_device`, `acc_update_self` and their `_async` forms,
for data that is present.

Native code looks all of a directive's sections up in the rows of the present table (`present_rows.py`),
then has the driver copy them: on the synchronous queue, which the host waits for, or on a queue that has
been used natively before. It leaves to Python: sections that are not one rectangle of rows or need more
than a copy (packed arrays, attached pointers, arrays of pointers), large runs, which go through pinned
memory, data that is absent but with `if_present`, and copies that fail, which Python tries again and
reports.

A synchronous update comes after the queues that may use the data, as in Python (`data/ordering.py`). Native
code does not know which those are: so it handles only data that no queue uses, and data that any queue may
use.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from ...compiler.base.abi import DataKind
from ..device import STAGED_BYTES, NativeDriver
from .code import NativeCode
from .data import TRIES
from .data_code import LOCK_IR
from .devices import CONTEXT_IR, ROW_IR, NativeDevices
from .launch import NUMBER_IR, NUMBERS
from .present_rows import LAYOUT
from .present_rows_code import TEMPLATE as ROWS_TEMPLATE
from .queues import ORDER_IR, QUEUE_ADDRESSES, QUEUE_IR, RECORD_IR, WAIT_IR
from .rows_copy import DEVICE_MEMORY, HOST_MEMORY
from .runs_code import RECTANGLE_IR
from .text import structure
from .updates_code import ROUTINE_IR, UPDATE_IR

MOST = 32
"""Sections of a directive."""

_ROUTINES = {"acc_update_device": DataKind.UPDATE_DEVICE, "acc_update_self": DataKind.UPDATE_SELF}


@structure("move")
class _Move(ctypes.Structure):
    """
    A copy between a device and the host, to the host if `home` is not 0: `rows` rows of `bytes` bytes that
    are `pitch` bytes apart on both sides.
    """

    _fields_ = (
        ("device", ctypes.c_int64),
        ("host", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("home", ctypes.c_int64),
        ("rows", ctypes.c_int64),
        ("pitch", ctypes.c_int64),
    )


class NativeUpdates:
    """
    The functions (`addresses`, by their names) for the devices of `devices`. `slow`: C addresses of those in
    Python by the same names; `enter_context`: as for `NativeDevices`.
    """

    names = (
        "__accopt_update",
        "acc_update_device",
        "acc_update_device_async",
        "acc_update_self",
        "acc_update_self_async",
    )

    def __init__(
        self,
        devices: NativeDevices,
        driver: NativeDriver,
        enter_context: int,
        slow: Mapping[str, int],
    ):
        self._code = NativeCode(
            ROW_IR
            + CONTEXT_IR
            + ROWS_TEMPLATE
            + QUEUE_IR
            + RECORD_IR
            + ORDER_IR
            + NUMBER_IR
            + WAIT_IR
            + LOCK_IR
            + RECTANGLE_IR
            + UPDATE_IR
            + "".join(ROUTINE_IR.format(name=name, kind=kind) for name, kind in _ROUTINES.items()),
            {
                **devices.addresses,
                **QUEUE_ADDRESSES,
                **driver.addresses,
                "enter_context": enter_context,
                **{f"slow_{name}": slow[name] for name in self.names},
            },
            {
                **devices.constants,
                **LAYOUT,
                "tries": TRIES,
                "most": MOST,
                "staged": STAGED_BYTES,
                "to_device": int(DataKind.UPDATE_DEVICE),
                "to_host": int(DataKind.UPDATE_SELF),
                "host_memory": HOST_MEMORY,
                "device_memory": DEVICE_MEMORY,
                **NUMBERS,
            },
        )
        self.addresses = {name: self._code.address(f"native_{name}") for name in self.names}
