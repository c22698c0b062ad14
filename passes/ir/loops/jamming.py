"""
Interleaving iterations: several copies of a block's operations, operation by operation.

An operation with the same operands in all copies is emitted once; sequential loops with the same bounds in
all copies become one loop that carries the values of all. The calling pass decides which iterations are
interleaved.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, StringAttr, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ....dialects.accx import ITERATION, WHY
from ....dialects.volatility import is_ordered
from ...decisions.declined import Declined
from ..ops.acc_ops import (
    PRIVATIZING_OPS,
    PrivatizingOp,
    is_inside,
    own_copies,
    set_operand_groups,
)
from ..ops.building import NSW, Cursor, constant_value
from ..ops.purity import only_computes, only_reads
from ..values.addresses import base_of
from ..values.region_values import variable_of


class Jam:
    """
    Emits several iterations of a block operation by operation; `maps` has one value map for each. With
    `independent`, a number of the loop among those of its construct, the accesses say which iteration they
    belong to (`accx.iteration`): LLVM then keeps loads beside stores of other iterations.
    """

    def __init__(self, maps: list[dict[SSAValue, SSAValue]], independent: int | None = None):
        self.maps = maps
        self.independent = independent

    def operations(self, ops: Sequence[Operation], cursor: Cursor) -> None:
        """Emits `ops` for all copies."""
        last = _last_stores(ops)
        for op in ops:
            if op in last:
                continue
            if self._same_for_all(op):
                self._once(op, cursor)
            elif isinstance(op, scf.ForOp) and self._same_bounds(op):
                self._loop(op, cursor)
            else:
                for number, values in enumerate(self.maps):
                    self._mark(cursor.clone(op, values), number)
        for number, values in enumerate(self.maps):
            for op in last:
                self._mark(cursor.clone(op, values), number)

    def _mark(self, op: Operation, number: int) -> None:
        """Records that the accesses in `op` are of iteration `number` (the number of them: of all)."""
        if self.independent is None:
            return
        place = [IntegerAttr(n, i32) for n in (number, len(self.maps), self.independent)]
        for inner in op.walk():
            if isinstance(inner, llvm.LoadOp | llvm.StoreOp) and not is_ordered(inner):
                inner.attributes.setdefault(ITERATION, ArrayAttr(place))

    def _once(self, op: Operation, cursor: Cursor) -> None:
        """Emits once an operation whose operands are the same for all copies."""
        self._mark(cursor.clone(op, self.maps[0]), len(self.maps))
        for values in self.maps[1:]:
            for result in op.results:
                values[result] = self.maps[0][result]

    def _same_for_all(self, op: Operation) -> bool:
        """
        Whether `op` has the same result in all copies: it only computes and reads, on operands that all
        copies share. (No copy writes what another reads, since the iterations are independent.)
        """
        return bool(op.results) and all(
            only_reads(inner) and self._same(inner) for inner in op.walk()
        )

    def _same(self, op: Operation) -> bool:
        """Whether the operands are the same in all copies; values defined inside a shared operation are."""
        first = self.maps[0]
        return all(
            m.get(operand, operand) is first.get(operand, operand)
            for operand in op.operands
            for m in self.maps
        )

    def _same_bounds(self, loop: scf.ForOp) -> bool:
        first = self.maps[0]
        return all(
            m.get(v, v) is first.get(v, v) for v in (loop.lb, loop.ub, loop.step) for m in self.maps
        )

    def _loop(self, loop: scf.ForOp, cursor: Cursor) -> None:
        """Emits one loop that carries the values of all copies."""
        first = self.maps[0]
        body = loop.body.block
        carried = [m.get(v, v) for m in self.maps for v in loop.iter_args]
        block = Block(arg_types=[body.args[0].type, *(v.type for v in carried)])
        block.args[0].name_hint = body.args[0].name_hint
        lb, ub, step = (first.get(v, v) for v in (loop.lb, loop.ub, loop.step))
        fused = scf.ForOp(lb, ub, step, carried, Region(block))
        fused.attributes |= loop.attributes
        cursor.insert(fused)
        width = len(loop.iter_args)
        for row, values in enumerate(self.maps):
            values[body.args[0]] = block.args[0]
            for i, argument in enumerate(body.args[1:]):
                new = block.args[1 + row * width + i]
                new.name_hint = argument.name_hint
                values[argument] = new
        end = body.last_op
        assert end is not None
        inside = Cursor.at_end(block, loop.location)
        self.operations([op for op in body.ops if op is not end], inside)
        inside.insert(scf.YieldOp(*(m.get(v, v) for m in self.maps for v in end.operands)))
        for row, values in enumerate(self.maps):
            for i, result in enumerate(loop.results):
                new = fused.results[row * width + i]
                new.name_hint = result.name_hint
                values[result] = new


def _last_stores(ops: Sequence[Operation]) -> dict[Operation, None]:
    """
    The stores that end a block, between which it only computes, if several are to one array: LLVM combines
    those to neighbouring elements, such as the parts of a complex number, if no other copy's are between.
    """
    found: list[llvm.StoreOp] = []
    for op in reversed(ops):
        if isinstance(op, llvm.StoreOp) and not is_ordered(op):
            found.append(op)
        elif op.regions or not only_computes(op):
            break
    bases = [base_of(op.ptr) for op in found]
    return dict.fromkeys(reversed(found)) if len(set(bases)) < len(bases) else {}


def body_of(loop: acc.LoopOp) -> Block:
    """The one block of a loop's body."""
    if len(loop.region.blocks) != 1:
        raise Declined("the loop's body has unstructured control flow")
    return loop.region.block


