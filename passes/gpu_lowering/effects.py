"""What a piece of input IR does to memory that threads share, and whether it can run in one thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Operation, Region, SSAValue

from ...dialects import llvm_ext
from ..analysis.acc_ops import has_level
from .barriers import UNKNOWN, Root, Space
from .context import Kernel
from .operators import copy_layout
from .routines import CallKind, Calls

ATOMICS = (llvm_ext.AtomicRMWOp, llvm_ext.CmpXchgOp)
COPIES = (llvm_ext.MemcpyOp, llvm_ext.MemmoveOp)
PRIVATISING = (acc.PrivateOp, acc.FirstprivateOp, acc.ReductionOp)


@dataclass
class Effects:
    """
    Shared objects read and written; the thread's own variables written (as values of the input);
    `once`: it must not be repeated by every thread (atomics, calls with effects); `collective`: it
    needs all threads (partitioned loops, calls of routines with parallelism).
    """

    reads: set[Root] = field(default_factory=set[Root])
    writes: set[Root] = field(default_factory=set[Root])
    own_writes: set[SSAValue] = field(default_factory=set[SSAValue])
    once: bool = False
    collective: bool = False


def is_ordered(op: llvm.LoadOp | llvm.StoreOp) -> bool:
    """Whether a load or store is atomic or volatile."""
    ordering = op.ordering
    if isinstance(ordering, IntegerAttr) and ordering.value.data != 0:
        return True
    volatile = op.properties.get("volatile_") or op.attributes.get("volatile_")
    return isinstance(volatile, UnitAttr)


def object_of(k: Kernel, pointer: SSAValue, in_thread: bool) -> tuple[Root | None, SSAValue]:
    """
    The shared object that a pointer of the input refers to (None: the thread's own), and the value
    of the input that it comes from. `in_thread`: variables declared there are the thread's own.
    """
    while pointer not in k.values:
        owner = pointer.owner
        if isinstance(owner, llvm.GEPOp):
            pointer = owner.ptr
        elif isinstance(owner, llvm_ext.AddrSpaceCastOp):
            pointer = owner.arg
        elif isinstance(owner, llvm.AllocaOp):
            shared = not in_thread and isinstance(owner.elem_type, llvm.LLVMArrayType)
            return (Root(Space.SHARED, pointer, True) if shared else None), pointer
        elif isinstance(owner, PRIVATISING):
            storage = copy_layout(owner).storage
            array = storage is None or isinstance(storage, llvm.LLVMArrayType)
            reduces = isinstance(owner, acc.ReductionOp)
            shared = array and not in_thread and not reduces
            return (Root(Space.SHARED, pointer, True) if shared else None), pointer
        elif isinstance(owner, llvm.LoadOp):
            return Root(Space.DEVICE), pointer
        elif isinstance(owner, llvm.AddressOfOp):
            return Root(Space.DEVICE, owner.global_name.string_value()), pointer
        else:
            return UNKNOWN, pointer
    return k.root(k.values[pointer]), pointer


class Summary:
    """Collects the effects of operations of the input before they are lowered."""

    def __init__(self, k: Kernel, calls: Calls):
        self.k = k
        self.calls = calls
        self.effects = Effects()

    def of(self, op: Operation) -> Effects:
        """The effects of `op` with everything in it."""
        self._visit(op, in_thread=False)
        return self.effects

    def _read(self, pointer: SSAValue, in_thread: bool) -> None:
        root, _ = object_of(self.k, pointer, in_thread)
        if root is not None:
            self.effects.reads.add(root)

    def _write(self, pointer: SSAValue, in_thread: bool) -> None:
        root, source = object_of(self.k, pointer, in_thread)
        if root is not None:
            self.effects.writes.add(root)
        elif source in self.k.values:
            self.effects.own_writes.add(source)

    def _visit(self, op: Operation, in_thread: bool) -> None:
        match op:
            case llvm.LoadOp():
                self._read(op.ptr, in_thread)
                self.effects.once |= is_ordered(op)
            case llvm.StoreOp():
                self._write(op.ptr, in_thread)
                self.effects.once |= is_ordered(op)
            case llvm_ext.AtomicRMWOp() | llvm_ext.CmpXchgOp():
                self._read(op.ptr, in_thread)
                self._write(op.ptr, in_thread)
                self.effects.once = True
            case llvm_ext.MemcpyOp() | llvm_ext.MemmoveOp():
                self._read(op.src, in_thread)
                self._write(op.dst, in_thread)
            case llvm_ext.MemsetOp():
                self._write(op.dst, in_thread)
            case llvm.CallOp():
                self._call(op, in_thread)
            case llvm.InlineAsmOp():
                self.effects.reads.add(UNKNOWN)
                self.effects.writes.add(UNKNOWN)
                self.effects.once = True
            case acc.LoopOp():
                self._loop(op, in_thread)
                return
            case _:
                pass
        for region in op.regions:
            for inner in _operations(region):
                self._visit(inner, in_thread)

    def _loop(self, op: acc.LoopOp, in_thread: bool) -> None:
        vector, worker = has_level(op.vector), has_level(op.worker)
        if vector or worker or has_level(op.gang):
            self.effects.collective = True
        for reduced in op.reduction_operands:
            owner = reduced.owner
            if isinstance(owner, acc.ReductionOp):
                self._read(owner.var, in_thread)
                self._write(owner.var, in_thread)
        for region in op.regions:
            for inner in _operations(region):
                self._visit(inner, in_thread or vector)

    def _call(self, op: llvm.CallOp, in_thread: bool) -> None:
        kind = self.calls.kind(op)
        if kind is CallKind.PURE:
            for argument in op.args:
                if isinstance(argument.type, llvm.LLVMPointerType):
                    self._read(argument, in_thread)
            return
        self.effects.reads.add(UNKNOWN)
        self.effects.writes.add(UNKNOWN)
        for argument in op.args:
            if isinstance(argument.type, llvm.LLVMPointerType):
                self._write(argument, in_thread)
        if kind is CallKind.COLLECTIVE:
            self.effects.collective = True
        else:
            self.effects.once = True


def _operations(region: Region) -> list[Operation]:
    return [op for block in region.blocks for op in block.ops]
