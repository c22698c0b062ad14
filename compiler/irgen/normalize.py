"""
Rewrites guards to structured form: `if (c) continue;` in a loop and `if (c) return;` in a void function
become `if (!c) { rest }`, so that most loops stay structured operations. Functions that may run on a device
and have a few returns of a scalar assign it to one variable, which they return at their end, because only a
function of one block can be inlined. Branches with a constant false condition and labels that no jump names
are removed, and the loops of `collapse(force:)` become tightly nested.

A guard is rewritten only if no statement has to be duplicated; every other jump is left as it is.
"""

from __future__ import annotations

from dataclasses import replace

from ..c import ast as c
from ..c.sema.constants import integer_value
from ..c.tree import jumps, walk
from ..c.types import INT, CType, QualType, VoidType, is_scalar
from .collapse import is_forced, sink_between

MOST_RETURNS = 8
"""The most returns of such a function; with more, it would be nested deeply."""


def normalize_body(function: c.FunctionDecl, body: c.Compound) -> c.Compound:
    """The body of `function`, with guards turned into `if`s wherever possible."""
    out, result = _normalize(body, function.jump_targets), function.type.result
    assert isinstance(out, c.Compound)
    if isinstance(result, VoidType):
        stripped = _strip([out], c.Return)
        return out if stripped is None else replace(out, body=stripped)
    return _with_one_return(out, result) if is_scalar(result) else out


def _with_one_return(body: c.Compound, result: CType) -> c.Compound:
    """The body with one return at its end, if nesting `if`s is enough for that; otherwise the body
    unchanged. For functions without directives."""
    nodes = list(walk(body))
    returns = [s for s in nodes if isinstance(s, c.Return)]
    if not 1 < len(returns) <= MOST_RETURNS or any(
        isinstance(n, c.AccStmt | c.TeamStmt) for n in nodes
    ):
        return body
    loc = returns[-1].loc
    variable = c.VarDecl("result", QualType(result), loc)
    stripped = _strip([body], c.Return, variable)
    if stripped is None:
        return body
    reference = c.VarRef(decl=variable, type=result, loc=loc)
    value = c.Load(lvalue=reference, type=result, loc=loc)
    declaration = c.DeclStmt(loc=body.loc, decls=[variable])
    return replace(body, body=[declaration, *stripped, c.Return(loc=loc, value=value)])


def _normalize(s: c.Stmt, targets: frozenset[str]) -> c.Stmt:
    """`s` in normal form, in a function whose jumps name the labels `targets`."""
    match s:
        case c.Compound():
            body = [_normalize(b, targets) for b in s.body]
            return (
                s
                if all(a is b for a, b in zip(body, s.body, strict=True))
                else replace(s, body=body)
            )
        case c.If():
            dead = _never_runs(s)
            if dead is not None:
                return _normalize(dead, targets)
            then = _normalize(s.then, targets)
            otherwise = None if s.otherwise is None else _normalize(s.otherwise, targets)
            if then is s.then and otherwise is s.otherwise:
                return s
            return replace(s, then=then, otherwise=otherwise)
        case c.For() | c.While() | c.DoWhile():
            body = _normalize(s.body, targets)
            if jumps(body, c.Continue):
                stripped = _strip([body], c.Continue)
                if stripped is not None:
                    body = c.Compound(loc=body.loc, body=stripped)
            return s if body is s.body else replace(s, body=body)
        case c.Label() if s.name not in targets:
            return _normalize(s.body, targets)
        case c.Switch() | c.Case() | c.Label():
            body = _normalize(s.body, targets)
            return s if body is s.body else replace(s, body=body)
        case c.AccStmt(body=c.Stmt() as inner):
            body = _normalize(inner, targets)
            if is_forced(s.directive):
                body = sink_between(s, body)
            return s if body is inner else replace(s, body=body)
        case c.TeamStmt():
            body = _normalize(s.body, targets)
            return s if body is s.body else replace(s, body=body)
        case _:
            return s


