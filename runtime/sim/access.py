"""
What is known of a load, a store or an atomic of a kernel before it runs, and where it goes when it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .memory import Allocation, Bytes
from .values import Value


@dataclass(eq=False, slots=True)
class SourcePlace:
    """Where in the C source an operation comes from."""

    file: str
    line: int


@dataclass(eq=False, slots=True)
class Access:
    """
    One load, store or atomic of a kernel. `array` is the name of the variable behind the pointer,
    `space` the memory if it is known from the IR (else 0), `checked`: whether reading uninitialised
    memory matters (not for copies of whole structs), `atomic`: whether it is indivisible, so that
    it races with plain accesses only, `speculative`: whether it may reach behind an array, in the
    16 bytes in which that ends.
    """

    place: SourcePlace
    dtype: np.dtype[Any]
    array: str
    space: int = 0
    checked: bool = True
    atomic: bool = False
    speculative: bool = False
    last: Allocation | None = None

    def __post_init__(self) -> None:
        self.dtype = np.dtype(self.dtype)

    @property
    def size(self) -> int:
        return self.dtype.itemsize


@dataclass(frozen=True)
class Checks:
    """Which detectors run besides bounds and alignment, which always do."""

    uninitialised: bool = True
    races: bool = True


@dataclass(slots=True)
class Resolved:
    """
    Where an access goes: a memory's bytes, the offsets in them, the allocation all threads access (None:
    several, or no global memory), and the memory's number.
    """

    bytes: Bytes
    offsets: Value
    allocation: Allocation | None
    space: int
