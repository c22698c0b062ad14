"""
Reduction arithmetic: the identity and the combining operations of OpenACC's reduction operators
(OpenACC 3.4, 2.5.15) on integer and floating-point scalars, and products of complex numbers.
"""

from __future__ import annotations

import math

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, IntegerType, ModuleOp, i1
from xdsl.ir import Attribute, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from .building import Cursor
from .complex_values import is_complex, one, product

_UNSIGNED_PREDICATES = range(6, 10)


def reduction_kind(
    op: acc.ReductionOp, recipes: dict[str, acc.ReductionRecipeOp]
) -> tuple[acc.ReductionOpKind, bool]:
    """The operator of `op` and whether integers are compared as signed ones, from its recipe."""
    recipe = None if op.recipe is None else recipes.get(op.recipe.string_value())
    if recipe is None:
        raise error(
            SourceLoc.from_attr(op.location),
            "internal: acc.reduction without a recipe",
            "name a reduction recipe in recipe(…)",
        )
    return recipe.reduction_operator.data, not _is_unsigned(recipe)


def _is_unsigned(recipe: acc.ReductionRecipeOp) -> bool:
    for op in recipe.combiner_region.walk():
        if isinstance(op, arith.MaxUIOp | arith.MinUIOp):
            return True
        if isinstance(op, arith.CmpiOp) and op.predicate.value.data in _UNSIGNED_PREDICATES:
            return True
    return False


def reduction_recipes(module: ModuleOp) -> dict[str, acc.ReductionRecipeOp]:
    """The module's reduction recipes by name."""
    return {
        op.sym_name.data: op
        for op in module.body.block.ops
        if isinstance(op, acc.ReductionRecipeOp)
    }


def identity(kind: acc.ReductionOpKind, type: Attribute, signed: bool) -> int | float:
    """The value that leaves others unchanged: 0, 1, all ones, or the least or greatest of `type`."""
    kinds = acc.ReductionOpKind
    if kind in (kinds.MUL, kinds.LAND):
        return 1
    if kind is kinds.IAND:
        return -1
    if kind not in (kinds.MAX, kinds.MIN):
        return 0
    if isinstance(type, AnyFloat):
        return -math.inf if kind is kinds.MAX else math.inf
    assert isinstance(type, FixedBitwidthType)
    bits = type.bitwidth
    if kind is kinds.MAX:
        return -(1 << (bits - 1)) if signed else 0
    return (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1


def identity_value(
    cursor: Cursor, kind: acc.ReductionOpKind, type: Attribute, signed: bool
) -> SSAValue:
    """`identity` as a constant at the cursor; complex numbers are only multiplied."""
    if is_complex(type):
        return one(cursor.value, type)
    return cursor.constant(identity(kind, type, signed), type)


def combine(
    cursor: Cursor, kind: acc.ReductionOpKind, a: SSAValue, b: SSAValue, signed: bool
) -> SSAValue:
    """`a op b` for scalars of one integer, floating-point or complex type."""
    if is_complex(a.type):
        return product(cursor.value, a, b)
    is_float = isinstance(a.type, AnyFloat)
    kinds = acc.ReductionOpKind
    match kind:
        case kinds.ADD:
            return cursor.value(arith.AddfOp(a, b) if is_float else arith.AddiOp(a, b), "combined")
        case kinds.MUL:
            return cursor.value(arith.MulfOp(a, b) if is_float else arith.MuliOp(a, b), "combined")
        case kinds.MAX if is_float:
            return cursor.value(arith.MaxnumfOp(a, b), "combined")
        case kinds.MIN if is_float:
            return cursor.value(arith.MinnumfOp(a, b), "combined")
        case kinds.MAX:
            return cursor.value(arith.MaxSIOp(a, b) if signed else arith.MaxUIOp(a, b), "combined")
        case kinds.MIN:
            return cursor.value(arith.MinSIOp(a, b) if signed else arith.MinUIOp(a, b), "combined")
        case kinds.IAND:
            return cursor.value(arith.AndIOp(a, b), "combined")
        case kinds.IOR:
            return cursor.value(arith.OrIOp(a, b), "combined")
        case kinds.XOR:
            return cursor.value(arith.XOrIOp(a, b), "combined")
        case kinds.LAND | kinds.LOR:
            left, right = _is_true(cursor, a), _is_true(cursor, b)
            both = arith.AndIOp(left, right) if kind is kinds.LAND else arith.OrIOp(left, right)
            return _from_bool(cursor, cursor.value(both), a.type)
        case _:
            raise error(
                SourceLoc.from_attr(cursor.loc),
                f"reduction operator '{kind.value}' does not exist in C",
                "use one of + * max min & | ^ && ||",
            )


def _is_true(cursor: Cursor, value: SSAValue) -> SSAValue:
    zero = cursor.constant(0, value.type)
    if isinstance(value.type, AnyFloat):
        return cursor.value(arith.CmpfOp(value, zero, "une"), "is_true")
    return cursor.value(arith.CmpiOp(value, zero, "ne"), "is_true")


def _from_bool(cursor: Cursor, value: SSAValue, type: Attribute) -> SSAValue:
    if isinstance(type, AnyFloat):
        return cursor.value(arith.UIToFPOp(value, type), "combined")
    assert isinstance(type, IntegerType)
    return value if type == i1 else cursor.value(arith.ExtUIOp(value, type), "combined")
