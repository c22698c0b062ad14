"""
Warnings about code in a `data` construct, or between `enter data` and the next `exit data` of a block, that
uses one copy of data where only the other one has the values (OpenACC 3.4, 2.7): what host code assigns and
the end of the construct overwrites (`overwritten-writes`); what host code reads after a compute construct
assigned it, and what a compute construct reads after host code assigned it (`stale-reads`).

Reported is only what no `update` can have mended: nothing in the construct updates the variable, takes its
address, or calls a function of the program. Where host and device share memory, the drivers turn these
warnings off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, warning
from ...base.library_headers import is_library
from ...directives.records import Directive, DirectiveKind, Section, VarListClause, VarRefItem
from .. import ast as c
from ..tree import Node, assigned_variable, children, element_variable, int_constant, walk
from ..types import PointerType, is_scalar

_BACK = frozenset(("copy", "copyout"))
_MAPPED = _BACK | {"copyin", "create"}
_ENDS = {
    DirectiveKind.DATA: "the end of the data construct",
    DirectiveKind.ENTER_DATA: "'exit data copyout'",
}


def host_copies(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """The warnings about the `data` constructs among `nodes`, which are those of a function."""
    regions = [region for node in nodes for region in _regions(node)]
    if any(isinstance(node, c.Label | c.Asm | c.TeamStmt) for node in nodes if regions):
        return
    told: set[c.VarDecl] = set()
    for directive, parts in regions:
        mapped = _mapped(directive)
        code = _HostCode(mapped)
        for part in parts:
            code.visit(part)
        found: list[Diagnostic] = []
        for decl, clause in mapped.items() if code.is_known else ():
            if decl in code.other or decl in told:
                continue
            overwritten = _overwritten(decl, clause, code)
            until = _ENDS[directive.kind]
            of_this = [overwritten] if overwritten else _stale(decl, clause, code, until)
            told |= {decl} if of_this else set()
            found += of_this
        yield from sorted(found, key=lambda each: (each.loc.line, each.loc.column))


def _regions(node: Node) -> Iterator[tuple[Directive, Sequence[Node]]]:
    """The directives in `node` itself that keep data on the device, with the code in which they do."""
    match node:
        case c.AccStmt(directive=directive, body=c.Stmt() as body):
            if directive.kind is DirectiveKind.DATA and not directive.has("if"):
                yield directive, [body]
        case c.Compound(body=statements):
            end = len(statements)
            for place, statement in reversed(list(enumerate(statements))):
                if not isinstance(statement, c.AccStmt):
                    continue
                directive = statement.directive
                if directive.kind is DirectiveKind.EXIT_DATA:
                    end = place
                elif directive.kind is DirectiveKind.ENTER_DATA and not directive.has("if"):
                    yield directive, statements[place + 1 : end]
        case _:
            pass


def _mapped(directive: Directive) -> dict[c.VarDecl, VarListClause]:
    """The scalars, and the arrays from their first element on, that a directive maps, with the clauses."""
    return {
        decl: clause
        for clause in directive.clauses
        if isinstance(clause, VarListClause) and clause.name in _MAPPED
        for item in clause.items
        if (decl := c.item_variable(item)) is not None and _from_start(item, decl)
    }


def _from_start(item: VarRefItem, decl: c.VarDecl) -> bool:
    if not item.sections:
        return not _is_pointer(decl)
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
        f"write 'update device({_section(decl)})' after it, or assign it on the device",
        [(clause.loc, f"'{clause.spelling}' copies the device's values back")],
        option="overwritten-writes",
    )


def _stale(decl: c.VarDecl, clause: VarListClause, code: _HostCode, until: str) -> list[Diagnostic]:
    """`until`: what ends the data's time on the device."""
    name = _section(decl)
    found: list[Diagnostic] = []
    if decl in code.stale_on_device and clause.name not in _BACK:
        write, read = code.stale_on_device[decl]
        found.append(
            warning(
                read.loc,
                f"'{decl.name}' is read here on the device, which does not have the values that the host"
                " assigned",
                f"write 'update device({name})' after the assignment, or assign before the data clause",
                [
                    (write.loc, "assigned here on the host"),
                    (clause.loc, f"'{clause.spelling}' does not move them"),
                ],
                option="stale-reads",
            )
        )
    if decl in code.stale:
        write, read = code.stale[decl]
        found.append(
            warning(
                read.loc,
                f"'{decl.name}' is read here on the host, which does not have the values that the device"
                " assigned",
                f"write 'update self({name})' before it, or read after {until}",
                [
                    (write.loc, "assigned here on the device"),
                    (clause.loc, f"'{clause.spelling}' keeps it there until {until}"),
                ],
                option="stale-reads",
            )
        )
    return found


