"""
The interface between compiled host code and the runtime: structures, constants, entry points.

The lowering (`passes/convert_acc_data_to_runtime`) fills these structures in memory; the runtime reads
them with `ctypes`. This file is their only definition.
"""

from __future__ import annotations

import ctypes
import struct
from enum import IntEnum, IntFlag

CONSTRUCT, DESTRUCT = "__accopt_construct", "__accopt_destruct"
"""Functions of a compiled module, optional, that are called before all others in it and at its end."""

ASYNC_NOVAL = -1
ASYNC_SYNC = -2
ASYNC_DEFAULT = -3
ASYNC_ON_DEVICE = -(1 << 30)
"""
The value of the async clause of a compute construct with `deviceid` that has none: its kernels are put on
the synchronous queue, and the host goes on wherever the program cannot observe that (`docs/devices.md`).
"""
ASYNC_BORDER = ASYNC_ON_DEVICE + 1
"""
The value of the async clause of a launch that computes the border of the next one
(`passes/compute_borders_first`); its queue is one of the device's own.
"""
DEFAULT_QUEUE = 0
"""The queue of `acc_async_default`, which is also that of a bare `async` until the program sets another."""

NO_DEVICE = -(1 << 63)
"""The number of `__accopt_enter_device` that changes nothing."""

NOT_GIVEN = -1
"""`type` and `number` of `__accopt_device` when the directive has no such clause."""


class DataKind(IntEnum):
    """The data clause that a data record was made from (OpenACC 3.4, 2.7)."""

    COPY = 0
    COPYIN = 1
    COPYOUT = 2
    CREATE = 3
    PRESENT = 4
    NO_CREATE = 5
    DEVICEPTR = 6
    ATTACH = 7
    DELETE = 8
    DETACH = 9
    USE_DEVICE = 10
    UPDATE_SELF = 11
    UPDATE_DEVICE = 12
    DEVICE_RESIDENT = 13
    LINK = 14


class DataFlag(IntFlag):
    """Modifiers of the clause and properties of the variable of a data record, as bits."""

    ALWAYS_IN = 1
    ALWAYS_OUT = 2
    ZERO = 4
    READONLY = 8
    CAPTURE = 16
    IMPLICIT = 32
    FINALIZE = 64
    IF_PRESENT = 128
    DYNAMIC = 256  # enter data / exit data: counts in the dynamic reference counter
    CELL = 512  # a scalar of a reduction, which a launch reads and writes once
    COMPRESSED = 1024  # `shape` is the address of a `Compression`
    ROWS = 2048  # `shape` has arrays of pointers, whose dimensions have negative strides
    INFERRED = 4096  # in a region that the compiler inferred: entered with all its records or none
    IN_PLACE = 8192  # the host device may use the program's memory: not observable
    SHARED = 16384  # as IN_PLACE, for all data of a region, entered as present there
    UNBOUNDED = 32768  # a pointer without a section: the data is the present part of its array

    def __and__(self, other: int) -> int:  # type: ignore[override]
        # Flags are tested many times while a program runs: an int avoids creating members.
        return int.__and__(self, other)

    __rand__ = __and__


class RowSection(IntFlag):
    """Properties of a section in a call of `__accopt_rows_apart`, as bits."""

    WRITTEN = 1
    ROWS = 2  # it has arrays of pointers, whose dimensions have negative strides


class CompressionFlag(IntFlag):
    """The bits of `Compression.flags`."""

    HAS_RANGE = 1
    DECODES = 2  # the record belongs to a kernel that decodes the array
    UNCOUNTED = 4  # … which does not count the numbers that saturate


class DeviceOperation(IntEnum):
    """The argument `operation` of `__accopt_device`: which directive or routine calls it."""

    INIT = 0
    SHUTDOWN = 1
    SET_TYPE_AND_NUMBER = 2
    SET_DEFAULT_ASYNC = 3


class DeviceType(IntEnum):
    """The values of `acc_device_t` in openacc.h (OpenACC 3.4, 3.1)."""

    NONE = 0
    DEFAULT = 1
    HOST = 2
    NOT_HOST = 4
    NVIDIA = 5
    CURRENT = 6
    RADEON = 8
    XEONPHI = 9
    OPENCL = 10
    PGI_OPENCL = 11
    NVIDIA_OPENCL = 12


class DeviceProperty(IntEnum):
    """The values of `acc_device_property_t` in openacc.h; those above 100 are string properties."""

    MEMORY = 1
    FREE_MEMORY = 2
    SHARED_MEMORY_SUPPORT = 3
    NAME = 101
    VENDOR = 102
    DRIVER = 103


