"""Compute capabilities of GPUs that code is generated for: those that ptxas of CUDA 13 and LLVM know."""

from __future__ import annotations

from collections.abc import Mapping

PTX_VERSIONS: Mapping[int, int] = {
    **dict.fromkeys((75, 80, 86, 87), 75),
    **dict.fromkeys((89, 90), 78),
    100: 86,
    120: 87,
    **dict.fromkeys((103, 121), 88),
    **dict.fromkeys((88, 110), 90),
}
"""
Compute capability → the oldest PTX ISA version with it (PTX ISA, Release Notes), both multiplied by ten, but
at least 7.5.
"""
OLDEST_SM = min(PTX_VERSIONS)
_RENAMED = {101: 110}
"""Old numbers of chips → those since CUDA 13."""


def newest_known(sm: int) -> int:
    """The greatest known compute capability whose PTX can run on `sm`; `sm` itself without one."""
    return max((known for known in PTX_VERSIONS if known <= sm), default=sm)


def remedy_for(sm: int) -> str:
    """What to choose instead of a compute capability that is not in `PTX_VERSIONS`."""
    if sm in _RENAMED:
        return f"this chip is {_RENAMED[sm]} since CUDA 13"
    if sm < OLDEST_SM:
        return f"ptxas of CUDA 13 starts at {OLDEST_SM}"
    known = ", ".join(map(str, sorted(PTX_VERSIONS)))
    return f"choose one of {known}; PTX for {newest_known(sm)} also runs on newer GPUs"
