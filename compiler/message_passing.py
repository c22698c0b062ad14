"""
Programs for GPUs with MPI: checks whether the MPI library accepts device addresses, which `host_data`
passes to it. Most builds do not, and fail with a segmentation fault inside the library.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .base.diagnostics import Diagnostic, Severity, SourceLoc
from .base.ranks import own_rank

_QUERY = "MPIX_Query_cuda_support"
_SWITCHES = ("MPICH_GPU_SUPPORT_ENABLED", "MV2_USE_CUDA", "I_MPI_OFFLOAD")
"""Environment variables by which users tell MPI libraries to expect device addresses."""
_CALLS = re.compile(r"^declare [^@\n]*@P?MPI_", re.MULTILINE)


def takes_device_addresses(
    environment: Mapping[str, str], symbol: Callable[[str], Any | None]
) -> bool:
    """
    Whether the loaded MPI library accepts device addresses, by the query function of Open MPI and MPICH, or
    because the environment asks for it. `symbol` returns a C function of the process by name, None if there
    is none.
    """
    if any(environment.get(name, "0") not in ("", "0") for name in _SWITCHES):
        return True
    query = symbol(_QUERY)
    return query is not None and bool(query())


def warning_about_addresses(
    host_ir: str, sites: Sequence[Mapping[str, Any]], takes: Callable[[], bool]
) -> Diagnostic | None:
    """The warning for a program whose `host_data` passes device addresses to a library that does not accept
    them."""
    if not _CALLS.search(host_ir):
        return None
    site = next((s for s in sites if s.get("kind") == "host_data"), None)
    if site is None or takes():
        return None
    return Diagnostic(
        Severity.WARNING,
        SourceLoc(site["file"], site["line"]),
        "host_data in a program with MPI, whose library does not report support for device addresses"
        f" ({_QUERY})",
        "use a CUDA-aware build of MPI; or pass host memory, between update self and update device",
    )


def check_library(host_ir: str, sites: Sequence[Mapping[str, Any]]) -> Diagnostic | None:
    """The warning for a loaded program; only the first rank of its processes gives it."""
    rank = own_rank()
    if rank is not None and rank.number != 0:
        return None
    process = ctypes.CDLL(None)

    def symbol(name: str) -> Any | None:
        return getattr(process, name, None)

    return warning_about_addresses(
        host_ir, sites, lambda: takes_device_addresses(os.environ, symbol)
    )
