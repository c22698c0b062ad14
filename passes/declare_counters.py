"""
Declare counters and pointers that loops advance in the iterations that begin them.

`int k;` before a nest and `k = i * m;` in it, as in C89, or `int k = i * m;` in the nest are the same to
a program that does not use `k` otherwise. Later passes meet the second form only, in which loops that count
by `k`, or access `a[k]` and then advance it, are read like others: as counted loops, by subscripts.

Takes:  acc level.
Leaves: in compute constructs, scalar integers and pointers from outside, or of a private clause, to which
        some statement adds something (`k++`, `p += n`), are values of the innermost loop around all their
        accesses of which no iteration reads them before it sets them, and after which they are not used. A
        variable that a clause names otherwise stays as it is, as do those that loops with directives assign
        inside that loop.
Fails:  never.

Before:
  acc.loop control(%i : i32) = … {
    llvm.store %first, %k
    scf.for %j = … { … %0 = llvm.load %k … llvm.store %0 + 1, %k }
  }
After:
  acc.loop control(%i : i32) = … {
    scf.for %j = … iter_args(%k = %first) { … scf.yield %k + 1 }
  }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ..compiler.base.names import value_name
from ..dialects.volatility import is_ordered
from .ir.ops.acc_ops import COMPUTE_OPS, is_inside, is_scalar, operations_around, variable_name
from .ir.ops.building import Cursor, erase
from .ir.values.addresses import ADDRESS_OPS
from .ir.variables.declared_privates import declare_privates
from .ir.variables.function_scalars import global_scalars
from .ir.variables.promotion import promote
from .ir.variables.recipe_reading import Recipes
from .ir.variables.scalar_flow import ScalarFlow

Access = llvm.LoadOp | llvm.StoreOp
Loop = acc.LoopOp | scf.ForOp


def _accesses(variable: SSAValue, construct: Operation) -> list[Access] | None:
    """The accesses to a variable in a construct; None if it is used there in another way."""
    found: list[Access] = []
    for use in variable.uses:
        op = use.operation
        if op is not construct and not is_inside(op, construct):
            continue
        if isinstance(op, acc.LoopOp) and variable in op.private_operands:
            continue
        match op:
            case llvm.LoadOp() if not is_ordered(op):
                found.append(op)
            case llvm.StoreOp() if use.index == 1 and not is_ordered(op):
                found.append(op)
            case _:
                return None
    return found


def _advances(op: Access) -> bool:
    """Whether a store adds something to the variable that it stores to."""
    if not isinstance(op, llvm.StoreOp):
        return False
    by = op.value.owner
    operands: Sequence[SSAValue] = ()
    if isinstance(by, arith.AddiOp | arith.SubiOp):
        operands = by.operands
    elif isinstance(by, ADDRESS_OPS):
        operands = (by.ptr,)
    return any(isinstance(v.owner, llvm.LoadOp) and v.owner.ptr is op.ptr for v in operands)


def _loops_around(op: Operation, scope: Operation) -> list[Loop]:
    """The loops around an operation, inside `scope`, outermost first."""
    return [each for each in operations_around(op, scope) if isinstance(each, Loop)][::-1]


@dataclass
class _Function:
    """Places the variables of a function's constructs."""

    flow: ScalarFlow

    def place(self, variable: SSAValue, accesses: list[Access], scope: Operation) -> None:
        """Declares a variable in the loops of `scope`, each for the accesses inside it."""
        inside: dict[Loop, list[Access]] = {}
        for op in accesses:
            around = _loops_around(op, scope)
            if around:
                inside.setdefault(around[0], []).append(op)
        for loop, its in inside.items():
            home = self._home(variable, its, loop)
            if home is None:
                self.place(variable, its, loop)
            elif any(map(_advances, its)):
                _declare(variable, its, home)

    def _home(self, variable: SSAValue, accesses: list[Access], loop: Loop) -> Loop | None:
        """The innermost loop, `loop` or in it, around all accesses whose iterations may have the variable."""
        around = [_loops_around(op, loop) for op in accesses]
        common = [loop]
        for level in zip(*around, strict=False):
            if any(each is not level[0] for each in level):
                break
            common.append(level[0])
        return next((each for each in reversed(common) if self._may_have(each, variable)), None)

    def _may_have(self, loop: Loop, variable: SSAValue) -> bool:
        region = loop.regions[0]
        return (
            len(region.blocks) == 1
            and not self.flow.reads_first(loop, variable)
            and not self.flow.is_live_after(loop, variable)
        )


