"""Walks the typed tree: the children of a node, and properties of subtrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..base.identifiers import ascii_name
from ..directives.records import (
    Clause,
    ExprSlot,
    ReductionClause,
    VarListClause,
    VarRefItem,
)
from . import ast as c
from .sema.constants import integer_value
from .types import ArrayType, CType, PointerType

Node = c.Expr | c.Stmt


def clause_items(clause: Clause) -> list[VarRefItem]:
    """The var-list of a clause; empty for clauses without one."""
    return clause.items if isinstance(clause, VarListClause | ReductionClause) else []


def clause_slots(clause: Clause) -> Iterator[ExprSlot]:
    """Every expression in a clause."""
    for part in clause.parts():
        if isinstance(part, ExprSlot):
            yield part
            continue
        yield part.base
        for section in part.sections:
            for slot in (section.lower, section.length, section.minimum, section.maximum):
                if slot is not None:
                    yield slot


def type_expressions(t: CType) -> Iterator[c.Expr]:
    """The length expressions of a variable-length array type, outermost first."""
    while isinstance(t, ArrayType):
        if t.length is not None and not isinstance(t.length, int):
            yield t.length
        t = t.element.type


def _initial_values(decl: c.VarDecl) -> list[Node]:
    return [] if decl.init is None else [e for _, e in decl.init.items]


def _declarations(node: c.DeclStmt) -> list[Node]:
    out: list[Node] = []
    for decl in node.decls:
        out += type_expressions(decl.type)
        out += _initial_values(decl)
    return out


def _directive(node: c.AccStmt) -> list[Node]:
    slots = (slot for clause in node.directive.clauses for slot in clause_slots(clause))
    out: list[Node] = [slot.expr for slot in slots if slot.expr is not None]
    return out if node.body is None else [*out, node.body]


def _present(*nodes: Node | None) -> list[Node]:
    return [node for node in nodes if node is not None]


_CHILDREN: dict[type, Callable[[Any], Sequence[Node]]] = {
    c.Deref: lambda n: (n.pointer,),
    c.Member: lambda n: (n.record,),
    c.CompoundLiteral: lambda n: _initial_values(n.decl),
    c.Load: lambda n: (n.lvalue,),
    **dict.fromkeys((c.Decay, c.AddressOf, c.Cast, c.UnaryOp), lambda n: (n.operand,)),
    **dict.fromkeys((c.BinaryOp, c.PtrDiff, c.Comma), lambda n: (n.lhs, n.rhs)),
    c.PtrAdd: lambda n: (n.pointer, n.index),
    **dict.fromkeys((c.Assign, c.CompoundAssign), lambda n: (n.target, n.value)),
    c.IncDec: lambda n: (n.target,),
    c.Asm: lambda n: (*n.inputs, *n.outputs),
    c.Conditional: lambda n: (n.condition, n.then, n.otherwise),
    c.Call: lambda n: (n.callee, *n.args),
    c.ComplexOp: lambda n: n.operands,
    c.AtomicOp: lambda n: [*_present(n.pointer), *n.operands],
    c.StatementExpr: lambda n: (*n.body, *_present(n.value)),
    c.SizeofVla: lambda n: tuple(type_expressions(n.of)),
    c.VaArg: lambda n: (n.list,),
    c.VaOp: lambda n: _present(n.list, n.source),
    c.ExprStmt: lambda n: (n.expr,),
    c.DeclStmt: _declarations,
    c.Compound: lambda n: n.body,
    c.If: lambda n: _present(n.condition, n.then, n.otherwise),
    c.For: lambda n: _present(n.init, n.condition, n.step, n.body),
    **dict.fromkeys((c.While, c.DoWhile), lambda n: (n.condition, n.body)),
    c.Switch: lambda n: (n.value, n.body),
    **dict.fromkeys((c.Case, c.Label), lambda n: (n.body,)),
    c.ComputedGoto: lambda n: (n.target,),
    c.Return: lambda n: _present(n.value),
    c.AccStmt: _directive,
    c.TeamStmt: lambda n: (
        *_present(n.threads, n.several),
        *(value for _, value in n.copies),
        n.body,
    ),
}
"""Kind of node → function for its direct subexpressions and substatements in source order; kinds without
any are missing."""


READING = frozenset(
    (
        c.VarRef,
        c.IntConst,
        c.FloatConst,
        c.Load,
        c.Decay,
        c.Deref,
        c.Member,
        c.PtrAdd,
        c.PtrDiff,
        c.Cast,
        c.UnaryOp,
    )
)
"""Kinds of nodes without effects of their own; most nodes of a tree are of these."""


def children(node: Node) -> Sequence[Node]:
    """The direct subexpressions and substatements of `node`, in source order."""
    of_kind = _CHILDREN.get(type(node))
    return () if of_kind is None else of_kind(node)


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first."""
    stack: list[Node] = [node]
    while stack:
        current = stack.pop()
        yield current
        of_kind = _CHILDREN.get(type(current))
        if of_kind is not None:
            stack += reversed(of_kind(current))


