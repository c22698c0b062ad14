"""
The `cache` directives of one array: joining them, and removing them.

If several sections of a scope name one array and the scope writes it, one tile covers all of these
sections: with separate tiles, a write to one would not reach the copy in another.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ...decisions.cache_section import hull
from ...decisions.declined import Declined
from ..ops.acc_ops import set_operand_groups, source_loc
from ..ops.building import Cursor, erase
from .cached_accesses import Symbols, read_section, uses_of_view


def first_directive(op: acc.CacheOp) -> acc.CacheOp:
    """The outermost directive in whose scope `op` names the same array again."""
    while isinstance(op.var.owner, acc.CacheOp):
        op = op.var.owner
    return op


def drop(op: acc.CacheOp) -> None:
    """
    Removes a directive: uses of its view become uses of the array, or of an earlier directive's view of it.
    """
    for use in list(op.acc_var.uses):
        user = use.operation
        if isinstance(user, acc.LoopOp):
            continue
        user.operands[use.index] = op.var
    bounds = [value.owner for value in op.bounds]
    erase(op)
    for owner in bounds:
        if isinstance(owner, Operation) and not any(result.uses for result in owner.results):
            erase(owner)


def join_written(parent: Operation) -> list[tuple[Operation, str]]:
    """
    Joins the directives of a block that name sections of one written array into one, where `hull` finds a
    section around them all. Returns each directive that became redundant, with a remark.
    """
    families: dict[acc.CacheOp, list[acc.CacheOp]] = {}
    for op in parent.walk():
        if isinstance(op, acc.CacheOp):
            families.setdefault(first_directive(op), []).append(op)
    texts: list[tuple[Operation, str]] = []
    for family in families.values():
        if len(family) > 1 and _join(family, Symbols(parent)):
            line = source_loc(family[0]).line
            name = "it" if family[0].var_name is None else family[0].var_name.data
            reason = f"in the tile of the section in line {line}, since '{name}' is written"
            texts += [(op, f"cache({name}): {reason}") for op in family[1:]]
            for op in reversed(family[1:]):
                drop(op)
    return texts


def _join(family: list[acc.CacheOp], symbols: Symbols) -> bool:
    """Extends the section of the first of several directives around those of all, if that should be done."""
    first = family[0]
    uses = [use for op in family for use in uses_of_view(op.acc_var, symbols)]
    written = any(isinstance(use.access, llvm.StoreOp) for use in uses)
    if not written or any(op.parent_block() is not first.parent_block() for op in family):
        return False
    try:
        sections = [read_section(op, symbols) for op in family]
    except Declined:
        return False
    around = hull(sections)
    if around is None or any(section.readonly for section in sections):
        return False
    at = Cursor.before(first)
    joined: list[SSAValue] = []
    for position, (shift, length) in enumerate(around):
        bounds = first.bounds[position].owner
        assert isinstance(bounds, acc.DataBoundsOp) and bounds.lowerbound is not None
        own = bounds.clone()
        lower = at.add(bounds.lowerbound, at.constant(shift, bounds.lowerbound.type))
        set_operand_groups(own, lowerbound=[lower], extent=[at.constant(length, lower.type)])
        joined.append(at.value(own, bounds.result.name_hint))
    old = [value.owner for value in first.bounds]
    set_operand_groups(first, bounds=joined)
    for op in old:
        if isinstance(op, Operation) and not op.results[0].uses:
            erase(op)
    return True