def _section(decl: c.VarDecl) -> str:
    """A variable as an `update` names it."""
    return decl.name if is_scalar(decl.type) and not _is_pointer(decl) else f"{decl.name}[…]"


class _HostCode:
    """
    What a region does with the variables that it maps, in the order of its text; the outermost loops of host
    code are read twice, for what one iteration leaves to the next. `other`: variables that are updated, or
    used otherwise than by their values. `is_known`: whether nothing else may update them.
    """

    def __init__(self, mapped: dict[c.VarDecl, VarListClause]) -> None:
        self._mapped = mapped
        self._in_loop = False
        self._on_host: dict[c.VarDecl, c.Expr] = {}
        """The host's assignments after the last one on the device."""
        self._on_device: dict[c.VarDecl, c.Expr] = {}
        """The device's assignments after the last one of the host."""
        self._places: dict[c.VarDecl, set[tuple[int, ...]]] = {}
        """The constant subscripts of elements that the host assigns."""
        self.on_device: set[c.VarDecl] = set()
        self.writes: dict[c.VarDecl, c.Expr] = {}
        self.stale: dict[c.VarDecl, tuple[c.Expr, c.Expr]] = {}
        self.stale_on_device: dict[c.VarDecl, tuple[c.Expr, c.Expr]] = {}
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
                if not isinstance(node, c.Assign):
                    self._read(node.target)
                self._write(node.target)
            case c.Load() if self._holds(node.lvalue):
                self._element(node.lvalue)
                self._read(node.lvalue)
            case c.VarRef():
                self.other.add(node.decl)
            case c.Call():
                self.is_known &= _is_library(node)
                self._parts(node)
            case c.For() | c.While() | c.DoWhile() if not self._in_loop:
                self._in_loop = True
                self._parts(node)
                self._parts(node)
                self._in_loop = False
            case _:
                self._parts(node)

    def _parts(self, node: Node) -> None:
        for child in children(node):
            self.visit(child)

    def _write(self, target: c.Expr) -> None:
        decl = self._decl(target)
        self.writes.setdefault(decl, target)
        self._on_host.setdefault(decl, target)
        self._on_device.pop(decl, None)
        place = _constant_place(target)
        if place is not None:
            self._places.setdefault(decl, set()).add(place)

    def _read(self, lvalue: c.Expr) -> None:
        decl = self._decl(lvalue)
        if decl in self._on_device and _constant_place(lvalue) not in self._places.get(decl, ()):
            self.stale.setdefault(decl, (self._on_device[decl], lvalue))

    def _holds(self, lvalue: c.Expr) -> bool:
        """Whether an lvalue is a mapped scalar, or an element of a mapped variable, subscripted in place."""
        return _variable(lvalue) in self._mapped

    def _decl(self, lvalue: c.Expr) -> c.VarDecl:
        decl = _variable(lvalue)
        assert decl is not None
        return decl

    def _element(self, lvalue: c.Expr) -> None:
        for each in walk(lvalue):
            if isinstance(each, c.PtrAdd):
                self.visit(each.index)

    def _directive(self, node: c.AccStmt) -> None:
        directive = node.directive
        self.other |= _always_moved(directive)
        named = {
            each.decl
            for part in children(node)
            if part is not node.body
            for each in _references(part)
        }
        if directive.is_compute:
            assert node.body is not None
            self._construct(node, sure=not directive.has("if") and not directive.has("self"))
        elif directive.kind in (DirectiveKind.DATA, DirectiveKind.LOOP, DirectiveKind.WAIT):
            if node.body is not None:
                self.visit(node.body)
        else:
            self.other |= named
            self.is_known &= all(decl in self._mapped or not _is_pointer(decl) for decl in named)
            if node.body is not None:
                self.visit(node.body)

    def _construct(self, construct: c.AccStmt, *, sure: bool) -> None:
        inside = set[c.VarDecl]()
        own = set[c.VarDecl]()
        for each in walk(construct):
            if isinstance(each, c.VarRef):
                inside.add(each.decl)
            elif isinstance(each, c.AccStmt):
                own |= _copied(each)
            elif isinstance(each, c.For) and each.init is not None:
                own |= {decl for part in walk(each.init) if (decl := assigned_variable(part))}
        self.on_device |= inside
        if sure:
            self._device_code(construct, own)
        else:
            self.other |= inside

    def _device_code(self, node: Node, own: set[c.VarDecl]) -> None:
        """Reads the code of a construct, in which the variables `own` are copies."""
        match node:
            case c.Assign() | c.CompoundAssign() | c.IncDec() if self._holds(node.target):
                for child in children(node):
                    if child is not node.target:
                        self._device_code(child, own)
                for index in walk(node.target):
                    if isinstance(index, c.PtrAdd):
                        self._device_code(index.index, own)
                decl = self._decl(node.target)
                if decl not in own and not isinstance(node, c.Assign):
                    self._device_read(node.target)
                if decl not in own:
                    self._on_device.setdefault(decl, node.target)
                    self._on_host.pop(decl, None)
            case c.Load() if self._holds(node.lvalue) and self._decl(node.lvalue) not in own:
                for child in children(node):
                    self._device_code(child, own)
                self._device_read(node.lvalue)
            case _:
                for child in children(node):
                    self._device_code(child, own)

    def _device_read(self, lvalue: c.Expr) -> None:
        decl = self._decl(lvalue)
        if decl in self._on_host:
            self.stale_on_device.setdefault(decl, (self._on_host[decl], lvalue))


