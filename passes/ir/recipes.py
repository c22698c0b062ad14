"""
Recipes of privatised variables (`docs/design.md`, "acc level"): found by name, or made.

Their regions make the IR complete for upstream tools; our lowerings read operator and type only.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    SymbolRefAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from .acc_ops import bit_width


def mnemonic(type_: Attribute) -> str:
    """The type's part of a recipe's name: `f32`, `f64_10` for an array, `struct_point`, `ptr`."""
    match type_:
        case llvm.LLVMArrayType():
            return f"{mnemonic(type_.type)}_{type_.size.data}"
        case llvm.LLVMStructType():
            name = type_.struct_name.data.replace(".", "_")
            return name or "struct_" + "_".join(mnemonic(t) for t in type_.types)
        case llvm.LLVMPointerType():
            return "ptr"
        case _:
            return str(type_)


def _find_or_add(module: ModuleOp, name: str, make: Callable[[], Operation]) -> SymbolRefAttr:
    for op in module.body.block.ops:
        symbol = op.properties.get("sym_name")
        if symbol is not None and getattr(symbol, "data", None) == name:
            return SymbolRefAttr(name)
    first = module.body.block.first_op
    if first is None:
        module.body.block.add_op(make())
    else:
        module.body.block.insert_op_before(make(), first)
    return SymbolRefAttr(name)


def _allocate(type_: Attribute) -> tuple[list[Operation], SSAValue]:
    one = arith.ConstantOp(IntegerAttr(1, i32))
    alloca = llvm.AllocaOp(one, type_)
    return [one, alloca], alloca.res


def _private_init(type_: Attribute) -> Region:
    block = Block(arg_types=[llvm.LLVMPointerType()])
    ops, storage = _allocate(type_)
    block.add_ops([*ops, acc.YieldOp(storage)])
    return Region(block)


def private_recipe(module: ModuleOp, type_: TypeAttribute, location: LocationAttr) -> SymbolRefAttr:
    """`@private_<type>`."""
    name = f"private_{mnemonic(type_)}"

    def make() -> Operation:
        recipe = acc.PrivateRecipeOp(
            sym_name=name, var_type=llvm.LLVMPointerType(), init_region=_private_init(type_)
        )
        recipe.location = location
        return recipe

    return _find_or_add(module, name, make)


def firstprivate_recipe(
    module: ModuleOp, type_: TypeAttribute, location: LocationAttr
) -> SymbolRefAttr:
    """`@firstprivate_<type>`: the copy loads and stores the whole variable."""
    name = f"firstprivate_{mnemonic(type_)}"

    def make() -> Operation:
        copy = Block(arg_types=[llvm.LLVMPointerType(), llvm.LLVMPointerType()])
        load = llvm.LoadOp(copy.args[0], type_)
        copy.add_ops([load, llvm.StoreOp(load, copy.args[1]), acc.YieldOp()])
        recipe = acc.FirstprivateRecipeOp(
            sym_name=name,
            var_type=llvm.LLVMPointerType(),
            init_region=_private_init(type_),
            copy_region=Region(copy),
        )
        recipe.location = location
        return recipe

    return _find_or_add(module, name, make)


def _identity(kind: acc.ReductionOpKind, type_: Attribute, signed: bool) -> Operation:
    """The constant a participant starts at."""
    if isinstance(type_, AnyFloat):
        values = {"mul": 1.0, "land": 1.0, "max": float("-inf"), "min": float("inf")}
        return arith.ConstantOp(FloatAttr(values.get(kind.value, 0.0), type_))
    width = bit_width(type_) or 64
    integers = {
        "mul": 1,
        "land": 1,
        "max": -(1 << (width - 1)) if signed else 0,
        "min": (1 << (width - 1)) - 1 if signed else -1,
        "iand": -1,
    }
    return arith.ConstantOp(IntegerAttr(integers.get(kind.value, 0), IntegerType(width)))


_INTEGER_COMBINERS: dict[str, type[Operation]] = {
    "add": arith.AddiOp,
    "mul": arith.MuliOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
    "iand": arith.AndIOp,
    "ior": arith.OrIOp,
    "xor": arith.XOrIOp,
}
_FLOAT_COMBINERS: dict[str, type[Operation]] = {
    "add": arith.AddfOp,
    "mul": arith.MulfOp,
    "max": arith.MaxnumfOp,
    "min": arith.MinnumfOp,
}


_UNSIGNED_COMBINERS: dict[str, type[Operation]] = {"max": arith.MaxUIOp, "min": arith.MinUIOp}
_LOGICAL: dict[str, type[Operation]] = {"land": arith.AndIOp, "lor": arith.OrIOp}


def can_reduce(kind: acc.ReductionOpKind, type_: Attribute) -> bool:
    """Whether `reduction_recipe` can be made for this operator and scalar type."""
    table = _FLOAT_COMBINERS if isinstance(type_, AnyFloat) else _INTEGER_COMBINERS
    known = kind.value in table or kind.value in _LOGICAL
    return known and isinstance(type_, AnyFloat | IntegerType)


def _truth(value: SSAValue) -> list[Operation]:
    """Operations whose last result says whether a value is not 0."""
    if isinstance(value.type, AnyFloat):
        none = arith.ConstantOp(FloatAttr(0.0, value.type))
        return [none, arith.CmpfOp(value, none.result, "une")]
    assert isinstance(value.type, IntegerType)
    zero = arith.ConstantOp(IntegerAttr(0, value.type))
    return [zero, arith.CmpiOp(value, zero.result, "ne")]


def _combined(
    kind: acc.ReductionOpKind, left: SSAValue, right: SSAValue, signed: bool
) -> list[Operation]:
    """Operations that combine two values of one type; the last one's result is theirs."""
    real = isinstance(left.type, AnyFloat)
    if kind.value in _LOGICAL:
        truths = _truth(left), _truth(right)
        operands = [ops[-1].results[0] for ops in truths]
        both = _LOGICAL[kind.value](*operands)  # pyright: ignore[reportCallIssue]
        widen = arith.UIToFPOp if real else arith.ExtUIOp
        whole = widen(both.results[0], left.type)  # pyright: ignore[reportArgumentType]
        return [*truths[0], *truths[1], both, whole]
    table = _FLOAT_COMBINERS if real else _INTEGER_COMBINERS
    if not real and not signed:
        table = {**table, **_UNSIGNED_COMBINERS}
    return [table[kind.value](left, right)]  # pyright: ignore[reportCallIssue]


