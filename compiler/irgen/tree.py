"""Walking the typed tree: children of a node, and the questions IR generation asks of subtrees."""

from __future__ import annotations

from collections.abc import Iterator

from ..c import ast as c
from ..c.sema.constants import integer_value
from ..c.types import ArrayType, CType
from ..directives.records import (
    Clause,
    ExprClause,
    ExprSlot,
    GangClause,
    ReductionClause,
    ScanClause,
    TileClause,
    VarListClause,
    VarRefItem,
    WaitClause,
)

Node = c.Expr | c.Stmt


def clause_items(clause: Clause) -> list[VarRefItem]:
    """The var-list of a clause; empty for clauses without one."""
    return clause.items if isinstance(clause, VarListClause | ReductionClause) else []


def clause_slots(clause: Clause) -> Iterator[ExprSlot]:
    """Every expression in a clause that is evaluated."""
    for item in clause_items(clause):
        yield item.base
        for section in item.sections:
            for slot in (section.lower, section.length, section.minimum, section.maximum):
                if slot is not None:
                    yield slot
    slots: list[ExprSlot | None] = []
    match clause:
        case ExprClause():
            slots = list(clause.args)
        case GangClause():
            slots = [clause.num, clause.dim, clause.static]
        case TileClause():
            slots = clause.sizes
        case WaitClause():
            slots = [*clause.queues, clause.devnum]
        case ScanClause():
            slots = [clause.identity]
        case _:
            pass
    yield from (s for s in slots if s is not None)


def type_expressions(t: CType) -> Iterator[c.Expr]:
    """The length expressions of a variable-length array type, outermost first."""
    while isinstance(t, ArrayType):
        if t.length is not None and not isinstance(t.length, int):
            yield t.length
        t = t.element.type


def children(node: Node) -> Iterator[Node]:
    """The direct subexpressions and substatements of `node`, in source order."""
    match node:
        case c.Deref():
            yield node.pointer
        case c.Member():
            yield node.record
        case c.CompoundLiteral():
            if node.decl.init is not None:
                yield from (e for _, e in node.decl.init.items)
        case c.Load():
            yield node.lvalue
        case c.Decay() | c.AddressOf() | c.Cast() | c.UnaryOp():
            yield node.operand
        case c.BinaryOp() | c.PtrDiff() | c.Comma():
            yield node.lhs
            yield node.rhs
        case c.PtrAdd():
            yield node.pointer
            yield node.index
        case c.Assign() | c.CompoundAssign():
            yield node.target
            yield node.value
        case c.IncDec():
            yield node.target
        case c.Asm():
            yield from node.inputs
            yield from node.outputs
        case c.Conditional():
            yield node.condition
            yield node.then
            yield node.otherwise
        case c.Call():
            yield node.callee
            yield from node.args
        case c.ComplexOp():
            yield from node.operands
        case c.StatementExpr():
            yield from node.body
            if node.value is not None:
                yield node.value
        case c.SizeofVla():
            yield from type_expressions(node.of)
        case c.VaArg():
            yield node.list
        case c.VaOp():
            yield node.list
            if node.source is not None:
                yield node.source
        case c.Expr():
            return
        case _:
            yield from _statement_children(node)


def _statement_children(node: c.Stmt) -> Iterator[Node]:
    match node:
        case c.ExprStmt():
            yield node.expr
        case c.DeclStmt():
            for decl in node.decls:
                yield from type_expressions(decl.type)
                if decl.init is not None:
                    yield from (e for _, e in decl.init.items)
        case c.Compound():
            yield from node.body
        case c.If():
            yield node.condition
            yield node.then
            if node.otherwise is not None:
                yield node.otherwise
        case c.For():
            for part in (node.init, node.condition, node.step, node.body):
                if part is not None:
                    yield part
        case c.While() | c.DoWhile():
            yield node.condition
            yield node.body
        case c.Switch():
            yield node.value
            yield node.body
        case c.Case() | c.Label():
            yield node.body
        case c.Return():
            if node.value is not None:
                yield node.value
        case c.AccStmt():
            for clause in node.directive.clauses:
                yield from (s.expr for s in clause_slots(clause) if s.expr is not None)
            if node.body is not None:
                yield node.body
        case _:
            return


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first."""
    stack: list[Node] = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(children(current))))


def strip_casts(e: c.Expr) -> c.Expr:
    """`e` without the conversions around it."""
    while isinstance(e, c.Cast):
        e = e.operand
    return e


def loaded_variable(e: c.Expr) -> c.VarDecl | None:
    """The variable whose value `e` is, through conversions; None if `e` is anything else."""
    e = strip_casts(e)
    if isinstance(e, c.Load) and isinstance(e.lvalue, c.VarRef):
        return e.lvalue.decl
    return None


def assigned_variable(e: Node) -> c.VarDecl | None:
    """The variable that `e` itself assigns (not its subexpressions)."""
    if isinstance(e, c.Assign | c.CompoundAssign | c.IncDec) and isinstance(e.target, c.VarRef):
        return e.target.decl
    return None


def jumps(s: c.Stmt, kind: type[c.Stmt]) -> bool:
    """Whether `s` holds a jump of `kind` that leaves `s`."""
    if isinstance(s, kind):
        return True
    match s:
        case c.Compound():
            return any(jumps(b, kind) for b in s.body)
        case c.If():
            other = s.otherwise is not None and jumps(s.otherwise, kind)
            return other or jumps(s.then, kind)
        case c.Switch() | c.Case() | c.Label():
            return jumps(s.body, kind)
        case c.For() | c.While() | c.DoWhile():
            return kind is c.Return and jumps(s.body, kind)
        case c.AccStmt():
            return kind is c.Return and s.body is not None and jumps(s.body, kind)
        case _:
            return False


def int_constant(e: c.Expr | None) -> int | None:
    """The value of a constant integer expression."""
    return None if e is None else integer_value(e)


def describe(e: c.Expr) -> str | None:
    """A C name for the value of `e` to hint SSA names with: `x`, `a_i`, `p_m`; None if it has none."""
    match e:
        case c.VarRef():
            return e.decl.name
        case c.Load():
            return describe(e.lvalue)
        case c.Decay() | c.AddressOf() | c.Cast():
            return describe(e.operand)
        case c.Deref():
            inner = e.pointer
            if isinstance(inner, c.PtrAdd):
                base = describe(inner.pointer)
                index = loaded_variable(inner.index)
                if base is not None:
                    return f"{base}_{index.name}" if index is not None else f"{base}_elt"
                return None
            base = describe(inner)
            return None if base is None else f"{base}_val"
        case c.Member():
            base = describe(e.record.pointer if isinstance(e.record, c.Deref) else e.record)
            name = e.field.name or "anon"
            return name if base is None else f"{base}_{name}"
        case c.PtrAdd():
            return describe(e.pointer)
        case c.Call():
            return e.callee.decl.name if isinstance(e.callee, c.FunctionRef) else None
        case _:
            return None
