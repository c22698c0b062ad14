"""
Resolves a program's undefined names in its own libraries: the dynamic loader would look for them in all
libraries of the process, including those of other programs in it.
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
"""Functions of the heap, which are never taken from a library: program, C library and Python share one
heap."""
_LINK_MAP = 2
"""glibc's `RTLD_DL_LINKMAP`: `dladdr1` returns the loaded file of an address."""


class LoadedPlace(ctypes.Structure):
    """glibc's `Dl_info`: a loaded file, its address, and the symbol that contains an address."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def library_symbols(libraries: Sequence[ctypes.CDLL], names: Collection[str]) -> Mapping[str, int]:
    """
    The addresses of those `names` that one of these libraries defines itself, from the first that does.
    Names that only their dependencies define are left out.
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


def loaded_place(address: int) -> LoadedPlace | None:
    """The loaded file and symbol that contain an address (dladdr(3)); None if it is in none."""
    place = LoadedPlace()
    return (
        place if ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(place)) else None
    )


def _file_of(address: int) -> int | None:
    """The handle of the loaded file that contains `address`: glibc's handles are addresses of link maps."""
    place, link_map = LoadedPlace(), ctypes.c_void_p()
    where = ctypes.c_void_p(address)
    ok = ctypes.CDLL(None)["dladdr1"](where, ctypes.byref(place), ctypes.byref(link_map), _LINK_MAP)
    return link_map.value if ok else None
