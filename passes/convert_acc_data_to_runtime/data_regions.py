"""
The walk over a host function that replaces data constructs, launches and directives by runtime calls.

Data operations are gathered into groups. `data`, `enter data`, `update` and the like name theirs as
operands; a compute construct's stand before its launch in the same block, so that the group is
closed when the walk meets the launch (or an operation that contains it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import acc, gpu, llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from ...compiler.base.abi import (
    ASYNC_NOVAL,
    ASYNC_ON_DEVICE,
    NOT_GIVEN,
    DataFlag,
    DeviceOperation,
    DeviceType,
)
from ...compiler.base.diagnostics import SourceLoc
from ...dialects.accx import FROM_KERNELS, SITE, LaunchHostOp
from ...dialects.accx_compress import COMPRESSION_OPS, CoefficientsOp
from ...dialects.accx_devices import EnterDeviceOp, LeaveDeviceOp, UpdatePeerOp
from ..ir.building import Cursor, constant_value, erase
from ..ir.device_calls import DeviceCalls
from ..ir.layout import size_of
from ..ir.outline import DATA_ENTRY, WaitArgument, queue_value, wait_argument
from ..ir.runtime_calls import RuntimeCalls, synchronous
from ..ir.sites import SiteKind, SiteTable, SiteVariable, construct_name
from .compressed_records import read_coefficients
from .data_records import EXIT_OPS, EntryOp, Record, RecordArray, entry_record, exit_record
from .data_uses import (
    contains_use,
    dominates,
    entries_of,
    entry_queue,
    first_use,
    following_exits,
    inline_region,
    is_address,
    is_claimed,
    launch_in,
    launch_queue,
)

_DEVICE_TYPES = {
    acc.DeviceType.NONE: DeviceType.DEFAULT,
    acc.DeviceType.STAR: DeviceType.DEFAULT,
    acc.DeviceType.DEFAULT: DeviceType.DEFAULT,
    acc.DeviceType.HOST: DeviceType.HOST,
    acc.DeviceType.MULTICORE: DeviceType.HOST,
    acc.DeviceType.NVIDIA: DeviceType.NVIDIA,
    acc.DeviceType.RADEON: DeviceType.RADEON,
}


@dataclass
class _Group:
    """The data operations of one construct, entered; `queue` and `condition` serve its exit too."""

    site: int
    records: RecordArray
    queue: SSAValue
    condition: SSAValue | None
    exited: bool = False


@dataclass
class HostFunctionLowering:
    """Lowers one host function."""

    function: llvm.FuncOp
    sites: SiteTable
    calls: RuntimeCalls
    pending: list[EntryOp] = field(default_factory=list["EntryOp"])
    groups: dict[Operation, _Group] = field(default_factory=dict[Operation, _Group])
    tokens: dict[SSAValue, _Group] = field(default_factory=dict[SSAValue, _Group])
    cells: set[SSAValue] = field(default_factory=set[SSAValue])
    """Device addresses of reduced variables, which the host reads at the end of their construct."""
    dead: list[Operation] = field(default_factory=list[Operation])

    def run(self) -> None:
        """Replaces everything in the function, then drops the data operations."""
        self._region(self.function.body)
        for op in self.dead:
            erase(op)
        kinds = (*DATA_ENTRY, acc.DeclareEnterOp)
        for op in reversed(list(self.function.body.walk())):
            if isinstance(op, kinds) and not op.results[0].uses:
                erase(op)
        for op in reversed(list(self.function.body.walk())):
            if isinstance(op, acc.DataBoundsOp) and not op.results[0].uses:
                erase(op)

    # The walk

    def _region(self, region: Region) -> None:
        for block in list(region.blocks):
            outer, self.pending = self.pending, []
            op = block.first_op
            while op is not None:
                op = self._operation(op)
            if self.pending:
                self._close_compute_group(self.pending[-1], None)
            self.pending = outer

    def _operation(self, op: Operation) -> Operation | None:
        """Lowers `op` and gives the operation to continue with."""
        following = op.next_op
        match op:
            case acc.DataOp():
                return self._data(op)
            case acc.HostDataOp():
                return self._host_data(op)
            case LaunchHostOp() | gpu.LaunchFuncOp():
                self._launch(op)
            case acc.EnterDataOp():
                self._enter_data(op)
            case acc.ExitDataOp():
                self._exit_data(op)
            case acc.UpdateOp():
                self._update(op)
            case acc.DeclareEnterOp():
                self._declare_enter(op)
            case acc.DeclareExitOp():
                self._declare_exit(op)
            case acc.WaitOp():
                self._wait(op)
            case acc.InitOp():
                self._init(op, DeviceOperation.INIT, "init")
            case acc.ShutdownOp():
                self._init(op, DeviceOperation.SHUTDOWN, "shutdown")
            case acc.SetOp():
                self._set(op)
            case EnterDeviceOp() | LeaveDeviceOp() | UpdatePeerOp():
                DeviceCalls(self.calls, self._entry(), self._site).lower(op)
            case _ if isinstance(op, EXIT_OPS):
                self._exit_operation(op)
            case _ if isinstance(op, COMPRESSION_OPS):
                self.dead.append(op)
            case _ if isinstance(op, DATA_ENTRY):
                if not is_claimed(op):
                    self.pending.append(op)
            case _ if op.regions:
                if self.pending and contains_use(op, self.pending):
                    self._close_compute_group(op, launch_in(op))
                for region in op.regions:
                    self._region(region)
            case _:
                pass
        return following

    # Groups

    def _entry(self) -> Cursor:
        """The start of the function's entry block."""
        block = self.function.body.blocks[0]
        first = block.first_op
        assert first is not None
        return Cursor(InsertPoint.before(first), self.function.location)

    def _site(
        self,
        kind: SiteKind,
        op: Operation,
        records: Sequence[Record] = (),
        variables: Sequence[SiteVariable] = (),
    ) -> int:
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

    def _make(
        self,
        kind: SiteKind,
        op: Operation,
        entries: Sequence[EntryOp],
        records: list[Record],
        at: Cursor,
        queue: SSAValue,
        condition: SSAValue | None = None,
    ) -> _Group:
        """Fills the records of `entries` at `at`, enters them, and gives their results."""
        site = self._site(kind, op, records)
        array = RecordArray.make(records, self._entry())
        array.fill(at)
        group = _Group(site, array, queue, condition)
        inner = at if condition is None else at.if_then(condition)
        self._records_call(inner, "__accopt_data_enter", group)
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

    def _records_call(self, at: Cursor, name: str, group: _Group) -> None:
        records = group.records
        self.calls.records(at, name, group.site, records.memory, len(records.records), group.queue)

    def _exit(self, at: Cursor, group: _Group) -> None:
        """Leaves `group`, once."""
        if group.exited:
            return
        group.exited = True
        inner = at if group.condition is None else at.if_then(group.condition)
        self._records_call(inner, "__accopt_data_exit", group)

    def _exit_operation(self, op: acc.CopyoutOp | acc.DeleteOp | acc.DetachOp | acc.UpdateHostOp):
        """An exit operation: the first of a group's leaves the group."""
        entry = op.acc_var.owner
        if isinstance(entry, DATA_ENTRY) and any(e is entry for e in self.pending):
            self._close_compute_group(op, None)
        group = self.groups.get(entry) if isinstance(entry, Operation) else None
        if group is not None:
            self._exit(Cursor.before(op), group)
        self.dead.append(op)

    # Compute constructs

    def _close_compute_group(self, place: Operation, launch: Operation | None) -> _Group | None:
        """Enters the pending operations before `place` (after it if it is the last of them)."""
        entries, self.pending = self.pending, []
        if not entries:
            return None
        last = place is entries[-1]
        at = Cursor.after(place) if last else Cursor.before(first_use(entries, place))
        at.loc = entries[0].location if launch is None else launch.location
        queue = launch_queue(launch) if launch is not None else None
        if queue is None or not dominates(queue, at):
            queue = entry_queue(at, entries[0])
        construct = entries[0] if launch is None else launch
        records = [entry_record(e) for e in entries]
        if any(record.flags & DataFlag.CELL for record in records):
            queue = _waited_for(at, queue)
        return self._make("compute", construct, entries, records, at, queue)

    def _launch(self, op: LaunchHostOp | gpu.LaunchFuncOp) -> None:
        group = self._close_compute_group(op, op)
        at = Cursor.before(op)
        site = self._launch_site(op)
        one = at.i32(1)
        if isinstance(op, LaunchHostOp):
            shape = [op.num_gangs, one, one, one, one, one]
            shared, args = None, list(op.args)
        else:
            shape = [
                op.gridSizeX, op.gridSizeY, op.gridSizeZ,
                op.blockSizeX, op.blockSizeY, op.blockSizeZ,
            ]  # fmt: skip
            shared, args = op.dynamicSharedMemorySize, list(op.kernelOperands)
        queue = launch_queue(op)
        if queue is None:
            queue = synchronous(at)
        if not self.cells.isdisjoint(args):
            queue = _waited_for(at, queue)
        entry = self._entry()
        self.calls.launch(at, entry, site, shape, shared, at.to_i64(queue), args)
        if group is not None and not _has_exit(op, self.groups, group):
            self._exit(at, group)
        erase(op)

    def _launch_site(self, op: LaunchHostOp | gpu.LaunchFuncOp) -> int:
        """The launch's site with the sizes of its arguments, added if the launch has none."""
        attr = op.attributes.get(SITE)
        args = op.args if isinstance(op, LaunchHostOp) else op.kernelOperands
        sizes = tuple(size_of(arg.type) for arg in args)
        if isinstance(attr, IntegerAttr):
            self.sites.set_arg_bytes(attr.value.data, sizes)
            return attr.value.data
        name = op.kernel.string_value().split(".")[-1]
        return self.sites.add(
            "launch",
            SourceLoc.from_attr(op.location),
            self.function.sym_name.data,
            kernel=name,
            arg_bytes=sizes,
        )

    # Data constructs

    def _queue_of(self, op: acc.DataOp | acc.UpdateOp, at: Cursor) -> SSAValue:
        """The queue of a directive's async clause, once it has waited for those of its wait clause."""
        queue = queue_value(
            at, list(op.async_operands), op.async_operands_device_type, op.async_only
        )
        waited = wait_argument(
            list(op.wait_operands),
            op.wait_operands_device_type,
            op.wait_operands_segments,
            op.has_wait_devnum,
            op.wait_only,
        )
        self._wait_clause(op, at, queue, waited, op.if_cond)
        return queue

    def _data(self, op: acc.DataOp) -> Operation | None:
        """`acc.data`: enter, the region's operations in place, leave."""
        at = Cursor.before(op)
        queue = self._queue_of(op, at)
        entries = entries_of(op.data_clause_operands)
        if entries:
            records = [entry_record(e) for e in entries]
            kind = "compute" if FROM_KERNELS in op.attributes else "data"
            group = self._make(kind, op, entries, records, at, queue, op.if_cond)
            if not _has_exit(op, self.groups, group):
                self._exit(Cursor.after(op, op.location), group)
        return inline_region(op)

    def _host_data(self, op: acc.HostDataOp) -> Operation | None:
        """`acc.host_data`: device addresses of the variables for the region."""
        entries = entries_of(op.data_clause_operands)
        flags = DataFlag.IF_PRESENT if op.if_present is not None else DataFlag(0)
        records = [_with_flags(entry_record(e), flags) for e in entries]
        at = Cursor.before(op)
        group = self._make("host_data", op, entries, records, at, synchronous(at), op.if_cond)
        group.exited = True
        return inline_region(op)

    def _enter_data(self, op: acc.EnterDataOp) -> None:
        at, queue = self._directive_start(op, op.async_operand, op.async_attr, op.if_cond)
        entries = entries_of(op.data_clause_operands)
        records = [_with_flags(entry_record(e), DataFlag.DYNAMIC) for e in entries]
        group = self._make("enter data", op, entries, records, at, queue, op.if_cond)
        group.exited = True
        erase(op)

    def _exit_data(self, op: acc.ExitDataOp) -> None:
        at, queue = self._directive_start(op, op.async_operand, op.async_attr, op.if_cond)
        flags = DataFlag.DYNAMIC
        if op.finalize is not None:
            flags |= DataFlag.FINALIZE
        exits = following_exits(op, op.data_clause_operands)
        records = [_with_flags(exit_record(e), flags) for e in exits]
        self._perform("__accopt_data_exit", "exit data", op, records, at, queue, op.if_cond)
        erase(op)

    def _update(self, op: acc.UpdateOp) -> None:
        at = Cursor.before(op)
        queue = self._queue_of(op, at)
        flags = DataFlag.IF_PRESENT if op.if_present is not None else DataFlag(0)
        records = [
            _with_flags(entry_record(entry), flags)
            for entry in entries_of(op.data_clause_operands)
            if isinstance(entry, acc.UpdateDeviceOp)
        ]
        exits = following_exits(op, op.data_clause_operands)
        records += [_with_flags(exit_record(exit), flags) for exit in exits]
        self._perform("__accopt_update", "update", op, records, at, queue, op.if_cond)
        erase(op)

    def _perform(
        self,
        name: str,
        kind: SiteKind,
        op: Operation,
        records: list[Record],
        at: Cursor,
        queue: SSAValue,
        condition: SSAValue | None,
    ) -> None:
        """One call with `records` and nothing to leave later."""
        if not records:
            return
        inner = at if condition is None else at.if_then(condition)
        array = RecordArray.make(records, self._entry())
        array.fill(inner)
        site = self._site(kind, op, records)
        self.calls.records(inner, name, site, array.memory, len(records), queue)

    # declare

    def _declare_enter(self, op: acc.DeclareEnterOp) -> None:
        entries = entries_of(op.data_clause_operands)
        records = [entry_record(e) for e in entries]
        at = Cursor.before(op)
        group = self._make("declare", op, entries, records, at, synchronous(at))
        group.exited = True
        self.tokens[op.token] = group

    def _declare_exit(self, op: acc.DeclareExitOp) -> None:
        """Leaves what `declare_enter` entered, with its records; several returns may do so."""
        at = Cursor.before(op)
        group = None if op.token is None else self.tokens.get(op.token)
        if group is not None:
            self._records_call(at, "__accopt_data_exit", group)
        else:
            exits = following_exits(op, op.data_clause_operands)
            records = [exit_record(e) for e in exits]
            self._perform("__accopt_data_exit", "declare", op, records, at, synchronous(at), None)
        erase(op)

    # Executable directives

    def _directive_start(
        self,
        op: acc.EnterDataOp | acc.ExitDataOp,
        async_operand: SSAValue | None,
        async_attr: Attribute | None,
        condition: SSAValue | None,
    ) -> tuple[Cursor, SSAValue]:
        """The queue of `enter data` or `exit data`, after the wait its wait clause asks for."""
        at = Cursor.before(op)
        queue = _queue(at, async_operand, async_attr)
        wait: WaitArgument | None = None
        if op.wait_operands:
            wait = WaitArgument(tuple(op.wait_operands), op.wait_devnum)
        elif op.wait_attr is not None:
            wait = WaitArgument((), None)
        self._wait_clause(op, at, queue, wait, condition)
        return at, queue

    def _wait_clause(
        self,
        op: Operation,
        at: Cursor,
        queue: SSAValue,
        wait: WaitArgument | None,
        condition: SSAValue | None,
    ) -> None:
        if wait is None:
            return
        inner = at if condition is None else at.if_then(condition)
        site = self._site("wait", op)
        self.calls.wait(inner, self._entry(), site, wait, queue)

    def _wait(self, op: acc.WaitOp) -> None:
        at = Cursor.before(op)
        queue = _queue(at, op.async_operand, op.async_attr)
        wait = WaitArgument(tuple(op.wait_operands), op.wait_devnum)
        self._wait_clause(op, at, queue, wait, op.if_cond)
        erase(op)

    def _init(
        self, op: acc.InitOp | acc.ShutdownOp, operation: DeviceOperation, kind: SiteKind
    ) -> None:
        at = Cursor.before(op)
        inner = at if op.if_cond is None else at.if_then(op.if_cond)
        types = op.device_types
        given = [] if not isinstance(types, ArrayAttr) else list(types.data)
        site = self._site(kind, op)
        for type in given or [None]:
            self.calls.device(
                inner, site, operation, _device_type(inner, type), _number(inner, op.device_num)
            )
        erase(op)

    def _set(self, op: acc.SetOp) -> None:
        at = Cursor.before(op)
        inner = at if op.if_cond is None else at.if_then(op.if_cond)
        site = self._site("set", op)
        if op.device_num is not None or op.device_type is not None:
            self.calls.device(
                inner, site, DeviceOperation.SET_TYPE_AND_NUMBER,
                _device_type(inner, op.device_type), _number(inner, op.device_num),
            )  # fmt: skip
        if op.default_async is not None:
            self.calls.device(
                inner, site, DeviceOperation.SET_DEFAULT_ASYNC,
                inner.i64(NOT_GIVEN), inner.to_i64(op.default_async),
            )  # fmt: skip
        erase(op)


