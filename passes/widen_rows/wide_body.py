"""
Emits a loop body for a group of neighbouring columns whose rows are aligned.

All rows are read first, in aligned pieces of 16 bytes, element by element: LLVM merges neighbours whose
first is known to be aligned into one access. Then the body is emitted operation by operation for all
columns, and the values are stored in the same way. Columns of the group outside the loop's bounds compute
values that are not stored. A piece that only such columns would read is not read: the access goes to
another piece of the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.accx import SPECULATIVE
from ..decisions.device import WIDE_BYTES
from ..decisions.polynomials import ZERO, Monomial, Polynomial
from ..decisions.wide_rows import RowPiece, RowReads, pieces, refuge
from ..ir.ops.building import NSW, Cursor, constant_value
from ..ir.values.region_values import HostEmitter, RegionSymbols
from .row_accesses import Row, Survey, Tap, known_part

Maps = list[dict[SSAValue, SSAValue]]
"""For each column, the map from values of the body to its values."""
Offsets = dict[Polynomial, SSAValue]
"""The byte offsets of rows (i64) computed so far."""


@dataclass(frozen=True)
class RowGroup:
    """
    A group of neighbouring iterations: the values of the loop's variable (`places`), and whether each is
    within the loop's bounds. The element `shift` places from the first iteration's is aligned.
    """

    shift: int
    places: tuple[SSAValue, ...]
    valid: tuple[SSAValue, ...]
    whole: SSAValue

    @property
    def columns(self) -> int:
        return len(self.places)


def begin_group(
    at: Cursor, first: SSAValue, lower: SSAValue, upper: SSAValue, columns: int, shift: int
) -> RowGroup:
    """The group of `columns` iterations from `first` on, in a loop from `lower` to `upper`."""
    places = [first]
    for number in range(1, columns):
        distance = at.constant(number, first.type)
        place = arith.AddiOp(first, distance, overflow=NSW)
        places.append(at.value(place, first.name_hint))
    valid: list[SSAValue] = []
    for place in places:
        begun = at.value(arith.CmpiOp(place, lower, "sge"))
        more = at.value(arith.CmpiOp(place, upper, "slt"))
        valid.append(at.value(arith.AndIOp(begun, more), "valid"))
    whole = at.value(arith.AndIOp(valid[0], valid[-1]), "whole")
    return RowGroup(shift, tuple(places), tuple(valid), whole)


class WideBody:
    """
    Emits the operations of a surveyed body for one group. Values known before the construct are computed
    there by `host`, values that the whole body needs before `group.whole`.
    """

    def __init__(self, survey: Survey, group: RowGroup, host: HostEmitter):
        self.survey = survey
        self.group = group
        self.host = host
        marker = group.whole.owner
        assert isinstance(marker, Operation)
        self.top = Cursor.before(marker)
        self.unused = _only_addresses(survey)
        self.renamed: dict[SSAValue, SSAValue] = {}
        self.distances: dict[int, SSAValue] = {}
        self.edges: dict[tuple[frozenset[int], int, int], SSAValue] = {}

    @property
    def symbols(self) -> RegionSymbols:
        return self.survey.symbols

    def emit(self, ops: Sequence[Operation], at: Cursor) -> None:
        """Emits the body's operations at `at`."""
        maps: Maps = [{self.survey.variable: place} for place in self.group.places]
        self._block(ops, maps, at, {})

    def _block(self, ops: Sequence[Operation], maps: Maps, at: Cursor, offsets: Offsets) -> None:
        taps = [tap for op in ops if (tap := self.survey.taps.get(op)) is not None]
        self._read([tap for tap in taps if isinstance(tap.op, llvm.LoadOp)], maps, at, offsets)
        for op in ops:
            if op in self.survey.taps or op in self.unused:
                continue
            if op.regions:
                self._nested(op, maps, at, offsets)
            elif any(operand in self.survey.changing for operand in op.operands):
                for values in maps:
                    at.clone(op, values)
            else:
                at.clone(op, maps[0])
                for values in maps[1:]:
                    values.update((result, maps[0][result]) for result in op.results)
        self._write([tap for tap in taps if isinstance(tap.op, llvm.StoreOp)], maps, at, offsets)

    def _nested(self, op: Operation, maps: Maps, at: Cursor, offsets: Offsets) -> None:
        """Emits control flow that is the same for all columns."""
        clone = op.clone_without_regions(maps[0])
        for region, copy in zip(op.regions, clone.regions, strict=True):
            for block in region.blocks:
                inner = Block(arg_types=[a.type for a in block.args])
                copy.add_block(inner)
                values: Maps = [dict(m) for m in maps]
                for old, new in zip(block.args, inner.args, strict=True):
                    new.name_hint = old.name_hint
                    self.renamed[old] = new
                    for m in values:
                        m[old] = new
                place = Cursor.at_end(inner, op.location)
                body = [o for o in block.ops if not isinstance(o, scf.YieldOp)]
                self._block(body, values, place, dict(offsets))
                place.insert(scf.YieldOp())
        at.move(clone)

    # Addresses.

    def _distance(self, bytes: int) -> SSAValue:
        """The distance (i64) of the group's first element from the row's start, for elements of `bytes`."""
        if bytes not in self.distances:
            at = self.top
            place = at.to_i64(self.group.places[0])
            if self.group.shift:
                place = at.value(arith.AddiOp(place, at.i64(self.group.shift), overflow=NSW))
            scaled = arith.MuliOp(place, at.i64(bytes), overflow=NSW)
            self.distances[bytes] = at.value(scaled, "distance")
        return self.distances[bytes]

    def _known(self, poly: Polynomial) -> bool:
        return all(not known_part(m, self.symbols)[1] for m in poly.terms)

    def _start(self, start: Polynomial, at: Cursor, offsets: Offsets) -> SSAValue:
        """
        The byte offset of a row, if possible as another row's offset plus a distance known before the
        construct.
        """
        if start in offsets:
            return offsets[start]
        for other, value in offsets.items():
            difference = start - other
            if self._known(difference):
                distance = self.host.emit(difference)
                offsets[start] = at.value(arith.AddiOp(value, distance, overflow=NSW), "row")
                return offsets[start]
        offsets[start] = self._from_scratch(start, at)
        return offsets[start]

    def _from_scratch(self, start: Polynomial, at: Cursor) -> SSAValue:
        factors: dict[Monomial, Polynomial] = {}
        for monomial, coefficient in start.terms.items():
            known, inner = known_part(monomial, self.symbols)
            factors[inner] = factors.get(inner, ZERO) + Polynomial({known: coefficient})
        total: SSAValue | None = None
        for inner, factor in factors.items():
            term = self.host.emit(factor)
            for symbol in inner:
                assert isinstance(symbol, SSAValue)
                symbol = self.renamed.get(symbol, symbol)
                term = at.value(arith.MuliOp(term, at.to_i64(symbol), overflow=NSW))
            total = term if total is None else at.value(arith.AddiOp(total, term, overflow=NSW))
        result = at.i64(0) if total is None else total
        if constant_value(result) is None:
            result.name_hint = "row"
        return result

    def _pointer(self, row: Row, at: Cursor, offsets: Offsets) -> SSAValue:
        """The address of the group's first element in `row`, a multiple of 16."""
        start = self._start(row.start, at, offsets)
        offset = arith.AddiOp(start, self._distance(row.bytes), overflow=NSW)
        return at.offset(row.array, at.value(offset), row.array.name_hint)

    # Reading.

    def _read(self, taps: Sequence[Tap], maps: Maps, at: Cursor, offsets: Offsets) -> None:
        rows: dict[Row, list[Tap]] = {}
        for tap in taps:
            rows.setdefault(tap.row, []).append(tap)
        for row, mine in rows.items():
            at.loc = mine[0].op.location
            elements = self._elements(row, mine, self._pointer(row, at, offsets), at)
            for tap in mine:
                assert isinstance(tap.op, llvm.LoadOp)
                for number, values in enumerate(maps):
                    values[tap.op.dereferenced_value] = elements[
                        number + tap.element - self.group.shift
                    ]

    def _elements(
        self, row: Row, taps: Sequence[Tap], pointer: SSAValue, at: Cursor
    ) -> dict[int, SSAValue]:
        """
        Emits the group's reads of `row`; returns the values by their place relative to the first column.
        """
        shift, columns = self.group.shift, self.group.columns
        reads = RowReads(row.bytes, frozenset(tap.element - shift for tap in taps))
        width = WIDE_BYTES // row.bytes
        found = pieces(reads, columns)
        hint = row.array.name_hint
        values: dict[int, SSAValue] = {}
        for piece in found:
            first = piece.elements[0] // width * width
            other = refuge(piece, found, columns)
            assert other is not None
            if other is piece:
                wanted: Iterable[int] = range(first, first + width)
                start, base = 0, pointer
            else:
                start = piece.elements[0]
                wanted = range(start, piece.elements[-1] + 1)
                instead = other.elements[0] // width * width + start - first
                base = at.offset(pointer, self._edge(piece, start, instead, row.bytes), hint)
            for element in wanted:
                place = at.field(base, (element - start) * row.bytes)
                aligned = gcd(WIDE_BYTES, (element - first) * row.bytes)
                load = llvm.LoadOp(place, row.type, alignment=aligned)
                load.attributes[SPECULATIVE] = UnitAttr()
                values[element] = at.value(load, f"{hint}_elt" if hint else None)
        return values

    def _edge(self, piece: RowPiece, element: int, other: int, bytes: int) -> SSAValue:
        """The byte offset of `element` if the group has a column that reads the piece, else of `other`."""
        key = piece.columns, element * bytes, other * bytes
        if key not in self.edges:
            at = self.top
            flags = [self.group.valid[column] for column in sorted(piece.columns)]
            some = reduce(lambda a, b: at.value(arith.OrIOp(a, b)), flags)
            choice = arith.SelectOp(some, at.i64(key[1]), at.i64(key[2]))
            self.edges[key] = at.value(choice, "edge")
        return self.edges[key]

    # Writing.

    def _write(self, taps: Sequence[Tap], maps: Maps, at: Cursor, offsets: Offsets) -> None:
        if not taps:
            return
        pointers = [self._pointer(tap.row, at, offsets) for tap in taps]
        whole, some = at.if_else(self.group.whole)
        for tap, pointer in zip(taps, pointers, strict=True):
            for number in range(self.group.columns):
                self._store(tap, pointer, number, maps, whole)
        for number, valid in enumerate(self.group.valid):
            place = some.if_then(valid)
            for tap, pointer in zip(taps, pointers, strict=True):
                self._store(tap, pointer, number, maps, place)

    def _store(self, tap: Tap, pointer: SSAValue, number: int, maps: Maps, at: Cursor) -> None:
        assert isinstance(tap.op, llvm.StoreOp)
        at.loc = tap.op.location
        bytes = (number + tap.element - self.group.shift) * tap.row.bytes
        value = maps[number].get(tap.op.value, tap.op.value)
        place = at.field(pointer, bytes)
        at.insert(llvm.StoreOp(value, place, alignment=gcd(WIDE_BYTES, bytes)))


def _only_addresses(survey: Survey) -> set[Operation]:
    """The operations that are used only for the addresses of the body's taps."""
    parent = survey.variable.block.parent_op()
    assert parent is not None
    found: set[Operation] = set()
    for op in reversed(list(parent.walk())):
        if op.regions or not op.results or op in survey.taps:
            continue
        uses = [use for result in op.results for use in result.uses]
        if uses and all(_is_address(use.operation, use.index, survey, found) for use in uses):
            found.add(op)
    return found


def _is_address(user: Operation, index: int, survey: Survey, found: set[Operation]) -> bool:
    if user not in survey.taps:
        return user in found
    return user.operands[index] is survey.taps[user].op.ptr
