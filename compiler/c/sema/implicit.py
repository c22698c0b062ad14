"""
Calls of functions that nothing declares, which C allowed until 1999 and compilers after it: library
functions get the declaration of their header, others are taken to be of the program and to return int
(C90 6.3.2.2). Both are warned about.
"""

from __future__ import annotations

import difflib
from typing import Any

from pycparser import c_ast

from ...diagnostics import CompileError, SourceLoc
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
    near = None if name in unit.functions_of_file else _near_function(unit, name)
    word = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["int"], node.coord), node.coord)
    function = c_ast.FuncDecl(None, word, node.coord)
    declaration = c_ast.Decl(name, [], [], [], [], function, None, None, node.coord)
    found = _declare(unit, [declaration], name)
    if found is not None:
        found.is_implicit = True
    unit.sink.warn(
        loc,
        f"function '{name}' is not declared: taken to return int",
        f"did you mean '{near}'?"
        if near
        else f"declare it before this line, for example 'int {name}(…);'",
    )
    return found


def _near_function(unit: Unit, name: str) -> str | None:
    known = [n for n, symbol in unit.file_scope.names.items() if isinstance(symbol, FunctionDecl)]
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.8)), None)


def _from_header(unit: Unit, name: str, header: str) -> FunctionDecl | None:
    """
    The function as its header declares it; None if the header does not fit what the file has declared.
    Types and constants of the header are declared with it, as its parameters need them.
    """
    text = preprocess_text(f"#include <{header}>\n", header).text
    tree: Any = parse_text(text, header)
    nodes: list[Any] = tree.ext
    try:
        return _declare(unit, [n for n in nodes if not isinstance(n, c_ast.Pragma)], name)
    except CompileError:
        return None


def _declare(unit: Unit, nodes: list[Any], name: str) -> FunctionDecl | None:
    """Declares at file scope; the function called `name` if there is one now."""
    function, unit.function = unit.function, None
    try:
        with unit.nested_scope(unit.file_scope):
            for node in nodes:
                unit.declarations.external(node)
    finally:
        unit.function = function
    found = unit.file_scope.find(name)
    return found if isinstance(found, FunctionDecl) else None
