"""Statements inside other statements: the bodies of structured operations and of loops, and `({ … })`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects import scf
from xdsl.ir import Block

from ..c import ast as c
from .facts import NO_FLOW
from .function import FunctionState, JumpTargets

_Out = TypeVar("_Out")


def emit_body(fn: FunctionState, s: c.Stmt) -> None:
    """The body of a structured operation, in basic blocks of its own if its parts jump."""
    if not fn.flat and fn.facts.needs_blocks(s):
        in_blocks(fn, s)
    else:
        fn.statement(s)


def emit_iteration(fn: FunctionState, body: c.Stmt) -> None:
    """The body of a loop under a directive; a `continue` that is not a guard (`normalize.py`) branches to
    its end."""
    if fn.facts.flow.get(id(body), NO_FLOW).continues:
        end = Block()
        fn.targets = JumpTargets(on_continue=end, outside_continue=len(fn.exits))
        in_blocks(fn, body, end)
    else:
        emit_body(fn, body)


def in_blocks(fn: FunctionState, s: c.Stmt, end: Block | None = None) -> None:
    """Wraps `s` in an `scf.execute_region`, where basic blocks are allowed; `end` is its last."""
    loc = fn.b.loc
    with fn.region(Block(), flat=True) as region:
        fn.statement(s)
        fn.b.loc = loc
        if end is not None:
            region.add_block(end)
            fn.start(end)
        if not fn.b.terminated:
            fn.b.add(scf.YieldOp())
    fn.b.add(scf.ExecuteRegionOp([], region))


def statement_expression(
    fn: FunctionState, e: c.StatementExpr, evaluate: Callable[[FunctionState, c.Expr], _Out]
) -> _Out | None:
    """Emits the statements of `({ … })`, and returns the result of `evaluate` for its value; None without a
    value."""
    pending = len(fn.exits)
    for s in e.body:
        fn.statement(s)
    if fn.flat:
        fn.ensure_open()
    value = None if e.value is None else evaluate(fn, e.value)
    if len(fn.exits) > pending:
        fn.leave(pending)
        del fn.exits[pending:]
    return value
