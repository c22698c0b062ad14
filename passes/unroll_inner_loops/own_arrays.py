"""
Arrays of one iteration that become registers: those whose every subscript is constant once the sequential
loops around it are unrolled.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.accx import UNROLL
from ..decisions.polynomials import Polynomial
from ..decisions.unrolling import (
    MOST_CHOICES_IN_LOOPS,
    MOST_OWN_WORDS,
    OWN_OPERATIONS,
    OWN_WORDS,
)
from ..ir.kernels.body_costs import costs
from ..ir.ops.acc_ops import alloca_count, enclosing, operations_around
from ..ir.ops.building import constant_value
from ..ir.ops.layout import size_of
from ..ir.values.accesses import address_escapes
from ..ir.values.value_polynomials import from_value
from .bounded_loops import BoundedLoop, bound, bounded_loop
from .selected_elements import SelectedElement, select, selected_elements

COMPLETELY = 0
"""The `accx.unroll` of a loop that is unrolled completely."""


@dataclass
class _Counters:
    """
    The sequential loops inside `around` whose variables decide given values; `constant` as below. Those of
    `bounds` get constant bounds, if it `bounds` loops.
    """

    around: acc.LoopOp
    bounds: bool = False
    bounded: dict[scf.ForOp, BoundedLoop] = field(default_factory=dict[scf.ForOp, BoundedLoop])
    loops: dict[scf.ForOp, None] = field(default_factory=dict[scf.ForOp, None])
    _known: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])

    def constant(self, value: SSAValue) -> bool:
        """Whether `value` is constant once loops are unrolled, which are then among `loops`."""
        if value not in self._known:
            self._known[value] = False
            self._known[value] = self._is_constant(value)
        return self._known[value]

    def _is_constant(self, value: SSAValue) -> bool:
        owner = value.owner
        if not isinstance(owner, Block):
            return constant_value(value) is not None or (
                owner.name.startswith("arith.") and all(map(self.constant, owner.operands))
            )
        loop = owner.parent_op()
        if (
            not isinstance(loop, scf.ForOp)
            or value is not owner.args[0]
            or not self.around.is_ancestor(loop)
            or UNROLL in loop.attributes
        ):
            return False
        self.loops[loop] = None
        found = bounded_loop(loop) if self.bounds else None
        if found is not None:
            self.bounded[loop] = found
            return True
        return all(map(self.constant, (loop.lb, loop.ub, loop.step)))


@dataclass
class _Count:
    """
    Counts the operations of loops after those among `loops` are unrolled, up to OWN_OPERATIONS; `selected`:
    accesses to elements that are selected, and the operations that each becomes.
    """

    loops: dict[scf.ForOp, None]
    bounded: Mapping[scf.ForOp, BoundedLoop]
    selected: dict[Operation, int] = field(default_factory=dict[Operation, int])
    total: int = 0
    variables: dict[Hashable, Polynomial] = field(default_factory=dict[Hashable, Polynomial])

    def within_limit(self) -> bool:
        """Whether all unrolled loops together are short enough; false too where a loop's trips are not
        known."""
        outermost = [
            loop
            for loop in self.loops
            if not any(other is not loop and other.is_ancestor(loop) for other in self.loops)
        ]
        return all(self._add_loop(loop, self._costs(loop)) for loop in outermost)

    def _costs(self, loop: scf.ForOp) -> dict[Operation, int] | None:
        known = costs(loop)
        if known is not None:
            known |= {op: cost for op, cost in self.selected.items() if loop.is_ancestor(op)}
        return known

    def _value(self, value: SSAValue) -> int | None:
        constant = constant_value(value)
        if constant is not None:
            return constant
        poly = from_value(value, lambda at: at if at in self.variables else None)
        return None if poly is None else poly.mapped(self.variables.__getitem__).as_constant

    def _values(self, loop: scf.ForOp) -> range | None:
        """The values of a loop's variable."""
        if loop in self.bounded:
            return self.bounded[loop].values
        lower, upper, step = map(self._value, (loop.lb, loop.ub, loop.step))
        if lower is None or upper is None or step is None or step <= 0:
            return None
        return range(lower, upper, step)

    def _add_loop(self, loop: scf.ForOp, cost: dict[Operation, int] | None) -> bool:
        body, values = loop.body.block, self._values(loop)
        if cost is None or values is None:
            return False
        if len(values) > OWN_OPERATIONS:
            return False
        if not any(op in self.loops for op in loop.body.walk()):
            each = 1 + sum(cost.get(op, 0) for op in loop.body.walk())
            self.total += len(values) * each
            return self.total <= OWN_OPERATIONS
        for value in values:
            self.variables[body.args[0]] = Polynomial.constant(value)
            self.total += 1
            if not self._add(body, cost):
                return False
        return True

    def _add(self, block: Block, cost: dict[Operation, int]) -> bool:
        for op in block.ops:
            self.total += cost.get(op, 0)
            if isinstance(op, scf.ForOp) and op in self.loops:
                if not self._add_loop(op, cost):
                    return False
            elif not all(
                self._add(inner, cost) for region in op.regions for inner in region.blocks
            ):
                return False
        return self.total <= OWN_OPERATIONS


