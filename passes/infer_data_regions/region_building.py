"""
Builds an inferred data region: its data operations and condition, and the values that the span defines for
later code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i1, i64
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint

from ...compiler.base.names import value_name
from ...dialects.accx import INFERRED
from ...dialects.volatility import is_plain_load
from ..decisions.data_region_plan import MappingClause
from ..ir.data.data_spans import RegionArray, SpanSection
from ..ir.data.hoisting import Hoister, insert
from ..ir.ops.acc_ops import enclosing_function, operations_around
from ..ir.ops.building import Cursor
from ..ir.ops.loop_bounds import surely_runs
from ..ir.ops.purity import only_computes
from ..ir.variables.private_storage import entry_cursor
from .host_cfg import Spine

_ENTRY: dict[MappingClause, tuple[type[acc.CopyinOp] | type[acc.CreateOp], acc.DataClause]] = {
    MappingClause.COPY: (acc.CopyinOp, acc.DataClause.ACC_COPY),
    MappingClause.COPYIN: (acc.CopyinOp, acc.DataClause.ACC_COPYIN),
    MappingClause.COPYOUT: (acc.CreateOp, acc.DataClause.ACC_COPYOUT),
    MappingClause.CREATE: (acc.CreateOp, acc.DataClause.ACC_CREATE),
}


def can_guard(loop: scf.WhileOp) -> bool:
    """Whether the loop's condition can also be computed before it, for the first iteration."""
    return all(
        only_computes(op)
        or is_plain_load(op)
        or isinstance(op, scf.IfOp | scf.YieldOp | scf.ConditionOp)
        for op in loop.before_region.walk()
    )


class _Conditions(Cursor):
    """Conditions under which the region is entered, computed before `anchor`."""

    def __init__(self, anchor: Operation):
        super().__init__(InsertPoint.before(anchor), anchor.location)
        self.all: list[SSAValue] = []

    def conjunction(self) -> SSAValue | None:
        return reduce(self.both, self.all) if self.all else None


def _guard(loop: Operation, conditions: _Conditions) -> None:
    """Adds the condition that the loop runs at least once."""
    if isinstance(loop, scf.ForOp):
        if not surely_runs(loop):
            runs = conditions.value(arith.CmpiOp(loop.lb, loop.ub, "slt"), "runs")
            conditions.all.append(runs)
        return
    if isinstance(loop, scf.ExecuteRegionOp):
        _guard_spine(loop, conditions)
        return
    assert isinstance(loop, scf.WhileOp)
    before = loop.before_region.block
    mapper: dict[SSAValue, SSAValue] = dict(zip(before.args, loop.arguments, strict=True))
    for op in before.ops:
        if isinstance(op, scf.ConditionOp):
            conditions.all.append(mapper.get(op.condition, op.condition))
        else:
            insert(op.clone(mapper), loop, op)


def _guard_spine(loop: scf.ExecuteRegionOp, conditions: _Conditions) -> None:
    spine = Spine.of(loop)
    assert spine.condition is not None
    mapper: dict[SSAValue, SSAValue] = {}
    for op in spine.prefix:
        insert(op.clone(mapper), loop, op)
    runs = mapper.get(spine.condition, spine.condition)
    if spine.negated:
        true = conditions.value(arith.ConstantOp(IntegerAttr(1, i1)), "true")
        runs = conditions.value(arith.XOrIOp(runs, true), "runs")
    conditions.all.append(runs)


def _hull(array: RegionArray, hoister: Hoister, conditions: _Conditions) -> SSAValue:
    """
    The bounds around the sections of all constructs that certainly run, which are parts of one object. Adds
    the conditions that none of them is empty (an empty section says nothing about the object), that gaps
    between them are small enough to be copied, and that the sections of the other constructs lie within.
    """
    emit = conditions.value

    def ends(section: SpanSection) -> tuple[SSAValue, SSAValue]:
        lower, extent = hoister.emit(section.lower), hoister.emit(section.extent)
        return lower, emit(arith.AddiOp(lower, extent))

    known = [ends(section) for section in array.hull]
    lowest, highest = known[0]
    total = hoister.emit(array.hull[0].extent)
    for section, (lower, end) in zip(array.hull[1:], known[1:], strict=True):
        lowest = emit(arith.MinSIOp(lowest, lower))
        highest = emit(arith.MaxSIOp(highest, end))
        total = emit(arith.AddiOp(total, hoister.emit(section.extent)))
    extent = emit(arith.SubiOp(highest, lowest), "extent")
    conditions.all += [emit(arith.CmpiOp(low, high, "slt")) for low, high in known]
    conditions.all.append(emit(arith.CmpiOp(extent, total, "sle")))
    for section in array.others:
        lower, end = ends(section)
        conditions.all.append(emit(arith.CmpiOp(lower, lowest, "sge")))
        conditions.all.append(emit(arith.CmpiOp(end, highest, "sle")))
    like = array.like.bounds[0].owner
    assert isinstance(like, acc.DataBoundsOp) and like.stride is not None
    bounds = acc.DataBoundsOp(
        lowerbound=lowest,
        extent=extent,
        stride=hoister.emit(like.stride),
        start_idx=emit(arith.ConstantOp(IntegerAttr(0, i64)), "c0"),
        stride_in_bytes=IntegerAttr(1, i1),
    )
    return emit(bounds, f"{array.name}_bounds")


