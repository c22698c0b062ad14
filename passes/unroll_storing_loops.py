"""
Unroll sequential loops that store, so that the loads of several iterations are in flight.

A thread waits for a load where its value is needed, and a store that follows in the program comes after the
loads of its own iteration only: neither LLVM nor the GPU's assembler moves the loads of the next iteration
before it. So a thread that copies a row, or transforms the points of a line, has one iteration's loads in
flight at a time. In an unrolled loop, `load-early` puts the loads of all its iterations first.

Takes:  scheduled IR for a GPU, before load-early. Considers `scf.for`s in constructs without branches and
        further loops in their bodies, and without arrays of the thread's own, if some of what they load from
        memory is known to be apart from what they store in up to `MOST` iterations before.
Leaves: a loop over groups of iterations, one after the other in its body, and one for what remains; or only
        copies of the body if a constant number of iterations is small. Neither is unrolled further. Where a
        loop that is all that another one repeats may be shorter than a group, as in the first stages of a
        Fourier transform, both are one loop in that case, of which groups are made.
Fails:  never.

Before:
  scf.for %i = %lb to %ub step %c1 {
    %v = llvm.load %a[%i]
    llvm.store f(%v), %b[%i]
  }
After:
  %middle = %lb + max(%ub - %lb, 0) / 4 * 4
  scf.for %i = %lb to %middle step %c4 {
    %v = llvm.load %a[%i]
    llvm.store f(%v), %b[%i]
    %w = llvm.load %a[%i + 1]
    llvm.store f(%w), %b[%i + 1]
    …
  }
  scf.for %i = %middle to %ub step %c1 { … }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, replace

from xdsl.dialects import llvm, scf
from xdsl.dialects.arith import AddiOp, CmpiOp, DivSIOp, SelectOp
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ..dialects.accx import UNROLL
from ..dialects.accx_element import ElementOp
from ..dialects.volatility import is_ordered
from .decisions.polynomials import Polynomial
from .decisions.unrolling import MOST, storing_factor
from .ir.kernels.body_costs import read_body
from .ir.loops.jamming import iteration_value
from .ir.loops.row_accesses import is_own
from .ir.ops.acc_ops import is_defined_inside, parallel_constructs
from .ir.ops.building import NSW, Cursor, constant_trips, constant_value, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.layout import size_of
from .ir.ops.purity import may_trap, only_computes
from .ir.values.accesses import LoopAccess
from .ir.values.iteration_accesses import access_of, are_apart, positive_symbols
from .ir.values.region_values import RegionSymbols

MOST_ACCESSES = 32
"""The loads and stores of a body, each of which is compared with each."""


def _counts_up(loop: scf.ForOp) -> bool:
    """Whether each iteration adds a positive constant."""
    step = constant_value(loop.step)
    return step is not None and step > 0


def _accesses(loop: scf.ForOp, symbols: RegionSymbols) -> list[LoopAccess] | None:
    """
    The loads and stores of a loop's body, without those of the thread's own scalars; None if it has other
    effects, branches, or arrays of the thread's own.
    """
    found: list[LoopAccess] = []
    for op in loop.body.block.ops:
        if isinstance(op, llvm.LoadOp | llvm.StoreOp) and not is_ordered(op):
            if not is_own(op.ptr):
                found.append(access_of(op, symbols))
            elif isinstance(op.ptr.owner, ElementOp):
                return None
        elif not only_computes(op) and not isinstance(op, scf.YieldOp):
            return None
    return found


def _later(access: LoopAccess, variable: SSAValue, distance: int) -> LoopAccess:
    """What an access is when the loop's variable is larger by `distance`."""
    moved = Polynomial.symbol(variable) + distance
    subscripts = tuple(
        None if poly is None else poly.substitute(variable, moved) for poly in access.subscripts
    )
    return replace(access, subscripts=subscripts)


@dataclass(frozen=True)
class _Stores:
    """The stores of a loop, and the symbols that are at least 1 in it."""

    loop: scf.ForOp
    step: int
    stores: tuple[LoopAccess, ...]
    positive: Set[Hashable]

    def are_elsewhere(self, load: LoopAccess, before: int) -> bool:
        """
        Whether no store of up to `MOST` iterations before is to what a load reads, nor one of the first
        `before` stores in its own iteration.
        """
        variable = self.loop.body.block.args[0]
        return all(are_apart(load, store, self.positive) for store in self.stores[:before]) and all(
            are_apart(_later(load, variable, self.step * number), store, self.positive)
            for number in range(1, MOST)
            for store in self.stores
        )


