"""Declarations and definitions of functions (C11 6.7.6.3, 6.9.1)."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import CompileError, SourceLoc, error
from ...base.library_headers import is_system
from ..ast import Compound, FunctionDecl, VarDecl
from ..types import FunctionType, VoidType
from .conversions import compatible
from .linkage import conflict
from .old_style_parameters import with_types
from .scopes import Scope
from .unit import CheckedFunction, Unit


class FunctionDeclarations:
    """Checks the functions of a unit; each function enters its tree once."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.linkage = unit.linkage

    def declaration(self, node: Any, t: FunctionType) -> FunctionDecl:
        """A declaration without a body."""
        loc = self.unit.loc(node)
        if node.init is not None:
            raise error(
                loc,
                f"function '{node.name}' is initialised like a variable",
                "write '{ … }' for its body",
            )
        decl = self._declare(node, t, loc)
        if not decl.params and isinstance(node.type, c_ast.FuncDecl):
            with self.unit.nested_scope():
                decl.params = self.unit.types.function(node.type, t.result)[1]
        self.unit.directives.attach_routines(decl)
        return decl

    def _declare(self, node: Any, t: FunctionType, loc: SourceLoc) -> FunctionDecl:
        name: str = node.name
        self.linkage.note_link()
        old = self.linkage.linked.get(name) or self.unit.file_scope.names.get(name)
        here = self.unit.scope.names.get(name)
        if old is None:
            if here is not None:
                self.linkage.check_new(name, loc)
            is_static = "static" in node.storage
            is_inline = "inline" in (node.funcspec or ())
            old = FunctionDecl(name, t, loc, is_static=is_static, is_inline=is_inline)
            old.symbol = self.linkage.label(node)
            self.linkage.add_attributes(old, node)
            self.linkage.linked[name] = old
            self.unit.tree.functions.append(old)
        elif not isinstance(old, FunctionDecl):
            raise conflict(name, old, loc)
        else:
            self._merge(old, node, t, loc)
        self.unit.scope.declare(name, old)
        return old

    def _merge(self, old: FunctionDecl, node: Any, t: FunctionType, loc: SourceLoc) -> None:
        known, old.is_implicit = not old.is_implicit, False
        if not known and isinstance(t.result, VoidType):
            old.type = t  # earlier calls keep the implicit type; they have a warning
        elif not compatible(old.type, t):
            raise error(
                loc,
                f"'{old.name}' is declared as '{t}' here and as '{old.type}' before",
                "make the declarations agree",
                [(old.loc, "earlier declaration")],
            )
        if "static" in node.storage and not old.is_static:
            raise error(
                loc, f"'{old.name}' is static here but not before", "write 'static' on its first declaration",
                [(old.loc, "earlier declaration")],
            )  # fmt: skip
        old.symbol = self.linkage.label(node) or old.symbol
        self.linkage.add_attributes(old, node)
        old.is_inline = old.is_inline or "inline" in (node.funcspec or ())
        if t.prototyped or (t.params and not old.type.prototyped):
            old.type = t

    def definition(self, node: Any) -> None:
        """A function definition."""
        loc = self.unit.loc(node.decl)
        node, old_style = with_types(self.unit, node)
        decl_node = node.decl
        if not isinstance(decl_node.type, c_ast.FuncDecl):
            raise error(
                loc,
                f"'{decl_node.name}' is not declared as a function",
                "write its parameters in parentheses",
            )
        result = self.unit.types.build(decl_node.type.type).type
        scope = Scope(self.unit.scope)
        with self.unit.nested_scope(scope):
            t, params = self.unit.types.function(decl_node.type, result)
        if old_style:
            t = replace(t, prototyped=False)
        decl = self._declare(decl_node, t, loc)
        if decl.body is not None:
            raise error(
                loc,
                f"function '{decl.name}' is defined twice",
                "remove one",
                [(decl.loc, "first definition")],
            )
        if decl.symbol is not None and not decl.is_static:
            raise error(
                loc,
                f"'{decl.name}' has an assembler name, '{decl.symbol}', and is defined here",
                "define the function with that name",
            )
        self._check_definition(decl, t, params)
        decl.loc, decl.params = loc, params
        if decl.is_inline and "extern" not in decl_node.storage:
            decl.is_static = True  # each file that includes its header has a copy (C11 6.7.4p7)
        self.unit.directives.attach_routines(decl)
        self.unit.function = function = CheckedFunction(decl)
        messages = len(self.unit.sink.diagnostics)
        # A body from here on: recursive calls find a definition, and a second one is an error.
        decl.body = Compound(loc=self.unit.loc(node.body), body=[])
        self.unit.recovery.active = not is_system(loc)
        try:
            with self.unit.nested_scope(scope):
                decl.body = self.unit.statements.function_body(node.body)
        except CompileError:
            # Inline functions of system headers may use features of the system's compiler. They stay
            # undefined, which is an error if they are used.
            if self.unit.recovery.active:
                raise
            decl.body = None
        silent = len(self.unit.sink.diagnostics) == messages
        decl.is_quiet = silent and not function.declares_links
        self.unit.recovery.active = True
        self.unit.function = None

    def _check_definition(self, decl: FunctionDecl, t: FunctionType, params: list[VarDecl]) -> None:
        if not t.result.is_complete and not isinstance(t.result, VoidType):
            raise error(
                decl.loc,
                f"'{decl.name}' returns incomplete type '{t.result}'",
                "define the type first",
            )
        for p in params:
            if not p.type.is_complete:
                raise error(
                    p.loc,
                    f"parameter '{p.name}' has incomplete type '{p.type}'",
                    "define the type first",
                )
