"""
Turn `if` and `self` clauses of compute constructs into control flow (OpenACC 3.4, 2.5.6 and 2.5.7).

Takes:  data level; acc.parallel (legalize-serial and split-kernels have run).
Leaves: no compute construct with a condition. Where the condition sends the work to the host
        thread, a copy of the region runs on host values: data operations have no effect there,
        private and firstprivate variables are fresh locals, and acc.loop stays for
        specialize-acc-for-host to make a plain loop. `if` on data directives is untouched: the
        runtime calls take it.
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
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1, i8
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..compiler.base.names import value_name
from ..dialects import llvm_ext
from ..dialects.accx_compress import RangeOp
from .ir.acc_ops import (
    ENTRY_OPS,
    EntryOp,
    constant_i32,
    constant_value,
    enclosing_function,
    entry_block,
    exits_of,
    parallel_construct_operands,
    set_operand_groups,
    set_prop,
    variable_name,
)


def _entries(construct: acc.ParallelOp) -> list[EntryOp]:
    """The data and privatising operations of the construct, in order."""
    owners = {operand.owner for operand in parallel_construct_operands(construct)}
    block = construct.parent_block()
    assert block is not None
    return [op for op in block.ops if op in owners and isinstance(op, ENTRY_OPS)]


def _local_copy(entry: acc.PrivateOp | acc.FirstprivateOp, body: list[Operation]) -> SSAValue:
    """The host's own variable for a private or firstprivate clause; of a section, up to its end."""
    function = enclosing_function(entry)
    assert function is not None
    if entry.bounds:
        return _local_section(entry, body)
    one = constant_i32(1, entry.location)
    alloca = llvm.AllocaOp(one, entry.var_type, alignment=16)
    alloca.location = entry.location
    alloca.res.name_hint = value_name(variable_name(entry.acc_var))
    block = entry_block(function)
    assert block.first_op is not None
    block.insert_ops_before([one, alloca], block.first_op)
    if isinstance(entry, acc.FirstprivateOp):
        load = llvm.LoadOp(entry.var, entry.var_type)
        store = llvm.StoreOp(load, alloca.res)
        load.location = store.location = entry.location
        body += [load, store]
    return alloca.res


def _local_section(entry: acc.PrivateOp | acc.FirstprivateOp, body: list[Operation]) -> SSAValue:
    """Memory for the elements before and in a section, so that the subscripts stay."""
    outer = entry.bounds[0].owner
    assert isinstance(outer, acc.DataBoundsOp)
    lower, extent, stride = outer.lowerbound, outer.extent, outer.stride
    assert extent is not None and stride is not None
    made: list[Operation] = []

    def add(op: Operation) -> SSAValue:
        op.location = entry.location
        made.append(op)
        return op.results[0]

    start = None if lower is None else add(arith.MuliOp(lower, stride))
    size = add(arith.MuliOp(extent, stride))
    whole = size if start is None else add(arith.AddiOp(start, size))
    memory = add(llvm.AllocaOp(whole, i8, alignment=16))
    memory.name_hint = value_name(variable_name(entry.acc_var))
    if isinstance(entry, acc.FirstprivateOp):
        target, source = memory, entry.var
        if start is not None:
            target = add(llvm.GEPOp.from_mixed_indices(memory, [start], i8))
            source = add(llvm.GEPOp.from_mixed_indices(entry.var, [start], i8))
        made.append(llvm_ext.MemcpyOp(target, source, size))
        made[-1].location = entry.location
    body += made
    return memory


def host_version(construct: acc.ParallelOp, entries: list[EntryOp]) -> list[Operation]:
    """A copy of the region on host values, without its terminator."""
    body: list[Operation] = []
    mapper: dict[SSAValue, SSAValue] = {}
    for entry in entries:
        if isinstance(entry, acc.PrivateOp | acc.FirstprivateOp):
            mapper[entry.acc_var] = _local_copy(entry, body)
        else:
            mapper[entry.acc_var] = entry.var
    for op in construct.region.block.ops:
        if not isinstance(op, acc.YieldOp):
            body.append(op.clone(mapper))
    return body


def _and(block: Block, construct: Operation, left: SSAValue, right: SSAValue) -> SSAValue:
    both = arith.AndIOp(left, right)
    both.location = construct.location
    block.insert_op_before(both, construct)
    return both.result


def _device_condition(construct: acc.ParallelOp) -> SSAValue | bool:
    """When the device runs the construct: `if` and not `self`."""
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


def lower_conditions(construct: acc.ParallelOp) -> None:
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
    host = host_version(construct, entries)
    if condition is False:
        block.insert_ops_before(host, construct)
        for op in [*exits, construct, *ranges, *reversed(entries)]:
            op.detach()
            op.erase()
        return
    _drop_conditions(construct)
    branch = scf.IfOp(condition, [], Region(Block()), Region(Block([*host, scf.YieldOp()])))
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
        constructs = [inner for inner in op.walk() if isinstance(inner, acc.ParallelOp)]
        for construct in constructs:
            if construct.if_cond or construct.self_cond or construct.self_attr is not None:
                lower_conditions(construct)