def early_loads(loop: scf.ForOp, symbols: RegionSymbols) -> list[LoopAccess]:
    """The loads of a loop that may come before the stores of several iterations, if it is considered."""
    accesses = _accesses(loop, symbols) if _counts_up(loop) else None
    if accesses is None or len(accesses) > MOST_ACCESSES:
        return []
    found, before = list[LoopAccess](), 0
    stored = tuple(access for access in accesses if access.writes)
    if not stored:
        return []
    step = constant_value(loop.step) or 1
    stores = _Stores(loop, step, stored, positive_symbols(stored[0].op, symbols))
    for access in accesses:
        before += access.writes
        if access.writes or _is_fixed(access, loop):
            continue
        if stores.are_elsewhere(access, before):
            found.append(access)
    return found


def _is_fixed(access: LoopAccess, loop: scf.ForOp) -> bool:
    """Whether all iterations access one element, as far as subscripts show: LLVM loads it once."""
    return all(
        poly is not None
        and not any(isinstance(s, SSAValue) and is_defined_inside(s, loop) for s in poly.symbols)
        for poly in access.subscripts
    )


def unroll(loop: scf.ForOp, factor: int) -> None:
    """Replaces a loop by one over groups of `factor` iterations and one for the rest."""
    at, step = Cursor.before(loop), constant_value(loop.step)
    assert step is not None
    trips = constant_trips(loop.lb, loop.ub, loop.step)
    carried: Sequence[SSAValue] = loop.iter_args
    if trips is not None and trips <= factor:
        for number in range(trips):
            carried = _copy(loop, at, loop.lb, number * step, carried)
        _replace(loop, carried)
        return
    middle = _middle(loop, at, factor * step)
    block = Block(arg_types=[value.type for value in loop.body.block.args])
    for new, old in zip(block.args, loop.body.block.args, strict=True):
        new.name_hint = old.name_hint
    whole = at.constant(factor * step, loop.step.type)
    groups = at.insert(scf.ForOp(loop.lb, middle, whole, carried, Region(block)))
    inside, values = at.inside(block), block.args[1:]
    for number in range(factor):
        values = _copy(loop, inside, block.args[0], number * step, values)
    inside.insert(scf.YieldOp(*values))
    groups.attributes |= loop.attributes
    loop.operands = [middle, loop.ub, loop.step, *groups.results]
    for each in (groups, loop):
        each.attributes[UNROLL] = IntegerAttr(1, i32)


def join_where_short(loop: scf.ForOp, factor: int) -> scf.ForOp | None:
    """
    Makes a second version of a loop that is all that another one repeats, for when it is shorter than
    `factor`: one loop over the iterations of both. Returns that; None if there is no such loop around, or it
    may not be short.
    """
    around = loop.parent_op()
    if not isinstance(around, scf.ForOp) or around.iter_args or loop.iter_args:
        return None
    if constant_trips(loop.lb, loop.ub, loop.step) is not None or not _counts_up(around):
        return None
    others = [
        op for op in around.body.block.ops if op is not loop and not isinstance(op, scf.YieldOp)
    ]
    if not all(only_computes(op) for op in others):
        return None
    bounds = _outside(loop, around, others)
    if bounds is None:
        return None
    at = Cursor.before(around)
    trips = _trips(at, *bounds)
    short = at.value(CmpiOp(trips, at.i64(factor), "slt"), "short")
    together = at.mul(_trips(at, around.lb, around.ub, around.step), trips, "together")
    then, otherwise = at.if_else(short)
    otherwise.move(around)
    block = Block(arg_types=[i64, around.lb.type, i64])
    starts = [around.lb, then.i64(0)]
    joined = then.insert(scf.ForOp(then.i64(0), together, then.i64(1), starts, Region(block)))
    _, outer, number = block.args
    outer.name_hint, number.name_hint = around.body.block.args[0].name_hint, "number"
    inside = then.inside(block)
    variable = loop.body.block.args[0]
    inner = iteration_value(number, bounds[0], bounds[2], variable, inside)
    further = inside.add(number, inside.i64(1))
    last = inside.value(CmpiOp(further, trips, "sge"), "last")
    values: dict[SSAValue, SSAValue] = {around.body.block.args[0]: outer, variable: inner}
    for op in [*others, *loop.body.block.ops]:
        if not isinstance(op, scf.YieldOp):
            inside.clone(op, values)
    next_outer = inside.value(AddiOp(outer, around.step, overflow=NSW))
    inside.insert(
        scf.YieldOp(
            inside.value(SelectOp(last, next_outer, outer)),
            inside.value(SelectOp(last, inside.i64(0), further)),
        )
    )
    return joined