class DataRecord(ctypes.Structure):
    """One variable or section of a data construct; see docs/runtime.md."""

    _fields_ = (
        ("base", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("pointer", ctypes.c_int64),
        ("device", ctypes.c_int64),
        ("kind", ctypes.c_int32),
        ("flags", ctypes.c_int32),
        ("var", ctypes.c_int32),
        ("dims", ctypes.c_int32),
        ("shape", ctypes.c_int64),
    )


class Compression(ctypes.Structure):
    """
    The packed form of a record's array: `format` is `PackedFormat.word`; `shape` the record's
    shape. Entry to the region fills in the address of the coefficients (four doubles for each
    member, `packed.Coefficients.words`, which stay there as long as the array is present), and the bytes
    from the array of one member to that of the next where structures have become arrays. `counter` is
    the device address of `COUNTER_WORDS` i64 to which kernels add the numbers that saturate when they
    store them.
    """

    _fields_ = (
        ("format", ctypes.c_int32),
        ("flags", ctypes.c_int32),
        ("minimum", ctypes.c_double),
        ("maximum", ctypes.c_double),
        ("shape", ctypes.c_int64),
        ("coefficients", ctypes.c_int64),
        ("plane", ctypes.c_int64),
        ("counter", ctypes.c_int64),
    )


class Launch(ctypes.Structure):
    """One kernel launch. `args` points at `arg_count` pointers to argument values."""

    _fields_ = (
        ("grid", ctypes.c_int32 * 3),
        ("block", ctypes.c_int32 * 3),
        ("shared_bytes", ctypes.c_int32),
        ("arg_count", ctypes.c_int32),
        ("queue", ctypes.c_int64),
        ("args", ctypes.c_int64),
    )


class PeerUpdate(ctypes.Structure):
    """
    An `update peer`. A side is `bytes` bytes at a host address; with `dims`, it is the part of them that
    `dims` triples of lower bound, extent and stride in bytes at `shape` select. The site's variables are
    `to` and `from`.
    """

    _fields_ = (
        ("to", ctypes.c_int64),
        ("origin", ctypes.c_int64),
        ("to_device", ctypes.c_int64),
        ("from_device", ctypes.c_int64),
        ("to_bytes", ctypes.c_int64),
        ("from_bytes", ctypes.c_int64),
        ("to_dims", ctypes.c_int64),
        ("from_dims", ctypes.c_int64),
        ("to_shape", ctypes.c_int64),
        ("from_shape", ctypes.c_int64),
        ("queue", ctypes.c_int64),
    )


BORDER_SITES = 256
"""The most constructs of a program whose border may be computed first."""


class BorderRow(ctypes.Structure):
    """
    The footprint of a construct whose border may be computed first: its number, its queue (the value of the
    async clause), the values `lower` up to `upper` of its outermost variable; `always`: also where that takes
    longer (`border_times.py`). `count` of `BorderArray` follow.
    """

    _fields_ = (
        ("number", ctypes.c_int64),
        ("queue", ctypes.c_int64),
        ("lower", ctypes.c_int64),
        ("upper", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("always", ctypes.c_int64),
    )


class BorderArray(ctypes.Structure):
    """
    The device memory from `first` up to `last` (exclusive) that a construct accesses. If it `writes`, that is
    for the value 0 of the outermost variable, and `slope` bytes further for the next one; otherwise for all
    values together.
    """

    _fields_ = (
        ("first", ctypes.c_int64),
        ("last", ctypes.c_int64),
        ("slope", ctypes.c_int64),
        ("writes", ctypes.c_int64),
    )


LAUNCH_FORMAT = struct.Struct("=8i2q")
"""`Launch` for one quick read: grid 0-2, block 3-5, shared bytes 6, arg_count 7, queue 8, args 9."""

RECORD_FORMAT = struct.Struct("=5q4iq")
"""`DataRecord` for one quick read, in the order of its fields."""

RECORD_BYTES = 64
RECORD_DEVICE_AT = 32
"""Size of a `DataRecord`, and the offset of its field `device`, in bytes."""


ENTRY_POINTS: dict[str, tuple[str, str]] = {
    "__accopt_data_enter": ("void", "i32 ptr i32 i64"),
    "__accopt_data_exit": ("void", "i32 ptr i32 i64"),
    "__accopt_update": ("void", "i32 ptr i32 i64"),
    "__accopt_launch": ("void", "i32 ptr"),
    "__accopt_scratch": ("ptr", "i32 i64"),
    "__accopt_mean_trip": ("i64", "ptr ptr i64 i64 i32"),
    "__accopt_rows_apart": ("i32", "ptr i32"),
    "__accopt_extent": ("void", "ptr ptr"),
    "__accopt_wait": ("void", "i32 ptr i32 i64"),
    "__accopt_on_host": ("i32", "i32"),
    "__accopt_device": ("void", "i32 i32 i64 i64"),
    "__accopt_enter_device": ("i64", "i32 i64"),
    "__accopt_leave_device": ("void", "i32 i64"),
    "__accopt_update_peer": ("void", "i32 ptr"),
    "__accopt_border_begin": ("i64", "ptr"),
    "__accopt_border_end": ("void", "ptr"),
    "__accopt_outside": ("void", "i32 ptr ptr"),
}
"""The functions of the runtime that compiled code calls: name → types of result and arguments."""

DEVICE_COPIES = ("acc_update_peer", "acc_memcpy_d2d", "acc_memcpy_d2d_async")
"""Routines of `openacc.h` that copy between devices, or within one."""

SITE_FIRST = (
    "__accopt_data_enter",
    "__accopt_data_exit",
    "__accopt_update",
    "__accopt_launch",
    "__accopt_scratch",
    "__accopt_wait",
    "__accopt_on_host",
    "__accopt_device",
    "__accopt_enter_device",
    "__accopt_leave_device",
    "__accopt_update_peer",
    "__accopt_outside",
)
"""Those whose first argument is the number of a site; negative for none."""

ROUTINES: dict[str, tuple[str, str]] = {
    "__accopt_omp_parallel": ("void", "ptr ptr i32 i32 ptr"),
    "__accopt_omp_task": ("void", "ptr ptr i32"),
    "__accopt_omp_task_frame": ("ptr", "i64"),
    "acc_wait_device_async": ("void", "i32 i32 i32"),
    "acc_wait_all_device_async": ("void", "i32 i32"),
}
"""Functions of `compiler/c/openmp/runtime.c` and of `openacc.h` that passes call, in the same form."""

_C_TYPES: dict[str, type] = {
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "ptr": ctypes.c_int64,
}


def entry_point_types(name: str) -> tuple[type | None, tuple[type, ...]]:
    """The `ctypes` types of an entry point's result and arguments, with pointers as 64-bit integers."""
    result, arguments = ENTRY_POINTS[name]
    return _C_TYPES.get(result), tuple(_C_TYPES[kind] for kind in arguments.split())
