"""
Turn every scheduled `acc.parallel` into a kernel function for CPU threads and its launch
(docs/design.md, "host level"; OpenACC 3.4, 2.5).

A kernel runs gangs `[gang_begin, gang_end)`, the whole body once per gang; if the body is a single gang
loop, the chunks of all these gangs run as one loop. Worker and vector loops run in one thread, the
innermost partitioned loops marked for SIMD. Reductions over gangs are deterministic: every gang stores
its partial result to the launch's scratch memory, and the kernel call that finishes last folds them into
the variable in the order of gangs.

Functions that kernels reach become `@f.acc_device`, global variables in `declare` clauses
`@g.acc_device` (`device_symbols.py`).

Takes:  the scheduled level, atomics lowered.
Leaves: no acc.parallel; `llvm.func` kernels, `accx.launch_host`, the data operations untouched.
Fails:  reductions on orphaned gang loops or without a data clause; a global variable that device
        code uses without `declare`.

Before:
  acc.parallel dataOperands(%x_dev : !llvm.ptr) num_gangs({%g : i32}) … {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) { … }
  }
After:
  accx.launch_host @f_3_host gangs(%g) queue(%q) args(%x_dev, %n) {accx.site = 0 : i32} : …
  llvm.func @f_3_host(%gang_begin: i64, %gang_end: i64, %num_gangs: i64, %args: !llvm.ptr) { … }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, UnitAttr, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...compiler.base.diagnostics import SourceLoc
from ...dialects.accx import ARRAY, KERNEL, PUNS, SITE, TYPED, LaunchHostOp
from ...dialects.accx_compress import DECODES, PACKED
from ..ir.kernels.arguments import distinct_arguments, hidden_variables, loads_pointers
from ..ir.kernels.device_symbols import DeviceVersions, Gangs
from ..ir.kernels.host_loops import HostLoopLowering
from ..ir.kernels.loop_nests import GangRange
from ..ir.kernels.outline import (
    OutlinedKernel,
    construct_queue,
    emit_construct_wait,
    erase_privatising,
    kernel_name,
    outline_region,
    select_device_type,
    symbol_table,
)
from ..ir.kernels.runtime_calls import RuntimeCalls
from ..ir.kernels.sites import SiteTable, construct_name
from ..ir.ops.acc_ops import PRIVATIZING_OPS, enclosing_function
from ..ir.ops.building import PTR, Cursor, constant_value, erase
from ..ir.ops.purity import is_pure
from ..ir.variables.private_storage import entry_cursor, hoist_allocas
from ..ir.variables.recipe_reading import Recipes
from .gang_partials import GangPartials


@dataclass
class _Kernels:
    """The state that all kernels of one module share."""

    module: ModuleOp
    symbols: dict[str, Operation]
    recipes: Recipes
    sites: SiteTable
    groups: Iterator[int] = field(default_factory=count)
    functions: list[tuple[llvm.FuncOp, Gangs]] = field(
        default_factory=list[tuple[llvm.FuncOp, "Gangs"]]
    )
    blocks: dict[Block, None] = field(default_factory=dict[Block, None])
    """The places of the replaced constructs."""
    hidden: set[SSAValue] = field(default_factory=set[SSAValue])
    """The variables to which no pointer leads (`hidden_variables`)."""
    typed: bool = False
    """
    Whether all memory is accessed by its declared type: the program has no unions and no compressed
    arrays.
    """

    def convert(self, construct: acc.ParallelOp) -> None:
        """Replaces `construct` by a launch."""
        function = enclosing_function(construct)
        name = kernel_name(construct, "host", self.symbols)
        emit_construct_wait(construct)
        kernel = outline_region(construct, name)
        site = self.sites.add(
            "launch",
            SourceLoc.from_attr(construct.location),
            function.sym_name.data,
            kernel=name,
            construct=construct_name(construct),
        )
        outer = Cursor.before(construct)
        queue = construct_queue(construct, outer)
        gangs = _product(outer, [outer.to_integer(n, i32) for n in kernel.num_gangs])
        func, gangs_inside, partials = self._kernel_function(kernel)
        if partials.used:
            slots = outer.mul(outer.to_i64(gangs), outer.i64(partials.slot_bytes))
            size = outer.add(slots, outer.i64(partials.header_bytes), "scratch_bytes")
            calls = RuntimeCalls(self.module, self.symbols)
            scratch = calls.value(outer, "__accopt_scratch", outer.i32(site), size)
            scratch.name_hint = "scratch"
            kernel.args.append(scratch)
        launch = outer.insert(LaunchHostOp(name, gangs, queue, kernel.args))
        launch.attributes[SITE] = IntegerAttr(site, i32)
        self.symbols[name] = func
        self.functions.append((func, gangs_inside))
        self.module.body.block.add_op(func)
        block = construct.parent_block()
        assert block is not None
        erase(construct)
        self.blocks.setdefault(block)

    def _kernel_function(self, kernel: OutlinedKernel) -> tuple[llvm.FuncOp, Gangs, GangPartials]:
        """The kernel function; its arguments are loaded once, its body runs for every gang."""
        entry = Block(arg_types=[i64, i64, i64, PTR])
        for arg, hint in zip(
            entry.args, ("gang_begin", "gang_end", "num_gangs", "args"), strict=True
        ):
            arg.name_hint = hint
        func = llvm.FuncOp(
            kernel.name,
            llvm.LLVMFunctionType([i64, i64, i64, PTR], llvm.LLVMVoidType()),
            llvm.LinkageAttr("external"),
            body=Region(entry),
            extra_attrs={KERNEL: UnitAttr(), **({TYPED: UnitAttr()} if self.typed else {})},
        )
        func.location = kernel.loc
        end = llvm.ReturnOp()
        end.location = kernel.loc
        entry.add_op(end)
        sizes = [kernel.argument(n) for n in kernel.num_gangs] if len(kernel.num_gangs) > 1 else []
        at = Cursor.before(end, kernel.loc)
        body = kernel.region.blocks[0]
        loaded = _load_arguments(at, body, entry.args[3])
        self._tell_arrays(kernel, list(loaded.values()))
        sizes = [loaded[size] for size in sizes]
        prologue, operations = _split(body, kernel.body_start)
        for op in prologue:
            at.move(op)
        single = len(kernel.num_gangs) == 1 and constant_value(kernel.num_gangs[0]) == 1
        partials = GangPartials(entry.args[3], len(kernel.args), entry.args[2], single)
        gangs = self._fill(kernel, func, at, operations, sizes, partials)
        partials.finish(at, entry.args[0], entry.args[1])
        hoist_allocas(func, entry_cursor(func))
        return func, gangs, partials

    def _tell_arrays(self, kernel: OutlinedKernel, pointers: Sequence[SSAValue]) -> None:
        """
        Marks accesses to arrays that no other pointer of the kernel leads to; `pointers`: its arguments.
        """
        distinct = distinct_arguments(
            kernel.args,
            loads_pointers=loads_pointers(list(kernel.region.walk())),
            hidden=self.hidden,
            apart=kernel.apart,
        )
        alone = [p for p, is_distinct in zip(pointers, distinct, strict=True) if is_distinct]
        owner = len(self.functions)
        for place, pointer in enumerate(alone):
            fact = ArrayAttr([IntegerAttr(n, i32) for n in (place, len(alone), owner)])
            work = [pointer]
            while work:
                for use in work.pop().uses:
                    match use.operation:
                        case llvm.GEPOp() as op:
                            work.append(op.result)
                        case llvm.LoadOp() as op:
                            op.attributes[ARRAY] = fact
                        case llvm.StoreOp() as op if use.index == 1:
                            op.attributes[ARRAY] = fact
                        case _:
                            pass

    def _is_unset(self, op: Operation) -> bool:
        """Whether `op` is an uninitialised private variable, of which gangs may share one copy."""
        return isinstance(op, acc.PrivateOp) and not self.recipes.copies(op).has_init

    def _fill(
        self,
        kernel: OutlinedKernel,
        func: llvm.FuncOp,
        at: Cursor,
        operations: list[Operation],
        sizes: list[SSAValue],
        partials: GangPartials,
    ) -> Gangs:
        """
        Puts the body into the loop over gangs and lowers it; returns the gang that the body runs for.
        """
        begin, end, num_gangs = func.body.blocks[0].args[:3]
        privatised = [
            *kernel.privatised,
            *(op for op in operations if isinstance(op, acc.PrivateOp)),
        ]
        fused = not sizes and all(map(self._is_unset, privatised)) and _is_one_gang_loop(operations)
        if fused:
            gangs, inner, at_entry = {1: GangRange(begin, end, num_gangs)}, at, at
        else:
            loop, inner = at.for_loop(begin, end, at.i64(1), "gang")
            at_entry = Cursor.before(loop)
            gangs = _gang_dimensions(inner, inner.point.block.args[0], num_gangs, sizes)
            partials.enter_gang(inner, inner.point.block.args[0])
        for op in operations:
            if isinstance(op, acc.YieldOp):
                erase(op)
            else:
                (at_entry if _same_for_all_gangs(op, func) else inner).move(op)
        lowering = HostLoopLowering(func, self.recipes, gangs, partials, self.groups)
        for op in kernel.privatised:
            place = Cursor.before(op)
            start = partials.gang_start or inner
            if isinstance(op, acc.ReductionOp):
                reduction = lowering.reduce(op, place)
                if reduction is not None and op in kernel.reductions:
                    partials.add(reduction)
            else:
                lowering.privatise(op, place, start)
            erase(op)
        lowering.run(func.body)
        return gangs


def _same_for_all_gangs(op: Operation, function: llvm.FuncOp) -> bool:
    """
    Whether `op` is arithmetic on values of the entry block, or a reduction of such a section. A loop is
    not, even one without effects: it runs the iterations of its gang.
    """
    entry = function.body.blocks[0]
    arithmetic = is_pure(op) and not op.regions and not op.name.startswith("llvm.")
    return (arithmetic or isinstance(op, acc.ReductionOp)) and all(
        operand.owner is entry
        or (isinstance(operand.owner, Operation) and operand.owner.parent_block() is entry)
        for operand in op.operands
    )


def _split(body: Block, start: Operation) -> tuple[list[Operation], list[Operation]]:
    """The operations of `body` before `start`, and those from it on."""
    operations = list(body.ops)
    position = next(i for i, op in enumerate(operations) if op is start)
    return operations[:position], operations[position:]


def _load_arguments(at: Cursor, body: Block, args: SSAValue) -> dict[SSAValue, SSAValue]:
    """
    Loads the kernel's arguments through `args` and replaces the arguments of `body` by them; returns the
    map.
    """
    loaded: dict[SSAValue, SSAValue] = {}
    for index, arg in enumerate(tuple(body.args)):
        hint = arg.name_hint or f"arg{index}"
        slot = at.value(llvm.GEPOp(args, [index], PTR, inbounds=True))
        loaded[arg] = at.load(at.load(slot, PTR), arg.type, hint)
        arg.replace_all_uses_with(loaded[arg])
        body.erase_arg(arg)
    return loaded


def _is_one_gang_loop(operations: list[Operation]) -> bool:
    """Whether the body is one gang loop without reduction, so that several gangs can run as one loop."""
    loops = [op for op in operations if isinstance(op, acc.LoopOp)]
    if len(loops) != 1 or loops[0].reduction_operands:
        return False
    # Code that may run once for several gangs instead of once for each.
    shared = (acc.LoopOp, *PRIVATIZING_OPS, llvm.LoadOp)
    alike = all(isinstance(op, shared) or (is_pure(op) and not op.regions) for op in operations)
    return alike and select_device_type(loops[0].gang) is not None


def _gang_dimensions(
    at: Cursor, gang: SSAValue, num_gangs: SSAValue, sizes: list[SSAValue]
) -> dict[int, GangRange]:
    """This gang's range in each gang dimension; dimension 1 varies fastest."""
    one = at.i64(1)
    if not sizes:
        return {1: GangRange(gang, at.add(gang, one), num_gangs)}
    result: dict[int, GangRange] = {}
    rest = gang
    for dim, size in enumerate(sizes, 1):
        extent = at.to_i64(size)
        position = rest
        if dim < len(sizes):
            position = at.value(arith.RemSIOp(rest, extent), f"gang_{dim}")
            rest = at.value(arith.DivSIOp(rest, extent))
        result[dim] = GangRange(position, at.add(position, one), extent)
    return result


def _product(at: Cursor, values: list[SSAValue]) -> SSAValue:
    product = values[0]
    for value in values[1:]:
        product = at.mul(product, value, "num_gangs")
    return product


@dataclass(frozen=True)
class ConvertAccComputeToHostPass(ModulePass):
    """Kernels and launches for the host target; see the file's docstring."""

    name = "convert-acc-compute-to-host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = symbol_table(op)
        sites = SiteTable.of(op)
        constructs: list[acc.ParallelOp] = []
        typed = PUNS not in op.attributes
        for inner in op.walk():
            if isinstance(inner, acc.ParallelOp):
                constructs.append(inner)
            typed &= not (PACKED in inner.attributes or DECODES in inner.attributes)
        hidden = hidden_variables(v for c in constructs for v in c.data_clause_operands)
        kernels = _Kernels(op, symbols, Recipes(op), sites, hidden=hidden, typed=typed)
        for construct in constructs:
            kernels.convert(construct)
        for block in kernels.blocks:
            erase_privatising(block)
        DeviceVersions(op, symbols, kernels.recipes, sites, kernels.groups).provide(
            kernels.functions
        )
        sites.store(op)
