"""
C text with places to fill → pycparser nodes. OpenMP directives are written as C templates, so that the
ordinary checks find a user's mistakes, at the place of the directive or of the user's own text.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportAttributeAccessIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from copy import copy
from typing import Any

from pycparser import c_ast
from pycparser.c_parser import Coord

from ...base.diagnostics import SourceLoc
from ..parse import parse_text

INTERFACE = """
void __accopt_omp_barrier(void);
void __accopt_omp_loop(long *, long, long, long, const char *);
int __accopt_omp_piece(long *);
int __accopt_omp_single(void);
void __accopt_omp_publish(void *);
void *__accopt_omp_published(void);
void __accopt_omp_combine(void);
void __accopt_omp_combined(void);
void __accopt_omp_critical(long *, const char *, const char *);
void __accopt_omp_critical_end(long *);
void __accopt_omp_flush(void);
void __accopt_omp_taskwait(void);
void __accopt_omp_taskyield(void);
void __accopt_omp_group(long *);
void __accopt_omp_group_end(long *);
void *__accopt_omp_own(long);
void __accopt_omp_disown(void *);
void *__accopt_omp_keep(const void *, long);
void __accopt_omp_restore(void *, void *, long);
void __accopt_omp_copy(void *, const void *, long);
void *__accopt_omp_private(void *, long);
int __accopt_omp_number(void);
"""
"""Declarations of the functions in `runtime.c` that the templates call."""


class Region(c_ast.Node):
    """
    Statement `body` as a region that other threads run. `name`: the directive's; `threads` (None for tasks)
    and `several`: expressions; `copies`: the names of scalars of which each thread has a copy; `listed`:
    the outer variables that it may use, None for all.
    """

    __slots__ = ("body", "coord", "copies", "listed", "name", "several", "threads")

    def __init__(self, name: str, body: Any, several: Any, coord: Any) -> None:
        self.name, self.body, self.several, self.coord = name, body, several, coord
        self.threads: Any = None
        self.copies: list[str] = []
        self.listed: set[str] | None = None

    def children(self) -> Any:
        return [("body", self.body)]

    def __iter__(self) -> Any:
        yield self.body


class Fence(c_ast.Node):
    """
    The user's statements `nodes` in a construct `name`, out of which they cannot jump. `loops`: they are
    the body of a loop, so that `continue` is allowed.
    """

    __slots__ = ("coord", "loops", "name", "nodes")

    def __init__(self, name: str, nodes: list[Any], coord: Any, *, loops: bool = False) -> None:
        self.name, self.nodes, self.coord, self.loops = name, nodes, coord, loops

    def children(self) -> Any:
        return [("node", node) for node in self.nodes]

    def __iter__(self) -> Any:
        yield from self.nodes


def coord_of(loc: SourceLoc) -> Any:
    """A place as pycparser's coordinate."""
    return Coord(loc.file, loc.line, loc.column)


def template(text: str, loc: SourceLoc, **parts: Any) -> Any:
    """
    The block of the statements `text`, placed at `loc`. An identifier of `text` that is in `parts` means that
    node, or, as a statement, that node or list of nodes.
    """
    tree = parse_text(f"void f(void) {{ {text} }}", loc.file)
    coord = coord_of(loc)
    body = tree.ext[0].body
    _fill(body, parts, coord)
    return body


def _fill(node: Any, parts: dict[str, Any], coord: Any) -> None:
    node.coord = coord
    for slot in node.__slots__:
        if slot in ("coord", "__weakref__"):
            continue
        value = getattr(node, slot)
        if isinstance(value, list | tuple) and any(isinstance(v, c_ast.Node) for v in value):
            filled: list[Any] = []
            for part in value:
                if isinstance(part, c_ast.ID) and part.name in parts:
                    given = parts[part.name]
                    filled += given if isinstance(given, list) else [given]
                    continue
                if isinstance(part, c_ast.Node):
                    _fill(part, parts, coord)
                filled.append(part)
            setattr(node, slot, filled)
        elif isinstance(value, c_ast.ID) and value.name in parts and slot != "field":
            given = parts[value.name]
            if isinstance(given, list):
                # A coordinate of its own: pycparser marks the bodies of pragmas by a shared one.
                given = c_ast.Compound(given, copy(coord))
            setattr(node, slot, given)
        elif isinstance(value, c_ast.Node):
            _fill(value, parts, coord)
