"""Hidden variables of a statement expression, for values that a built-in uses more than once."""

from __future__ import annotations

from collections.abc import Callable

from ...base.diagnostics import SourceLoc
from ..ast import (
    Conditional,
    DeclStmt,
    Deref,
    Expr,
    Initializer,
    Load,
    StatementExpr,
    Stmt,
    VarDecl,
    VarRef,
)
from ..types import PointerType, QualType
from .unit import Unit


class Temporary:
    """A statement expression being built: `hold` values, then `result`; `body` takes statements."""

    def __init__(self, unit: Unit, loc: SourceLoc) -> None:
        self.unit = unit
        self.loc = loc
        self.body: list[Stmt] = []

    def hold(self, value: Expr) -> Callable[[], Expr]:
        """Evaluates `value` here, once; each call of the returned function makes an expression that reads
        it."""
        decl = VarDecl(self.unit.numbered("tmp"), QualType(value.type), self.loc)
        decl.init = Initializer(value.type, [(0, value)], False, self.loc)
        self.body.append(DeclStmt(loc=self.loc, decls=[decl]))

        def read() -> Expr:
            place = VarRef(type=decl.type, loc=self.loc, decl=decl)
            return Load(type=decl.type, loc=self.loc, lvalue=place)

        return read

    def deref(self, pointer: Expr) -> Expr:
        """The object that `pointer` points to."""
        assert isinstance(pointer.type, PointerType)
        return Deref(type=pointer.type.pointee.type, loc=self.loc, pointer=pointer)

    def choice(self, condition: Expr, then: Expr, otherwise: Expr) -> Expr:
        """`condition ? then : otherwise`, whose branches have the same type."""
        return Conditional(
            type=then.type, loc=self.loc, condition=condition, then=then, otherwise=otherwise
        )

    def result(self, value: Expr) -> Expr:
        """The complete statement expression, with this value."""
        return StatementExpr(type=value.type, loc=self.loc, body=self.body, value=value)
