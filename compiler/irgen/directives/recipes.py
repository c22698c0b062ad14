"""
Recipes of `private`, `firstprivate` and `reduction` (docs/design.md, "Data clauses").

One recipe per operation and type, named `@private_f32`, `@firstprivate_struct_point`,
`@reduction_add_f64_10`. Lowerings read the operator and `varType`; the regions make the IR complete.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    SymbolRefAttr,
    f32,
    i1,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMStructType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ....passes.ir import complex_values
from ...c.types import BOOL, ArrayType, CType, IntType, RecordType
from ..builder import Builder
from ..layout import PTR, ir_size_align, is_integer_type
from ..symbols import ModuleState

KINDS = {
    "+": acc.ReductionOpKind.ADD,
    "*": acc.ReductionOpKind.MUL,
    "max": acc.ReductionOpKind.MAX,
    "min": acc.ReductionOpKind.MIN,
    "&": acc.ReductionOpKind.IAND,
    "|": acc.ReductionOpKind.IOR,
    "^": acc.ReductionOpKind.XOR,
    "&&": acc.ReductionOpKind.LAND,
    "||": acc.ReductionOpKind.LOR,
}


def type_name(t: Attribute) -> str:
    """The part of a recipe's name that says its type."""
    match t:
        case LLVMArrayType():
            sizes: list[str] = []
            inner: Attribute = t
            while isinstance(inner, LLVMArrayType):
                sizes.append(str(inner.size.data))
                inner = inner.type
            return "_".join([type_name(inner), *sizes])
        case LLVMStructType():
            return t.struct_name.data.replace(".", "_") or "struct"
        case llvm.LLVMPointerType():
            return "ptr"
        case _:
            return str(t)


_OF_TRUTH_VALUES = {"+": "||", "*": "&&", "max": "||", "min": "&&", "|": "||", "&": "&&"}
"""The operator that gives the same as C's where all values are 0 or 1."""


def private_recipe(state: ModuleState, t: Attribute) -> SymbolRefAttr:
    """A recipe that makes an uninitialised copy."""

    def build(name: str) -> Operation:
        return acc.PrivateRecipeOp(sym_name=name, var_type=PTR, init_region=_alloca_region(t))

    return _recipe(state, f"private_{type_name(t)}", build)


def firstprivate_recipe(state: ModuleState, t: Attribute) -> SymbolRefAttr:
    """A recipe that makes an initialised copy."""

    def build(name: str) -> Operation:
        block = Block(arg_types=[PTR, PTR])
        b = Builder(block)
        if isinstance(t, LLVMArrayType | LLVMStructType):
            b.copy(block.args[1], block.args[0], ir_size_align(t)[0])
        else:
            b.store(b.load(block.args[0], t), block.args[1])
        b.add(acc.YieldOp())
        return acc.FirstprivateRecipeOp(
            sym_name=name,
            var_type=PTR,
            init_region=_alloca_region(t),
            copy_region=Region(block),
        )

    return _recipe(state, f"firstprivate_{type_name(t)}", build)


def reduction_recipe(
    state: ModuleState, operator: str, t: Attribute, c_type: CType
) -> SymbolRefAttr:
    """
    A recipe that makes a copy holding the identity and combines two copies into the first. Of `_Bool`,
    whose sums and products C makes 0 or 1 of (C11 6.3.1.2), it is the logical operator of that value.
    """
    if _holds_truth_values(c_type):
        operator = _OF_TRUTH_VALUES.get(operator, operator)
    c_type = _first_integer(c_type)
    kind = KINDS[operator]
    unsigned = operator in ("max", "min") and isinstance(c_type, IntType) and not c_type.signed
    suffix = type_name(t)
    if unsigned:
        suffix = f"u{suffix}"

    def whole(e: Attribute) -> bool:
        """Complex numbers are multiplied as such, and added part by part."""
        return operator == "*" and complex_values.is_complex(e)

    def build(name: str) -> Operation:
        init = Block(arg_types=[PTR])
        b = Builder(init)
        copy = b.alloca(t, ir_size_align(t)[1], "copy")
        _each(b, t, whole, lambda e, at: b.store(_identity(b, operator, e, unsigned), at(copy)))
        b.add(acc.YieldOp(copy))
        combiner = Block(arg_types=[PTR, PTR])
        d = Builder(combiner)
        mine, other = combiner.args

        def fold(e: Attribute, at: Callable[[SSAValue], SSAValue]) -> None:
            target = at(mine)
            x, y = d.load(target, e), d.load(at(other), e)
            d.store(_combine(d, operator, x, y, unsigned), target)

        _each(d, t, whole, fold)
        d.add(acc.YieldOp(mine))
        op = acc.ReductionRecipeOp(
            sym_name=name,
            var_type=PTR,
            reduction_operator=kind,
            init_region=Region(init),
            combiner_region=Region(combiner),
        )
        return op

    return _recipe(state, f"reduction_{kind.value}_{suffix}", build)


