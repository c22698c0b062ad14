"""
Loads, stores and atomics of kernels: their static properties, and their resolved addresses at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .memory import Allocation, Bytes
from .values import Value


@dataclass(eq=False, slots=True)
class SourcePlace:
    """The place of an operation in the C source."""

    file: str
    line: int


@dataclass(eq=False, slots=True)
class Access:
    """
    One load, store or atomic of a kernel. `array` is the name of the variable that the pointer points into,
    `checked`: whether reading uninitialised memory
    matters (not for copies of whole structs), `atomic`: whether it is indivisible, so that it races with
    plain accesses only, `speculative`: whether it may read past an array, within the aligned 16 bytes in
    which the array ends.
    """

    place: SourcePlace
    dtype: np.dtype[Any]
    array: str
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
    """The detectors to run; those of bounds and alignment always run."""

    uninitialised: bool = True
    races: bool = True


@dataclass(slots=True)
class Resolved:
    """
    The resolved address of an access: a memory's bytes, the offsets in them, the allocation that all
    threads access (None for several, or if it is not global memory), and the memory's number.
    """

    bytes: Bytes
    offsets: Value
    allocation: Allocation | None
    space: int

    def index(self, size: int) -> Value:
        """The numbers of the elements of `size` bytes at the offsets."""
        return self.offsets if size == 1 else self.offsets >> (size.bit_length() - 1)

    def mark(self, size: int, state: Value) -> None:
        """Gives the elements of `size` bytes a state, unless the whole allocation has been written."""
        if self.allocation is None or not self.allocation.written:
            self.bytes.states[size][self.index(size)] = state
