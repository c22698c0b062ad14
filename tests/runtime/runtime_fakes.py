"""A fake device and a fake host heap that only record operations, without native memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from accopt.compiler.base.abi import DeviceType
from accopt.runtime.device import Queue, Strips


class FakeQueue:
    def wait(self) -> None:
        pass

    def done(self) -> bool:
        return True

    def wait_for(self, other: Queue) -> None:
        pass


@dataclass
class FakeDevice:
    """Host and device memories are dictionaries from address to byte."""

    host: dict[int, int] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)
    live: dict[int, int] = field(default_factory=dict)
    shares_memory: bool = False
    type = DeviceType.NVIDIA
    name = "fake"
    sync_queue = FakeQueue()
    next: int = 0x100000

    def allocate(self, size: int, queue: Queue) -> int:
        address = self.next
        self.next += size + 64
        self.live[address] = size
        for i in range(size):
            self.memory[address + i] = 0xCB
        return address

    def free(self, address: int, queue: Queue) -> None:
        for i in range(self.live.pop(address)):
            del self.memory[address + i]

    def copy_in(self, device: int, host: int, strips: Strips, queue: Queue) -> None:
        for at in _bytes_of(strips):
            assert device + at in self.memory
            self.memory[device + at] = self.host[host + at]

    def copy_out(self, host: int, device: int, strips: Strips, queue: Queue) -> None:
        for at in _bytes_of(strips):
            self.host[host + at] = self.memory[device + at]

    def zero(self, address: int, size: int, queue: Queue) -> None:
        for i in range(size):
            assert address + i in self.memory
            self.memory[address + i] = 0

    def store_pointer(self, address: int, value: int, queue: Queue) -> None:
        for i, byte in enumerate(value.to_bytes(8, "little")):
            assert address + i in self.memory
            self.memory[address + i] = byte

    def word(self, address: int) -> int:
        return int.from_bytes(bytes(self.memory[address + i] for i in range(8)), "little")

    def host_word(self, address: int) -> int:
        return int.from_bytes(bytes(self.host[address + i] for i in range(8)), "little")

    def set_host_word(self, address: int, value: int) -> None:
        for i, byte in enumerate(value.to_bytes(8, "little")):
            self.host[address + i] = byte


def _bytes_of(strips: Strips):
    for row in range(strips.rows):
        start = strips.offset + row * strips.pitch
        yield from range(start, start + strips.width)
