"""
Let parallel loops that count down count up, as their iterations have no order (OpenACC 3.4, 2.9.1).

Takes:  data level.
Leaves: no variable of a parallel loop by 1 that is only subtracted from values known before the loop and
        begins at 0, or is only subtracted from -1: the front end's forms of `for (i = n - 1; i >= 0; i--)`
        and `for (i = n; i > m; i--)`. Iterations are numbered from the other end. Loops that reduce, or
        whose gangs take chunks in a given order, are untouched.
Fails:  never.

Before:
  acc.loop control(%t : i64) = (%c0 : i64) to (%count : i64) step (%c1 : i64) {
    %i = arith.subi %first, %t : i64
  }
After:
  %last = arith.subi %count, %c1 : i64
  %below = arith.subi %last, %first : i64
  acc.loop control(%t : i64) = (%c0 : i64) to (%count : i64) step (%c1 : i64) {
    %i = arith.subi %t, %below : i64
  }

Before, and after:
  acc.loop control(%t : i32) = (%not_first : i32) to (%end : i32) step (%c1 : i32) {
    %i = arith.subi %minus1, %t : i32
  }

  %low = arith.subi %minus1, %end : i32
  %first = arith.subi %minus1, %not_first : i32
  acc.loop control(%t : i32) = (%low : i32) to (%first : i32) step (%c1 : i32) {
    %i = arith.addi %t, %c1 : i32
  }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from .ir.ops.acc_ops import has_level, is_defined_inside, set_operand_groups
from .ir.ops.building import NSW, Cursor, constant_value, erase
from .ir.ops.fixed_values import computed_before, is_fixed


def _differences(loop: acc.LoopOp, variable: SSAValue) -> list[arith.SubiOp] | None:
    """The subtractions of a loop's variable from values known before it; None if it has other uses."""
    found: list[arith.SubiOp] = []
    for use in variable.uses:
        op = use.operation
        if not isinstance(op, arith.SubiOp) or use.index != 1 or not is_fixed(op.lhs, loop):
            return None
        found.append(op)
    return found


def turn(loop: acc.LoopOp, position: int) -> None:
    """Makes the loop's variable number `position` count up, if it counts down."""
    lower, upper, step = (
        values[position] for values in (loop.lowerbound, loop.upperbound, loop.step)
    )
    variable = loop.region.block.args[position]
    found = _differences(loop, variable)
    if not found or constant_value(step) != 1:
        return
    if constant_value(lower) != 0:
        if all(constant_value(op.lhs) == -1 for op in found):
            _turn_complement(loop, position, found)
        return
    at = Cursor.before(loop)
    last = at.value(arith.SubiOp(upper, at.constant(1, upper.type), overflow=NSW))
    for op in found:
        first = computed_before(op.lhs, loop)
        below = at.value(arith.SubiOp(last, first, overflow=NSW), "below")
        inside = Cursor.before(op)
        value = inside.value(
            arith.SubiOp(variable, below, overflow=op.overflow_flags), op.result.name_hint
        )
        op.result.replace_all_uses_with(value)
        erase(op)


def _turn_complement(loop: acc.LoopOp, position: int, found: list[arith.SubiOp]) -> None:
    """
    Makes a variable that `found` subtract from -1 count up, from one below the least difference: a range that
    begins there exceeds no type, as C's loop ends above the least number.
    """
    at, variable = Cursor.before(loop), loop.region.block.args[position]
    minus1 = at.constant(-1, variable.type)
    lower, upper = list(loop.lowerbound), list(loop.upperbound)
    ends = (lower[position], upper[position])
    upper[position], lower[position] = (
        at.value(arith.SubiOp(minus1, end, overflow=NSW)) for end in ends
    )
    set_operand_groups(loop, lowerbound=lower, upperbound=upper)
    for op in found:
        inside = Cursor.before(op)
        one = inside.constant(1, variable.type)
        value = arith.AddiOp(variable, one, overflow=op.overflow_flags)
        op.result.replace_all_uses_with(inside.value(value, op.result.name_hint))
        erase(op)


def _may_turn(loop: acc.LoopOp) -> bool:
    """Whether no clause depends on the order in which a loop's iterations are numbered."""
    return (
        len(loop.region.blocks) == 1
        and not has_level(loop.seq)
        and not has_level(loop.auto_)
        and not loop.reduction_operands
        and not loop.gang_operands
        and not (loop.inclusive_upperbound and any(loop.inclusive_upperbound.get_values()))
        and not any(is_defined_inside(value, loop) for value in loop.upperbound)
    )


@dataclass(frozen=True)
class TurnLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "turn-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [inner for inner in op.walk() if isinstance(inner, acc.LoopOp)]:
            if _may_turn(loop):
                for position in range(len(loop.region.block.args)):
                    turn(loop, position)
