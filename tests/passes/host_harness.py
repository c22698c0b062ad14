"""
# ruff: noqa: E501
Runs scheduled IR on the CPU: the host passes, LLVM, and a small runtime in Python that records what
it is asked to do. Device memory is separate from host memory, and kernels run in several calls, the
last gangs first, so that code that depends on the order of gangs gives wrong results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from accopt.compiler.backend.jit import HostProgram
from accopt.compiler.base.abi import ENTRY_POINTS, DataKind, DataRecord, Launch, entry_point_types
from accopt.compiler.ir.context import make_context
from accopt.compiler.llvmir.printer import print_llvm_module
from accopt.passes.ir.kernels.sites import SiteTable
from accopt.passes.registry import load_pass
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

HOST_PASSES = (
    "lower-acc-atomics",
    "convert-acc-compute-to-host",
    "specialize-acc-for-host",
    "convert-acc-data-to-runtime",
)
_CLEAN_UP = ("lower-scf-to-cf", "convert-to-llvm")
_COPY_IN = (DataKind.COPY, DataKind.COPYIN)
_COPY_OUT = (DataKind.COPY, DataKind.COPYOUT)


def run_passes(text: str, *names: str) -> ModuleOp:
    """`text` after the passes, verified after each."""
    ctx = make_context()
    module = Parser(ctx, text).parse_module()
    module.verify()
    for name in names:
        load_pass(name)().apply(ctx, module)
        module.verify()
    return module


class HostRun:
    """A module compiled for the host, with the calls of its runtime in `log`."""

    def __init__(self, text: str):
        module = run_passes(text, *HOST_PASSES)
        self.sites = SiteTable.of(module).sites
        ctx = make_context()
        for name in _CLEAN_UP:
            load_pass(name)().apply(ctx, module)
        self.log: list[tuple[Any, ...]] = []
        self.records: list[DataRecord] = []
        self._buffers: dict[int, ctypes.Array[Any]] = {}
        self._scratch: dict[int, ctypes.Array[Any]] = {}
        self._callbacks: dict[str, Callable[..., Any]] = {}
        self._kernels: dict[str, Callable[..., Any]] = {}
        for name in ENTRY_POINTS:
            result, arguments = entry_point_types(name)
            method = getattr(self, name.removeprefix("__accopt_"), None)
            if method is not None:
                self._callbacks[name] = ctypes.CFUNCTYPE(result, *arguments)(method)
        symbols = {
            name: ctypes.cast(function, ctypes.c_void_p).value or 0
            for name, function in self._callbacks.items()
        }
        self.ir = print_llvm_module(module, target="host")
        self.program = HostProgram(self.ir, symbols=symbols)

    def call(self, name: str, *args: Any, result: Any = None) -> Any:
        """Calls function `name` with ctypes values or NumPy arrays (passed by address)."""
        values = [ctypes.c_void_p(a.ctypes.data) if hasattr(a, "ctypes") else a for a in args]
        return self.program.function(name, result, *(type(v) for v in values))(*values)

    def data_enter(self, site: int, records: int, count: int, queue: int) -> None:
        array = (DataRecord * count).from_address(records)
        self.log.append(("enter", site, queue, [(DataKind(r.kind).name, r.bytes) for r in array]))
        for r in array:
            self.records.append(DataRecord.from_buffer_copy(r))
            if r.kind in (DataKind.DEVICEPTR, DataKind.USE_DEVICE):
                continue
            buffer = ctypes.create_string_buffer(max(r.bytes, 1))
            if r.kind in _COPY_IN:
                ctypes.memmove(buffer, r.base + r.offset, r.bytes)
            else:
                ctypes.memset(buffer, 0xA5, r.bytes)
            self._buffers[ctypes.addressof(buffer)] = buffer
            r.device = ctypes.addressof(buffer) - r.offset

    def data_exit(self, site: int, records: int, count: int, queue: int) -> None:
        array = (DataRecord * count).from_address(records)
        self.log.append(("exit", site, queue, [DataKind(r.kind).name for r in array]))
        for r in array:
            if r.kind in _COPY_OUT and r.device + r.offset in self._buffers:
                ctypes.memmove(r.base + r.offset, r.device + r.offset, r.bytes)

    def update(self, site: int, records: int, count: int, queue: int) -> None:
        array = (DataRecord * count).from_address(records)
        shapes = [
            list((ctypes.c_int64 * (3 * r.dims)).from_address(r.shape)) if r.dims else []
            for r in array
        ]
        self.log.append(("update", site, queue, [DataKind(r.kind).name for r in array], shapes))
        self.records += [DataRecord.from_buffer_copy(r) for r in array]

    def launch(self, site: int, launch: int) -> None:
        shape = Launch.from_address(launch)
        known = self.sites[site]
        self.log.append(("launch", known.kernel, shape.grid[0], shape.queue))
        assert known.kernel is not None and shape.arg_count == len(known.arg_bytes)
        kernel = self.program.function(known.kernel, None, *[ctypes.c_int64] * 3, ctypes.c_void_p)
        gangs = shape.grid[0]
        middle = gangs // 3
        for begin, end in ((middle, gangs), (0, middle)):
            if begin < end:
                kernel(begin, end, gangs, shape.args)

    def scratch(self, site: int, size: int) -> int:
        buffer = self._scratch.get(site)
        if buffer is None or len(buffer) < size:
            buffer = self._scratch[site] = ctypes.create_string_buffer(size)
        return ctypes.addressof(buffer)

    def wait(self, site: int, queues: int, count: int, async_queue: int) -> None:
        numbers = list((ctypes.c_int64 * count).from_address(queues)) if count else []
        self.log.append(("wait", numbers, async_queue))

    def device(self, site: int, operation: int, device_type: int, number: int) -> None:
        self.log.append(("device", operation, device_type, number))
