"""
Let the lanes that share a row compute the terms of its sums, which are added in the program's order.

The order of floating-point additions counts. Lanes that share a loop would add up partial sums, so such a
loop is run by one thread. If other loops in the same row have work for lanes, the lanes can have the terms,
too: they store a piece of them where all lanes of the row can read, and then each lane adds up the piece.

Takes:  scheduled IR for a GPU. Considers `acc.loop`s marked `accx.in_order`, of one variable and in steps
        of 1, of which all that depends on the reduced variables computes, reads, or writes these.
Leaves: those with lanes in a loop over pieces: the lanes store the terms of a piece in an array of the
        iteration around, and a sequential loop goes on with the variables themselves. A loop with a
        larger part that depends on the variables is sequential. No `accx.in_order` remains.
Fails:  never.

Before:
  acc.loop gang worker control(%i : i32) = … {
    acc.loop vector reduction(%copy) control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %v = load %a[%i * %n + %j]
      … %copy += %v * %v …
    } attributes {accx.in_order}
  }
After:
  acc.loop gang worker control(%i : i32) = … {
    %terms = llvm.alloca %c260 x f32
    scf.for %piece = 0 to ceil(%n / 256) step 1 {
      acc.loop vector control(%j : i32) = (%start : i32) to (%end : i32) step (%c1 : i32) {
        %v = load %a[%i * %n + %j]
        llvm.store %v * %v, %terms[%j - %start]
      }
      scf.for %group = 0 to … step 16 { … %sum += %terms[%group] … %sum += %terms[%group + 15] … }
      scf.for %term = … to %end - %start step 1 { … %sum += %terms[%term] … }
    }
  }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects.accx import IN_ORDER, UNROLL
from .decisions.device import WIDE_BYTES
from .decisions.ordered_sums import ADDED_AT_ONCE, PAD, PIECE_OF_LANE, PIECES_BYTES
from .ir.loops.dependent_ops import depending_on
from .ir.loops.seq_loops import is_plain_seq, to_for_loops
from .ir.loops.sum_nests import is_scalar
from .ir.ops.acc_ops import (
    enclosing,
    has_level,
    loops_in,
    parallel_constructs,
    set_operand_groups,
)
from .ir.ops.building import Cursor, constant_value, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.layout import size_of
from .ir.ops.loop_order import make_sequential
from .ir.ops.purity import only_computes
from .ir.ops.schedules import schedule_of, set_schedule
from .ir.variables.reduction_reads import use_variables


@dataclass(frozen=True)
class OrderedLoop:
    """
    A loop over lanes, in the loop `around`: of its body, `ordered` depends on what it reduces, and needs
    `constants` and the `terms` of the rest.
    """

    loop: acc.LoopOp
    around: acc.LoopOp
    ordered: tuple[Operation, ...]
    constants: tuple[Operation, ...]
    terms: tuple[SSAValue, ...]


def read_loop(loop: acc.LoopOp) -> OrderedLoop | None:
    """The parts of `loop`, marked `accx.in_order`; None if lanes cannot compute its terms."""
    around = enclosing(loop, acc.LoopOp)
    if around is None or len(loop.lowerbound) != 1 or constant_value(loop.step[0]) != 1:
        return None
    if len(loop.region.blocks) != 1 or loop.private_operands or loop.firstprivate_operands:
        return None
    body, reduced = loop.region.block, set(loop.reduction_operands)
    ordered = depending_on(body, reduced)
    for op in ordered:
        own = isinstance(op, llvm.LoadOp | llvm.StoreOp) and op.ptr in reduced
        if not own and not only_computes(op):
            return None
    rest = set(body.ops) - set(ordered)
    used = {value: None for op in ordered for value in op.operands}
    owners = {value: value.owner for value in used}
    constants = {op: None for op in owners.values() if _is_constant(op) and op in rest}
    terms = [v for v, op in owners.items() if op in rest and op not in constants]
    if not terms or not all(is_scalar(value.type) for value in terms):
        return None
    return OrderedLoop(loop, around, tuple(ordered), tuple(constants), tuple(terms))


def _is_constant(op: Operation | Block) -> TypeGuard[arith.ConstantOp]:
    return isinstance(op, arith.ConstantOp)


class _Tiles:
    """The arrays for terms of each loop around, which the loops in it use one after the other."""

    def __init__(self) -> None:
        self._made: dict[tuple[Operation, int, Attribute], SSAValue] = {}

    def get(self, around: acc.LoopOp, number: int, type_: Attribute, length: int) -> SSAValue:
        """The array number `number` for terms of a type; all loops of a construct have one `length`."""
        key = (around, number, type_)
        if key not in self._made:
            at = Cursor.at_start(around.region.block, around.location)
            self._made[key] = at.alloca(type_, "terms", at.i32(length))
        return self._made[key]


def _piece_length(found: OrderedLoop, workers: int, lanes: int) -> int:
    """The terms of a piece, so that the pieces of all rows of a gang fit in shared memory."""
    bytes_ = sum(size_of(value.type) for value in found.terms)
    length = lanes * PIECE_OF_LANE
    while length > lanes and workers * length * bytes_ > PIECES_BYTES:
        length //= 2
    return length


def share_terms(found: OrderedLoop, length: int, tiles: _Tiles) -> None:
    """Rewrites a loop as the contract at the top shows, for pieces of `length` terms."""
    loop = found.loop
    use_variables(loop, list(loop.reduction_operands))
    arrays = [
        tiles.get(found.around, number, value.type, length + PAD)
        for number, value in enumerate(found.terms)
    ]
    at = Cursor.before(loop)
    lower, upper = loop.lowerbound[0], loop.upperbound[0]
    low = at.to_i64(lower)
    trips = at.sub(at.to_i64(upper), low, "trips")
    rounded = at.add(trips, at.i64(length - 1))
    pieces = at.value(arith.DivSIOp(rounded, at.i64(length)), "pieces")
    outer, inside = at.for_loop(at.i64(0), pieces, at.i64(1), "piece")
    done = inside.mul(outer.body.block.args[0], inside.i64(length), "done")
    rest = inside.value(arith.MinSIOp(inside.sub(trips, done), inside.i64(length)))
    type_ = lower.type
    assert isinstance(type_, IntegerType)
    first = inside.add(low, done)
    start = inside.to_integer(first, type_)
    end = inside.to_integer(inside.add(first, rest), type_)
    inside.move(loop)
    set_operand_groups(loop, lowerbound=[start], upperbound=[end])
    set_schedule(loop, replace(schedule_of(loop), elements=PIECE_OF_LANE // 2))
    _add_in_order(found, inside, (start, inside.to_integer(rest, i32)), arrays)
    _store_terms(found, start, arrays)


def _add_in_order(
    found: OrderedLoop, at: Cursor, span: tuple[SSAValue, SSAValue], arrays: Sequence[SSAValue]
) -> None:
    """
    Adds loops that go on with a piece's terms: `span` has its first iteration, and their number. Groups of
    terms are in places of 16 bytes, so that LLVM reads them by wide loads.
    """
    start, count = span
    group = at.i32(ADDED_AT_ONCE)
    grouped = at.sub(count, at.value(arith.RemUIOp(count, group)), "grouped")
    loop, inside = at.for_loop(at.i32(0), grouped, group, "group")
    first = loop.body.block.args[0]
    terms = [inside.add(first, inside.i32(k)) for k in range(ADDED_AT_ONCE)]
    read = [_read_terms(found, inside, term, arrays, k) for k, term in enumerate(terms)]
    for term, values in zip(terms, read, strict=True):
        _go_on(found, inside, inside.add(start, _as(inside, term, start)), values)
    rest, inside = at.for_loop(grouped, count, at.i32(1), "term")
    loop.attributes[UNROLL] = rest.attributes[UNROLL] = IntegerAttr(1, i32)
    term = rest.body.block.args[0]
    values = _read_terms(found, inside, term, arrays, 1)
    _go_on(found, inside, inside.add(start, _as(inside, term, start)), values)


def _as(at: Cursor, number: SSAValue, other: SSAValue) -> SSAValue:
    """`number` in the type of `other`."""
    assert isinstance(other.type, IntegerType)
    return at.to_integer(number, other.type)


def _read_terms(
    found: OrderedLoop, at: Cursor, term: SSAValue, arrays: Sequence[SSAValue], number: int
) -> dict[SSAValue, SSAValue]:
    """The values of term `term` (i32), which is `number` above a multiple of `ADDED_AT_ONCE`."""
    index, values = at.to_i64(term), dict[SSAValue, SSAValue]()
    for value, array in zip(found.terms, arrays, strict=True):
        size = size_of(value.type)
        place = at.element(array, index, value.type)
        aligned = WIDE_BYTES if number * size % WIDE_BYTES == 0 else size
        values[value] = at.value(llvm.LoadOp(place, value.type, alignment=aligned))
    return values


def _go_on(
    found: OrderedLoop, at: Cursor, iteration: SSAValue, values: dict[SSAValue, SSAValue]
) -> None:
    """Copies what depends on the reduced variables, for one iteration."""
    values[found.loop.region.block.args[0]] = iteration
    for op in (*found.constants, *found.ordered):
        at.clone(op, values)


def _store_terms(found: OrderedLoop, start: SSAValue, arrays: Sequence[SSAValue]) -> None:
    """Makes the loop over lanes store the terms instead of what follows from them."""
    body = found.loop.region.block
    last = body.last_op
    assert last is not None
    for op in reversed(found.ordered):
        erase(op)
    at = Cursor.before(last)
    index = at.to_i64(at.sub(body.args[0], start, "term"))
    for value, array in zip(found.terms, arrays, strict=True):
        at.store(value, at.element(array, index, value.type))


def _run_in_order(loop: acc.LoopOp) -> None:
    """Makes a loop sequential that lanes cannot share."""
    use_variables(loop, list(loop.reduction_operands))
    make_sequential(loop, "the order of its reductions counts")
    if is_plain_seq(loop):
        to_for_loops(loop)


@dataclass(frozen=True)
class KeepSumOrderPass(GpuPass):
    """See the contract at the top of this file."""

    name = "keep-sum-order"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            shared: list[OrderedLoop] = []
            for loop in list(loops_in(construct)):
                if loop.attributes.pop(IN_ORDER, None) is None:
                    continue
                found = read_loop(loop) if has_level(loop.vector) else None
                if found is None:
                    _run_in_order(loop)
                else:
                    shared.append(found)
            if not shared:
                continue
            sizes = (construct.num_workers, construct.vector_length)
            workers, lanes = (constant_value(group[0]) or 1 for group in sizes)
            length, tiles = min(_piece_length(f, workers, lanes) for f in shared), _Tiles()
            for found in shared:
                share_terms(found, length, tiles)
