"""What the rows of a nest access that a thread could process side by side."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects import acc, arith, llvm, math, scf
from xdsl.dialects.builtin import f64
from xdsl.ir import Operation, SSAValue

from ...decisions.kept_objects import REREAD, REREAD_BYTES
from ...decisions.polynomials import ZERO, Polynomial
from ...decisions.row_sharing import RowAccesses
from ...decisions.unrolling import OWN_OPERATIONS
from ..ops.acc_ops import PRIVATIZING_OPS, is_defined_inside, operations_around
from ..ops.building import constant_trips, constant_value
from ..ops.layout import size_of
from ..ops.purity import is_pure
from ..values.addresses import base_of, steps_to
from ..values.region_values import RegionSymbols
from ..values.stable_loads import distance_from_base
from ..values.strides import RECORD_BYTES, flat_steps
from .jammed_nests import JammedNest


def is_own(pointer: SSAValue) -> bool:
    """Whether `pointer` points into a variable of the thread."""
    return isinstance(base_of(pointer).owner, (llvm.AllocaOp, *PRIVATIZING_OPS))


def _operations(nest: JammedNest) -> Iterator[Operation]:
    """The operations of a row."""
    return (op for part in (*nest.sunk, nest.inner) for op in part.walk())


def _accesses(nest: JammedNest) -> Iterator[llvm.LoadOp | llvm.StoreOp]:
    """
    The loads and stores of a row, except for those of the thread's own variables and of constants of the
    program, which are the same in all rows.
    """
    for op in _operations(nest):
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            own = is_own(op.ptr) or isinstance(base_of(op.ptr).owner, llvm.AddressOfOp)
            if not own:
                yield op


def _in_loops(nest: JammedNest) -> Iterator[Operation]:
    """The operations of a row that its sequential loops repeat."""
    for op in _operations(nest):
        if isinstance(op, scf.ForOp | scf.WhileOp):
            yield from (inner for region in op.regions for inner in region.walk())


def _is_branch(op: Operation, nest: JammedNest) -> bool:
    """
    Whether an operation is a branch that rows may take differently, rather than a choice of values or a
    condition on what is the same in all rows.
    """
    if isinstance(op, scf.ExecuteRegionOp | scf.IndexSwitchOp):
        return True
    if not isinstance(op, scf.IfOp):
        return False
    inside = (each for region in op.regions for each in region.walk())
    computes = any(not isinstance(each, scf.YieldOp | arith.ConstantOp) for each in inside)
    return computes and _differs(op.cond, nest)


def _differs(value: SSAValue, nest: JammedNest) -> bool:
    """Whether a value may differ from row to row: unless it is computed from loops' variables and from
    values outside."""
    work, seen = [value], set[SSAValue]()
    while work:
        value = work.pop()
        if value in seen or not is_defined_inside(value, nest.outer):
            continue
        seen.add(value)
        op = value.owner
        if isinstance(op, Operation):
            if op.regions or not is_pure(op):
                return True
            work += op.operands
            continue
        loop = op.parent_op()
        if (
            loop is nest.outer
            or not isinstance(loop, scf.ForOp | acc.LoopOp)
            or op.args[0] is not value
        ):
            return True
    return False


SHORT_FUNCTIONS = frozenset(
    ("fabs", "fmin", "fmax", "copysign", "fma", "floor", "ceil", "trunc", "rint", "sqrt")
)
"""The functions of doubles that are a few instructions (`sqrt` counts as a division)."""


def _is_long(op: Operation) -> bool:
    """Whether an operation takes many instructions: a function such as `expf`."""
    return isinstance(op, llvm.CallOp) or op.name.startswith("math.")


def _divides_doubles(op: Operation) -> bool:
    """Whether an operation is a division or a square root of doubles."""
    divides = isinstance(op, arith.DivfOp | math.SqrtOp)
    return divides and op.results[0].type == f64


def _is_function_of_doubles(op: Operation) -> bool:
    """Whether an operation is a function of doubles that takes many instructions."""
    if not op.results or op.results[0].type != f64 or isinstance(op, math.SqrtOp):
        return False
    if isinstance(op, llvm.CallOp):
        return op.callee is None or op.callee.root_reference.data not in SHORT_FUNCTIONS
    return op.name.startswith("math.") and not isinstance(
        op, math.AbsFOp | math.FmaOp | math.CopySignOp
    )


@dataclass(frozen=True)
class _Rows:
    """The rows of a nest, of which the first is `variable`, and each `distance` after the one before."""

    nest: JammedNest
    symbols: RegionSymbols
    variable: SSAValue
    distance: Polynomial

    def elements(self, pointer: SSAValue) -> list[Hashable]:
        """
        The element at `pointer` in each row: equal ones are the same. Addresses that are not polynomials of
        what is known before the nest are assumed to differ from row to row.
        """
        rows = range(self.nest.elements)
        base, steps = base_of(pointer), flat_steps(pointer, self.symbols)
        if is_defined_inside(base, self.nest.outer):
            return [(pointer, row) for row in rows]
        found: list[Hashable] = []
        for row in rows:
            first = Polynomial.symbol(self.variable) + self.distance * row
            moved = [None if p is None else p.substitute(self.variable, first) for p, _ in steps]
            if None in moved:
                return [(pointer, row) for row in rows]
            found.append((base, *zip(moved, (type_ for _, type_ in steps), strict=True)))
        return found


def _stores_records(nest: JammedNest, symbols: RegionSymbols) -> bool:
    """Whether a row stores elements that lie within `RECORD_BYTES`, such as the members of a structure."""
    offsets: dict[Hashable, set[int]] = {}
    for op in _accesses(nest):
        if not isinstance(op, llvm.StoreOp):
            continue
        place: Polynomial | None = ZERO
        for step in steps_to(op.ptr):
            bytes = step.in_bytes(symbols)
            place = None if place is None or bytes is None else place + bytes
        if place is not None:
            offset = place.terms.get((), 0)
            offsets.setdefault((base_of(op.ptr), place - offset), set()).add(offset)
    near = (pairwise(sorted(found)) for found in offsets.values())
    return any(second - first < RECORD_BYTES for pairs in near for first, second in pairs)


def _rereads(nest: JammedNest, symbols: RegionSymbols) -> bool:
    """
    Whether loops of a row read the same few elements again and again, which no other row reads, so that
    `keep-objects` keeps them in registers.
    """
    accesses = list(_accesses(nest))
    stored = {base_of(op.ptr) for op in accesses if isinstance(op, llvm.StoreOp)}
    loads = [op for op in accesses if isinstance(op, llvm.LoadOp)]
    return any(base_of(op.ptr) not in stored and _is_reread(op, nest, symbols) for op in loads)


def _is_reread(load: llvm.LoadOp, nest: JammedNest, symbols: RegionSymbols) -> bool:
    """
    Whether loops of a known length repeat a load, most of which its address does not depend on, and rows are
    at least as far apart as what they read.
    """
    place = distance_from_base(load.ptr, symbols)
    if place is None:
        return False
    again, elements, repeated, unrolled = 1, 1, 1, 1
    extents: dict[Hashable, int] = {}
    least: dict[Hashable, int] = {}
    for loop in operations_around(load, nest.outer):
        if isinstance(loop, scf.WhileOp):
            return False
        if not isinstance(loop, scf.ForOp):
            continue
        variable, trips = loop.body.block.args[0], constant_trips(loop.lb, loop.ub, loop.step)
        parts = place.split(variable)
        if trips is None or parts is None:
            return False
        repeated *= trips
        if not parts[1].terms:
            again *= trips
            continue
        elements *= trips
        unrolled = repeated
        for unit, factor in parts[1].terms.items():
            apart = abs(factor) * (constant_value(loop.step) or 1)
            extents[unit] = extents.get(unit, 0) + apart * (trips - 1)
            least[unit] = min(apart, least.get(unit, apart))
    bytes, block = size_of(load.dereferenced_value.type), load.parent_block()
    assert block is not None
    if again < REREAD or unrolled * sum(1 for _ in block.ops) > OWN_OPERATIONS:
        return False
    if elements * bytes not in REREAD_BYTES or elements * max(bytes, 4) not in REREAD_BYTES:
        return False
    parts = place.split(nest.outer.region.block.args[0])
    step = constant_value(nest.outer.step[0]) or 1
    return parts is not None and all(
        abs(factor) * step >= extents.get(unit, 0) + least.get(unit, 0)
        for unit, factor in parts[1].terms.items()
    )


def row_accesses(nest: JammedNest) -> RowAccesses:
    """What the rows of `nest` access, before it is jammed."""
    outer, symbols = nest.outer, RegionSymbols(nest.outer)
    step = symbols.polynomial(outer.step[0])
    distance = Polynomial.symbol(outer.step[0]) if step is None else step
    rows = _Rows(nest, symbols, outer.region.block.args[0], distance)
    single: set[Hashable] = set()
    together: set[Hashable] = set()
    for op in _accesses(nest):
        elements = rows.elements(op.ptr)
        single.add(elements[0])
        together.update(elements)
    varying = [op for op in _operations(nest) if op.results and _differs(op.results[0], nest)]
    repeated = list(_in_loops(nest))
    inside = set(repeated)
    return RowAccesses(
        nest.elements,
        len(single),
        len(together),
        branches=any(_is_branch(op, nest) for op in repeated),
        long_arithmetic=any(map(_is_long, repeated)),
        stores_records=_stores_records(nest, symbols),
        divisions=sum(map(_divides_doubles, varying)),
        functions=sum(map(_is_function_of_doubles, varying)),
        results=sum(isinstance(op, llvm.StoreOp) and op not in inside for op in _accesses(nest)),
        loops=sum(isinstance(op, scf.ForOp | scf.WhileOp) for op in _operations(nest)),
        rereads=_rereads(nest, symbols),
    )
