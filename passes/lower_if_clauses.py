"""
Turn `if` and `self` clauses of compute constructs into control flow (OpenACC 3.4, 2.5.6 and 2.5.7).

Takes:  data level; acc.parallel (legalize-serial and split-kernels have run).
Leaves: no compute construct with a condition. If the condition selects the host thread, a copy of the
        region runs on host values: data operations have no effect there, private and firstprivate variables
        are new local variables (so are reduction variables unless the recipe is one of OpenACC's operators,
        which work on the variable itself), and acc.loop remains for specialize-acc-for-host. `if` on data
        directives remains: it becomes an argument of runtime calls.
Fails:  never.

Before:
  %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x"}
  acc.parallel dataOperands(%x_dev : !llvm.ptr) if(%c) { ... %x_dev ... }
  acc.copyout accPtr(%x_dev : !llvm.ptr) ...
After:
  scf.if %c {
    %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x"}
    acc.parallel dataOperands(%x_dev : !llvm.ptr) { ... %x_dev ... }
    acc.copyout accPtr(%x_dev : !llvm.ptr) ...
  } else {
    ... %x ...
  }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx_compress import RangeOp
from .ir.ops.acc_ops import (
    ENTRY_OPS,
    EntryOp,
    enclosing_function,
    exits_of,
    parallel_construct_operands,
    parallel_constructs,
    set_operand_groups,
    set_prop,
)
from .ir.ops.building import Cursor, constant_value, erase
from .ir.variables.host_copies import ReductionCopy, private_copy, reduction_copy
from .ir.variables.private_storage import entry_cursor
from .ir.variables.recipe_reading import Recipes


def _entries(construct: acc.ParallelOp) -> list[EntryOp]:
    """The data and privatising operations of the construct, in order."""
    owners = {operand.owner for operand in parallel_construct_operands(construct)}
    block = construct.parent_block()
    assert block is not None
    return [op for op in block.ops if op in owners and isinstance(op, ENTRY_OPS)]


def host_version(construct: acc.ParallelOp, entries: list[EntryOp], recipes: Recipes) -> Block:
    """A copy of the region on host values, in a block that ends in `scf.yield`."""
    end = scf.YieldOp()
    end.location = construct.location
    block = Block([end])
    here = Cursor.before(end)
    function = enclosing_function(construct)
    mapper: dict[SSAValue, SSAValue] = {}
    combined: list[ReductionCopy] = []
    for entry in entries:
        here.loc = entry.location
        slots = entry_cursor(function)
        slots.loc = entry.location
        if isinstance(entry, acc.PrivateOp | acc.FirstprivateOp):
            mapper[entry.acc_var] = private_copy(entry, recipes, slots, here, here)
        elif isinstance(entry, acc.ReductionOp) and recipes.operator(entry) is None:
            reduction = reduction_copy(entry, recipes, slots, here)
            mapper[entry.acc_var] = reduction.storage.visible
            reduction.initialise(here)
            combined.append(reduction)
        else:
            mapper[entry.acc_var] = entry.var
    for op in construct.region.block.ops:
        if not isinstance(op, acc.YieldOp):
            block.insert_op_before(op.clone(mapper), end)
    here.loc = construct.location
    for reduction in combined:
        reduction.combine_into_target(here)
    return block


def _and(block: Block, construct: Operation, left: SSAValue, right: SSAValue) -> SSAValue:
    both = arith.AndIOp(left, right)
    both.location = construct.location
    block.insert_op_before(both, construct)
    return both.result


def _device_condition(construct: acc.ParallelOp) -> SSAValue | bool:
    """The condition under which the device runs the construct: `if` and not `self`."""
    if construct.self_attr is not None and construct.self_cond is None:
        return False
    condition: SSAValue | bool = True
    if construct.if_cond is not None:
        known = constant_value(construct.if_cond)
        condition = construct.if_cond if known is None else bool(known)
    if construct.self_cond is None or condition is False:
        return condition
    known = constant_value(construct.self_cond)
    if known is not None:
        return condition if not known else False
    block = construct.parent_block()
    assert block is not None
    true = arith.ConstantOp(IntegerAttr(1, i1))
    negated = arith.XOrIOp(construct.self_cond, true)
    for op in (true, negated):
        op.location = construct.location
        block.insert_op_before(op, construct)
    if condition is True:
        return negated.result
    return _and(block, construct, condition, negated.result)


def _drop_conditions(construct: acc.ParallelOp) -> None:
    set_operand_groups(construct, if_cond=[], self_cond=[])
    set_prop(construct, "selfAttr", None)


def lower_conditions(construct: acc.ParallelOp, recipes: Recipes) -> None:
    """Rewrites one construct that has an `if` or `self` clause."""
    block = construct.parent_block()
    assert block is not None
    condition = _device_condition(construct)
    if condition is True:
        _drop_conditions(construct)
        return
    entries = _entries(construct)
    ranges = [use.operation for entry in entries for use in entry.acc_var.uses]
    ranges = [op for op in ranges if isinstance(op, RangeOp)]
    exits = [leave for entry in entries for leave in exits_of(entry)]
    exits = [op for op in block.ops if op in exits]
    host = host_version(construct, entries, recipes)
    if condition is False:
        for op in list(host.ops):
            op.detach()
            if not isinstance(op, scf.YieldOp):
                block.insert_op_before(op, construct)
        for op in [*exits, construct, *ranges, *reversed(entries)]:
            erase(op)
        return
    _drop_conditions(construct)
    branch = scf.IfOp(condition, [], Region(Block()), Region(host))
    branch.location = construct.location
    block.insert_op_before(branch, construct)
    device = branch.true_region.block
    for op in [*entries, *ranges, construct, *exits]:
        op.detach()
        device.add_op(op)
    device.add_op(scf.YieldOp())


@dataclass(frozen=True)
class LowerIfClausesPass(ModulePass):
    """See the module's description."""

    name = "lower-if-clauses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constructs = parallel_constructs(op)
        recipes = Recipes(op)
        for construct in constructs:
            if construct.if_cond or construct.self_cond or construct.self_attr is not None:
                lower_conditions(construct, recipes)
