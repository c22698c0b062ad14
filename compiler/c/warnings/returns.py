"""Warnings about functions with a result whose end can be reached without `return` (`return-type`)."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.diagnostics import Diagnostic, warning
from .. import ast as c
from ..tree import int_constant, jumps, strip_casts, walk
from ..types import VoidType

_NEVER_RETURN = frozenset(
    [
        "exit",
        "abort",
        "_Exit",
        "_exit",
        "quick_exit",
        "longjmp",
        "siglongjmp",
        "__assert_fail",
        "err",
        "errx",
        "MPI_Abort",
        "__builtin_unreachable",
        "__builtin_trap",
        "__builtin_abort",
    ]
)


def missing_return(function: c.FunctionDecl) -> Iterator[Diagnostic]:
    """The warning about a definition whose end can be reached."""
    body = function.body
    assert body is not None
    if isinstance(function.type.result, VoidType) or function.name == "main" or not _ends(body):
        return
    yield warning(
        function.loc,
        f"'{function.name}' may end without returning a value of type '{function.type.result}'",
        "end every path with 'return value;'",
        option="return-type",
    )


def _ends(s: c.Stmt) -> bool:
    """Whether control may reach the statement after `s`, judged by the form of the statements alone."""
    match s:
        case c.Return() | c.Goto() | c.Break() | c.Continue():
            return False
        case c.ExprStmt():
            return not _never_returns(s.expr)
        case c.Compound():
            reached = True
            for each in s.body:
                reached = (reached or _is_entered(each)) and _ends(each)
            return reached
        case c.If():
            always = int_constant(s.condition)
            then = always != 0 and _ends(s.then)
            return then or (not always and (s.otherwise is None or _ends(s.otherwise)))
        case c.For() | c.While():
            condition = int_constant(s.condition) if s.condition is not None else 1
            return not condition or jumps(s.body, c.Break)
        case c.DoWhile():
            leaves = _ends(s.body) or any(isinstance(n, c.Continue) for n in walk(s.body))
            return (leaves and not int_constant(s.condition)) or jumps(s.body, c.Break)
        case c.Switch():
            has_default = any(isinstance(n, c.Case) and n.value is None for n in walk(s.body))
            return not has_default or jumps(s.body, c.Break) or _ends(s.body)
        case c.Label() | c.Case():
            return _ends(s.body)
        case c.AccStmt():
            return s.body is None or _ends(s.body)
        case _:
            return True


def _is_entered(s: c.Stmt) -> bool:
    """Whether control may reach `s`, or a statement in it, by a label or `case`."""
    return any(isinstance(node, c.Label | c.Case) for node in walk(s))


def _never_returns(e: c.Expr) -> bool:
    e = strip_casts(e)
    if isinstance(e, c.Conditional):
        return _never_returns(e.then) and _never_returns(e.otherwise)
    if not isinstance(e, c.Call) or not isinstance(e.callee, c.FunctionRef):
        return False
    decl = e.callee.decl
    return decl.is_noreturn or (decl.body is None and decl.name in _NEVER_RETURN)