def reduction_recipe(
    module: ModuleOp,
    kind: acc.ReductionOpKind,
    type_: TypeAttribute,
    location: LocationAttr,
    *,
    signed: bool = True,
) -> SymbolRefAttr:
    """`@reduction_<operator>_<type>` for a scalar; `u` before the type where it is compared unsigned."""
    signed = signed or kind.value not in _UNSIGNED_COMBINERS or isinstance(type_, AnyFloat)
    name = f"reduction_{kind.value}_{'' if signed else 'u'}{mnemonic(type_)}"

    def make() -> Operation:
        init = Block(arg_types=[llvm.LLVMPointerType()])
        ops, storage = _allocate(type_)
        identity = _identity(kind, type_, signed)
        store = llvm.StoreOp(identity, storage)
        init.add_ops([*ops, identity, store, acc.YieldOp(storage)])
        combine = Block(arg_types=[llvm.LLVMPointerType(), llvm.LLVMPointerType()])
        left, right = (llvm.LoadOp(arg, type_) for arg in combine.args)
        total = _combined(kind, left.dereferenced_value, right.dereferenced_value, signed)
        store = llvm.StoreOp(total[-1], combine.args[0])
        combine.add_ops([left, right, *total, store, acc.YieldOp(combine.args[0])])
        recipe = acc.ReductionRecipeOp(
            sym_name=name,
            var_type=llvm.LLVMPointerType(),
            reduction_operator=kind,
            init_region=Region(init),
            combiner_region=Region(combine),
        )
        recipe.location = location
        return recipe

    return _find_or_add(module, name, make)
