"""
The memory that a piece of code may write, and so the loads that may not move across it.

Two pointers are told apart as for loops (`loop_dependence.may_alias`): objects by name, restrict, and
the type of the access. A call, or an operation with unknown effects, writes everything except local
variables whose address does not escape.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...decisions.device_functions import DEVICE_FUNCTIONS, PURE_FUNCTIONS
from ..ops.acc_ops import ENTRY_OPS, callee_of
from ..ops.purity import is_pure
from ..values.accesses import aliased_type, may_alias, root_of
from ..values.region_values import variable_key


@dataclass
class Writes:
    """The stores of some code, by root, and whether it also runs code with unknown effects."""

    stores: list[tuple[SSAValue, Attribute]] = field(
        default_factory=list[tuple[SSAValue, Attribute]]
    )
    unknown: bool = False

    def add(self, op: Operation) -> None:
        """Adds the writes of `op` itself; the operations nested in it are added separately."""
        match op:
            case llvm.StoreOp():
                self.stores.append((root_of(op.ptr), aliased_type(op.ptr, op.value.type)))
            case acc.AtomicWriteOp() | acc.AtomicUpdateOp():
                self.stores.append((root_of(op.x), i8))
            case llvm.CallOp():
                name = callee_of(op)
                if name not in PURE_FUNCTIONS:
                    self._add_passed_pointers(op)
                    self.unknown = self.unknown or name not in DEVICE_FUNCTIONS
            case llvm.LoadOp():
                pass
            case _ if not op.regions and not is_pure(op):
                self._add_passed_pointers(op)
            case _:
                pass

    def _add_passed_pointers(self, op: Operation) -> None:
        if isinstance(op, ENTRY_OPS):
            return
        self.stores += [
            (root_of(v), i8) for v in op.operands if isinstance(v.type, llvm.LLVMPointerType)
        ]

    def may_change(self, load: llvm.LoadOp) -> bool:
        """Whether running this code may change what `load` reads."""
        root, type_ = root_of(load.ptr), aliased_type(load.ptr, load.dereferenced_value.type)
        if self.unknown and not isinstance(root.owner, llvm.AllocaOp):
            return True
        return any(
            variable_key(root) == variable_key(written)
            or may_alias(root, written, (type_, stored), load)
            for written, stored in self.stores
        )


def writes_of(ops: Iterable[Operation]) -> Writes:
    """The writes that these operations, including their regions, may make."""
    writes = Writes()
    for op in ops:
        for inner in op.walk():
            writes.add(inner)
    return writes


def is_movable(op: Operation, writes: Writes) -> bool:
    """Whether a copy of `op` anywhere in the code that makes these writes computes the same value."""
    if op.regions:
        return False
    if isinstance(op, llvm.LoadOp):
        return not writes.may_change(op)
    return isinstance(op, acc.PrivateOp | acc.ReductionOp) or (
        is_pure(op) and not op.has_trait(IsTerminator)
    )
