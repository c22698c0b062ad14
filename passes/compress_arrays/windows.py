"""
Windows: the rows and columns of a stencil over packed arrays that one thread computes together.

A stencil reads each element for several results. With one result per lane, each element is decoded once for
each of these. With windows, a thread takes a group of neighbouring columns in several rows. It reads every
element that its results need once, in accesses of up to 16 bytes, decodes it once, and keeps it in
registers.

This file finds windows, `window_code.py` emits their code. The groups of a window must begin at aligned
addresses in all of its rows. The first column of a row rarely is aligned (a stencil begins at 1), so groups
begin before it. The host tests before the launch whether all rows have the same alignment
(`Window.multiples`), and launches the version without windows if not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ..decisions.declined import Declined
from ..decisions.polynomials import ZERO, Polynomial, product
from ..ir.loops.groups import body_operations, is_plain, reads_late
from ..ir.loops.jammed_nests import JammedNest, jammed_nest
from ..ir.ops.acc_ops import accessed_type, has_level
from ..ir.ops.building import constant_value
from ..ir.ops.layout import size_of
from ..ir.ops.purity import is_pure
from ..ir.ops.schedules import schedule_of
from ..ir.values.addresses import ADDRESS_OPS, steps_of
from ..ir.values.region_values import RegionSymbols

MAX_REGISTERS = 144
"""The most 32-bit words of decoded elements and results in a thread."""

NARROW_BYTES = 2
"""
The most bytes of an element for which a stencil gains from windows: lanes that read four-byte elements one
by one use the memory as well, with more loads in flight.
"""

MAX_BODY = 400
MAX_OPERATIONS = 8000
"""The most operations of one result, and of all results together."""

Access = llvm.LoadOp | llvm.StoreOp


@dataclass(frozen=True)
class WindowPlace:
    """
    The address of an access: `base`, a pointer known before the construct, plus `bytes`, a polynomial
    in which the column has the coefficient `stride`, the size of an element.
    """

    base: SSAValue
    bytes: Polynomial
    stride: int

    def in_row(self, row: SSAValue | None, number: int, column: SSAValue) -> tuple[Polynomial, int]:
        """
        The part of the address that all columns of row `number` share, and the offset in bytes of column 0
        from there.
        """
        moved = self.bytes
        if row is not None and number:
            further = moved.substitute(row, Polynomial.symbol(row) + number)
            assert further is not None
            moved = further
        offset = moved.terms.get((), 0)
        shared = {m: c for m, c in moved.terms.items() if m and m != (column,)}
        return Polynomial(shared), offset


@dataclass(frozen=True)
class Window:
    """
    `rows` × `columns` results of the loop `inner` (and of the rows' loop `outer`) in one thread.
    `body`: the operations of one result; `places`: its accesses that move with the column.
    A group begins at column j where j + `phase` is a multiple of `columns`. Its addresses are aligned
    if every polynomial in `multiples` is a multiple of the number paired with it.
    """

    outer: acc.LoopOp | None
    inner: acc.LoopOp
    rows: int
    columns: int
    body: tuple[Operation, ...]
    places: Mapping[Access, WindowPlace]
    phase: int
    multiples: tuple[tuple[Polynomial, int], ...]

    @property
    def row(self) -> SSAValue | None:
        """The variable of the rows' loop; None if there is none."""
        return None if self.outer is None else self.outer.region.block.args[0]

    @property
    def column(self) -> SSAValue:
        return self.inner.region.block.args[0]

    @property
    def alignments(self) -> dict[SSAValue, int]:
        """The required alignment in bytes of each array's address."""
        found: dict[SSAValue, int] = {}
        for place in self.places.values():
            found[place.base] = max(found.get(place.base, 1), self.columns * place.stride)
        return found


def find_window(
    inner: acc.LoopOp,
    symbols: RegionSymbols,
    packed: set[Operation],
    *,
    bytes: int,
    rows: int,
) -> Window | None:
    """
    The window for the loop over columns `inner`; None if it is neither a stencil over elements that
    `packed` accesses nor a stream of them with unaligned groups. The widest elements of a group fill
    `bytes`; there are at most `rows` rows.
    """
    own = body_operations(inner, MAX_BODY)
    if own is None or not has_level(inner.vector):
        return None
    if not all(is_plain(op) for op in own) or reads_late(own):
        return None
    nest = _rows(inner)
    if isinstance(nest, Declined):
        return None
    if nest is not None and not all(map(is_pure, nest.sunk)):
        return None
    body = tuple(own) if nest is None else (*nest.sunk, *own)
    places = _places(body, inner, symbols, nest)
    if places is None or not any(op in packed for op in places):
        return None
    columns = bytes // max(place.stride for place in places.values())
    if columns < 2 or not _gains(places, packed, inner, columns):
        return None
    stored = next(place for op, place in places.items() if isinstance(op, llvm.StoreOp))
    phase = stored.bytes.terms.get((), 0) // stored.stride % columns
    multiples = _multiples(places.values(), columns, inner.region.block.args[0], symbols)
    if multiples is None:
        return None
    count = 1 if nest is None else min(rows, nest.elements)
    while True:
        outer = None if nest is None else nest.outer
        found = Window(outer, inner, count, columns, body, places, phase, multiples)
        if _fits(found):
            return found
        if count == 1:
            return None
        count //= 2


def _rows(inner: acc.LoopOp) -> JammedNest | Declined | None:
    """
    The nest whose rows the schedule puts side by side in a thread; None if it puts none, `Declined` if they
    cannot be.
    """
    around = inner.parent_op()
    while isinstance(around, acc.LoopOp):
        if schedule_of(around).elements > 1 and around.vector is None:
            try:
                nest = jammed_nest(around)
            except Declined as reason:
                return reason
            return nest if constant_value(around.step[0]) == 1 else Declined("rows in steps")
        around = around.parent_op()
    return None


def _places(
    body: Sequence[Operation], inner: acc.LoopOp, symbols: RegionSymbols, nest: JammedNest | None
) -> dict[Access, WindowPlace] | None:
    """The accesses that move with the column; None if a store does not, or if an address cannot be read."""
    column = inner.region.block.args[0]
    row = None if nest is None else nest.outer.region.block.args[0]
    found: dict[Access, WindowPlace] = {}
    for op in body:
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            place = _place(op, column, row, symbols)
            if place is not None:
                found[op] = place
            elif isinstance(op, llvm.StoreOp):
                return None
    return found if any(isinstance(op, llvm.StoreOp) for op in found) else None


def _place(
    op: Access, column: SSAValue, row: SSAValue | None, symbols: RegionSymbols
) -> WindowPlace | None:
    type = accessed_type(op)
    if not _is_number(type):
        return None
    stride = size_of(type)
    base, bytes = op.ptr, ZERO
    while symbols.is_inside(base):
        address = base.owner
        if not isinstance(address, ADDRESS_OPS):
            return None
        for step in steps_of(address):
            distance = None if step.member else step.in_bytes(symbols)
            if distance is None:
                return None
            bytes = bytes + distance
        base = address.ptr
    parts = bytes.split(column)
    if parts is None or parts[1].as_constant != stride:
        return None
    if bytes.terms.get((), 0) % stride or (row is not None and bytes.split(row) is None):
        return None
    return WindowPlace(base, bytes, stride)


def _is_number(type: Attribute) -> bool:
    if isinstance(type, IntegerType):
        return type.width.data in (8, 16, 32, 64)
    return isinstance(type, Float32Type | Float64Type)


def _shares(places: Mapping[Access, WindowPlace]) -> bool:
    """Whether an array is read at several places."""
    first: dict[SSAValue, Polynomial] = {}
    for op, place in places.items():
        if isinstance(op, llvm.LoadOp):
            known = first.setdefault(place.base, place.bytes)
            if known != place.bytes:
                return True
    return False


def _gains(
    places: Mapping[Access, WindowPlace], packed: set[Operation], inner: acc.LoopOp, columns: int
) -> bool:
    """Whether this is a stencil that windows make faster, or a stream that can have groups only this way."""
    if not _shares(places):
        return _is_unaligned(places, inner, columns)
    return min(place.stride for op, place in places.items() if op in packed) <= NARROW_BYTES


def _is_unaligned(places: Mapping[Access, WindowPlace], inner: acc.LoopOp, columns: int) -> bool:
    """Whether groups that start at the first column would never have aligned addresses."""
    lower = constant_value(inner.lowerbound[0])
    return lower is not None and any(
        (lower + place.bytes.terms.get((), 0) // place.stride) % columns
        for place in places.values()
    )


def _multiples(
    places: Iterable[WindowPlace],
    columns: int,
    column: SSAValue,
    symbols: RegionSymbols,
) -> tuple[tuple[Polynomial, int], ...] | None:
    """
    The polynomials that must be multiples of a group's bytes for its addresses to be aligned in all rows:
    the factor of every other loop variable, and the remaining terms. None if they certainly are not.
    """
    found: dict[tuple[Polynomial, int], None] = {}
    for place in places:
        factors: dict[tuple[Hashable, ...], Polynomial] = {}
        for monomial, coefficient in place.bytes.terms.items():
            if not monomial or monomial == (column,):
                continue
            loops = product(s for s in monomial if isinstance(s, SSAValue) and symbols.is_inside(s))
            rest = product(s for s in monomial if s not in loops)
            factors[loops] = factors.get(loops, ZERO) + Polynomial({rest: coefficient})
        for factor in factors.values():
            known = factor.as_constant
            if known is None:
                found[factor, columns * place.stride] = None
            elif known % (columns * place.stride):
                return None
    return tuple(found)


def _fits(window: Window) -> bool:
    """Whether the window fits into a thread's registers."""
    seen: set[tuple[SSAValue, Polynomial, int]] = set()
    for op, place in window.places.items():
        for number in range(window.rows):
            shared, offset = place.in_row(window.row, number, window.column)
            for k in range(window.columns):
                if isinstance(op, llvm.LoadOp):
                    seen.add((place.base, shared, offset + k * place.stride))
    words = len(seen) + window.rows * window.columns
    wide = any(isinstance(result.type, Float64Type) for op in window.body for result in op.results)
    operations = len(window.body) * window.rows * window.columns
    return words * (2 if wide else 1) <= MAX_REGISTERS and operations <= MAX_OPERATIONS
