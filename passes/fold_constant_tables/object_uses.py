"""How a program uses an object: what it stores there, and whether anything else may change its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from xdsl.dialects import acc, llvm
from xdsl.ir import Block, Operation, SSAValue, Use

from ...dialects import llvm_ext
from ...dialects.volatility import is_ordered, is_volatile
from ..ir.ops.acc_ops import COMPUTE_OPS, callee_of
from ..ir.values.addresses import ADDRESS_OPS

_MAPPERS = frozenset(("acc_map_data", "omp_target_associate_ptr"))
"""Functions after which the device copy of an object is memory with other values."""
_COPIES = (acc.CopyinOp, acc.PresentOp, acc.FirstprivateOp, acc.GetDevicePtrOp, acc.CacheOp)
"""Operations whose result is the address of a copy that has the object's values, if the object keeps them."""
_HARMLESS = (
    *COMPUTE_OPS,
    acc.LoopOp,
    acc.DataOp,
    acc.EnterDataOp,
    acc.ExitDataOp,
    acc.UpdateOp,
    acc.DeclareEnterOp,
    acc.DeclareExitOp,
    acc.CopyoutOp,
    acc.DeleteOp,
    acc.UpdateDeviceOp,
    acc.UpdateHostOp,
    acc.PrivateOp,
    llvm.ICmpOp,
)
"""Operations that neither change an object at an operand nor let its address out."""

_CHANGING = (
    acc.CreateOp,
    acc.NoCreateOp,
    acc.UseDeviceOp,
    acc.ReductionOp,
    acc.AtomicReadOp,
    acc.AtomicUpdateOp,
    acc.AtomicWriteOp,
    llvm_ext.AtomicRMWOp,
    llvm_ext.CmpXchgOp,
)
"""Operations that change an object at an operand, or make a copy with values of its own."""

OWN_DEFINITION = ("external", "internal", "private")
"""The linkages of functions and variables whose definition no other one replaces."""


@dataclass
class ObjectUses:
    """
    The uses of an object: `stores` to addresses computed from its own, and all `others`; whether anything
    else `changes` it or a copy of it; and how its address is `let_out` to code that may change it unless it
    is `const`.
    """

    stores: list[Operation] = field(default_factory=list[Operation])
    others: list[Operation] = field(default_factory=list[Operation])
    changes: bool = False
    let_out: str | None = None


@dataclass(frozen=True)
class _Address:
    """
    An address in an object. `is_own`: computed from the object's own address, not that of a copy;
    `is_passed`: in a function that gets it as an argument.
    """

    value: SSAValue
    is_own: bool = True
    is_passed: bool = False


def uses_of(addresses: Iterable[SSAValue], functions: Mapping[str, Operation]) -> ObjectUses:
    """
    The uses of the object at `addresses`, in the whole module, also by those of `functions`, the module's
    symbols by name, to which its address is passed.
    """
    found = ObjectUses()
    work = [_Address(address) for address in addresses]
    followed: set[SSAValue] = set()
    while work:
        at = work.pop()
        for use in at.value.uses:
            op = use.operation
            if isinstance(op, ADDRESS_OPS):
                work.append(replace(at, value=op.result))
                continue
            if at.is_own and _stored(use):
                found.stores.append(op)
                continue
            if not at.is_passed:
                found.others.append(op)
            parameter = _parameter(use, functions)
            if isinstance(op, _COPIES) and use.index == 0:
                work.append(replace(at, value=op.acc_var, is_own=False))
            elif parameter is None:
                _add(found, use)
            elif parameter not in followed:
                followed.add(parameter)
                work.append(_Address(parameter, is_own=False, is_passed=True))
    return found


def _stored(use: Use) -> bool:
    """Whether an operation stores to an address, in a way that may be an initialisation."""
    return _writes(use) and not is_volatile(use.operation)


def _writes(use: Use) -> bool:
    """Whether an operation stores to an address."""
    match use.operation:
        case llvm.StoreOp():
            return use.index == 1
        case llvm_ext.MemoryTransferOp() | llvm_ext.MemsetOp():
            return use.index == 0
        case _:
            return False


def _parameter(use: Use, functions: Mapping[str, Operation]) -> SSAValue | None:
    """The parameter that an address is passed to in a call of a function of the module; None for others."""
    call = use.operation
    name = callee_of(call)
    function = None if name is None else functions.get(name)
    if not isinstance(function, llvm.FuncOp) or not function.body.blocks:
        return None
    if function.linkage.linkage.data not in OWN_DEFINITION:
        return None
    parameters = function.body.blocks[0].args
    same = len(parameters) == len(call.operands)
    return parameters[use.index] if same else None


def _add(found: ObjectUses, use: Use) -> None:
    """Adds what one use of an object, or of a copy of it, other than its initialisation may do."""
    op = use.operation
    match op:
        case _ if _writes(use):
            found.changes = True
        case llvm.StoreOp():
            found.let_out = "its address is stored"
        case llvm.LoadOp():
            found.changes |= is_ordered(op)
        case llvm.CallOp() if callee_of(op) in _MAPPERS:
            found.changes = True
        case llvm.CallOp():
            found.let_out = "its address is passed to a function"
        case _ if isinstance(op, _CHANGING):
            found.changes = True
        case _ if not isinstance(op, (*_HARMLESS, llvm_ext.MemoryTransferOp)):
            found.let_out = "its address is computed with"
        case _:
            pass


class Order:
    """The order of operations in blocks, counted once for each block."""

    def __init__(self) -> None:
        self._places: dict[Block, dict[Operation, int]] = {}

    def _place(self, op: Operation) -> int:
        block = op.parent
        assert block is not None
        if block not in self._places:
            self._places[block] = {inner: number for number, inner in enumerate(block.ops)}
        return self._places[block][op]

    def sorted(self, ops: Iterable[Operation]) -> list[Operation] | None:
        """Operations of one block in the order of execution; None if they are of several blocks."""
        found = list(ops)
        same = len({op.parent for op in found}) == 1
        return sorted(found, key=self._place) if same else None

    def is_after(self, op: Operation, last: Operation) -> bool:
        """
        Whether `op` is executed after `last`: in an operation that follows it in its block, or in another
        block of the region of which that block is the first.
        """
        block = last.parent
        region = None if block is None else block.parent
        around: Operation | None = op
        while around is not None and (around.parent is None or around.parent.parent is not region):
            around = around.parent_op()
        if around is None or region is None:
            return False
        if around.parent is block:
            return self._place(around) > self._place(last)
        return region.blocks.first is block
