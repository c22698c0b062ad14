"""
Warnings about unused variables and functions: `unused-variable`, `unused-but-set-variable`,
`unused-function`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, source_line, warning
from ...base.library_headers import is_library
from .. import ast as c
from ..tree import Node, assigned_variable, walk

_OPENMP = re.compile(r"\s*#\s*pragma\s+omp\b")
_MEANT = re.compile(r"\(\(.*unused.*\)\)|maybe_unused")


def unused_variables(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """Warnings about variables that a function, whose nodes are `nodes`, declares and never reads."""
    declared = [
        decl for node in nodes if isinstance(node, c.DeclStmt) for decl in node.decls if decl.name
    ]
    if not declared:
        return
    only_set = {
        id(node.expr.target)
        for node in nodes
        if isinstance(node, c.ExprStmt)
        and isinstance(node.expr, c.Assign)
        and assigned_variable(node.expr) is not None
    }
    references = [node for node in nodes if isinstance(node, c.VarRef)]
    mentioned = {node.decl for node in references}
    read = {node.decl for node in references if id(node) not in only_set}
    copied = {decl.name for decl in declared if _is_copy(decl)}
    for decl in declared:
        if (
            decl.name in copied
            or decl in read
            or "." in decl.name
            or decl.qual.volatile
            or _is_meant(decl)
        ):
            continue
        if decl in mentioned:
            message, option = "is set and never read", "unused-but-set-variable"
        else:
            message, option = "is not used", "unused-variable"
        yield warning(decl.loc, f"variable '{decl.name}' {message}", "remove it", option=option)


def _is_copy(decl: c.VarDecl) -> bool:
    """Whether an OpenMP directive declares the variable, usually as a copy of a variable of that name."""
    return _OPENMP.match(source_line(decl.loc) or "") is not None


def unused_functions(unit: c.TranslationUnit) -> Iterator[Diagnostic]:
    """Warnings about static functions that their file neither calls nor takes the address of."""
    own = [
        f
        for f in unit.functions
        if f.is_static and not f.is_inline and f.body is not None and not is_library(f.loc)
    ]
    if not own:
        return
    bodies = [f.body for f in unit.functions if f.body is not None]
    values = [e for v in unit.variables if v.init is not None for _, e in v.init.items]
    used = {
        node.decl
        for tree in (*bodies, *values)
        for node in walk(tree)
        if isinstance(node, c.FunctionRef)
    }
    for f in own:
        if f not in used and not f.directives and not _is_meant(f):
            yield warning(
                f.loc,
                f"static function '{f.name}' is not used",
                "remove it",
                option="unused-function",
            )


def _is_meant(decl: c.VarDecl | c.FunctionDecl) -> bool:
    """Whether the declaration is marked as unused on purpose (`__attribute__((unused))`,
    `[[maybe_unused]]`)."""
    return _MEANT.search(source_line(decl.loc) or "") is not None
