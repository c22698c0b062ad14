"""
The simulated GPU as a `Device`.

Every queue performs its work immediately, which is one possible order of a program's asynchronous work, or
as late as waits allow (`late.py`), which is another. Kernels run in batches of blocks, in the order of the
blocks: data that a block stores for a later one (the last block of a reduction) is there; a block that
waits for a later one never ends, which is reported.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import gpu, llvm
from xdsl.ir import Attribute

from ...compiler.base.abi import DeviceType
from ...dialects.layout import size_of
from ..data.present import PresentTable
from ..device import (
    CELL_BYTES,
    CellPage,
    DeviceProperties,
    DeviceProvider,
    Launcher,
    LaunchValues,
    ModuleImage,
    Queue,
    SimImage,
)
from ..errors import AccRuntimeError, ErrorClass
from ..in_process import InlineQueue, InProcessDevice, not_device_memory, submit
from .compile import ModuleCompiler, SimKernel, global_variables
from .counters import Counters, LineCount
from .findings import Finding, Findings
from .initial import initial_bytes
from .late import LateQueue
from .launching import KernelRuns, SimOptions
from .memory import SPACE_SHIFT, WRITTEN, GlobalMemory
from .types import dtype_of, elements

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_TELLING = ("printf", "__assert_fail")
"""Functions in kernels by which the host can observe their progress."""

SimQueue: TypeAlias = InlineQueue | LateQueue


class SimDevice(InProcessDevice):
    """
    A GPU simulated in NumPy (see `Device` for the methods' contracts): number `number` of `count`, each
    with its own range of addresses.
    """

    type = DeviceType.NVIDIA
    shares_memory = False
    works_in_place = False
    reuses_blocks = False
    clears_blocks = False

    def __init__(self, options: SimOptions | None = None, number: int = 0, count: int = 1):
        self.options = options or SimOptions()
        self.name = f"simulated GPU {number}" if count > 1 else "simulated GPU"
        _keep_freed_memory()
        self.sync_queue = self.new_queue()
        self.tells = False
        self.memory = GlobalMemory(self.options.memory, number)
        self.findings_list = Findings(self.options.report, self.name if count > 1 else "")
        self.counters = Counters() if self.options.counters else None
        self._table: PresentTable | None = None
        self._module: gpu.ModuleOp | None = None
        self._addresses: dict[str, int] = {}
        self._kernels: dict[str, SimKernel] = {}
        self.runs = KernelRuns(
            self.options, self.memory, self.findings_list, self.counters, self.describe
        )
        self._turn = threading.Lock()
        """A lock, so that kernels of several host threads run one after the other."""
        self._host = int(self.memory.bytes.data.ctypes.data)

    # Results

    @property
    def findings(self) -> list[Finding]:
        """The faults found so far."""
        return list(self.findings_list.all)

    @property
    def lines(self) -> list[LineCount]:
        """The counts by source line, the costliest first; empty without `counters`."""
        return self.counters.lines() if self.counters is not None else []

    # Device protocol

    def watch_table(self, table: PresentTable) -> None:
        self._table = table

    def new_queue(self, *, urgent: bool = False) -> SimQueue:
        return LateQueue() if self.options.late else InlineQueue()

    def properties(self) -> DeviceProperties:
        return DeviceProperties(self.name, "accopt", "NumPy", self.memory.capacity, False)

    def free_memory(self) -> int:
        return self.memory.capacity - self.memory.used

    def allocate(self, size: int, queue: Queue) -> int:
        return self.memory.allocate(size).start

    def free(self, address: int, queue: Queue) -> None:
        found = self.memory.at(address)
        if found is None or found.start != address:
            raise not_device_memory(address)
        submit(queue, lambda: self.memory.free(address))

    def cells(self) -> CellPage | None:
        """Memory for results that kernels and the host share, so that a premature read by the host has an
        effect."""
        if not self.options.late:
            return None
        start = self.memory.allocate(CELL_BYTES, "of the results of reductions").start
        self.written(start, CELL_BYTES)
        return CellPage(self.in_process(start, CELL_BYTES), start, CELL_BYTES)

    def load(self, image: ModuleImage) -> None:
        if not isinstance(image, SimImage):
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"the simulated device cannot load a {type(image).__name__}",
            )
        assert isinstance(image.module, gpu.ModuleOp)
        self._module = image.module
        self.tells = any(
            isinstance(op, llvm.CallOp)
            and op.callee is not None
            and op.callee.string_value() in _TELLING
            for op in image.module.walk()
        )
        variables = list(global_variables(image.module))
        for variable in variables:
            name = variable.sym_name.data
            size = size_of(variable.global_type)
            self._addresses[name] = self.memory.allocate(size, f"of '{name}'").start
        for variable in variables:
            data = initial_bytes(variable, self._addresses)
            address = self._addresses[variable.sym_name.data]
            ctypes.memmove(self.in_process(address, len(data)), data, len(data))
            self.written(address, len(data))

    def global_address(self, symbol: str) -> int:
        if symbol not in self._addresses:
            raise AccRuntimeError(
                ErrorClass.EXECUTION,
                f"there is no variable '{symbol}' in the simulated device code",
            )
        return self._addresses[symbol]

    def launcher(self, symbol: str, arg_bytes: Sequence[int]) -> Launcher:
        kernel = self._kernel(symbol)

        def launch(values: LaunchValues, queue: Queue) -> None:
            x, y, z, bx, by, bz, _, count, _, args = values
            pointers = (ctypes.c_int64 * count).from_address(args) if count else ()
            arguments = [
                _argument(int(pointer), type)
                for pointer, type in zip(pointers, kernel.argument_types, strict=True)
            ]

            def run() -> None:
                with self._turn:
                    self.runs.run(kernel, (x, y, z), (bx, by, bz), arguments)

            submit(queue, run)

        return launch

    def native_handles(self, symbol: str, queue: Queue, *, alone: bool) -> tuple[int, int]:
        raise NotImplementedError("the simulated device has no native driver")

    def close(self) -> None:
        """Does nothing: findings and counters are kept."""
        self._kernels.clear()
        self.runs.forget_batches()

    def _kernel(self, symbol: str) -> SimKernel:
        found = self._kernels.get(symbol)
        if found is None:
            if self._module is None:
                raise AccRuntimeError(ErrorClass.EXECUTION, f"no code is loaded for '{symbol}'")
            compiler = ModuleCompiler(self._module, self._addresses, counting=self.options.counters)
            found = self._kernels[symbol] = compiler.kernel(symbol)
        return found

    # Memory

    def in_process(self, address: int, size: int) -> int:
        """As `InProcessDevice.in_process`. Raises `AccRuntimeError` for other addresses."""
        found = self.memory.at(address)
        if found is None or address + size > found.end:
            whole = "" if found is None else f"{size} bytes from " + f"{address:#x} on, of which "
            held = "is not memory" if found is None else f"{found.end - address} are memory"
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"{whole or f'{address:#x} '}{held} of {self.name}",
                remedy="an address of device memory is valid on the device where it was allocated, until it"
                " is freed or the device is shut down",
            )
        return self._host + address - self.memory.base

    def written(self, address: int, size: int) -> None:
        offset = address - self.memory.base
        self.memory.bytes.state[offset : offset + size] = WRITTEN
        found = self.memory.at(address)
        if found is not None and found.start == address and found.size == size:
            found.written = True

    def copied(self, target: int, origin: InProcessDevice, source: int, size: int) -> None:
        assert isinstance(origin, SimDevice)
        to, at = target - self.memory.base, source - origin.memory.base
        states = origin.memory.bytes.state[at : at + size].copy()
        self.memory.bytes.state[to : to + size] = states

    def describe(self, address: int) -> str:
        """A description of an address by the present table."""
        if address == 0:
            return "the null pointer"
        if self._table is None:
            return ""
        if address >> SPACE_SHIFT:
            entry = self._table.by_device_address(address)
            return f"mapped by {entry.origin}" if entry is not None and entry.origin else ""
        entry = self._table.at(address)
        held = f", whose device copy is mapped by {entry.origin}" if entry is not None else ""
        return f"{address:#x}, a host address{held}"


def _keep_freed_memory() -> None:
    """
    Lets the C library keep the memory of freed arrays (mallopt(3)): getting memory from the system for
    every array takes as long as computing the array.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for parameter, value in ((_M_MMAP_THRESHOLD, 1 << 25), (_M_TRIM_THRESHOLD, 1 << 30)):
            mallopt(parameter, value)


def _argument(address: int, type: Attribute) -> Any:
    """A kernel's argument from host memory."""
    parts = elements(type)
    if parts is not None:
        return tuple(_argument(address + offset, part) for part, offset in parts)
    dtype = dtype_of(type)
    if dtype is None:
        raise AccRuntimeError(
            ErrorClass.EXECUTION, f"the simulated device cannot take arguments of type {type}"
        )
    return np.frombuffer(ctypes.string_at(address, dtype.itemsize), dtype)[0]


def sim_devices(options: SimOptions | None = None, count: int = 1) -> DeviceProvider:
    """`count` simulated GPUs."""
    return DeviceProvider(
        DeviceType.NVIDIA, count, lambda number: SimDevice(options, number, count)
    )
