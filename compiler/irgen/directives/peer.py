"""
`update peer to(a) to_device(n) from(b) from_device(m)` (a research extension): device m's copy of one
section onto device n's copy of another, by the runtime's `acc_memcpy_d2d`.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import i8, i32, i64
from xdsl.ir import Block, Region, SSAValue

from ...c import ast as c
from ...c.types import INT, SIZE_T, VOID, FunctionType, pointer_to
from ...diagnostics import error
from ...directives.records import Directive, PeerClause
from ..function import FunctionState
from . import data
from .common import condition_of, queues, slot_i32

_COPY = "acc_memcpy_d2d"
_NOVAL = -1


def is_peer(directive: Directive) -> bool:
    """Whether an `update` directive is one between devices."""
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
    target, size = _section(fn, directive, "to")
    source, _ = _section(fn, directive, "from")
    fn.b.at(directive.loc)
    arguments = [target, source, size, _device(fn, directive, "to"), _device(fn, directive, "from")]
    is_async = q.async_bare or q.async_operand is not None
    if is_async:
        queue = fn.b.int(_NOVAL, i32)
        if q.async_operand is not None:
            queue = fn.b.resize(q.async_operand, i32, signed=True)
        arguments.append(queue)
    types = (pointer_to(VOID), pointer_to(VOID), SIZE_T, INT, INT, *([INT] if is_async else []))
    name = f"{_COPY}_async" if is_async else _COPY
    called = c.FunctionDecl(name, FunctionType(VOID, types), directive.loc)
    fn.b.add(llvm.CallOp(fn.module.function_symbol(called), *arguments))


def _clause(directive: Directive, name: str) -> PeerClause:
    clause = directive.find(name, PeerClause)
    assert clause is not None, "all four clauses are there"
    return clause


def _device(fn: FunctionState, directive: Directive, side: str) -> SSAValue:
    slot = _clause(directive, f"{side}_device").device
    assert slot is not None
    return slot_i32(fn, slot)


def _section(fn: FunctionState, directive: Directive, side: str) -> tuple[SSAValue, SSAValue]:
    """The host address of a section's first byte, and its bytes (i64)."""
    clause = _clause(directive, side)
    assert clause.item is not None
    located = data.locate(fn, clause, clause.item)
    if not located.bounds:
        return located.var, fn.b.int(located.c_type.size, i64)
    if len(located.bounds) > 1:
        raise error(
            clause.item.loc,
            f"the section of '{clause.item.name}' in '{side}' has several dimensions",
            "name a run of elements: use a pointer to its first",
        )
    bounds = located.bounds[0].owner
    assert isinstance(bounds, acc.DataBoundsOp)
    lower, extent, stride = bounds.lowerbound, bounds.extent, bounds.stride
    assert lower is not None and extent is not None and stride is not None
    bounds.detach()
    bounds.erase()
    start = fn.b.gep(located.var, [fn.b.mul_nsw(lower, stride)], i8)
    return start, fn.b.mul_nsw(extent, stride)
