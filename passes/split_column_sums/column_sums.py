"""Reading nests that add up columns."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.volatility import is_ordered
from ..decisions.declined import Declined
from ..ir.loops.jamming import body_of
from ..ir.ops.acc_ops import (
    PRIVATIZING_OPS,
    accessed_type,
    branch_values,
    enclosing_module,
    has_level,
    is_defined_inside,
    is_inside,
    own_copies,
)
from ..ir.ops.building import constant_value
from ..ir.ops.layout import size_of
from ..ir.ops.machine import machine_of
from ..ir.ops.purity import is_pure, is_pure_call
from ..ir.ops.schedules import given_sizes
from ..ir.values.addresses import base_of
from ..ir.values.region_values import RegionSymbols
from ..ir.values.strides import AccessCounts, count_access, flat_steps
from ..ir.variables.combiners import Kind, ScalarOperator
from ..ir.variables.recipe_reading import Recipes
from ..ir.variables.reduction_forms import operator_of, reduction_operator

_LOOPS = (acc.LoopOp, scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)
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
    A construct that is one nest: the loops `around`, outermost first, the innermost of which is over columns,
    and in it the loop `rows` with its `results`, first those that it carries as values. `before[k]` is what
    the body of `around[k]` does before the next loop, `after` what follows `rows`.
    """

    construct: acc.ParallelOp
    around: tuple[acc.LoopOp, ...]
    rows: acc.LoopOp | scf.ForOp
    before: tuple[tuple[Operation, ...], ...]
    after: tuple[Operation, ...]
    results: tuple[ColumnResult, ...]

    @property
    def bounds(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Lower and upper bound and step of `rows`."""
        if isinstance(self.rows, acc.LoopOp):
            return self.rows.lowerbound[0], self.rows.upperbound[0], self.rows.step[0]
        return self.rows.lb, self.rows.ub, self.rows.step

    @property
    def body(self) -> Block:
        return self.rows.body.block if isinstance(self.rows, scf.ForOp) else self.rows.region.block

    @property
    def variable(self) -> BlockArgument:
        return self.body.args[0]


def find_sums(construct: acc.ParallelOp) -> ColumnSums:
    """The nest of `construct`. Raises `Declined` with the reason if it does not add up columns."""
    if given_sizes(construct) or len(construct.region.blocks) != 1 or own_copies(construct):
        raise Declined("the program gives launch sizes, or the construct has variables of its own")
    top = [op for op in construct.region.block.ops if isinstance(op, _LOOPS)]
    rest = [op for op in construct.region.block.ops if not isinstance(op, _LOOPS)]
    if len(top) != 1 or not all(map(_is_harmless, rest)):
        raise Declined("it is not one nest")
    around, before = list[acc.LoopOp](), list[tuple[Operation, ...]]()
    loop, after = top[0], list[Operation]()
    while _is_around(loop):
        assert isinstance(loop, acc.LoopOp)
        if after:
            raise Declined("code follows a loop that is not the innermost parallel one")
        around.append(loop)
        ops = [op for op in body_of(loop).ops if not op.has_trait(IsTerminator)]
        loops = [op for op in ops if isinstance(op, _LOOPS)]
        if len(loops) != 1:
            raise Declined("it is not a nest around one loop")
        loop = loops[0]
        place = ops.index(loop)
        before.append(tuple(ops[:place]))
        after = ops[place + 1 :]
    if not around:
        raise Declined("no parallel loop is around the sum")
    root = around[0]
    for ops in before:
        _check_own(ops, root)
    results = _results(loop, construct, root, after)
    assert isinstance(loop, acc.LoopOp | scf.ForOp)
    sums = ColumnSums(construct, tuple(around), loop, tuple(before), tuple(after), results)
    _check_own([op for op in sums.body.ops if not op.has_trait(IsTerminator)], root)
    _check_after(sums)
    _check_columns(sums)
    return sums


def _is_harmless(op: Operation) -> bool:
    return isinstance(op, acc.YieldOp | acc.PrivateOp) or (is_pure(op) and not op.regions)


def _is_around(loop: Operation) -> bool:
    """Whether a loop is parallel, has one variable, and reduces nothing."""
    if not isinstance(loop, acc.LoopOp) or loop.reduction_operands:
        return False
    if len(loop.lowerbound) != 1 or has_level(loop.seq) or not has_level(loop.independent):
        raise Declined("a loop is sequential, or has several variables")
    if loop.firstprivate_operands or loop.tile_operands or loop.cache_operands:
        raise Declined("a loop has a tile, a cache, or variables with values from outside")
    _check_private(loop)
    return True


def _check_private(loop: acc.LoopOp) -> None:
    for value in loop.private_operands:
        entry = value.owner
        if not isinstance(entry, acc.PrivateOp) or entry.bounds:
            raise Declined("a private variable is a section")
        if not _is_scalar(entry.var_type) or Recipes.around(loop).copies(entry).has_init:
            raise Declined("a private variable is not a plain scalar")


def _is_scalar(type_: Attribute) -> bool:
    whole = isinstance(type_, IntegerType) and type_.width.data in (8, 16, 32, 64)
    return whole or isinstance(type_, Float32Type | Float64Type)


def _is_own(pointer: SSAValue, root: Operation) -> bool:
    """Whether an address is in a variable that each iteration of the nest `root` has for itself."""
    owner = base_of(pointer).owner
    if isinstance(owner, llvm.AllocaOp):
        return is_inside(owner, root)
    return isinstance(owner, PRIVATIZING_OPS)


def _check_own(ops: Sequence[Operation], root: Operation) -> None:
    """Raises `Declined` unless `ops` only compute, read, and write variables of an iteration."""
    for top in ops:
        for op in top.walk():
            match op:
                case llvm.AllocaOp() | acc.PrivateOp() | acc.ReductionOp() | scf.IfOp():
                    pass
                case scf.YieldOp():
                    pass
                case llvm.LoadOp() if not is_ordered(op):
                    pass
                case llvm.StoreOp() if not is_ordered(op) and _is_own(op.ptr, root):
                    pass
                case _ if isinstance(op, _LOOPS):
                    raise Declined("another loop is in the nest")
                case _ if not (is_pure(op) or is_pure_call(op)):
                    raise Declined(f"the nest holds {op.name}")
                case _:
                    pass


def _check_after(sums: ColumnSums) -> None:
    for top in sums.after:
        for op in top.walk():
            if op.name.startswith(("acc.", "accx.gang", "cf.")) or isinstance(op, _LOOPS):
                raise Declined(f"{op.name} follows the sum")
            if isinstance(op, llvm.CallOp) and not is_pure_call(op):
                raise Declined("a call follows the sum")


def _results(
    loop: Operation, construct: acc.ParallelOp, root: Operation, after: Sequence[Operation]
) -> tuple[ColumnResult, ...]:
    """The results of the innermost loop. Raises `Declined` if their order counts."""
    if isinstance(loop, acc.LoopOp):
        found = _by_clause(loop)
    elif isinstance(loop, scf.ForOp):
        fast = machine_of(enclosing_module(construct)).fast_math
        body = loop.body.block
        end = body.last_op
        assert end is not None
        pairs = zip(body.args[1:], end.operands, strict=True)
        found = [ColumnResult(_update_of(old, new, fast), old) for old, new in pairs]
        found += _in_variables(loop, root, after, fast)
    else:
        raise Declined("the sum is not a counted loop")
    if not found:
        raise Declined("the loop has no result")
    if sum(size_of(result.operator.type) for result in found) > _MOST_BYTES:
        raise Declined("its results take too much shared memory")
    return tuple(found)


def _by_clause(loop: acc.LoopOp) -> list[ColumnResult]:
    """The reductions of a loop."""
    if has_level(loop.gang) or len(loop.lowerbound) != 1 or len(loop.region.blocks) != 1:
        raise Declined("the sum has several loops, or is over gangs")
    if loop.firstprivate_operands or loop.tile_operands or loop.cache_operands:
        raise Declined("the sum has a tile, a cache, or variables with values from outside")
    _check_private(loop)
    recipes, found = Recipes.around(loop), list[ColumnResult]()
    for value in loop.reduction_operands:
        entry = value.owner
        assert isinstance(entry, acc.ReductionOp)
        plain = not entry.bounds and _is_scalar(entry.var_type)
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
        if isinstance(op, llvm.LoadOp | llvm.StoreOp) and _is_own(op.ptr, root):
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
    if not _is_scalar(type_) or kind not in _WITHOUT_ORDER:
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


def contains(value: SSAValue, starts: Set[SSAValue]) -> bool:
    """Whether `value` is computed from one of `starts`, in their block or in branches there."""
    work, seen = [value], set[SSAValue]()
    while work:
        current = work.pop()
        if current in starts:
            return True
        op = current.owner
        if current in seen or not isinstance(op, Operation):
            continue
        seen.add(current)
        for inner in op.walk():
            work += inner.operands
    return False


def _check_columns(sums: ColumnSums) -> None:
    """Raises `Declined` unless most loads walk down columns whose neighbours are the nest's."""
    symbols = RegionSymbols(sums.construct)
    down = along = 0
    column = sums.around[-1].region.block.args[0]
    for op in sums.body.walk():
        if not isinstance(op, llvm.LoadOp) or _is_own(op.ptr, sums.around[0]):
            continue
        steps, size = flat_steps(op.ptr, symbols), size_of(accessed_type(op))
        row, neighbour = AccessCounts(), AccessCounts()
        count_access(steps, size, sums.variable, row)
        count_access(steps, size, column, neighbour)
        down += row.strided > 0 and neighbour.contiguous > 0
        along += row.contiguous > 0
    if down <= along:
        raise Declined("it does not add up columns")
    if constant_value(sums.around[-1].step[0]) != 1:
        raise Declined("columns are left out")
