"""
The walk over a host function that replaces data constructs, launches and directives by runtime calls.

Data operations are collected into groups. `data`, `enter data`, `update` and similar directives have theirs
as operands; those of a compute construct are before its launch in the same block, so the group ends when
the walk reaches the launch (or an operation that contains it).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xdsl.dialects import acc, gpu, llvm
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, Region, SSAValue

from ...compiler.base.abi import ASYNC_ON_DEVICE, DataFlag, DeviceOperation
from ...compiler.base.diagnostics import SourceLoc
from ...dialects.accx import FROM_KERNELS, SITE, LaunchHostOp
from ...dialects.accx_compress import COMPRESSION_OPS
from ...dialects.accx_devices import EnterDeviceOp, LeaveDeviceOp, UpdatePeerOp
from ..ir.kernels.device_calls import DeviceCalls
from ..ir.kernels.outline import DATA_ENTRY
from ..ir.kernels.runtime_calls import RuntimeCalls, synchronous
from ..ir.kernels.sites import SiteTable
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.ops.layout import size_of
from .data_groups import DataGroup, DataGroups
from .data_records import EXIT_OPS, EntryOp, Record, entry_record, exit_record
from .data_uses import (
    available,
    contains_use,
    entries_of,
    entry_queue,
    first_use,
    following_exits,
    inline_region,
    is_claimed,
    is_of_border,
    launch_in,
    launch_queue,
)
from .directive_calls import DirectiveCalls


@dataclass
class HostFunctionLowering:
    """Lowers one host function."""

    function: llvm.FuncOp
    sites: SiteTable
    calls: RuntimeCalls
    pending: list[EntryOp] = field(default_factory=list["EntryOp"])
    tokens: dict[SSAValue, DataGroup] = field(default_factory=dict[SSAValue, DataGroup])
    dead: list[Operation] = field(default_factory=list[Operation])

    def __post_init__(self) -> None:
        self.groups = DataGroups(self.function, self.sites, self.calls)
        self.directives = DirectiveCalls(self.groups)

    def run(self) -> None:
        """Lowers all operations of the function, then removes the data operations."""
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
        """Lowers `op`; returns the operation to continue with."""
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
                self.directives.wait(op)
            case acc.InitOp():
                self.directives.init(op, DeviceOperation.INIT, "init")
            case acc.ShutdownOp():
                self.directives.init(op, DeviceOperation.SHUTDOWN, "shutdown")
            case acc.SetOp():
                self.directives.set(op)
            case EnterDeviceOp() | LeaveDeviceOp() | UpdatePeerOp():
                DeviceCalls(self.calls, self.groups.entry(), self.groups.site).lower(op)
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

    def _exit_operation(self, op: acc.CopyoutOp | acc.DeleteOp | acc.DetachOp | acc.UpdateHostOp):
        """Lowers an exit operation: the first one of a group exits the whole group."""
        entry = op.acc_var.owner
        if isinstance(entry, DATA_ENTRY) and any(e is entry for e in self.pending):
            self._close_compute_group(op, None)
        group = self.groups.groups.get(entry) if isinstance(entry, Operation) else None
        if group is not None:
            self.groups.exit(Cursor.before(op), group)
        self.dead.append(op)

    # Compute constructs

    def _close_compute_group(self, place: Operation, launch: Operation | None) -> DataGroup | None:
        """Enters the pending operations before `place` (after it if it is the last of them)."""
        entries, self.pending = self.pending, []
        if not entries:
            return None
        last = place is entries[-1]
        at = Cursor.after(place) if last else Cursor.before(first_use(entries, place))
        at.loc = entries[0].location if launch is None else launch.location
        queue = launch_queue(launch) if launch is not None else None
        queue = entry_queue(at, entries[0]) if queue is None else available(queue, at)
        construct = entries[0] if launch is None else launch
        records = [entry_record(e) for e in entries]
        if any(record.flags & DataFlag.CELL for record in records):
            queue = _waited_for(at, queue)
        return self.groups.make("compute", construct, entries, records, at, queue)

    def _launch(self, op: LaunchHostOp | gpu.LaunchFuncOp) -> None:
        group = None if is_of_border(op) else self._close_compute_group(op, op)
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
        if not self.groups.cells.isdisjoint(args):
            queue = _waited_for(at, queue)
        entry = self.groups.entry()
        self.calls.launch(at, entry, site, shape, shared, at.to_i64(queue), args)
        if group is not None and not self.groups.has_exit(op, group):
            self.groups.exit(at, group)
        erase(op)

    def _launch_site(self, op: LaunchHostOp | gpu.LaunchFuncOp) -> int:
        """
        The number of the launch's site, with the sizes of its arguments; the site is added if the launch
        has none.
        """
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

    def _data(self, op: acc.DataOp) -> Operation | None:
        """Lowers `acc.data` to an entry, the region's operations in place, and an exit."""
        at = Cursor.before(op)
        queue = self.directives.queue_of(op, at)
        entries = entries_of(op.data_clause_operands)
        if entries:
            records = [entry_record(e) for e in entries]
            kind = "compute" if FROM_KERNELS in op.attributes else "data"
            group = self.groups.make(kind, op, entries, records, at, queue, op.if_cond)
            if not self.groups.has_exit(op, group):
                self.groups.exit(Cursor.after(op, op.location), group)
        return inline_region(op)

    def _host_data(self, op: acc.HostDataOp) -> Operation | None:
        """Lowers `acc.host_data`, which gives the region the device addresses of the variables."""
        entries = entries_of(op.data_clause_operands)
        flags = DataFlag.IF_PRESENT if op.if_present is not None else DataFlag(0)
        records = [_with_flags(entry_record(e), flags) for e in entries]
        at = Cursor.before(op)
        group = self.groups.make("host_data", op, entries, records, at, synchronous(at), op.if_cond)
        group.exited = True
        return inline_region(op)

    def _enter_data(self, op: acc.EnterDataOp) -> None:
        at, queue = self.directives.start(op, op.async_operand, op.async_attr, op.if_cond)
        entries = entries_of(op.data_clause_operands)
        records = [_with_flags(entry_record(e), DataFlag.DYNAMIC) for e in entries]
        group = self.groups.make("enter data", op, entries, records, at, queue, op.if_cond)
        group.exited = True
        erase(op)

    def _exit_data(self, op: acc.ExitDataOp) -> None:
        at, queue = self.directives.start(op, op.async_operand, op.async_attr, op.if_cond)
        flags = DataFlag.DYNAMIC
        if op.finalize is not None:
            flags |= DataFlag.FINALIZE
        exits = following_exits(op, op.data_clause_operands)
        records = [_with_flags(exit_record(e), flags) for e in exits]
        self.groups.perform("__accopt_data_exit", "exit data", op, records, at, queue, op.if_cond)
        erase(op)

    def _update(self, op: acc.UpdateOp) -> None:
        at = Cursor.before(op)
        queue = self.directives.queue_of(op, at)
        flags = DataFlag.IF_PRESENT if op.if_present is not None else DataFlag(0)
        records = [
            _with_flags(entry_record(entry), flags)
            for entry in entries_of(op.data_clause_operands)
            if isinstance(entry, acc.UpdateDeviceOp)
        ]
        exits = following_exits(op, op.data_clause_operands)
        records += [_with_flags(exit_record(exit), flags) for exit in exits]
        self.groups.perform("__accopt_update", "update", op, records, at, queue, op.if_cond)
        erase(op)

    # declare

    def _declare_enter(self, op: acc.DeclareEnterOp) -> None:
        entries = entries_of(op.data_clause_operands)
        records = [entry_record(e) for e in entries]
        at = Cursor.before(op)
        group = self.groups.make("declare", op, entries, records, at, synchronous(at))
        group.exited = True
        self.tokens[op.token] = group

    def _declare_exit(self, op: acc.DeclareExitOp) -> None:
        """
        Exits, at one of the function's returns, the data that `declare_enter` entered, with its records.
        """
        at = Cursor.before(op)
        group = None if op.token is None else self.tokens.get(op.token)
        if group is not None:
            self.groups.call(at, "__accopt_data_exit", group)
        else:
            exits = following_exits(op, op.data_clause_operands)
            records = [exit_record(e) for e in exits]
            self.groups.perform(
                "__accopt_data_exit", "declare", op, records, at, synchronous(at), None
            )
        erase(op)


def _with_flags(record: Record, flags: DataFlag) -> Record:
    return replace(record, flags=record.flags | flags)


def _waited_for(at: Cursor, queue: SSAValue) -> SSAValue:
    """
    The queue for the exit of a construct that reduces: the synchronous queue if the host continues after
    it.
    """
    return synchronous(at) if constant_value(queue) == ASYNC_ON_DEVICE else queue
