"""What a data clause asks for, in Python's terms."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from ...compiler.base.abi import DataFlag, DataKind
from ..compression.arrays import PackedRequest

POINTER_BYTES = 8
NO_FLAGS = DataFlag(0)

WORDS = {
    DataKind.COPY: "copy",
    DataKind.COPYIN: "copyin",
    DataKind.COPYOUT: "copyout",
    DataKind.CREATE: "create",
    DataKind.PRESENT: "present",
    DataKind.NO_CREATE: "no_create",
    DataKind.DEVICEPTR: "deviceptr",
    DataKind.ATTACH: "attach",
    DataKind.DELETE: "delete",
    DataKind.DETACH: "detach",
    DataKind.USE_DEVICE: "use_device",
    DataKind.UPDATE_SELF: "update self",
    DataKind.UPDATE_DEVICE: "update device",
    DataKind.DEVICE_RESIDENT: "device_resident",
    DataKind.LINK: "link",
}
"""The user's spelling of each clause."""


@dataclass(slots=True)
class Request:
    """One clause on one variable: a `DataRecord` in Python's terms, with the variable's name."""

    base: int
    offset: int
    bytes: int
    kind: DataKind
    flags: int = 0
    pointer: int = 0
    device: int = 0
    name: str = "?"
    shape: tuple[tuple[int, int, int], ...] = ()
    origin: str = ""
    packed: PackedRequest | None = None
    kernel: bool = False
    """Whether the clause is that of a compute construct."""
    stays: bool = False
    """Whether absent data is entered at its address on the host."""

    @property
    def start(self) -> int:
        """The host address of the section's first byte."""
        return self.base + self.offset

    @property
    def dynamic(self) -> bool:
        return bool(self.flags & DataFlag.DYNAMIC)


@dataclass(frozen=True, slots=True)
class Link:
    """A `declare link` variable: the device holds a pointer to it, which `enter data` sets."""

    host: int
    bytes: int
    slot: int


def read_host_pointer(address: int) -> int:
    """The pointer stored at a host address."""
    return ctypes.c_int64.from_address(address).value
