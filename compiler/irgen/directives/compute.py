"""`parallel`, `serial`, `kernels`, alone or combined with `loop` (OpenACC 3.4, 2.5 and 2.11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr, i32
from xdsl.ir import Block, Region, SSAValue

from ...c import ast as c
from ...c.tree import (
    clause_items,
    statements,
    walk,
)
from ...c.types import INT, FunctionType
from ...directives.records import (
    Directive,
    DirectiveKind,
    ExprClause,
    ExprSlot,
    FlagClause,
    ReductionClause,
    VarListClause,
    VarRefItem,
)
from ...directives.rules import DIRECTIVES
from .. import bodies, paths
from ..facts import names_pointee
from ..function import FunctionState
from . import compression, data, loops
from .common import DEFAULT_DEVICE, Queues, condition_of, queues, single_i32, slot_i32
from .privatization import Privates, privates
from .regions import default_attr

ON_HOST = "__accopt_on_host"
"""The runtime function that tells whether the host is the calling thread's current device."""

_LOOP_CLAUSES = DIRECTIVES[DirectiveKind.LOOP].clauses


def split_combined(directive: Directive) -> tuple[Directive, Directive]:
    """A combined directive as its compute part and its `loop` part (2.11)."""
    loop = [cl for cl in directive.clauses if cl.name in _LOOP_CLAUSES]
    rest = [cl for cl in directive.clauses if cl.name not in _LOOP_CLAUSES]
    return replace(directive, clauses=rest), replace(
        directive, clauses=loop, kind=DirectiveKind.LOOP
    )


def emit(fn: FunctionState, s: c.AccStmt) -> None:
    """A compute construct with its data clauses around it."""
    assert s.body is not None
    directive, loop = s.directive, None
    if directive.is_combined:
        directive, loop = split_combined(directive)
    kind = s.directive.kind.construct
    if_cond = condition_of(fn, directive, "if")
    self_cond = _self_condition(fn, directive)
    q = queues(fn, directive)
    sizes = _sizes(fn, directive)
    prepared = None
    if loop is not None:
        prepared = loops.prepare(fn, loop, s.body)
        loops.count_on_host(fn, prepared, _named(s.directive))
    mappings = compression.enter_clauses(fn, directive)
    mappings += _reduction_copies(fn, directive if loop is None else loop, mappings)
    mappings += _member_copies(fn, s.directive, s.body, mappings)
    copies = privates(fn, directive)
    block = Block()
    with (
        fn.region(block, flat=False) as region,
        fn.construct(s.directive.kind.value, kind, s.directive.loc, block),
    ):
        for m in mappings:
            m.located.bind(fn, m.device, s.body)
        copies.bind(fn, s.body)
        if loop is not None and prepared is not None:
            loops.emit_loop(fn, loop, prepared, combined=kind)
        else:
            bodies.emit_body(fn, s.body)
        fn.b.at(directive.loc)
        fn.b.add(acc.TerminatorOp() if kind == "kernels" else acc.YieldOp())
    op = _construct(kind, directive, region, if_cond, self_cond, q, sizes, mappings, copies)
    if loop is not None:
        op.properties["combined"] = UnitAttr()
    data.gather(fn, op.data_clause_operands)
    fn.b.add(op)
    data.leave(fn, mappings)


def _self_condition(fn: FunctionState, directive: Directive) -> SSAValue | None:
    """The i1 for execution on the host: from the `self` clause, or from whether the host is the current
    device, in programs where it can be (2.3)."""
    given = condition_of(fn, directive, "self")
    if not fn.module.host_fallback or _is_bare_self(directive):
        return given
    called = c.FunctionDecl(ON_HOST, FunctionType(INT, (INT,)), directive.loc)
    symbol = fn.module.function_symbol(called)
    answer = fn.call(symbol, [fn.b.int(-1, i32)], "on_host")
    assert answer is not None
    on_host = fn.b.cmp("ne", answer, fn.b.int(0, i32))
    return on_host if given is None else fn.b.value(arith.OrIOp(given, on_host), "on_host")


def _is_bare_self(directive: Directive) -> bool:
    flag = directive.find("self", FlagClause)
    clause = directive.find("self", ExprClause)
    return flag is not None or (clause is not None and not clause.args)


def _named(directive: Directive) -> set[c.VarDecl]:
    """The variables that have another value or meaning inside the construct because of its clauses."""
    return {
        decl
        for clause in directive.clauses
        for item in clause_items(clause)
        if (decl := c.item_variable(item)) is not None
        and (item.sections or clause.name not in ("copyin", "firstprivate"))
    }


