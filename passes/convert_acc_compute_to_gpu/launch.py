"""
Lowers a compute construct to a kernel and its launch.

The region is outlined (`ir/kernels/outline.py`), lowered into a `gpu.func`, and launched in place of the
construct: grid = gangs, block = (lanes, workers, 1), `asyncObject` = the OpenACC queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import acc, arith, gpu, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Block, Region, SSAValue

from ...compiler.base.abi import ASYNC_ON_DEVICE
from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import accx, nvvm
from ..decisions.block_shape import (
    MAX_SYNCHRONISING_WORKERS,
    MAX_THREADS,
    WARP,
    BlockShape,
    choose_block_shape,
)
from ..decisions.loop_partition import Mode
from ..decisions.reduction_strategy import ExchangeOption, StrategyOption
from ..ir.kernels.arguments import (
    argument_attributes,
    distinct_arguments,
    hidden_variables,
    loads_pointers,
)
from ..ir.kernels.device_symbols import declare_kind
from ..ir.kernels.exchanges import leave_whole
from ..ir.kernels.outline import (
    OutlinedKernel,
    construct_queue,
    emit_construct_wait,
    erase_privatising,
    kernel_name,
    outline_region,
)
from ..ir.kernels.routine_calls import CallKind, Calls
from ..ir.kernels.runtime_calls import RuntimeCalls
from ..ir.kernels.sites import DeclaredVariable, SiteTable, SiteVariable, construct_name
from ..ir.ops.acc_ops import enclosing_function, has_level, parallel_constructs
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.layout import size_of, type_name
from .context import TICKET_BYTES, Kernel
from .device_module import DeviceModule
from .grid_reductions import finish_grid
from .launch_parts import LONGEST, for_each_part, parted_dimensions
from .lower import RegionLowering
from .routines import DeviceReferences, device_symbol
from .scratch import recompute
from .specialise import Specialiser


@dataclass(frozen=True)
class Options:
    """
    `reduction_strategy`, `exchange`: see `decisions/reduction_strategy.py`; `redux`: use `redux.sync`;
    `watch`: mark scalars that the simulator watches (`watches.py`); `longest`: the most gangs of a launch in
    dimensions 2 and 3.
    """

    reduction_strategy: StrategyOption = "auto"
    redux: bool = False
    exchange: ExchangeOption = "shuffle"
    watch: bool = False
    longest: int = LONGEST


@dataclass
class _LaunchSizes:
    """
    The sizes of a launch as host values (i32), the block shape that the kernel assumes, and the dimensions
    of the grid that are launched in parts.
    """

    gangs: list[SSAValue]
    lanes: SSAValue
    workers: SSAValue
    one: SSAValue
    shape: BlockShape
    parted: tuple[int, ...] = ()


class ModuleLowering:
    """Lowers all compute constructs of a module."""

    def __init__(self, module: ModuleOp, options: Options):
        self.module = module
        self.options = options
        self.device = _device_module(module)
        self.sites = SiteTable.of(module)
        self.calls = Calls.of(module)
        self.blocks: dict[Block, None] = {}
        self.hidden = hidden_variables(
            value
            for construct in parallel_constructs(module)
            for value in construct.data_clause_operands
        )
        self.specialiser = Specialiser(
            DeviceReferences(self.device, self.calls), self._lower_routine
        )

    def declare_variables(self) -> None:
        """Adds the device versions of declared globals, and the site by which the runtime maps them."""
        for variable in self.specialiser.symbols.declared_variables():
            attr = variable.attributes["acc.declare"]
            if not isinstance(attr, acc.DeclareAttr):
                continue
            name = variable.sym_name.data
            size = size_of(variable.global_type)
            self.sites.add(
                "declare",
                variable.location,
                "",
                [SiteVariable(name, type_name(variable.global_type))],
                declared=[DeclaredVariable(name, device_symbol(name), size, declare_kind(attr))],
            )

    def finish(self) -> None:
        """
        Writes the site table, erases operations that only the constructs used, and removes loop attributes
        that no longer apply.
        """
        for block in self.blocks:
            erase_privatising(block)
        leave_whole(self.device.op)
        self.sites.store(self.module)

    def _lower_routine(self, k: Kernel, old: Region, new: Region, entry: Block) -> None:
        lowering = RegionLowering(k, self.specialiser, ())
        lowering.lower_blocks(old, new, entry)
        lowering.loops.watches.finish()

    def construct(self, construct: acc.ParallelOp) -> None:
        """Replaces one construct by a kernel and its launch."""
        _check(construct)
        emit_construct_wait(construct)
        name = kernel_name(construct, "kernel", self.device.names)
        self.device.names.add(name)
        outlined = outline_region(construct, name)
        function_name = enclosing_function(construct).sym_name.data
        site = self.sites.add(
            "launch",
            construct.location,
            function_name,
            kernel=name,
            construct=construct_name(construct),
        )
        cursor = Cursor.before(construct)
        synchronise = self._workers_synchronise(outlined)
        launch = _launch_sizes(cursor, outlined, synchronise, self.options.longest)
        k, function = self._kernel(outlined, launch, _alignments(construct))
        if (resident := construct.attributes.get(accx.RESIDENT)) is not None:
            function.attributes[nvvm.MINCTASM] = resident
        queue = construct_queue(construct, cursor, ASYNC_ON_DEVICE)
        added = _scratch_values(self.module, cursor, k, outlined, launch, site)
        shared = [cursor.i32(k.dynamic_bytes)] if k.dynamic_bytes else []
        part, gangs, firsts = for_each_part(
            cursor, launch.gangs, launch.parted, self.options.longest
        )
        added |= {k.first_gangs[dimension]: first for dimension, first in firsts.items()}
        operands = [*outlined.args, *(added[a] for a in k.entry.args[len(outlined.args) :])]
        _launch_kernel(part, name, replace(launch, gangs=gangs), queue, operands, site, shared)
        self.device.add(function)
        block = construct.parent_block()
        assert block is not None
        block.erase_op(construct)
        self.blocks.setdefault(block)

    def _workers_synchronise(self, outlined: OutlinedKernel) -> bool:
        """Whether the lanes of one worker may need a barrier."""
        for op in outlined.region.walk():
            if isinstance(op, acc.LoopOp) and has_level(op.worker) and not has_level(op.vector):
                return True
            if isinstance(op, llvm.CallOp) and self.calls.kind(op) is CallKind.COLLECTIVE:
                return True
        return False

    def _kernel(
        self, outlined: OutlinedKernel, launch: _LaunchSizes, alignments: Mapping[SSAValue, int]
    ) -> tuple[Kernel, gpu.FuncOp]:
        old = outlined.region.blocks[0]
        entry = Block(arg_types=[arg.type for arg in old.args])
        region = Region(entry)
        shape = launch.shape
        mode = Mode.THREAD if shape.threads == 1 else Mode.GANG
        k = Kernel(self.device, outlined.name, shape, mode, entry, outlined.loc)
        k.use_redux = self.options.redux
        k.exchange = self.options.exchange
        k.watch = self.options.watch
        sizes = [constant_value(g) for g in launch.gangs]
        k.gang_dims = 1 if sizes[1:] == [1, 1] else 3
        distinct = distinct_arguments(
            outlined.args,
            loads_pointers=loads_pointers(list(outlined.region.walk())),
            hidden=self.hidden,
            apart=outlined.apart,
        )
        for arg, inner, alone in zip(old.args, entry.args, distinct, strict=True):
            inner.name_hint = arg.name_hint
            k.values[arg] = inner
            if alone:
                k.distinct_args.add(inner)
        for dimension in launch.parted:
            k.first_gangs[dimension] = k.add_argument(i32, "first_gang")
        lowering = RegionLowering(k, self.specialiser, outlined.reductions)
        lowering.lower_single(old)
        k.loc = outlined.loc
        finish_grid(
            k,
            list(lowering.reductions.accumulators.values()),
            self.options.reduction_strategy,
            single_gang=all(size == 1 for size in sizes),
        )
        k.insert(gpu.ReturnOp([]))
        lowering.loops.watches.finish()
        k.finish()
        function = _function(k, region, outlined, launch)
        aligned = [alignments.get(arg, 1) for arg in outlined.args]
        attributes = argument_attributes(k.entry.args, distinct, aligned, self.calls)
        function.attributes["arg_attrs"] = ArrayAttr(attributes)
        return k, function


def _function(
    k: Kernel,
    region: Region,
    outlined: OutlinedKernel,
    launch: _LaunchSizes,
) -> gpu.FuncOp:
    """The `gpu.func` of a lowered kernel."""
    shape = launch.shape
    args = k.entry.args
    known = None
    if shape.lanes is not None and shape.workers is not None:
        known = [shape.lanes, shape.workers, 1]
    function = gpu.FuncOp(
        outlined.name,
        FunctionType.from_lists([arg.type for arg in args], []),
        region,
        kernel=True,
        known_block_size=known,
    )
    function.attributes["gpu.kernel"] = UnitAttr()
    function.location = outlined.loc
    return function


def _alignments(construct: acc.ParallelOp) -> dict[SSAValue, int]:
    """The data operands of whose addresses `accx.aligned` tells the alignment in bytes."""
    aligned = construct.attributes.get(accx.ALIGNED)
    if not isinstance(aligned, ArrayAttr):
        return {}
    operands = construct.data_clause_operands
    assert len(operands) == len(aligned.data), "accx.aligned has a number for each data operand"
    return {
        operand: bytes.value.data
        for operand, bytes in zip(operands, aligned.data, strict=True)
        if isinstance(bytes, IntegerAttr)
    }


def _device_module(module: ModuleOp) -> DeviceModule:
    """The module's `gpu.module`, made if there is none."""
    for op in module.body.block.ops:
        if isinstance(op, gpu.ModuleOp):
            names = {
                name.data
                for inner in op.body.block.ops
                if isinstance(name := inner.properties.get("sym_name"), StringAttr)
            }
            return DeviceModule(op, names)
    op = gpu.ModuleOp(StringAttr(accx.GPU_MODULE_NAME), Region(Block()))  # type: ignore[arg-type]
    op.location = module.location
    module.body.block.add_op(op)
    module.attributes["gpu.container_module"] = UnitAttr()
    return DeviceModule(op)


