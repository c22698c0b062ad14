"""
Lower the remaining acc operations in functions to sequential host code.

They are loops of constructs whose `if` clause is false, and routines compiled for the host: the local
thread runs them sequentially (OpenACC 3.4, 2.5.6, 2.15.1). Loops become `scf.for`, private variables stack
slots; reductions work on the variable itself; `cache` has no effect; `acc.routine` and the recipes, now
unused, are removed.

Takes:  IR without acc.parallel.
Leaves: no acc.loop, acc.private, acc.firstprivate, acc.reduction, acc.cache, acc.routine, recipes,
        and no operation that several threads carry out together.
Fails:  never.

Before:
  acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) { … acc.yield }
      attributes {independent = [#acc.device_type<none>]}
After:
  scf.for %i = %c0 to %n step %c1 : i32 { … }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..dialects.together import TogetherOp
from .ir.kernels.host_loops import HostLoopLowering
from .ir.ops.building import erase
from .ir.ops.side_by_side import separate
from .ir.variables.in_order import run_alone
from .ir.variables.recipe_reading import Recipes

_LEFT_OVER = (acc.LoopOp, acc.PrivateOp, acc.FirstprivateOp, acc.ReductionOp, acc.CacheOp)
_DECLARATIONS = (
    acc.RoutineOp,
    acc.PrivateRecipeOp,
    acc.FirstprivateRecipeOp,
    acc.ReductionRecipeOp,
)


def _needs_work(function: llvm.FuncOp) -> bool:
    return any(isinstance(op, _LEFT_OVER) for op in function.walk())


def _run_alone(function: llvm.FuncOp) -> None:
    """
    Makes operations that threads carry out together sequential, in routines whose device copies have
    already been made.
    """
    for together in [op for op in function.walk() if isinstance(op, TogetherOp)]:
        run_alone(together)


@dataclass(frozen=True)
class SpecializeAccForHostPass(ModulePass):
    """See the contract at the top of this file."""

    name = "specialize-acc-for-host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        declarations: list[Operation] = []
        recipes = Recipes(op)
        for top in list(op.body.block.ops):
            if isinstance(top, llvm.FuncOp):
                _run_alone(top)
            if isinstance(top, llvm.FuncOp) and _needs_work(top):
                for loop in [op for op in top.walk() if isinstance(op, acc.LoopOp)]:
                    separate(loop)
                HostLoopLowering(top, recipes).run(top.body)
            elif isinstance(top, _DECLARATIONS):
                declarations.append(top)
        for declaration in declarations:
            erase(declaration)
