"""
Calls the runtime as compiled host code does: C structures, C function addresses.

Kernels are native functions compiled by llvmlite.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence

import llvmlite.binding as llvm
from accopt.compiler.base.abi import (
    ASYNC_SYNC,
    DataFlag,
    DataKind,
    DataRecord,
    Launch,
    entry_point_types,
)
from accopt.runtime.api import ROUTINES
from accopt.runtime.program import Runtime

C_TYPES = {"v": None, "i": ctypes.c_int, "p": ctypes.c_int64, "z": ctypes.c_size_t}

SCALE_IR = """
; scale(float *x, float a, i64 n): gang g handles x[g * 64 .. g * 64 + 63]
define void @scale(i64 %begin, i64 %end, i64 %gangs, ptr %args) {
entry:
  %slot0 = load ptr, ptr %args
  %x = load ptr, ptr %slot0
  %p1 = getelementptr ptr, ptr %args, i64 1
  %slot1 = load ptr, ptr %p1
  %a = load float, ptr %slot1
  %p2 = getelementptr ptr, ptr %args, i64 2
  %slot2 = load ptr, ptr %p2
  %n = load i64, ptr %slot2
  %first = mul i64 %begin, 64
  %past = mul i64 %end, 64
  %short = icmp slt i64 %n, %past
  %last = select i1 %short, i64 %n, i64 %past
  br label %test
test:
  %i = phi i64 [ %first, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %last
  br i1 %more, label %body, label %done
body:
  %at = getelementptr float, ptr %x, i64 %i
  %old = load float, ptr %at
  %new = fmul float %old, %a
  store float %new, ptr %at
  %next = add i64 %i, 1
  br label %test
done:
  ret void
}
; spin(i64 *flag): waits until the flag is set, then clears it
define void @spin(i64 %begin, i64 %end, i64 %gangs, ptr %args) {
entry:
  %slot0 = load ptr, ptr %args
  %flag = load ptr, ptr %slot0
  br label %test
test:
  %v = load atomic i64, ptr %flag seq_cst, align 8
  %set = icmp ne i64 %v, 0
  br i1 %set, label %done, label %test
done:
  store atomic i64 0, ptr %flag seq_cst, align 8
  ret void
}
@table = global [4 x i32] zeroinitializer
"""

SCALE_ARGS = [8, 4, 8]


class NativeCode:
    """LLVM IR compiled into this process."""

    def __init__(self, text: str = SCALE_IR):
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(text)
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()

    def address(self, symbol: str) -> int:
        return self._engine.get_function_address(symbol) or self._engine.get_global_value_address(
            symbol
        )


def record(
    base: int,
    size: int,
    kind: DataKind,
    flags: int = 0,
    *,
    offset: int = 0,
    pointer: int = 0,
    var: int = 0,
) -> DataRecord:
    return DataRecord(base, offset, size, pointer, -1, int(kind), int(flags), var, 0, 0)


def memory_before_a_hole(size: int) -> int:
    """The address of `size` bytes (whole pages), with as many bytes behind them that are not mapped."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *([ctypes.c_int] * 3), ctypes.c_long)
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    start = libc.mmap(None, 2 * size, mmap.PROT_READ, private, -1, 0)
    libc.munmap(ctypes.c_void_p(start + size), ctypes.c_size_t(size))
    return start


class Program:
    """Stands in for the host code of a program: calls entry points and routines."""

    def __init__(self, runtime: Runtime):
        self.runtime = runtime
        self.addresses = runtime.callbacks()

    def _function(self, name: str, result, arguments):
        return ctypes.CFUNCTYPE(result, *arguments)(self.addresses[name])

    def call(self, name: str, *arguments: int):
        """An `acc_*` routine through its C signature."""
        result, *types = [C_TYPES[letter] for letter in ROUTINES[name].signature]
        return self._function(name, result, types)(*arguments)

    def entry(self, name: str, *arguments: int):
        name = f"__accopt_{name}"
        return self._function(name, *entry_point_types(name))(*arguments)

    def data(
        self, which: str, records: Sequence[DataRecord], queue: int = ASYNC_SYNC, site: int = 0
    ):
        """data_enter, data_exit or update; the records get their device addresses."""
        array = (DataRecord * len(records))(*records)
        self.entry(which, site, ctypes.addressof(array), len(records), queue)
        for ours, theirs in zip(records, array, strict=True):
            ours.device = theirs.device

    def launch(
        self,
        site: int,
        values: Sequence[ctypes._SimpleCData],
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (1, 1, 1),
        queue: int = ASYNC_SYNC,
        shared: int = 0,
    ):
        """The argument values are overwritten after the call, as a stack frame would be."""
        pointers = (ctypes.c_int64 * len(values))(*(ctypes.addressof(v) for v in values))
        launch = Launch(grid, block, shared, len(values), queue, ctypes.addressof(pointers))
        self.entry("launch", site, ctypes.addressof(launch))
        for value in values:
            ctypes.memset(ctypes.addressof(value), 0xEE, ctypes.sizeof(value))

    def wait(self, *queues: int, async_queue: int = ASYNC_SYNC):
        array = (ctypes.c_int64 * max(len(queues), 1))(*queues)
        self.entry("wait", 0, ctypes.addressof(array) if queues else 0, len(queues), async_queue)


DYNAMIC = DataFlag.DYNAMIC
