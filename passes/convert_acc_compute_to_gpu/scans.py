"""
Lowers `accx.scan` to device code: a prefix over an array, by the threads of a gang, of a worker, or of all
gangs.

The array is cut into tiles. In a tile each warp has consecutive elements, and each lane groups of up to 16
bytes of them, which it loads, combines and stores together. A lane's groups, the lanes of a warp and the
warps are combined in the order of the elements (`prefixes.py`). The prefix is carried from one tile to the
next; gangs that share a scan use look-back (`lookback.py`), so that the array is read once and written
once.

Positions count from the element before the loop's first one. An inclusive scan has the old value of
the target there, an exclusive one begins with its identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.accx_scan import ScanOp
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from ..ir.variables.combiners import ScalarOperator
from ..ir.variables.in_order import element_value, operator_of
from .barriers import UNKNOWN, accesses
from .context import Kernel
from .lookback import MAX_GANGS, LookBack, scratch_bytes
from .prefixes import ThreadGroup, either
from .warp import shared_element

GROUP_BYTES = 16
THREAD_BYTES = 128
MOST_ELEMENTS = 32
"""The bytes of a tile per thread: enough loads in flight, and few enough registers."""


def lower_scan(k: Kernel, op: ScanOp) -> None:
    """Emits the scan, which all threads that run the current code must reach."""
    roots = [k.root(k.values[op.target]) or UNKNOWN, k.root(k.values[op.source]) or UNKNOWN]
    k.access(accesses(roots, roots[:1], leader=False))
    group = ThreadGroup.of(k)
    group.barrier()
    combiner = operator_of(op)
    identity = None if op.identity is None else k.values[op.identity]
    scan = _Scan(
        k,
        group,
        combiner,
        op.source_type,
        op.source_unsigned is not None,
        k.values[op.target],
        k.values[op.source],
        k.values[op.steps],
        identity,
    )
    before = k.tracker.copy()
    if op.gangs is not None:
        scan.by_gangs()
    else:
        scan.by_group()
    k.tracker.add(before.pending)
    group.barrier()


@dataclass
class _Scan:
    """The state of emitting one scan. `identity` is that of an exclusive scan, else None."""

    k: Kernel
    group: ThreadGroup
    combiner: ScalarOperator
    source_type: Attribute
    source_unsigned: bool
    target: SSAValue
    source: SSAValue
    steps: SSAValue
    identity: SSAValue | None

    def __post_init__(self) -> None:
        k = self.k
        widest = max(size_of(self.combiner.type), size_of(self.source_type))
        self.wide = min(max(GROUP_BYTES // widest, 1), 8)
        elements = min(THREAD_BYTES // size_of(self.combiner.type), MOST_ELEMENTS)
        self.rows = elements // self.wide
        self.row = self.wide * self.group.width
        zero, one = k.constant(0, i64), k.constant(1, i64)
        some = k.compare("sgt", self.steps, zero, "some")
        self.positions = k.select(some, k.add(self.steps, one, "positions"), zero)
        """The number of elements of the target that are written."""
        self.read = self.positions if self.identity is None else self.steps
        """The position after the last element read."""
        in_warp = k.constant(self.rows * self.row, i64)
        self.tile = k.mul(k.zero_extend(self.group.warps, i64), in_warp, "tile_size")
        within = k.mul(k.zero_extend(self.group.warp, i64), in_warp)
        lane = k.mul(k.zero_extend(self.group.lane, i64), k.constant(self.wide, i64))
        self.within = k.add(within, lane, "within_tile")
        self.aligned = self._is_aligned()
        self.buffer = self.group.buffer(self.combiner, 1)

    @property
    def initial(self) -> SSAValue:
        """The value before position 0."""
        return self.combiner.neutral(self.k) if self.identity is None else self.identity

    def _is_aligned(self) -> SSAValue:
        k, bits = self.k, None
        for pointer, type in ((self.target, self.combiner.type), (self.source, self.source_type)):
            address = k.value(llvm.PtrToIntOp(pointer, i64))
            mask = k.constant(self.wide * size_of(type) - 1, i64)
            low = k.value(arith.AndIOp(address, mask))
            bits = low if bits is None else k.value(arith.OrIOp(bits, low))
        assert bits is not None
        return k.compare("eq", bits, k.constant(0, i64), "aligned")

    # The distribution of tiles.

    def by_group(self) -> None:
        """Emits the loop over all tiles, for the threads that run the current code."""
        k, type = self.k, self.combiner.type
        body = Block(arg_types=[i64, type])
        body.args[0].name_hint, body.args[1].name_hint = "tile", "carry"
        loop = scf.ForOp(
            k.constant(0, i64), self.positions, self.tile, [self.initial], Region(body)
        )
        k.insert(loop)
        with k.at(Cursor.at_end(body, k.loc)):
            first, carry = body.args
            prefixes, total = self._prefixes(self._load(first))
            self._write(first, carry, prefixes)
            if self.group.several:
                self.group.barrier()
            k.insert(scf.YieldOp(self.combiner.combine(k, carry, total, "carry")))

    def by_gangs(self) -> None:
        """Emits the loop in which gangs take tiles from the counter and look back."""
        k = self.k
        state = k.launch_scratch(scratch_bytes(self.combiner.type), "scan_state")
        shares = k.compare("ult", k.gang_number(), k.i32(MAX_GANGS), "shares")
        with k.at(k.if_then(shares)):
            look = LookBack.begin(k, self.group, self.combiner, state, self.initial)
            before, after = Block(), Block(arg_types=[i64])
            k.insert(scf.WhileOp([], [i64], Region(before), Region(after)))
            with k.at(Cursor.at_end(before, k.loc)):
                # Only after the gang's last tile: other gangs wait for the values of tiles that it has
                # taken.
                tile = self.group.from_leader(look.take_tile)
                more = k.compare("slt", k.mul(tile, self.tile), self.positions, "more")
                k.insert(scf.ConditionOp(more, tile))
            with k.at(Cursor.at_end(after, k.loc)):
                tile = after.args[0]
                first = k.mul(tile, self.tile, "first")
                prefixes, total = self._prefixes(self._load(first))
                self._write(first, self._carry(look, tile, total), prefixes)
                self.group.barrier()
                k.insert(scf.YieldOp())
            look.end()

    def _carry(self, look: LookBack, tile: SSAValue, total: SSAValue) -> SSAValue:
        """The prefix before the tile, found by the first warp and broadcast to the others."""
        k, type = self.k, self.combiner.type
        if not self.group.several:
            return look.run(tile, total)
        slot = shared_element(k, self.buffer, k.i32(32), type)
        first_warp = k.compare("eq", self.group.warp, k.i32(0), "first_warp")
        with k.at(k.if_then(first_warp)):
            carry = look.run(tile, total)
            leader = k.compare("eq", self.group.lane, k.i32(0), "first_lane")
            with k.at(k.if_then(leader)):
                k.store(carry, slot)
        self.group.barrier()
        return k.load(slot, type, "carry")

    # One tile.

    def _prefixes(self, rows: list[list[SSAValue]]) -> tuple[list[list[SSAValue]], SSAValue]:
        """
        The prefix within the tile at each of the thread's elements (including the element, or excluding it
        in an exclusive scan), and the total of the tile.
        """
        k, combiner = self.k, self.combiner
        running = combiner.neutral(k)
        starts: list[SSAValue] = []
        for row in rows:
            for index in range(1, len(row)):
                row[index] = combiner.combine(k, row[index - 1], row[index], "sum")
            before, total = self.group.before(combiner, row[-1])
            starts.append(combiner.combine(k, running, before, "start"))
            running = combiner.combine(k, running, total, "running")
        before, total = self.group.before_warp(combiner, self.buffer, running)
        out: list[list[SSAValue]] = []
        for start, row in zip(starts, rows, strict=True):
            start = combiner.combine(k, before, start, "start")
            sums = [combiner.combine(k, start, value, "prefix") for value in row]
            out.append(sums if self.identity is None else [start, *sums[:-1]])
        return out, total

    def _position(self, first: SSAValue, row: int) -> SSAValue:
        """The position of the thread's first element in a row."""
        k = self.k
        start = k.add(first, self.within, "position")
        return k.add(start, k.constant(row * self.row, i64), "position")

    def _whole(self, first: SSAValue) -> SSAValue:
        """An i1: the tile is complete and aligned, so that it is accessed in groups."""
        k = self.k
        fits = k.compare("sle", k.add(first, self.tile), self.read, "fits")
        return k.value(arith.AndIOp(fits, self.aligned), "whole")

    def _load(self, first: SSAValue) -> list[list[SSAValue]]:
        k, type = self.k, self.combiner.type
        count = self.rows * self.wide
        op, then, otherwise = either(k, self._whole(first), [type] * count)
        with k.at(then):
            values = [v for row in range(self.rows) for v in self._load_group(first, row)]
            k.insert(scf.YieldOp(*values))
        with k.at(otherwise):
            values = [v for row in range(self.rows) for v in self._load_each(first, row)]
            k.insert(scf.YieldOp(*values))
        flat = list[SSAValue](op.results)
        if self.identity is None:
            flat[0] = self._or_old_target(first, flat[0])
        return [flat[i : i + self.wide] for i in range(0, count, self.wide)]

    def _load_group(self, first: SSAValue, row: int) -> list[SSAValue]:
        k, size = self.k, size_of(self.source_type)
        place = k.element(self.source, self._position(first, row), self.source_type, "source")
        values: list[SSAValue] = []
        for index in range(self.wide):
            alignment = _alignment(self.wide * size, index * size)
            load = llvm.LoadOp(k.field(place, index * size), self.source_type, alignment=alignment)
            values.append(self._converted(k.value(load, "element")))
        return values

    def _load_each(self, first: SSAValue, row: int) -> list[SSAValue]:
        k, values = self.k, list[SSAValue]()
        for index in range(self.wide):
            position = k.add(self._position(first, row), k.constant(index, i64))
            valid = k.compare("slt", position, self.read, "valid")
            if self.identity is None and row == 0 and index == 0:
                later = k.compare("ne", position, k.constant(0, i64), "later")
                valid = k.value(arith.AndIOp(valid, later), "valid")
            op, then, otherwise = either(k, valid, [self.combiner.type])
            with k.at(then):
                place = k.element(self.source, position, self.source_type, "source")
                value = k.load(place, self.source_type, "element")
                k.insert(scf.YieldOp(self._converted(value)))
            with k.at(otherwise):
                k.insert(scf.YieldOp(self.combiner.neutral(k)))
            values.append(op.results[0])
        return values

    def _or_old_target(self, first: SSAValue, value: SSAValue) -> SSAValue:
        """The old value of the target at position 0 of an inclusive scan, else `value`."""
        k = self.k
        at_start = k.compare("eq", k.add(first, self.within), k.constant(0, i64), "at_start")
        op, then, otherwise = either(k, at_start, [self.combiner.type])
        with k.at(then):
            k.insert(scf.YieldOp(k.load(self.target, self.combiner.type, "old")))
        with k.at(otherwise):
            k.insert(scf.YieldOp(value))
        return op.results[0]

    def _converted(self, value: SSAValue) -> SSAValue:
        """An element of the source in the target's type."""
        combiner = self.combiner
        unsigned = self.source_unsigned
        return element_value(self.k, value, combiner.type, combiner.kind, unsigned=unsigned)

    def _write(self, first: SSAValue, carry: SSAValue, prefixes: list[list[SSAValue]]) -> None:
        k, size = self.k, size_of(self.combiner.type)
        rows = [[self.combiner.combine(k, carry, v, "result") for v in row] for row in prefixes]
        _, then, otherwise = either(k, self._whole(first), [])
        with k.at(then):
            for row, values in enumerate(rows):
                place = k.element(
                    self.target, self._position(first, row), self.combiner.type, "target"
                )
                for index, value in enumerate(values):
                    alignment = _alignment(self.wide * size, index * size)
                    k.insert(llvm.StoreOp(value, k.field(place, index * size), alignment=alignment))
            k.insert(scf.YieldOp())
        with k.at(otherwise):
            for row, values in enumerate(rows):
                for index, value in enumerate(values):
                    position = k.add(self._position(first, row), k.constant(index, i64))
                    valid = k.compare("slt", position, self.positions, "valid")
                    with k.at(k.if_then(valid)):
                        place = k.element(self.target, position, self.combiner.type, "target")
                        k.store(value, place)
            k.insert(scf.YieldOp())


def _alignment(group: int, offset: int) -> int:
    """The known alignment of the address `offset` bytes into an aligned group."""
    return group if offset == 0 else min(group, offset & -offset)
