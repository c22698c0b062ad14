"""Builds the constructs for the pieces of a kernels construct, and the host code between them (step 3)."""

from __future__ import annotations

from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx import FROM_KERNELS, WHY
from ..ir.kernels.constructs import (
    one_before,
    parallel_with_clauses,
    set_one_gang,
    single_gang_parallel,
)
from ..ir.ops.acc_ops import ENTRY_OPS, parallel_constructs, replace_inside, set_operand_groups
from ..ir.ops.building import erase
from ..ir.ops.loop_order import confine_to_gang
from ..ir.ops.versions import drop_wait
from ..ir.values.region_values import HostEmitter
from .kernel_loops import HostLoops, body_ops, is_parallel_nest, keep_values
from .kernel_pieces import KernelPiece, cut, fill

_SIZE_PROPERTIES = (
    "numGangsSegments",
    "numGangsDeviceType",
    "numWorkersDeviceType",
    "vectorLengthDeviceType",
)


def _kernel(kernels: acc.KernelsOp, region: Region) -> acc.ParallelOp:
    """A parallel construct with all clauses and sizes of the kernels construct."""
    parallel = parallel_with_clauses(kernels, region)
    set_operand_groups(
        parallel,
        num_gangs=kernels.num_gangs,
        num_workers=kernels.num_workers,
        vector_length=kernels.vector_length,
    )
    for name in _SIZE_PROPERTIES:
        if name in kernels.properties:
            parallel.properties[name] = kernels.properties[name]
    parallel.attributes[FROM_KERNELS] = UnitAttr()
    return parallel


def _construct(
    kernels: acc.KernelsOp, piece: KernelPiece, block: Block, one: SSAValue
) -> acc.ParallelOp:
    """The construct of one piece, with the location of the piece's C code."""
    region = Region(block)
    if piece.loop and not piece.mixed:
        parallel = _kernel(kernels, region)
    elif piece.mixed or any(is_parallel_nest(op) for op in block.walk()):
        parallel = _kernel(kernels, region)
        set_one_gang(parallel, one)
    else:
        parallel = single_gang_parallel(kernels, region, one)
        parallel.attributes[FROM_KERNELS] = UnitAttr()
    return parallel


def _data_condition(kernels: acc.KernelsOp, block: Block) -> SSAValue | None:
    """The condition for data actions: `if` and not `self`; None without these clauses."""
    condition = kernels.if_cond
    negated: SSAValue | None = None
    if kernels.self_cond is not None:
        true = arith.ConstantOp(IntegerAttr(1, i1))
        flip = arith.XOrIOp(kernels.self_cond, true)
        block.insert_ops_before([true, flip], kernels)
        negated = flip.result
    elif kernels.self_attr is not None:
        false = arith.ConstantOp(IntegerAttr(0, i1))
        block.insert_op_before(false, kernels)
        negated = false.result
    if condition is None or negated is None:
        return condition or negated
    both = arith.AndIOp(condition, negated)
    block.insert_op_before(both, kernels)
    return both.result


def wrap_in_data(
    kernels: acc.KernelsOp, block: Block, constructs: list[Operation]
) -> list[Operation]:
    """
    Wraps the pieces in an acc.data with the region's data clauses, if it has any. Its data is moved after
    what the region waits for (OpenACC 3.4, 2.16.3).
    """
    entries = [operand.owner for operand in kernels.data_clause_operands]
    if not entries and kernels.default_attr is None:
        return constructs
    inner = Block([*constructs, acc.TerminatorOp()])
    data = acc.DataOp(
        region=Region(inner),
        if_cond=_data_condition(kernels, block),
        data_clause_operands=list(kernels.data_clause_operands),
        async_operands=list(kernels.async_operands),
        async_operands_device_type=kernels.async_operands_device_type,
        async_only=kernels.async_only,
        wait_operands=list(kernels.wait_operands),
        wait_operands_segments=kernels.wait_operands_segments,
        wait_operands_device_type=kernels.wait_operands_device_type,
        has_wait_devnum=kernels.has_wait_devnum,
        wait_only=kernels.wait_only,
        default_attr=kernels.default_attr,
    )
    if data.if_cond is None:  # otherwise the first piece has to wait if the data construct does not
        for construct in parallel_constructs(data):
            drop_wait(construct)
    data.attributes[FROM_KERNELS] = UnitAttr()
    data.location = kernels.location
    return [data]