def _with_flags(record: Record, flags: DataFlag) -> Record:
    return replace(record, flags=record.flags | flags)


def _waited_for(at: Cursor, queue: SSAValue) -> SSAValue:
    """The queue of a construct that reduces: the synchronous one if the host would go on at its end."""
    return synchronous(at) if constant_value(queue) == ASYNC_ON_DEVICE else queue


def _queue(at: Cursor, operand: SSAValue | None, bare: Attribute | None) -> SSAValue:
    if operand is not None:
        return at.to_i64(operand)
    return at.i64(ASYNC_NOVAL) if bare is not None else synchronous(at)


def _device_type(at: Cursor, type: Attribute | None) -> SSAValue:
    known = isinstance(type, acc.DeviceTypeAttr) and type.data is not acc.DeviceType.NONE
    assert type is None or isinstance(type, acc.DeviceTypeAttr)
    return at.i64(int(_DEVICE_TYPES[type.data]) if known and type is not None else NOT_GIVEN)


def _number(at: Cursor, value: SSAValue | None) -> SSAValue:
    return at.i64(NOT_GIVEN) if value is None else at.to_i64(value)


def _has_exit(op: Operation, groups: dict[Operation, _Group], group: _Group) -> bool:
    """Whether an exit operation of `group` follows `op` in its block."""
    following = op.next_op
    while following is not None:
        if isinstance(following, EXIT_OPS):
            owner = following.acc_var.owner
            if isinstance(owner, Operation) and groups.get(owner) is group:
                return True
        following = following.next_op
    return False
