"""Reading nests that add up columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ..decisions.declined import Declined
from ..ir.loops.sum_nests import SumNest, contains, count_walks, is_own, is_scalar, read_nest
from ..ir.ops.acc_ops import branch_values, enclosing_module, has_level, is_defined_inside
from ..ir.ops.building import constant_value
from ..ir.ops.layout import size_of
from ..ir.ops.machine import machine_of
from ..ir.values.addresses import base_of
from ..ir.variables.combiners import Kind, ScalarOperator
from ..ir.variables.recipe_reading import Recipes
from ..ir.variables.reduction_forms import operator_of, reduction_operator

_WITHOUT_ORDER = (Kind.ADD, Kind.MUL, Kind.IAND, Kind.IOR, Kind.XOR, Kind.MAX, Kind.MIN)
_MOST_BYTES = 32
"""The most bytes of a column's results, so that those of a gang's threads fit into shared memory."""


@dataclass(frozen=True)
class ColumnResult:
    """
    A result of the loop over rows: its operator, and its value or variable `inside` of the loop. `variable`:
    the variable that gets the result, None if the loop carries `inside` as a value.
    """

    operator: ScalarOperator
    inside: SSAValue
    variable: SSAValue | None = None


@dataclass(frozen=True)
class ColumnSums:
    """
    A nest whose innermost parallel loop is over columns, and whose loop over terms, the rows, has these
    `results`, first those that it carries as values. `along`: the terms are neighbours in memory, a row.
    """

    nest: SumNest
    results: tuple[ColumnResult, ...]
    along: bool = False


def find_sums(construct: acc.ParallelOp) -> ColumnSums:
    """
    The nest of `construct`. Raises `Declined` with the reason if it adds up neither columns nor rows with a
    gang each.
    """
    nest = read_nest(construct)
    results = _results(nest)
    across, along = count_walks(nest)
    if along > across and _has_gangs(nest):
        return ColumnSums(nest, results, along=True)
    if across <= along or constant_value(nest.around[-1].step[0]) != 1:
        raise Declined("it does not add up columns")
    return ColumnSums(nest, results)


def _has_gangs(nest: SumNest) -> bool:
    """Whether the lanes of a gang share the neighbouring terms of a sum."""
    if not isinstance(nest.terms, acc.LoopOp) or not has_level(nest.terms.vector):
        return False
    shared = any(has_level(loop.worker) or has_level(loop.vector) for loop in nest.around)
    return not shared and constant_value(nest.terms.step[0]) == 1


def _results(nest: SumNest) -> tuple[ColumnResult, ...]:
    """The results of the innermost loop. Raises `Declined` if their order counts."""
    if isinstance(nest.terms, acc.LoopOp):
        found = _by_clause(nest.terms)
    else:
        fast = machine_of(enclosing_module(nest.construct)).fast_math
        end = nest.body.last_op
        assert end is not None
        pairs = zip(nest.body.args[1:], end.operands, strict=True)
        found = [ColumnResult(_update_of(old, new, fast), old) for old, new in pairs]
        found += _in_variables(nest.terms, nest.around[0], nest.after, fast)
    if not found:
        raise Declined("the loop has no result")
    if sum(size_of(result.operator.type) for result in found) > _MOST_BYTES:
        raise Declined("its results take too much shared memory")
    return tuple(found)


def _by_clause(loop: acc.LoopOp) -> list[ColumnResult]:
    """The reductions of a loop."""
    recipes, found = Recipes.around(loop), list[ColumnResult]()
    for value in loop.reduction_operands:
        entry = value.owner
        assert isinstance(entry, acc.ReductionOp)
        plain = not entry.bounds and is_scalar(entry.var_type)
        operator = recipes.operator(entry) if plain else None
        if operator is None:
            raise Declined("a reduction is not of a scalar by an operator of C")
        found.append(ColumnResult(operator, value, entry.var))
    return found


def _in_variables(
    loop: scf.ForOp, root: Operation, after: Sequence[Operation], fast: bool
) -> list[ColumnResult]:
    """
    The variables of an iteration of the nest that a sequential loop updates. Raises `Declined` if the last of
    its iterations gives one a value.
    """
    uses: dict[SSAValue, list[Operation]] = {}
    for op in loop.body.walk():
        if isinstance(op, llvm.LoadOp | llvm.StoreOp) and is_own(op.ptr, root):
            uses.setdefault(op.ptr, []).append(op)
    found: list[ColumnResult] = []
    for variable, accesses in uses.items():
        stores = [op for op in accesses if isinstance(op, llvm.StoreOp)]
        if not stores or is_defined_inside(base_of(variable), loop):
            continue
        if not isinstance(variable.owner, llvm.AllocaOp | acc.PrivateOp):
            raise Declined("it changes a part of a variable")
        operator, type_ = reduction_operator(accesses), stores[0].value.type
        if operator is not None and _has_free_order(operator.kind, type_, fast):
            unsigned = not operator.signed
            made = ScalarOperator(operator.kind, type_, unsigned)
            found.append(ColumnResult(made, variable, variable))
        elif accesses[0] is not stores[0] or stores[0].parent_block() is not loop.body.block:
            raise Declined("the order of its operations counts")
        elif any(variable in op.operands for top in after for op in top.walk()):
            raise Declined("the last iteration's value of a variable is used")
    return found


def _has_free_order(kind: Kind, type_: Attribute, fast: bool) -> bool:
    if not is_scalar(type_) or kind not in _WITHOUT_ORDER:
        return False
    return fast or isinstance(type_, IntegerType)


def _update_of(argument: BlockArgument, value: SSAValue, fast: bool) -> ScalarOperator:
    """
    The operator by which an iteration changes `argument` to `value`. With `fast`, the order of sums and
    products of floating-point numbers is free. Raises `Declined` if it is not.
    """
    kinds = set[tuple[Kind, bool]]()
    uses = _follow(argument, value, kinds)
    if uses is None or uses != len(list(argument.uses)) or len(kinds) != 1:
        raise Declined("a value is carried on by no operator")
    ((kind, signed),) = kinds
    if not _has_free_order(kind, argument.type, fast):
        raise Declined("the order of its operations counts")
    return ScalarOperator(kind, argument.type, unsigned=not signed)


def _follow(argument: BlockArgument, value: SSAValue, kinds: set[tuple[Kind, bool]]) -> int | None:
    """
    The uses of `argument` on the way to `value`, each by an operator of `kinds` or in a branch; None if
    there are others.
    """
    if value is argument:
        return 1
    op = value.owner
    if isinstance(op, scf.IfOp):
        counts = [_follow(argument, branch, kinds) for branch in branch_values(op, value)]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) == 2 else None
    operator = operator_of(op) if isinstance(op, Operation) else None
    if operator is None or not isinstance(op, Operation) or len(op.operands) != 2:
        return None
    kinds.add((operator.kind, operator.signed))
    left, right = (contains(operand, {argument}) for operand in op.operands)
    if left is right or (right and isinstance(op, arith.SubiOp | arith.SubfOp)):
        return None
    return _follow(argument, op.operands[0 if left else 1], kinds)
