"""
`cache` → `acc.cache` (OpenACC 3.4, 2.10): one operation per section, at the place of the directive. Code
from there to the end of the enclosing `{}` accesses the array through its result, so that a pass knows to
which accesses the directive applies. If no pass uses it, the result is the array itself.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects import acc

from ...c import ast as c
from ...c.types import PointerType
from ...directives.records import DirectiveKind, VarListClause
from ..function import FunctionState
from . import data


def emit_cache(fn: FunctionState, s: c.AccStmt) -> None:
    """One `acc.cache` per item of the directive; the names mean the cached view from now on."""
    for clause in s.directive.all("cache", VarListClause):
        readonly = "readonly" in clause.modifiers
        kind = acc.DataClause.ACC_CACHE_READONLY if readonly else acc.DataClause.ACC_CACHE
        for item in clause.items:
            base = item.base.expr
            if base is not None and not item.sections and isinstance(base.type, PointerType):
                fn.module.sink.warn(
                    item.loc,
                    f"'{item.name}' is a pointer, and 'cache' does not say which part of its data to hold",
                    f"write {item.name}[start:length]",
                )
                continue
            located = data.locate(fn, clause, item)
            fn.b.at(item.loc)
            view = data.entry(fn, acc.CacheOp, located, kind)
            located.bind(fn, view, None)


def is_cache(s: c.Stmt) -> bool:
    """Whether `s` is a `cache` directive."""
    return isinstance(s, c.AccStmt) and s.directive.kind is DirectiveKind.CACHE


@contextmanager
def scope(fn: FunctionState, body: c.Compound) -> Generator[None]:
    """Emits a block `{}`, after which the names in its `cache` directives mean the arrays again."""
    directives = [b for b in body.body if is_cache(b)]
    if not directives:
        yield
        return
    saved, members = dict(fn.addresses), dict(fn.members)
    named = {
        decl
        for b in directives
        if isinstance(b, c.AccStmt)
        for clause in b.directive.all("cache", VarListClause)
        for item in clause.items
        if (decl := c.item_variable(item)) is not None
    }
    values = {decl: fn.values.get(decl) for decl in named}
    yield
    fn.addresses, fn.members = {**fn.addresses, **saved}, members
    for decl, value in values.items():
        if value is not None:
            fn.values[decl] = value