def _reduction_copies(
    fn: FunctionState, directive: Directive, mappings: list[data.Mapping]
) -> list[data.Mapping]:
    """`reduction` on a construct implies `copy` of variables no data clause names (2.6.2, 2.11)."""
    named = {m.located.decl for m in mappings}
    out: list[data.Mapping] = []
    for clause in directive.all("reduction", ReductionClause):
        for item in clause.items:
            base, whole = item.base.expr, item
            while isinstance(base, c.Member):
                base = base.record
                name = item.name.partition(".")[0]
                whole = VarRefItem(name, item.loc, ExprSlot(name, item.loc, base))
            if not isinstance(base, c.VarRef) or base.decl in named:
                continue
            named.add(base.decl)
            if names_pointee(clause, whole) and not whole.sections:
                continue
            out.append(_implicit_copy(fn, clause, whole))
    fn.b.at(directive.loc)
    return out


def _member_copies(
    fn: FunctionState, directive: Directive, body: c.Stmt, mappings: list[data.Mapping]
) -> list[data.Mapping]:
    """
    `copy` of members that are reached through pointers (`p->sum`) and reduced by the construct or a loop in
    it: without a clause, the device would follow the pointer, and the host would not get the result.
    """
    below = walk(body) if fn.facts.has_statement_expressions else statements(body)
    inner = (node.directive for node in below if isinstance(node, c.AccStmt))
    clauses = [cl for d in (directive, *inner) for cl in d.all("reduction", ReductionClause)]
    named = {m.located.key for m in mappings}
    out: list[data.Mapping] = []
    for clause in clauses:
        for item in clause.items:
            member = item.base.expr
            if not isinstance(member, c.Member) or not _is_behind_pointer(fn, member):
                continue
            path = paths.path_key(fn, member)
            if path is not None and f"&{path}" not in named:
                named.add(f"&{path}")
                out.append(_implicit_copy(fn, clause, item))
    fn.b.at(directive.loc)
    return out


def _is_behind_pointer(fn: FunctionState, member: c.Member) -> bool:
    """Whether a member is reached through pointers, of which the first is a variable declared outside the
    construct."""
    base: c.Expr = member
    pointers = False
    while not isinstance(base, c.VarRef):
        match base:
            case c.Member():
                base = base.record
            case c.Load():
                base, pointers = base.lvalue, True
            case c.Deref() | c.PtrAdd():
                base = base.pointer
            case c.Decay():
                base = base.operand
            case _:
                return False
    decl = base.decl
    known = decl.storage is not c.Storage.AUTO or decl in fn.values or decl in fn.addresses
    return pointers and known


def _implicit_copy(fn: FunctionState, clause: ReductionClause, item: VarRefItem) -> data.Mapping:
    copy = VarListClause(name="copy", spelling="copy", loc=clause.loc, items=[item])
    mapping = data.enter_item(fn, copy, item, structured=True)
    owner = mapping.device.owner
    assert isinstance(owner, acc.CopyinOp)
    owner.properties["implicit"] = IntegerAttr.from_bool(True)
    return mapping


def _sizes(fn: FunctionState, directive: Directive) -> dict[str, list[SSAValue]]:
    gangs = directive.find("num_gangs", ExprClause)
    out = {"num_gangs": [slot_i32(fn, a) for a in gangs.args] if gangs is not None else []}
    for name in ("num_workers", "vector_length"):
        value = single_i32(fn, directive, name)
        out[name] = [] if value is None else [value]
    fn.b.at(directive.loc)
    return out


def _construct(
    kind: str,
    directive: Directive,
    region: Region,
    if_cond: SSAValue | None,
    self_cond: SSAValue | None,
    q: Queues,
    sizes: dict[str, list[SSAValue]],
    mappings: list[data.Mapping],
    copies: Privates,
) -> acc.ParallelOp | acc.SerialOp | acc.KernelsOp:
    common: dict[str, Any] = {
        "region": region,
        **q.by_device,
        "if_cond": if_cond,
        "self_cond": self_cond,
        "reduction_operands": copies.reduction,
        "private_operands": copies.private,
        "firstprivate_operands": copies.firstprivate,
        "data_clause_operands": [m.device for m in mappings],
        "self_attr": _is_bare_self(directive),
        "default_attr": default_attr(directive),
    }
    if kind == "serial":
        return acc.SerialOp(**common)
    op = acc.ParallelOp if kind == "parallel" else acc.KernelsOp
    gangs = sizes["num_gangs"]
    given: dict[str, Any] = {**common, **sizes}
    for name, values in sizes.items():
        given[f"{name}_device_type"] = DEFAULT_DEVICE if values else None
    segments = DenseArrayBase.from_list(i32, [len(gangs)]) if gangs else None
    return op(**given, num_gangs_segments=segments)
