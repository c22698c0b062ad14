"""The driver's description of a copy of rows, which native code fills in (`updates_code.py`)."""

from __future__ import annotations

import ctypes

from .text import structure

HOST_MEMORY, DEVICE_MEMORY = 1, 2
"""Values of `CUmemorytype`."""


@structure("rows_copy")
class DriverRowsCopy(ctypes.Structure):
    """`CUDA_MEMCPY2D`."""

    _fields_ = (
        ("from_x", ctypes.c_int64),
        ("from_y", ctypes.c_int64),
        ("from_kind", ctypes.c_int64),
        ("from_host", ctypes.c_int64),
        ("from_device", ctypes.c_int64),
        ("from_array", ctypes.c_int64),
        ("from_pitch", ctypes.c_int64),
        ("to_x", ctypes.c_int64),
        ("to_y", ctypes.c_int64),
        ("to_kind", ctypes.c_int64),
        ("to_host", ctypes.c_int64),
        ("to_device", ctypes.c_int64),
        ("to_array", ctypes.c_int64),
        ("to_pitch", ctypes.c_int64),
        ("width", ctypes.c_int64),
        ("height", ctypes.c_int64),
    )
