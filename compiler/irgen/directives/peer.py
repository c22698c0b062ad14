"""
`update peer to(a) to_device(n) from(b) from_device(m)` (a research extension): copies device m's copy of
one section to device n's copy of another.
"""

from __future__ import annotations

from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Region, SSAValue

from ....dialects.accx_devices import PeerOperand, UpdatePeerOp
from ...base.abi import ASYNC_NOVAL
from ...c import ast as c
from ...directives.records import Directive, PeerClause
from ..function import FunctionState
from . import data
from .common import condition_of, queues, slot_i32


def is_peer(directive: Directive) -> bool:
    """Whether an `update` directive copies between devices."""
    return any(isinstance(clause, PeerClause) for clause in directive.clauses)


def emit(fn: FunctionState, s: c.AccStmt) -> None:
    """`update peer`: waits for the queues named, then copies (on a queue, with `async`)."""
    directive = s.directive
    condition = condition_of(fn, directive, "if")
    if condition is None:
        _copy(fn, directive)
        return
    block, outer = Block(), fn.b.block
    fn.b.block = block
    _copy(fn, directive)
    fn.b.add(scf.YieldOp())
    fn.b.block = outer
    fn.b.add(scf.IfOp(condition, [], Region(block)))


def _copy(fn: FunctionState, directive: Directive) -> None:
    q = queues(fn, directive)
    if q.wait_operands or q.wait_bare:
        fn.b.add(acc.WaitOp(wait_operands=q.wait_operands, wait_devnum=q.wait_devnum))
    to, origin = _section(fn, directive, "to"), _section(fn, directive, "from")
    fn.b.at(directive.loc)
    queue = q.async_operand
    if q.async_bare:
        queue = fn.b.int(ASYNC_NOVAL, i64)
    fn.b.add(UpdatePeerOp(to, origin, queue))


def _clause(directive: Directive, name: str) -> PeerClause:
    clause = directive.find(name, PeerClause)
    assert clause is not None, "all four clauses are there"
    return clause


def _section(fn: FunctionState, directive: Directive, side: str) -> PeerOperand:
    """One side: the host address that its bounds are relative to, and the bounds as plain values."""
    clause, device = _clause(directive, side), _clause(directive, f"{side}_device").device
    assert clause.item is not None and device is not None
    number = slot_i32(fn, device)
    located = data.locate(fn, clause, clause.item)
    bounds = [value for b in located.bounds for value in _taken_apart(b)]
    size = 0 if bounds else located.c_type.size
    return PeerOperand(located.var, number, located.name, size, bounds)


def _taken_apart(bounds: SSAValue) -> list[SSAValue]:
    """The values of an `acc.bounds`, which is erased."""
    op = bounds.owner
    assert isinstance(op, acc.DataBoundsOp)
    values = (op.lowerbound, op.extent, op.stride)
    op.detach()
    op.erase()
    return [value for value in values if value is not None]
