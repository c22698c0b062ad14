"""
Whether two lvalues, written apart, designate the same object (OpenACC 3.4, 2.12: "x" in `x = x + e`).

They do if they are the same expression: the same variables, operators, constants, pure calls and
conversions. A conversion that keeps every value, of a narrow integer to a wide one, may be there or not.
"""

from __future__ import annotations

from ...passes.decisions.device_functions import PURE_FUNCTIONS
from ..base.diagnostics import error
from ..c import ast as c
from ..c.tree import children, walk
from ..c.types import BOOL, IntType

_STATEMENTS = (
    c.ExprStmt,
    c.DeclStmt,
    c.Compound,
    c.If,
    c.For,
    c.While,
    c.DoWhile,
    c.Switch,
    c.Case,
    c.Label,
    c.Break,
    c.Continue,
    c.Goto,
    c.Return,
    c.Null,
)


def same_object(a: c.Expr, b: c.Expr) -> bool:
    """
    Whether lvalues `a` and `b` are the same expression. Raises `CompileError` where they are the same but
    contain a call that may have side effects, as it is unclear how often it should run.
    """
    a, b = _without_widening(a), _without_widening(b)
    if type(a) is not type(b) or a.type != b.type:
        return False
    match a, b:
        case c.VarRef(), c.VarRef():
            return a.decl is b.decl
        case c.FunctionRef(), c.FunctionRef():
            return a.decl is b.decl
        case (c.IntConst(), c.IntConst()) | (c.FloatConst(), c.FloatConst()):
            return a.value == b.value
        case c.Load(), c.Load():
            return not (a.volatile or b.volatile) and same_object(a.lvalue, b.lvalue)
        case (c.UnaryOp(), c.UnaryOp()) | (c.BinaryOp(), c.BinaryOp()):
            return a.op == b.op and _same_children(a, b)
        case c.Member(), c.Member():
            return a.field is b.field and same_object(a.record, b.record)
        case c.PtrAdd(), c.PtrAdd():
            return a.subtract == b.subtract and _same_children(a, b)
        case c.Call(), c.Call():
            return _same_call(a, b)
        case (
            (c.Deref(), c.Deref())
            | (c.Decay(), c.Decay())
            | (c.AddressOf(), c.AddressOf())
            | (c.Cast(), c.Cast())
            | (c.PtrDiff(), c.PtrDiff())
            | (c.Conditional(), c.Conditional())
        ):
            return _same_children(a, b)
        case _:
            return False


def _same_children(a: c.Expr, b: c.Expr) -> bool:
    pairs = zip(children(a), children(b), strict=True)
    return all(
        isinstance(x, c.Expr) and isinstance(y, c.Expr) and same_object(x, y) for x, y in pairs
    )


def _without_widening(e: c.Expr) -> c.Expr:
    while isinstance(e, c.Cast) and _keeps_values(e):
        e = e.operand
    return e


def _keeps_values(cast: c.Cast) -> bool:
    source, target = cast.operand.type, cast.type
    if source == target:
        return True
    if not isinstance(source, IntType) or not isinstance(target, IntType) or target == BOOL:
        return False
    if source.signed:
        return target.signed and target.bits >= source.bits
    return target.bits > source.bits or (not target.signed and target.bits == source.bits)


def _same_call(a: c.Call, b: c.Call) -> bool:
    if len(a.args) != len(b.args) or not _same_children(a, b):
        return False
    callee = a.callee
    if isinstance(callee, c.FunctionRef) and is_pure(callee.decl):
        return True
    name = f"'{callee.decl.name}'" if isinstance(callee, c.FunctionRef) else "a function pointer"
    raise error(
        b.loc,
        f"the call of {name} may have side effects, and the atomic statement has it twice",
        "call it before, and use its result in both places",
    )


def is_pure(function: c.FunctionDecl, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a call of `function` only computes a result; it may read memory."""
    if function.body is None:
        return function.name.removeprefix("__builtin_") in PURE_FUNCTIONS
    if function.name in seen:
        return True
    seen |= {function.name}
    return all(_is_harmless(node, seen) for node in walk(function.body))


def _is_harmless(node: object, seen: frozenset[str]) -> bool:
    match node:
        case c.Assign() | c.CompoundAssign():
            return _is_local(node.target) and not node.volatile
        case c.IncDec():
            return _is_local(node.target) and not node.volatile
        case c.Call():
            return isinstance(node.callee, c.FunctionRef) and is_pure(node.callee.decl, seen)
        case c.Load():
            return not node.volatile
        case c.AccStmt() | c.TeamStmt() | c.VaArg() | c.VaOp() | c.AtomicOp():
            return False
        case c.Stmt():
            return isinstance(node, _STATEMENTS)
        case _:
            return True


def _is_local(target: c.Expr) -> bool:
    """Whether an assignment to `target` changes a variable of the function itself."""
    while True:
        match target:
            case c.Member():
                target = target.record
            case c.Deref(pointer=c.PtrAdd(pointer=c.Decay() as array)):
                target = array.operand
            case c.VarRef():
                return target.decl.storage is c.Storage.AUTO
            case _:
                return False
