"""Old-style function definitions, whose parameters are declared after the parentheses (C11 6.9.1p6)."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from ...base.diagnostics import error
from ..gnu_syntax import IMPLICIT_INT

if TYPE_CHECKING:
    from .unit import Unit


def with_types(unit: Unit, node: Any) -> tuple[Any, bool]:
    """
    The definition with its old-style parameters (`int f(a) double a; { … }`, C11 6.9.1p6) rewritten as
    those of a prototype, int for those without a declaration; and whether there were any.
    """
    function = node.decl.type
    if not isinstance(function, c_ast.FuncDecl) or function.args is None:
        return node, False
    types = {d.name: d for d in node.param_decls or () if isinstance(d, c_ast.Decl)}
    names = function.args.params
    unknown = set(types) - {name.name for name in names if isinstance(name, c_ast.ID)}
    for stray in sorted(unknown):
        raise error(
            unit.loc(types[stray]),
            f"'{stray}' is declared among the parameters of '{node.decl.name}', but is none",
            "name it inside the parentheses, or move the declaration into the body",
        )
    if not any(isinstance(name, c_ast.ID) for name in names):
        return node, False
    own = _own_definition(node)
    own.decl.type.args.params = [
        _promoted(own, types.get(name.name) or _declaration(name, IMPLICIT_INT))
        if isinstance(name, c_ast.ID)
        else name
        for name in names
    ]
    return own, True


def _promoted(node: Any, declared: Any) -> Any:
    """
    An old-style parameter with the type in which it is passed: a `float` is passed as a double (C11
    6.5.2.2p6), and converted at the beginning of the body.
    """
    words = getattr(declared.type.type, "names", None)
    if words != ["float"] or not isinstance(declared.type, c_ast.TypeDecl):
        return declared
    passed = _declaration(c_ast.ID(f"{declared.name}.passed", declared.coord), "double")
    declared = copy(declared)
    declared.init = c_ast.ID(passed.name, declared.coord)
    node.body.block_items = [declared, *(node.body.block_items or ())]
    return passed


def _own_definition(node: Any) -> Any:
    """A copy of a definition whose parameters and body may be replaced, as parsed trees are shared and
    never changed."""
    own = copy(node)
    own.decl, own.body = copy(node.decl), copy(node.body)
    own.decl.type = copy(node.decl.type)
    own.decl.type.args = copy(node.decl.type.args)
    return own


def _declaration(name: Any, word: str) -> Any:
    """The declaration of `name` (an identifier node) with a type of one word."""
    t = c_ast.TypeDecl(name.name, [], None, c_ast.IdentifierType([word], name.coord), name.coord)
    return c_ast.Decl(name.name, [], [], [], [], t, None, None, name.coord)
