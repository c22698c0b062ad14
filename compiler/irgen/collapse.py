"""
`collapse(force:n)`: moves code between the loops into the innermost body (OpenACC 3.4, 2.9.1).

Before: for (i …) { A; for (j …) B; C; }
After:  for (i …) for (j …) { A; B; C; }

The standard lets intervening code run in every iteration, so A and C may not carry anything from
one iteration to the next; the loops then are tightly nested as without `force:`.
"""

from __future__ import annotations

from dataclasses import replace

from ..base.diagnostics import error
from ..c import ast as c
from ..c.tree import (
    assigned_variable,
    jumps,
    unwrapped,
    walk,
)
from ..directives.records import Directive, ExprClause
from .facts import loop_depth


def is_forced(directive: Directive) -> bool:
    """Whether `directive` has `collapse(force:n)`."""
    clause = directive.find("collapse", ExprClause)
    return clause is not None and clause.keyword == "force"


def sink_between(s: c.AccStmt, body: c.Stmt) -> c.Stmt:
    """
    `body`, the loop nest of the forced collapse `s`, tightly nested. Raises `CompileError` if a
    loop is missing, if a bound needs the code in between, or if `continue` would skip some of it.
    """
    loops: list[c.For] = []
    before: list[c.Stmt] = []
    after: list[c.Stmt] = []
    current = body
    for _ in range(loop_depth(s)):
        parts = unwrapped(current)
        places = [i for i, part in enumerate(parts) if isinstance(part, c.For)]
        if len(places) != 1:
            found = "no loop" if not places else f"{len(places)} loops"
            raise error(
                current.loc,
                f"'collapse(force:)' covers {loop_depth(s)} loops, but {found} on level"
                f" {len(loops) + 1} of the nest",
                "leave one loop on each level, or collapse fewer loops",
                [(s.directive.loc, "the directive is here")],
            )
        loop = parts[places[0]]
        assert isinstance(loop, c.For)
        before += parts[: places[0]]
        after = [*parts[places[0] + 1 :], *after]
        _check_bounds(loop, before, s.directive)
        loops.append(loop)
        current = loop.body
    innermost = loops[-1].body
    if after and jumps(innermost, c.Continue):
        raise error(
            innermost.loc,
            "'continue' would skip the code after a loop under 'collapse(force:)'",
            "turn it into an 'if' around the rest of the body",
            [(s.directive.loc, "the directive is here")],
        )
    nest: c.Stmt = c.Compound(loc=innermost.loc, body=[*before, innermost, *after])
    for loop in reversed(loops):
        nest = replace(loop, body=nest)
    return nest


def _check_bounds(loop: c.For, before: list[c.Stmt], directive: Directive) -> None:
    changed = {
        variable
        for statement in before
        for node in walk(statement)
        if (variable := assigned_variable(node)) is not None
    }
    declared = {
        decl
        for statement in before
        for node in walk(statement)
        if isinstance(node, c.DeclStmt)
        for decl in node.decls
    }
    for part in (loop.init, loop.condition, loop.step):
        for node in walk(part) if part is not None else ():
            if isinstance(node, c.VarRef) and node.decl in changed | declared:
                raise error(
                    node.loc,
                    f"this loop's bounds need '{node.decl.name}', which the code between the"
                    " collapsed loops sets",
                    "compute it before the outermost loop, or collapse fewer loops",
                    [(directive.loc, "the directive is here")],
                )
