"""
Checks of regions that other threads run: which of their variables are shared or private, and that control
does not leave them. Also `threadprivate` variables, which have a copy per thread in the whole file.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportAttributeAccessIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..ast import (
    AddressOf,
    Call,
    Cast,
    Compound,
    Deref,
    Expr,
    FunctionDecl,
    FunctionRef,
    IntConst,
    Stmt,
    Storage,
    TeamStmt,
    VarDecl,
    VarRef,
)
from ..preprocess_lexer import escaped
from ..sema.casts import promote
from ..sema.conversions import require_scalar, rvalue
from ..sema.scopes import Scope
from ..sema.unit import Target, Unit
from ..types import LONG, VOID, IntType, QualType, pointer_to
from .directives import OmpDirective, OmpItem
from .loops import names_in
from .templates import Fence, Region


@dataclass(frozen=True)
class _Around:
    """A construct around the current statement; `scope` is the scope of its region."""

    name: str
    critical: str | None
    scope: Scope | None


class RegionChecker:
    """Checks the regions of one translation unit."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._around: list[_Around] = []

    # What is around ---------------------------------------------------------------------------

    @property
    def innermost(self) -> str:
        """The name of the construct around the current statement; "" if there is none."""
        return self._around[-1].name if self._around else ""

    @property
    def criticals(self) -> set[str]:
        """The names of the critical sections around the current statement, in its region."""
        found: set[str] = set()
        for around in reversed(self._around):
            if around.scope is not None:
                break
            if around.critical is not None:
                found.add(around.critical)
        return found

    @contextmanager
    def around(self, directive: OmpDirective) -> Generator[None]:
        """Records that the statements checked inside are in the construct `directive`."""
        critical = None
        if directive.name == "critical":
            critical = directive.items[0].name if directive.items else ""
        self._around.append(_Around(directive.name, critical, None))
        try:
            yield
        finally:
            self._around.pop()

    def _private_scopes(self) -> Iterator[Scope]:
        """The scopes of the current function whose variables belong to the current thread alone."""
        outermost = next((a.scope for a in reversed(self._around) if a.scope is not None), None)
        scope: Scope | None = self.unit.scope
        while scope is not None and not scope.is_file:
            yield scope
            if scope is outermost:
                return
            scope = scope.parent

    def is_private(self, name: str) -> bool:
        """Whether each thread of the enclosing parallel region has its own variable `name`."""
        return any(a.scope is not None for a in self._around) and self._is_own(name)

    def _is_own(self, name: str) -> bool:
        """Whether `name` is a variable of the current thread alone."""
        found = self.unit.scope.find(name)
        if not isinstance(found, VarDecl) or found.storage is not Storage.AUTO:
            return False
        return any(scope.names.get(name) is found for scope in self._private_scopes())

    def private_names(self, nodes: list[Any], said: set[str]) -> list[str]:
        """
        The variables of the current thread that `nodes` use and that are not named in a clause, `said`
        (2.15.1.1).
        """
        names = set[str]().union(*map(names_in, nodes))
        return [name for name in sorted(names - said) if self._is_own(name)]

    # Regions ----------------------------------------------------------------------------------

    def region(self, node: Region) -> Stmt:
        """Checks a region and its statements, and makes its `TeamStmt`."""
        loc = self.unit.loc(node)
        threads = None if node.threads is None else self._number(node.threads, "num_threads")
        several = self._number(node.several, "if")
        outer = {
            name: self.unit.expressions.check(c_ast.ID(name, node.coord)) for name in node.copies
        }
        with self.unit.nested_scope() as scope:
            copies: list[tuple[VarDecl, Expr]] = []
            for name, value in outer.items():
                decl = VarDecl(name, QualType(value.type), loc)
                scope.declare(name, decl)
                copies.append((decl, rvalue(value)))
            self._around.append(_Around("parallel" if threads else "task", None, scope))
            try:
                body = self._inside(node.name, lambda: self.unit.statements.statement(node.body))
            finally:
                self._around.pop()
        return TeamStmt(
            loc=loc,
            name=node.name,
            threads=threads,
            several=several,
            copies=copies,
            listed=node.listed,
            body=body,
        )

    def _number(self, node: Any, clause: str) -> Expr:
        value = self.unit.expressions.value(node)
        require_scalar(value, f"the argument of '{clause}'")
        value = promote(value)
        if not isinstance(value.type, IntType):
            raise error(value.loc, f"'{clause}' with '{value.type}'", "write an integer")
        return value

    def _inside(self, name: str, check: Callable[[], Any], kind: str = "construct") -> Any:
        state = self.unit.function
        assert state is not None, "statements are in functions"
        outer = state.constructs
        state.next_construct += 1
        state.constructs = (*outer, state.next_construct)
        state.targets.append(Target(kind, name))
        try:
            return check()
        finally:
            state.targets.pop()
            state.constructs = outer

    def fence(self, node: Fence) -> Stmt:
        """Checks the user's statements in a construct."""
        kind = "iteration" if node.loops else "construct"
        with self.unit.nested_scope():
            body = self._inside(node.name, lambda: self.unit.statements.block(node.nodes), kind)
        return body[0] if len(body) == 1 else Compound(loc=self.unit.loc(node), body=body)

    # Variables with a copy per thread ---------------------------------------------------------

    def thread_private(self, directive: OmpDirective, find: Callable[[OmpItem], VarDecl]) -> None:
        """
        Carries out `threadprivate` (2.15.2): from here on, the names mean the copies of the current thread.
        """
        for item in directive.items:
            decl = find(item)
            if decl.storage is Storage.AUTO:
                raise error(
                    item.loc,
                    f"'{item.name}' in 'threadprivate' is a variable with automatic storage",
                    "declare it 'static', or use private on the construct",
                )
            decl.is_thread_private = True

    def own_copy(self, ref: VarRef) -> Expr:
        """The thread's copy of a `threadprivate` variable."""
        function = self.unit.file_scope.find("__accopt_omp_private")
        assert isinstance(function, FunctionDecl)
        loc, pointer = ref.loc, pointer_to(VOID)
        ref.decl.address_taken = True
        address = AddressOf(type=pointer_to(ref.type), loc=loc, operand=ref)
        size = IntConst(type=LONG, loc=loc, value=ref.type.size)
        call = Call(
            type=pointer,
            loc=loc,
            callee=FunctionRef(type=function.type, loc=loc, decl=function),
            args=[Cast(type=pointer, loc=loc, operand=address), size],
            function_type=function.type,
        )
        return Deref(
            type=ref.type,
            loc=loc,
            pointer=Cast(type=pointer_to(ref.type), loc=loc, operand=call),
        )


def place_text(loc: SourceLoc) -> str:
    """A place as text for a C string literal."""
    return escaped(f"{loc.file}:{loc.line}")
