"""
The builder of recipes of privatised variables (`docs/design.md`, "acc level"), for clauses that the user
wrote (`compiler/irgen`) and for those that passes add.

A recipe is named after its operator and type, `@private_f32`, `@firstprivate_struct_point`,
`@reduction_add_f64_10`, with a number appended if the program has a symbol of that name. Their regions are
what is executed (`recipe_reading.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    IntegerType,
    LocationAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ....dialects.llvm_ext import MemcpyOp
from ..ops.acc_ops import PrivatizingOp, RecipeOp
from ..ops.building import PTR, Cursor, put_first
from ..ops.complex_values import is_complex
from ..ops.layout import array_shape, layout_of
from .combiners import ScalarOperator

Kind = acc.ReductionOpKind
Scalar = Callable[[Cursor, Attribute, Callable[[SSAValue], SSAValue]], None]
"""
Called with a cursor for each scalar of an object: its type, and a function from the object's address to the
scalar's.
"""

_BITWISE = frozenset((Kind.IAND, Kind.IOR, Kind.XOR))
_ORDERED = frozenset((Kind.MAX, Kind.MIN))
_IN_C = _BITWISE | _ORDERED | {Kind.ADD, Kind.MUL, Kind.LAND, Kind.LOR}


def mnemonic(type_: Attribute) -> str:
    """The type's part of a recipe's name: `f32`, `f64_2_3` for `double [2][3]`, `struct_point`, `ptr`."""
    match type_:
        case llvm.LLVMArrayType():
            sizes, inner = array_shape(type_)
            return "_".join([mnemonic(inner), *map(str, sizes)])
        case llvm.LLVMStructType():
            name = type_.struct_name.data.replace(".", "_")
            return name or "struct_" + "_".join(mnemonic(t) for t in type_.types)
        case llvm.LLVMPointerType():
            return "ptr"
        case _:
            return str(type_)


def can_reduce(kind: Kind, type_: Attribute) -> bool:
    """Whether `reduction_recipe` can be made for this operator and scalar type."""
    if isinstance(type_, AnyFloat):
        return kind in _IN_C - _BITWISE
    return isinstance(type_, IntegerType) and kind in _IN_C


def private_recipe(module: ModuleOp, type_: Attribute, location: LocationAttr) -> SymbolRefAttr:
    """`@private_<type>`: makes an uninitialised copy."""
    recipe = acc.PrivateRecipeOp(
        sym_name=f"private_{mnemonic(type_)}",
        var_type=PTR,
        init_region=_init(type_, location, lambda cursor, copy: None),
    )
    return _found_or_added(module, recipe, location)


def firstprivate_recipe(
    module: ModuleOp, type_: Attribute, location: LocationAttr
) -> SymbolRefAttr:
    """`@firstprivate_<type>`: makes a copy with the value of the whole variable."""
    block = Block(arg_types=[PTR, PTR])
    cursor = Cursor.at_end(block, location)
    variable, copy = block.args
    if not isinstance(type_, llvm.LLVMArrayType | llvm.LLVMStructType):
        cursor.store(cursor.load(variable, type_), copy)
    elif size := layout_of(type_).size:
        cursor.insert(MemcpyOp(copy, variable, cursor.i64(size)))
    cursor.insert(acc.YieldOp())
    recipe = acc.FirstprivateRecipeOp(
        sym_name=f"firstprivate_{mnemonic(type_)}",
        var_type=PTR,
        init_region=_init(type_, location, lambda cursor, copy: None),
        copy_region=Region(block),
    )
    return _found_or_added(module, recipe, location)


def reduction_recipe(
    module: ModuleOp,
    kind: Kind,
    type_: Attribute,
    location: LocationAttr,
    *,
    signed: bool = True,
) -> SymbolRefAttr:
    """
    `@reduction_<operator>_<type>`: makes a copy that holds the identity of the operator (OpenACC 3.4,
    2.5.15), and combines two copies into the first. `u` comes before the type where integers are compared
    without sign; `signed` has no meaning for other operators.
    """
    signed = signed or kind not in _ORDERED or isinstance(type_, AnyFloat)

    def whole(part: Attribute) -> bool:
        """
        Whether a structure is reduced as a whole: complex numbers are for products, and go part by part for
        sums.
        """
        return kind is Kind.MUL and is_complex(part)

    def start(cursor: Cursor, copy: SSAValue) -> None:
        def act(at: Cursor, part: Attribute, address: Callable[[SSAValue], SSAValue]) -> None:
            at.store(ScalarOperator(kind, part, not signed).neutral(at), address(copy))

        _each_scalar(cursor, type_, whole, act)

    def fold(at: Cursor, part: Attribute, address: Callable[[SSAValue], SSAValue]) -> None:
        target = address(mine)
        x, y = at.load(target, part), at.load(address(other), part)
        at.store(ScalarOperator(kind, part, not signed).combine(at, x, y, "combined"), target)

    combiner = Block(arg_types=[PTR, PTR])
    mine, other = combiner.args
    end = Cursor.at_end(combiner, location)
    _each_scalar(end, type_, whole, fold)
    end.insert(acc.YieldOp(mine))
    recipe = acc.ReductionRecipeOp(
        sym_name=f"reduction_{kind.value}_{'' if signed else 'u'}{mnemonic(type_)}",
        var_type=PTR,
        reduction_operator=kind,
        init_region=_init(type_, location, start),
        combiner_region=Region(combiner),
    )
    return _found_or_added(module, recipe, location)


def _found_or_added(module: ModuleOp, recipe: RecipeOp, location: LocationAttr) -> SymbolRefAttr:
    """The module's recipe that equals `recipe`, or `recipe` itself, added under a free name."""
    recipe.location = location
    symbols = _symbols(module)
    if not _rename(recipe, symbols):
        put_first(module.body.block, recipe)
    return SymbolRefAttr(recipe.sym_name)


