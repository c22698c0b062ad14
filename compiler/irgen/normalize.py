"""
Structured form of guards: `if (c) continue;` in a loop and `if (c) return;` in a void function become
`if (!c) { rest }`, so that most loops stay structured operations. Branches that a constant rules out
go, and the loops of `collapse(force:)` become tightly nested.

A guard is rewritten only if no statement has to be duplicated; every other jump is left as it is.
"""

from __future__ import annotations

from dataclasses import replace

from ..c import ast as c
from ..c.sema.constants import integer_value
from ..c.types import INT
from .collapse import is_forced, sink_between
from .tree import jumps


def normalize_body(body: c.Compound, *, returns_void: bool) -> c.Compound:
    """The body of a function with guards turned into `if`s wherever possible."""
    out = _normalize(body)
    assert isinstance(out, c.Compound)
    if returns_void:
        stripped = _strip([out], c.Return)
        if stripped is not None:
            return replace(out, body=stripped)
    return out


def _normalize(s: c.Stmt) -> c.Stmt:
    match s:
        case c.Compound():
            body = [_normalize(b) for b in s.body]
            return (
                s
                if all(a is b for a, b in zip(body, s.body, strict=True))
                else replace(s, body=body)
            )
        case c.If():
            dead = _never_runs(s)
            if dead is not None:
                return _normalize(dead)
            then = _normalize(s.then)
            otherwise = None if s.otherwise is None else _normalize(s.otherwise)
            if then is s.then and otherwise is s.otherwise:
                return s
            return replace(s, then=then, otherwise=otherwise)
        case c.For() | c.While() | c.DoWhile():
            body = _normalize(s.body)
            if jumps(body, c.Continue):
                stripped = _strip([body], c.Continue)
                if stripped is not None:
                    body = c.Compound(loc=body.loc, body=stripped)
            return s if body is s.body else replace(s, body=body)
        case c.Switch() | c.Case() | c.Label():
            body = _normalize(s.body)
            return s if body is s.body else replace(s, body=body)
        case c.AccStmt(body=c.Stmt() as inner):
            body = _normalize(inner)
            if is_forced(s.directive):
                body = sink_between(s, body)
            return s if body is inner else replace(s, body=body)
        case _:
            return s


def _never_runs(s: c.If) -> c.Stmt | None:
    """
    What is left of an `if` with a constant condition, so that device code may hold `if (DEBUG)
    host_only();`. None if the condition is not constant, or a jump may enter the other branch.
    """
    value = integer_value(s.condition)
    if value is None:
        return None
    taken, skipped = (s.then, s.otherwise) if value else (s.otherwise, s.then)
    if skipped is not None and _has_label(skipped):
        return None
    return taken if taken is not None else c.Null(loc=s.loc)


def _strip(stmts: list[c.Stmt], kind: type[c.Stmt]) -> list[c.Stmt] | None:
    """`stmts`, at whose end a jump of `kind` would arrive anyway, without such jumps; None if impossible."""
    out: list[c.Stmt] = []
    for i, s in enumerate(stmts):
        if not jumps(s, kind):
            out.append(s)
            continue
        rest = stmts[i + 1 :]
        match s:
            case c.Return(value=None) | c.Continue():
                return out if not any(_has_label(r) for r in rest) else None
            case c.Compound():
                inner = _strip([*s.body, *rest], kind)
                return None if inner is None else [*out, *inner]
            case c.If():
                guarded = _strip_if(s, rest, kind)
                return None if guarded is None else [*out, *guarded]
            case _:
                return None
    return out


def _strip_if(s: c.If, rest: list[c.Stmt], kind: type[c.Stmt]) -> list[c.Stmt] | None:
    then = [s.then]
    otherwise = [] if s.otherwise is None else [s.otherwise]
    if rest and _ends(s.then, kind):
        otherwise = [*otherwise, *rest]
    elif rest and s.otherwise is not None and _ends(s.otherwise, kind):
        then = [*then, *rest]
    elif rest:
        return None
    new_then, new_otherwise = _strip(then, kind), _strip(otherwise, kind)
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
            return kind is c.Return and s.value is None
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