def _check(construct: acc.ParallelOp) -> None:
    if construct.if_cond is not None or construct.self_cond is not None or construct.self_attr:
        raise error(
            SourceLoc.from_attr(construct.location),
            "the compute construct still has an if or self clause",
            "run lower-if-clauses before convert-acc-compute-to-gpu",
        )


def _at_least_one(cursor: Cursor, value: SSAValue) -> SSAValue:
    constant = constant_value(value)
    if constant is not None:
        return cursor.i32(max(constant, 1))
    return cursor.value(arith.MaxSIOp(value, cursor.i32(1)), value.name_hint)


def _rounded(cursor: Cursor, value: SSAValue, multiple: int) -> SSAValue:
    """`value` rounded up to a multiple of a power of two."""
    up = cursor.value(arith.AddiOp(value, cursor.i32(multiple - 1)))
    return cursor.value(arith.AndIOp(up, cursor.i32(-multiple)), value.name_hint)


def _at_most(cursor: Cursor, value: SSAValue, limit: SSAValue) -> SSAValue:
    return cursor.value(arith.MinSIOp(value, limit), value.name_hint)


def _launch_sizes(
    cursor: Cursor, outlined: OutlinedKernel, synchronise: bool, longest: int
) -> _LaunchSizes:
    """The grid and block of the launch, as values on the host."""
    gangs = [_at_least_one(cursor, cursor.to_integer(g, i32)) for g in outlined.num_gangs]
    parted = parted_dimensions(outlined.region, gangs, longest)
    for dim, number in enumerate(gangs[1:], 2):
        if dim not in parted and not 0 < (constant_value(number) or 0) <= longest:
            gangs[dim - 1] = _at_most(cursor, number, cursor.i32(longest))
    gangs += [cursor.i32(1)] * (3 - len(gangs))

    def requested(value: SSAValue | None) -> SSAValue:
        return cursor.i32(1) if value is None else cursor.to_integer(value, i32)

    lanes, workers = requested(outlined.vector_length), requested(outlined.num_workers)
    shape = choose_block_shape(
        constant_value(lanes), constant_value(workers), workers_synchronise=synchronise
    )
    if shape.lanes is not None:
        lanes = cursor.i32(shape.lanes)
    else:
        lanes = _rounded(cursor, _at_least_one(cursor, lanes), WARP)
        lanes = _at_most(cursor, lanes, cursor.i32(MAX_THREADS))
    if shape.workers is not None:
        workers = cursor.i32(shape.workers)
    else:
        workers = _at_least_one(cursor, workers)
        if shape.lanes is not None and shape.lanes < WARP:
            workers = _rounded(cursor, workers, WARP // shape.lanes)
        limit = cursor.value(arith.DivUIOp(cursor.i32(MAX_THREADS), lanes), "most_workers")
        workers = _at_most(cursor, workers, limit)
        if synchronise and (shape.lanes is None or shape.lanes > WARP):
            workers = _at_most(cursor, workers, cursor.i32(MAX_SYNCHRONISING_WORKERS))
    return _LaunchSizes(gangs, lanes, workers, cursor.i32(1), shape, parted)


def _product(cursor: Cursor, values: Sequence[SSAValue]) -> SSAValue:
    """The product of i32 values as i64."""
    product = cursor.to_i64(values[0])
    for value in values[1:]:
        product = cursor.mul(product, cursor.to_i64(value))
    return product


def _scratch_values(
    module: ModuleOp,
    cursor: Cursor,
    k: Kernel,
    outlined: OutlinedKernel,
    launch: _LaunchSizes,
    site: int,
) -> dict[SSAValue, SSAValue]:
    """
    The values of the kernel's arguments for scratch memory: that of the site, and the offset of each area of
    private copies in it.
    """
    plan = k.scratch
    if plan.base is None:
        return {}
    gangs = _product(cursor, launch.gangs)
    bytes = cursor.mul(gangs, cursor.i64(plan.bytes_per_gang))
    bytes = cursor.add(bytes, cursor.i64(TICKET_BYTES + plan.fixed_bytes), "scratch_bytes")
    values: dict[SSAValue, SSAValue] = {}
    inner: list[SSAValue] = list(k.entry.args)
    per = (
        {
            Mode.GANG: gangs,
            Mode.WORKER: _product(cursor, [*launch.gangs, launch.workers]),
            Mode.THREAD: _product(cursor, [*launch.gangs, launch.workers, launch.lanes]),
        }
        if plan.areas
        else {}
    )
    for area in plan.areas:
        up = cursor.value(arith.AddiOp(bytes, cursor.i64(15)))
        bytes = cursor.value(arith.AndIOp(up, cursor.i64(-16)), "area")
        values[area.offset] = bytes
        if isinstance(area.elements, int):
            length = cursor.i64(area.elements)
        else:
            known = dict(zip(inner, outlined.args, strict=False))
            length = cursor.to_i64(recompute(cursor, area.elements, known))
        size = cursor.mul(length, cursor.i64(area.element_bytes))
        bytes = cursor.add(bytes, cursor.mul(size, per[area.per]), "scratch_bytes")
    calls = RuntimeCalls.in_module(module)
    scratch = calls.value(cursor, "__accopt_scratch", cursor.i32(site), bytes)
    scratch.name_hint = "scratch"
    values[plan.base] = scratch
    return values


def _launch_kernel(
    cursor: Cursor,
    name: str,
    launch: _LaunchSizes,
    queue: SSAValue,
    operands: Sequence[SSAValue],
    site: int,
    shared: Sequence[SSAValue],
) -> None:
    kernel = SymbolRefAttr(accx.GPU_MODULE_NAME, [name])
    launch_op = gpu.LaunchFuncOp.build(
        operands=[
            [],
            *launch.gangs,
            launch.lanes,
            launch.workers,
            launch.one,
            [],
            [],
            [],
            list(shared),
            list(operands),
            [queue],
        ],
        result_types=[[]],
        properties={"kernel": kernel},
    )
    launch_op.attributes[accx.SITE] = IntegerAttr(site, i32)
    cursor.insert(launch_op)
