"""
OpenACC directives: attaches each to its statement, and resolves the names in its clauses.

The directive parser turns the pragma's text into a record; here the record is attached to the statement,
function or file, and every expression in it gets its typed form in the scope at the directive (clause
expressions are evaluated before the construct, OpenACC 3.4, 2.5 and 2.7).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ...directives.device_types import depends_on_device, present_types, select_clauses
from ...directives.parser import parse_directive
from ...directives.records import (
    DeviceTypeClause,
    Directive,
    DirectiveKind,
    VarListClause,
    VarRefItem,
)
from ..ast import (
    AccStmt,
    Compound,
    DeclStmt,
    ExprStmt,
    For,
    FunctionDecl,
    Null,
    Stmt,
    Storage,
    VarRef,
)
from . import leniency
from .clause_values import check_values
from .clauses import ClauseResolver
from .literals import plain_text
from .nesting import check_nesting
from .packing import without_anchors
from .unit import Target, Unit

_WEAK = re.compile(r"\s*weak\s+(\w+)(?:\s*=\s*(\w+))?\s*$")
_ACC = re.compile(r"acc\b[ \t]*")
_HOST_NAMES = frozenset(("host", "multicore"))
_NEXT_IS_FOR = "write the 'for' loop directly after it"


class DirectiveChecker:
    """Checks the directives of a unit."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.clauses = ClauseResolver(unit)
        self._pending: list[Directive] = []
        self._named: dict[str, list[Directive]] = {}
        """Function that is not declared yet → the `routine` directives that name it."""
        self._parsed: dict[Any, Directive | None] = {}

    def parse(self, node: Any) -> Directive | None:
        """The directive of a pragma, parsed once; None for pragmas that are not OpenACC."""
        if node not in self._parsed:
            self._parsed[node] = self._parse(node)
        return self._parsed[node]

    def _parse(self, node: Any) -> Directive | None:
        loc = self.unit.loc(node)
        text = node.string
        if isinstance(text, str) and (self.unit.pack.obey(text) or self._weak(text)):
            return None
        if not isinstance(text, str):  # _Pragma("…")
            text = plain_text(text.value, loc)
        m = _ACC.match(text)
        if m is None:
            return None
        place = SourceLoc(loc.file, loc.line, loc.column + m.end() if loc.column else 0)
        return parse_directive(text[m.end() :], place, self.unit.sink)

    def _weak(self, text: str) -> bool:
        """Carries out `#pragma weak f` or `#pragma weak f = g`; false for other pragmas."""
        found = _WEAK.match(without_anchors(text))
        if found is not None:
            self.unit.tree.weak[found.group(1)] = found.group(2)
        return found is not None

    def _resolve(self, directive: Directive) -> None:
        """Types all clauses, and keeps those that apply to the target."""
        self.clauses.resolve(directive)
        check_values(directive)
        if depends_on_device(directive):
            select_clauses(directive, self.unit.target)
        chosen = directive.find("device_type", DeviceTypeClause)
        if directive.kind is DirectiveKind.SET and chosen is not None:
            to_host = self.unit.target != "host" and not _HOST_NAMES.isdisjoint(chosen.types)
            self.unit.tree.selects_host |= to_host
        elif chosen is not None:
            chosen.types = present_types(chosen.types, self.unit.target)

    def refuse_pragma(self, node: Any, where: str) -> None:
        """Raise `CompileError` if `node` is an OpenACC directive, as none is allowed at its place,
        `where`."""
        directive = self.parse(node)
        if directive is not None:
            raise error(
                directive.loc,
                f"'{directive.kind.value}' {where}",
                "move it before a statement or function",
            )

    # File scope -------------------------------------------------------------------------------

    def external(self, node: Any) -> None:
        """Carries out a pragma outside functions: `declare` or `routine`, or an `update` that is taken as a
        `declare`."""
        directive = self.parse(node)
        if directive is None:
            self.unit.openmp.external(node)
            return
        if directive.kind is DirectiveKind.DECLARE:
            self._resolve(directive)
            self.unit.tree.directives.append(directive)
        elif directive.kind is DirectiveKind.ROUTINE:
            self._routine(directive)
        elif directive.kind is DirectiveKind.UPDATE:
            self._resolve(directive)
            self._update_at_file_scope(directive)
        else:
            raise error(
                directive.loc,
                f"'{directive.kind.value}' outside a function",
                "move it into the function, before the statement it applies to",
            )

    def _update_at_file_scope(self, directive: Directive) -> None:
        """
        Takes an `update` at file scope, where it would never be executed (2.14.4), as the `declare` that
        gives the variables declared before it their initial values on the device, with a warning.
        """
        names = {
            item.name for clause in directive.all("device", VarListClause) for item in clause.items
        }
        told: set[str] = set()
        for declared in self.unit.tree.directives:
            for clause in declared.all("create", VarListClause):
                meant = [item for item in clause.items if item.name in names]
                if meant:
                    told |= {item.name for item in meant}
                    clause.items = [item for item in clause.items if item not in meant]
                    copied = replace(
                        clause, name="copyin", spelling="copyin", modifiers=(), items=meant
                    )
                    declared.clauses.append(copied)
            declared.drop_empty_lists()
        listed = ", ".join(sorted(told))
        self.unit.sink.warn(
            directive.loc,
            "'update' outside a function is not executed: "
            + (f"taken as 'declare copyin({listed})'" if told else "nothing is moved here"),
            f"write declare copyin({listed})" if told else "move it into a function",
        )

    def _routine(self, directive: Directive) -> None:
        """`routine` applies to the function it names, which may be declared later, or to the next one
        (OpenACC 3.4, 2.15.1)."""
        self._resolve(directive)
        name = directive.routine_name
        if name is None:
            self._pending.append(directive)
            return
        target = self.unit.scope.find(name)
        if target is None:
            self._named.setdefault(name, []).append(directive)
            return
        if not isinstance(target, FunctionDecl):
            raise error(
                directive.loc, f"routine({name}): '{name}' is not a function", "name a function"
            )
        target.directives.append(directive)
        self.unit.tree.directives.append(directive)

    def attach_routines(self, decl: FunctionDecl) -> None:
        """Attach the `routine` directives immediately before a function, and those before it that name it, to
        `decl`."""
        named = self._named.pop(decl.name, [])
        self.unit.tree.directives += named
        decl.directives += [*named, *self._pending]
        self._pending.clear()

    def require_declared(self) -> None:
        """Raise `CompileError` if a `routine` directive names a function that the file does not declare."""
        for name, directives in self._named.items():
            raise error(
                directives[0].loc,
                f"routine({name}): function '{name}' is not declared",
                self.unit.scope.did_you_mean(name) or "declare the function",
            )

    def require_no_pending(self) -> None:
        """Raise `CompileError` if a `routine` directive was not followed by a function."""
        if self._pending:
            loc = self._pending[0].loc
            self._pending.clear()
            raise error(
                loc,
                "'routine' is not followed by a function",
                "put it directly before the function, or name it: 'routine(f)'",
            )

    # Statements -------------------------------------------------------------------------------

    def require_body(self, items: list[Any]) -> None:
        """
        Raise `CompileError` for a directive without a body as the unbraced body of an `if` or loop: it
        would be the whole body, and the statement after it would not belong to it (OpenACC 3.4, 2.14.4).
        """
        for item in items:
            directive = self.parse(item) if isinstance(item, c_ast.Pragma) else None
            if directive is not None and not directive.has_body:
                raise error(
                    directive.loc,
                    f"'{directive.kind.value}' cannot be the body of an 'if', loop or label",
                    "put braces '{ … }' around it",
                )
            self.unit.openmp.require_body(item)

    def statement(self, nodes: list[Any], index: int) -> tuple[list[Stmt], int]:
        """The statements for the pragma at nodes[index], and the index after the nodes that it applies
        to."""
        directive = self.parse(nodes[index])
        omp = self.unit.openmp.parse(nodes[index]) if directive is None else None
        index += 1
        if omp is not None:
            return self.unit.openmp.statement(omp, nodes, index)
        if directive is None:
            return [], index
        if directive.kind is DirectiveKind.ROUTINE:
            self._routine(directive)
            if directive.routine_name is None and not (
                index < len(nodes) and isinstance(nodes[index], c_ast.Decl)
            ):
                self.require_no_pending()
            return [], index
        state = self.unit.function
        assert state is not None, "move it into a function"
        with self.unit.recovery.going_on():
            self._resolve(directive)
            check_nesting(directive, state.directives)
            in_loop = any(target.kind == "loop" for target in state.targets)
            in_construct = any(around.is_compute for around in state.directives)  # not a routine
            if directive.kind is DirectiveKind.CACHE and in_construct and not in_loop:
                leniency.warn_of_idle_cache(directive, self.unit.sink)
                return [], index
        if directive.kind is DirectiveKind.DECLARE and self._declares_statics(directive):
            return [], index
        if not directive.has_body:
            return [AccStmt(loc=directive.loc, directive=directive)], index
        index = self._skip_pragmas(directive, nodes, index)
        if index >= len(nodes):
            raise error(
                directive.loc,
                f"'{directive.kind.value}' has no statement after it",
                self._body_remedy(directive),
            )
        body, index = self._body(directive, nodes, index)
        plain = leniency.without_data(directive, body, self.unit.sink)
        if plain is not None:
            return plain, index
        return [AccStmt(loc=directive.loc, directive=directive, body=body)], index

    def _skip_pragmas(self, directive: Directive, nodes: list[Any], index: int) -> int:
        """The index after pragmas that are ignored here. Raises `CompileError` for one of OpenMP between
        the directive and its loop."""
        while index < len(nodes) and isinstance(nodes[index], c_ast.Pragma):
            inner = self.parse(nodes[index])
            if inner is not None and inner.kind is DirectiveKind.CACHE:
                leniency.warn_of_idle_cache(inner, self.unit.sink)
            elif inner is not None:
                break
            omp = self.unit.openmp.parse(nodes[index])
            if omp is not None and self._needs_loop(directive):
                raise error(
                    omp.loc,
                    f"'omp {omp.name}' between '{directive.kind.value}' and its loop",
                    "the loop is for the device or for threads of the host: remove one of them",
                    [(directive.loc, "this directive applies to the loop, too")],
                )
            if omp is not None:
                break
            index += 1
        return index

    def _needs_loop(self, directive: Directive) -> bool:
        return directive.kind is DirectiveKind.LOOP or directive.is_combined

    def _declares_statics(self, directive: Directive) -> bool:
        """
        Moves the items of a `declare` that name static or extern variables of this function to file scope,
        as they are mapped for the whole program (2.13). True if no item is left for the function.
        """
        statics = replace(directive, clauses=[])
        for clause in directive.clauses:
            if not isinstance(clause, VarListClause):
                continue
            moved = [item for item in clause.items if self._is_static_here(item)]
            if moved:
                statics.clauses.append(replace(clause, items=moved))
                clause.items = [item for item in clause.items if item not in moved]
        directive.drop_empty_lists()
        if statics.clauses:
            self.unit.tree.directives.append(statics)
        return not directive.clauses

    def _is_static_here(self, item: VarRefItem) -> bool:
        """Whether an item names a variable with static storage declared in the current function."""
        base = item.base.expr
        return (
            isinstance(base, VarRef)
            and base.decl.storage is not Storage.AUTO
            and self.unit.file_scope.names.get(item.name) is not self.unit.scope.find(item.name)
        )

    def _body_remedy(self, directive: Directive) -> str:
        if self._needs_loop(directive):
            return _NEXT_IS_FOR
        if directive.kind is DirectiveKind.ATOMIC:
            return "write the update directly after it"
        return "put the block '{ … }' or loop it applies to directly after it"

    def _body(self, directive: Directive, nodes: list[Any], index: int) -> tuple[Stmt, int]:
        """The one statement after a directive, checked inside the construct."""
        state = self.unit.function
        assert state is not None, "move it into a function"
        outer = state.constructs
        is_construct = directive.kind is not DirectiveKind.ATOMIC
        if is_construct:
            state.next_construct += 1
            state.constructs = (*outer, state.next_construct)
            state.targets.append(Target("construct", directive.kind.value))
            state.directives.append(directive)
        known = len(self.unit.recovery.mistakes)
        stmts, index = self.unit.statements.item(nodes, index)
        if is_construct:
            state.targets.pop()
            state.directives.pop()
            state.constructs = outer
        if not stmts and len(self.unit.recovery.mistakes) > known:
            return Null(loc=directive.loc), index
        if stmts and self._needs_loop(directive):
            stmts[0] = leniency.without_braces(directive, stmts[0], self.unit.sink)
        body: Stmt = Null(loc=directive.loc)
        with self.unit.recovery.going_on():
            self._check_body(directive, stmts)
            body = stmts[0]
            body = leniency.private_on_loops(directive, body, self.unit.sink)
        return body, index

    def _check_body(self, directive: Directive, stmts: list[Stmt]) -> None:
        name = directive.kind.value
        first = stmts[0] if stmts else None
        if first is None or isinstance(first, DeclStmt):
            loc = first.loc if first is not None else directive.loc
            raise error(
                loc, f"a declaration cannot be the body of '{name}'", self._body_remedy(directive)
            )
        if self._needs_loop(directive) and not isinstance(first, For):
            raise error(
                directive.loc,
                f"'{name}' is not followed by a 'for' loop",
                _NEXT_IS_FOR,
                [(first.loc, "this follows")],
            )
        if directive.kind is DirectiveKind.ATOMIC and not isinstance(first, ExprStmt | Compound):
            raise error(
                directive.loc, f"'{name}' is not followed by an assignment", self._body_remedy(directive),
                [(first.loc, "this follows")],
            )  # fmt: skip
