"""
Profiling libraries (OpenACC 3.4, 5.3): those in the environment variable `ACC_PROFLIB`, and the program
itself if it defines `acc_register_library`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import AccRuntimeError, ErrorClass, ProgramPlace
from .callbacks import PROTOTYPE

REGISTER = "acc_register_library"


def register_libraries(callbacks: Mapping[str, int], own: int, paths: Sequence[str]) -> None:
    """
    Calls `acc_register_library` of the program (`own`, its address; 0 for none) and of the shared
    libraries at `paths` with the addresses of the `acc_prof_*` routines in `callbacks`.

    Raises `acc_error_system` for a library that cannot be loaded or has no such function.
    """
    functions = [PROTOTYPE(own)] if own else []
    functions += [_load(path) for path in paths]
    routines = [callbacks[f"acc_prof_{name}"] for name in ("register", "unregister", "lookup")]
    for function in functions:
        function(*routines)


def _load(path: str) -> Any:
    try:
        library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as cause:
        raise _failure(path, str(cause)) from cause
    function = getattr(library, REGISTER, None)
    address = ctypes.cast(function, ctypes.c_void_p).value if function is not None else None
    if not address:
        raise _failure(path, f"it has no function {REGISTER}")
    return PROTOTYPE(address)


def _failure(path: str, cause: str) -> AccRuntimeError:
    return AccRuntimeError(
        ErrorClass.SYSTEM,
        f"the profiling library '{path}' cannot be used: {cause}",
        place=ProgramPlace("ACC_PROFLIB"),
        remedy="name shared libraries that export acc_register_library, separated by ';'",
    )
