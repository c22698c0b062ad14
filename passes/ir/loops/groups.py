"""
Groups: consecutive iterations of a loop that become one iteration, which accesses memory in wide words.

Shared by the passes that group: which loops can be grouped, how an index moves with the loop, and the frame
of the rewritten loop, which counts groups and tests whether a group is whole and its addresses are aligned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.accx import UNROLL
from ....dialects.accx_element import Index
from ....dialects.volatility import is_ordered
from ..ops.acc_ops import is_defined_inside, set_operand_groups
from ..ops.building import NSW, Cursor, constant_value, erase
from ..ops.expressions import is_arithmetic
from ..ops.purity import only_computes


def body_operations(loop: acc.LoopOp, most: int) -> list[Operation] | None:
    """
    The operations of a loop that can be grouped: one loop variable with step 1, no local variables,
    straight-line code of at most `most` operations. None for other loops.
    """
    if len(loop.lowerbound) != 1 or constant_value(loop.step[0]) != 1:
        return None
    if loop.private_operands or loop.firstprivate_operands or loop.reduction_operands:
        return None
    if len(loop.region.blocks) != 1:
        return None
    ops = [op for op in loop.region.block.ops if not isinstance(op, acc.YieldOp)]
    return ops if len(ops) <= most else None


def is_plain(op: Operation) -> bool:
    """Whether `op` only computes, or is a load or store that is neither volatile nor atomic."""
    if isinstance(op, llvm.LoadOp | llvm.StoreOp):
        return not is_ordered(op)
    return only_computes(op)


def reads_late(ops: Sequence[Operation]) -> bool:
    """Whether a load comes after a store, so that it might read what the iteration has just written."""
    stored = False
    for op in ops:
        stored = stored or isinstance(op, llvm.StoreOp)
        if stored and isinstance(op, llvm.LoadOp):
            return True
    return False


def direction(subscript: Index, loop: acc.LoopOp) -> int:
    """
    1 if `subscript` is the loop variable plus an invariant, -1 if it is an invariant minus the loop
    variable, else 0.
    """
    width = subscript.value.type
    widened = subscript.unsigned and width != i64
    return 0 if widened else _direction(subscript.value, loop)


def _direction(index: SSAValue, loop: acc.LoopOp) -> int:
    if index is loop.region.block.args[0]:
        return 1
    owner = index.owner
    if isinstance(owner, arith.ExtSIOp):
        return _direction(owner.operands[0], loop)
    if isinstance(owner, arith.AddiOp | arith.SubiOp):
        left, right = owner.operands
        if _is_fixed(right, loop):
            return _direction(left, loop)
        if _is_fixed(left, loop):
            sign = -1 if isinstance(owner, arith.SubiOp) else 1
            return sign * _direction(right, loop)
    return 0


def _is_fixed(value: SSAValue, loop: acc.LoopOp) -> bool:
    """Whether `value` is the same in all iterations."""

    def is_leaf(part: SSAValue) -> bool:
        return not is_defined_inside(part, loop) or constant_value(part) is not None

    return is_arithmetic(value, is_leaf)


@dataclass(frozen=True)
class Frame:
    """
    A loop over groups of `size` iterations whose body is being rewritten. `first` is the first iteration of
    a group, `left` the number of iterations from there on; both are computed at `at`.
    """

    loop: acc.LoopOp
    size: int
    body: tuple[Operation, ...]
    groups: SSAValue
    first: SSAValue
    left: SSAValue
    whole: SSAValue
    at: Cursor

    @property
    def variable(self) -> SSAValue:
        """The loop variable: an iteration number in the old body, a group number in the new one."""
        return self.loop.region.block.args[0]

    @staticmethod
    def of(loop: acc.LoopOp, size: int) -> Frame:
        """The frame of `loop`; the old body stays before the code inserted at `at`."""
        block = loop.region.block
        variable = block.args[0]
        type = variable.type
        assert isinstance(type, IntegerType) and block.last_op is not None
        body = tuple(op for op in block.ops if not isinstance(op, acc.YieldOp))
        lower, upper = loop.lowerbound[0], loop.upperbound[0]
        before = Cursor.before(loop)
        trips = before.sub(before.value(arith.MaxSIOp(upper, lower)), lower, "trips")
        # Rounded up without an overflow: the last group is whatever is left.
        count = before.constant(size, type)
        whole_groups = before.value(arith.DivUIOp(trips, count))
        rest = before.value(arith.RemUIOp(trips, count))
        some = before.value(arith.MinUIOp(rest, before.constant(1, type)))
        groups = before.value(arith.AddiOp(whole_groups, some), "groups")

        at = Cursor.before(block.last_op, loop.location)
        length = at.constant(size, type)
        first = at.value(arith.MuliOp(variable, length, overflow=NSW))
        if constant_value(lower) != 0:
            first = at.value(arith.AddiOp(lower, first, overflow=NSW), "first")
        left = at.value(arith.SubiOp(upper, first, overflow=NSW), "left")
        whole = at.value(arith.CmpiOp(left, length, "sge"), "whole")
        return Frame(loop, size, body, groups, first, left, whole, at)

    def aligned(self, addresses: Iterable[tuple[SSAValue, int]]) -> SSAValue:
        """An i1: the group is whole and each address is a multiple of the number paired with it."""
        at = self.at
        together: dict[int, SSAValue] = {}
        for address, bytes in addresses:
            number = at.value(llvm.PtrToIntOp(address, i64))
            together[bytes] = at.any_bits(together.get(bytes), number)
        whole = self.whole
        for bytes, bits in together.items():
            whole = at.both(whole, at.is_multiple(bits, bytes, "aligned"), "whole")
        return whole

    def copy(self, value: SSAValue, iteration: SSAValue) -> SSAValue:
        """A copy of `value`, which the body computes, for `iteration`."""
        at, variable = self.at, self.variable
        values: dict[SSAValue, SSAValue] = {variable: iteration}

        def visit(value: SSAValue) -> SSAValue:
            owner = value.owner
            if value in values or not isinstance(owner, Operation):
                return values.get(value, value)
            if owner.parent_block() is not variable.owner:
                return value
            clone = owner.clone({operand: visit(operand) for operand in owner.operands})
            values[value] = at.value(clone, value.name_hint)
            return values[value]

        return visit(value)

    def indices(self, at: Cursor) -> list[SSAValue]:
        """The iteration numbers of a whole group, computed at `at`."""
        found = [self.first]
        for number in range(1, self.size):
            distance = at.constant(number, self.first.type)
            index = arith.AddiOp(self.first, distance, overflow=NSW)
            found.append(at.value(index, self.variable.name_hint))
        return found

    def one_by_one(self, at: Cursor) -> None:
        """Emits, for a group that is not whole or not aligned, a loop over the original body."""
        type = self.first.type
        last = at.value(arith.MinSIOp(self.left, at.constant(self.size, type)))
        past = at.value(arith.AddiOp(self.first, last, overflow=NSW), "past")
        loop, each = at.for_loop(self.first, past, at.constant(1, type), "i")
        loop.attributes[UNROLL] = IntegerAttr(1, i32)
        index = each.point.block.args[0]
        index.name_hint = self.variable.name_hint
        copy_all(self.body, {self.variable: index}, each)

    def finish(self) -> None:
        """Removes the old body; from now on the loop counts groups."""
        for op in reversed(self.body):
            erase(op)
        self.variable.name_hint = "group"
        before = Cursor.before(self.loop)
        zero = before.constant(0, self.first.type)
        set_operand_groups(self.loop, lowerbound=[zero], upperbound=[self.groups])


def copy_all(ops: Sequence[Operation], values: dict[SSAValue, SSAValue], at: Cursor) -> None:
    """Clones `ops` at `at`; `values` maps operands and gains the results."""
    for op in ops:
        at.clone(op, values)
