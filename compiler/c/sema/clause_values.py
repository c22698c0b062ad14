"""Checks the values of clause arguments, once their expressions are typed (OpenACC 3.4, 2.5 to 2.16)."""

from __future__ import annotations

from ...base.diagnostics import error
from ...directives.records import (
    Clause,
    Directive,
    ExprClause,
    ExprSlot,
    GangClause,
    ReductionClause,
    TileClause,
    VarListClause,
    VarRefItem,
    WaitClause,
)
from ..types import ArrayType, IntType, PointerType
from .constants import integer_value

_SIZES = frozenset(("num_gangs", "num_workers", "vector_length", "worker", "vector"))
_QUEUES = frozenset(("async", "default_async"))
_POINTERS = frozenset(("deviceptr", "attach", "detach"))
_LEAST_QUEUE = -3
"""`acc_async_default`; `acc_async_sync` and `acc_async_noval` are between it and zero."""


def check_values(directive: Directive) -> None:
    """Raise `CompileError` for arguments of the wrong type, and for constants out of range."""
    for clause in directive.clauses:
        match clause:
            case ExprClause() if clause.name in _SIZES:
                for slot in clause.args:
                    _positive(slot, clause)
            case ExprClause() if clause.name in _QUEUES:
                for slot in clause.args:
                    _queue(slot)
            case ExprClause(name="collapse"):
                for slot in clause.args:
                    _positive(slot, clause, must_be_constant=True)
            case GangClause():
                for slot in (clause.num, clause.static):
                    if slot is not None:
                        _positive(slot, clause)
                _dimension(clause, directive)
            case TileClause():
                for slot in clause.sizes:
                    if slot is not None:
                        _positive(slot, clause)
            case WaitClause():
                for slot in clause.queues:
                    _queue(slot)
                if clause.devnum is not None:
                    _integer(clause.devnum)
            case VarListClause() if clause.name in _POINTERS:
                for item in clause.items:
                    _pointer(item, clause)
            case _:
                pass


def _integer(slot: ExprSlot) -> int | None:
    """The value of an integer argument if it is constant."""
    assert slot.expr is not None
    if not isinstance(slot.expr.type, IntType):
        raise error(slot.loc, f"'{slot.text.strip()}' is not an integer", "write an integer")
    return integer_value(slot.expr)


def _positive(slot: ExprSlot, clause: Clause, *, must_be_constant: bool = False) -> None:
    value = _integer(slot)
    if value is None and must_be_constant:
        raise error(
            slot.loc,
            f"the argument '{slot.text.strip()}' of '{clause.spelling}' is not a constant",
            "write a positive integer constant",
        )
    if value is not None and value < 1:
        raise error(
            slot.loc,
            f"the argument of '{clause.spelling}' is {value}",
            "write a positive integer",
        )


def _queue(slot: ExprSlot) -> None:
    value = _integer(slot)
    if value is not None and value < _LEAST_QUEUE:
        raise error(
            slot.loc,
            f"{value} is not a queue",
            "write a non-negative integer, acc_async_sync, acc_async_noval or acc_async_default",
        )


def _dimension(clause: GangClause, directive: Directive) -> None:
    """Raise `CompileError` for a reduction on a loop over gangs of dimension 2 or 3 (2.9.11)."""
    dim = None if clause.dim is None or clause.dim.expr is None else integer_value(clause.dim.expr)
    if dim is None or dim < 2:
        return
    for other in directive.clauses:
        if isinstance(other, ReductionClause):
            raise error(
                other.loc,
                f"'reduction' cannot be combined with 'gang(dim:{dim})'",
                "reduce over gang(dim:1), or in a loop inside",
                [(clause.loc, "'gang' is here")],
            )


def _pointer(item: VarRefItem, clause: Clause) -> None:
    base = item.base.expr
    if base is None:
        return
    named, name = base.type, item.name
    if clause.name == "deviceptr" and item.sections:
        return
    for section in item.sections:
        assert isinstance(named, ArrayType | PointerType)
        named = named.element.type if isinstance(named, ArrayType) else named.pointee.type
        if not section.is_index:
            if isinstance(named, PointerType):
                raise error(
                    section.loc,
                    f"several pointers of '{item.name}' in '{clause.spelling}', which takes one at a time",
                    f"write a loop with {clause.spelling}({item.name}[i])",
                )
            return  # the data of a pointer: the pointer is meant
        assert section.lower is not None
        name += f"[{section.lower.text.strip()}]"
    if not isinstance(named, PointerType):
        raise error(
            item.loc,
            f"'{name}' in '{clause.spelling}' is not a pointer: its type is '{named}'",
            "name a pointer variable",
        )
