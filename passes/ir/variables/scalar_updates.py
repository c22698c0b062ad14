"""
Regions that process an object scalar by scalar, read as expressions: each scalar's new value as a function
of the scalars at the same place of other objects, and the reduction operator that such an expression is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....dialects.accx_element import Index
from ....dialects.volatility import is_ordered
from ..ops.building import Cursor, constant_value
from ..ops.complex_values import is_complex
from ..ops.layout import Elements, elements_of, member_offset, size_of
from ..ops.purity import is_pure
from ..values.addresses import base_of, steps_to
from .combiners import Kind, ScalarExpression, ScalarOperator

_COMMUTATIVE = (
    arith.AddiOp,
    arith.AddfOp,
    arith.MuliOp,
    arith.MulfOp,
    arith.AndIOp,
    arith.OrIOp,
    arith.XOrIOp,
    arith.MaxSIOp,
    arith.MaxUIOp,
    arith.MinSIOp,
    arith.MinUIOp,
    arith.MaxnumfOp,
    arith.MinnumfOp,
)


def has_effects(op: Operation) -> bool:
    """Whether removing `op` could be observed."""
    return not (is_pure(op) or isinstance(op, llvm.AllocaOp) or op.has_trait(IsTerminator))


class NotElementwise(Exception):
    """A region does not process its objects scalar by scalar."""


@dataclass(frozen=True)
class _BytePlace:
    """An address: `offset` bytes into the object at `base`, plus a stride in bytes for each loop variable."""

    base: SSAValue
    offset: int
    strides: tuple[tuple[SSAValue, int], ...] = ()


@dataclass(frozen=True)
class Update:
    """One store, to `place` in each iteration of `loops` (variable, number of iterations)."""

    place: _BytePlace
    store: llvm.StoreOp
    loops: tuple[tuple[SSAValue, int], ...]


def _place_of(pointer: SSAValue) -> _BytePlace:
    strides: dict[SSAValue, int] = {}
    offset = 0
    for step in steps_to(pointer):
        index = step.index
        if isinstance(index, Index):
            known = constant_value(index.value)
            index = index if known is None else known
        if step.lengths:
            raise NotElementwise
        if step.member:
            assert isinstance(step.type, llvm.LLVMStructType) and isinstance(index, int)
            offset += member_offset(step.type, index)
        elif isinstance(index, int):
            offset += index * size_of(step.type)
        else:
            strides[index.value] = strides.get(index.value, 0) + size_of(step.type)
    return _BytePlace(
        base_of(pointer), offset, tuple(sorted(strides.items(), key=lambda s: id(s[0])))
    )


def _updates(
    block: Block, objects: Set[SSAValue], loops: tuple[tuple[SSAValue, int], ...] = ()
) -> Iterator[Update]:
    """The stores of a region that consists of counted loops, accesses to `objects`, and arithmetic."""
    for op in block.ops:
        match op:
            case scf.ForOp() if not op.iter_args and len(op.body.blocks) == 1:
                bounds = [constant_value(v) for v in (op.lb, op.ub, op.step)]
                count = bounds[1]
                if bounds[0] != 0 or bounds[2] != 1 or count is None or count < 1:
                    raise NotElementwise
                inner = op.body.block
                yield from _updates(inner, objects, (*loops, (inner.args[0], count)))
            case llvm.LoadOp() | llvm.StoreOp():
                place = _place_of(op.ptr)
                known = {variable for variable, _ in loops}
                if place.base not in objects or is_ordered(op):
                    raise NotElementwise
                if not {variable for variable, _ in place.strides} <= known:
                    raise NotElementwise
                if isinstance(op, llvm.StoreOp):
                    yield Update(place, op, loops)
            case llvm.AllocaOp() if op.res in objects:
                pass
            case _ if has_effects(op) or isinstance(op, llvm.AllocaOp):
                raise NotElementwise
            case _:
                pass


def _expression(update: Update, sources: Sequence[SSAValue]) -> ScalarExpression:
    """The stored value as an expression of the scalars of each source at the same place."""
    inputs: list[set[SSAValue]] = [set() for _ in sources]
    operations: set[Operation] = set()
    block, work = update.store.parent_block(), [update.store.value]
    while work:
        owner = work.pop().owner
        if isinstance(owner, llvm.LoadOp):
            place = _place_of(owner.ptr)
            here = owner.parent_block() is block and owner.is_before_in_block(update.store)
            same = replace(place, base=update.place.base) == update.place
            if (
                place.base not in sources
                or not here
                or not same
                or owner.dereferenced_value.type != update.store.value.type
            ):
                raise NotElementwise
            inputs[sources.index(place.base)].add(owner.dereferenced_value)
        elif isinstance(owner, Operation) and is_pure(owner) and not owner.regions:
            if owner not in operations:
                operations.add(owner)
                work += owner.operands
        else:
            raise NotElementwise
    ordered = tuple(op for op in _in_order(block) if op in operations)
    if len(ordered) != len(operations):
        raise NotElementwise
    return ScalarExpression(
        update.store.value, ordered, tuple(frozenset(group) for group in inputs)
    )


def _in_order(block: Block | None) -> Iterator[Operation]:
    """The operations whose results a block may use: those of the blocks around it, then its own."""
    if block is None:
        return
    parent = block.parent_op()
    if isinstance(parent, scf.ForOp):
        yield from _in_order(parent.parent_block())
    yield from block.ops


Updates = Sequence[tuple[Update, ScalarExpression]]
_MOST_SCALARS = 1 << 16
"""The most scalars of an object that are examined one by one."""


def updates_of(block: Block, target: SSAValue, sources: Sequence[SSAValue]) -> Updates:
    """
    The stores by which a region sets the scalars of the object at `target` from the scalars at the same
    place of the objects `sources`. Raises `NotElementwise` if the region does anything else.
    """
    found: list[tuple[Update, ScalarExpression]] = []
    for update in _updates(block, {target, *sources}):
        if update.place.base is not target:
            raise NotElementwise
        found.append((update, _expression(update, sources)))
    return found


def _positions(update: Update) -> range | list[int]:
    """The offsets of the scalars that an update sets."""
    counts = dict(update.loops)
    used = dict(update.place.strides)
    if any(variable not in used for variable in counts):
        raise NotElementwise  # a loop that sets one scalar repeatedly
    total = 1
    for count in counts.values():
        total *= count
    if total > _MOST_SCALARS and len(counts) != 1:
        raise NotElementwise
    start = update.place.offset
    if not counts:
        return [start]
    if len(counts) == 1:
        ((variable, count),) = counts.items()
        return range(start, start + count * used[variable], used[variable])
    offsets = [start]
    for variable, count in counts.items():
        offsets = [o + i * used[variable] for o in offsets for i in range(count)]
    return offsets


def by_run(found: Updates, type_: Attribute) -> list[tuple[Elements, ScalarExpression]]:
    """
    The runs of scalars of a `type_`, each with the expression of its new value; structures that are stored
    as values count as scalars. Raises `NotElementwise` unless every scalar is set exactly once.
    """
    whole = {e.result.type for _, e in found if isinstance(e.result.type, llvm.LLVMStructType)}
    runs = elements_of(type_, lambda t: t in whole)
    if len(found) == len(runs):  # the usual form: a loop for an array, a store for a scalar
        by_start = {update.place.offset: (update, e) for update, e in found}
        paired = [(run, *by_start[run.offset]) for run in runs if run.offset in by_start]
        if len(paired) == len(runs) and all(_covers(u, r) for r, u, _ in paired):
            return [(run, expression) for run, _, expression in paired]
    if sum(run.count for run in runs) > _MOST_SCALARS:
        raise NotElementwise
    each = {offset: e for update, e in found for offset in _positions(update)}
    if len(each) != sum(len(_positions(update)) for update, _ in found):
        raise NotElementwise
    out: list[tuple[Elements, ScalarExpression]] = []
    for run in runs:
        offsets = range(run.offset, run.offset + run.count * run.stride, run.stride)
        parts = [each.pop(offset, None) for offset in offsets]
        if any(part is None or part.result.type != run.scalar for part in parts):
            raise NotElementwise
        if all(part is parts[0] for part in parts):
            parts, offsets = parts[:1], [run]
        for part, place in zip(parts, offsets, strict=True):
            assert part is not None
            own = place if isinstance(place, Elements) else replace(run, offset=place, count=1)
            out.append((own, part))
    if each:
        raise NotElementwise
    return out


def _covers(update: Update, run: Elements) -> bool:
    """Whether an update sets all of a run and nothing else."""
    if update.store.value.type != run.scalar:
        return False
    positions = _positions(update)
    if run.count == 1:
        return list(positions) == [run.offset]
    return positions == range(run.offset, run.offset + run.count * run.stride, run.stride)


def operator_of(
    scalar: Attribute, first: ScalarExpression, expression: ScalarExpression
) -> ScalarOperator | None:
    """The operator that computes `expression`, and whose neutral value is `first`."""
    kinds = [Kind.MUL] if is_complex(scalar) else list(Kind)
    for kind in kinds:
        for unsigned in (False, True) if kind in (Kind.MAX, Kind.MIN) else (False,):
            operator = ScalarOperator(kind, scalar, unsigned)
            if operator.exists and _computes(operator, first, expression):
                return operator
    return None


def _computes(
    operator: ScalarOperator, first: ScalarExpression, expression: ScalarExpression
) -> bool:
    block = Block(arg_types=[operator.type, operator.type])
    at = Cursor.at_end(block, UnknownLoc())
    a, b = block.args
    neutral, result = operator.neutral(at), operator.combine(at, a, b)
    mine, other = expression.inputs
    return _is_same(first.result, neutral, {}) and any(
        _is_same(expression.result, result, known)
        for known in (_pairs(a, mine, b, other), _pairs(a, other, b, mine))
    )


def _pairs(
    a: SSAValue, x: frozenset[SSAValue], b: SSAValue, y: frozenset[SSAValue]
) -> dict[SSAValue, frozenset[SSAValue]]:
    return {a: x, b: y}


def _is_same(value: SSAValue, model: SSAValue, known: dict[SSAValue, frozenset[SSAValue]]) -> bool:
    """
    Whether `value` is computed as `model` is; `known` says which values the leaves of `model` may
    correspond to.
    """
    if model in known:
        return value in known[model]
    mine, its = value.owner, model.owner
    if not isinstance(mine, Operation) or not isinstance(its, Operation):
        return False
    if type(mine) is not type(its) or mine.properties != its.properties:
        return False
    if [r.type for r in mine.results] != [r.type for r in its.results]:
        return False

    def operands(order: int) -> bool:
        return all(
            _is_same(x, y, known) for x, y in zip(mine.operands, its.operands[::order], strict=True)
        )

    return len(mine.operands) == len(its.operands) and (
        operands(1) or (isinstance(mine, _COMMUTATIVE) and operands(-1))
    )
