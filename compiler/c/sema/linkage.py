"""Names with linkage (C11 6.2.2), and the attributes and labels that concern the linker."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...base.diagnostics import (
    CompileError,
    SourceLoc,
    error,
)
from ..asm_syntax import AsmLabel
from ..ast import FunctionDecl, VarDecl
from ..attribute_syntax import attributes_of
from ..types import QualType
from .conversions import compatible
from .literals import plain_text
from .scopes import Symbol, TypedefName

if TYPE_CHECKING:
    from .unit import Unit

_LAST_PRIORITY = 65535
"""The priority of constructors that are declared without one."""


def describe(symbol: Symbol) -> str:
    """What kind of thing a name is, for messages."""
    match symbol:
        case FunctionDecl():
            return "a function"
        case TypedefName():
            return "a type"
        case VarDecl():
            return "a parameter" if symbol.is_param else "a variable"
        case _:
            return "an enumeration constant"


def conflict(name: str, old: Symbol, loc: SourceLoc) -> CompileError:
    """The error for a name that is declared as something else before."""
    notes = [(old.loc, "declared here")]
    return error(loc, f"'{name}' is already {describe(old)}", "rename one of them", notes)


class Linkage:
    """
    The names with linkage of a unit. `linked`: variables and functions by name; block-scope `extern`
    declarations refer to these.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.linked: dict[str, VarDecl | FunctionDecl] = {}

    def note_link(self) -> None:
        """Records that the current function, if any, declares a name with linkage."""
        if self.unit.function is not None:
            self.unit.function.declares_links = True

    def link(self, decl: VarDecl) -> None:
        """Adds a variable with linkage to the tree."""
        self.linked[decl.name] = decl
        self.unit.tree.variables.append(decl)

    def add_attributes(self, decl: VarDecl | FunctionDecl, node: Any) -> None:
        """Carries out the attributes of a declaration that concern the linker (GNU C)."""
        decl.is_weak |= bool(attributes_of(node.align, "weak"))
        for attribute in attributes_of(node.align, "alias"):
            decl.alias = plain_text(attribute.args[0].value, self.unit.loc(attribute))
        if isinstance(decl, FunctionDecl):
            decl.is_noreturn |= _is_noreturn(node)
            decl.constructor = self._priority(node, "constructor", decl.constructor)
            decl.destructor = self._priority(node, "destructor", decl.destructor)

    def _priority(self, node: Any, name: str, known: int | None) -> int | None:
        """The priority in `constructor(101)`; the lowest where none is given."""
        for attribute in attributes_of(node.align, name):
            known = _LAST_PRIORITY
            if attribute.args:
                value = self.unit.expressions.integer(attribute.args[0])
                known = _LAST_PRIORITY if value is None else value
        return known

    def label(self, node: Any) -> str | None:
        """The assembler label of a declaration (GNU C), which is its symbol for the linker; None without
        one."""
        label = next((item for item in node.align or () if isinstance(item, AsmLabel)), None)
        if label is None:
            return None
        return plain_text(label.name.value, self.unit.loc(label))

    def merge(self, old: VarDecl, q: QualType, loc: SourceLoc) -> None:
        """Merges a later declaration of a variable, with type `q`, into `old`."""
        if not compatible(old.type, q.type) or old.qual.const != q.const:
            raise error(
                loc,
                f"'{old.name}' is declared as '{q}' here and as '{old.qual}' before",
                "make the declarations agree",
                [(old.loc, "earlier declaration")],
            )
        if not old.type.is_complete:
            old.qual = q

    def check_new(self, name: str, loc: SourceLoc) -> None:
        """Raise `CompileError` if `name` is already declared in the current scope."""
        old = self.unit.scope.names.get(name)
        if old is not None:
            raise error(
                loc,
                f"'{name}' is already declared as {describe(old)} here",
                "rename one of them",
                [(old.loc, "first declaration")],
            )


def _is_noreturn(node: Any) -> bool:
    """Whether a declaration marks its function as not returning: by `_Noreturn`, `[[noreturn]]` or an
    attribute."""
    said = attributes_of(node.align, "noreturn") or "_Noreturn" in (node.funcspec or ())
    standard = (each for group in node.attributes or () for each in group.attributes)
    return bool(said) or any(each.name.strip("_").lower() == "noreturn" for each in standard)
