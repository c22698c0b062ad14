"""
Programs for GPUs that pass messages (MPI): whether the library takes device addresses, which `host_data`
gives it. Most builds do not, and end with a segmentation fault in the middle of the library.
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
"""Environment variables by which libraries are told that there will be device addresses."""
_CALLS = re.compile(r"^declare [^@\n]*@P?MPI_", re.MULTILINE)


def takes_device_addresses(
    environment: Mapping[str, str], symbol: Callable[[str], Any | None]
) -> bool:
    """
    Whether the MPI library that is loaded says so: by Open MPI's and MPICH's query, or because the
    environment asks for it. `symbol`: a C function of the process by name, None if there is none.
    """
    if any(environment.get(name, "0") not in ("", "0") for name in _SWITCHES):
        return True
    query = symbol(_QUERY)
    return query is not None and bool(query())


def warning_about_addresses(
    host_ir: str, sites: Sequence[Mapping[str, Any]], takes: Callable[[], bool]
) -> Diagnostic | None:
    """The warning for a program whose `host_data` gives addresses to a library that does not take them."""
    if not _CALLS.search(host_ir):
        return None
    site = next((s for s in sites if s.get("kind") == "host_data"), None)
    if site is None or takes():
        return None
    return Diagnostic(
        Severity.WARNING,
        SourceLoc(site["file"], site["line"]),
        "host_data in a program with MPI, whose library does not say that it takes device addresses"
        f" ({_QUERY})",
        "use a CUDA-aware build of MPI; or pass host memory, between update self and update device",
    )


def check_library(host_ir: str, sites: Sequence[Mapping[str, Any]]) -> Diagnostic | None:
    """That warning for a program which has been loaded; of many processes the first one gives it."""
    rank = own_rank()
    if rank is not None and rank.number != 0:
        return None
    process = ctypes.CDLL(None)

    def symbol(name: str) -> Any | None:
        return getattr(process, name, None)

    return warning_about_addresses(
        host_ir, sites, lambda: takes_device_addresses(os.environ, symbol)
    )
