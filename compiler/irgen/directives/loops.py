"""
`loop` directives → `acc.loop` (OpenACC 3.4, 2.9). Collapsed and tiled nests are one operation with one
induction variable per loop, outermost first.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, i1, i32, i64
from xdsl.ir import Block, Region, SSAValue

from ...base.diagnostics import error
from ...base.names import value_name
from ...c import ast as c
from ...c.tree import (
    unwrapped,
    walk,
)
from ...c.types import IntType
from ...directives.records import Directive, ExprClause, GangClause, TileClause
from .. import bodies, structured
from ..counted import CountedLoop
from ..counters import Counter, make_counter
from ..facts import loop_depth
from ..function import FunctionState
from ..scan_form import ScanForm, recognize, scan_clause
from . import scans
from .common import (
    DEFAULT_DEVICE,
    NONE,
    gang_dimension,
    slot_i32,
)
from .privatization import Privates, privates

_COMBINED = {
    "parallel": acc.CombinedConstructsType.PARALLEL_LOOP,
    "serial": acc.CombinedConstructsType.SERIAL_LOOP,
    "kernels": acc.CombinedConstructsType.KERNELS_LOOP,
}


def emit_directive(fn: FunctionState, s: c.AccStmt) -> None:
    """A `loop` directive by itself."""
    assert s.body is not None
    emit_loop(fn, s.directive, prepare(fn, s.directive, s.body), combined=None)


@dataclass
class Prepared:
    """The loops that a directive covers; `counted` is None for a `seq` loop whose iterations cannot be
    counted."""

    nest: list[c.For]
    counted: list[CountedLoop] | None
    counters: list[Counter] | None = None
    scan: ScanForm | None = None


def prepare(fn: FunctionState, directive: Directive, body: c.Stmt) -> Prepared:
    """Checks the loop nest of a `loop` directive."""
    depth = loop_depth(c.AccStmt(loc=directive.loc, directive=directive))
    nest = _nest(directive, body, depth)
    scan = scan_clause(directive)
    counted = _counted(fn, directive, nest, seq=directive.has("seq") and scan is None)
    if scan is None or counted is None:
        return Prepared(nest, counted)
    if len(counted) > 1:
        raise error(scan.loc, "a scan runs along one loop", "put 'scan' on the inner loop")
    return Prepared(nest, counted, scan=recognize(directive, scan, nest[0].body, counted[0]))


def count_on_host(fn: FunctionState, loops: Prepared, named: set[c.VarDecl]) -> None:
    """
    Evaluates the bounds of a combined construct's loops before the construct, because the launch needs
    them, and so that `p->n` needs no device copy of `*p`. Bounds that read variables in `named`, whose
    device copies may differ, are evaluated inside.
    """
    if loops.counted is None:
        return
    for loop in loops.counted:
        if not isinstance(loop.var.type, IntType):
            return
        for part in (loop.start, loop.bound, loop.step):
            if isinstance(part, c.Expr) and any(
                isinstance(n, c.Call) or (isinstance(n, c.VarRef) and n.decl in named)
                for n in walk(part)
            ):
                return
    loops.counters = [make_counter(fn, loop) for loop in loops.counted]


def emit_loop(
    fn: FunctionState, directive: Directive, loops: Prepared, combined: str | None
) -> None:
    """Emits the loop nest of a `loop` directive (or of the loop part of a combined one)."""
    nest, counted = loops.nest, loops.counted
    if counted is None:
        bodies.emit_body(fn, nest[0])
        return
    counters = loops.counters or [make_counter(fn, loop) for loop in counted]
    own = frozenset(loop.var for loop in counted)
    copies = privates(fn, directive, own)
    levels = _Levels(fn, directive)
    identity = scans.identity(fn, loops.scan) if loops.scan is not None else None
    fn.b.at(directive.loc)
    block = Block(arg_types=[k.lower.type for k in counters])
    with fn.region(block, flat=False) as region, fn.construct("loop", "loop", directive.loc, block):
        fn.loop_level += 1
        for loop, counter, arg in zip(counted, counters, block.args, strict=True):
            arg.name_hint = value_name(loop.var.name)
            fn.b.at(nest[0].loc)
            structured.enter_iteration(fn, loop, counter, arg)
        copies.bind(fn, nest[-1].body)
        if loops.scan is not None:
            scans.check_running(fn, loops.scan, nest[-1].body)
            scans.mark(fn, loops.scan, identity)
        bodies.emit_iteration(fn, nest[-1].body)
        fn.loop_level -= 1
        fn.b.at(directive.loc)
        fn.b.add(acc.YieldOp())
    fn.b.at(directive.loc)
    op = _operation(directive, counters, copies, levels, region, combined)
    _set_mode(op, directive, _enclosing(fn, combined))
    fn.b.add(op)


def _enclosing(fn: FunctionState, combined: str | None) -> str:
    """The kind of compute construct around a loop; "" for an orphan."""
    if combined is not None:
        return combined
    for construct in reversed(fn.constructs):
        if construct.kind in _COMBINED:
            return construct.kind
    return ""


# The loops of the nest --------------------------------------------------------------------------


def _nest(directive: Directive, body: c.Stmt, depth: int) -> list[c.For]:
    """The `depth` tightly nested loops that the directive covers, outermost first."""
    clause = "tile" if directive.has("tile") else "collapse"
    out: list[c.For] = []
    current: c.Stmt = body
    for level in range(depth):
        inner = _only(current)
        if not isinstance(inner, c.For):
            if level == 0:
                raise error(
                    directive.loc,
                    "'loop' is not followed by a 'for' loop",
                    "put the directive directly before a 'for' loop",
                )
            raise error(
                inner.loc if inner is not None else current.loc,
                f"'{clause}' covers {depth} loops, but only {level} are tightly nested here",
                f"move other statements out of the nest, or use {clause} over {level} loops",
                [(directive.loc, "the directive is here")],
            )
        out.append(inner)
        current = inner.body
    return out


def _only(s: c.Stmt) -> c.Stmt | None:
    """The one statement that `s` consists of; of several, the first that is not a loop."""
    parts = unwrapped(s)
    return (
        parts[0] if len(parts) == 1 else next((p for p in parts if not isinstance(p, c.For)), None)
    )


def _counted(
    fn: FunctionState, directive: Directive, nest: list[c.For], *, seq: bool
) -> list[CountedLoop] | None:
    """The counted form of every loop; None for a `seq` loop that has none."""
    out: list[CountedLoop] = []
    for loop in nest:
        counted = fn.facts.counted.get(id(loop), "it is not analysed")
        if isinstance(counted, str):
            if seq and len(nest) == 1:
                fn.module.sink.remark(
                    loop.loc, f"the trip count of this sequential loop is unknown: {counted}"
                )
                return None
            raise error(
                loop.loc,
                f"the iterations of this loop cannot be counted before it starts: {counted}",
                "write it as 'for (i = start; i < end; i += step)', or use 'loop seq'",
                [(directive.loc, "the directive is here")],
            )
        for outer in out:
            parts = [counted.start, counted.bound, counted.step]
            for part in parts:
                if isinstance(part, c.Expr) and _mentions(part, outer.var):
                    raise error(
                        part.loc,
                        f"the bounds of this loop depend on '{outer.var.name}', "
                        "so the nest is not rectangular",
                        "collapse only loops with independent bounds",
                        [(directive.loc, "the directive is here")],
                    )
        out.append(counted)
    return out


def _mentions(e: c.Expr, var: c.VarDecl) -> bool:
    return any(isinstance(n, c.VarRef) and n.decl is var for n in walk(e))


# Clauses ------------------------------------------------------------------------------------------


class _Levels:
    """The operands of `gang`, `worker`, `vector` and `tile`."""

    def __init__(self, fn: FunctionState, directive: Directive):
        self.gang_operands: list[SSAValue] = []
        self.gang_kinds: list[acc.GangArgTypeAttr] = []
        gang = directive.find("gang", GangClause)
        self.gang = gang is not None
        if gang is not None:
            self._gang(fn, gang)
        self.worker, self.worker_operands = self._sized(fn, directive, "worker")
        self.vector, self.vector_operands = self._sized(fn, directive, "vector")
        tile = directive.find("tile", TileClause)
        sizes = [] if tile is None else tile.sizes
        self.tile = [fn.b.int(-1, i32) if t is None else slot_i32(fn, t) for t in sizes]

    def _gang(self, fn: FunctionState, gang: GangClause) -> None:
        if gang.num is not None:
            self._add(slot_i32(fn, gang.num), acc.GangArgType.NUM)
        if gang.dim is not None:
            self._add(fn.b.int(gang_dimension(gang), i32), acc.GangArgType.DIM)
        if gang.static_any:
            self._add(fn.b.int(-1, i32), acc.GangArgType.STATIC)
        elif gang.static is not None:
            self._add(slot_i32(fn, gang.static), acc.GangArgType.STATIC)

    def _add(self, value: SSAValue, kind: acc.GangArgType) -> None:
        self.gang_operands.append(value)
        self.gang_kinds.append(acc.GangArgTypeAttr(kind))

    @staticmethod
    def _sized(fn: FunctionState, directive: Directive, name: str) -> tuple[bool, list[SSAValue]]:
        clause = directive.find(name, ExprClause)
        if clause is None:
            return directive.has(name), []
        return True, [slot_i32(fn, a) for a in clause.args]


def _operation(
    directive: Directive,
    counters: list[Counter],
    copies: Privates,
    levels: _Levels,
    region: Region,
    combined: str | None,
) -> acc.LoopOp:
    n = len(counters)
    collapse = directive.has("collapse")
    gangs, tiles = levels.gang_operands, levels.tile
    return acc.LoopOp(
        region=region,
        lowerbound=[k.lower for k in counters],
        upperbound=[k.upper for k in counters],
        step=[k.step for k in counters],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0] * n),
        collapse=ArrayAttr([IntegerAttr(n, i64)]) if collapse else None,
        collapse_device_type=DEFAULT_DEVICE if collapse else None,
        gang=DEFAULT_DEVICE if levels.gang and not gangs else None,
        gang_operands=gangs,
        gang_operands_arg_type=ArrayAttr(levels.gang_kinds) if gangs else None,
        gang_operands_segments=DenseArrayBase.from_list(i32, [len(gangs)]) if gangs else None,
        gang_operands_device_type=DEFAULT_DEVICE if gangs else None,
        worker=DEFAULT_DEVICE if levels.worker and not levels.worker_operands else None,
        worker_num_operands=levels.worker_operands,
        worker_num_operands_device_type=DEFAULT_DEVICE if levels.worker_operands else None,
        vector=DEFAULT_DEVICE if levels.vector and not levels.vector_operands else None,
        vector_operands=levels.vector_operands,
        vector_operands_device_type=DEFAULT_DEVICE if levels.vector_operands else None,
        tile_operands=tiles,
        tile_operands_segments=DenseArrayBase.from_list(i32, [len(tiles)]) if tiles else None,
        tile_operands_device_type=DEFAULT_DEVICE if tiles else None,
        private_operands=copies.private,
        reduction_operands=copies.reduction,
        combined=_COMBINED[combined] if combined is not None else None,
    )


def _set_mode(op: acc.LoopOp, directive: Directive, enclosing: str) -> None:
    """`seq`, `auto` or `independent`; by default what the compute construct implies (2.9.6 to 2.9.8)."""
    levelled = any(directive.has(name) for name in ("gang", "worker", "vector"))
    if directive.has("seq"):
        op.seq = ArrayAttr([NONE])
    elif directive.has("auto"):
        op.auto_ = ArrayAttr([NONE])
    elif directive.has("independent") or directive.has("scan"):
        op.independent = ArrayAttr([NONE])
    elif enclosing == "kernels":
        op.auto_ = ArrayAttr([NONE])
    elif enclosing == "serial" and not levelled:
        op.seq = ArrayAttr([NONE])
    else:
        op.independent = ArrayAttr([NONE])
