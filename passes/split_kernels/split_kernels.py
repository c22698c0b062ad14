"""
Turn acc.kernels into parallel constructs that run one after another (OpenACC 3.4, 2.5.3), and
decide every `auto` loop.

Takes:  acc level.
Leaves: no acc.kernels and no `auto` loop. Each top-level loop nest of a kernels region that runs in
        parallel is an acc.parallel; code between nests runs in one thread (sizes 1, 1, 1). With
        several pieces, the data attributes of the region become explicit on an acc.data around
        them, so that data stays on the device in between. Parts are marked `accx.from_kernels`.
        Auto loops and plain counted loops proven independent are marked so, with private and
        reduction clauses for their scalars, and `accx.conditional` where it takes a test in front of
        the construct (`guard-against-overlap`); others are `seq` with the reason in `accx.why`. Loops in
        order have tiles of several loops only where no iteration depends on another.
        A loop that stays in order around parallel ones runs on the host if its bounds are known there.
Warns:  where tiles are dropped for that reason.
Fails:  as infer-data-attributes does.

Steps, for each kernels construct:
1. judge its loops, outer before inner;
2. cut its block, and those of loops that the host runs: values that other pieces need are computed
   there again when that is possible, otherwise they go through variables on the device;
3. wrap the pieces in an acc.data when there are several.

Before:
  acc.kernels { scf.for %i = ... { a[i] = 0 }  scf.for %i = ... { b[i] = a[i] } }
After:
  %a_dev = acc.copyin ...
  acc.data dataOperands(%a_dev, %b_dev : ...) {
    acc.parallel { acc.loop ... {independent} } attributes {accx.from_kernels}
    acc.parallel { acc.loop ... {independent} } attributes {accx.from_kernels}
  }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i1,
    i32,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.accx import CONDITIONAL, FROM_KERNELS, WHY
from ..decisions.levels import Level
from ..infer_data_attributes.infer_data_attributes import infer_construct
from ..ir.acc_ops import (
    COMPUTE_OPS,
    ENTRY_OPS,
    NONE,
    constant_i32,
    constructs_of,
    enclosing_function,
    entry_block,
    has_level,
    loops_in,
    replace_inside,
    set_operand_groups,
    set_prop,
)
from ..ir.building import constant_value
from ..ir.function_scalars import FunctionScalars, exposed_globals, global_scalars
from ..ir.levels import loop_levels
from ..ir.loop_classifier import LoopClassifier, is_parallel
from ..ir.loop_dependence import Verdict, judge_loop
from ..ir.loop_order import confine_to_gang, run_in_order
from ..ir.loop_symbols import LoopLike
from ..ir.messages import Messages
from ..ir.reduction_reads import reduce_in_place
from ..ir.region_values import HostEmitter
from ..ir.scalar_clauses import add_private
from ..ir.trip_counts import MOST_SHORT_ITERATIONS
from ..ir.versions import drop_wait
from ..legalize_serial import parallel_with_clauses, single_gang_parallel
from .kernel_loops import (
    HostLoops,
    body_ops,
    drop_dead_stores,
    is_parallel_nest,
    keep_on_device,
    keep_values,
)
from .kernel_pieces import KernelPiece, cut, fill
from .ordered_tiles import drop_ordered_tiles, has_ordered_tiles
from .repeated_levels import settle_repeated_levels

# Step 1: judge loops.


def _privatize_arrays(loop: acc.LoopOp, verdict: Verdict, module: ModuleOp) -> None:
    """Private clauses for the arrays that every iteration fills before it reads them."""
    for variable in verdict.privates:
        replace_inside(loop, variable, add_private(loop, variable, module))


def _to_acc_loop(loop: scf.ForOp) -> acc.LoopOp:
    """A plain counted loop under a loop directive of its own."""
    block = loop.parent_block()
    assert block is not None
    body = loop.detach_region(0)
    terminator = body.block.last_op
    assert terminator is not None
    body.block.erase_op(terminator)
    body.block.add_op(acc.YieldOp())
    directive = acc.LoopOp(
        region=body,
        lowerbound=[loop.lb],
        upperbound=[loop.ub],
        step=[loop.step],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
        independent=NONE,
    )
    directive.location = loop.location
    block.insert_op_before(directive, loop)
    block.erase_op(loop)
    return directive


def _settle(
    loop: acc.LoopOp, verdict: Verdict, classifier: LoopClassifier, module: ModuleOp
) -> None:
    set_prop(loop, "auto_", None)
    if verdict.independent and classifier.uses_partial_sum(loop):
        run_in_order(loop, "auto: iterations use the value of what they reduce")
        return
    if verdict.independent:
        set_prop(loop, "independent", NONE)
        _make_parallel(loop, verdict, classifier, module)
        return
    run_in_order(loop, f"auto: {verdict.why}")


def _make_parallel(
    loop: acc.LoopOp, verdict: Verdict, classifier: LoopClassifier, module: ModuleOp
) -> None:
    for decision in verdict.scalars:
        classifier.scalars.write(loop, decision)
    _privatize_arrays(loop, verdict, module)
    _note_condition(loop, verdict)


def _note_condition(loop: acc.LoopOp, verdict: Verdict) -> None:
    if verdict.conditional:
        loop.attributes[CONDITIONAL] = UnitAttr()


def _is_short(loop: scf.ForOp) -> bool:
    """Whether a loop is known to have too few iterations to give each a thread."""
    lower, upper, step = (constant_value(value) for value in (loop.lb, loop.ub, loop.step))
    if lower is None or upper is None or step is None or step <= 0:
        return False
    return upper - lower <= MOST_SHORT_ITERATIONS * step


def _is_within_parallel(loop: scf.ForOp, construct: Operation) -> bool:
    parent = loop.parent_op()
    while parent is not None and parent is not construct:
        if isinstance(parent, acc.LoopOp) and has_level(parent.independent):
            return True
        parent = parent.parent_op()
    return False


def decide_loops(
    parent: Operation, module: ModuleOp, classifier: LoopClassifier, *, plain_loops: bool
) -> None:
    """
    Decides the `auto` loops of a construct or function, outer before inner; with `plain_loops` counted
    loops without a directive become independent `acc.loop`s where that is proven. What the host can
    find out before a construct is left to it (`guard-against-overlap`).
    """
    host = parent if isinstance(parent, COMPUTE_OPS) else None
    candidates: list[LoopLike] = [
        op
        for op in parent.walk()
        if (isinstance(op, acc.LoopOp) and (has_level(op.auto_) or plain_loops))
        or (plain_loops and isinstance(op, scf.ForOp))
    ]
    for loop in candidates:
        if isinstance(loop, scf.ForOp) and _is_short(loop) and _is_within_parallel(loop, parent):
            loop.attributes[WHY] = StringAttr("it has few iterations")
            continue
        if isinstance(loop, acc.LoopOp) and not has_level(loop.auto_):
            if is_parallel(loop):
                classifier.loop(loop, inside=True)
            continue
        verdict = judge_loop(loop, host, classifier.scalars.of(loop))
        if isinstance(loop, acc.LoopOp):
            _settle(loop, verdict, classifier, module)
        elif verdict.independent:
            directive = _to_acc_loop(loop)
            directive.attributes[WHY] = StringAttr(f"found independent: {verdict.why}")
            _make_parallel(directive, verdict, classifier, module)
        else:
            loop.attributes[WHY] = StringAttr(verdict.why)
    drop_ordered_tiles(parent, classifier, classifier.messages)
    if candidates and isinstance(parent, acc.ParallelOp):
        confine_to_gang(parent)
        if not any(_may_share_gangs(loop) for loop in loops_in(parent)):
            _run_in_one_gang(parent)


def _may_share_gangs(loop: acc.LoopOp) -> bool:
    levels = loop_levels(loop)
    return is_parallel(loop) and (not levels or Level.GANG in levels)


def _run_in_one_gang(construct: acc.ParallelOp) -> None:
    """Where no loop is shared by gangs, each would do all again: sums would count several times."""
    block = construct.parent_block()
    assert block is not None
    one = constant_i32(1, construct.location)
    one.result.name_hint = "one"
    block.insert_op_before(one, construct)
    _set_one_gang(construct, one.result)


def _set_one_gang(construct: acc.ParallelOp, one: SSAValue) -> None:
    set_operand_groups(construct, num_gangs=[one])
    construct.properties["numGangsDeviceType"] = NONE
    construct.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [1])


# Step 3: constructs. Step 2 is in `kernel_pieces`.


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
    """The construct of one piece, at the place of the C code it holds."""
    region = Region(block)
    if piece.loop and not piece.mixed:
        parallel = _kernel(kernels, region)
    elif piece.mixed or any(is_parallel_nest(op) for op in block.walk()):
        parallel = _kernel(kernels, region)
        _set_one_gang(parallel, one)
    else:
        parallel = single_gang_parallel(kernels, region, one)
        parallel.attributes[FROM_KERNELS] = UnitAttr()
    return parallel


def _data_condition(kernels: acc.KernelsOp, block: Block) -> SSAValue | None:
    """When data actions happen: `if` and not `self`."""
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


def _wrap(kernels: acc.KernelsOp, block: Block, constructs: list[Operation]) -> list[Operation]:
    """The pieces inside an acc.data with the region's data clauses, if it has any."""
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
        default_attr=kernels.default_attr,
    )
    data.attributes[FROM_KERNELS] = UnitAttr()
    data.location = kernels.location
    return [data]


