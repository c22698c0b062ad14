"""
Rewrites a loop so that each thread computes a window of a stencil (`windows.py`).

Before:
  acc.loop gang control(%i : i32) = (%c1 : i32) to (%m : i32) step (%c1 : i32) {
    acc.loop gang vector control(%j : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) { ... }
  } attributes {accx.schedule = #accx.schedule<elements = 4>}
After:
  acc.loop gang control(%tile : i32) = (%c0 : i32) to (%tiles : i32) step (%c1 : i32) {
    acc.loop gang vector control(%group : i32) = (%c0 : i32) to (%groups : i32) step (%c1 : i32) {
      scf.if %whole { the loads of the window; its results; their stores }
      else { scf.for %i = … { scf.for %j = … { the body as it was } } }
    }
  }
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import gcd

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Operation, SSAValue

from ...dialects.accx import UNROLL
from ..decisions.polynomials import Polynomial
from ..ir.loops.groups import copy_all
from ..ir.loops.jamming import explain, set_bounds, trip_count
from ..ir.loops.row_gangs import settle_rows
from ..ir.ops.acc_ops import PRIVATIZING_OPS, set_operand_groups
from ..ir.ops.building import NSW, Cursor, constant_value, erase
from ..ir.ops.versions import copy_construct, ready_for_versions
from ..ir.values.region_values import HostEmitter, RegionSymbols
from .schedules import narrow_blocks, scale_gangs
from .windows import Access, Window, WindowPlace

LANES = 128
"""The lanes of a block whose threads compute a window each."""


def make_versions(
    construct: acc.ParallelOp, windows: list[Window], symbols: RegionSymbols, threads: int
) -> tuple[acc.ParallelOp, dict[Operation, Operation]] | None:
    """
    Makes a second version of the construct, without windows, for data whose rows are not aligned, and
    for loops that have fewer than `threads` windows. Returns that version and the map from operations of
    the first version to its own; None, without a change, if the construct cannot have versions.
    """
    if any(isinstance(v.owner, PRIVATIZING_OPS) for v in construct.operands):
        return None
    if threads and not all(_is_countable(window, symbols) for window in windows):
        return None
    if not ready_for_versions(construct):
        return None
    emit, at = HostEmitter(construct), Cursor.before(construct)
    conditions: dict[tuple[SSAValue, int], None] = {}
    for window in windows:
        for polynomial, bytes in window.multiples:
            conditions[emit.emit(polynomial), bytes] = None
        for base, bytes in window.alignments.items():
            conditions[at.value(llvm.PtrToIntOp(base, i64)), bytes] = None
    together: dict[int, SSAValue] = {}
    for value, bytes in conditions:
        together[bytes] = at.any_bits(together.get(bytes), value)
    aligned: SSAValue | None = None
    for bytes, bits in together.items():
        aligned = at.both(aligned, at.is_multiple(bits, bytes, "aligned"), "aligned")
    assert aligned is not None
    if threads:
        for window in windows:
            enough = at.i64(threads * window.rows * window.columns)
            results = _iterations(window, symbols, emit, at)
            many = at.value(arith.CmpiOp(results, enough, "sge"), "many")
            aligned = at.both(aligned, many, "large")
            # For rows too short to give most lanes a group, one column per lane is better.
            columns = next(_trips(window, symbols, emit, at))
            half = at.i64(LANES // 2 * window.columns)
            long = at.value(arith.CmpiOp(columns, half, "sge"), "long")
            aligned = at.both(aligned, long, "large")
    then, otherwise = at.if_else(aligned)
    other = copy_construct(construct, otherwise)
    copies = dict(zip(construct.walk(), other.walk(), strict=True))
    construct.detach()
    then.insert(construct)
    return other, copies


def _loops(window: Window) -> Iterator[tuple[SSAValue, SSAValue, SSAValue]]:
    """The bounds and steps of all loops around a result."""
    loop: Operation | None = window.inner
    while isinstance(loop, acc.LoopOp):
        yield from zip(loop.lowerbound, loop.upperbound, loop.step, strict=True)
        loop = loop.parent_op()


def _is_countable(window: Window, symbols: RegionSymbols) -> bool:
    """Whether the number of results is known before the construct."""
    return all(
        _known_before(lower, symbols) is not None
        and _known_before(upper, symbols) is not None
        and constant_value(step) == 1
        for lower, upper, step in _loops(window)
    )


def _iterations(window: Window, symbols: RegionSymbols, emit: HostEmitter, at: Cursor) -> SSAValue:
    """The number of results, which must be `_is_countable`."""
    total = at.i64(1)
    for trips in _trips(window, symbols, emit, at):
        total = at.mul(total, trips)
    return total


def _trips(
    window: Window, symbols: RegionSymbols, emit: HostEmitter, at: Cursor
) -> Iterator[SSAValue]:
    """The iterations of each loop around a result, the innermost first."""
    for lower, upper, _ in _loops(window):
        low, high = _known_before(lower, symbols), _known_before(upper, symbols)
        assert low is not None and high is not None
        yield at.value(arith.MaxSIOp(emit.emit(high - low), at.i64(0)), "trips")


def _known_before(value: SSAValue, symbols: RegionSymbols) -> Polynomial | None:
    """`value` as a polynomial of values known before the construct; None if it is not one."""
    found = symbols.polynomial(value)
    if found is None:
        return None
    inside = any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in found.symbols)
    return None if inside else found


def open_window(window: Window, construct: acc.ParallelOp, symbols: RegionSymbols) -> None:
    """Rewrites the loops of `window`, which are in `construct`."""
    outer, inner, columns = window.outer, window.inner, window.columns
    type = inner.region.block.args[0].type
    assert isinstance(type, IntegerType) and inner.region.block.last_op is not None
    lower, upper = inner.lowerbound[0], inner.upperbound[0]
    before = Cursor.before(inner)
    zero, one = before.constant(0, type), before.constant(1, type)
    # The first group begins at or before the first column, where groups are aligned.
    ahead = before.add(lower, before.constant(window.phase, type))
    ahead = before.value(arith.AndIOp(ahead, before.constant(columns - 1, type)), "ahead")
    begin = before.sub(lower, ahead, "begin")
    span = before.sub(before.value(arith.MaxSIOp(upper, lower)), begin)
    some = before.value(arith.CmpiOp(upper, lower, "sgt"))
    rounded = before.add(span, before.constant(columns - 1, type))
    count = before.value(arith.DivUIOp(rounded, before.constant(columns, type)))
    groups = before.value(arith.SelectOp(some, count, zero), "groups")

    at = Cursor.before(inner.region.block.last_op, inner.location)
    size = at.constant(columns, type)
    first = at.value(arith.MuliOp(window.column, size, overflow=NSW))
    first = at.value(arith.AddiOp(begin, first, overflow=NSW), "first")
    past = at.value(arith.AddiOp(first, size, overflow=NSW), "past")
    whole = at.value(arith.CmpiOp(first, lower, "sge"))
    whole = at.value(arith.AndIOp(whole, at.value(arith.CmpiOp(past, upper, "sle"))), "whole")
    rows = _Rows(window, at)
    whole = rows.whole(whole)
    then, otherwise = at.if_else(whole)
    _Emitter(window, rows.first, first, then).run()
    from_column = otherwise.value(arith.MaxSIOp(first, lower))
    to_column = otherwise.value(arith.MinSIOp(past, upper))
    values, inside = rows.each(otherwise)
    loop, each = inside.for_loop(from_column, to_column, inside.constant(1, type), "j")
    loop.attributes[UNROLL] = IntegerAttr(1, i32)
    values[window.column] = each.point.block.args[0]
    copy_all(window.body, values, each)

    for op in reversed(window.body):
        erase(op)
    window.column.name_hint = "group"
    set_operand_groups(inner, lowerbound=[zero], upperbound=[groups], step=[one])
    rows.finish()
    across = f" in {window.rows} rows" if window.rows > 1 else ""
    explain(inner, f"{columns} neighbouring results{across} per thread, elements decoded once")
    bounds = _known_before(lower, symbols), _known_before(upper, symbols)
    scale_gangs(construct, inner, columns, bounds, window.phase, narrow_blocks(construct, LANES))
    if outer is not None:
        settle_rows(outer, window.rows, construct)


class _Rows:
    """The rows of a window: tiles of the rows' loop, if there is one."""

    def __init__(self, window: Window, at: Cursor):
        self.window = window
        self.first: SSAValue | None = None
        outer = window.outer
        if outer is None:
            return
        type = outer.lowerbound[0].type
        before = Cursor.before(outer)
        count = before.constant(window.rows, type)
        lower, upper = outer.lowerbound[0], outer.upperbound[0]
        trips = trip_count(before, outer)
        rounded = before.add(trips, before.constant(window.rows - 1, type))
        self._tiles = before.value(arith.DivUIOp(rounded, count), "tiles")
        self._upper = upper
        tile = outer.region.block.args[0]
        first = at.value(arith.MuliOp(tile, at.constant(window.rows, type), overflow=NSW))
        if constant_value(lower) != 0:
            first = at.value(arith.AddiOp(lower, first, overflow=NSW))
        first.name_hint = "row"
        self.first = first
        step = at.constant(window.rows, type)
        self._past = at.value(arith.AddiOp(first, step, overflow=NSW), "past")
        self._full = at.value(arith.CmpiOp(self._past, upper, "sle"), "full")
        self._at = at

    def whole(self, condition: SSAValue) -> SSAValue:
        """An i1: `condition` holds, and all rows of the window exist."""
        if self.first is None:
            return condition
        return self._at.value(arith.AndIOp(condition, self._full), "whole")

    def each(self, at: Cursor) -> tuple[dict[SSAValue, SSAValue], Cursor]:
        """
        Emits a loop over the rows of a tile; returns the row's variable and a cursor in the loop's body.
        """
        if self.first is None or self.window.row is None:
            return {}, at
        type = self.first.type
        last = at.value(arith.MinSIOp(self._past, self._upper))
        loop, inside = at.for_loop(self.first, last, at.constant(1, type), "i")
        loop.attributes[UNROLL] = IntegerAttr(1, i32)
        return {self.window.row: inside.point.block.args[0]}, inside

    def finish(self) -> None:
        """Makes the rows' loop count tiles."""
        if self.window.outer is not None and self.window.row is not None:
            self.window.row.name_hint = "tile"
            set_bounds(Cursor.before(self.window.outer), self.window.outer, self._tiles)