def _holds_truth_values(t: CType) -> bool:
    """Whether all scalars in `t` are `_Bool`."""
    while isinstance(t, ArrayType):
        t = t.element.type
    if isinstance(t, RecordType):
        return bool(t.fields) and all(_holds_truth_values(f.type.type) for f in t.fields or ())
    return t == BOOL


def _first_integer(t: CType) -> CType:
    """What says whether the integers in `t` are signed: all of them agree (`check_operator`)."""
    while isinstance(t, ArrayType):
        t = t.element.type
    if isinstance(t, RecordType):
        found = [_first_integer(member.type.type) for member in t.fields or ()]
        return next((f for f in found if isinstance(f, IntType)), t)
    return t


def _recipe(state: ModuleState, name: str, build: Callable[[str], Operation]) -> SymbolRefAttr:
    if name not in state.recipes:
        state.recipes[name] = build(name)
    return SymbolRefAttr(name)


def _alloca_region(t: Attribute) -> Region:
    block = Block(arg_types=[PTR])
    b = Builder(block)
    b.add(acc.YieldOp(b.alloca(t, ir_size_align(t)[1], "copy")))
    return Region(block)


def _each(
    b: Builder,
    t: Attribute,
    whole: Callable[[Attribute], bool],
    act: Callable[[Attribute, Callable[[SSAValue], SSAValue]], None],
) -> None:
    """
    Runs `act` for every scalar, and every structure that is `whole`, of an object of type `t`:
    element type, and address from base.
    """
    if isinstance(t, LLVMStructType) and not whole(t):
        for position, member in enumerate(t.types.data):
            _each(
                b,
                member,
                whole,
                lambda e, at, n=position: act(e, lambda base: at(_member(b, base, n, t))),
            )
        return
    if not isinstance(t, LLVMArrayType):
        act(t, lambda base: base)
        return
    count, element = 1, t
    while isinstance(element, LLVMArrayType):
        count *= element.size.data
        element = element.type
    body = Block(arg_types=[i64])
    outer = b.block
    lower, upper, step = b.int(0, i64), b.int(count, i64), b.int(1, i64)
    b.block = body
    _each(
        b,
        element,
        whole,
        lambda e, at: act(e, lambda base: at(b.gep(base, [body.args[0]], element))),
    )
    b.add(scf.YieldOp())
    b.block = outer
    b.add(scf.ForOp(lower, upper, step, [], Region(body)))


def _member(b: Builder, base: SSAValue, position: int, t: LLVMStructType) -> SSAValue:
    return b.gep(base, [0, position], t)


def _identity(b: Builder, operator: str, t: Attribute, unsigned: bool) -> SSAValue:
    """The value that leaves others unchanged (OpenACC 3.4, 2.5.15)."""
    if complex_values.is_complex(t):
        return complex_values.one(b.value, t)
    if isinstance(t, AnyFloat):
        largest = 3.4028234663852886e38 if t == f32 else 1.7976931348623157e308
        values = {"max": -largest, "min": largest, "*": 1.0, "&&": 1.0}
        return b.float(values.get(operator, 0.0), t)
    assert is_integer_type(t)
    bits = t.width.data
    least, greatest = (
        (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    )
    integers = {"max": least, "min": greatest, "*": 1, "&&": 1, "&": -1}
    return b.int(integers.get(operator, 0), t)


def _combine(b: Builder, operator: str, x: SSAValue, y: SSAValue, unsigned: bool) -> SSAValue:
    is_float = isinstance(x.type, AnyFloat)
    if complex_values.is_complex(x.type):
        return complex_values.product(b.value, x, y)
    if operator in ("&&", "||"):
        return _combine_logical(b, operator, x, y)
    if operator in ("max", "min"):
        if is_float:
            op = arith.MaxnumfOp if operator == "max" else arith.MinnumfOp
        elif unsigned:
            op = arith.MaxUIOp if operator == "max" else arith.MinUIOp
        else:
            op = arith.MaxSIOp if operator == "max" else arith.MinSIOp
        return b.value(op(x, y))
    floats = {"+": arith.AddfOp, "*": arith.MulfOp}
    integers = {
        "+": arith.AddiOp,
        "*": arith.MuliOp,
        "&": arith.AndIOp,
        "|": arith.OrIOp,
        "^": arith.XOrIOp,
    }
    return b.value((floats if is_float else integers)[operator](x, y))


def _combine_logical(b: Builder, operator: str, x: SSAValue, y: SSAValue) -> SSAValue:
    zero = b.zero(x.type)

    def truth(v: SSAValue) -> SSAValue:
        if isinstance(v.type, AnyFloat):
            return b.value(arith.CmpfOp(v, zero, "une"))
        return b.cmp("ne", v, zero)

    p, q = truth(x), truth(y)
    both = b.value(arith.AndIOp(p, q) if operator == "&&" else arith.OrIOp(p, q))
    if isinstance(x.type, AnyFloat):
        return b.value(arith.UIToFPOp(both, x.type))
    assert is_integer_type(x.type)
    return both if x.type == i1 else b.resize(both, x.type, signed=False)
