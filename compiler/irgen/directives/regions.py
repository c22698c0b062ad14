"""`data` and `host_data` constructs (OpenACC 3.4, 2.6.5 and 2.8)."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import acc
from xdsl.ir import (
    Block,
    Region,
)

from ...c import ast as c
from ...directives.records import DefaultClause, Directive, VarListClause
from .. import bodies
from ..function import FunctionState
from . import compression, data
from .common import condition_of, queues


def default_attr(directive: Directive) -> acc.ClauseDefaultValueAttr | None:
    """The attribute of `default(none)` or `default(present)`."""
    clause = directive.find("default", DefaultClause)
    if clause is None:
        return None
    return acc.ClauseDefaultValueAttr(acc.ClauseDefaultValue(clause.value))


EmitBody = Callable[[FunctionState, c.Stmt], None]
"""Emits the statement to which a construct applies."""


def emit_data(fn: FunctionState, s: c.AccStmt, emit_body: EmitBody | None = None) -> None:
    """`data`: its region is host code, and uses host values."""
    directive = s.directive
    assert s.body is not None
    if_cond = condition_of(fn, directive, "if")
    q = queues(fn, directive)
    mappings = compression.enter_clauses(fn, directive)
    region = _region(fn, s, s.body, emit_body or bodies.emit_body)
    data.gather(fn, [m.device for m in mappings])
    fn.b.add(
        acc.DataOp(
            region=region,
            if_cond=if_cond,
            **q.by_device,
            data_clause_operands=[m.device for m in mappings],
            default_attr=default_attr(directive),
        )
    )
    data.leave(fn, mappings)


def _region(fn: FunctionState, s: c.AccStmt, body: c.Stmt, emit_body: EmitBody) -> Region:
    """The region of a construct whose body is host code."""
    name = s.directive.kind.value
    with fn.region(Block(), flat=False) as region, fn.construct(name, "data", s.loc):
        emit_body(fn, body)
        fn.b.at(s.directive.loc)
        fn.b.add(acc.TerminatorOp())
    return region


def emit_host_data(fn: FunctionState, s: c.AccStmt, emit_body: EmitBody | None = None) -> None:
    """`host_data`: in its region, the names in `use_device` mean device addresses."""
    directive = s.directive
    assert s.body is not None
    if_cond = condition_of(fn, directive, "if")
    located = [
        data.locate(fn, clause, item)
        for clause in directive.all("use_device", VarListClause)
        for item in clause.items
    ]
    devices = [data.entry(fn, acc.UseDeviceOp, x) for x in located]
    fn.b.at(directive.loc)

    def emit_with_devices(fn: FunctionState, body: c.Stmt) -> None:
        for x, device in zip(located, devices, strict=True):
            x.bind(fn, device, body)
        (emit_body or bodies.emit_body)(fn, body)

    region = _region(fn, s, s.body, emit_with_devices)
    data.gather(fn, devices)
    fn.b.add(
        acc.HostDataOp(
            region=region,
            if_cond=if_cond,
            data_clause_operands=devices,
            if_present=directive.has("if_present"),
        )
    )