def copies_of_own(loop: acc.LoopOp, count: int) -> list[dict[SSAValue, SSAValue]]:
    """
    Gives the loop `count` copies of its private variables and reductions; returns, for each of `count`
    iterations that run side by side, the map from the first copy to its own.
    """
    maps: list[dict[SSAValue, SSAValue]] = [{} for _ in range(count)]
    clauses: dict[str, list[SSAValue]] = {
        "private_operands": [],
        "firstprivate_operands": [],
        "reduction_operands": [],
    }
    for clause, values in clauses.items():
        for value in getattr(loop, clause):
            owner = value.owner
            assert isinstance(owner, PRIVATIZING_OPS)
            copies = [value]
            for _ in range(1, count):
                owner = Cursor.after(owner).insert(owner.clone())
                copies.append(owner.acc_var)
            values += copies
            for known, copy in zip(maps, copies, strict=True):
                known[value] = copy
    if maps[0]:
        set_operand_groups(loop, **clauses)
    return maps


def check_body(inner: acc.LoopOp, reduced: Collection[SSAValue] = ()) -> None:
    """
    Raises `Declined` if copies of the body of `inner` may not be interleaved. `reduced`: its reductions, if
    each copy of the body will have its own.
    """
    own = [value for value in own_copies(inner) if value not in reduced]
    if own:
        raise Declined("the loop has variables of its own")
    for op in body_of(inner).walk():
        if isinstance(op, acc.LoopOp):
            raise Declined("the loop holds further loop directives")
        if op.name.startswith("acc.") and not isinstance(op, acc.YieldOp):
            raise Declined(f"the loop holds {op.name}")
        if (
            isinstance(op, llvm.StoreOp)
            and op.ptr not in reduced
            and is_private_outside(op.ptr, inner)
        ):
            raise Declined("the body stores to a variable that lives outside of it")
        if isinstance(op, llvm.CallOp) and any(
            isinstance(a.type, llvm.LLVMPointerType) and is_private_outside(a, inner)
            for a in op.args
        ):
            raise Declined("the body uses the old value of a variable that lives outside of it")


def is_private_outside(pointer: SSAValue, inner: acc.LoopOp) -> bool:
    """Whether `pointer` points into a thread-private variable that outlives an iteration."""
    pointer = base_of(pointer)
    owner = pointer.owner
    if isinstance(owner, Operation) and is_inside(owner, inner):
        return False
    if isinstance(owner, PrivatizingOp):
        return True
    return isinstance(variable_of(pointer).owner, llvm.AllocaOp) and isinstance(
        owner, llvm.AllocaOp
    )


def trip_count(cursor: Cursor, loop: acc.LoopOp) -> SSAValue:
    """The number of values, at least 0, that the first variable of a loop takes."""
    lower, upper, step = loop.lowerbound[0], loop.upperbound[0], loop.step[0]
    bounded = cursor.value(arith.MaxSIOp(upper, lower))
    distance = cursor.sub(bounded, lower)
    rounded = cursor.add(distance, cursor.sub(step, cursor.constant(1, step.type)))
    return cursor.value(arith.DivUIOp(rounded, step), "trips")


def set_bounds(cursor: Cursor, loop: acc.LoopOp, tiles: SSAValue) -> None:
    """
    Makes the first variable of a loop count from 0 to `tiles` by 1; bounds and steps of other variables
    remain, even those that are the same values.
    """
    zero, one = cursor.constant(0, tiles.type), cursor.constant(1, tiles.type)
    variables = len(loop.lowerbound)
    for group, new in enumerate((zero, tiles, one)):
        loop.operands[group * variables] = new


def explain(loop: acc.LoopOp, text: str) -> None:
    """Appends `text`, which says what was done or why not, to the reasons of `loop` for remarks."""
    why = loop.attributes.get(WHY)
    old = f"{why.data}; " if isinstance(why, StringAttr) else ""
    loop.attributes[WHY] = StringAttr(old + text)


def iteration_value(
    number: SSAValue, lower: SSAValue, step: SSAValue, variable: SSAValue, cursor: Cursor
) -> SSAValue:
    """The loop variable's value in iteration `number` (i64)."""
    assert isinstance(variable.type, IntegerType)
    value = number
    if variable.type != i64:
        narrow = llvm.TruncOp(number, variable.type)
        narrow.properties["overflowFlags"] = llvm.OverflowAttr((llvm.OverflowFlag.NO_SIGNED_WRAP,))
        value = cursor.value(narrow)
    if constant_value(step) != 1:
        value = cursor.value(arith.MuliOp(value, step, overflow=NSW))
    if constant_value(lower) != 0:
        value = cursor.value(arith.AddiOp(lower, value, overflow=NSW))
    value.name_hint = variable.name_hint
    return value