@dataclass(frozen=True)
class OwnArray:
    """An array, of `type`, of which every iteration of the innermost partitioned loop `around` it has one."""

    pointer: SSAValue
    type: Attribute
    around: acc.LoopOp


def own_array(op: Operation) -> OwnArray | None:
    """
    The array, or structure with arrays, that an operation makes for each iteration: by a declaration in the
    loop, or by a clause `private` of it for a whole variable.
    """
    match op:
        case llvm.AllocaOp() if alloca_count(op) == 1:
            type_, around = op.elem_type, enclosing(op, acc.LoopOp)
        case acc.PrivateOp() if not op.bounds:
            users = (use.operation for use in op.results[0].uses)
            loops = [user for user in users if isinstance(user, acc.LoopOp)]
            type_, around = op.var_type, loops[0] if len(loops) == 1 else None
        case _:
            return None
    if around is None or not isinstance(type_, llvm.LLVMArrayType | llvm.LLVMStructType):
        return None
    return OwnArray(op.results[0], type_, around)


@dataclass(frozen=True)
class _Plan:
    """The loops that make all subscripts of an array constant, and elements that are selected for that."""

    array: OwnArray
    loops: dict[scf.ForOp, None]
    bounded: Mapping[scf.ForOp, BoundedLoop]
    elements: list[SelectedElement]

    def pays(self) -> bool:
        """Whether the loops together are short enough, and no loop that remains has many selections."""
        if any(
            len(element.choices) > MOST_CHOICES_IN_LOOPS and self._is_in_loop(element.op)
            for element in self.elements
        ):
            return False
        selected = {op: cost for element in self.elements for op, cost in element.costs().items()}
        return bool(self.loops) and _Count(self.loops, self.bounded, selected).within_limit()

    def _is_in_loop(self, op: Operation) -> bool:
        """Whether a loop that remains repeats `op`, but not the array's declaration."""
        own = self.array.pointer.owner
        assert isinstance(own, Operation)
        return any(
            isinstance(loop, scf.ForOp | scf.WhileOp)
            and loop not in self.loops
            and not loop.is_ancestor(own)
            for loop in operations_around(op, self.array.around)
        )


def _plan(array: OwnArray, *, bounds: bool = False) -> _Plan | None:
    """
    How all subscripts of an array become constant; None if they do not. It `bounds` loops whose end is in a
    known range.
    """
    counters = _Counters(array.around, bounds)
    if address_escapes(array.pointer):
        return None
    elements = selected_elements(array.pointer, array.type, counters.constant)
    return None if elements is None else _Plan(array, counters.loops, counters.bounded, elements)


def unroll_over_own_arrays(operations: Iterable[Operation], *, selects: bool = True) -> None:
    """
    Marks the loops over the arrays of iterations that fit into registers, in their order: at most OWN_WORDS
    words of arrays in one iteration. `operations` are those of a construct. Elements at run-time subscripts
    are selected if it `selects`.
    """
    words: dict[acc.LoopOp, int] = {}
    inner: dict[acc.LoopOp, bool] = {}
    marked: dict[scf.ForOp, None] = {}
    for array in filter(None, map(own_array, operations)):
        around = array.around
        if around not in inner:
            inner[around] = not any(
                isinstance(op, acc.LoopOp) for op in around.walk() if op is not around
            )
        size = words.get(around, 0) + -(-size_of(array.type) // 4)
        alone = around not in words and size <= MOST_OWN_WORDS
        if not inner[around] or (size > OWN_WORDS and not alone):
            continue
        plan = _plan(array) if size <= OWN_WORDS else None
        if plan is None or not plan.pays():
            plan = _plan(array, bounds=True)
            if plan is None or not plan.bounded or not plan.pays():
                continue
        if selects or not plan.elements:
            words[around] = size
            marked.update(plan.loops)
            for element in plan.elements:
                select(element)
            for loop, found in plan.bounded.items():
                del marked[loop]
                marked.update(dict.fromkeys(bound(found)))
    for loop in marked:
        loop.attributes[UNROLL] = IntegerAttr(COMPLETELY, i32)
