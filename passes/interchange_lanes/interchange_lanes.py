"""
Run iterations of partitioned loops around sequential loops in SIMD lanes, on the host target.

LLVM vectorises innermost loops. A parallel loop around a sequential one (the bodies of an n-body problem,
the columns of a matrix product) is therefore run in blocks of iterations: each piece of straight-line code
in its body becomes a loop over the iterations of a block, and a sequential loop runs once for all of them.
Values that an iteration needs in several pieces go into small arrays with one element per iteration, which
LLVM promotes to vector registers. Remaining iterations run as before.

A `while` loop, or one with `break`, that iterations leave at different times runs until the last one has
left it, under a mask of the remaining ones (`masked_loops.py`).

A loop without a directive inside a partitioned one is treated in the same way if its iterations evidently
do not depend on each other: the columns of an escape-time picture whose rows are parallel.

Lanes may access rows of their own where the inner loops compute in order, so that each iteration waits for
the one before (sums of rows, tridiagonal solvers; `decisions/ordered_rows.py`).

A partitioned loop around short loops only, which LLVM unrolls, stays as it is where lanes would access any
element; its accesses are marked as independent, so that LLVM can vectorise it (`short_loops.py`).

Iterations of partitioned loops are independent, and each runs its own operations in unchanged order, so
results do not change; `fusing.py` fuses products with sums in the same way for all iterations.

Takes:  the host level, partitioned loops marked `accx.lanes` (`host_loops.py`).
Leaves: no `accx.lanes`; loops over lanes have `accx.vector_width` and `accx.interleave`.
Fails:  never; `ir/loops/lane_loops.py` decides which loops stay as they are.

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

from ...dialects.accx import ACCESS_GROUPS, INTERLEAVE, LANES, SIMD, TYPED, UNROLL, VECTOR_WIDTH
from ..ir.loops.lane_loops import (
    Lanes,
    LaneValues,
    is_evidently_independent,
    is_lane_wise,
    lanes_of,
)
from ..ir.loops.loop_flow import loop_flow
from ..ir.ops.building import Cursor
from ..ir.ops.machine import machine_of
from ..ir.values.iteration_order import order_matters
from ..ir.variables.private_storage import entry_cursor
from .fusing import fuse_products, keep_in_order
from .lane_code import Lane
from .masked_loops import masked_blocks, masked_while, shared_state
from .short_loops import mark_around_short_loops

Values = dict[SSAValue, SSAValue]

_NO_WRAP = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))


@dataclass
class _Piece:
    """
    Operations that become one loop over lanes, with the values that it stores at its end and their arrays.
    """

    ops: list[Operation] = field(default_factory=list[Operation])
    stores: list[tuple[SSAValue, SSAValue]] = field(default_factory=list[tuple[SSAValue, SSAValue]])


class Interchange:
    """
    Splits the body of one loop into pieces. `block` is the variable of the loop over blocks. `fuses`:
    products may be fused with sums.
    """

    def __init__(
        self,
        loop: scf.ForOp,
        lanes: Lanes,
        function: llvm.FuncOp,
        groups: Iterator[int],
        *,
        fuses: bool = False,
    ):
        self.loop = loop
        self.fuses = fuses
        self.lanes = lanes
        self.varying = LaneValues(loop)
        self.function = function
        self.groups = groups
        self.alike: Values = {}
        self.arrays: Values = {}
        self.kept: Values = {}
        self.privates: Values = {}
        self.zeros: dict[Attribute, SSAValue] = {}
        self.block: SSAValue | None = None

    def run(self) -> None:
        """Replaces the loop."""
        loop, at = self.loop, Cursor.before(self.loop)
        if self.fuses:
            fuse_products(loop, self.varying)
            self.varying = LaneValues(loop)
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
        keep_in_order(loop)

    def _body(self, block: Block, at: Cursor, arrays: Sequence[SSAValue | None]) -> list[SSAValue]:
        """
        Emits the block's operations at `at`. A yielded value is stored to its array in `arrays` if it has
        one; the other yielded values are returned.
        """
        piece = _Piece()
        for op in block.ops:
            if isinstance(op, scf.YieldOp):
                pairs = list(zip(op.operands, arrays, strict=True))
                piece.stores += [(value, array) for value, array in pairs if array is not None]
                self._flush(piece, at, op)
                return [self.alike.get(value, value) for value, array in pairs if array is None]
            piece = self._operation(op, at, piece)
        return []

    def _operation(self, op: Operation, at: Cursor, piece: _Piece) -> _Piece:
        """
        Adds an operation to the current piece, or emits the piece and the operation; returns the piece to
        continue with.
        """
        if not self.varying.holds(op):
            if any(isinstance(known, llvm.StoreOp) for known in piece.ops):
                piece = self._flush(piece, at)
            self.copy(op, at)
            return piece
        match op:
            case scf.ForOp():
                return self._loop(op, at, piece)
            case scf.WhileOp():
                return self._while(op, at, piece)
            case scf.ExecuteRegionOp():
                return self._jumps(op, at, piece)
            case _:
                piece.ops.append(op)
                return piece

    def copy(self, op: Operation, at: Cursor) -> None:
        """Emits once an operation whose result is the same for all lanes."""
        copy = op.clone(self.alike)
        at.insert(copy)
        copy.location = op.location
        self.alike.update(zip(op.results, copy.results, strict=True))

    def _loop(self, loop: scf.ForOp, at: Cursor, piece: _Piece) -> _Piece:
        """Emits a sequential loop that runs once for all lanes; varying values are carried in arrays."""
        body = loop.body.block
        carried = list(zip(body.args[1:], loop.iter_args, loop.results, strict=True))
        for argument, start, result in carried:
            if result in self.varying:
                array = self.array(result.type, result.name_hint or "lane")
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

    def _while(self, op: scf.WhileOp, at: Cursor, piece: _Piece) -> _Piece:
        """Emits a loop that lanes leave one by one; its carried values are in arrays."""
        carried = shared_state(op)
        for argument, start in zip(op.before_region.block.args, op.arguments, strict=True):
            array = self.array(argument.type, argument.name_hint or "lane")
            self.arrays[argument] = array
            piece.stores.append((start, array))
        for result in op.results:
            argument = carried.get(result)
            known = None if argument is None else self.arrays[argument]
            hint = result.name_hint or "lane"
            self.arrays[result] = known or self.array(result.type, hint)
        masks = self._all_lanes(at, piece)
        self._flush(piece, at)
        masked_while(self, op, masks, at)
        return _Piece()

    def _jumps(self, op: scf.ExecuteRegionOp, at: Cursor, piece: _Piece) -> _Piece:
        """
        Emits a region with a loop with jumps that lanes leave one by one, and the code before and after
        that loop.
        """
        flow = loop_flow(op.region)
        assert flow is not None
        for block in flow.before:
            for inner in list(block.ops)[:-1]:
                piece = self._operation(inner, at, piece)
        masks = self._all_lanes(at, piece)
        self._flush(piece, at)
        masked_blocks(self, flow, masks, at)
        piece = _Piece()
        for inner in list(flow.last.ops)[:-1]:
            piece = self._operation(inner, at, piece)
        return piece

    def _all_lanes(self, at: Cursor, piece: _Piece) -> SSAValue:
        """An array of masks; the piece sets the mask of every lane."""
        type_ = IntegerType(8 * self.lanes.element)
        masks = self.array(type_, "mask")
        piece.stores.append((at.constant(-1, type_), masks))
        return masks

    def private_array(self, variable: SSAValue, type_: Attribute) -> SSAValue:
        """The array, with an element per lane, that replaces a variable of an iteration."""
        found = self.privates.get(variable)
        if found is None:
            found = self.privates[variable] = self.array(type_, variable.name_hint or "private")
        return found

    def hidden_zero(self, type_: Attribute) -> SSAValue:
        """A zero of which LLVM only knows the type."""
        if type_ not in self.zeros:
            at = entry_cursor(self.function)
            nothing = at.constant(0, type_)
            nothing.name_hint = "nothing"
            asm = llvm.InlineAsmOp("", "=r,0", [nothing], [type_])
            self.zeros[type_] = at.value(asm, "zero")
        return self.zeros[type_]

    def array(self, type_: Attribute, hint: str) -> SSAValue:
        memory = llvm.LLVMArrayType(self.lanes.iterations, type_)
        at = entry_cursor(self.function)
        return at.value(llvm.AllocaOp(at.i32(1), memory, alignment=64), f"{hint}_lanes")

    def _flush(self, piece: _Piece, at: Cursor, end: Operation | None = None) -> _Piece:
        """
        Emits a loop over lanes for the piece, unless it is empty; returns a new piece. `end`: the yield
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
        lane = Lane(self, loop.body.block.args[0], body)
        for op in piece.ops:
            lane.unmasked(op)
        values = [(lane.value(value), array) for value, array in piece.stores]
        self.arrays.update(self.kept)
        self.kept.clear()
        for value, array in values:
            body.store(value, lane.element(array, value.type))
        self.mark(loop)
        return _Piece()

    def _keep(self, result: SSAValue, inside: set[Operation | None], piece: _Piece) -> None:
        """Gives `result` an array if operations outside its piece use it and it is not recomputed there."""
        if result in self.arrays or self.recomputes(result):
            return
        if any(use.operation not in inside for use in result.uses):
            array = self.array(result.type, result.name_hint or "lane")
            piece.stores.append((result, array))
            self.kept[result] = array

    def recomputes(self, value: SSAValue) -> bool:
        """Whether a value is recomputed where it is used: integers and addresses computed from others."""
        owner = value.owner
        return (
            isinstance(owner, Operation)
            and is_lane_wise(owner)
            and not isinstance(owner, llvm.CallOp)
            and isinstance(value.type, IntegerType | llvm.LLVMPointerType)
            and all(
                o not in self.varying or isinstance(o.owner, Block) or self.recomputes(o)
                for o in owner.operands
            )
        )

    def mark(self, loop: scf.ForOp) -> None:
        """
        Tells LLVM to vectorise a loop over lanes; not if it might then change the order of accesses within an
        iteration (`iteration_order.py`).
        """
        accesses = [op for op in loop.body.walk() if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
        if not order_matters(loop, accesses, typed=TYPED in self.function.attributes):
            groups = ArrayAttr([IntegerAttr(next(self.groups), i32)])
            for op in (loop, *accesses):
                op.attributes[ACCESS_GROUPS] = groups
            loop.attributes[SIMD] = UnitAttr()
        loop.attributes[UNROLL] = IntegerAttr(1, i32)
        loop.attributes[VECTOR_WIDTH] = IntegerAttr(self.lanes.width, i32)
        loop.attributes[INTERLEAVE] = IntegerAttr(self.lanes.count, i32)


def _take_inner_loops(
    loop: scf.ForOp, function: llvm.FuncOp, groups: Iterator[int], *, fuses: bool
) -> None:
    """
    Applies the pass to loops inside `loop` without a directive whose iterations are evidently independent.
    """
    for inner in [op for op in loop.body.block.ops if isinstance(op, scf.ForOp)]:
        lanes = lanes_of(inner)
        if lanes is not None and is_evidently_independent(inner):
            Interchange(inner, lanes, function, groups, fuses=fuses).run()


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
    """See the contract at the top of this file."""

    name = "interchange-lanes"

    enabled: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        groups = count(_free_group(op))
        machine = machine_of(op)
        in_order = not machine.fast_math
        fuses = in_order and not machine.no_fma
        for function in [f for f in op.body.block.ops if isinstance(f, llvm.FuncOp)]:
            marked = [
                loop
                for loop in function.walk()
                if isinstance(loop, scf.ForOp) and LANES in loop.attributes
            ]
            for loop in reversed(marked):  # inner loops first
                del loop.attributes[LANES]
                lanes = lanes_of(loop, in_order=in_order) if self.enabled else None
                if lanes is not None:
                    Interchange(loop, lanes, function, groups, fuses=fuses).run()
                elif self.enabled and not mark_around_short_loops(
                    loop, next(groups), typed=TYPED in function.attributes
                ):
                    _take_inner_loops(loop, function, groups, fuses=fuses)
