"""
Calls (C11 6.5.2.2). Functions of the program pass records by value as first-class aggregates; calls of
other functions, and calls through pointers, follow the platform's convention (`records_by_value.py`).
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.dialects.llvm import LLVMFunctionType
from xdsl.ir import Attribute, SSAValue

from ..c import ast as c
from ..c.types import FunctionType, RecordType
from . import builtins, mismatched_calls
from .conventions import Signature, has_records, signature
from .function import FunctionState
from .layout import (
    TypeLowering,
    result_of,
)
from .records_by_value import pass_argument, result_buffer, take_result


def function_address(fn: FunctionState, decl: c.FunctionDecl) -> SSAValue:
    """The address of a function."""
    return fn.symbol_address(fn.module.entry_symbol(decl), decl.name)


def call(fn: FunctionState, e: c.Call) -> SSAValue | None:
    """A direct or indirect call; None if the function returns nothing."""
    if builtins.is_builtin(e):
        return builtins.call(fn, e)
    direct = e.callee.decl if isinstance(e.callee, c.FunctionRef) else None
    definition = None if direct is None else fn.module.definition(direct)
    if direct is None or definition is None or _by_convention(fn, definition, e):
        return _call_by_convention(fn, e, direct)
    args = [fn.rvalue(arg) for arg in e.args]
    fn.b.at(e.loc)
    signature = fn.module.types.function(_called_type(e))
    result = result_of(signature)
    symbol = fn.module.function_symbol(direct)
    if not matches(fn.module.function_types[symbol], args, result):
        return mismatched_calls.call(fn, e, args, definition)
    variadic = signature if signature.is_variadic else None
    op = llvm.CallOp(symbol, *args, return_type=result, var_callee_type=variadic)
    return fn.b.add(op, direct.name).returned


def _by_convention(fn: FunctionState, definition: c.FunctionDecl, e: c.Call) -> bool:
    """Whether a function of the program takes records by the platform's convention, and the call passes or
    returns any."""
    if not fn.module.is_by_convention(definition):
        return False
    return has_records(definition.type) or any(isinstance(a.type, RecordType) for a in e.args)


def _call_by_convention(
    fn: FunctionState, e: c.Call, direct: c.FunctionDecl | None
) -> SSAValue | None:
    """A call of a function that may be outside of the program."""
    pointer = fn.rvalue(e.callee) if direct is None else None
    convention = call_signature(fn.module.types, e)
    args = [
        value
        for passing, arg in zip(convention.params, e.args, strict=True)
        for value in pass_argument(fn, passing, arg)
    ]
    fn.b.at(e.loc)
    buffer = result_buffer(fn, convention.result, e.type)
    args = [*buffer, *args]
    result = result_of(convention.type)
    if direct is not None:
        symbol = fn.module.function_symbol(direct)
        if matches(fn.module.function_types[symbol], args, result):
            variadic = convention.type if convention.type.is_variadic else None
            op = llvm.CallOp(symbol, *args, return_type=result, var_callee_type=variadic)
        else:
            pointer = fn.symbol_address(symbol, direct.name)
            op = indirect_call(pointer, args, convention.type)
    else:
        assert pointer is not None
        op = indirect_call(pointer, args, convention.type)
    if convention.attributes is not None:
        op.attributes["arg_attrs"] = convention.attributes
    returned = fn.b.add(op, direct.name if direct is not None else "call").returned
    return take_result(fn, convention.result, e.type, returned, buffer)


def call_signature(types: TypeLowering, e: c.Call) -> Signature:
    """How call `e` passes its arguments and finds its result."""
    return signature(types, _called_type(e), [arg.type for arg in e.args])


def _called_type(e: c.Call) -> FunctionType:
    t = e.function_type
    if not t.prototyped and not t.params:
        return FunctionType(t.result, tuple(a.type for a in e.args))
    return t


def matches(t: LLVMFunctionType, args: list[SSAValue], result: Attribute | None) -> bool:
    """Whether a call with `args` and `result` agrees with a function of type `t`."""
    fixed = t.inputs.data
    if (
        result_of(t) != result
        or len(args) < len(fixed)
        or (len(args) > len(fixed) and not t.is_variadic)
    ):
        return False
    return all(a.type == p for a, p in zip(args, fixed, strict=False))


def indirect_call(
    pointer: SSAValue, args: list[SSAValue], signature: LLVMFunctionType
) -> llvm.CallOp:
    """`llvm.call %pointer(%args)`, which xDSL's constructor cannot build."""
    properties: dict[str, Attribute] = {
        "fastmathFlags": llvm.FastMathAttr("none"),
        "CConv": llvm.CallingConventionAttr("ccc"),
        "TailCallKind": llvm.TailCallKindAttr(llvm.TailCallKind.NONE),
        "op_bundle_sizes": DenseArrayBase.from_list(i32, ()),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(args) + 1, 0]),
    }
    if signature.is_variadic:
        properties["var_callee_type"] = signature
    result = result_of(signature)
    return llvm.CallOp.create(
        operands=[pointer, *args],
        properties=properties,
        result_types=[] if result is None else [result],
    )
