"""
What a program's own libraries define, for its undefined names: the dynamic loader would look for them in all
libraries of the process, which belong to other programs, too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping, Sequence

_HEAP = frozenset(
    (
        "malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "free",
        "aligned_alloc",
        "memalign",
        "posix_memalign",
        "valloc",
        "malloc_usable_size",
    )
)
"""One heap serves the program, the C library and Python, whatever a library defines."""
_LINK_MAP = 2
"""glibc's `RTLD_DL_LINKMAP`: `dladdr1` says which loaded file an address is in."""


class _Place(ctypes.Structure):
    """glibc's `Dl_info`."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def library_symbols(libraries: Sequence[ctypes.CDLL], names: Collection[str]) -> Mapping[str, int]:
    """
    The addresses of those `names` that one of these libraries defines itself, the first that does; what
    only libraries that they depend on define is not among them.
    """
    dlsym = ctypes.CDLL(None)["dlsym"]
    dlsym.restype, dlsym.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
    found: dict[str, int] = {}
    for library in libraries:
        handle = library._handle  # pyright: ignore[reportPrivateUsage]
        for name in names:
            if name not in found and name not in _HEAP:
                address = dlsym(handle, name.encode())
                if address is not None and _file_of(address) == handle:
                    found[name] = address
    return found


def _file_of(address: int) -> int | None:
    """The handle of the loaded file that `address` is in: glibc's handles are addresses of link maps."""
    place, link_map = _Place(), ctypes.c_void_p()
    where = ctypes.c_void_p(address)
    ok = ctypes.CDLL(None)["dladdr1"](where, ctypes.byref(place), ctypes.byref(link_map), _LINK_MAP)
    return link_map.value if ok else None
