"""
Warnings about host code in a `data` construct that uses the host's copy of data which the construct keeps on
the device: elements that it assigns and that the end of the construct overwrites (`overwritten-writes`), and
elements that it reads after a compute construct assigned them on the device (`stale-reads`; OpenACC 3.4,
2.7).

Reported is only what no `update` can have mended: nothing in the construct updates the variable, names it
without a subscript, or calls a function of the program. Where host and device share memory, the drivers turn
these warnings off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, warning
from ...base.library_headers import is_library
from ...directives.records import DirectiveKind, Section, VarListClause, VarRefItem
from .. import ast as c
from ..tree import Node, children, element_variable, walk
from ..types import PointerType

_BACK = frozenset(("copy", "copyout"))
_MAPPED = _BACK | {"copyin", "create"}
_WRITES = (c.Assign, c.CompoundAssign, c.IncDec)


def host_copies(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """The warnings about the `data` constructs among `nodes`, which are those of a function."""
    regions = [node for node in nodes if isinstance(node, c.AccStmt) and _is_region(node)]
    if any(isinstance(node, c.Label | c.Asm | c.TeamStmt) for node in nodes if regions):
        return
    told: set[c.VarDecl] = set()
    for region in regions:
        mapped = _mapped(region)
        code = _HostCode(mapped)
        assert region.body is not None
        code.visit(region.body)
        for decl, clause in mapped.items() if code.is_known else ():
            if decl in code.other or decl in told:
                continue
            found = _overwritten(decl, clause, code) or _stale(decl, clause, code)
            if found is not None:
                told.add(decl)
                yield found


def _is_region(node: c.AccStmt) -> bool:
    directive = node.directive
    return (
        directive.kind is DirectiveKind.DATA and not directive.has("if") and node.body is not None
    )


def _mapped(region: c.AccStmt) -> dict[c.VarDecl, VarListClause]:
    """The arrays that the construct maps from their first element on, and the clauses that do."""
    return {
        decl: clause
        for clause in region.directive.clauses
        if isinstance(clause, VarListClause) and clause.name in _MAPPED
        for item in clause.items
        if (decl := c.item_variable(item)) is not None and _from_start(item, decl)
    }


def _from_start(item: VarRefItem, decl: c.VarDecl) -> bool:
    if not item.sections:
        return not isinstance(decl.type, PointerType)
    return all(not section.is_index and _is_zero(section) for section in item.sections)


def _is_zero(section: Section) -> bool:
    lower = section.lower.expr if section.lower is not None else None
    while isinstance(lower, c.Cast):
        lower = lower.operand
    return section.lower is None or (isinstance(lower, c.IntConst) and lower.value == 0)


def _overwritten(decl: c.VarDecl, clause: VarListClause, code: _HostCode) -> Diagnostic | None:
    write = code.writes.get(decl)
    if write is None or clause.name not in _BACK or decl not in code.on_device:
        return None
    return warning(
        write.loc,
        f"'{decl.name}' is assigned here on the host, and overwritten where the data construct ends",
        f"write 'update device({decl.name}[…])' after it, or assign it on the device",
        [(clause.loc, f"'{clause.spelling}' copies the device's values back")],
        option="overwritten-writes",
    )


def _stale(decl: c.VarDecl, clause: VarListClause, code: _HostCode) -> Diagnostic | None:
    read = code.stale.get(decl)
    if read is None or decl in code.writes:
        return None
    return warning(
        read.loc,
        f"'{decl.name}' is read here on the host, which does not have the values that the device assigned",
        f"write 'update self({decl.name}[…])' before it, or end the data construct",
        [
            (code.device_writes[decl].loc, "assigned here on the device"),
            (clause.loc, f"'{clause.spelling}' keeps it there until the construct ends"),
        ],
        option="stale-reads",
    )


class _HostCode:
    """
    What a region does with the variables that it maps, in the order of its text. `other`: variables that are
    updated, or used otherwise than by their elements. `is_known`: whether nothing else may update them.
    """

    def __init__(self, mapped: dict[c.VarDecl, VarListClause]) -> None:
        self._mapped = mapped
        self.on_device: set[c.VarDecl] = set()
        self.device_writes: dict[c.VarDecl, c.Expr] = {}
        self.writes: dict[c.VarDecl, c.Expr] = {}
        self.stale: dict[c.VarDecl, c.Expr] = {}
        self.other: set[c.VarDecl] = set()
        self.is_known = True

    def visit(self, node: Node) -> None:
        match node:
            case c.AccStmt():
                self._directive(node)
            case c.Assign() | c.CompoundAssign() | c.IncDec() if self._holds(node.target):
                if not isinstance(node, c.IncDec):
                    self.visit(node.value)
                self._element(node.target)
                self.writes.setdefault(self._decl(node.target), node.target)
            case c.Load() if self._holds(node.lvalue):
                self._element(node.lvalue)
                decl = self._decl(node.lvalue)
                if decl in self.device_writes:
                    self.stale.setdefault(decl, node)
            case c.VarRef():
                self.other.add(node.decl)
            case c.Call():
                self.is_known &= _is_library(node)
                self._parts(node)
            case _:
                self._parts(node)

    def _parts(self, node: Node) -> None:
        for child in children(node):
            self.visit(child)

    def _holds(self, lvalue: c.Expr) -> bool:
        """Whether an lvalue is an element of a mapped variable, subscripted in place."""
        return element_variable(lvalue) in self._mapped

    def _decl(self, lvalue: c.Expr) -> c.VarDecl:
        decl = element_variable(lvalue)
        assert decl is not None
        return decl

    def _element(self, lvalue: c.Expr) -> None:
        for each in walk(lvalue):
            if isinstance(each, c.PtrAdd):
                self.visit(each.index)

    def _directive(self, node: c.AccStmt) -> None:
        directive = node.directive
        named = {
            each.decl
            for part in children(node)
            if part is not node.body
            for each in _references(part)
        }
        if directive.is_compute:
            assert node.body is not None
            self._construct(node.body, sure=not directive.has("if") and not directive.has("self"))
        elif directive.kind in (DirectiveKind.DATA, DirectiveKind.LOOP, DirectiveKind.WAIT):
            if node.body is not None:
                self.visit(node.body)
        else:
            self.other |= named
            self.is_known &= all(
                decl in self._mapped or not isinstance(decl.type, PointerType) for decl in named
            )
            if node.body is not None:
                self.visit(node.body)

    def _construct(self, body: c.Stmt, *, sure: bool) -> None:
        for each in walk(body):
            if isinstance(each, c.VarRef):
                self.on_device.add(each.decl)
            elif sure and isinstance(each, _WRITES) and self._holds(each.target):
                self.device_writes.setdefault(self._decl(each.target), each)
        if not sure:
            self.other |= self.on_device


def _references(node: Node) -> Iterator[c.VarRef]:
    return (each for each in walk(node) if isinstance(each, c.VarRef))


def _is_library(call: c.Call) -> bool:
    callee = call.callee
    if not isinstance(callee, c.FunctionRef) or callee.decl.name.startswith("acc_"):
        return False
    return is_library(callee.decl.loc)