Address = tuple[SSAValue, Polynomial]
"""The array, and the part of the address that all columns of a row share."""


class _Emitter:
    """Emits the results of a window; values that several results use are computed once."""

    def __init__(
        self, window: Window, first_row: SSAValue | None, first_column: SSAValue, at: Cursor
    ):
        self.window, self.at = window, at
        self._own = {result for op in window.body for result in op.results}
        self._rows = self._iterations(first_row, window.rows)
        self._columns = self._iterations(first_column, window.columns)
        self._known: dict[tuple[SSAValue, int, int], SSAValue] = {}
        self._numbered: dict[Hashable, SSAValue] = {}
        self._addresses: dict[Address, tuple[SSAValue, int]] = {}
        self._elements: dict[tuple[Address, int], SSAValue] = {}

    def run(self) -> None:
        """Emits the loads first, so that many are in flight at a time, and all stores after all loads."""
        self._load_all()
        stores: list[tuple[llvm.StoreOp, int, int, SSAValue]] = []
        for op in self.window.body:
            if isinstance(op, llvm.StoreOp):
                for row in range(self.window.rows):
                    for column in range(self.window.columns):
                        stores.append((op, row, column, self._value(op.value, row, column)))
        for op, row, column, value in stores:
            address, offset = self._address(op, row, column)
            place, alignment = self._pointer(address, offset, self.window.places[op])
            self.at.insert(llvm.StoreOp(value, place, alignment=alignment))

    def _iterations(self, first: SSAValue | None, count: int) -> list[SSAValue]:
        if first is None:
            return []
        found = [first]
        for number in range(1, count):
            distance = self.at.constant(number, first.type)
            found.append(self.at.value(arith.AddiOp(first, distance, overflow=NSW)))
        return found

    def _address(self, op: Access, row: int, column: int) -> tuple[Address, int]:
        """The row of the array that an access is in, and its offset in bytes from the row's start."""
        place = self.window.places[op]
        shared, offset = place.in_row(self.window.row, row, self.window.column)
        address = place.base, shared
        if address not in self._addresses:
            self._addresses[address] = self._value(op.ptr, row, 0), offset
        return address, offset + column * place.stride

    def _pointer(self, address: Address, offset: int, place: WindowPlace) -> tuple[SSAValue, int]:
        """A pointer `offset` bytes into a row, and its alignment."""
        known, at_offset = self._addresses[address]
        whole = self.window.columns * place.stride
        rest = (offset - self.window.phase * place.stride) % whole
        return self.at.field(known, offset - at_offset), gcd(whole, rest) if rest else whole

    def _load_all(self) -> None:
        wanted: dict[tuple[Address, int], tuple[llvm.LoadOp, WindowPlace]] = {}
        for op, place in self.window.places.items():
            if isinstance(op, llvm.LoadOp):
                for row in range(self.window.rows):
                    for column in range(self.window.columns):
                        wanted.setdefault(self._address(op, row, column), (op, place))
        order = {address: number for number, address in enumerate(self._addresses)}
        for key in sorted(wanted, key=lambda key: (order[key[0]], key[1])):
            op, place = wanted[key]
            pointer, alignment = self._pointer(*key, place)
            result = op.dereferenced_value
            load = llvm.LoadOp(pointer, result.type, alignment=alignment)
            self._elements[key] = self.at.value(load, result.name_hint)

    def _value(self, value: SSAValue, row: int, column: int) -> SSAValue:
        """`value` of the body for one result."""
        if value not in self._own:
            if value is self.window.column:
                return self._columns[column]
            return self._rows[row] if value is self.window.row else value
        known = self._known.get((value, row, column))
        if known is not None:
            return known
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, llvm.LoadOp) and op in self.window.places:
            found = self._elements[self._address(op, row, column)]
        else:
            operands = {operand: self._value(operand, row, column) for operand in op.operands}
            key = self._number(op, [operands[operand] for operand in op.operands])
            if key not in self._numbered:
                location, self.at.loc = self.at.loc, op.location
                self._numbered[key] = self.at.value(op.clone(operands), value.name_hint)
                self.at.loc = location
            found = self._numbered[key]
        self._known[value, row, column] = found
        return found

    @staticmethod
    def _number(op: Operation, operands: list[SSAValue]) -> Hashable:
        """A key that is equal for operations that compute the same."""
        return (
            op.name,
            tuple(operands),
            frozenset(op.properties.items()),
            frozenset(op.attributes.items()),
            tuple(result.type for result in op.results),
        )