def _use_host_values(kernels: acc.KernelsOp) -> None:
    """The region uses variables again; each piece gets its own data operations from the next pass."""
    for operand in (*kernels.data_clause_operands, *kernels.firstprivate_operands):
        entry = operand.owner
        if isinstance(entry, ENTRY_OPS):
            replace_inside(kernels, operand, entry.var)
    local = [operand.owner for operand in kernels.firstprivate_operands]
    set_operand_groups(kernels, firstprivate_operands=[])
    for entry in local:
        if isinstance(entry, acc.FirstprivateOp) and entry.acc_var.first_use is None:
            entry.detach()
            entry.erase()


def _move_variables_out(kernels: acc.KernelsOp) -> None:
    """Variables of the region in memory become the function's, which all pieces can name."""
    function = enclosing_function(kernels)
    assert function is not None
    first = entry_block(function).first_op
    assert first is not None
    for op in list(kernels.region.block.ops) if len(kernels.region.blocks) == 1 else ():
        if isinstance(op, llvm.AllocaOp) and (count := constant_value(op.size)) is not None:
            size = arith.ConstantOp(IntegerAttr(count, i32))
            size.location = op.location
            op.detach()
            op.operands[0] = size.result
            entry_block(function).insert_ops_before([size, op], first)


def _split(kernels: acc.KernelsOp, module: ModuleOp, classifier: LoopClassifier) -> None:
    _move_variables_out(kernels)
    settle_repeated_levels(kernels)
    decide_loops(kernels, module, classifier, plain_loops=True)
    block = kernels.parent_block()
    assert block is not None
    one = constant_i32(1, kernels.location)
    one.result.name_hint = "one"
    if len(kernels.region.blocks) > 1:
        _single_piece(kernels, block, one)
        return
    drop_dead_stores(kernels)
    host_loops = HostLoops(kernels)
    kept = _part(_body_ops(kernels), host_loops)
    pieces, _ = cut(_body_ops(kernels), host_loops)
    several = len(pieces) > 1 or any(p.host_loop(host_loops) is not None for p in pieces)
    if several:
        infer_construct(kernels, module)
        keep_on_device(kernels, kept)
        _use_host_values(kernels)
        host_loops = HostLoops(kernels)
        pieces, movable = cut(_body_ops(kernels), host_loops)
    else:
        movable = []
        if pieces:
            pieces = [KernelPiece(_body_ops(kernels), pieces[0].loop, pieces[0].mixed)]
    block.insert_op_before(one, kernels)
    builder = _Builder(kernels, one.result, several, host_loops)
    constructs = builder.build(pieces, movable, HostEmitter(kernels))
    if several:
        constructs = _wrap(kernels, block, constructs)
    elif not pieces:
        constructs = [single_gang_parallel(kernels, Region(Block([acc.YieldOp()])), one.result)]
    block.insert_ops_before(constructs, kernels)
    for op in reversed(_body_ops(kernels)):
        op.detach()
        op.erase()
    block.erase_op(kernels)


