"""
Warnings about calls of the C library that certainly write past the end of an array (`stringop-overflow`):
both the number of bytes and the size of the target are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, warning
from .. import ast as c
from ..tree import Node, children, int_constant, strip_casts
from ..types import ArrayType, CType, PointerType, VoidType
from .formats import least_printed, literal_text

_STRINGS = {"strcpy": 1, "stpcpy": 1, "strcat": 1}
"""Function → the number of the string argument that is copied with its terminating null."""
_COUNTED = {
    "memcpy": 2,
    "memmove": 2,
    "memset": 2,
    "strncpy": 2,
    "bzero": 1,
    "fgets": 1,
    "snprintf": 1,
}
"""Function → the number of the argument that is the number of bytes."""


def overflowing_writes(function: c.FunctionDecl, nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """Warnings about the calls in `function`, whose nodes are `nodes`, except those in branches that are
    never taken."""
    found = {
        node: said
        for node in nodes
        if isinstance(node, c.Call) and (said := _call(node)) is not None
    }
    if found and function.body is not None:
        for node in _reached(function.body):
            if isinstance(node, c.Call) and node in found:
                yield found[node]


def _reached(node: Node) -> Iterator[Node]:
    """`node` and the nodes below it, without branches that a constant condition excludes."""
    yield node
    parts = children(node)
    if isinstance(node, c.If | c.Conditional):
        taken = int_constant(node.condition)
        parts = [
            part
            for part in parts
            if taken is None or part is (node.then if taken else node.otherwise)
        ]
    for part in parts:
        yield from _reached(part)


def _call(call: c.Call) -> Diagnostic | None:
    if not isinstance(call.callee, c.FunctionRef) or not call.args or call.callee.decl.body:
        return None
    name = call.callee.decl.name.removeprefix("__builtin_")
    written = _written(name, call)
    if written is None:
        return None
    target = strip_casts(call.args[0])
    room = _room(target, whole=name in ("memcpy", "memmove", "memset", "bzero"))
    if room is None or written <= room:
        return None
    return warning(
        call.loc,
        f"'{name}' writes {written} bytes to a target of {room} bytes",
        "make the array longer, or write less",
        option="stringop-overflow",
    )


def _written(name: str, call: c.Call) -> int | None:
    """The least number of bytes that a call writes; None if it is not known."""
    if name in _STRINGS and len(call.args) > _STRINGS[name]:
        text = literal_text(call.args[_STRINGS[name]])
        return None if text is None else len(text) + 1
    if name in _COUNTED and len(call.args) > _COUNTED[name]:
        return int_constant(call.args[_COUNTED[name]])
    if name == "sprintf" and len(call.args) > 1:
        text = literal_text(call.args[1])
        return None if text is None else least_printed(text) + 1
    return None


def _room(target: c.Expr, *, whole: bool) -> int | None:
    """
    The bytes from `target` to the end of the array it points into; with `whole`, for functions that copy
    bytes of any object, to the end of the variable.
    """
    match target:
        case c.PtrAdd(type=PointerType(pointee=element)):
            begun, index = strip_casts(target.pointer), int_constant(target.index)
            room = _room(begun, whole=whole)
            if room is None or index is None:
                return None
            step = 1 if isinstance(element.type, VoidType) else element.type.size
            return max(room + (index if target.subtract else -index) * step, 0)
        case c.AddressOf(operand=c.Deref(pointer=pointer)):
            return _room(strip_casts(pointer), whole=whole)
        case c.AddressOf(operand=c.VarRef() as variable):
            return _size(variable.decl.type)
        case c.Decay(operand=c.VarRef() as variable):
            return _size(variable.decl.type)
        case c.Decay(operand=c.Deref() as row) if not whole:
            return _size(row.type)
        case c.Decay(operand=c.Member(record=c.VarRef()) as member) if not whole:
            return _size(member.type)
        case _:
            return None


def _size(t: CType) -> int | None:
    """The size of a type in bytes; None if it is determined at run time, or by the allocation of a
    structure with a flexible array member."""
    if isinstance(t, ArrayType) and (t.is_vla or not t.is_complete):
        return None
    return t.size or None
