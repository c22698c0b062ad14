"""
Calls of the runtime from host code: declarations, waits, launches, device operations
(docs/runtime.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....compiler.base.abi import ASYNC_SYNC, ENTRY_POINTS, ROUTINES, DeviceOperation, Launch
from ....dialects.layout import member_offset, size_of
from ..ops.acc_ops import enclosing_function, variable_name
from ..ops.building import PTR, Cursor, put_first
from ..variables.private_storage import entry_cursor
from .outline import WaitArgument, symbol_table

DataOp = acc.CopyinOp | acc.CreateOp | acc.PresentOp | acc.NoCreateOp
"""Operations on data that is mapped by its address on the host."""

_TYPES: dict[str, Attribute] = {"void": llvm.LLVMVoidType(), "i32": i32, "i64": i64, "ptr": PTR}
LINE_BYTES = 64
"""A line of a processor's cache, which takes longer to another one than a thread takes for 1000 elements."""
ARGUMENT_BYTES = 2 * LINE_BYTES
"""A kernel's arguments and their addresses have lines of their own, a multiple of so many bytes: members of
the team read as many early (`runtime/native/gangs_members.py`)."""
_LINES = llvm.LLVMArrayType(ARGUMENT_BYTES // 8, i64)
_SIGNATURES = {
    name: llvm.LLVMFunctionType([_TYPES[kind] for kind in arguments.split()], _TYPES[result])
    for name, (result, arguments) in (ENTRY_POINTS | ROUTINES).items()
}


@dataclass
class RuntimeCalls:
    """Emits calls of runtime functions, declaring each in `module` when first used."""

    module: ModuleOp
    symbols: dict[str, Operation]

    @staticmethod
    def in_module(module: ModuleOp) -> RuntimeCalls:
        """Calls from code of `module`, whose symbols are looked up now."""
        return RuntimeCalls(module, symbol_table(module))

    def call(self, at: Cursor, name: str, *args: SSAValue) -> None:
        """Calls `name`, one of the functions without a result."""
        self._declare(name)
        at.insert(llvm.CallOp(name, *args))

    def value(self, at: Cursor, name: str, *args: SSAValue) -> SSAValue:
        """The result of `name`, one of the functions that have one."""
        self._declare(name)
        return at.value(llvm.CallOp(name, *args, return_type=_SIGNATURES[name].output))

    def mapped_extent(self, construct: Operation, mapped: DataOp) -> tuple[SSAValue, SSAValue]:
        """
        Emits, before `construct`, the call that finds the begin and end (i64) of the device memory that is
        mapped where the data operation's variable points: a conforming construct accesses no other through
        it. Those of all memory if nothing is mapped there, as on a device that shares the host's memory.
        """
        at, name = Cursor.before(construct), variable_name(mapped.acc_var)
        start = entry_cursor(enclosing_function(construct))
        start.loc = construct.location
        memory = start.alloca(llvm.LLVMArrayType(2, i64), f"{name}_extent")
        self.call(at, "__accopt_extent", mapped.var, memory)
        begin = at.load(memory, i64, f"{name}_begin")
        return begin, at.load(at.field(memory, 8), i64, f"{name}_end")

    def _declare(self, name: str) -> None:
        if name not in self.symbols:
            func = llvm.FuncOp(name, _SIGNATURES[name], llvm.LinkageAttr("external"))
            func.location = self.module.location
            put_first(self.module.body.block, func)
            self.symbols[name] = func

    def records(
        self, at: Cursor, name: str, site: int, memory: SSAValue, count: int, queue: SSAValue
    ) -> None:
        """`name(site, records, count, queue)`."""
        self.call(at, name, at.i32(site), memory, at.i32(count), queue)

    def wait(
        self, at: Cursor, entry: Cursor, site: int, wait: WaitArgument, async_queue: SSAValue
    ) -> None:
        """
        Waits for the queues of a clause or directive; queue `async_queue` waits, or the host if
        that is the synchronous queue. With `devnum`, the device's own routines of `openacc.h` wait.
        """
        if wait.devnum is not None:
            self._wait_on_device(at, wait, async_queue)
            return
        if wait.queues:
            memory = entry.alloca(llvm.LLVMArrayType(len(wait.queues), i64), "queues")
            for index, queue in enumerate(wait.queues):
                at.store(at.to_i64(queue), at.field(memory, 8 * index))
        else:
            memory = at.zero(PTR)
        count = at.i32(len(wait.queues))
        self.call(at, "__accopt_wait", at.i32(site), memory, count, async_queue)

    def _wait_on_device(self, at: Cursor, wait: WaitArgument, async_queue: SSAValue) -> None:
        assert wait.devnum is not None
        device = at.to_integer(wait.devnum, i32)
        waiter = at.to_integer(async_queue, i32)
        for queue in wait.queues:
            number = at.to_integer(queue, i32)
            self.call(at, "acc_wait_device_async", number, waiter, device)
        if not wait.queues:
            self.call(at, "acc_wait_all_device_async", waiter, device)

    def launch(
        self,
        at: Cursor,
        entry: Cursor,
        site: int,
        shape: Sequence[SSAValue],
        shared_bytes: SSAValue | None,
        queue: SSAValue,
        args: Sequence[SSAValue],
    ) -> None:
        """Launches the site's kernel; `shape` is grid and block, x y z each."""
        table = llvm.LLVMArrayType(max(len(args), 1), PTR)
        packed = llvm.LLVMStructType.from_type_list([table, *(arg.type for arg in args)])
        pointers = entry.alloca(
            llvm.LLVMArrayType(-(-size_of(packed) // ARGUMENT_BYTES), _LINES),
            "kernel_args",
            alignment=LINE_BYTES,
        )
        launch = entry.alloca(llvm.LLVMArrayType(6, i64), "launch")
        for index, arg in enumerate(args):
            slot = at.field(pointers, member_offset(packed, index + 1), arg.name_hint or "arg")
            at.store(arg, slot)
            at.store(slot, at.field(pointers, 8 * index))
        for index, size in enumerate(shape):
            at.store(at.to_integer(size, i32), at.field(launch, 4 * index))
        shared = at.i32(0) if shared_bytes is None else shared_bytes
        at.store(shared, at.field(launch, _launch_offset("shared_bytes")))
        at.store(at.i32(len(args)), at.field(launch, _launch_offset("arg_count")))
        at.store(queue, at.field(launch, _launch_offset("queue")))
        at.store(pointers, at.field(launch, _launch_offset("args")))
        self.call(at, "__accopt_launch", at.i32(site), launch)

    def device(
        self, at: Cursor, site: int, operation: DeviceOperation, type: SSAValue, number: SSAValue
    ) -> None:
        """`init`, `shutdown` and `set`."""
        self.call(at, "__accopt_device", at.i32(site), at.i32(int(operation)), type, number)


def _launch_offset(field: str) -> int:
    return getattr(Launch, field).offset


def synchronous(at: Cursor) -> SSAValue:
    """The queue of a construct without an async clause."""
    return at.i64(ASYNC_SYNC)
