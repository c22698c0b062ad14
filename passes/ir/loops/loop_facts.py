"""Builds `schedule.LoopNode`s from the `acc.loop`s of a construct or routine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from ...decisions.levels import Level
from ...decisions.loop_tree import LoopNode
from ...decisions.shared_work import InnerWork
from ..ops.acc_ops import (
    callee_of,
    child_loops,
    hands_on,
    is_defined_inside,
    is_scalar,
    source_loc,
)
from ..ops.building import constant_trips, constant_value
from ..ops.expressions import is_arithmetic
from ..ops.layout import size_of
from ..ops.levels import is_parallel, loop_levels
from ..ops.purity import is_pure_call
from ..values.addresses import base_of, steps_to
from ..values.region_values import RegionSymbols
from ..values.stable_loads import are_stable
from ..values.strides import AccessCounter
from .joining import joined_reductions


@dataclass
class LoopForest:
    """The loop trees of one construct, and the `acc.loop` of each node."""

    roots: list[LoopNode] = field(default_factory=list[LoopNode])
    loops: dict[LoopNode, acc.LoopOp] = field(default_factory=dict[LoopNode, acc.LoopOp])


def constant_trip(loop: acc.LoopOp) -> int | None:
    """The number of iterations of all variables together, if constant."""
    total = 1
    for lower, upper, step in zip(loop.lowerbound, loop.upperbound, loop.step, strict=True):
        trips = constant_trips(lower, upper, step)
        if trips is None:
            return None
        total *= trips
    return total


def stores_to_memory(loop: acc.LoopOp) -> bool:
    """Whether a loop has stores to memory, not only to copies of variables that it makes."""
    own = (*loop.reduction_operands, *loop.private_operands)
    return any(
        isinstance(op, llvm.StoreOp) and base_of(op.ptr) not in own for op in loop.region.walk()
    )


def gang_argument(loop: acc.LoopOp, kind: acc.GangArgType) -> SSAValue | None:
    """The `num`, `dim` or `static` value of the loop's gang clause."""
    types = loop.gang_operands_arg_type
    if types is None:
        return None
    for operand, type_ in zip(loop.gang_operands, types, strict=True):
        if type_.data is kind:
            return operand
    return None


def is_tight(
    loop: acc.LoopOp,
    children: list[acc.LoopOp],
    symbols: RegionSymbols,
    entries: Collection[Operation] = (),
) -> bool:
    """
    Whether the body has one child loop and otherwise only computes values, without many instructions, from
    what the child loop does not change: each of the threads that share the child loop may do that.
    `entries`: reductions of the child loop that are permitted, too.
    """
    if len(children) != 1 or len(loop.region.blocks) != 1:
        return False
    child = children[0]
    block = loop.region.blocks.first
    if block is None or child.parent_block() is not block:
        return False
    if not all(op is child or op in entries or _is_cheap_value(op) for op in block.ops):
        return False
    others = (op for each in block.ops if each is not child for op in each.walk())
    return are_stable((op for op in others if isinstance(op, llvm.LoadOp)), child, symbols)


def _is_joint(loop: acc.LoopOp, children: list[acc.LoopOp], symbols: RegionSymbols) -> bool:
    """Whether `loop` reduces exactly what its one child loop does, scalars, and is otherwise tight."""
    if len(children) != 1 or not loop.reduction_operands:
        return False
    entries = joined_reductions(loop, children[0])
    if entries is None or any(e.bounds or not is_scalar(e.var_type) for e in entries):
        return False
    return is_tight(loop, children, symbols, entries)


def _is_cheap_value(op: Operation) -> bool:
    if isinstance(op, acc.YieldOp | acc.PrivateOp | llvm.LoadOp | scf.YieldOp):
        return True
    if isinstance(op, scf.IfOp):
        return all(_is_cheap_value(inner) for r in op.regions for b in r.blocks for inner in b.ops)
    if isinstance(op, llvm.CallOp):
        return is_pure_call(op) and all(result.type == f32 for result in op.results)
    if op.regions or isinstance(op, llvm.StoreOp | acc.ReductionOp):
        return False
    return not op.name.startswith(("acc.", "cf.", "scf."))


def _is_bound_of(loop: acc.LoopOp, symbols: RegionSymbols) -> bool:
    """Whether the trip count is known before the construct and outside of other loops."""
    for value in (*loop.lowerbound, *loop.upperbound, *loop.step):
        poly = symbols.polynomial(value)
        if poly is None:
            if not _pure_outside(value, symbols):
                return False
        elif any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in poly.symbols):
            return False
    return True