def _outside(
    loop: scf.ForOp, around: scf.ForOp, others: Sequence[Operation]
) -> tuple[SSAValue, SSAValue, SSAValue] | None:
    """
    The bounds and the step of a loop before the loop `around`, copied there from its operations `others`;
    None if they depend on its iteration.
    """
    varying: set[SSAValue] = {around.body.block.args[0]}
    for op in others:
        if varying & set(op.operands) or may_trap(op):
            varying.update(op.results)
    bounds = loop.lb, loop.ub, loop.step
    if varying & set(bounds):
        return None
    at, values = Cursor.before(around), dict[SSAValue, SSAValue]()
    for op in others:
        if not varying & set(op.results):
            at.clone(op, values)
    lower, upper, by = (values.get(value, value) for value in bounds)
    return lower, upper, by


def _trips(at: Cursor, lower: SSAValue, upper: SSAValue, step: SSAValue) -> SSAValue:
    """The iterations (i64) of a loop with these bounds and a constant positive step."""
    by = constant_value(step)
    assert by is not None
    distance = at.add(_distance(at, lower, upper), at.i64(by - 1))
    return at.value(DivSIOp(distance, at.i64(by)), "trips")


def _distance(at: Cursor, lower: SSAValue, upper: SSAValue) -> SSAValue:
    """From one bound to the other (i64); 0 if that is negative."""
    low, high = at.to_i64(lower), at.to_i64(upper)
    runs = at.value(CmpiOp(low, high, "slt"), "runs")
    return at.value(SelectOp(runs, at.sub(high, low), at.i64(0)), "distance")


def _middle(loop: scf.ForOp, at: Cursor, length: int) -> SSAValue:
    """Where the last whole group of iterations ends, of groups that the variable takes `length` for."""
    distance = _distance(at, loop.lb, loop.ub)
    whole = at.mul(at.value(DivSIOp(distance, at.i64(length))), at.i64(length), "whole")
    type_ = loop.lb.type
    assert isinstance(type_, IntegerType)
    return at.to_integer(at.add(at.to_i64(loop.lb), whole), type_)


def _copy(
    loop: scf.ForOp, at: Cursor, first: SSAValue, distance: int, carried: Sequence[SSAValue]
) -> list[SSAValue]:
    """Emits an iteration, whose variable is `first + distance`; what it hands on."""
    variable = first
    if distance:
        variable = at.value(AddiOp(first, at.constant(distance, first.type), overflow=NSW))
    block = loop.body.block
    values = dict[SSAValue, SSAValue](zip(block.args, (variable, *carried), strict=True))
    for op in block.ops:
        if isinstance(op, scf.YieldOp):
            return [values.get(value, value) for value in op.operands]
        at.clone(op, values)
    raise AssertionError("a loop's body ends with scf.yield")


def _replace(loop: scf.ForOp, results: Sequence[SSAValue]) -> None:
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)
    erase(loop)


@dataclass(frozen=True)
class UnrollStoringLoopsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "unroll-storing-loops"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            symbols: RegionSymbols | None = None
            for loop in [op for op in construct.region.walk() if isinstance(op, scf.ForOp)]:
                if UNROLL in loop.attributes or not _stores(loop):
                    continue
                symbols = symbols or RegionSymbols(construct)
                factor = _factor(loop, symbols)
                if factor is None:
                    continue
                joined = join_where_short(loop, factor)
                unroll(loop, factor)
                if joined is not None and (factor := _factor(joined, symbols)) is not None:
                    unroll(joined, factor)


def _stores(loop: scf.ForOp) -> bool:
    return any(isinstance(op, llvm.StoreOp) for op in loop.body.block.ops)


def _factor(loop: scf.ForOp, symbols: RegionSymbols) -> int | None:
    """The number of a loop's iterations in a group; None if it is left as it is."""
    loads = early_loads(loop, symbols)
    return storing_factor(len(loads), sum(size_of(load.type) for load in loads), read_body(loop))
