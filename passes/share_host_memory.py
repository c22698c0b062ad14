"""
Let constructs of the host target work on the program's own memory instead of copies for one launch.

The device memory of the host target is separate from the program's, and an array without a data region
is copied for every launch. For a construct without `async`, only its own kernel can access either copy in
the meantime, so the copy can be omitted for an array in

- `copy`; `copyout`, as elements that the kernel does not write are undefined afterwards anyway;
- `copyin`, if the kernel certainly does not write it, since its writes must not reach the host. Pointers
  that a kernel loads from mapped memory point to the rows of that clause, if it has rows, otherwise to
  anything that is attached.

Where host and device share memory (`--managed`), no clause of a construct moves anything, but with `capture`:
those of all kinds are marked, `present` among them, so that the runtime has nothing to look up.

The runtime uses the host's memory (`DataFlag.IN_PLACE`) if no part of the array is present and no other
array of the construct overlaps it (`runtime/data/in_place.py`). Arrays that point to each other are shared
together or not at all.

Takes:  the data level, data operations final.
Leaves: `accx.in_place` on entry operations, a remark on the construct.
Fails:  never.

Before:
  %d = acc.copyin varPtr(%a : !llvm.ptr) … {dataClause = #acc<data_clause acc_copy>}
After:
  %d = acc.copyin varPtr(%a : !llvm.ptr) … {dataClause = #acc<data_clause acc_copy>, accx.in_place}
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import CELL, IN_PLACE
from ..dialects.accx_compress import DECODES, PACKED
from .decisions.schedule import Target
from .ir.data.data_spans import MappingClause, clause_with_pointers, has_rows
from .ir.data.region_writes import Writes, writes_of
from .ir.ops.acc_ops import EXIT_OPS, exits_of, parallel_constructs, variable_name
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.values.accesses import root_of
from .ir.values.region_values import variable_key

_SHARED = (MappingClause.COPY, MappingClause.COPYIN, MappingClause.COPYOUT)


_MAPPING = (acc.CopyinOp, acc.CreateOp, acc.PresentOp, acc.NoCreateOp)


def _is_synchronous(construct: acc.ParallelOp) -> bool:
    return not construct.async_operands and construct.async_only is None


def _constructs_of(entry: Operation) -> list[acc.ParallelOp] | None:
    """The constructs (versions of one) that have `entry` as a data operand; None if it has other uses."""
    found: list[acc.ParallelOp] = []
    for use in entry.results[0].uses:
        match use.operation:
            case acc.ParallelOp() as construct if (
                entry.results[0] in construct.data_clause_operands
            ):
                found.append(construct)
            case acc.DataOp() | acc.EnterDataOp() | acc.ExitDataOp() | acc.HostDataOp():
                return None
            case _:
                pass
    return found or None


def _key(pointer: SSAValue) -> Hashable:
    return variable_key(root_of(pointer))


def _may_write(writes: Writes, operand: SSAValue, construct: acc.ParallelOp) -> bool:
    """
    Whether code may write the memory that the data operation of `operand` maps, that is, anything other
    than its own variables and memory of other data operations. (The runtime checks that those do not
    overlap.)
    """
    mapped = {_key(o): o.owner for o in construct.data_clause_operands}
    return writes.unknown or any(_may_be(root, operand, mapped) for root, _ in writes.stores)


def _may_be(root: SSAValue, operand: SSAValue, mapped: dict[Hashable, Operation | Block]) -> bool:
    """Whether a store through `root` may reach the memory that `operand`, one of `mapped` (by key), maps."""
    loaded = False
    while _key(root) not in mapped and isinstance(root.owner, llvm.LoadOp):
        loaded, root = True, root_of(root.owner.ptr)
    entry = mapped.get(_key(root))
    if entry is None:
        return loaded or not isinstance(root.owner, llvm.AllocaOp)
    if not loaded or _maps_rows(entry):
        return _key(root) == _key(operand)
    own = operand.owner
    return _maps_rows(own) or not isinstance(own, acc.CopyinOp) or own.var_ptr_ptr is not None


def _maps_rows(entry: Operation | Block) -> bool:
    return isinstance(entry, acc.CopyinOp | acc.CreateOp) and has_rows(entry)


def _shareable(construct: acc.ParallelOp) -> list[SSAValue]:
    """The data operations of a construct that need no copy, considered one by one."""
    writes: Writes | None = None
    found: list[SSAValue] = []
    for operand in construct.data_clause_operands:
        entry = operand.owner
        if not isinstance(entry, acc.CopyinOp | acc.CreateOp):
            continue
        clause = clause_with_pointers(entry)
        if clause not in _SHARED:
            continue
        constructs = _constructs_of(entry)
        if constructs is None or not all(map(_is_synchronous, constructs)):
            continue
        if clause is MappingClause.COPYIN:
            if writes is None:
                writes = writes_of(op for c in constructs for b in c.region.blocks for op in b.ops)
            if _may_write(writes, operand, construct):
                continue
        found.append(operand)
    return found


def _unmoved(construct: acc.ParallelOp) -> list[SSAValue]:
    """The data operations of a construct that do nothing where host and device share memory."""
    if not _is_synchronous(construct):
        return []
    return [
        operand
        for operand in construct.data_clause_operands
        if isinstance(operand.owner, _MAPPING)
        and not any(name in operand.owner.attributes for name in (CELL, PACKED, DECODES))
        and not operand.owner.async_operands
        and not operand.owner.modifiers.data
        and not any(isinstance(e, EXIT_OPS) and e.modifiers.data for e in exits_of(operand.owner))
    ]


def _with_partners(shared: list[SSAValue], construct: acc.ParallelOp) -> list[SSAValue]:
    """The operands in `shared` that are not linked by pointers to other data of the construct."""
    pairs = [
        (holder, operand)
        for operand in construct.data_clause_operands
        if (pointer := _pointer_object(operand)) is not None
        for holder in construct.data_clause_operands
        if holder is not operand and _key(holder) == _key(pointer)
    ]
    found = set(shared)
    while broken := {v for pair in pairs if not found.issuperset(pair) for v in pair} & found:
        found -= broken
    return [operand for operand in shared if operand in found]


def _pointer_object(operand: SSAValue) -> SSAValue | None:
    entry = operand.owner
    return entry.var_ptr_ptr if isinstance(entry, acc.CopyinOp | acc.CreateOp) else None


def _mark(operands: list[SSAValue]) -> None:
    for operand in operands:
        assert isinstance(operand.owner, Operation)
        operand.owner.attributes[IN_PLACE] = UnitAttr()


def _share(construct: acc.ParallelOp) -> list[str]:
    """Marks the data operations of a construct; returns the names of their variables."""
    operands = _with_partners(_shareable(construct), construct)
    _mark(operands)
    return [f"'{variable_name(operand)}'" for operand in operands]


@dataclass(frozen=True)
class ShareHostMemoryPass(ModulePass):
    """See the contract at the top of this file."""

    name = "share-host-memory"

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        target = self.target or machine.target
        if target != "host":
            return
        for construct in parallel_constructs(op):
            if machine.managed:
                _mark(_unmoved(construct))
                continue
            names = _share(construct)
            if names:
                text = f"works in host memory on {', '.join(names)} where not present: no copies"
                note(construct, [(construct, text)])
