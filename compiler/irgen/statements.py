"""Statements: selects structured operations or basic blocks for each (docs/design.md, "acc level")."""

from __future__ import annotations

from xdsl.dialects.llvm import StackRestoreOp, StackSaveOp
from xdsl.ir import SSAValue

from ..base.diagnostics import error
from ..c import ast as c
from ..c.types import ArrayType, CType, PointerType
from . import blocks, bodies, cleanups, directives, objects, structured, teams
from .builder import name_after
from .function import FunctionState


def emit(fn: FunctionState, s: c.Stmt) -> None:
    """Emits any statement at the cursor."""
    if fn.flat:
        fn.ensure_open()
    fn.b.at(s.loc)
    match s:
        case c.ExprStmt():
            fn.discard(s.expr)
        case c.DeclStmt():
            for decl in s.decls:
                declare(fn, decl)
                if decl.cleanup is not None:
                    cleanups.push(fn, decl, decl.cleanup)
        case c.Compound():
            _compound(fn, s)
        case c.If() | c.For() | c.While() | c.DoWhile() | c.Switch():
            _control(fn, s)
        case c.Case():
            blocks.emit_case(fn, s)
        case c.Label():
            blocks.emit_label(fn, s)
        case c.Break() | c.Continue() | c.Goto():
            blocks.emit_jump(fn, s)
        case c.ComputedGoto():
            blocks.emit_computed_goto(fn, s)
        case c.Return():
            blocks.emit_return(fn, s)
        case c.AccStmt():
            directives.emit(fn, s)
        case c.TeamStmt():
            teams.emit(fn, s)
        case c.Null():
            pass
        case _:
            raise error(
                s.loc, f"unsupported statement '{type(s).__name__}'", "rewrite the statement"
            )


def _control(fn: FunctionState, s: c.If | c.For | c.While | c.DoWhile | c.Switch) -> None:
    if fn.facts.structured(s) and not isinstance(s, c.Switch):
        if isinstance(s, c.If):
            structured.emit_if(fn, s)
        else:
            structured.emit_loop(fn, s)
    elif not fn.flat:
        bodies.in_blocks(fn, s)
    elif isinstance(s, c.Switch):
        blocks.emit_switch(fn, s)
    elif isinstance(s, c.If):
        blocks.emit_if(fn, s)
    else:
        blocks.emit_loop(fn, s)


def _compound(fn: FunctionState, s: c.Compound) -> None:
    frees = fn.loop_level > 0 and any(
        isinstance(d.type, ArrayType) and d.type.is_vla
        for b in s.body
        if isinstance(b, c.DeclStmt)
        for d in b.decls
    )
    saved: SSAValue | None = fn.b.value(StackSaveOp(), "stack") if frees else None
    pending = len(fn.exits)
    with directives.cache.scope(fn, s):
        for b in s.body:
            emit(fn, b)
    if not fn.b.terminated:
        if s.end_loc is not None:
            fn.b.at(s.end_loc)
        fn.leave(pending)
        if saved is not None:
            fn.b.add(StackRestoreOp(saved))
    del fn.exits[pending:]


def declare(fn: FunctionState, decl: c.VarDecl) -> None:
    """Emits the declaration of a local variable: its storage, its array lengths and its initial value."""
    if decl.storage is not c.Storage.AUTO:
        return
    fn.b.at(decl.loc)
    fix_extents(fn, decl.type)
    if isinstance(decl.type, ArrayType) and decl.type.is_vla:
        _declare_vla(fn, decl, decl.type)
        return
    if fn.in_memory(decl):
        address = fn.allocate(decl)
        if decl.init is not None:
            objects.initialize(fn, address, decl.init)
        return
    fn.values.pop(decl, None)
    if decl.init is not None and decl.init.items:
        value = fn.rvalue(decl.init.items[0][1])
        name_after(value, decl.name)
        fn.values[decl] = value
    elif decl.init is not None:
        fn.values[decl] = fn.b.zero(fn.module.types.convert(decl.type))


def fix_extents(fn: FunctionState, t: CType) -> None:
    """Evaluates the lengths in a variably modified type, once, at its declaration (C11 6.7.6.2)."""
    while isinstance(t, ArrayType | PointerType):
        if isinstance(t, PointerType):
            t = t.pointee.type
            continue
        if t.length is not None and not isinstance(t.length, int):
            fn.extents.pop(id(t.length), None)
            fn.extent(t)
        t = t.element.type


def _declare_vla(fn: FunctionState, decl: c.VarDecl, t: ArrayType) -> None:
    element: CType = t
    count: SSAValue | None = None
    while isinstance(element, ArrayType) and element.is_vla:
        n = fn.extent(element)
        count = n if count is None else fn.b.mul_nsw(count, n)
        element = element.element.type
    assert count is not None
    ir_type = fn.module.types.convert(element)
    align = max(element.align, decl.alignment or 1)
    fn.addresses[decl] = fn.b.alloca(ir_type, align, decl.name, count)
