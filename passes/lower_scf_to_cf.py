"""
Turn structured control flow into branches between blocks.

Takes:  any IR whose `scf` operations are `if`, `for`, `while`, `execute_region` and `index_switch`.
Leaves: no `scf`; every other operation untouched. The properties of a loop (`accx.simd`,
        `accx.unroll`, `accx.access_groups`) go to its back edge, where LLVM expects them.
Fails:  on other `scf` operations, by name.

Operations of a block are visited from last to first, so that each moves only once.

Before:
  scf.for %i = %lb to %ub step %s : i64 {
    "test.op"(%i) : (i64) -> ()
  }
After:
  cf.br ^header(%lb : i64)
^header(%i : i64):
  %more = arith.cmpi slt, %i, %ub : i64
  cf.cond_br %more, ^body, ^done
^body:
  "test.op"(%i) : (i64) -> ()
  %next = arith.addi %i, %s overflow<nsw> : i64
  cf.br ^header(%next : i64)
^done:
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntElementsAttr,
    IntegerAttr,
    ModuleOp,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..compiler.base.diagnostics import SourceLoc, error
from ..dialects.accx import ACCESS_GROUPS, INTERLEAVE, SIMD, UNROLL, VECTOR_WIDTH

_NO_ARGUMENTS = DenseArrayBase.from_list(i32, (1, 0, 0))
_SIGNED_LESS = IntegerAttr(2, i64)
_NO_WRAP = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))

_LOOP_ATTRIBUTES = (SIMD, UNROLL, ACCESS_GROUPS, VECTOR_WIDTH, INTERLEAVE)


def _append(block: Block, op: Operation, origin: Operation) -> Operation:
    op.location = origin.location
    block.add_op(op)
    return op


# `create` instead of the constructors, which sort operands into groups and cost most of the time.


def _branch(
    block: Block, target: Block, values: Sequence[SSAValue], origin: Operation
) -> Operation:
    branch = cf.BranchOp.create(operands=values, successors=[target], location=origin.location)
    block.add_op(branch)
    return branch


def _branch_if(
    block: Block, condition: SSAValue, targets: tuple[Block, Block], origin: Operation
) -> None:
    """Ends `block` with a conditional branch without block arguments."""
    branch = cf.ConditionalBranchOp.create(
        operands=[condition],
        successors=targets,
        properties={"operandSegmentSizes": _NO_ARGUMENTS},
        location=origin.location,
    )
    block.add_op(branch)


def _split_after(op: Operation) -> Block:
    """
    Moves the operations after `op` into a new block after its own; the block has an argument for each
    result of `op`, which replaces the result.
    """
    block = op.parent
    assert block is not None and block.parent is not None
    rest = Block(arg_types=[result.type for result in op.results])
    block.parent.insert_block_after(rest, block)
    following = op.next_op
    while following is not None:
        after = following.next_op
        following.detach()
        rest.add_op(following)
        following = after
    for result, argument in zip(op.results, rest.args, strict=True):
        argument.name_hint = result.name_hint
        result.replace_all_uses_with(argument)
    return rest


def _erase(op: Operation) -> None:
    op.detach()
    op.erase(safe_erase=False)


def _entry_of(region: Region, target: Block) -> Block:
    """Moves the blocks of `region` before `target`; returns the first of them."""
    entry = region.blocks[0]
    region.move_blocks_before(target)
    return entry


def _replace_arguments(block: Block, values: Sequence[SSAValue]) -> None:
    """Replaces the arguments of `block` by `values` and removes them."""
    for argument, value in zip(tuple(block.args), values, strict=True):
        value.name_hint = value.name_hint or argument.name_hint
        argument.replace_all_uses_with(value)
        block.erase_arg(argument)


def _yields_of(region: Region) -> list[scf.YieldOp]:
    return [op for block in region.blocks if isinstance(op := block.last_op, scf.YieldOp)]


def _end_with_branch(yield_op: Operation, target: Block, values: Sequence[SSAValue]) -> Operation:
    """Replaces a terminator by a branch."""
    block = yield_op.parent
    assert block is not None
    branch = _branch(block, target, values, yield_op)
    _erase(yield_op)
    return branch


def _lower_if(op: scf.IfOp) -> None:
    block = op.parent
    assert block is not None
    rest = _split_after(op)
    targets: list[Block] = []
    for region in (op.true_region, op.false_region):
        if not region.blocks:
            targets.append(rest)
            continue
        for yield_op in _yields_of(region):
            _end_with_branch(yield_op, rest, yield_op.operands)
        targets.append(_entry_of(region, rest))
    _branch_if(block, op.cond, (targets[0], targets[1]), op)
    _erase(op)


def _copy_loop_attributes(op: Operation, branch: Operation) -> None:
    for name in _LOOP_ATTRIBUTES:
        if (value := op.attributes.get(name)) is not None:
            branch.attributes[name] = value


def _lower_for(op: scf.ForOp) -> None:
    block = op.parent
    assert block is not None
    rest = _split_after(op)
    header = Block(arg_types=[argument.type for argument in op.body.blocks[0].args])
    assert rest.parent is not None
    rest.parent.insert_block_before(header, rest)
    (yield_op,) = _yields_of(op.body)
    body = _entry_of(op.body, rest)
    _replace_arguments(body, header.args)
    counter, carried = header.args[0], header.args[1:]
    _branch(block, header, (op.lb, *op.iter_args), op)
    more = arith.CmpiOp.create(
        operands=[counter, op.ub],
        result_types=[i1],
        properties={"predicate": _SIGNED_LESS},
        location=op.location,
    )
    more.results[0].name_hint = "more"
    header.add_op(more)
    for argument, value in zip(rest.args, carried, strict=True):
        argument.replace_all_uses_with(value)
    while rest.args:
        rest.erase_arg(rest.args[-1])
    _branch_if(header, more.results[0], (body, rest), op)
    latch = yield_op.parent
    assert latch is not None
    # A C loop's counter does not overflow, and a loop made by the compiler would never end if its counter
    # did.
    step = arith.AddiOp.create(
        operands=[counter, op.step],
        result_types=[counter.type],
        properties={"overflowFlags": _NO_WRAP},
        location=op.location,
    )
    latch.add_op(step)
    step.results[0].name_hint = counter.name_hint
    branch = _end_with_branch(yield_op, header, (step.results[0], *yield_op.operands))
    branch.location = op.location
    _copy_loop_attributes(op, branch)
    _erase(op)


def _lower_while(op: scf.WhileOp) -> None:
    block = op.parent
    assert block is not None
    rest = _split_after(op)
    (condition,) = (
        last
        for block in op.before_region.blocks
        if isinstance(last := block.last_op, scf.ConditionOp)
    )
    (yield_op,) = _yields_of(op.after_region)
    before = _entry_of(op.before_region, rest)
    after = _entry_of(op.after_region, rest)
    _branch(block, before, op.arguments, op)
    branch = _end_with_branch(yield_op, before, yield_op.operands)
    branch.location = op.location
    _copy_loop_attributes(op, branch)
    decision = condition.parent
    assert decision is not None
    values = condition.args
    test = cf.ConditionalBranchOp(condition.condition, after, values, rest, values)
    _append(decision, test, condition)
    _erase(condition)
    _erase(op)


def _lower_execute_region(op: scf.ExecuteRegionOp) -> None:
    block = op.parent
    assert block is not None
    rest = _split_after(op)
    for yield_op in _yields_of(op.region):
        _end_with_branch(yield_op, rest, yield_op.operands)
    _branch(block, _entry_of(op.region, rest), (), op)
    _erase(op)


def _lower_index_switch(op: scf.IndexSwitchOp) -> None:
    block = op.parent
    assert block is not None
    rest = _split_after(op)
    targets: list[Block] = []
    for region in (op.default_region, *op.case_regions):
        for yield_op in _yields_of(region):
            _end_with_branch(yield_op, rest, yield_op.operands)
        targets.append(_entry_of(region, rest))
    flag = _append(block, arith.IndexCastOp(op.arg, i64), op)
    numbers = [int(number) for number in op.cases.iter_values()]
    values = DenseIntElementsAttr.from_list(VectorType(i64, [len(numbers)]), numbers)
    default, *cases = targets
    no_operands: list[list[SSAValue]] = [[] for _ in cases]
    switch = cf.SwitchOp(
        flag.results[0], default, [], values if cases else None, cases, no_operands
    )
    _append(block, switch, op)
    _erase(op)


_LOWERINGS: dict[type[Operation], Callable[..., None]] = {
    scf.IfOp: _lower_if,
    scf.ForOp: _lower_for,
    scf.WhileOp: _lower_while,
    scf.ExecuteRegionOp: _lower_execute_region,
    scf.IndexSwitchOp: _lower_index_switch,
}

_TERMINATORS: tuple[type[Operation], ...] = (scf.YieldOp, scf.ConditionOp)


def lower_region(region: Region) -> None:
    """
    Lowers all `scf` operations in `region`, outermost first, so that deeply nested operations are moved
    once rather than once for each enclosing operation.
    """
    work = list(region.blocks)
    while work:
        op = work.pop().last_op
        while op is not None:
            previous = op.prev_op
            lowering = _LOWERINGS.get(op.__class__)
            if lowering is None and op.name.startswith("scf.") and not isinstance(op, _TERMINATORS):
                raise error(
                    SourceLoc.from_attr(op.location),
                    f"'{op.name}' cannot be lowered to branches",
                    "use scf.if, scf.for, scf.while, scf.execute_region or scf.index_switch",
                )
            if lowering is not None:
                work += [inner for nested in op.regions for inner in nested.blocks]
                lowering(op)
            else:
                for nested in op.regions:
                    lower_region(nested)
            op = previous


@dataclass(frozen=True)
class LowerScfToCfPass(ModulePass):
    """See the module's docstring."""

    name = "lower-scf-to-cf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for region in op.regions:
            lower_region(region)
