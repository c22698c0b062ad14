"""
Make comparisons that keep a reduced maximum or minimum one operation each, on the host target.

LLVM runs a loop that keeps a maximum of floating-point numbers in SIMD lanes if it sees an operation that
ignores NaN, but not if it sees a comparison and a choice: `m = x > m ? x : m`, `m = MAX(m, x)` or
`if (x > m) m = x` keep the order of the iterations, as their result can depend on it where there are NaN or
zeros of both signs.

That order is free for a variable of a `reduction` clause (OpenACC 3.4, 2.9.11), and no order needs to keep a
NaN: copies start with an infinity, which the comparison with any number replaces, also in the forms in which
a NaN once replaces the old value (`m > x ? m : x`), if iterations with NaN come first. GPUs run iterations
by other threads, with the comparisons as written.

Takes:  scheduled IR. Considers floating-point variables of `acc.reduction` by `max` and `min`, all uses of
        which in the loop are such updates.
Leaves: `arith.maxnumf` or `arith.minnumf` of the old value and the other one, of the same type. Comparisons
        in another type than the variable's stay.
Fails:  never.

Before:
  %greater = arith.cmpf ogt, %x, %old : f64
  %new = arith.select %greater, %x, %old : f64
After:
  %new = arith.maxnumf %old, %x : f64

Options: `target` (`gpu`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from .decisions.schedule import Target
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.building import Cursor, erase
from .ir.ops.machine import machine_of
from .ir.variables.reduction_forms import Comparison, choices_of

_OPERATIONS: dict[acc.ReductionOpKind, type[arith.MaxnumfOp | arith.MinnumfOp]] = {
    acc.ReductionOpKind.MAX: arith.MaxnumfOp,
    acc.ReductionOpKind.MIN: arith.MinnumfOp,
}


def accesses_of(reduction: acc.ReductionOp) -> list[Operation]:
    """The operations that use the copies of a reduction variable, except for clauses."""
    uses = (use.operation for use in reduction.acc_var.uses)
    return [op for op in uses if not isinstance(op, acc.LoopOp | acc.ParallelOp)]


def is_operation(choice: Comparison) -> bool:
    """Whether one operation has the result of `choice`: all its values are floating-point, of one type."""
    result = choice.store.value if choice.result is None and choice.store else choice.result
    assert result is not None
    type_ = result.type
    return isinstance(type_, AnyFloat) and type_ == choice.old.type == choice.other.type


@dataclass(frozen=True)
class CombineExtremesPass(ModulePass):
    """See the file's docstring."""

    name = "combine-extremes"

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if (self.target or machine_of(op).target) != "host":
            return
        for construct in parallel_constructs(op):
            for reduction in [r for r in construct.walk() if isinstance(r, acc.ReductionOp)]:
                choices = choices_of(accesses_of(reduction))
                if all(map(is_operation, choices)):
                    for choice in choices:
                        _combine(choice)


def _combine(choice: Comparison) -> None:
    if choice.chosen.parent is None:
        return  # a macro's second copy of an operand, erased with the branch around it
    at = Cursor.before(choice.chosen)
    value: SSAValue = at.value(_OPERATIONS[choice.kind](choice.old, choice.other))
    if choice.result is not None:
        value.name_hint = choice.result.name_hint
        choice.result.replace_all_uses_with(value)
    elif choice.store is not None:
        at.insert(llvm.StoreOp(value, choice.store.ptr))
        erase(choice.store)
    if not any(result.uses for result in choice.chosen.results):
        erase(choice.chosen)
