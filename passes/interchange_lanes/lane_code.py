"""Emits the body of a loop over lanes: the values of one lane, and operations under a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.fixed_values import computed_before, is_fixed

if TYPE_CHECKING:
    from .interchange_lanes import Interchange

_NO_WRAP = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))


class Lane:
    """Emits code for lane `lane` at `at`, in the loop over the lanes of `parent`."""

    def __init__(self, parent: Interchange, lane: SSAValue, at: Cursor):
        self.parent = parent
        self.at = at
        assert parent.block is not None
        self.index = lane
        loop = at.point.block.parent_op()
        assert loop is not None
        self.loop = loop
        variable = at.value(arith.AddiOp(parent.block, lane, overflow=_NO_WRAP), "i")
        self.values: dict[SSAValue, SSAValue] = {parent.loop.body.block.args[0]: variable}

    def element(self, array: SSAValue, type_: Attribute) -> SSAValue:
        """Loads the lane's element of an array with one element per lane."""
        return self.at.element(array, self.at.to_i64(self.index), type_)

    def value(self, value: SSAValue) -> SSAValue:
        """The value of `value` in this lane."""
        known = self.values.get(value)
        if known is not None:
            return known
        if value not in self.parent.varying:
            return self.parent.alike.get(value, value)
        type_ = self.parent.varying.privates.get(value)
        if type_ is not None:
            found = self.element(self.parent.private_array(value, type_), type_)
        elif (array := self.parent.arrays.get(value)) is not None:
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
        if isinstance(op, arith.MuliOp):
            mapping = {operand: self._factor(operand, value) for operand, value in mapping.items()}
        copy = self.at.clone(op, mapping)
        self.values.update(zip(op.results, copy.results, strict=True))

    def _factor(self, operand: SSAValue, value: SSAValue) -> SSAValue:
        """
        The value of a factor. One that all lanes have is disguised as a sum: LLVM, when it takes it for the
        distance of neighbouring lanes, would make the vectorised loop only for a distance of one. It is
        computed before the loop over the lanes also where a branch computes it.
        """
        alike = operand not in self.parent.varying and constant_value(operand) is None
        if not alike or not is_fixed(value, self.loop):
            return value
        before, zero = Cursor.before(self.loop), self.parent.hidden_zero(value.type)
        return before.value(arith.AddiOp(computed_before(value, self.loop), zero), "distance")

    def unmasked(self, op: Operation) -> None:
        """
        Emits `op`, which all lanes run, for this lane; branches on private variables become selects, so
        that these stay in registers.
        """
        privates = self.parent.varying.privates
        if isinstance(op, scf.IfOp) and any(o in privates for i in op.walk() for o in i.operands):
            self.masked(op, self.at.constant(1, i1))
        else:
            self.copy(op)

    # Code under a mask, which tells whether the lane is active.

    def both(self, mask: SSAValue, condition: SSAValue) -> SSAValue:
        """`mask` and `condition`, which may be undefined where the mask is false."""
        never = self.at.constant(0, i1)
        return self.at.value(arith.SelectOp(mask, condition, never), "mask")

    def but_not(self, mask: SSAValue, condition: SSAValue) -> SSAValue:
        """`mask` and not `condition`, which may be undefined where the mask is false."""
        never = self.at.constant(0, i1)
        other = self.at.value(arith.SelectOp(condition, never, mask))
        return self.both(mask, other)

    def keep(self, mask: SSAValue, value: SSAValue, array: SSAValue) -> None:
        """Stores `value` to the lane's element of `array` if the mask holds."""
        self._keep_at(mask, value, self.element(array, value.type))

    def _keep_at(self, mask: SSAValue, value: SSAValue, place: SSAValue) -> None:
        old = self.at.load(place, value.type)
        self.at.store(self.at.value(arith.SelectOp(mask, value, old)), place)

    def masked(self, op: Operation, mask: SSAValue) -> None:
        """Emits `op` with effects only if the mask holds; otherwise its results are undefined."""
        match op:
            case scf.IfOp():
                self._masked_if(op, mask)
            case llvm.LoadOp() if op.ptr not in self.parent.varying.privates:
                self.values[op.dereferenced_value] = self._masked_load(op, mask)
            case llvm.StoreOp() if op.ptr in self.parent.varying.privates:
                self._keep_at(mask, self.value(op.value), self.value(op.ptr))
            case llvm.StoreOp():
                for operand in op.operands:
                    self.value(operand)
                outside, self.at = self.at, self.at.if_then(mask)
                self.copy(op)
                self.at = outside
            case _:
                self.copy(op)

    def _masked_load(self, op: llvm.LoadOp, mask: SSAValue) -> SSAValue:
        pointer, loaded = self.value(op.ptr), op.dereferenced_value
        (result,) = self.at.either(
            mask,
            lambda inside: [inside.value(op.clone({op.ptr: pointer}))],
            lambda other: [other.zero(loaded.type)],
            [loaded.name_hint],
        )
        return result

    def _masked_if(self, op: scf.IfOp, mask: SSAValue) -> None:
        condition = self.value(op.cond)
        yielded: list[list[SSAValue]] = []
        branches = ((op.true_region, self.both), (op.false_region, self.but_not))
        for region, narrower in branches:
            if not region.blocks:
                continue
            inner = narrower(mask, condition)
            *ops, end = region.block.ops
            for each in ops:
                self.masked(each, inner)
            yielded.append([self.value(value) for value in end.operands])
        if op.results:
            for result, yes, no in zip(op.results, *yielded, strict=True):
                chosen = arith.SelectOp(condition, yes, no)
                self.values[result] = self.at.value(chosen, result.name_hint)


def _defined_outside(value: SSAValue, ops: set[Operation]) -> bool:
    owner = value.owner
    defining = owner.parent_op() if isinstance(owner, Block) else owner
    return defining not in ops
