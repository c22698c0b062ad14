"""
Calls that do not fit the definition of their function: made through a declaration without parameters,
through one that another file has differently, or through none (C11 6.5.2.2p6 leaves them undefined).
Machines pass integers and pointers in one kind of register and floating-point numbers in another, and a
function reads the registers of its own parameters. So integers and pointers are compatible with each other,
surplus arguments are ignored, and missing ones have an undefined value (here 0). Where the function would
read another register than the caller wrote, this is an error that names both places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from xdsl.ir import SSAValue

from ..base.diagnostics import error
from ..c import ast as c
from ..c.types import CType, FloatType, IntType, PointerType, RecordType, VoidType
from . import arithmetic, places
from .function import FunctionState


def call(
    fn: FunctionState, e: c.Call, args: Sequence[SSAValue], definition: c.FunctionDecl
) -> SSAValue | None:
    """
    The call `e` of `definition` with these values of its arguments; None if the function returns nothing.
    Raises `CompileError` for arguments that cannot be passed.
    """
    t = definition.type
    passed: list[SSAValue] = []
    for i, param in enumerate(t.params):
        if i >= len(args):
            passed.append(fn.b.zero(fn.module.types.convert(param)))
            continue
        source = e.args[i].type
        if not fits(source, param):
            raise error(
                e.args[i].loc,
                f"argument {i + 1} of '{definition.name}' is '{source}' here and '{param}' in its definition",
                f"declare the function before this call as it is defined: '{t}'",
                [(definition.loc, "defined here")],
            )
        passed.append(_carry(fn, args[i], source, param))
    if len(args) != len(t.params):
        few = "few" if len(args) < len(t.params) else "many"
        fn.module.sink.warn(
            e.loc,
            f"too {few} arguments to '{definition.name}': it takes {len(t.params)}, {len(args)} given",
            f"declare the function before this call as it is defined: '{t}'",
            [(definition.loc, "defined here")],
        )
    symbol = fn.module.function_symbol(definition)
    if fn.module.function_types[symbol].is_variadic:
        passed += args[len(t.params) :]
    value = fn.call(symbol, passed, definition.name)
    if value is None or isinstance(e.type, VoidType):
        return None
    if not fits(t.result, e.type):
        # An unused result may be anything; `refuse_result` reports a used one.
        return None
    return _carry(fn, value, t.result, e.type)


def fits(source: CType, target: CType) -> bool:
    """
    Whether a function with a parameter of type `target` reads an argument that was passed as a `source`.
    """
    match source, target:
        case (IntType(), IntType() | PointerType()) | (PointerType(), PointerType()):
            return True
        case PointerType(), IntType():
            return target.bits == 64
        case FloatType(), FloatType():
            return source.bits == target.bits
        case RecordType(), RecordType():
            return source.is_complete and target.is_complete and source.size == target.size
        case _:
            return False


def refuse_result(fn: FunctionState, e: c.Call) -> NoReturn:
    """
    Raises `CompileError` for a call whose value is used, although the definition returns none of that type.
    """
    definition = None
    if isinstance(e.callee, c.FunctionRef):
        definition = fn.module.definition(e.callee.decl)
    if definition is None or isinstance(e.type, VoidType):
        raise error(e.loc, "this call has no value", "call a function that returns one")
    raise error(
        e.loc,
        f"'{definition.name}' returns '{definition.type.result}', and '{e.type}' is expected here",
        f"declare the function before this call as it is defined: '{definition.type}'",
        [(definition.loc, "defined here")],
    )


def _carry(fn: FunctionState, value: SSAValue, source: CType, target: CType) -> SSAValue:
    if isinstance(source, RecordType):
        ir_type = fn.module.types.convert(target)
        if value.type == ir_type:
            return value
        return fn.b.load(places.spill(fn, value, source, "arg"), ir_type)
    if isinstance(source, FloatType):
        return value
    return arithmetic.convert(fn.b, value, source, target)
