"""
Let the host target work on the program's own memory where a construct copies arrays in and out around
itself alone.

The device memory of the host target is separate from the program's, and an array without a data region
is copied for every launch. For a construct without `async` nothing can look at either copy in the meantime
but its own kernel, so the copy can be left out for an array in

- `copy`, and `copyout`, whose elements that the kernel leaves alone are undefined afterwards anyway;
- `copyin`, if the kernel provably does not write it: what it writes there must not come back.

The runtime makes use of that (`DataFlag.IN_PLACE`) where nothing of the array is present and nothing else
of the construct overlaps with it (`runtime/data/quick_entry.py`).

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
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import IN_PLACE
from .decisions.schedule import Target
from .ir.acc_ops import variable_name
from .ir.accesses import root_of
from .ir.data_spans import Clause, clause_of
from .ir.machine import machine_of
from .ir.notes import note
from .ir.region_values import variable_key
from .ir.region_writes import Writes, writes_of

_SHARED = (Clause.COPY, Clause.COPYIN, Clause.COPYOUT)


def _is_synchronous(construct: acc.ParallelOp) -> bool:
    return not construct.async_operands and construct.async_only is None


def _constructs_of(entry: Operation) -> list[acc.ParallelOp] | None:
    """The constructs (versions of one) that take `entry` as data; None if anything else does."""
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
    Whether code may write what the data operation of `operand` maps: anything that is not a variable of
    its own, or mapped by another data operation. (The runtime sees to it that those do not overlap.)
    """
    others = {_key(o) for o in construct.data_clause_operands} - {_key(operand)}
    return writes.unknown or any(
        _key(root) not in others
        and (not isinstance(root.owner, llvm.AllocaOp) or _key(root) == _key(operand))
        for root, _ in writes.stores
    )


def _shared_names(construct: acc.ParallelOp) -> list[str]:
    """Marks the data operations of a construct; the names of their variables."""
    writes: Writes | None = None
    names: list[str] = []
    for operand in construct.data_clause_operands:
        entry = operand.owner
        if not isinstance(entry, acc.CopyinOp | acc.CreateOp) or clause_of(entry) not in _SHARED:
            continue
        constructs = _constructs_of(entry)
        if constructs is None or not all(map(_is_synchronous, constructs)):
            continue
        if clause_of(entry) is Clause.COPYIN:
            if writes is None:
                writes = writes_of(op for c in constructs for b in c.region.blocks for op in b.ops)
            if _may_write(writes, operand, construct):
                continue
        entry.attributes[IN_PLACE] = UnitAttr()
        names.append(f"'{variable_name(operand)}'")
    return names


@dataclass(frozen=True)
class ShareHostMemoryPass(ModulePass):
    """Marks what the host target need not copy; see the file's docstring."""

    name = "share-host-memory"

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        if target != "host":
            return
        for construct in [c for c in op.walk() if isinstance(c, acc.ParallelOp)]:
            names = _shared_names(construct)
            if names:
                text = f"works in host memory on {', '.join(names)} where not present: no copies"
                note(construct, [(construct, text)])
