"""
Writes the class of a loop's scalar into the IR: private and reduction clauses, and last values.

The last value of a private copy goes to the variable by a guarded store where all gangs share it. A copy
that belongs to a gang or an iteration of a loop around is not one place in memory to the threads that
share the loop; there the bits of the value are reduced by the loop (`|`), with a contribution of the last
iteration only, and stored to the variable after the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import cast

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import AnyFloat, IntegerType, ModuleOp, UnitAttr, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue, TypeAttribute
from xdsl.traits import SymbolTable

from ....compiler.base.names import value_name
from ....dialects.accx import LAST_VALUE
from ..ops.acc_ops import COMPUTE_OPS, ENTRY_OPS, enclosing, set_operand_groups, variable_name
from ..ops.building import Cursor, constant_value, erase
from ..ops.layout import size_of
from .recipes import private_recipe, reduction_recipe
from .reduction_forms import Kind, Operator
from .scalar_uses import Guard


def scalar_type(variable: SSAValue) -> TypeAttribute:
    """The type of the scalar variable at an address."""
    owner = variable.owner
    if isinstance(owner, llvm.AllocaOp):
        return cast(TypeAttribute, owner.elem_type)
    if isinstance(owner, llvm.AddressOfOp):
        found = SymbolTable.lookup_symbol(owner, owner.global_name)
        assert isinstance(found, llvm.GlobalOp)
        return cast(TypeAttribute, found.global_type)
    assert isinstance(owner, ENTRY_OPS)
    return owner.var_type


def replace_in(uses: Sequence[Operation], old: SSAValue, new: SSAValue) -> None:
    """Replaces `old` by `new` among the operands of the given operations."""
    for op in uses:
        for index, operand in enumerate(op.operands):
            if operand is old:
                op.operands[index] = new


def add_private(
    loop: acc.LoopOp | acc.ParallelOp, variable: SSAValue, module: ModuleOp
) -> SSAValue:
    """Adds an implicit private clause; returns the copy."""
    type_ = scalar_type(variable)
    entry = acc.PrivateOp(
        var=variable,
        var_type=type_,
        implicit=True,
        var_name=variable_name(variable),
        recipe=private_recipe(module, type_, loop.location),
    )
    copy = _enter(loop, entry, variable)
    set_operand_groups(loop, private_operands=[*loop.private_operands, copy])
    return copy


def add_reduction(
    loop: acc.LoopOp, variable: SSAValue, operator: Operator, module: ModuleOp
) -> SSAValue:
    """Adds an implicit reduction clause; returns the copy."""
    type_ = scalar_type(variable)
    recipe = reduction_recipe(module, operator.kind, type_, loop.location, signed=operator.signed)
    entry = acc.ReductionOp(
        var=variable,
        var_type=type_,
        implicit=True,
        var_name=variable_name(variable),
        recipe=recipe,
    )
    copy = _enter(loop, entry, variable)
    set_operand_groups(loop, reduction_operands=[*loop.reduction_operands, copy])
    return copy


def _enter(loop: Operation, entry: Operation, variable: SSAValue) -> SSAValue:
    return Cursor.before(loop).value(entry, variable_name(variable))


# Last values.


def can_keep_last(variable: SSAValue) -> bool:
    """Whether `keep_last` handles the variable's type."""
    return isinstance(scalar_type(variable), IntegerType | AnyFloat) and size_of(
        scalar_type(variable)
    ) in (1, 2, 4, 8)


def store_last(
    loop: acc.LoopOp, variable: SSAValue, copy: SSAValue, guards: Sequence[Guard]
) -> None:
    """Makes the last iteration store its copy to a variable that all gangs share."""
    condition_of = _last_iteration(loop, guards)
    for end in _ends(loop):
        at = Cursor.before(end, loop.location)
        inside = at.if_then(condition_of(at))
        type_ = scalar_type(variable)
        value = inside.load(copy, type_, value_name(variable_name(variable)))
        inside.insert(llvm.StoreOp(value, variable)).attributes[LAST_VALUE] = UnitAttr()


