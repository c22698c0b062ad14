"""
Let data regions of the host target use the program's own memory where no code can observe the difference.

The device memory of the host target is separate from the program's, so a data region copies its arrays there
and back. The program cannot distinguish the copy from the original for an array of numbers, or of
structures of them, in

- `copy` and `copyout`, if no host code in the region accesses it;
- `copyin`, if no host code and no construct in the region writes it: what a construct writes under `copyin`
  must not reach the host. Every store of a construct is to a variable in another clause of the region (the
  runtime checks that they do not overlap) or to a certainly distinct one.

The region must not contain directives that move data or wait, constructs with `async`, or calls of functions
whose effects are unknown. Its constructs find the data present, at its host address (`DataFlag.SHARED`). The
runtime still copies sections that are short, partly present, or overlap with another clause of the region.

Takes:  the data level, data operations final.
Leaves: `accx.shared` on entry operations of `acc.data`, a remark in `accx.data_region`.
Fails:  never.

Before:
  %d = acc.copyin varPtr(%a : !llvm.ptr) … {dataClause = #acc<data_clause acc_copy>}
  acc.data dataOperands(%d : !llvm.ptr) { acc.parallel … }
After:
  %d = acc.copyin varPtr(%a : !llvm.ptr) … {dataClause = #acc<data_clause acc_copy>, accx.shared}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import AnyFloat, IntegerType, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import DATA_REGION, SHARED
from .decisions.schedule import Target
from .ir.data.data_spans import MappingClause, clause_with_pointers, has_rows
from .ir.data.host_effects import Barrier, HostAccess, HostEffects
from .ir.data.host_memory import HostMemory
from .ir.data.region_writes import writes_of
from .ir.ops.acc_ops import MAPPING_OPS, variable_name
from .ir.ops.layout import array_shape, is_union
from .ir.ops.machine import machine_of
from .ir.values.accesses import root_of
from .ir.values.region_values import same_variable

_CLAUSES = (MappingClause.COPY, MappingClause.COPYIN, MappingClause.COPYOUT)


def _holds_numbers(type_: Attribute) -> bool:
    """
    Whether a variable consists of numbers only, so that no pointer in it can be attached. Members of unions
    may be pointers.
    """
    _, element = array_shape(type_)
    if isinstance(element, llvm.LLVMStructType):
        return not is_union(element) and all(map(_holds_numbers, element.types))
    return isinstance(element, IntegerType | AnyFloat)


def _entries(region: acc.DataOp) -> list[tuple[SSAValue, MappingClause]]:
    """The region's clauses that may share memory: their data operations' results."""
    return [
        (operand, clause)
        for operand in region.data_clause_operands
        if isinstance(entry := operand.owner, acc.CopyinOp | acc.CreateOp)
        and (clause := clause_with_pointers(entry)) in _CLAUSES
        and not has_rows(entry)
        and _holds_numbers(entry.var_type)
    ]


def _variable(operand: SSAValue) -> SSAValue:
    """The host's pointer that a data operation maps."""
    assert isinstance(operand.owner, MAPPING_OPS)
    return operand.owner.var


@dataclass
class _Sharing:
    """The arrays of the data regions of one module."""

    memory: HostMemory
    effects: HostEffects

    def region(self, region: acc.DataOp) -> None:
        entries = _entries(region)
        if not entries:
            return
        effects = [
            e for block in region.region.blocks for op in block.ops for e in self.effects.of(op)
        ]
        accesses = [effect for effect in effects if not isinstance(effect, Barrier)]
        if len(accesses) < len(effects):
            return
        written = self._written(region)
        shared = [
            operand
            for operand, clause in entries
            if self._untouched(operand, clause, accesses)
            and (
                clause is not MappingClause.COPYIN
                or self._read_only(operand, region, written, accesses)
            )
        ]
        for operand in shared:
            assert isinstance(operand.owner, Operation)
            operand.owner.attributes[SHARED] = UnitAttr()
        if shared and DATA_REGION not in region.attributes:
            names = ", ".join(f"'{variable_name(operand)}'" for operand in shared)
            region.attributes[DATA_REGION] = StringAttr(
                f"works in host memory on {names} where not present: no copies"
            )

    def _untouched(
        self, operand: SSAValue, clause: MappingClause, accesses: Sequence[HostAccess]
    ) -> bool:
        roots = self.memory.roots(_variable(operand))
        reads_too = clause is not MappingClause.COPYIN
        return all(
            self.memory.distinct(access.root, root)
            for access in accesses
            if access.writes or reads_too
            for root in roots
        )

    def _written(self, region: acc.DataOp) -> set[SSAValue] | None:
        """The host pointers and variables through which constructs in the region write; None if not known."""
        found: set[SSAValue] = set()
        for construct in [op for op in region.walk() if isinstance(op, acc.ParallelOp)]:
            writes = writes_of(op for block in construct.region.blocks for op in block.ops)
            if writes.unknown:
                return None
            found |= {root for root, _ in writes.stores}
        return found

    def _read_only(
        self,
        operand: SSAValue,
        region: acc.DataOp,
        written: set[SSAValue] | None,
        accesses: Sequence[HostAccess],
    ) -> bool:
        """
        Whether no construct writes the array: everything they write is in another clause of the region, or
        distinct.
        """
        if written is None:
            return False
        roots = self.memory.roots(_variable(operand))
        others = [
            root_of(other)
            for other in region.data_clause_operands
            if isinstance(other.owner, MAPPING_OPS)
            and not same_variable(root_of(other), root_of(operand))
        ]
        return all(
            any(self._is(root, other, accesses) for other in others)
            or all(self.memory.distinct(one, x) for one in self.memory.roots(root) for x in roots)
            for root in written
        )

    def _is(self, root: SSAValue, other: SSAValue, accesses: Sequence[HostAccess]) -> bool:
        """
        Whether two pointers are the same variable, or loads of one pointer variable that host code does not
        change.
        """
        if not same_variable(root, other):
            return False
        owner = root.owner
        if root is other or isinstance(owner, llvm.AddressOfOp):
            return True
        return isinstance(owner, llvm.LoadOp) and all(
            self.memory.distinct(access.root, place)
            for access in accesses
            if access.writes
            for place in self.memory.roots(owner.ptr)
        )


@dataclass(frozen=True)
class ShareDataRegionsPass(ModulePass):
    """Marks what data regions of the host target need not copy; see the file's docstring."""

    name = "share-data-regions"

    enabled: bool = True
    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.enabled or (self.target or machine_of(op).target) != "host":
            return
        regions = [inner for inner in op.walk() if isinstance(inner, acc.DataOp)]
        if regions:
            memory = HostMemory(op)
            sharing = _Sharing(memory, HostEffects(op, memory))
            for region in regions:
                sharing.region(region)