def holds(root: Node, kind: type[Node]) -> bool:
    """Whether `root`, or anything below it, is a node of `kind`."""
    stack: list[Node] = [root]
    find = _CHILDREN.get
    while stack:
        current = stack.pop()
        its_kind = type(current)
        if its_kind is kind:
            return True
        of_kind = find(its_kind)
        if of_kind is not None:
            stack += of_kind(current)
    return False


def statements(root: c.Stmt) -> Iterator[c.Stmt]:
    """`root` and the statements in it, parents first, except those inside expressions."""
    stack = [root]
    while stack:
        current = stack.pop()
        yield current
        stack += [child for child in reversed(children(current)) if isinstance(child, c.Stmt)]


def from_outside(team: c.TeamStmt) -> list[c.VarRef]:
    """The references in a region to variables that it does not declare."""
    declared = {decl for decl, _ in team.copies}
    found: list[c.VarRef] = []
    for node in walk(team.body):
        if isinstance(node, c.DeclStmt):
            declared.update(node.decls)
        elif isinstance(node, c.TeamStmt):
            declared.update(decl for decl, _ in node.copies)
        elif isinstance(node, c.CompoundLiteral):
            declared.add(node.decl)
        elif isinstance(node, c.VarRef):
            found.append(node)
    return [ref for ref in found if ref.decl not in declared]


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


def element_variable(lvalue: c.Expr) -> c.VarDecl | None:
    """The array, or the pointer to elements, of which an lvalue is an element, or a member of one."""
    found = False
    while True:
        match lvalue:
            case c.Deref():
                lvalue, found = lvalue.pointer, True
            case c.PtrAdd():
                lvalue = lvalue.pointer
            case c.Decay():
                lvalue = lvalue.operand
            case c.Load(lvalue=c.VarRef() as pointer):
                lvalue = pointer
            case c.Member():
                lvalue, found = lvalue.record, True
            case c.VarRef(decl=decl):
                return decl if found and isinstance(decl.type, ArrayType | PointerType) else None
            case _:
                return None


def assigned_variable(e: Node) -> c.VarDecl | None:
    """The variable that `e` itself assigns (not its subexpressions)."""
    if isinstance(e, c.Assign | c.CompoundAssign | c.IncDec) and isinstance(e.target, c.VarRef):
        return e.target.decl
    return None


def unwrapped(s: c.Stmt) -> list[c.Stmt]:
    """The statements of a block, of the block it consists of, …, without empty ones; or `s` alone."""
    while isinstance(s, c.Compound):
        parts = [b for b in s.body if not isinstance(b, c.Null)]
        if len(parts) != 1:
            return parts
        s = parts[0]
    return [s]


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
        case c.Case() | c.Label():
            return jumps(s.body, kind)
        case c.Switch():
            return kind is not c.Break and jumps(s.body, kind)
        case c.For() | c.While() | c.DoWhile():
            return kind is c.Return and jumps(s.body, kind)
        case c.AccStmt():
            return kind is c.Return and s.body is not None and jumps(s.body, kind)
        case c.TeamStmt():
            return kind is c.Return and jumps(s.body, kind)
        case _:
            return False


def symbol_name(decl: c.VarDecl | c.FunctionDecl) -> str:
    """The linker-level name of a variable or function, in ASCII."""
    return ascii_name(decl.symbol or decl.name)


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
