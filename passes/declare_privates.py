"""
Declare the private scalars of loops in the loops' bodies.

`double t;` before a nest, with or without `private(t)`, and `double t = …;` in its body are the same to a
program whose iterations assign `t` before they read it. Later passes meet the second form only, so that
both get the same tiles, wide accesses and products.

Takes:  data level.
Leaves: no private clause for a scalar on a loop; arrays and sections keep theirs, and so do scalars whose
        recipe gives them a first value. The variable becomes the values stored to it, as the front end does
        it for scalars of the body; it stays in memory if it may be read before it is assigned, or a loop
        with a directive assigns or reduces it.
Fails:  never.

Before:
  %copy = acc.private varPtr(%t : !llvm.ptr) varType(f64) recipe(@private_f64) -> !llvm.ptr
  acc.loop private(%copy : !llvm.ptr) control(%i : i32) = … {
    llvm.store %value, %copy
    %sum = llvm.load %copy
    … %sum …
  }
After:
  acc.loop control(%i : i32) = … {
    … %value …
  }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .ir.ops.acc_ops import is_scalar
from .ir.variables.declared_privates import declare_privates
from .ir.variables.promotion import promote
from .ir.variables.recipe_reading import Recipes


@dataclass(frozen=True)
class DeclarePrivatesPass(ModulePass):
    """See the module's description."""

    name = "declare-privates"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        recipes = Recipes(op)

        def is_declared(entry: acc.PrivateOp) -> bool:
            return is_scalar(entry.var_type) and recipes.copies(entry).is_plain

        loops = [inner for inner in op.walk() if isinstance(inner, acc.LoopOp)]
        for loop in reversed(loops):
            for variable in declare_privates(loop, is_declared):
                promote(variable)
