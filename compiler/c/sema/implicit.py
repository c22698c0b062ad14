"""
Calls of undeclared functions, which C90 allowed and compilers still accept: a library function gets the
declaration of its header; other functions are taken to be the program's and to return int (C90 6.3.2.2).
Both cases are warned about.
"""

from __future__ import annotations

import contextlib
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import CompileError, SourceLoc
from ...base.similar import did_you_mean
from ..ast import FunctionDecl
from ..known_headers import declaring_header
from ..parse import parse_text
from ..preprocess import preprocess_text
from .unit import Unit


def declare_implicitly(unit: Unit, name: str, node: Any, loc: SourceLoc) -> FunctionDecl | None:
    """The declaration for a call of an unknown `name`; None for a built-in function."""
    if name.startswith("__builtin_"):
        return None
    header = None if name in unit.functions_of_file else declaring_header(name)
    found = None if header is None else _from_header(unit, name, header)
    if found is not None:
        unit.sink.warn(loc, f"function '{name}' is not declared", f"add '#include <{header}>'")
        return found
    names = unit.file_scope.names.items()
    functions = [n for n, symbol in names if isinstance(symbol, FunctionDecl)]
    meant = did_you_mean(name, () if name in unit.functions_of_file else functions, 0.8)
    word = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["int"], node.coord), node.coord)
    function = c_ast.FuncDecl(None, word, node.coord)
    declaration = c_ast.Decl(name, [], [], [], [], function, None, None, node.coord)
    _declare(unit, declaration)
    found = _function(unit, name)
    if found is not None:
        found.is_implicit = True
    unit.sink.warn(
        loc,
        f"function '{name}' is not declared: taken to return int",
        meant or f"declare it before this line, for example 'int {name}(…);'",
    )
    return found


def _from_header(unit: Unit, name: str, header: str) -> FunctionDecl | None:
    """
    The function as its header declares it, with the types and constants that the file does not have yet;
    None if it does not fit what the file has declared.
    """
    text = preprocess_text(f"#include <{header}>\n", header).text
    tree: Any = parse_text(text, header)
    for node in tree.ext:
        with contextlib.suppress(CompileError):  # the file has declared this name itself
            _declare(unit, node)
    return _function(unit, name)


def _declare(unit: Unit, node: Any) -> None:
    """Checks the declaration `node` at file scope."""
    function, unit.function = unit.function, None
    try:
        with unit.nested_scope(unit.file_scope):
            if not isinstance(node, c_ast.Pragma):
                unit.declarations.external(node)
    finally:
        unit.function = function


def _function(unit: Unit, name: str) -> FunctionDecl | None:
    found = unit.file_scope.find(name)
    return found if isinstance(found, FunctionDecl) else None
