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

_AT_ONCE = 1 << 30


def is_mapped(start: int, size: int) -> bool:
    """
    Whether all pages of the `size` bytes from `start` are mapped in the process (mincore(2)); True if the
    system does not tell.
    """
    ask, answers = _mincore()
    if ask is None:
        return True
    page = mmap.PAGESIZE
    place, end = start // page * page, start + size
    while place < end:
        length = min(end - place, _AT_ONCE)
        if ask(place, length, answers) and ctypes.get_errno() == errno.ENOMEM:
            return False
        place += length
    return True


@cache
def _mincore() -> tuple[Any, Any]:
    """The function mincore, if the system has it, and a buffer for its result."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "mincore", None)
    if function is not None:
        function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    return function, ctypes.create_string_buffer(_AT_ONCE // mmap.PAGESIZE)