def _entry(
    array: RegionArray, bounds: list[SSAValue], hoister: Hoister, anchor: Operation
) -> acc.CopyinOp | acc.CreateOp:
    cls, clause = _ENTRY[array.clause]
    entry = cls(
        var=hoister.emit(array.like.var),
        var_type=array.like.var_type,
        bounds=bounds,
        data_clause=clause,
        var_name=array.name,
    )
    entry.attributes[INFERRED] = UnitAttr()
    insert(entry, anchor, anchor)
    entry.acc_var.name_hint = value_name(f"{array.name}_region")
    return entry


def _exit(array: RegionArray, entry: acc.CopyinOp | acc.CreateOp) -> Operation:
    clause = _ENTRY[array.clause][1]
    if array.clause.copies_out:
        return acc.CopyoutOp(
            acc_var=entry.acc_var,
            var=entry.var,
            var_type=entry.var_type,
            bounds=list(entry.bounds),
            data_clause=clause,
            var_name=array.name,
        )
    return acc.DeleteOp(
        acc_var=entry.acc_var, bounds=list(entry.bounds), data_clause=clause, var_name=array.name
    )


def _free_results(ops: Sequence[Operation], hoister: Hoister) -> list[OpResult]:
    """
    The results of the span that later code uses, without those that can be computed before the span, which
    are replaced.
    """
    left: list[OpResult] = []
    for op in ops:
        for result in op.results:
            outside = [use for use in result.uses if not _is_in(use.operation, hoister)]
            if not outside:
                continue
            if hoister.key(result) is None:
                left.append(result)
                continue
            value = hoister.emit(result)
            for use in outside:
                use.operation.operands[use.index] = value
    return left


def _is_in(op: Operation, hoister: Hoister) -> bool:
    """Whether an operation is in the span."""
    return any(each in hoister.ops for each in (op, *operations_around(op)))


def _pass_through_memory(result: OpResult, hoister: Hoister, region: acc.DataOp) -> None:
    """Stores `result` in a local variable, from which code after the region loads it."""
    uses = [use for use in result.uses if not _is_in(use.operation, hoister)]
    function = enclosing_function(region)
    start, terminator = entry_cursor(function), region.region.block.last_op
    assert terminator is not None
    start.loc = region.location
    slot = start.alloca(result.type, f"{result.name_hint or 'value'}_slot")
    Cursor.before(terminator, region.location).store(result, slot)
    load = Cursor.after(region).load(slot, result.type, result.name_hint)
    for use in uses:
        use.operation.operands[use.index] = load


def build_region(
    arrays: Sequence[RegionArray],
    ops: Sequence[Operation],
    hoister: Hoister,
    guard: Operation | None,
) -> acc.DataOp:
    """
    Puts an `acc.data` that holds `arrays` around `ops`, consecutive operations of a block. `guard`:
    the loop that must run at least once for the region to be entered.
    """
    anchor = ops[0]
    conditions = _Conditions(anchor)
    if guard is not None:
        _guard(guard, conditions)
    all_bounds = [
        [_hull(array, hoister, conditions)]
        if array.hull
        else [hoister.emit(bound) for bound in array.like.bounds]
        for array in arrays
    ]
    condition = conditions.conjunction()
    passed = _free_results(ops, hoister)
    entries = [
        _entry(array, bounds, hoister, anchor)
        for array, bounds in zip(arrays, all_bounds, strict=True)
    ]
    inside = Block()
    region = acc.DataOp(
        region=Region(inside),
        if_cond=condition,
        data_clause_operands=[entry.acc_var for entry in entries],
    )
    region.attributes[INFERRED] = UnitAttr()
    insert(region, anchor, anchor)
    for op in ops:
        op.detach()
        inside.add_op(op)
    inside.add_op(acc.TerminatorOp())
    for result in passed:
        _pass_through_memory(result, hoister, region)
    block = region.parent_block()
    assert block is not None
    for array, entry in zip(arrays, entries, strict=True):
        leave = _exit(array, entry)
        leave.location = region.location
        block.insert_op_after(leave, region)
    return region