def use_host_values(kernels: acc.KernelsOp) -> None:
    """
    Replaces device addresses in the region by the variables; a later pass gives each piece its own data
    operations.
    """
    for operand in (*kernels.data_clause_operands, *kernels.firstprivate_operands):
        entry = operand.owner
        if isinstance(entry, ENTRY_OPS):
            replace_inside(kernels, operand, entry.var)
    local = [operand.owner for operand in kernels.firstprivate_operands]
    set_operand_groups(kernels, firstprivate_operands=[])
    for entry in local:
        if isinstance(entry, acc.FirstprivateOp) and entry.acc_var.first_use is None:
            erase(entry)


def share_by_variables(ops: list[Operation], host_loops: HostLoops) -> list[SSAValue]:
    """
    Stores values that pieces share in variables, so that the pieces need not be merged; returns the
    variables.
    """
    kept: list[SSAValue] = []
    pieces, movable = cut(ops, host_loops)
    if any(piece.mixed for piece in pieces) and any(is_parallel_nest(op) for op in ops):
        kept += keep_values(ops, movable)
    for op in ops:
        if isinstance(op, scf.ForOp) and op in host_loops:
            kept += share_by_variables(body_ops(op), host_loops)
    return kept


class PieceBuilder:
    """Makes the constructs for the pieces of a kernels construct, and host loops around some of them."""

    def __init__(self, kernels: acc.KernelsOp, one: SSAValue, several: bool, host_loops: HostLoops):
        self.kernels = kernels
        self.one = one
        self.several = several
        self.host_loops = host_loops
        self.position = {op: index for index, op in enumerate(kernels.walk())}
        self.first = True

    def build(
        self, pieces: list[KernelPiece], movable: list[Operation], emit: HostEmitter
    ) -> list[Operation]:
        """The host operations that run the pieces; bounds of host loops are computed at `emit`."""
        built: list[Operation] = []
        copied = set(movable)
        for piece in pieces:
            loop = piece.host_loop(self.host_loops)
            if loop is not None:
                built.append(self._host_loop(loop, movable, emit))
                continue
            block = fill(piece, copied, self.position)
            parallel = _construct(self.kernels, piece, block, self.one)
            confine_to_gang(parallel)
            if not self.first:
                drop_wait(parallel)  # the others follow it in the same queue
            self.first = False
            if self.several:
                set_operand_groups(parallel, data_clause_operands=[])
            built.append(parallel)
        return built

    def _host_loop(self, loop: scf.ForOp, movable: list[Operation], emit: HostEmitter) -> scf.ForOp:
        """The loop as a host loop, with constructs in its body."""
        lower, upper, step = (
            self.host_loops.bound(value, emit) for value in (loop.lb, loop.ub, loop.step)
        )
        variable = loop.body.block.args[0]
        end = scf.YieldOp()
        block = Block([end], arg_types=[variable.type])
        block.args[0].name_hint = variable.name_hint
        pieces, inner = cut(body_ops(loop), self.host_loops)
        variable.replace_all_uses_with(block.args[0])
        for op in self.build(pieces, [*movable, *inner], HostEmitter(end)):
            block.insert_op_before(op, end)
        host = scf.ForOp(lower, upper, step, [], Region(block))
        if WHY in loop.attributes:
            host.attributes[WHY] = loop.attributes[WHY]
        host.location = end.location = loop.location
        return host


def single_piece(kernels: acc.KernelsOp, block: Block) -> None:
    """Makes one construct, run by one thread, of a region with jumps at its top level."""
    body = kernels.detach_region(0)
    for inner in body.blocks:
        last = inner.last_op
        if isinstance(last, acc.TerminatorOp | acc.YieldOp):
            inner.erase_op(last)
            inner.add_op(scf.YieldOp())
    execute = scf.ExecuteRegionOp([], body)
    execute.location = kernels.location
    region = Region(Block([execute, acc.YieldOp()]))
    parallel = single_gang_parallel(kernels, region, one_before(kernels))
    parallel.attributes[FROM_KERNELS] = UnitAttr()
    confine_to_gang(parallel)
    block.insert_op_before(parallel, kernels)
    block.erase_op(kernels)


def operations_of(kernels: acc.KernelsOp) -> list[Operation]:
    return [
        op for op in kernels.region.block.ops if not isinstance(op, acc.TerminatorOp | acc.YieldOp)
    ]
