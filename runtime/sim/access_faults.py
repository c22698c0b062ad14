"""Messages for faults of accesses: the thread, the variable, and the place in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .access import Access, SourcePlace
from .findings import FaultKind, Finding, Findings, ThreadName
from .memory import (
    GLOBAL,
    LOCAL,
    SHARED,
    SHARED_BASE,
    SPACE_SHIFT,
    Allocation,
    GlobalMemory,
    LocalMemory,
    SharedMemory,
    device_of,
)
from .values import Batch, Threads, Value, ndarray, spread


class AccessFaults:
    """
    Records the faults of one kernel. `describe` describes an address that is not in any memory of the
    device.
    """

    def __init__(
        self,
        findings: Findings,
        kernel: str,
        batch: Batch,
        memory: GlobalMemory,
        shared: SharedMemory,
        local: LocalMemory,
        describe: Callable[[int], str],
    ):
        self.findings = findings
        self.kernel = kernel
        self.batch = batch
        self.memory = memory
        self.shared = shared
        self.local = local
        self.describe = describe

    def add(
        self,
        fault: FaultKind,
        detail: str,
        place: SourcePlace,
        thread: int,
        other: int | None = None,
        array: str = "",
        address: int = 0,
    ) -> None:
        """Records a fault of a thread of the launch; raises `AccRuntimeError` when it is fatal."""
        self.findings.add(
            Finding(
                fault,
                self.kernel,
                place.file,
                place.line,
                detail,
                array,
                address,
                self._name_of(thread),
                None if other is None else self._name_of(other),
            )
        )

    def race(
        self,
        threads: Threads,
        address: Value,
        access: Access,
        position: int,
        other: int,
        now: str,
        before: str,
    ) -> None:
        """Reports that the thread at `position` races with thread `other` of the launch; `now` and `before`
        tell what each of them did."""
        where = np.zeros(threads.n, np.bool_)
        where[position] = True
        detail = f"{{where}} is {now} after it was {before}, with no synchronisation between,"
        self._report(FaultKind.RACE, detail, threads, address, access, where, other)

    def misaligned(self, threads: Threads, address: Value, access: Access) -> None:
        """Reports addresses that are not multiples of the access's size."""
        wrong = np.asarray(address & (access.size - 1)) != 0
        detail = f"{{where}} is not a multiple of {access.size}"
        self._report(FaultKind.MISALIGNED, detail, threads, address, access, wrong)

    def outside(
        self, threads: Threads, address: Value, access: Access, outside: Value
    ) -> BaseException:
        """
        Reports that the threads for which `outside` is true access memory out of bounds. Always raises
        `AccRuntimeError`; callers `raise` the result only to make the flow of control visible.
        """
        self._report(
            FaultKind.OUT_OF_BOUNDS,
            f"{access.size} bytes at {{where}}",
            threads,
            address,
            access,
            outside,
        )
        return AssertionError("a fatal fault returned")

    def uninitialised(
        self, threads: Threads, address: Value, access: Access, missing: Value
    ) -> None:
        """Reports reads of memory to which nothing was written."""
        detail = "nothing was written to {where} before the access"
        self._report(FaultKind.UNINITIALISED, detail, threads, address, access, missing)

    def _report(
        self,
        fault: FaultKind,
        detail: str,
        threads: Threads,
        address: Value,
        access: Access,
        where: Value,
        other: int | None = None,
    ) -> None:
        place = access.place
        if self.findings.known(fault, self.kernel, place.file, place.line, access.array):
            return
        position = int(np.argmax(where)) if isinstance(where, ndarray) and where.ndim else 0
        one = int(spread(threads.n, address)[position])
        text = detail.format(where=self._where(one, access))
        thread = threads.in_launch(position)
        self.add(fault, text, place, thread, other, access.array, one)

    def _where(self, address: int, access: Access) -> str:
        """The description of an address."""
        space = address >> SPACE_SHIFT
        name = f"'{access.array}'" if access.array else "a pointer"
        if space == SHARED:
            variable = self.shared.layout.at(address - SHARED_BASE)
            return f"{name} (shared memory, near '{variable}')"
        if space == LOCAL:
            local = self.local.at(address)
            if local is None:
                return f"{name} (local memory)"
            return (
                f"{name} (local '{local.name}' of {local.size} bytes, byte {address - local.start})"
            )
        if space != GLOBAL:
            return f"{name} ({self.describe(address)})"
        if device_of(address) != device_of(self.memory.base):
            return f"{name} ({address:#x}, memory of device {device_of(address)})"
        found = self.memory.at(address)
        if found is not None:
            offset = f"byte {address - found.start} of the {found.size}"
            return f"{name} ({address:#x}, {offset}{self._origin(found)})"
        near = self.memory.nearest(address)
        if near is None:
            return f"{name} ({address:#x}, nothing is allocated)"
        distance = address - near.end if address >= near.end else near.start - address
        side = "after" if address >= near.end else "before"
        return (
            f"{name} ({address:#x}, {distance} bytes {side} the {near.size} bytes"
            f"{self._origin(near)})"
        )

    def _origin(self, allocation: Allocation) -> str:
        text = allocation.name or self.describe(allocation.start)
        return f" {text}" if text else ""

    def _name_of(self, thread: int) -> ThreadName:
        """A thread of the launch by its number."""
        block, inside = divmod(thread, self.batch.block_threads)
        x, y, _ = self.batch.grid
        bx, by, _ = self.batch.block
        return ThreadName(
            (block % x, block // x % y, block // (x * y)),
            (inside % bx, inside // bx % by, inside // (bx * by)),
        )
