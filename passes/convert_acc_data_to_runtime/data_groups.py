"""
Groups of data operations that are entered and exited together: their launch sites, records and calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ...compiler.base.abi import DataFlag
from ...compiler.base.diagnostics import SourceLoc
from ...dialects.accx import SITE
from ...dialects.accx_compress import CoefficientsOp
from ..ir.kernels.runtime_calls import RuntimeCalls
from ..ir.kernels.sites import SiteKind, SiteTable, SiteVariable, construct_name
from ..ir.ops.building import Cursor
from .compressed_records import read_coefficients
from .data_records import EXIT_OPS, EntryOp, Record, RecordArray
from .data_uses import is_address


@dataclass
class DataGroup:
    """
    The data operations of one construct, already entered; `queue` and `condition` also apply to its exit.
    """

    site: int
    records: RecordArray
    queue: SSAValue
    condition: SSAValue | None
    exited: bool = False


@dataclass
class DataGroups:
    """The groups of one host function, by their entry operations."""

    function: llvm.FuncOp
    sites: SiteTable
    calls: RuntimeCalls
    groups: dict[Operation, DataGroup] = field(default_factory=dict[Operation, "DataGroup"])
    cells: set[SSAValue] = field(default_factory=set[SSAValue])
    """Device addresses of reduced variables, which the host reads at the end of their construct."""

    def entry(self) -> Cursor:
        """The start of the function's entry block."""
        block = self.function.body.blocks[0]
        first = block.first_op
        assert first is not None
        return Cursor(InsertPoint.before(first), self.function.location)

    def site(
        self,
        kind: SiteKind,
        op: Operation,
        records: Sequence[Record] = (),
        variables: Sequence[SiteVariable] = (),
    ) -> int:
        """The number of a new site for directive `op` in the site table."""
        construct = construct_name(op)
        if isinstance(site := op.attributes.get(SITE), IntegerAttr):
            construct = self.sites.sites[site.value.data].construct
        return self.sites.add(
            kind,
            SourceLoc.from_attr(op.location),
            self.function.sym_name.data,
            [*(record.variable for record in records), *variables],
            construct=construct,
        )

    def make(
        self,
        kind: SiteKind,
        op: Operation,
        entries: Sequence[EntryOp],
        records: list[Record],
        at: Cursor,
        queue: SSAValue,
        condition: SSAValue | None = None,
    ) -> DataGroup:
        """
        Emits, at `at`, code that fills the records of `entries` and enters them, and replaces the results
        of `entries`.
        """
        site = self.site(kind, op, records)
        array = RecordArray.make(records, self.entry())
        array.fill(at)
        group = DataGroup(site, array, queue, condition)
        inner = at if condition is None else at.if_then(condition)
        self.call(inner, "__accopt_data_enter", group)
        for index, entry in enumerate(entries):
            self.groups[entry] = group
            users = [use for use in entry.acc_var.uses if is_address(use)]
            if users:
                address = array.device(at, index)
                if records[index].flags & DataFlag.CELL:
                    self.cells.add(address)
                for use in users:
                    use.operation.operands[use.index] = address
            for use in list(entry.acc_var.uses):
                if isinstance(use.operation, CoefficientsOp):
                    read_coefficients(at, array.descriptors[index], use.operation)
        return group

    def call(self, at: Cursor, name: str, group: DataGroup) -> None:
        """Emits a call of the runtime with the group's records."""
        records = group.records
        self.calls.records(at, name, group.site, records.memory, len(records.records), group.queue)

    def exit(self, at: Cursor, group: DataGroup) -> None:
        """Emits the exit of `group`, unless that has been done."""
        if group.exited:
            return
        group.exited = True
        inner = at if group.condition is None else at.if_then(group.condition)
        self.call(inner, "__accopt_data_exit", group)

    def perform(
        self,
        name: str,
        kind: SiteKind,
        op: Operation,
        records: list[Record],
        at: Cursor,
        queue: SSAValue,
        condition: SSAValue | None,
    ) -> None:
        """Emits one call with `records`, without a later exit."""
        if not records:
            return
        inner = at if condition is None else at.if_then(condition)
        array = RecordArray.make(records, self.entry())
        array.fill(inner)
        site = self.site(kind, op, records)
        self.calls.records(inner, name, site, array.memory, len(records), queue)

    def has_exit(self, op: Operation, group: DataGroup) -> bool:
        """Whether an exit operation of `group` follows `op` in its block."""
        following = op.next_op
        while following is not None:
            if isinstance(following, EXIT_OPS):
                owner = following.acc_var.owner
                if isinstance(owner, Operation) and self.groups.get(owner) is group:
                    return True
            following = following.next_op
        return False