def _part(ops: list[Operation], host_loops: HostLoops) -> list[SSAValue]:
    """
    Lets pieces that would otherwise have to stay together share values through variables, which are
    returned.
    """
    kept: list[SSAValue] = []
    pieces, movable = cut(ops, host_loops)
    if any(piece.mixed for piece in pieces) and any(is_parallel_nest(op) for op in ops):
        kept += keep_values(ops, movable)
    for op in ops:
        if isinstance(op, scf.ForOp) and op in host_loops:
            kept += _part(body_ops(op), host_loops)
    return kept


class _Builder:
    """Makes the constructs of a kernels construct's pieces, and the host's loops around some."""

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
        """Host operations that run the pieces; bounds of loops are computed at `emit`'s place."""
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
        """The loop on the host, with constructs for its body."""
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
        host.location = end.location = loop.location
        return host


def _single_piece(kernels: acc.KernelsOp, block: Block, one: Operation) -> None:
    """A region with jumps at its top level runs in one thread."""
    body = kernels.detach_region(0)
    for inner in body.blocks:
        last = inner.last_op
        if isinstance(last, acc.TerminatorOp | acc.YieldOp):
            inner.erase_op(last)
            inner.add_op(scf.YieldOp())
    execute = scf.ExecuteRegionOp([], body)
    execute.location = kernels.location
    region = Region(Block([execute, acc.YieldOp()]))
    block.insert_op_before(one, kernels)
    parallel = single_gang_parallel(kernels, region, one.results[0])
    parallel.attributes[FROM_KERNELS] = UnitAttr()
    confine_to_gang(parallel)
    block.insert_op_before(parallel, kernels)
    block.erase_op(kernels)


