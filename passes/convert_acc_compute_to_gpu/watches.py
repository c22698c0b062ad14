"""
Marks, for the simulator, scalars through which iterations of a partitioned loop may depend on each other
without a clause.

A gang's or worker's scalar has a copy in every thread (`privatise.py`), and code that all threads
run keeps the copies equal. If a partitioned loop assigns such a scalar without a private, firstprivate or
reduction clause for it, the copies diverge: the value of a copy then depends on which gang, worker or lane
ran which iteration. Such loops and scalars are found here while the construct is lowered; `accx.watch`
operations tell the simulator of their iterations and accesses. Correct programs have few such scalars or
none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Block, Operation, SSAValue

from ...compiler.base.diagnostics import SourceLoc
from ...dialects.accx_watch import WatchOp
from ..decisions.loop_partition import Mode, Partition, Sharers
from ..ir.ops.acc_ops import has_level, own_copies
from ..ir.values.accesses import root_of
from .context import Kernel

_INSIDE = {Mode.GANG: "gang", Mode.WORKER: "worker", Mode.THREAD: "thread"}


@dataclass
class Scalar:
    """A watched scalar: `slot` is its copy in each thread; `remedies` has an entry for each of `loops`."""

    number: int
    slot: SSAValue
    name: str
    what: str
    loops: list[int] = field(default_factory=list[int])
    remedies: list[str] = field(default_factory=list[str])

    def about(self) -> DictionaryAttr:
        return DictionaryAttr(
            {
                "name": StringAttr(self.name),
                "what": StringAttr(self.what),
                "loops": _numbers(self.loops),
                "remedies": ArrayAttr([StringAttr(r) for r in self.remedies]),
            }
        )


class Watches:
    """The watched loops and scalars of one device function."""

    def __init__(self, k: Kernel):
        self.k = k
        self.scalars: dict[SSAValue, Scalar] = {}

    def loop(self, op: acc.LoopOp, partition: Partition) -> Watch | None:
        """The watch of a loop that assigns scalars of its gang or worker; None if it assigns none."""
        slots = [(root, self._slot(root)) for root in assigned(op)]
        here = [(root, slot) for root, slot in slots if slot is not None]
        if not here:
            return None
        number = self.k.device.watched_loops
        self.k.device.watched_loops += 1
        for root, slot in here:
            scalar = self._scalar(root, slot)
            scalar.loops.append(number)
            scalar.remedies.append(_remedy(scalar.name))
        own = [self.scalars[slot].number for _, slot in here]
        about = DictionaryAttr(
            {
                "line": IntegerAttr(SourceLoc.from_attr(op.location).line, i64),
                "inside": StringAttr(_INSIDE[partition.inside]),
                "shared_by": StringAttr(_shared_by(partition)),
                "variables": _numbers(own),
            }
        )
        return Watch(self.k, number, about)

    def _slot(self, root: SSAValue) -> SSAValue | None:
        """
        The stack slot of the thread's copy of `root`; None if it has none, or if the variable is an array.
        """
        slot = self.k.values.get(root)
        owner = slot.owner if slot is not None else None
        if not isinstance(owner, llvm.AllocaOp):
            return None
        return None if isinstance(owner.elem_type, llvm.LLVMArrayType) else slot

    def _scalar(self, root: SSAValue, slot: SSAValue) -> Scalar:
        known = self.scalars.get(slot)
        if known is None:
            number = self.k.device.watched_scalars
            self.k.device.watched_scalars += 1
            known = self.scalars[slot] = Scalar(number, slot, _name(root), _copy_in_words(root))
        return known

    def finish(self) -> None:
        """Marks the accesses to the watched scalars, once all of them have been emitted."""
        for slot, scalar in self.scalars.items():
            about = scalar.about()
            for use in list(slot.uses):
                op = use.operation
                block = op.parent_block()
                assert block is not None
                if isinstance(op, llvm.LoadOp):
                    watch = WatchOp("read", scalar.number, about)
                    block.insert_op_after(watch, op)
                elif isinstance(op, llvm.StoreOp) and op.ptr is slot:
                    watch = WatchOp("write", scalar.number, about, [slot, op.value])
                    block.insert_op_before(watch, op)
                else:
                    continue
                watch.location = op.location


@dataclass
class Watch:
    """One watched loop while it is lowered."""

    k: Kernel
    number: int
    about: DictionaryAttr

    def event(self, name: str) -> None:
        """Emits the event `begin`, `iteration` or `end` at the current position."""
        self.k.insert(WatchOp(name, self.number, self.about))


def assigned(loop: acc.LoopOp) -> list[SSAValue]:
    """
    The scalars from outside a loop that it assigns without a clause. Variables that the construct or an
    enclosing loop reduces are left out, and so are those whose address is passed to a function.
    """
    own = set(own_copies(loop))
    stored: dict[SSAValue, None] = {}
    escaping: set[SSAValue] = set()
    for op in loop.region.walk():
        for operand in op.operands:
            if not isinstance(operand.type, llvm.LLVMPointerType):
                continue
            root = root_of(operand)
            if not isinstance(root.owner, llvm.AllocaOp | acc.PrivateOp | acc.FirstprivateOp):
                continue
            if isinstance(op, llvm.StoreOp) and op.ptr is operand:
                stored[root] = None
            elif not isinstance(op, llvm.LoadOp | acc.LoopOp | acc.PrivateOp | acc.YieldOp):
                escaping.add(root)
    return [
        root
        for root in stored
        if root not in own and root not in escaping and not _within(loop, root)
    ]


def _within(loop: acc.LoopOp, root: SSAValue) -> bool:
    """Whether a variable is declared in the loop, or is a copy that a clause inside makes."""
    owner = root.owner
    while isinstance(owner, Operation):
        if owner is loop:
            return True
        owner = owner.parent_op()
    return any(
        use.operation is not loop
        and isinstance(use.operation, acc.LoopOp)
        and loop.is_ancestor(use.operation)
        for use in root.uses
    )


def _shared_by(partition: Partition) -> str:
    if partition.gang_dim is not None:
        return "launch"
    return "worker" if partition.unit is Sharers.LANES else "gang"


def _name(root: SSAValue) -> str:
    owner = root.owner
    if isinstance(owner, acc.PrivateOp | acc.FirstprivateOp) and owner.var_name is not None:
        return owner.var_name.data
    return root.name_hint or "scalar"


def _copy_in_words(root: SSAValue) -> str:
    """
    The kind of copy that a scalar is, with the line of its clause: `firstprivate at line 4, one for each
    gang`.
    """
    owner = root.owner
    assert isinstance(owner, Operation) and not isinstance(owner, Block)
    kind = {"acc.private": "private", "acc.firstprivate": "firstprivate"}.get(
        owner.name, "declared"
    )
    per = "gang"
    around = owner.parent_op()
    while around is not None:
        if isinstance(around, acc.LoopOp) and has_level(around.worker):
            per = "worker"
        around = around.parent_op()
    return f"{kind} at line {SourceLoc.from_attr(owner.location).line}, one for each {per}"


def _remedy(name: str) -> str:
    return (
        f"write reduction(OPERATOR:{name}) on that loop if its iterations only combine values into it,"
        f" private({name}) if none needs another's, or seq"
    )


def _numbers(values: Sequence[int]) -> ArrayAttr:
    return ArrayAttr([IntegerAttr(value, i64) for value in values])
