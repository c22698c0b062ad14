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


Uses = dict[SSAValue, list[tuple[Operation, int]]]


def _uses(construct: Operation) -> Uses:
    """The uses in a construct of variables from outside, and of the private copies of its loops."""
    found: Uses = {}
    outside: dict[Operation, bool] = {}
    for op in construct.walk():
        for number, operand in enumerate(op.operands):
            owner = operand.owner
            if not isinstance(owner, llvm.AllocaOp | acc.PrivateOp):
                continue
            if owner not in outside:
                outside[owner] = isinstance(owner, acc.PrivateOp) or not is_inside(owner, construct)
            if outside[owner]:
                found.setdefault(operand, []).append((op, number))
    return found


def _accesses(uses: list[tuple[Operation, int]]) -> list[Access] | None:
    """The accesses to a variable that these are all uses of; None if it is used in another way."""
    found: list[Access] = []
    for op, number in uses:
        match op:
            case llvm.LoadOp() if not is_ordered(op):
                found.append(op)
            case llvm.StoreOp() if number == 1 and not is_ordered(op):
                found.append(op)
            case acc.LoopOp() if op.operands[number] in op.private_operands:
                pass
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


@dataclass(frozen=True)
class _Places:
    """Finds the loops whose iterations may have a variable."""

    flow: ScalarFlow

    def of(
        self, variable: SSAValue, accesses: list[Access], scope: Operation
    ) -> Iterator[tuple[Loop, list[Access]]]:
        """The loops in `scope` to declare a variable in, each with the accesses inside it."""
        inside: dict[Loop, list[Access]] = {}
        for op in accesses:
            around = _loops_around(op, scope)
            if around:
                inside.setdefault(around[0], []).append(op)
        for loop, its in inside.items():
            home = self._home(variable, its, loop)
            if home is None:
                yield from self.of(variable, its, loop)
            elif any(map(_advances, its)):
                yield home, its

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


def _counters(uses: Uses) -> dict[SSAValue, list[Access]]:
    """The accesses to the scalars that a construct advances, and only loads and stores."""
    found: dict[SSAValue, list[Access]] = {}
    for variable, its in uses.items():
        owner = variable.owner
        type = owner.elem_type if isinstance(owner, llvm.AllocaOp) else None
        if isinstance(owner, acc.PrivateOp) and not owner.bounds:
            type = owner.var_type
        if type is None or not is_scalar(type):
            continue
        accesses = _accesses(its) if isinstance(type, IntegerType | llvm.LLVMPointerType) else None
        if accesses is not None and any(map(_advances, accesses)):
            found[variable] = accesses
    return found


def declare_counters(function: llvm.FuncOp, module: ModuleOp) -> None:
    """Declares the counters of a function's constructs where they belong."""
    constructs = [op for op in function.walk() if isinstance(op, COMPUTE_OPS)]
    counters = {construct: _counters(_uses(construct)) for construct in constructs}
    if not any(counters.values()):
        return
    recipes, places = Recipes(module), _Places(ScalarFlow(function, global_scalars(module)))
    homes: dict[Loop, list[tuple[SSAValue, list[Access]]]] = {}
    for construct, its in counters.items():
        for variable, accesses in its.items():
            if isinstance(variable.owner, llvm.AllocaOp):
                for home, inside in places.of(variable, accesses, construct):
                    homes.setdefault(home, []).append((variable, inside))
            else:
                loops = (use.operation for use in variable.uses)
                for loop in [op for op in loops if isinstance(op, acc.LoopOp)]:
                    homes.setdefault(loop, [])
    known = {variable for its in counters.values() for variable in its}

    def is_counter(entry: acc.PrivateOp) -> bool:
        return entry.results[0] in known and recipes.copies(entry).is_plain

    # Inner loops first: a declaration replaces the loops inside its own.
    for home in sorted(homes, key=lambda loop: -sum(1 for _ in operations_around(loop))):
        if isinstance(home, acc.LoopOp):
            for variable in declare_privates(home, is_counter):
                promote(variable)
        for variable, accesses in homes[home]:
            _declare(variable, accesses, home)


@dataclass(frozen=True)
class DeclareCountersPass(ModulePass):
    """See the contract at the top of this file."""

    name = "declare-counters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in list(op.body.block.ops):
            if isinstance(function, llvm.FuncOp) and function.body.blocks:
                declare_counters(function, op)