def keep_last(
    loop: acc.LoopOp,
    variable: SSAValue,
    copy: SSAValue,
    guards: Sequence[Guard],
    module: ModuleOp,
) -> None:
    """
    Gives a variable that is private to a gang or an iteration the last iteration's value after the loop.
    """
    type_ = scalar_type(variable)
    bits = IntegerType(8 * size_of(type_))
    name = value_name(f"{variable_name(variable)}_last")
    before = Cursor.before(loop)
    total = _variable(loop, bits, name)
    before.store(before.constant(0, bits), total)
    part = add_reduction(loop, total, Operator(Kind.IOR), module)
    condition_of = _last_iteration(loop, guards)
    for end in _ends(loop):
        at = Cursor.before(end, loop.location)
        inside = at.if_then(condition_of(at))
        value = inside.load(copy, type_, value_name(variable_name(variable)))
        if value.type != bits:
            value = inside.value(arith.BitcastOp(value, bits))
        inside.store(inside.value(arith.OrIOp(inside.load(part, bits), value)), part)
    after = Cursor.after(loop)
    inside = after.if_then(_runs(after, [*_bounds(loop), *guards]))
    value = inside.load(total, bits, name)
    if type_ != bits:
        value = inside.value(arith.BitcastOp(value, type_))
    inside.store(value, variable)


def keep_flag(
    loop: acc.LoopOp, variable: SSAValue, stores: Sequence[llvm.StoreOp]
) -> tuple[SSAValue, list[Operation]]:
    """
    Gives a variable that is private to a gang or an iteration the one value that iterations assign, if one
    of them does. Returns the new flag variable, which must become a reduction (`|`) of the loop, and its
    uses.
    """
    name = value_name(f"{variable_name(variable)}_set")
    before = Cursor.before(loop)
    total = _variable(loop, i32, name)
    before.store(before.i32(0), total)
    value = stores[0].value
    constant = value.owner.clone() if constant_value(value) is not None else None  # pyright: ignore
    uses: list[Operation] = []
    for store in stores:
        at = Cursor.before(store)
        old = at.insert(llvm.LoadOp(total, i32))
        new = at.value(arith.OrIOp(old.dereferenced_value, at.i32(1)))
        uses += [old, at.insert(llvm.StoreOp(new, total))]
        erase(store)
    after = Cursor.after(loop)
    is_set = after.load(total, i32, name)
    inside = after.if_then(after.value(arith.CmpiOp(is_set, after.i32(0), "ne")))
    if constant is not None:
        value = inside.value(cast(Operation, constant))
    inside.store(value, variable)
    return total, uses


def store_flag(stores: Sequence[llvm.StoreOp]) -> None:
    """Makes the stores of the one value to a variable that all gangs share atomic."""
    for store in stores:
        at = Cursor.before(store)
        at.insert(acc.AtomicWriteOp(x=store.ptr, expr=store.value))
        erase(store)


def _variable(loop: acc.LoopOp, type_: Attribute, name: str) -> SSAValue:
    """A new variable in the innermost enclosing region of the loop that may declare variables."""
    home = enclosing(loop, acc.LoopOp, *COMPUTE_OPS, llvm.FuncOp)
    assert home is not None
    first = home.regions[0].blocks[0].first_op
    assert first is not None
    return Cursor.before(first, loop.location).alloca(type_, name)


def _ends(loop: acc.LoopOp) -> list[Operation]:
    """The terminators at which an iteration ends."""
    found = [block.last_op for block in loop.region.blocks]
    return [op for op in found if isinstance(op, acc.YieldOp)]


def _bounds(loop: acc.LoopOp) -> list[Guard]:
    return list(zip(loop.lowerbound, loop.upperbound, strict=True))


def _last_iteration(loop: acc.LoopOp, guards: Sequence[Guard]) -> Callable[[Cursor], SSAValue]:
    """
    A function that emits, in the body, the test whether an iteration is the last; the last values of the
    loop variables are computed before the loop.
    """
    before = Cursor.before(loop)
    lasts: list[SSAValue] = []
    for lower, upper, step in zip(loop.lowerbound, loop.upperbound, loop.step, strict=True):
        end = before.sub(upper, before.constant(1, upper.type))
        if constant_value(step) != 1:
            span = before.sub(end, lower)
            whole = before.value(arith.DivSIOp(span, step))
            end = before.add(lower, before.mul(whole, step))
        end.name_hint = "last"
        lasts.append(end)
    block: Block = loop.region.blocks[0]
    variables = list(block.args)

    def condition(at: Cursor) -> SSAValue:
        parts = [
            at.value(arith.CmpiOp(variable, last, "eq"))
            for variable, last in zip(variables, lasts, strict=True)
        ]
        return reduce(at.both, [*parts, *([_runs(at, guards)] if guards else [])])

    return condition


def _runs(at: Cursor, bounds: Sequence[Guard]) -> SSAValue:
    """An i1: loops with these bounds run at least once."""
    parts: list[SSAValue] = []
    for bound in bounds:
        lower, upper = (
            at.constant(known, value.type)
            if (known := constant_value(value)) is not None
            else value
            for value in bound
        )
        parts.append(at.value(arith.CmpiOp(lower, upper, "slt")))
    return reduce(at.both, parts)
