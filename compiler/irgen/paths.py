"""Keys for lvalues, by which those that a data clause replaces by device copies are found."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.tree import int_constant, loaded_variable
from ..c.types import PointerType
from .function import FunctionState

_FORMS: dict[type[c.Expr], str] = {
    c.Deref: "*({})",
    c.AddressOf: "&({})",
    c.Load: "L{}",
    c.Decay: "D{}",
}
"""Kind of expression → its key, around that of its operand."""


def path_key(fn: FunctionState, e: c.Expr) -> str | None:
    """
    A key equal for expressions that designate the same object: variables, members, dereferences
    and subscripts by constants or SSA variables. None for anything else.
    """
    match e:
        case c.VarRef():
            return f"v{id(e.decl)}"
        case c.Cast() if isinstance(e.type, PointerType):
            return path_key(fn, e.operand)
        case c.Member():
            base = path_key(fn, e.record)
            return None if base is None else f"{base}.{e.field.name}@{e.field.offset}"
        case (
            c.Deref(pointer=inner)
            | c.AddressOf(operand=inner)
            | c.Load(lvalue=inner)
            | c.Decay(operand=inner)
        ):
            base = path_key(fn, inner)
            return None if base is None else _FORMS[type(e)].format(base)
        case c.PtrAdd():
            base, index = path_key(fn, e.pointer), _index_key(fn, e.index)
            if base is None or index is None:
                return None
            return f"{base}{'-' if e.subtract else '+'}{index}"
        case _:
            return None


def _index_key(fn: FunctionState, e: c.Expr) -> str | None:
    constant = int_constant(e)
    if constant is not None:
        return str(constant)
    decl = loaded_variable(e)
    if decl is None or fn.in_memory(decl) or decl not in fn.values:
        return None
    return f"s{id(fn.values[decl])}"


def replaced_member(fn: FunctionState, e: c.Member) -> SSAValue | None:
    """The device copy of a member that a data clause of the construct names."""
    return fn.members.get(f"&{path_key(fn, e)}") if fn.members else None
