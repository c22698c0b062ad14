"""
Expressions → SSA values: the table of rules by kind of node. `rvalue` is for a value, `discard` for effects
only; truth values are in `conditions.py`, objects in `lvalues.py` and `objects.py`.
"""

from __future__ import annotations

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..base.diagnostics import error
from ..c import ast as c
from ..c.tree import walk
from ..c.types import IntType, PointerType, RecordType, VoidType
from . import (
    arithmetic,
    assignments,
    atomics,
    bodies,
    calls,
    complex_numbers,
    conditions,
    inline_asm,
    mismatched_calls,
    objects,
    paths,
    places,
    pointers,
    variable_arguments,
)
from .function import FunctionState
from .layout import PTR
from .unused_results import without_result


def rvalue(fn: FunctionState, e: c.Expr) -> SSAValue:
    """The value of `e`, which is not void. A record is a first-class aggregate."""
    value = _rvalue(fn, e)
    if value is None:
        if isinstance(e, c.Call):
            mismatched_calls.refuse_result(fn, e)
        raise error(e.loc, "this expression has no value", "use an expression that has one")
    return value


def _rvalue(fn: FunctionState, e: c.Expr) -> SSAValue | None:
    b = fn.b
    b.at(e.loc)
    match e:
        case c.IntConst():
            if isinstance(e.type, PointerType):
                if e.value == 0:
                    return b.zero(PTR)
                return b.value(llvm.IntToPtrOp(b.int(e.value, i64)))
            return b.int(e.value, fn.module.types.convert(e.type))
        case c.FloatConst():
            return b.float(e.value, fn.module.types.convert(e.type), e.bits)
        case c.Load():
            return _load(fn, e)
        case c.Decay():
            if isinstance(e.operand, c.FunctionRef):
                return calls.function_address(fn, e.operand.decl)
            return fn.place(e.operand).memory
        case c.FunctionRef():
            return calls.function_address(fn, e.decl)
        case c.AddressOf():
            if isinstance(e.operand, c.FunctionRef):
                return calls.function_address(fn, e.operand.decl)
            return fn.place(e.operand).memory
        case c.Cast():
            return _cast(fn, e)
        case c.AtomicOp():
            return atomics.rvalue(fn, e)
        case c.ComplexOp():
            return complex_numbers.rvalue(fn, e)
        case c.UnaryOp():
            return _unary(fn, e)
        case c.BinaryOp():
            return _binary(fn, e)
        case c.PtrAdd():
            return pointers.add(fn, e)
        case c.PtrDiff():
            return pointers.difference(fn, e)
        case c.Assign():
            return assignments.assign(fn, e)
        case c.CompoundAssign():
            return assignments.compound_assign(fn, e)
        case c.IncDec():
            return assignments.increment(fn, e)
        case c.Conditional():
            return conditions.conditional(fn, e)
        case c.Comma():
            discard(fn, e.lhs)
            return _rvalue(fn, e.rhs)
        case c.StatementExpr():
            return bodies.statement_expression(fn, e, _rvalue)
        case c.Call():
            return calls.call(fn, e)
        case c.Asm():
            inline_asm.statement(fn, e)
            return None
        case c.SizeofVla():
            return fn.byte_size(e.of)
        case c.VaArg():
            return variable_arguments.va_arg(fn, e)
        case c.VaOp():
            variable_arguments.va_op(fn, e)
            return None
        case c.VarRef() | c.Deref() | c.Member() | c.CompoundLiteral() | c.StringLiteral():
            # A member of an rvalue record, or an lvalue used for its value without a Load.
            return places.load(fn, fn.place(e))
        case _:
            raise error(
                e.loc, f"unsupported expression '{type(e).__name__}'", "rewrite the expression"
            )


def discard(fn: FunctionState, e: c.Expr) -> None:
    """Evaluates `e` for its effects."""
    match e:
        case c.Cast() if isinstance(e.type, VoidType):
            discard(fn, e.operand)
        case c.Load(volatile=False) if not isinstance(e.lvalue, c.CompoundLiteral):
            if any(isinstance(n, c.Call | c.Assign | c.CompoundAssign | c.IncDec) for n in walk(e)):
                fn.place(e.lvalue)
        case c.Assign() if isinstance(e.type, RecordType):
            objects.assign_record(fn, e)
        case c.IntConst() | c.FloatConst():
            return
        case c.Call():
            calls.call(fn, without_result(fn, e))
        case _:
            _rvalue(fn, e)


def _load(fn: FunctionState, e: c.Load) -> SSAValue:
    lvalue = e.lvalue
    if isinstance(lvalue, c.VarRef) and lvalue.decl in fn.values:
        return fn.values[lvalue.decl]
    if fn.members:
        replaced = fn.members.get(paths.path_key(fn, lvalue) or "")
        if replaced is not None:
            return replaced
    return places.load(fn, fn.place(lvalue), volatile=e.volatile)


def _cast(fn: FunctionState, e: c.Cast) -> SSAValue | None:
    if isinstance(e.type, VoidType):
        discard(fn, e.operand)
        return None
    source = e.operand.type
    if isinstance(e.type, IntType) and conditions.is_comparison(e.operand):
        truth = conditions.condition(fn, e.operand)
        fn.b.at(e.loc)
        return arithmetic.from_truth(fn.b, truth, e.type)
    value = rvalue(fn, e.operand)
    fn.b.at(e.loc)
    return arithmetic.convert(fn.b, value, source, e.type)


def _unary(fn: FunctionState, e: c.UnaryOp) -> SSAValue:
    if e.op == "!":
        truth = conditions.condition(fn, e)
        return arithmetic.from_truth(fn.b, truth, e.type)
    value = rvalue(fn, e.operand)
    fn.b.at(e.loc)
    if e.op == "-":
        if isinstance(e.operand, c.IntConst):
            return fn.b.int(-e.operand.value, value.type)
        return arithmetic.negate(fn.b, value, e.type)
    if e.op == "+":
        return value
    return fn.b.value(arith.XOrIOp(value, fn.b.int(-1, value.type)))


def _binary(fn: FunctionState, e: c.BinaryOp) -> SSAValue:
    if conditions.is_comparison(e):
        truth = conditions.condition(fn, e)
        fn.b.at(e.loc)
        return arithmetic.from_truth(fn.b, truth, e.type)
    x, y = rvalue(fn, e.lhs), rvalue(fn, e.rhs)
    fn.b.at(e.loc)
    return arithmetic.binary(fn.b, e.op, x, y, e.type)