def _never_runs(s: c.If) -> c.Stmt | None:
    """
    The branch that remains of an `if` with a constant condition, so that device code may contain `if
    (DEBUG) host_only();`. None if the condition is not constant, or if a jump may enter the other branch.
    """
    value = integer_value(s.condition)
    if value is None:
        return None
    taken, skipped = (s.then, s.otherwise) if value else (s.otherwise, s.then)
    if skipped is not None and _has_label(skipped):
        return None
    return taken if taken is not None else c.Null(loc=s.loc)


def _strip(
    stmts: list[c.Stmt], kind: type[c.Stmt], result: c.VarDecl | None = None
) -> list[c.Stmt] | None:
    """
    `stmts` without jumps of `kind`, whose target is the end of `stmts`; None if that is impossible.
    Returned values are assigned to `result`.
    """
    out: list[c.Stmt] = []
    for i, s in enumerate(stmts):
        if not jumps(s, kind):
            out.append(s)
            continue
        rest = stmts[i + 1 :]
        match s:
            case c.Return(value=None) | c.Continue():
                return out if not any(_has_label(r) for r in rest) else None
            case c.Return(value=c.Expr() as value) if result is not None:
                if any(_has_label(r) for r in rest):
                    return None
                return [*out, _assignment(result, value)]
            case c.Compound():
                inner = _strip([*s.body, *rest], kind, result)
                return None if inner is None else [*out, *inner]
            case c.If():
                guarded = _strip_if(s, rest, kind, result)
                return None if guarded is None else [*out, *guarded]
            case _:
                return None
    return out


def _assignment(variable: c.VarDecl, value: c.Expr) -> c.Stmt:
    target = c.VarRef(decl=variable, type=variable.type, loc=value.loc)
    assign = c.Assign(target=target, value=value, type=variable.type, loc=value.loc)
    return c.ExprStmt(loc=value.loc, expr=assign)


def _strip_if(
    s: c.If, rest: list[c.Stmt], kind: type[c.Stmt], result: c.VarDecl | None
) -> list[c.Stmt] | None:
    then = [s.then]
    otherwise = [] if s.otherwise is None else [s.otherwise]
    if rest and _ends(s.then, kind):
        otherwise = [*otherwise, *rest]
    elif rest and s.otherwise is not None and _ends(s.otherwise, kind):
        then = [*then, *rest]
    elif rest:
        return None
    new_then, new_otherwise = _strip(then, kind, result), _strip(otherwise, kind, result)
    if new_then is None or new_otherwise is None:
        return None
    condition = s.condition
    if not _is_empty(new_then):
        pass
    elif not _is_empty(new_otherwise):
        new_then, new_otherwise = new_otherwise, []
        condition = c.UnaryOp(op="!", operand=condition, type=INT, loc=condition.loc)
    else:
        return [c.ExprStmt(loc=s.loc, expr=condition)]
    return [
        c.If(
            loc=s.loc,
            condition=condition,
            then=c.Compound(loc=s.then.loc, body=new_then),
            otherwise=c.Compound(loc=s.loc, body=new_otherwise) if new_otherwise else None,
        )
    ]


def _is_empty(stmts: list[c.Stmt]) -> bool:
    return all(
        isinstance(s, c.Null) or (isinstance(s, c.Compound) and _is_empty(s.body)) for s in stmts
    )


def _ends(s: c.Stmt, kind: type[c.Stmt]) -> bool:
    """Whether control never passes beyond `s` because it always jumps."""
    match s:
        case c.Compound():
            return bool(s.body) and _ends(s.body[-1], kind)
        case c.If():
            return s.otherwise is not None and _ends(s.then, kind) and _ends(s.otherwise, kind)
        case c.Return():
            return kind is c.Return
        case _:
            return isinstance(s, kind)


def _has_label(s: c.Stmt) -> bool:
    match s:
        case c.Label() | c.Case():
            return True
        case c.Compound():
            return any(_has_label(b) for b in s.body)
        case c.If():
            return _has_label(s.then) or (s.otherwise is not None and _has_label(s.otherwise))
        case c.For() | c.While() | c.DoWhile() | c.Switch():
            return _has_label(s.body)
        case _:
            return False
