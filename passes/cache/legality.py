"""
Which accesses of a directive's scope a tile may serve, and which directives none can serve.

An array that several directives of one scope name has several tiles. An access goes to the one whose
section it provably lies in, the innermost if there are several; where that is not known it goes to
the array, which is right because such arrays are only read.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc
from xdsl.ir import Operation

from ..analysis.acc_ops import source_loc
from .accesses import Access, Cached, Declined
from .uniformity import overlapping_store


def first_directive(op: acc.CacheOp) -> acc.CacheOp:
    """The outermost directive in whose scope `op` names the same array again."""
    while isinstance(op.var.owner, acc.CacheOp):
        op = op.var.owner
    return op


def choose_sections(cached: Sequence[Cached]) -> None:
    """
    Leaves each access to at most one of the directives that see it, and says in `Cached.several` which
    arrays are named by several sections.
    """
    families: dict[acc.CacheOp, list[Cached]] = {}
    for each in cached:
        families.setdefault(first_directive(each.op), []).append(each)
    for family in families.values():
        if len(family) < 2:
            continue
        for each in family:
            each.written = any(access.is_store for other in family for access in other.accesses)
            each.several = True
        _assign(family)


def _assign(family: Sequence[Cached]) -> None:
    seen: dict[Operation, list[tuple[Cached, Access]]] = {}
    for cached in family:
        for access in cached.accesses:
            seen.setdefault(access.op, []).append((cached, access))
    for candidates in seen.values():
        chosen = _best(candidates)
        for cached, access in candidates:
            if cached is not chosen:
                cached.accesses.remove(access)


def _best(candidates: Sequence[tuple[Cached, Access]]) -> Cached | None:
    certain = [cached for cached, access in candidates if access.certain]
    if certain:
        return certain[-1]
    possible = [
        cached for cached, access in candidates if access.element is not None and not access.outside
    ]
    if not possible:
        return candidates[-1][0]
    return possible[0] if len(possible) == 1 else None


def check_accesses(cached: Cached) -> None:
    """Raises `Declined` if no tile can serve the accesses of a directive."""
    if cached.several and cached.written:
        raise Declined(
            f"'{cached.section.name}' is written and named by several sections of one scope"
        )
    if not cached.accesses:
        raise Declined(f"'{cached.section.name}' is not accessed in its scope")
    store = overlapping_store(cached)
    if store is not None:
        raise Declined(
            f"the write in line {source_loc(store).line} may change it: declare pointers"
            " restrict, or say readonly"
        )
    for access in cached.accesses:
        if access.outside:
            loc = source_loc(access.op)
            raise Declined(
                f"the access in line {loc.line}, column {loc.column} lies outside of the section"
            )
    stores = any(access.is_store for access in cached.accesses)
    if all(access.element is None for access in cached.accesses):
        raise Declined("no subscript follows the dimensions of the section")
    if any(access.element is None and access.is_store for access in cached.accesses):
        raise Declined("a write does not follow the dimensions of the section")
    if stores and any(access.element is None for access in cached.accesses):
        raise Declined("not every subscript follows the dimensions of the section")
    if stores and cached.section.readonly:
        raise Declined("it is readonly, but its scope writes it")
