"""
Merges several data clauses for one variable on one directive.

OpenACC 3.4 does not define their combination; performed one after the other, the first would decide. They
are merged into one clause, with a warning: it copies in if any of them does, copies out if any of them
does, zeroes new memory if one has the `zero` modifier and none copies in, and requires present data if one
does. A clause for a part of what an earlier one maps finds its data present, and moves nothing: a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from ...base.diagnostics import DiagnosticSink, error
from ...directives.records import Directive, DirectiveKind, VarListClause, VarRefItem
from ..types import ArrayType
from .section_ranges import Ranges, covers, ranges

_IN = frozenset({"copy", "copyin"})
_OUT = frozenset({"copy", "copyout"})
_MAPS = frozenset({"copy", "copyin", "copyout", "create", "no_create", "present"})
_LEAVES = frozenset({"copyout", "delete"})


@dataclass
class _Named:
    """An item with its clause."""

    item: VarRefItem
    clause: VarListClause


def merge_data_clauses(directive: Directive, sink: DiagnosticSink) -> None:
    """
    Merges the clauses of `directive` that map the same variable, or the same section of it, into one
    clause. Raises `CompileError` if a compute construct maps two sections of one variable: they are
    separate blocks of device memory, and the construct's code could only reach one of them.
    """
    merged = _LEAVES if directive.kind is DirectiveKind.EXIT_DATA else _MAPS
    found: dict[str, list[_Named]] = {}
    for clause in directive.clauses:
        if isinstance(clause, VarListClause) and clause.name in merged:
            for item in clause.items:
                found.setdefault(item.name, []).append(_Named(item, clause))
    for several in found.values():
        if len(several) > 1:
            _merge_sections(directive, several, sink)


def _merge_sections(directive: Directive, several: list[_Named], sink: DiagnosticSink) -> None:
    """Merges the items that name the same section; the whole variable is a section without text."""
    by_section: dict[Ranges, list[_Named]] = {}
    for named in several:
        by_section.setdefault(ranges(named.item), []).append(named)
    if directive.is_compute:
        sections = [same[0].item for section, same in by_section.items() if section]
        if len(sections) > 1:
            raise error(
                sections[1].loc,
                f"two sections of '{sections[1].name}' on one construct",
                "name one section that covers both, or map them on an enclosing data construct"
                " and pass pointers to their starts",
                [(sections[0].loc, "the other one is here")],
            )
    elif directive.kind is not DirectiveKind.EXIT_DATA:
        for (outer, before), (inner, after) in combinations(by_section.items(), 2):
            if covers(outer, inner):
                _warn_of_part(before, after, sink)
    groups = [several] if directive.is_compute else list(by_section.values())
    for group in groups:
        if len(group) > 1:
            _merge(directive, group, sink)


def _warn_of_part(before: list[_Named], after: list[_Named], sink: DiagnosticSink) -> None:
    """Warns if `after` would copy what `before`, which maps all of it, does not."""
    done, wanted = (_combined({named.clause.name for named in part}) for part in (before, after))
    if any(wanted in copies and done not in copies for copies in (_IN, _OUT)):
        part, whole = after[0].item, before[0].item
        sink.warn(
            part.loc,
            f"'{wanted}' of a part of '{part.name}' moves nothing: '{done}' maps it already",
            "move the part by an update directive, or name it alone",
            [(whole.loc, "it is mapped here")],
        )


def _merge(directive: Directive, group: list[_Named], sink: DiagnosticSink) -> None:
    """Replaces the group by one item in one clause, at the place of the first one."""
    first, *others = group
    name = _combined({named.clause.name for named in group})
    modifiers = [word for named in group for word in named.clause.modifiers]
    if name not in ("create", "copyout"):
        modifiers = [word for word in modifiers if word != "zero"]
    if name != "copyin" or any("readonly" not in named.clause.modifiers for named in group):
        modifiers = [word for word in modifiers if word != "readonly"]
    spellings = list(dict.fromkeys(named.clause.spelling for named in group))
    said = f"in {' and in '.join(map(repr, spellings))}" if spellings[1:] else "twice in one clause"
    if not (len({n.clause.name for n in group}) == 1 and name == first.clause.name):
        said += f": taken as '{name}'"
    sink.warn(
        others[-1].item.loc,
        f"'{first.item.name}' is {said}",
        "name it once",
        [(first.item.loc, "it is named here first")],
    )
    for named in group:
        named.clause.items = [item for item in named.clause.items if item is not named.item]
    one = replace(
        first.clause,
        name=name,
        spelling=name,
        items=[_whole(group)],
        modifiers=tuple(dict.fromkeys(modifiers)),
    )
    directive.clauses.insert(directive.clauses.index(first.clause), one)
    directive.drop_empty_lists()


def _combined(names: set[str]) -> str:
    """
    The one clause that does what all of `names` do.

    >>> _combined({"copyin", "copyout"})
    'copy'
    """
    if len(names) == 1:
        return next(iter(names))
    if "present" in names:
        return "present"
    if names & _IN and names & _OUT:
        return "copy"
    return next(name for name in ("copyin", "copyout", "create", "delete") if name in names)


def _whole(group: list[_Named]) -> VarRefItem:
    """The item that covers the others: for an array the whole array, for a pointer the item with a
    section."""
    items = [named.item for named in group]
    base = items[0].base.expr
    is_array = base is not None and isinstance(base.type, ArrayType)
    return next((item for item in items if bool(item.sections) != is_array), items[0])
