"""Accesses as C writes them, for messages: `u[(i - 1) * m + j]` as `u[i * m - m + j]`."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ....dialects.accx_element import ElementOp
from ...decisions.polynomials import Polynomial
from ..ops.acc_ops import source_loc, variable_name
from ..values.accesses import LoopAccess
from ..values.region_values import HostLoad

_UNKNOWN = "..."


def spelled_root(root: SSAValue) -> str:
    """A root as written in C: a variable, or an element that is a pointer."""
    element = root.owner.ptr.owner if isinstance(root.owner, llvm.LoadOp) else None
    if not isinstance(element, ElementOp):
        return variable_name(root)
    text = spelled_root(element.ptr)
    for index in element.steps():
        named = index if isinstance(index, int) else index.value.name_hint
        text += f"[{_UNKNOWN}]" if named is None else f"[{named}]"
    return text


def _symbol(symbol: Hashable) -> str | None:
    match symbol:
        case SSAValue() if isinstance(symbol.type, IntegerType) and symbol.name_hint is not None:
            return variable_name(symbol)
        case HostLoad(variable=str() as name):
            return name
        case HostLoad(variable=SSAValue() as pointer):
            return variable_name(pointer)
        case _:
            return None


def _polynomial(poly: Polynomial | None) -> str:
    """A subscript, its constant last; `_UNKNOWN` if it, or a value in it, has no name."""
    if poly is None:
        return _UNKNOWN
    text = ""
    for monomial, factor in sorted(poly.terms.items(), key=lambda term: not term[0]):
        names = [_symbol(symbol) for symbol in monomial]
        known = [name for name in names if name is not None]
        if len(known) < len(names):
            return _UNKNOWN
        shown = known if abs(factor) == 1 and known else [str(abs(factor)), *known]
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + " * ".join(shown)
    return text or "0"


def spelled_access(access: LoopAccess) -> str:
    """An access as C writes it."""
    subscripts = "".join(f"[{_polynomial(poly)}]" for poly in access.subscripts)
    return spelled_root(access.root) + subscripts


def pair_text(one: LoopAccess, other: LoopAccess, writes: tuple[bool, bool]) -> str:
    """Two accesses through which iterations may depend on each other, with what they do and their lines."""
    texts = [
        f"{spelled_access(access)} is {'assigned' if assigned else 'read'} in line"
        f" {source_loc(access.op).line}"
        for access, assigned in zip((one, other), writes, strict=True)
    ]
    return " and ".join(dict.fromkeys(texts))
