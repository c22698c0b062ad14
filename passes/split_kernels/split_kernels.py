"""
Turn acc.kernels into consecutive parallel constructs, and decide every `auto` loop (OpenACC 3.4, 2.5.3 and
2.9.6).

Takes:  acc level.
Leaves: no acc.kernels and no `auto` loop. Each top-level loop nest of a kernels region that runs in
        parallel is an acc.parallel; code between nests runs in one thread (sizes 1, 1, 1). With
        several pieces, the data attributes of the region become explicit on an acc.data around them, so
        that data stays on the device in between. Pieces are marked `accx.from_kernels`. Auto loops, and
        counted loops without a directive, that are proved independent are marked so, with private and
        reduction clauses for their scalars, and with `accx.conditional` if a test before the construct is
        needed (`guard-against-overlap`); in acc.parallel, only loops without a directive that are the whole
        body of a parallel loop (`nested_loops.py`). Loops along the rows of one loop are shared by lanes
        (`row_loops.py`). Others are `seq` with the reason in `accx.why`.
        Sequential loops have tiles of several loops only if no iteration depends on another. A sequential
        loop around parallel ones runs on the host if its bounds are known there. For CPU threads, loops
        without a directive that contain loops, in parallel loops of other constructs, are also marked
        independent (`inner_loops.py`). Loops that search the greatest or least value are split
        (`searches.py`).
Warns:  where tiles are dropped.
Fails:  as infer-data-attributes does.

Steps, for each kernels construct:
1. put loops over the terms of sums inside those over the elements, for GPUs (`term_loops.py`), in a version
  for arrays that do not overlap if they must not (`apart_versions.py`); judge its loops, outer before inner;
2. cut its block, and those of loops that the host runs: values that other pieces need are recomputed there
  if possible, otherwise they go through variables on the device;
3. wrap the pieces in an acc.data if there are several.

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
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.accx import APART, FROM_KERNELS
from ..infer_data_attributes.infer_data_attributes import infer_construct
from ..ir.data.host_memory import HostMemory
from ..ir.dependence.loop_classifier import LoopClassifier
from ..ir.kernels.constructs import one_before, single_gang_parallel
from ..ir.loops.array_spans import define_test
from ..ir.ops.acc_ops import (
    COMPUTE_OPS,
    constructs_of,
    enclosing_function,
    entry_block,
    has_level,
    parallel_constructs,
)
from ..ir.ops.building import constant_value, erase
from ..ir.ops.machine import machine_of
from ..ir.ops.messages import Messages
from ..ir.values.region_values import HostEmitter
from ..ir.variables.function_scalars import FunctionScalars, exposed_globals, global_scalars
from ..ir.variables.reduction_reads import reduce_in_place
from .apart_versions import apart_version
from .carried_values import keep_in_variables
from .inner_loops import inner_loops
from .judged_loops import decide_loops, mark_inner_loops
from .kernel_constructs import (
    PieceBuilder,
    operations_of,
    share_by_variables,
    single_piece,
    use_host_values,
    wrap_in_data,
)
from .kernel_loops import HostLoops, drop_dead_stores, keep_on_device
from .kernel_pieces import KernelPiece, cut
from .loop_variables import hoist_loop_variables
from .nested_loops import decide_inner_loops, decide_rows, has_inner_loops, has_rows
from .ordered_tiles import has_ordered_tiles
from .repeated_levels import settle_repeated_levels
from .term_loops import sink_terms


def _move_variables_out(kernels: acc.KernelsOp) -> None:
    """Moves variables of the region to the function, so that all pieces can use them."""
    function = enclosing_function(kernels)
    first = entry_block(function).first_op
    assert first is not None
    for op in list(kernels.region.block.ops) if len(kernels.region.blocks) == 1 else ():
        if isinstance(op, llvm.AllocaOp) and (count := constant_value(op.size)) is not None:
            size = arith.ConstantOp(IntegerAttr(count, i32))
            size.location = op.location
            op.detach()
            op.operands[0] = size.result
            entry_block(function).insert_ops_before([size, op], first)


def _split(
    kernels: acc.KernelsOp,
    module: ModuleOp,
    classifier: LoopClassifier,
    kept: list[SSAValue],
    messages: Messages,
) -> None:
    """Replaces `kernels` by constructs for its pieces; only they use the variables `kept`."""
    _move_variables_out(kernels)
    settle_repeated_levels(kernels)
    decide_loops(kernels, module, classifier, plain_loops=True)
    hoist_loop_variables(kernels)
    block = kernels.parent_block()
    assert block is not None
    if len(kernels.region.blocks) > 1:
        single_piece(kernels, block)
        return
    drop_dead_stores(kernels)
    host_loops = HostLoops(kernels)
    kept = kept + share_by_variables(operations_of(kernels), host_loops)
    pieces, _ = cut(operations_of(kernels), host_loops)
    several = len(pieces) > 1 or any(p.host_loop(host_loops) is not None for p in pieces)
    if several:
        infer_construct(kernels, module, messages)
        keep_on_device(kernels, kept)
        use_host_values(kernels)
        host_loops = HostLoops(kernels)
        pieces, movable = cut(operations_of(kernels), host_loops)
    else:
        movable = []
        if pieces:
            pieces = [KernelPiece(operations_of(kernels), pieces[0].loop, pieces[0].mixed)]
    one = one_before(kernels)
    builder = PieceBuilder(kernels, one, several, host_loops)
    constructs = builder.build(pieces, movable, HostEmitter(kernels))
    if several:
        constructs = wrap_in_data(kernels, block, constructs)
    elif not pieces:
        constructs = [single_gang_parallel(kernels, Region(Block([acc.YieldOp()])), one)]
    block.insert_ops_before(constructs, kernels)
    for op in reversed(operations_of(kernels)):
        erase(op)
    block.erase_op(kernels)


@dataclass(frozen=True)
class SplitKernelsPass(ModulePass):
    """See the module's description."""

    name = "split-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names, exposed, messages = global_scalars(op), exposed_globals(op), Messages(op)
        memory = HostMemory(op)
        for function in list(op.body.block.ops):
            if not isinstance(function, llvm.FuncOp):
                continue
            directives = constructs_of(function, (*COMPUTE_OPS, acc.LoopOp))
            for_threads = machine_of(op).target == "host"
            if not any(
                _is_to_decide(inner)
                or has_inner_loops(inner, for_threads=for_threads)
                or (for_threads and inner_loops(inner))
                for inner in directives
            ):
                hoist_loop_variables(function)
                continue
            constructs = [inner for inner in directives if isinstance(inner, COMPUTE_OPS)]
            if not for_threads and not machine_of(op).as_written:
                constructs = [v for c in constructs for v in _shaped(c, memory)]
            kept = {
                k: keep_in_variables(k, in_one=not for_threads)
                for k in constructs
                if isinstance(k, acc.KernelsOp)
            }
            classifier = LoopClassifier(FunctionScalars(function, op, names, exposed), messages)
            for construct in constructs:
                if isinstance(construct, acc.KernelsOp):
                    _split(construct, op, classifier, kept[construct], messages)
                else:
                    decide_loops(construct, op, classifier, plain_loops=False)
                    if isinstance(construct, acc.ParallelOp):
                        decide_inner_loops(construct, op, classifier, for_threads=for_threads)
                    if for_threads:
                        mark_inner_loops(construct, op, classifier)
            if not for_threads and not machine_of(op).as_written:
                split = [c for c in parallel_constructs(function) if _has_rows(c)]
                if split:
                    scalars = FunctionScalars(function, op, names, exposed)
                    classifier = LoopClassifier(scalars, messages)
                for construct in split:
                    decide_rows(construct, op, classifier)
            decide_loops(function, op, classifier, plain_loops=False)
            hoist_loop_variables(function)
            for construct in constructs_of(function, (acc.ParallelOp,)):
                reduce_in_place(construct)
        if any(APART in construct.attributes for construct in parallel_constructs(op)):
            define_test(op)
        messages.save()


def _shaped(construct: Operation, memory: HostMemory) -> list[Operation]:
    """The construct, with loops over terms inside others, and the version of it for arrays that are apart."""
    if not isinstance(construct, acc.KernelsOp) or len(construct.region.blocks) > 1:
        return [construct]
    drop_dead_stores(construct)
    sink_terms(construct)
    version = apart_version(construct, memory)
    return [construct] if version is None else [version, construct]


def _has_rows(construct: acc.ParallelOp) -> bool:
    """Whether a construct was a kernels construct, and lanes may share rows of its outermost loop."""
    if FROM_KERNELS not in construct.attributes:
        return False
    one_gang = any(constant_value(v) == 1 for v in construct.num_gangs)
    return not one_gang and has_rows(construct)


def _is_to_decide(op: Operation) -> bool:
    if isinstance(op, acc.KernelsOp):
        return True
    return isinstance(op, acc.LoopOp) and (has_level(op.auto_) or has_ordered_tiles(op))
