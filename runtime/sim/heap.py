"""
The heap of a simulated device, for `malloc`, `calloc` and `free` in kernels.

A freed block is not reused until the launch ends, so that an access to it is found, and so that accesses by
its old and new owners are not reported as races.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import AccRuntimeError

if TYPE_CHECKING:
    from .memory import Allocation, GlobalMemory


class DeviceHeap:
    """Allocations of kernels in `memory`; they outlive the launch, as on a GPU."""

    def __init__(self, memory: GlobalMemory):
        self._memory = memory
        self._held: dict[int, Allocation] = {}
        self._freed: list[Allocation] = []

    @property
    def held(self) -> int:
        """The number of blocks that have not been freed."""
        return len(self._held)

    def allocate(self, bytes: int, name: str, *, cleared: bool = False) -> int:
        """Allocates a block, and returns its address; 0 if memory is short."""
        bytes %= 1 << 64
        if bytes > self._memory.capacity:
            return 0
        try:
            found = self._memory.allocate(bytes, name)
        except AccRuntimeError:
            return 0
        self._held[found.start] = found
        if cleared:
            self._memory.clear(found)
        return found.start

    def free(self, address: int) -> str | None:
        """Frees a block; returns a description of the fault if no block begins at `address`."""
        if address == 0:
            return None
        if self._held.pop(address, None) is None:
            earlier = any(block.start == address for block in self._freed)
            return f"{address:#x} " + (
                "has been freed before" if earlier else "was not allocated by a kernel"
            )
        found = self._memory.retire(address)
        assert found is not None
        self._freed.append(found)
        return None

    def finish_launch(self) -> None:
        """Lets freed blocks be allocated again."""
        for block in self._freed:
            self._memory.reuse(block)
        self._freed.clear()
