"""
Which accesses in a directive's scope a tile may serve, and which directives cannot have a tile.

An array that several directives of one scope name has several tiles. An access goes to the tile whose
section certainly contains it, the innermost if there are several; if there is none it goes to the array,
which is correct because such arrays are only read.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, scf
from xdsl.ir import Operation, SSAValue

from ..decisions.cache_plan import Sharing
from ..decisions.cache_section import CachedSection
from ..decisions.declined import Declined
from ..ir.data.cached_accesses import Cached, CachedAccess
from ..ir.data.cached_sections import first_directive
from ..ir.ops.acc_ops import operations_around, source_loc
from ..ir.ops.purity import is_pure
from .nest import CachedNest
from .uniformity import has_effects, overlapping_store


def choose_sections(cached: Sequence[Cached]) -> None:
    """
    Assigns each access to at most one of the directives whose scope it is in, and sets `Cached.several` for
    arrays with several sections.
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
    seen: dict[Operation, list[tuple[Cached, CachedAccess]]] = {}
    for cached in family:
        for access in cached.accesses:
            seen.setdefault(access.op, []).append((cached, access))
    for candidates in seen.values():
        chosen = _best(candidates)
        for cached, access in candidates:
            if cached is not chosen:
                cached.accesses.remove(access)


def _best(candidates: Sequence[tuple[Cached, CachedAccess]]) -> Cached | None:
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
    """Raises `Declined` with the reason if no tile can serve the accesses of a directive."""
    if cached.several and cached.written:
        raise Declined(
            f"'{cached.section.name}' is written and named by several sections of one scope, which lie"
            " far apart, at distances known only at run time, or in several blocks of code: name one"
            " section around them"
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


# Requirements of running the nest by blocks
# ------------------------------------------------------------------


def check_place(op: acc.CacheOp, nest: CachedNest, varying: set[SSAValue]) -> None:
    """Raises `Declined` unless all threads of a block reach the directive together."""
    for around in operations_around(op, nest.loops[-1]):
        if isinstance(around, scf.ForOp):
            control: Sequence[SSAValue] = (around.lb, around.ub, around.step)
        elif isinstance(around, scf.IfOp):
            control = (around.cond,)
        elif isinstance(around, acc.LoopOp):
            control = (*around.lowerbound, *around.upperbound, *around.step)
        else:
            raise Declined("it is in control flow that threads may follow differently")
        if any(value in varying for value in control):
            raise Declined("it is in control flow that depends on the parallel loop variables")


def check_uniform(
    section: CachedSection, nest: CachedNest, sharing: Sharing, varying: set[SSAValue]
) -> None:
    variables = {nest.variables[position] for position in sharing.axes}
    for dim in section.dims:
        for symbol in dim.lower.symbols | dim.stride.symbols:
            if symbol in varying and symbol not in variables:
                raise Declined(
                    f"the lower bound of the section of '{section.name}' is not linear in the"
                    " parallel loop variables"
                )


def check_body(nest: CachedNest) -> None:
    """Raises `Declined` if the body has code that threads without an iteration cannot skip."""
    for op in nest.body.walk():
        if isinstance(op, acc.LoopOp) and (
            op.private_operands or op.firstprivate_operands or op.reduction_operands
        ):
            raise Declined("a loop inside has variables of its own")
        if op.regions or op.name.startswith("acc.") or is_pure(op):
            continue
        if op.results and has_effects(op):
            raise Declined(f"'{op.name}' in the loop has effects and a result")
