"""Who packs an array: the host, or the device once that pays and there is room."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from accopt.compiler.base.abi import DataKind
from accopt.compiler.base.packed import Code, Coefficients, PackedFormat
from accopt.runtime.compression.arrays import Compressor, PackedRequest
from accopt.runtime.compression.transfers import BYTES_PER_CPU, DEVICE_BYTES, MEMBERS_GAIN
from accopt.runtime.data.clauses import Request
from accopt.runtime.data.present import Entry
from accopt.runtime.device import Conversion, PackedPlace, Queue, Strips
from accopt.runtime.errors import AccRuntimeError, ErrorClass

ENOUGH = BYTES_PER_CPU * len(os.sched_getaffinity(0))
"""After so many bytes the kernels are loaded."""
FLOAT = PackedFormat(32, Code.RANGE, 16)
PAIRS = PackedFormat(32, Code.RANGE, 16, 2)
RANGE = (-1.0, 2.0)
RAW = 0x9000_0000


class Silent:
    """A queue with nothing on it."""

    def wait(self) -> None:
        pass

    def done(self) -> bool:
        return True

    def wait_for(self, other: Queue) -> None:
        pass


@dataclass
class Recorder:
    """A device with kernels that touches no memory: it notes what it is asked to do."""

    full: ErrorClass | None = None
    limits: tuple[float, float] = RANGE
    sent: int | None = None
    log: list[str] = field(default_factory=list[str])
    live: list[int] = field(default_factory=list[int])
    written: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    sync_queue: Silent = field(default_factory=Silent)

    def packer(self) -> Recorder:
        return self

    def allocate(self, size: int, queue: Queue) -> int:
        # The packed array and the counters are smaller than any array of plain numbers here.
        if size > DEVICE_BYTES // 2 and size % DEVICE_BYTES == 0:
            if self.full is not None:
                raise AccRuntimeError(self.full, "no room")
            self.live.append(RAW)
            return RAW
        self.live.append(0x1000 * (len(self.live) + 1))
        return self.live[-1]

    def free(self, address: int, queue: Queue) -> None:
        self.live.remove(address)

    def zero(self, address: int, size: int, queue: Queue) -> None:
        pass

    def copy_in(self, device: int, host: int, strips: Strips, queue: Queue) -> None:
        self.log.append(f"raw in {strips.width}")

    def copy_out(self, host: int, device: int, strips: Strips, queue: Queue) -> None:
        self.log.append(f"raw out {strips.width}")

    def write(self, device: int, host: int, count: int, how: Conversion, queue: Queue) -> None:
        self.log.append(f"host packs {count}")
        self.written.append((host, device))

    def read(self, host: int, device: int, count: int, how: Conversion, queue: Queue) -> None:
        self.log.append(f"host unpacks {count}")

    def new_queue(self) -> Silent:
        self.log.append("another queue")
        return Silent()

    def bring(
        self, fmt: PackedFormat, raw: int, host: int, count: int, queue: Queue
    ) -> tuple[int, tuple[float, float]]:
        sent = count if self.sent is None else min(self.sent, count)
        self.log.append(f"brings {sent} of {count}")
        return sent, self.limits

    def scan(
        self, fmt: PackedFormat, raw: int, count: int, queue: Queue
    ) -> tuple[tuple[float, float], ...]:
        self.log.append(f"scan {count}")
        return (self.limits,) * fmt.members

    def encode(
        self,
        fmt: PackedFormat,
        coefs: Sequence[Coefficients],
        place: PackedPlace,
        raw: int,
        queue: Queue,
    ) -> None:
        self.log.append(f"pack {place.count}")

    def decode(
        self,
        fmt: PackedFormat,
        coefs: Sequence[Coefficients],
        place: PackedPlace,
        raw: int,
        queue: Queue,
    ) -> None:
        self.log.append(f"unpack {place.count}")


@dataclass
class HostScan:
    """Stands in for the host's scan, which would read memory that is not there."""

    log: list[str]
    format: PackedFormat

    def scan_members(self, source: int, count: int) -> tuple[tuple[float, float], ...]:
        self.log.append(f"host scans {count}")
        return (RANGE,) * self.format.members

    def encoding(self, *_: object) -> None:
        pass

    def decoding(self, *_: object) -> None:
        pass


