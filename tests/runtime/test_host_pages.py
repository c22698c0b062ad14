"""Whether memory is the process's own."""

import ctypes
import mmap

from accopt.runtime.data.host_pages import is_mapped
from runtime_harness import memory_before_a_hole


def test_a_hole_is_seen():
    pages = mmap.mmap(-1, 4 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    assert is_mapped(start, 4 * mmap.PAGESIZE)
    assert is_mapped(start + 5, 4 * mmap.PAGESIZE - 5)
    own = memory_before_a_hole(2 * mmap.PAGESIZE)
    assert is_mapped(own, 2 * mmap.PAGESIZE)
    assert not is_mapped(own, 2 * mmap.PAGESIZE + 1)
    assert not is_mapped(own, 4 * mmap.PAGESIZE)
