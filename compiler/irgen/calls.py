"""
Calls (C11 6.5.2.2). Records go by value between functions of the program as first-class aggregates;
to and from functions outside it they are cut into the eightbytes of the x86-64 psABI, 3.2.3.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, f32, f64, i32
from xdsl.dialects.llvm import LLVMFunctionType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute, SSAValue

from ..base.diagnostics import SourceLoc, error
from ..c import ast as c
from ..c.types import (
    ArrayType,
    CType,
    FloatType,
    FunctionType,
    RecordType,
    VoidType,
)
from . import builtins, expressions, lvalues, mismatched_calls, objects
from .function import FunctionState
from .layout import TypeLowering


def function_address(fn: FunctionState, decl: c.FunctionDecl) -> SSAValue:
    """The address of a function."""
    return fn.symbol_address(fn.module.function_symbol(decl), decl.name)


def call(fn: FunctionState, e: c.Call) -> SSAValue | None:
    """A direct or indirect call; None if the function returns nothing."""
    if builtins.is_builtin(e):
        return builtins.call(fn, e)
    direct = e.callee.decl if isinstance(e.callee, c.FunctionRef) else None
    pointer = None if direct is not None else expressions.rvalue(fn, e.callee)
    by_abi = direct is not None and not fn.module.is_defined(direct)
    args: list[SSAValue] = []
    for arg in e.args:
        if isinstance(arg.type, RecordType) and by_abi:
            args += _split_argument(fn, arg)
        else:
            args.append(expressions.rvalue(fn, arg))
    fn.b.at(e.loc)
    signature = call_type(fn.module.types, e, by_abi=by_abi)
    result = None if isinstance(signature.output, LLVMVoidType) else signature.output
    if direct is not None:
        symbol = fn.module.function_symbol(direct)
        if matches(fn.module.function_types[symbol], args, result):
            variadic = signature if signature.is_variadic else None
            op = llvm.CallOp(symbol, *args, return_type=result, var_callee_type=variadic)
            value = fn.b.add(op, direct.name).returned
            return _result(fn, e, value, by_abi=by_abi)
        definition = fn.module.definition(direct)
        if definition is not None:
            return mismatched_calls.call(fn, e, args, definition)
        pointer = fn.symbol_address(symbol, direct.name)
    assert pointer is not None
    op = indirect_call(pointer, args, signature)
    return _result(fn, e, fn.b.add(op, "call").returned, by_abi=by_abi)


def matches(t: LLVMFunctionType, args: list[SSAValue], result: Attribute | None) -> bool:
    """Whether a call with `args` and `result` agrees with a function of type `t`."""
    fixed = t.inputs.data
    output = None if isinstance(t.output, LLVMVoidType) else t.output
    if output != result or len(args) < len(fixed) or (len(args) > len(fixed) and not t.is_variadic):
        return False
    return all(a.type == p for a, p in zip(args, fixed, strict=False))


def call_type(types: TypeLowering, e: c.Call, *, by_abi: bool) -> LLVMFunctionType:
    """The IR type of the function that call `e` calls."""
    t = e.function_type
    if not t.prototyped and not t.params:
        t = FunctionType(t.result, tuple(a.type for a in e.args))
    return external_type(types, t, e.loc) if by_abi else types.function(t)


def indirect_call(
    pointer: SSAValue, args: list[SSAValue], signature: LLVMFunctionType
) -> llvm.CallOp:
    """`llvm.call %pointer(%args)`, a form that xDSL's constructor lacks."""
    properties: dict[str, Attribute] = {
        "fastmathFlags": llvm.FastMathAttr("none"),
        "CConv": llvm.CallingConventionAttr("ccc"),
        "TailCallKind": llvm.TailCallKindAttr(llvm.TailCallKind.NONE),
        "op_bundle_sizes": DenseArrayBase.from_list(i32, ()),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(args) + 1, 0]),
    }
    if signature.is_variadic:
        properties["var_callee_type"] = signature
    results = [] if isinstance(signature.output, LLVMVoidType) else [signature.output]
    return llvm.CallOp.create(
        operands=[pointer, *args], properties=properties, result_types=results
    )


# Records across the psABI ----------------------------------------------------------------------


def external_type(types: TypeLowering, t: FunctionType, loc: SourceLoc) -> LLVMFunctionType:
    """The IR type of a function outside the program, records as eightbytes."""
    inputs: list[Attribute] = []
    for p in t.params:
        inputs += _eightbytes(p, loc) if isinstance(p, RecordType) else [types.convert(p)]
    output: Attribute | None
    if isinstance(t.result, RecordType):
        parts = _eightbytes(t.result, loc)
        output = parts[0] if len(parts) == 1 else LLVMStructType.from_type_list(parts)
    else:
        output = None if isinstance(t.result, VoidType) else types.convert(t.result)
    variadic = t.variadic or (not t.prototyped and not t.params)
    return LLVMFunctionType(inputs, output, is_variadic=variadic)


def _eightbytes(t: RecordType, loc: SourceLoc) -> list[Attribute]:
    """The registers a record travels in (psABI 3.2.3)."""
    classes: dict[int, bool] = {}
    known = t.is_complete and t.size <= 16 and _classify(t, 0, classes)
    if not known:
        raise error(
            loc,
            f"'{t}' is passed by value in memory to or from a function outside the program",
            "pass a pointer to it, or add the source file that defines the function",
        )
    out: list[Attribute] = []
    for i in range(-(-t.size // 8)):
        size = min(8, t.size - 8 * i)
        if classes.get(i, True):
            out.append(f64 if size > 4 else f32)
        else:
            out.append(IntegerType(8 * (1 << (size - 1).bit_length())))
    return out


def _classify(t: CType, offset: int, classes: dict[int, bool]) -> bool:
    """Marks eightbytes as SSE (True) or INTEGER (False); False if the record goes to memory."""
    if isinstance(t, RecordType):
        return all(_classify(f.type.type, offset + f.offset, classes) for f in t.fields or ())
    if isinstance(t, ArrayType) and isinstance(t.length, int):
        size = t.element.type.size
        return all(_classify(t.element.type, offset + i * size, classes) for i in range(t.length))
    if isinstance(t, FloatType) and t.bits == 80:
        return False
    is_sse = isinstance(t, FloatType)
    classes[offset // 8] = classes.get(offset // 8, True) and is_sse
    return True


def _split_argument(fn: FunctionState, e: c.Expr) -> list[SSAValue]:
    assert isinstance(e.type, RecordType)
    parts = _eightbytes(e.type, e.loc)
    buffer = fn.scratch(LLVMStructType.from_type_list(parts), 16, "arg")
    objects.record_into(fn, buffer, e)
    return [fn.b.load(fn.b.offset(buffer, 8 * i), part) for i, part in enumerate(parts)]


def _result(
    fn: FunctionState, e: c.Call, value: SSAValue | None, *, by_abi: bool
) -> SSAValue | None:
    if value is None or not by_abi or not isinstance(e.type, RecordType):
        return value
    address = lvalues.spill(fn, value, e.type, "result")
    return fn.b.load(address, fn.module.types.convert(e.type))