def add_recipes(module: ModuleOp, recipes: ModuleOp) -> None:
    """
    Moves all recipes of the module `recipes`, to which operations in `module` refer, to the front of
    `module`; recipes whose name is taken are renamed.
    """
    symbols = _symbols(module)
    renamed: dict[str, SymbolRefAttr] = {}
    for recipe in list(recipes.body.block.ops):
        assert isinstance(recipe, RecipeOp)
        old = recipe.sym_name.data
        recipe.detach()
        _rename(recipe, symbols)
        put_first(module.body.block, recipe)
        if recipe.sym_name.data != old:
            renamed[old] = SymbolRefAttr(recipe.sym_name)
    for op in module.walk() if renamed else ():
        if isinstance(op, PrivatizingOp) and op.recipe:
            op.recipe = renamed.get(op.recipe.string_value(), op.recipe)


def _symbols(module: ModuleOp) -> dict[str, Operation]:
    found: dict[str, Operation] = {}
    for op in module.body.block.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            found[name.data] = op
    return found


def _rename(recipe: RecipeOp, symbols: dict[str, Operation]) -> bool:
    """
    Gives `recipe` the name of an equal recipe, or a name that no symbol has: its own, or with a number
    appended. Returns whether there is an equal recipe.
    """
    wanted, number = recipe.sym_name.data, 0
    while (taken := symbols.get(recipe.sym_name.data)) is not None:
        if _is_like(taken, recipe):
            return True
        number += 1
        recipe.sym_name = StringAttr(f"{wanted}.{number}")
    symbols[recipe.sym_name.data] = recipe
    return False


def _is_like(op: Operation, recipe: RecipeOp) -> bool:
    """
    Whether `op` is a recipe of the same kind and type as `recipe`, and so does the same, whatever its name.
    """
    if type(op) is not type(recipe):
        return False
    return all(
        mine.is_structurally_equivalent(its)
        for mine, its in zip(op.regions, recipe.regions, strict=True)
    ) and op.properties.get("reductionOperator") == recipe.properties.get("reductionOperator")


def _init(
    type_: Attribute, location: LocationAttr, fill: Callable[[Cursor, SSAValue], None]
) -> Region:
    """An init region: makes a copy and initialises it by `fill`."""
    block = Block(arg_types=[PTR])
    cursor = Cursor.at_end(block, location)
    storage = llvm.AllocaOp(cursor.i32(1), type_, alignment=layout_of(type_).align)
    copy = cursor.value(storage, "copy")
    fill(cursor, copy)
    cursor.insert(acc.YieldOp(copy))
    return Region(block)


def _each_scalar(
    cursor: Cursor, type_: Attribute, whole: Callable[[Attribute], bool], act: Scalar
) -> None:
    """
    Emits `act` at `cursor` for every scalar of an object, and for every structure for which `whole` holds.
    """
    if isinstance(type_, llvm.LLVMStructType) and not whole(type_):
        for position, member in enumerate(type_.types.data):

            def of_member(
                at: Cursor,
                part: Attribute,
                address: Callable[[SSAValue], SSAValue],
                position: int = position,
            ) -> None:
                act(at, part, lambda base: address(_member(at, base, position, type_)))

            _each_scalar(cursor, member, whole, of_member)
        return
    if not isinstance(type_, llvm.LLVMArrayType):
        act(cursor, type_, lambda base: base)
        return
    sizes, element = array_shape(type_)
    bounds = cursor.i64(0), cursor.i64(prod(sizes)), cursor.i64(1)
    loop, body = cursor.for_loop(*bounds, "i")
    index = loop.body.block.args[0]

    def of_element(at: Cursor, part: Attribute, address: Callable[[SSAValue], SSAValue]) -> None:
        act(at, part, lambda base: address(at.element(base, index, element)))

    _each_scalar(body, element, whole, of_element)


def _member(cursor: Cursor, base: SSAValue, position: int, type_: Attribute) -> SSAValue:
    return cursor.value(llvm.GEPOp(base, [0, position], type_))
