"""
Forms of acc-level IR that MLIR's dialects allow and this compiler's passes do not expect, in its own form
(docs/design.md, "acc level").

- Regions of recipes may end with `acc.terminator`; here they end with `acc.yield`.
- Accesses by subscripts may be `llvm.getelementptr`; here they are `accx.element`.
- The bounds of an `acc.loop` may be inclusive, and its steps negative, as in Fortran's loops. Here a loop
  counts up to an exclusive bound.

Before:
  acc.loop control(%i : i32) = (%a : i32) to (%b : i32) step (%s : i32) { … %i … }
      attributes {inclusiveUpperbound = array<i1: true>}
After:
  %n = <number of iterations>
  acc.loop control(%k : i64) = (%zero : i64) to (%n : i64) step (%one : i64) { %i = %a + %k * %s … %i … }
"""

from __future__ import annotations

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from ...dialects.accx import NEXT_PASS, STAGE, VERSION
from ...dialects.accx_element import ElementOp, Index

_FIRST = StringAttr("acc")
_RECIPES = (acc.PrivateRecipeOp, acc.FirstprivateRecipeOp, acc.ReductionRecipeOp)


def bring_to_form(module: ModuleOp) -> None:
    """Rewrites the operations above in `module`, if it is at the acc level."""
    stage = module.attributes.get(STAGE, _FIRST)
    if stage != _FIRST or NEXT_PASS in module.attributes:
        return
    for op in list(module.walk()):
        if isinstance(op, acc.TerminatorOp) and isinstance(op.parent_op(), _RECIPES):
            Rewriter.replace_op(op, acc.YieldOp())
        elif isinstance(op, acc.LoopOp) and op.lowerbound:
            _count_up(op, VERSION not in module.attributes)
        elif isinstance(op, llvm.GEPOp) and _has_subscripts(op):
            _name_element(op)


def _has_subscripts(op: llvm.GEPOp) -> bool:
    """Whether it selects by several computed values, or by a narrow one within an array."""
    indices = len(op.rawConstantIndices.get_values())
    return len(op.ssa_indices) > 1 or (indices > 1 and any(v.type != i64 for v in op.ssa_indices))


def _name_element(op: llvm.GEPOp) -> None:
    values = iter(op.ssa_indices)
    indices = op.rawConstantIndices.get_values()
    path = [Index(next(values)) if i == llvm.GEP_USE_SSA_VAL else i for i in indices]
    inside = op.elem_type
    while len(path) > 1 and path[0] == 0 and isinstance(inside, llvm.LLVMArrayType):
        del path[0]
        inside = inside.type
    element = ElementOp(op.ptr, path, inside)
    try:
        element.verify_()
    except VerifyException:
        # What it selects is no element: the checker of the level refuses the operation.
        element.erase()
        return
    element.location = op.location
    Rewriter.replace_op(op, element)


def _constant(value: SSAValue) -> int | None:
    """The number that `value` is, if it is a constant."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp | llvm.ConstantOp) and isinstance(
        owner.value, IntegerAttr
    ):
        return owner.value.value.data
    return None


def _count_up(loop: acc.LoopOp, from_elsewhere: bool) -> None:
    """`from_elsewhere`: a step that is not constant may be negative; this compiler's own are positive."""
    inclusive = loop.inclusive_upperbound
    ends = [bool(v) for v in inclusive.get_values()] if inclusive is not None else []
    ends += [False] * (len(loop.lowerbound) - len(ends))
    block = loop.region.blocks[0]
    ranges = list(zip(loop.lowerbound, loop.upperbound, loop.step, ends, strict=True))
    changed = [_is_foreign(step, end, from_elsewhere) for _, _, step, end in ranges]
    if len(block.args) != len(ranges) or not any(changed):
        return
    lower: list[SSAValue] = []
    upper: list[SSAValue] = []
    steps: list[SSAValue] = []
    before = _Arithmetic(InsertPoint.before(loop))
    inside = _Arithmetic(InsertPoint.at_start(block))
    for i, (low, high, step, end) in enumerate(ranges):
        if changed[i]:
            wide = before.widened(low), before.widened(high), before.widened(step)
            _replace_variable(block, i, wide[0], wide[2], inside)
            high = before.iterations(*wide, end)
            low, step = before.constant(0), before.constant(1)
        lower.append(low)
        upper.append(high)
        steps.append(step)
    loop.operands = [*lower, *upper, *steps, *loop.operands[3 * len(ranges) :]]
    loop.properties["inclusiveUpperbound"] = DenseArrayBase.from_list(i1, [0] * len(ranges))