def _always_moved(directive: Directive) -> set[c.VarDecl]:
    """The variables that clauses of a directive move even if they are present (2.7.3)."""
    return {
        decl
        for clause in directive.clauses
        if isinstance(clause, VarListClause)
        and any(word.startswith("always") for word in clause.modifiers)
        for item in clause.items
        if (decl := c.item_variable(item)) is not None
    }


def _copied(node: c.AccStmt) -> set[c.VarDecl]:
    """The variables of which the code of a directive has copies of its own."""
    return {
        decl
        for name in ("private", "firstprivate")
        for clause in node.directive.all(name, VarListClause)
        for item in clause.items
        if (decl := c.item_variable(item)) is not None
    }


def _variable(lvalue: c.Expr) -> c.VarDecl | None:
    """The scalar variable that an lvalue is, or that of which it is an element."""
    if isinstance(lvalue, c.VarRef):
        decl = lvalue.decl
        return decl if is_scalar(decl.type) and not _is_pointer(decl) else None
    return element_variable(lvalue)


def _constant_place(lvalue: c.Expr) -> tuple[int, ...] | None:
    """The subscripts of an element, if all are constants."""
    places = [int_constant(each.index) for each in walk(lvalue) if isinstance(each, c.PtrAdd)]
    known = tuple(place for place in places if place is not None)
    return known if places and len(known) == len(places) else None


def _is_pointer(decl: c.VarDecl) -> bool:
    return isinstance(decl.type, PointerType)


def _references(node: Node) -> Iterator[c.VarRef]:
    return (each for each in walk(node) if isinstance(each, c.VarRef))


def _is_library(call: c.Call) -> bool:
    callee = call.callee
    if not isinstance(callee, c.FunctionRef) or callee.decl.name.startswith("acc_"):
        return False
    return is_library(callee.decl.loc)
