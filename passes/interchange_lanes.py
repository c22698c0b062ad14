"""
Run iterations of partitioned loops of the host target in SIMD lanes where loops in order stand inside.

LLVM vectorises innermost loops. A parallel loop around one in order (the bodies of an n-body problem, the
columns of a matrix product) is therefore taken in blocks of some iterations: each piece of straight code
in its body becomes a loop over the iterations of a block, and the loops in order run once for all of them.
What an iteration keeps from piece to piece goes into small arrays, one element each, which LLVM turns into
vector registers. Iterations left over run as before.

Iterations of partitioned loops are independent, and each runs its own operations in the order it did: results
do not change.

Takes:  the host level, partitioned loops marked `accx.lanes` (`host_loops.py`).
Leaves: the same without the marks; loops over lanes have `accx.vector_width` and `accx.interleave`.
Fails:  never; `ir/lane_loops.py` has what makes a loop stay as it is.

Before:
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %k = … iter_args(%acc = %zero) { … llvm.load %a[%i] … scf.yield %next }
    llvm.store %s, %b[%i]
  } {accx.lanes}
After:
  scf.for %block = %lo to %mid step %c16 {
    scf.for %l = 0 to 16 { store %zero, %accs[%l] }
    scf.for %k = … { scf.for %l = 0 to 16 { … load %accs[%l] … load %a[%block + %l] … } }
    scf.for %l = 0 to 16 { … }
  }
  scf.for %i = %mid to %hi step %c1 { … }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from xdsl.context import Context
from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, ModuleOp, UnitAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import ACCESS_GROUPS, INTERLEAVE, LANES, SIMD, UNROLL, VECTOR_WIDTH
from .ir.building import Cursor
from .ir.lane_loops import Lanes, VaryingValues, is_pure, lanes_of
from .ir.private_storage import entry_cursor

Values = dict[SSAValue, SSAValue]

_NO_WRAP = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))


@dataclass
class _Piece:
    """Operations that become one loop over lanes, and what it stores at its end: value and array."""

    ops: list[Operation] = field(default_factory=list[Operation])
    stores: list[tuple[SSAValue, SSAValue]] = field(default_factory=list[tuple[SSAValue, SSAValue]])


class _Interchange:
    """Takes the body of one loop apart. `block` is the variable of the loop over blocks."""

    def __init__(self, loop: scf.ForOp, lanes: Lanes, function: llvm.FuncOp, groups: Iterator[int]):
        self.loop = loop
        self.lanes = lanes
        self.varying = VaryingValues(loop)
        self.function = function
        self.groups = groups
        self.alike: Values = {}
        self.arrays: Values = {}
        self.kept: Values = {}
        self.block: SSAValue | None = None

    def run(self) -> None:
        """Replaces the loop."""
        loop, at = self.loop, Cursor.before(self.loop)
        type_ = loop.lb.type
        size = at.constant(self.lanes.iterations, type_)
        span = at.value(arith.MaxSIOp(at.sub(loop.ub, loop.lb), at.constant(0, type_)))
        whole = at.mul(at.value(arith.DivSIOp(span, size)), size)
        middle = at.add(loop.lb, whole, "middle")
        hint = loop.body.block.args[0].name_hint or "i"
        blocks, inner = at.for_loop(loop.lb, middle, size, f"{hint}_block")
        self.block = blocks.body.block.args[0]
        self._body(loop.body.block, inner, [])
        loop.operands[0] = middle

    def _body(self, block: Block, at: Cursor, arrays: Sequence[SSAValue | None]) -> list[SSAValue]:
        """
        Emits the block's operations at `at`. What it yields goes into `arrays` where there is one; the
        rest is the result.
        """
        piece = _Piece()
        for op in block.ops:
            if isinstance(op, scf.YieldOp):
                pairs = list(zip(op.operands, arrays, strict=True))
                piece.stores += [(value, array) for value, array in pairs if array is not None]
                self._flush(piece, at, op)
                return [self.alike.get(value, value) for value, array in pairs if array is None]
            if not self.varying.holds(op):
                if any(isinstance(known, llvm.StoreOp) for known in piece.ops):
                    piece = self._flush(piece, at)
                self._copy(op, at)
            elif isinstance(op, scf.ForOp):
                piece = self._loop(op, at, piece)
            else:
                piece.ops.append(op)
        return []

    def _copy(self, op: Operation, at: Cursor) -> None:
        """What is the same for all lanes is computed once."""
        copy = op.clone(self.alike)
        at.insert(copy)
        copy.location = op.location
        self.alike.update(zip(op.results, copy.results, strict=True))

    def _loop(self, loop: scf.ForOp, at: Cursor, piece: _Piece) -> _Piece:
        """A loop in order that runs once for all lanes; what varies in it is carried in arrays."""
        body = loop.body.block
        carried = list(zip(body.args[1:], loop.iter_args, loop.results, strict=True))
        for argument, start, result in carried:
            if result in self.varying:
                array = self._array(result.type, result.name_hint or "lane")
                self.arrays[argument] = self.arrays[result] = array
                piece.stores.append((start, array))
        self._flush(piece, at)
        same = [(a, start, result) for a, start, result in carried if result not in self.varying]
        lower, upper, step = (self.alike.get(v, v) for v in (loop.lb, loop.ub, loop.step))
        starts = [self.alike.get(start, start) for _, start, _ in same]
        block = Block(arg_types=[loop.lb.type, *(start.type for start in starts)])
        block.args[0].name_hint = body.args[0].name_hint
        self.alike[body.args[0]] = block.args[0]
        for (argument, _, _), new in zip(same, block.args[1:], strict=True):
            self.alike[argument] = new
        new_loop = at.insert(scf.ForOp(lower, upper, step, starts, Region(block)))
        arrays = [self.arrays.get(result) for _, _, result in carried]
        inside = Cursor.at_end(block, at.loc)
        yielded = self._body(body, inside, arrays)
        inside.insert(scf.YieldOp(*yielded))
        for (_, _, result), new in zip(same, new_loop.results, strict=True):
            self.alike[result] = new
        return _Piece()

    def _array(self, type_: Attribute, hint: str) -> SSAValue:
        memory = llvm.LLVMArrayType(self.lanes.iterations, type_)
        at = entry_cursor(self.function)
        return at.value(llvm.AllocaOp(at.i32(1), memory, alignment=64), f"{hint}_lanes")

    def _flush(self, piece: _Piece, at: Cursor, end: Operation | None = None) -> _Piece:
        """
        Emits a loop over lanes for the piece, if there is anything in it; a new piece. `end`: the yield
        whose values the piece stores.
        """
        if not piece.ops and not piece.stores:
            return _Piece()
        inside = {inner for op in piece.ops for inner in op.walk()} | {end}
        for op in piece.ops:
            for result in op.results:
                self._keep(result, inside, piece)
        assert self.block is not None
        type_ = self.block.type
        loop, body = at.for_loop(
            at.constant(0, type_),
            at.constant(self.lanes.iterations, type_),
            at.constant(1, type_),
            "lane",
        )
        lane = _Lane(self, loop.body.block.args[0], body)
        for op in piece.ops:
            lane.copy(op)
        values = [(lane.value(value), array) for value, array in piece.stores]
        self.arrays.update(self.kept)
        self.kept.clear()
        for value, array in values:
            body.store(value, lane.element(array, value.type))
        self._mark(loop)
        return _Piece()

    def _keep(self, result: SSAValue, inside: set[Operation | None], piece: _Piece) -> None:
        """Gives `result` an array if something outside of its piece uses it, and cannot compute it again."""
        if result in self.arrays or self.recomputes(result):
            return
        if any(use.operation not in inside for use in result.uses):
            array = self._array(result.type, result.name_hint or "lane")
            piece.stores.append((result, array))
            self.kept[result] = array

    def recomputes(self, value: SSAValue) -> bool:
        """Whether a value is computed again where it is used: integers and addresses from others."""
        owner = value.owner
        return (
            isinstance(owner, Operation)
            and is_pure(owner)
            and not isinstance(owner, llvm.CallOp)
            and isinstance(value.type, IntegerType | llvm.LLVMPointerType)
            and all(
                o not in self.varying or isinstance(o.owner, Block) or self.recomputes(o)
                for o in owner.operands
            )
        )

    def _mark(self, loop: scf.ForOp) -> None:
        groups = ArrayAttr([IntegerAttr(next(self.groups), i32)])
        for op in loop.body.walk():
            if isinstance(op, llvm.LoadOp | llvm.StoreOp):
                op.attributes[ACCESS_GROUPS] = groups
        loop.attributes[ACCESS_GROUPS] = groups
        loop.attributes[SIMD] = UnitAttr()
        loop.attributes[UNROLL] = IntegerAttr(1, i32)
        loop.attributes[VECTOR_WIDTH] = IntegerAttr(self.lanes.width, i32)
        loop.attributes[INTERLEAVE] = IntegerAttr(self.lanes.count, i32)


class _Lane:
    """The body of a loop over lanes: what values are for the lane at hand."""

    def __init__(self, parent: _Interchange, lane: SSAValue, at: Cursor):
        self.parent = parent
        self.at = at
        assert parent.block is not None
        self.index = lane
        variable = at.value(arith.AddiOp(parent.block, lane, overflow=_NO_WRAP), "i")
        self.values: Values = {parent.loop.body.block.args[0]: variable}

    def element(self, array: SSAValue, type_: Attribute) -> SSAValue:
        return self.at.element(array, self.at.to_i64(self.index), type_)

    def value(self, value: SSAValue) -> SSAValue:
        """`value` in this lane."""
        if value not in self.parent.varying:
            return self.parent.alike.get(value, value)
        known = self.values.get(value)
        if known is not None:
            return known
        array = self.parent.arrays.get(value)
        if array is not None:
            found = self.at.load(self.element(array, value.type), value.type, value.name_hint)
        else:
            assert isinstance(value.owner, Operation) and self.parent.recomputes(value)
            self.copy(value.owner)
            return self.values[value]
        self.values[value] = found
        return found

    def copy(self, op: Operation) -> None:
        """Emits `op` for this lane."""
        inner = set(op.walk())
        needed = [o for i in op.walk() for o in i.operands if _defined_outside(o, inner)]
        mapping = {operand: self.value(operand) for operand in needed}
        copy = op.clone(mapping)
        loc = op.location
        self.at.insert(copy)
        copy.location = loc
        self.values.update(zip(op.results, copy.results, strict=True))


def _defined_outside(value: SSAValue, ops: set[Operation]) -> bool:
    owner = value.owner
    defining = owner.parent_op() if isinstance(owner, Block) else owner
    return defining not in ops


def _free_group(module: ModuleOp) -> int:
    used = [
        group.value.data
        for op in module.walk()
        if isinstance(groups := op.attributes.get(ACCESS_GROUPS), ArrayAttr)
        for group in groups
        if isinstance(group, IntegerAttr)
    ]
    return max(used, default=-1) + 1


@dataclass(frozen=True)
class InterchangeLanesPass(ModulePass):
    """Lanes for loops around loops in order; see the file's docstring."""

    name = "interchange-lanes"

    enabled: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        groups = count(_free_group(op))
        for function in [f for f in op.body.block.ops if isinstance(f, llvm.FuncOp)]:
            marked = [
                loop
                for loop in function.walk()
                if isinstance(loop, scf.ForOp) and LANES in loop.attributes
            ]
            for loop in reversed(marked):  # inner loops first
                del loop.attributes[LANES]
                lanes = lanes_of(loop) if self.enabled else None
                if lanes is not None:
                    _Interchange(loop, lanes, function, groups).run()