def _pure_outside(value: SSAValue, symbols: RegionSymbols) -> bool:
    """Whether `HostEmitter.copy_expression` can copy a value."""

    def is_known(part: SSAValue) -> bool:
        if not symbols.is_inside(part):
            return True
        return isinstance(part.owner, Operation) and symbols.symbol(part) is not None

    return is_arithmetic(value, is_known)


def _routine_need(operations: Sequence[Operation], level_of: Callable[[str], Level]) -> Level:
    need = Level.SEQ
    for op in operations:
        if (name := callee_of(op)) is not None:
            need = max(need, level_of(name))
    return need


def is_long(op: Operation) -> bool:
    """
    Whether an operation may take many instructions: a loop, or a call that is not a single arithmetic
    function.
    """
    if isinstance(op, llvm.CallOp):
        return not is_pure_call(op)
    return isinstance(op, scf.ForOp | scf.WhileOp | scf.ExecuteRegionOp | acc.LoopOp)


class _Dependents:
    """
    The values that change from iteration to iteration of `loop`, and the operations that depend on them,
    directly or through operations in their regions. Each use is followed once.
    """

    def __init__(self, loop: acc.LoopOp | scf.ForOp):
        self._loop = loop
        self.values: set[SSAValue] = set()
        self._operations: set[Operation] = set()
        self.add(loop.regions[0].blocks[0].args)

    def add(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            if value in self.values:
                continue
            self.values.add(value)
            for use in value.uses:
                op: Operation | None = use.operation
                while op is not None and op is not self._loop and op not in self._operations:
                    self._operations.add(op)
                    op = op.parent_op()

    def __contains__(self, op: Operation) -> bool:
        return op in self._operations

    def changes_bounds(self, loop: scf.ForOp) -> bool:
        """Whether the bounds of `loop` change between iterations of the enclosing loop."""
        return any(bound in self.values for bound in (loop.lb, loop.ub, loop.step))


def _holds_fixed_loop(loop: acc.LoopOp, operations: Sequence[Operation]) -> bool:
    """Whether the body holds a sequential loop that does not depend on the loop's variables."""
    if not any(isinstance(op, scf.ForOp) for op in operations):
        return False
    changing = _Dependents(loop)
    found = False
    for op in operations:
        if op in changing:
            changing.add(op.results)
            if any(operand in changing.values for operand in op.operands):
                changing.add(arg for r in op.regions for b in r.blocks for arg in b.args)
        elif isinstance(op, scf.ForOp):
            found = True
    return found


def _strided(pointer: SSAValue, element: int, variable: SSAValue, symbols: RegionSymbols) -> bool:
    """Whether neighbouring iterations certainly access memory with gaps between them."""
    for step in steps_to(pointer):
        steps, type_ = step.read_flat(symbols)
        parts = None if steps is None else steps.split(variable)
        factor = parts[1].as_constant if parts is not None else 0
        if factor not in (0, 1, -1) or (factor != 0 and size_of(type_) > element):
            return True
    return False


def _kept_words(repeated: scf.ForOp, own: _Dependents) -> int:
    """
    The 32-bit words that each turn of `repeated` loads again at the same addresses, directly in its body or
    in loops there of a constant number of turns, among the loads in `own`.
    """
    changing = _Dependents(repeated)
    words = 0
    for block in (repeated.body.block, *(f.body.block for f in _direct_loops(repeated))):
        outer = block.parent_op()
        assert isinstance(outer, scf.ForOp)
        turns = 1
        if outer is not repeated:
            turns = constant_trips(outer.lb, outer.ub, outer.step) or 0
            changing.add(block.args[1:])
        for op in block.ops:
            if op in changing:
                changing.add(op.results)
            elif isinstance(op, llvm.LoadOp) and op in own:
                words += turns * -(-size_of(op.dereferenced_value.type) // 4)
    return words


def _direct_loops(loop: scf.ForOp) -> list[scf.ForOp]:
    return [op for op in loop.body.block.ops if isinstance(op, scf.ForOp)]


def inner_work(
    loop: acc.LoopOp, operations: Sequence[Operation], symbols: RegionSymbols
) -> InnerWork:
    """
    The work of the sequential loops directly in the body of `loop`; loops whose trip count differs between
    iterations are not counted. `operations` are those of the body.
    """
    if len(loop.region.blocks) != 1 or not loop.region.block.args:
        return InnerWork()
    if not any(isinstance(op, scf.ForOp) for op in loop.region.block.ops):
        return InnerWork()
    variable = loop.region.block.args[-1]
    changing = _Dependents(loop)
    fixed: set[Operation] = {loop}
    innermost: set[Operation] = set()
    shared = strided = work = 0
    for op in operations:
        depends = op in changing
        is_fixed = isinstance(op, scf.ForOp) and not changing.changes_bounds(op)
        if depends:
            changing.add(op.results)
            for block in (b for region in op.regions for b in region.blocks):
                changing.add(block.args[1:] if is_fixed else block.args)
        if is_fixed and op.parent_op() in fixed:
            fixed.add(op)
            if not any(is_long(inner) for inner in op.regions[0].block.ops):
                innermost.add(op)
        if op.parent_op() not in innermost or op.regions:
            continue
        if depends:
            work += 1
        if isinstance(op, llvm.LoadOp):
            shared += not depends
            element = size_of(op.dereferenced_value.type)
            strided += depends and _strided(op.ptr, element, variable, symbols)
    repeated = [f for f in fixed if isinstance(f, scf.ForOp) and f not in innermost]
    kept = max((_kept_words(f, changing) for f in repeated), default=0)
    return InnerWork(shared, strided, work, kept)


def _is_of_gang(reduced: SSAValue, construct: Operation) -> bool:
    """Whether every gang has its own copy of a variable that a loop reduces."""
    owner = reduced.owner
    while isinstance(owner, acc.ReductionOp):
        reduced = owner.var
        owner = reduced.owner
    if isinstance(owner, acc.PrivateOp | acc.FirstprivateOp):
        return True
    return isinstance(owner, llvm.AllocaOp) and is_defined_inside(reduced, construct)


@dataclass
class _Reader:
    """Reads the loops of one construct or function."""

    construct: Operation
    symbols: RegionSymbols
    level_of: Callable[[str], Level]
    measured: bool
    forest: LoopForest = field(default_factory=LoopForest)

    def __post_init__(self) -> None:
        self.accesses = AccessCounter(self.symbols)

    def visit(self, loop: acc.LoopOp) -> LoopNode:
        children = child_loops(loop)
        operations = list(loop.region.walk())
        block = loop.region.blocks.first
        assert block is not None
        dim = gang_argument(loop, acc.GangArgType.DIM)
        node = LoopNode(
            parallel=is_parallel(loop),
            loc=source_loc(loop),
            levels=frozenset(loop_levels(loop)),
            gang_dim=constant_value(dim) if dim is not None else None,
            routine=_routine_need(operations, self.level_of),
            children=[self.visit(child) for child in children],
        )
        if self.measured:
            self.measure(node, loop, operations, children)
        self.forest.loops[node] = loop
        return node

    def measure(
        self,
        node: LoopNode,
        loop: acc.LoopOp,
        operations: Sequence[Operation],
        children: list[acc.LoopOp],
    ) -> None:
        """Fills in `node` what the iterations of `loop` access and compute."""
        node.trip = constant_trip(loop)
        node.host_trip = _is_bound_of(loop, self.symbols)
        node.tight = is_tight(loop, children, self.symbols)
        node.joint = _is_joint(loop, children, self.symbols)
        node.hands_on = hands_on(loop)
        node.reduction = bool(loop.reduction_operands) or node.hands_on
        node.gang_reduction = any(_is_of_gang(v, self.construct) for v in loop.reduction_operands)
        node.streaming = not any(is_long(op) for op in operations)
        node.fixed_inner = _holds_fixed_loop(loop, operations)
        node.cached = any(isinstance(op, acc.CacheOp) for op in operations)
        node.open_ended = any(
            isinstance(op, scf.WhileOp | scf.ExecuteRegionOp) for op in operations
        )
        node.array_bytes = sum(
            size_of(op.elem_type)
            for op in operations
            if isinstance(op, llvm.AllocaOp) and not is_scalar(op.elem_type)
        )
        node.work = InnerWork() if children else inner_work(loop, operations, self.symbols)
        node.element_bytes = 0
        if args := loop.region.blocks[0].args:
            counts = self.accesses.count(operations, args[-1])
            node.contiguous, node.strided = counts.contiguous, counts.strided
            node.apart, node.records = counts.apart, counts.records
            node.element_bytes = counts.element_bytes


def loop_forest(
    parent: Operation,
    symbols: RegionSymbols,
    level_of: Callable[[str], Level],
    *,
    measured: bool = True,
) -> LoopForest:
    """
    The loops in the regions of a construct or function. `level_of` gives a routine's level. Unless
    `measured`, nodes have only what the clauses say, and nothing about the bodies.
    """
    reader = _Reader(parent, symbols, level_of, measured)
    for loop in child_loops(parent):
        reader.forest.roots.append(reader.visit(loop))
    return reader.forest