def _declare(variable: SSAValue, accesses: list[Access], home: Loop) -> None:
    """Makes a variable the value of an iteration of `home`, if that is possible."""
    loads = [op for op in accesses if isinstance(op, llvm.LoadOp)]
    stores = [op for op in accesses if isinstance(op, llvm.StoreOp)]
    type = stores[0].value.type
    if any(each != type for each in _types(loads, stores)):
        return
    first = home.regions[0].block.first_op
    assert first is not None
    at = Cursor.before(first, home.location)
    before = first.prev_op
    own = at.alloca(type, value_name(variable_name(variable)))
    for op in accesses:
        op.operands[1 if isinstance(op, llvm.StoreOp) else 0] = own
    assert isinstance(own.owner, llvm.AllocaOp)
    if promote(own.owner):
        return
    for op in accesses:
        op.operands[1 if isinstance(op, llvm.StoreOp) else 0] = variable
    while first.prev_op is not before:
        added = first.prev_op
        assert added is not None
        erase(added)


def _types(loads: list[llvm.LoadOp], stores: list[llvm.StoreOp]) -> Iterator[Attribute]:
    yield from (op.dereferenced_value.type for op in loads)
    yield from (op.value.type for op in stores)


def _is_candidate(variable: SSAValue, type: Attribute, construct: Operation) -> bool:
    """Whether a scalar of a construct is one that loops advance, and is only loaded and stored there."""
    if not is_scalar(type) or not isinstance(type, IntegerType | llvm.LLVMPointerType):
        return False
    accesses = _accesses(variable, construct)
    return accesses is not None and any(map(_advances, accesses))


def _variables(construct: Operation) -> Iterator[tuple[SSAValue, Attribute]]:
    """The local variables from outside a construct that it advances."""
    found: dict[SSAValue, Attribute] = {}
    for op in construct.walk():
        owner = op.ptr.owner if isinstance(op, llvm.StoreOp) else None
        if isinstance(owner, llvm.AllocaOp) and not is_inside(owner, construct):
            found[owner.res] = owner.elem_type
    return ((v, t) for v, t in found.items() if _is_candidate(v, t, construct))


def _privates(
    construct: Operation, recipes: Recipes
) -> Iterator[tuple[acc.LoopOp, list[acc.PrivateOp]]]:
    """The private scalars of loops that they advance."""
    for loop in [op for op in construct.walk() if isinstance(op, acc.LoopOp)]:
        entries = [
            entry
            for value in loop.private_operands
            if isinstance(entry := value.owner, acc.PrivateOp)
            and not entry.bounds
            and _is_candidate(value, entry.var_type, construct)
            and recipes.copies(entry).is_plain
        ]
        if entries:
            yield loop, entries


def declare_counters(function: llvm.FuncOp, module: ModuleOp) -> None:
    """Declares the counters of a function's constructs where they belong."""
    constructs = [op for op in function.walk() if isinstance(op, COMPUTE_OPS)]
    recipes = Recipes(module)
    for construct in constructs:
        for loop, entries in reversed(list(_privates(construct, recipes))):
            for variable in declare_privates(loop, lambda entry, its=entries: entry in its):
                promote(variable)
    found = [(construct, list(_variables(construct))) for construct in constructs]
    if not any(variables for _, variables in found):
        return
    placed = _Function(ScalarFlow(function, global_scalars(module)))
    for construct, variables in found:
        for variable, _ in variables:
            accesses = _accesses(variable, construct)
            if accesses:
                placed.place(variable, accesses, construct)


@dataclass(frozen=True)
class DeclareCountersPass(ModulePass):
    """See the contract at the top of this file."""

    name = "declare-counters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in list(op.body.block.ops):
            if isinstance(function, llvm.FuncOp) and function.body.blocks:
                declare_counters(function, op)
