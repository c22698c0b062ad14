"""The effects of input IR on memory that threads share, and whether it can run in one thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, Region, SSAValue

from ...dialects import accx_cache, llvm_ext
from ...dialects.together import TogetherOp
from ...dialects.volatility import is_ordered
from ..ir.kernels.routine_calls import CallKind, Calls
from ..ir.ops.acc_ops import PRIVATIZING_OPS, has_level, loops_around
from ..ir.values.addresses import base_of, way_to_base
from .barriers import ANY_INTERNAL, UNKNOWN, ObjectAccess, Root, Space, accesses
from .context import Kernel
from .leaves import copy_layout, meets_threads

COPIES = (llvm_ext.MemcpyOp, llvm_ext.MemmoveOp)


@dataclass
class Effects:
    """
    The shared objects read and written; the thread-private variables written (as values of the input);
    `once`: it must not be repeated by every thread (atomics, calls with effects); `collective`: it
    needs all threads (partitioned loops, calls of routines with parallelism).
    """

    reads: set[Root] = field(default_factory=set[Root])
    writes: set[Root] = field(default_factory=set[Root])
    own_writes: set[SSAValue] = field(default_factory=set[SSAValue])
    once: bool = False
    collective: bool = False


def object_of(k: Kernel, pointer: SSAValue) -> tuple[Root | None, SSAValue]:
    """
    The shared object that a pointer of the input points into (None: thread-private), and the value of the
    input that is its base.
    """
    base = pointer
    for base in way_to_base(pointer):
        if base in k.values:
            return k.root(k.values[base]), base
    owner = base.owner
    if isinstance(owner, llvm.AllocaOp):
        array = isinstance(owner.elem_type, llvm.LLVMArrayType) or meets_threads(owner)
        shared = array and not _in_vector_loop(owner)
        return (Root(Space.SHARED, base, True) if shared else None), base
    if isinstance(owner, PRIVATIZING_OPS):
        storage = copy_layout(owner).storage
        array = storage is None or isinstance(storage, llvm.LLVMArrayType)
        reduces = isinstance(owner, acc.ReductionOp)
        shared = array and not reduces and not _is_private_to_threads(owner)
        return (Root(Space.SHARED, base, True) if shared else None), base
    if isinstance(owner, llvm.LoadOp):
        return Root(Space.DEVICE), base
    if isinstance(owner, llvm.AddressOfOp):
        return Root(Space.DEVICE, owner.global_name.string_value()), base
    return UNKNOWN, base


def _in_vector_loop(op: Operation) -> bool:
    """Whether `op` is in a loop shared by lanes, so that its variables are thread-private."""
    return any(has_level(loop.vector) for loop in loops_around(op))


def _is_private_to_threads(op: Operation) -> bool:
    """Whether the loop that names a private copy is shared by lanes, or is inside one that is."""
    loops = [use.operation for use in op.results[0].uses if isinstance(use.operation, acc.LoopOp)]
    return _in_vector_loop(op) or any(
        has_level(loop.vector) or _in_vector_loop(loop) for loop in loops
    )


_harmless: set[type[Operation]] = set()
"""A cache of the operation classes that have no effects other than those of their regions."""


class Summary:
    """Collects the effects of operations of the input before they are lowered."""

    def __init__(self, k: Kernel, calls: Calls):
        self.k = k
        self.calls = calls
        self.effects = Effects()

    def of(self, op: Operation) -> Effects:
        """The effects of `op`, including its regions."""
        self._visit(op)
        return self.effects

    def _read(self, pointer: SSAValue) -> None:
        root, _ = object_of(self.k, pointer)
        if root is not None:
            self.effects.reads.add(root)

    def _write(self, pointer: SSAValue) -> None:
        root, source = object_of(self.k, pointer)
        if root is not None:
            self.effects.writes.add(root)
        elif source in self.k.values:
            self.effects.own_writes.add(source)

    def _visit(self, op: Operation) -> None:
        match op:
            case llvm.LoadOp():
                self._read(op.ptr)
                self.effects.once |= is_ordered(op)
            case llvm.StoreOp():
                self._write(op.ptr)
                self.effects.once |= is_ordered(op)
            case llvm_ext.AtomicRMWOp() | llvm_ext.CmpXchgOp():
                self._read(op.ptr)
                self._write(op.ptr)
                self.effects.once = True
            case llvm_ext.MemcpyOp() | llvm_ext.MemmoveOp():
                self._read(op.src)
                self._write(op.dst)
            case llvm_ext.MemsetOp():
                self._write(op.dst)
            case llvm.CallOp():
                self._call(op)
            case llvm.InlineAsmOp():
                self.effects.reads.add(UNKNOWN)
                self.effects.writes.add(UNKNOWN)
                self.effects.once = True
            case acc.LoopOp():
                self._loop(op)
                return
            case accx_cache.GangThreadsOp():
                self.effects.collective = True
            case TogetherOp():
                for pointer in op.read:
                    self._read(pointer)
                for pointer in op.written:
                    self._write(pointer)
                self.effects.collective = True
            case _:
                _harmless.add(op.__class__)
        self._visit_inside(op)

    def _visit_inside(self, op: Operation) -> None:
        for region in op.regions:
            for inner in _operations(region):
                if inner.regions or inner.__class__ not in _harmless:
                    self._visit(inner)

    def _loop(self, op: acc.LoopOp) -> None:
        if has_level(op.vector) or has_level(op.worker) or has_level(op.gang):
            self.effects.collective = True
        for reduced in op.reduction_operands:
            owner = reduced.owner
            if isinstance(owner, acc.ReductionOp):
                self._read(owner.var)
                self._write(owner.var)
        self._visit_inside(op)

    def _call(self, op: llvm.CallOp) -> None:
        kind = self.calls.kind(op)
        if kind is CallKind.PURE:
            for argument in op.args:
                if isinstance(argument.type, llvm.LLVMPointerType):
                    self._read(argument)
            return
        self.effects.reads.add(UNKNOWN)
        self.effects.writes.add(UNKNOWN)
        for argument in op.args:
            if isinstance(argument.type, llvm.LLVMPointerType):
                self._write(argument)
        if kind is CallKind.COLLECTIVE:
            self.effects.collective = True
        else:
            self.effects.once = True


def _operations(region: Region) -> list[Operation]:
    return [op for block in region.blocks for op in block.ops]


def slot_of(address: SSAValue) -> llvm.AllocaOp | None:
    """The stack slot of the scalar or structure that `address` points into; None for other memory."""
    owner = base_of(address).owner
    if isinstance(owner, llvm.AllocaOp) and not isinstance(owner.elem_type, llvm.LLVMArrayType):
        return owner
    return None


def slots(k: Kernel, effects: Effects) -> list[llvm.AllocaOp]:
    """The stack slots that a piece of input writes, each once."""
    found = (slot_of(k.values[v]) for v in effects.own_writes)
    unique = {slot: None for slot in found if slot is not None}
    return sorted(unique, key=_position)


def _position(slot: llvm.AllocaOp) -> int:
    """A sort key of stack slots that is the same in every run."""
    block = slot.parent_block()
    return -1 if block is None else block.get_operation_index(slot)


def repeated(effects: Effects) -> list[ObjectAccess]:
    """The accesses of an earlier iteration of a sequential loop that no barrier has followed yet."""
    roots = accesses(effects.reads, effects.writes, leader=False)
    return roots + accesses((ANY_INTERNAL,), (ANY_INTERNAL,), leader=False)


def carried(effects: Effects) -> list[ObjectAccess]:
    """
    The accesses of an earlier iteration of a partitioned loop that no barrier has followed yet. Its
    iterations are independent, except for memory of the gang or worker that they use one after the other.
    """
    spaces = (Space.SHARED, Space.UNKNOWN)
    reads = [r for r in effects.reads if r.space in spaces]
    writes = [w for w in effects.writes if w.space in spaces]
    return accesses([*reads, ANY_INTERNAL], [*writes, ANY_INTERNAL], leader=False)