def compressor(device: Recorder, monkeypatch: pytest.MonkeyPatch) -> Compressor:
    made = Compressor(device)  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(made, "codec", lambda fmt: HostScan(device.log, fmt))
    return made


def bring(
    c: Compressor, fmt: PackedFormat, size: int, limits: tuple[float, float] | None = None
) -> Entry:
    """What `Mapper` does for a `copyin` of absent data."""
    wanted = PackedRequest(fmt, False, limits)
    request = Request(0x10000, 0, size, DataKind.COPYIN, name="x", packed=wanted)
    queue = c.device.sync_queue
    packed = c.create(request, True, queue)
    entry = Entry(request.base, size, c.place(packed, request), packed=packed)
    c.copy_in(entry, request.start, [Strips(0, size)], queue)
    return entry


def test_few_bytes_are_the_hosts_business(monkeypatch: pytest.MonkeyPatch):
    device = Recorder()
    c = compressor(device, monkeypatch)
    size = DEVICE_BYTES // 2
    for _ in range(ENOUGH // size + 2):
        bring(c, FLOAT, size)
    assert set(device.log) == {f"host scans {size // 4}", f"host packs {size // 4}"}


def test_the_device_packs_what_it_scans_once_that_pays(monkeypatch: pytest.MonkeyPatch):
    device = Recorder()
    c = compressor(device, monkeypatch)
    bring(c, FLOAT, ENOUGH - DEVICE_BYTES)
    assert device.log[0].startswith("host scans")
    device.log.clear()
    entry = bring(c, FLOAT, DEVICE_BYTES)
    count = DEVICE_BYTES // 4
    assert device.log == [f"brings {count} of {count}", f"pack {count}"]
    assert RAW not in device.live, "the plain numbers are gone"
    device.log.clear()
    c.copy_out(entry, entry.host, [Strips(0, entry.bytes)], c.device.sync_queue)
    assert device.log == [f"host unpacks {count}"]
    device.log.clear()
    bring(c, FLOAT, DEVICE_BYTES, (0.0, 1.0))
    assert device.log == [f"host packs {count}"], "with a range one pass does it all"


@pytest.mark.parametrize("sent", [0, 1, 1000])
def test_what_was_only_read_is_packed_by_the_host(monkeypatch: pytest.MonkeyPatch, sent: int):
    device = Recorder(sent=sent)
    c = compressor(device, monkeypatch)
    entry = bring(c, FLOAT, ENOUGH)
    count = ENOUGH // 4
    packs = ["another queue", f"pack {sent}"] if sent else []
    assert device.log == [f"brings {sent} of {count}", *packs, f"host packs {count - sent}"]
    assert device.written == [(entry.host + 4 * sent, entry.device + 2 * sent)]
    assert RAW not in device.live
    device.log.clear()
    bring(c, FLOAT, ENOUGH)
    assert "another queue" not in device.log, "one is enough"


def test_structures_go_through_the_device_both_ways(monkeypatch: pytest.MonkeyPatch):
    device = Recorder()
    c = compressor(device, monkeypatch)
    size = ENOUGH // MEMBERS_GAIN
    entry = bring(c, PAIRS, size, (0.0, 1.0))
    assert device.log == [f"raw in {size}", f"pack {size // 8}"]
    device.log.clear()
    c.copy_out(entry, entry.host, [Strips(0, size)], c.device.sync_queue)
    assert device.log == [f"unpack {size // 8}", f"raw out {size}"]
    assert RAW not in device.live


def test_without_room_the_host_packs(monkeypatch: pytest.MonkeyPatch):
    device = Recorder(full=ErrorClass.OUT_OF_MEMORY)
    c = compressor(device, monkeypatch)
    bring(c, FLOAT, ENOUGH)
    assert device.log == [f"host scans {ENOUGH // 4}", f"host packs {ENOUGH // 4}"]


def test_other_errors_are_not_hidden(monkeypatch: pytest.MonkeyPatch):
    device = Recorder(full=ErrorClass.EXECUTION)
    with pytest.raises(AccRuntimeError, match="no room"):
        bring(compressor(device, monkeypatch), FLOAT, ENOUGH)


def test_a_range_that_cannot_be_used_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch):
    device = Recorder(limits=(-3e38, 3e38))
    c = compressor(device, monkeypatch)
    with pytest.raises(AccRuntimeError, match="exceeds"):
        bring(c, FLOAT, ENOUGH)
    assert device.live == []
