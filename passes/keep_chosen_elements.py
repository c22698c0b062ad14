"""
Keep the element at the place that a loop has chosen so far in a register.

A loop that searches for the place of the least or greatest element, as for a pivot or in a selection sort,
loads the best element again in each iteration (`if (v[j] < v[m]) m = j;`), at a subscript that is known at
run time only: the next iteration waits for it, and an array of the thread's own cannot be in registers.

Takes:  scheduled IR for a GPU. Considers sequential loops of threads that carry a subscript, and load the
        element there in each iteration.
Leaves: if each value that the subscript may get is one at which the iteration has loaded already, and the
        loop stores nothing that may be that element, it carries the element, too. Loads at the chosen place
        directly after the loop are the element that it has carried. Other loops are untouched.
Fails:  never.

Before:
  %m = scf.for %j = %c1 to %n step %c1 iter_args(%best = %c0) -> (i32) {
    %x = llvm.load %v[%j]
    %y = llvm.load %v[%best]
    %next = scf.if (%x < %y) { scf.yield %j } else { scf.yield %best }
    scf.yield %next
  }
After:
  %start = llvm.load %v[%c0]
  %m, %element = scf.for %j = %c1 to %n step %c1 iter_args(%best = %c0, %y = %start) -> (i32, f32) {
    %x = llvm.load %v[%j]
    %next, %z = scf.if (%x < %y) { scf.yield %j, %x } else { scf.yield %best, %y }
    scf.yield %next, %z
  }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, ModuleOp, UnitAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ..dialects.accx import SPECULATIVE
from ..dialects.volatility import is_plain_load
from .decisions.polynomials import Polynomial
from .ir.loops.products import OWN
from .ir.ops.acc_ops import is_defined_inside, parallel_constructs
from .ir.ops.building import Cursor, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.purity import is_pure, is_pure_call
from .ir.values.accesses import aliased_type, may_alias, root_of, subscripts_of
from .ir.values.addresses import StepUnit, base_of
from .ir.values.constant_ranges import interval_of
from .ir.values.exact_reader import ExactReader
from .ir.variables.handed_on import hand_on

MOST_SOURCES = 16
"""The values that a chosen subscript may get in an iteration; loops of programs have one or two."""

_REPEATED = (scf.ForOp, scf.IfOp, scf.YieldOp)
Subscripts = tuple[Polynomial, ...]


@dataclass(frozen=True)
class _Element:
    """An element that a load reads: the array or variable, the subscripts from there, and the type."""

    root: SSAValue
    subscripts: Subscripts
    units: tuple[StepUnit, ...]
    type: Attribute

    def at(self, symbol: SSAValue, place: Polynomial) -> _Element | None:
        """The element with `place` for `symbol` in its subscripts."""
        moved = [poly.substitute(symbol, place) for poly in self.subscripts]
        known = tuple(poly for poly in moved if poly is not None)
        if len(known) < len(moved):
            return None
        return _Element(self.root, known, self.units, self.type)


def _element(load: llvm.LoadOp, reader: ExactReader) -> _Element | None:
    subscripts, units = subscripts_of(load.ptr, reader)
    known = tuple(poly for poly in subscripts if poly is not None)
    if len(known) < len(subscripts):
        return None
    return _Element(root_of(load.ptr), known, units, load.dereferenced_value.type)


def _plain_loads(op: Operation) -> Iterator[llvm.LoadOp]:
    for each in op.walk():
        if isinstance(each, llvm.LoadOp) and is_plain_load(each):
            yield each


def _may_store(op: Operation, load: llvm.LoadOp) -> bool:
    """Whether `op` itself, apart from its regions, may change what `load` reads."""
    if isinstance(op, llvm.StoreOp):
        mine, its = root_of(load.ptr), root_of(op.ptr)
        types = (
            aliased_type(load.ptr, load.dereferenced_value.type),
            aliased_type(op.ptr, op.value.type),
        )
        return mine is its or may_alias(mine, its, types, op)
    if isinstance(op, llvm.LoadOp):
        return not is_plain_load(op)
    return not (isinstance(op, _REPEATED) or is_pure(op) or is_pure_call(op))


def _is_before(op: Operation, place: Operation) -> bool:
    """Whether `op` has been run wherever `place` is: it is earlier in the same block or in one around it."""
    around: Operation | None = place
    while around is not None and around.parent_block() is not op.parent_block():
        around = around.parent_op()
    return around is not None and around is not op and op.is_before_in_block(around)


def _branches(choice: scf.IfOp) -> list[scf.YieldOp]:
    ends = [region.block.last_op for region in choice.regions if region.blocks]
    return [end for end in ends if isinstance(end, scf.YieldOp)]


def _sources(
    value: SSAValue, kept: SSAValue, where: Operation
) -> Iterator[tuple[SSAValue, Operation]]:
    """The values other than `kept` one of which `value` is, each with the operation that passes it on."""
    if value is kept:
        return
    owner = value.owner
    if isinstance(owner, scf.IfOp) and isinstance(value, OpResult):
        for end in _branches(owner):
            yield from _sources(end.operands[value.index], kept, end)
    elif isinstance(owner, arith.SelectOp):
        yield from _sources(owner.lhs, kept, owner)
        yield from _sources(owner.rhs, kept, owner)
    else:
        yield value, where


@dataclass(frozen=True)
class _Chosen:
    """
    The `loads` in a loop of the element at its carried value `number`, and those directly `after` it;
    `values`: the element at each place that an iteration may choose. `certain`: whether the element may be
    loaded before the loop in any case.
    """

    loop: scf.ForOp
    number: int
    loads: list[llvm.LoadOp]
    after: list[llvm.LoadOp]
    values: dict[SSAValue, SSAValue]
    certain: bool

    @property
    def carried(self) -> SSAValue:
        """The chosen place at the beginning of an iteration."""
        return self.loop.body.block.args[1 + self.number]


def _end(loop: scf.ForOp) -> scf.YieldOp:
    end = loop.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    return end


def _runs(loop: scf.ForOp, reader: ExactReader) -> bool:
    """Whether a loop certainly has an iteration."""
    low, high = reader.polynomial(loop.lb), reader.polynomial(loop.ub)
    length = None if low is None or high is None else interval_of(high - low)
    return length is not None and length[0] > 0


def _loads_after(loop: scf.ForOp, wanted: _Element, sample: llvm.LoadOp) -> list[llvm.LoadOp]:
    """The loads of an element after a loop in its block, as far as nothing may have changed it."""
    found: list[llvm.LoadOp] = []
    reader = ExactReader()
    op = loop.next_op
    while op is not None and not any(_may_store(each, sample) for each in op.walk()):
        if isinstance(op, llvm.LoadOp) and _element(op, reader) == wanted and not reader.wraps:
            found.append(op)
        op = op.next_op
    return found


def _find(loop: scf.ForOp, number: int) -> _Chosen | None:
    """The first element at the carried value `number` that the loop can carry, too."""
    carried, end, reader = loop.body.block.args[1 + number], _end(loop), ExactReader()
    if not isinstance(carried.type, IntegerType) or carried.first_use is None:
        return None
    sources = list(_sources(end.operands[number], carried, end))
    if not 0 < len(sources) <= MOST_SOURCES:
        return None
    places = {source: reader.polynomial(source) for source, _ in sources}
    elements = [(load, _element(load, reader)) for load in _plain_loads(loop)]
    if reader.wraps:
        return None
    for load, element in elements:
        if element is None or load.parent_block() is not loop.body.block:
            continue
        if not _is_fixed_but_for(carried, element, loop):
            continue
        values: dict[SSAValue, SSAValue] = {}
        for source, where in sources:
            place = places[source]
            wanted = None if place is None else element.at(carried, place)
            known = next((e for e, its in elements if its == wanted and _is_before(e, where)), None)
            if wanted is None or known is None:
                break
            values[source] = known.dereferenced_value
        if len(values) < len(places) or any(_may_store(op, load) for op in loop.body.walk()):
            continue
        result = element.at(carried, Polynomial.symbol(loop.results[number]))
        after = [] if result is None else _loads_after(loop, result, load)
        certain = bool(after) or _runs(loop, reader) or isinstance(base_of(load.ptr).owner, OWN)
        loads = [each for each, its in elements if its == element]
        return _Chosen(loop, number, loads, after, values, certain)
    return None


def _is_fixed_but_for(carried: SSAValue, element: _Element, loop: scf.ForOp) -> bool:
    """Whether the place of an element depends on `carried`, and on nothing else that the loop computes."""
    symbols = {symbol for poly in element.subscripts for symbol in poly.symbols}
    others = [element.root, *(s for s in symbols if isinstance(s, SSAValue) and s is not carried)]
    return carried in symbols and not any(is_defined_inside(other, loop) for other in others)


def _first_element(chosen: _Chosen, at: Cursor) -> SSAValue:
    """The element with which the loop begins."""
    load = chosen.loads[0]
    start = chosen.loop.iter_args[chosen.number]

    def emit(at: Cursor) -> list[SSAValue]:
        values: dict[SSAValue, SSAValue] = {chosen.carried: start}
        for op in _address_inside(load, chosen.loop):
            at.clone(op, values)
        first = at.clone(load, values)
        first.attributes[SPECULATIVE] = UnitAttr()
        return [first.results[0]]

    if chosen.certain:
        return emit(at)[0]
    runs = at.value(arith.CmpiOp(chosen.loop.lb, chosen.loop.ub, "slt"), "runs")
    type = load.dereferenced_value.type
    return at.either(runs, emit, lambda at: [at.zero(type)])[0]


def _address_inside(load: llvm.LoadOp, loop: scf.ForOp) -> list[Operation]:
    """The operations in a loop that compute the address of a load, in their order."""
    needed: dict[Operation, None] = {}

    def visit(value: SSAValue) -> None:
        owner = value.owner
        if isinstance(owner, Operation) and is_defined_inside(value, loop) and owner not in needed:
            for operand in owner.operands:
                visit(operand)
            needed[owner] = None

    visit(load.ptr)
    return list(needed)


@dataclass
class _Follow:
    """Emits the element that belongs to a place: `kept` at the carried one, `values` at others."""

    carried: SSAValue
    kept: SSAValue
    values: dict[SSAValue, SSAValue]

    def element(self, place: SSAValue) -> SSAValue:
        if place is self.carried:
            return self.kept
        owner = place.owner
        if isinstance(owner, scf.IfOp) and isinstance(place, OpResult):
            return self._choice(owner, place.index)
        if isinstance(owner, arith.SelectOp):
            one, other = self.element(owner.lhs), self.element(owner.rhs)
            return Cursor.after(owner).value(arith.SelectOp(owner.cond, one, other))
        return self.values[place]

    def _choice(self, choice: scf.IfOp, number: int) -> SSAValue:
        """Adds the element as a result to a choice of places."""
        for end in _branches(choice):
            element = self.element(end.operands[number])
            last = scf.YieldOp(*end.operands, element)
            last.location = end.location
            Cursor.before(end).insert(last)
            erase(end)
        types = [*(result.type for result in choice.results), self.kept.type]
        then, otherwise = (choice.detach_region(region) for region in list(choice.regions))
        new = Cursor.before(choice).insert(scf.IfOp(choice.cond, types, then, otherwise))
        new.location = choice.location
        new.attributes |= choice.attributes
        _replace_results(choice, new)
        return new.results[-1]


def _replace_results(old: Operation, new: Operation) -> None:
    for before, result in zip(old.results, new.results, strict=False):
        result.name_hint = before.name_hint
        before.replace_all_uses_with(result)
    erase(old)


def _keep(chosen: _Chosen) -> scf.ForOp:
    """Replaces the loop by one that carries the element; returns it."""
    loop, number = chosen.loop, chosen.number
    at = Cursor.before(loop)
    first = _first_element(chosen, at)
    hint = chosen.loads[0].dereferenced_value.name_hint
    block = loop.body.block
    kept = block.insert_arg(first.type, len(block.args))
    kept.name_hint = hint
    follow = _Follow(chosen.carried, kept, chosen.values)
    for load in chosen.loads:
        replaced = load.dereferenced_value
        values = {p: kept if v is replaced else v for p, v in follow.values.items()}
        follow = _Follow(chosen.carried, kept, values)
        replaced.replace_all_uses_with(kept)
        erase(load)
    element = follow.element(_end(loop).operands[number])
    new = hand_on(loop, [first], [element])
    new.results[-1].name_hint = hint
    for load in chosen.after:
        load.dereferenced_value.replace_all_uses_with(new.results[-1])
        erase(load)
    return new


def keep_chosen(loop: scf.ForOp) -> None:
    """Carries the elements at the chosen places of a loop."""
    number = 0
    while number < len(loop.iter_args):
        chosen = _find(loop, number)
        if chosen is None:
            number += 1
        else:
            loop = _keep(chosen)


@dataclass(frozen=True)
class KeepChosenElementsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "keep-chosen-elements"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            for loop in [op for op in construct.region.walk() if isinstance(op, scf.ForOp)]:
                keep_chosen(loop)
