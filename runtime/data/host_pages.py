"""Checks whether host memory that a data clause names exists: finds sections that are given in bytes
instead of elements."""

from __future__ import annotations

import ctypes
import errno
import mmap
from functools import cache
from typing import Any

ENOUGH = 1 << 16
"""The bytes from which a section is checked: shorter ones end within memory that the heap keeps."""

MS_ASYNC = 1
"""The flag of msync(2) that writes nothing on Linux, so that only the existence of the pages is checked."""


def is_mapped(start: int, size: int) -> bool:
    """
    Whether all pages of the `size` bytes from `start` are mapped in the process; True if the system does not
    tell. The time does not depend on `size`: msync(2) looks at whole mappings.
    """
    check = _msync()
    if check is None:
        return True
    page = start // mmap.PAGESIZE * mmap.PAGESIZE
    failed = check(page, start + size - page, MS_ASYNC)
    return not failed or ctypes.get_errno() != errno.ENOMEM


def check_address() -> int:
    """The C address of msync(2) for native code; 0 if the system does not have it."""
    check = _msync()
    return 0 if check is None else ctypes.cast(check, ctypes.c_void_p).value or 0


@cache
def _msync() -> Any:
    """The function msync, if the system has it."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "msync", None)
    if function is not None:
        function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function
