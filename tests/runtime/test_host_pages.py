"""Whether memory is the process's own."""

import ctypes
import mmap

from accopt.runtime.data.host_pages import is_mapped


def test_a_hole_is_seen():
    pages = mmap.mmap(-1, 4 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    assert is_mapped(start, 4 * mmap.PAGESIZE)
    assert is_mapped(start + 5, 4 * mmap.PAGESIZE - 5)
    libc = ctypes.CDLL(None)
    place = libc.mmap
    place.restype = ctypes.c_void_p
    place.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *([ctypes.c_int] * 3), ctypes.c_long)
    own = place(
        None, 4 * mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0
    )
    libc.munmap(ctypes.c_void_p(own + 2 * mmap.PAGESIZE), ctypes.c_size_t(mmap.PAGESIZE))
    assert is_mapped(own, 2 * mmap.PAGESIZE)
    assert not is_mapped(own, 2 * mmap.PAGESIZE + 1)
    assert not is_mapped(own, 4 * mmap.PAGESIZE)
