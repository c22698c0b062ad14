"""
Arrays that every iteration of a loop fills before reading them, so that each iteration may have its own
copy.

`Coverage` walks through structured code in order and keeps the boxes of elements that have certainly been
written: single elements by stores outside loops, whole ranges by loops that store at their variable. A read
is covered if one box contains it, or if it is of a few elements that have all been written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.accx_element import ElementOp
from ...decisions.inequalities import Facts, bounds_from_below
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import alloca_count
from ..ops.layout import size_of
from ..ops.loop_bounds import bounds_of
from ..values.accesses import address_escapes, root_of, subscripts_of
from ..values.loop_symbols import LoopSymbols
from ..variables.loop_scalars import Flow

Interval = tuple[Polynomial, Polynomial]
"""The first and last subscript, both inclusive."""

Box = tuple[Interval, ...]
"""An interval for each subscript."""

MOST_POINTS = 256
"""The most elements of a read that are looked up one by one."""


def is_small_array(root: SSAValue) -> bool:
    """Whether `root` is a small local array, or a copy of one, whose address does not escape."""
    owner = root.owner
    if isinstance(owner, llvm.AllocaOp):
        type_ = owner.elem_type if alloca_count(owner) == 1 else None
    elif isinstance(owner, acc.PrivateOp):
        type_ = None if owner.bounds else owner.var_type
    else:
        return False
    return (
        isinstance(type_, llvm.LLVMArrayType)
        and size_of(type_) <= MOST_BYTES
        and not address_escapes(root)
    )


MOST_BYTES = 2048
"""The most bytes of an array of which each thread may have its own copy."""


@dataclass
class Coverage:
    """
    Tracks the elements of the array at `root` that code has written; `symbols` reads its subscripts. Writes
    count only if they have the form of the first access; a read of another form is not covered.
    """

    root: SSAValue
    symbols: LoopSymbols
    forms: list[tuple[object, Attribute]] = field(default_factory=list[tuple[object, Attribute]])

    def reads_first(self, ops: Iterable[Operation]) -> bool:
        """Whether `ops` may read an element before writing it."""
        return self._walk(ops, [], []) is None

    def _walk(
        self, ops: Iterable[Operation], covered: Sequence[Box], around: Sequence[LoopRange]
    ) -> list[Box] | None:
        """
        The boxes written after `ops`, which run in loops `around` (innermost first); None if a read may
        come before its write.
        """
        boxes = list(covered)
        for op in ops:
            after = self._operation(op, boxes, around)
            if after is None:
                return None
            boxes = after
        return boxes

    def _operation(
        self, op: Operation, covered: list[Box], around: Sequence[LoopRange]
    ) -> list[Box] | None:
        match op:
            case llvm.StoreOp() if root_of(op.ptr) is self.root:
                box = self._box(op.ptr, op.value.type)
                return covered if box is None else [*covered, box]
            case llvm.LoadOp() if root_of(op.ptr) is self.root:
                box = self._box(op.ptr, op.dereferenced_value.type)
                if box is None or not self._is_covered(box, covered, around):
                    return None
                return covered
            case scf.IfOp():
                return self._branches(op, covered, around)
            case scf.ForOp():
                return self._loop(op, op.body.block, covered, around)
            case acc.LoopOp() if len(op.region.blocks) == 1:
                return self._loop(op, op.region.block, covered, around)
            case llvm.GEPOp() | ElementOp() | acc.PrivateOp():
                return covered
            case acc.DataOp() | acc.ParallelOp() | acc.KernelsOp() | acc.SerialOp() if (
                len(op.region.blocks) == 1
            ):
                body = self._walk(op.region.block.ops, covered, around)
                return None if body is None else covered  # the region may not run, or not yet
            case _ if any(self._names(inner) for inner in op.walk()):
                return None
            case _:
                return covered

    def _names(self, op: Operation) -> bool:
        return any(
            isinstance(operand.type, llvm.LLVMPointerType) and root_of(operand) is self.root
            for operand in op.operands
        )

    def _box(self, pointer: SSAValue, type_: Attribute) -> Box | None:
        """The element accessed, if the access has the form of the first one."""
        subscripts, units = subscripts_of(pointer, self.symbols)
        if not self.forms:
            self.forms.append((units, type_))
        if (units, type_) not in self.forms:
            return None
        box: list[Interval] = []
        for poly in subscripts:
            if poly is None:
                return None
            box.append((poly, poly))
        return tuple(box)

    def _branches(
        self, op: scf.IfOp, covered: list[Box], around: Sequence[LoopRange]
    ) -> list[Box] | None:
        both: list[list[Box]] = []
        for region in (op.true_region, op.false_region):
            after = self._walk(region.block.ops, covered, around) if region.blocks else covered
            if after is None:
                return None
            both.append(list(after))
        return [box for box in both[0] if box in both[1]]

    def _loop(
        self, op: Operation, body: Block, covered: list[Box], around: Sequence[LoopRange]
    ) -> list[Box] | None:
        ranges = [self.symbols.range_of(*bounds) for bounds in reversed(bounds_of(op))]
        after = self._walk(body.ops, covered, [*ranges, *around])
        if after is None:
            return None
        steps = {bounds[0]: self.symbols.polynomial(bounds[3]) for bounds in bounds_of(op)}
        added = after[len(covered) :] if after[: len(covered)] == covered else []
        return [*covered, *(box for b in added if (box := _widened(b, ranges, steps)) is not None)]

    def _is_covered(self, box: Box, covered: Sequence[Box], around: Sequence[LoopRange]) -> bool:
        facts = Facts.of_loops(around)
        if any(_contains(written, box, around, facts) for written in covered):
            return True
        points = _points(box, around)
        return points is not None and all(
            any(_contains(written, point, around, facts) for written in covered) for point in points
        )


def _widened(
    box: Box, ranges: Sequence[LoopRange], steps: dict[SSAValue, Polynomial | None]
) -> Box | None:
    """The box that a loop writes if each iteration writes `box`; None if the loop may write nothing."""
    result = list(box)
    for loop in ranges:
        dims = [
            d for d, (low, high) in enumerate(result) if loop.variable in low.symbols | high.symbols
        ]
        variable = loop.variable
        assert isinstance(variable, SSAValue)
        step = steps[variable]
        if len(dims) != 1 or step is None or step.as_constant != 1:
            return None
        low, high = result[dims[0]]
        parts = low.split(variable)
        if parts is None or low != high or parts[1].as_constant != 1:
            return None
        result[dims[0]] = (parts[0] + loop.lower, parts[0] + loop.last)
    return tuple(result)


def _never_negative(poly: Polynomial, ranges: Sequence[LoopRange], facts: Facts) -> bool:
    least = bounds_from_below([poly], ranges, facts)
    return least is not None and all(facts.proves(candidate) for candidate in least)


def _contains(outer: Box, inner: Box, ranges: Sequence[LoopRange], facts: Facts) -> bool:
    return len(outer) == len(inner) and all(
        _never_negative(a_low - b_low, ranges, facts)
        and _never_negative(b_high - a_high, ranges, facts)
        for (b_low, b_high), (a_low, a_high) in zip(outer, inner, strict=True)
    )


def _points(box: Box, ranges: Sequence[LoopRange]) -> list[Box] | None:
    """The single elements of a box with few elements; None for larger ones."""
    spans: list[range] = []
    count = 1
    for low, high in box:
        least = bounds_from_below([low], ranges, Facts())
        greatest = bounds_from_below([-high], ranges, Facts())
        if least is None or greatest is None or len(least) != 1 or len(greatest) != 1:
            return None
        first, last = least[0].as_constant, (-greatest[0]).as_constant
        if first is None or last is None:
            return None
        spans.append(range(first, last + 1))
        count *= len(spans[-1])
        if count > MOST_POINTS:
            return None
    return [
        tuple((Polynomial.constant(i), Polynomial.constant(i)) for i in point)
        for point in product(*spans)
    ]


def first_use_of_array(
    symbols: LoopSymbols,
) -> Callable[[Iterable[Operation], SSAValue], Flow]:
    """
    As `loop_scalars.first_use`, for arrays: only reads are reported, and not those of elements written
    before.
    """

    def first_use(ops: Iterable[Operation], root: SSAValue) -> Flow:
        coverage = Coverage(root, symbols)
        return Flow.READS if coverage.reads_first(ops) else Flow.UNTOUCHED

    return first_use