def _is_foreign(step: SSAValue, inclusive: bool, from_elsewhere: bool) -> bool:
    known = _constant(step)
    negative = from_elsewhere if known is None else known < 0
    return isinstance(step.type, IntegerType) and known != 0 and (inclusive or negative)


def _replace_variable(
    block: Block, index: int, low: SSAValue, step: SSAValue, at: _Arithmetic
) -> None:
    """Makes the variable of a loop a counter, from which its uses compute `low + counter * step`."""
    old = block.args[index]
    counter = block.insert_arg(i64, index)
    value = at.add(arith.AddiOp, low, at.add(arith.MuliOp, counter, step))
    if isinstance(old.type, IntegerType) and old.type != i64:
        value = at.insert(arith.TruncIOp(value, old.type)).results[0]
    value.name_hint, counter.name_hint = old.name_hint, "counter"
    old.replace_all_uses_with(value)
    block.erase_arg(old)


_Kind = type[arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.DivUIOp]


class _Arithmetic:
    """Operations on i64 values, inserted at one point."""

    def __init__(self, at: InsertPoint):
        self._at = at

    def insert(self, op: Operation) -> Operation:
        """Inserts `op` after those before, with the location of the operation at the point."""
        if self._at.insert_before is not None:
            op.location = self._at.insert_before.location
        Rewriter.insert_op(op, self._at)
        return op

    def constant(self, value: int) -> SSAValue:
        return self.insert(arith.ConstantOp(IntegerAttr(value, i64))).results[0]

    def add(self, kind: _Kind, one: SSAValue, other: SSAValue) -> SSAValue:
        """The result of an operation of class `kind` on two values."""
        return self.insert(kind(one, other)).results[0]

    def widened(self, value: SSAValue) -> SSAValue:
        """`value` as an i64, which keeps its sign."""
        known = _constant(value)
        if known is not None:
            return self.constant(known)
        return value if value.type == i64 else self.insert(arith.ExtSIOp(value, i64)).results[0]

    def _choose(self, condition: SSAValue, one: SSAValue, other: SSAValue) -> SSAValue:
        return self.insert(arith.SelectOp(condition, one, other)).results[0]

    def iterations(
        self, low: SSAValue, high: SSAValue, step: SSAValue, inclusive: bool
    ) -> SSAValue:
        """The number of iterations from `low` to `high`; the distance is unsigned, as it may be 2^63."""
        numbers = [_constant(value) for value in (low, high, step)]
        zero = self.constant(0)
        down = numbers[2] is not None and numbers[2] < 0
        if numbers[2] is None:
            backwards = self.insert(arith.CmpiOp(step, zero, "slt")).results[0]
            low, high = self._choose(backwards, high, low), self._choose(backwards, low, high)
            step = self._choose(backwards, self.add(arith.SubiOp, zero, step), step)
        elif down:
            low, high, step = high, low, self.constant(-numbers[2])
        runs = self.insert(arith.CmpiOp(low, high, "sle" if inclusive else "slt")).results[0]
        one = self.constant(1)
        distance = self.add(arith.SubiOp, high, low)
        if not inclusive:
            distance = self.add(arith.SubiOp, distance, one)
        number = self.add(arith.AddiOp, self.add(arith.DivUIOp, distance, step), one)
        return self._choose(runs, number, zero)