def _body_ops(kernels: acc.KernelsOp) -> list[Operation]:
    return [
        op for op in kernels.region.block.ops if not isinstance(op, acc.TerminatorOp | acc.YieldOp)
    ]


@dataclass(frozen=True)
class SplitKernelsPass(ModulePass):
    """See the module's description."""

    name = "split-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names, exposed, messages = global_scalars(op), exposed_globals(op), Messages(op)
        for function in list(op.body.block.ops):
            if not isinstance(function, llvm.FuncOp):
                continue
            directives = constructs_of(function, (*COMPUTE_OPS, acc.LoopOp))
            if not any(isinstance(inner, acc.KernelsOp) or _is_open(inner) for inner in directives):
                continue
            constructs = [inner for inner in directives if isinstance(inner, COMPUTE_OPS)]
            classifier = LoopClassifier(FunctionScalars(function, op, names, exposed), messages)
            for construct in constructs:
                if isinstance(construct, acc.KernelsOp):
                    _split(construct, op, classifier)
                else:
                    decide_loops(construct, op, classifier, plain_loops=False)
            decide_loops(function, op, classifier, plain_loops=False)
            for construct in constructs_of(function, (acc.ParallelOp,)):
                reduce_in_place(construct)
        messages.save()


def _is_open(op: Operation) -> bool:
    return isinstance(op, acc.LoopOp) and (has_level(op.auto_) or has_ordered_tiles(op))
