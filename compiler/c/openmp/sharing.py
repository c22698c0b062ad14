"""
The C for the data-sharing clauses of a construct: it makes copies, combines reductions, and stores last
values.

Copies have the variable's own name in an inner scope, so that the statements of the construct use them;
`__omp_…` are the addresses of the originals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...base.diagnostics import error
from ...directives.records import Section
from ..ast import VarDecl
from ..types import ArrayType, ComplexType, CType, FloatType, IntType, PointerType, is_scalar
from .directives import OmpClause, OmpDirective, OmpItem

Find = Callable[[OmpItem], VarDecl]
"""Finds the variable that an item names; raises `CompileError` if there is none."""


@dataclass
class SharingCode:
    """
    C to put before a construct, at the beginning of its body, and after its statements; `last` goes after
    all of it. `copies` are the variables that are copied by value.
    """

    before: list[str] = field(default_factory=list[str])
    begin: list[str] = field(default_factory=list[str])
    end: list[str] = field(default_factory=list[str])
    last: list[str] = field(default_factory=list[str])
    copies: list[str] = field(default_factory=list[str])


def private(items: Sequence[OmpItem], find: Find, out: SharingCode) -> None:
    """Makes uninitialised copies, for `private` (2.15.3.3)."""
    for item in items:
        find(item)
        out.begin.append(f"__typeof__({item.name}) {item.name};")


def first_private(
    items: Sequence[OmpItem], find: Find, out: SharingCode, *, by_value: bool, kept: bool = False
) -> None:
    """
    Makes copies with the original's value, for `firstprivate` (2.15.3.4). `by_value`: the construct itself
    carries the values of scalars; `kept`: also other variables are saved until it has run.
    """
    for item in items:
        decl, name = find(item), item.name
        if is_scalar(decl.type) and by_value:
            out.copies.append(name)
            continue
        if kept:
            out.before.append(f"void *__omp_f_{name} = __accopt_omp_keep(&{name}, sizeof {name});")
            out.copies.append(f"__omp_f_{name}")
            call = f"__accopt_omp_restore(&{name}, __omp_f_{name}, sizeof {name});"
        else:
            out.before.append(f"const void *__omp_f_{name} = &{name};")
            call = f"__accopt_omp_copy(&{name}, __omp_f_{name}, sizeof {name});"
        out.begin.append(f"__typeof__({name}) {name}; {call}")


def last_private(
    items: Sequence[OmpItem],
    first: Sequence[OmpItem],
    find: Find,
    out: SharingCode,
    final: Callable[[str], str],
) -> None:
    """
    Lets the thread of the last iteration store its copy to the original, for `lastprivate` (2.15.3.5).
    `first`: items that already have a copy; `final(name)`: C to run before the store.
    """
    have = {item.name for item in first}
    for item in items:
        name = item.name
        find(item)
        out.before.append(f"void *__omp_l_{name} = &{name};")
        if name not in have and not final(name):
            out.begin.append(f"__typeof__({name}) {name};")
        out.end.append(
            f"if (__omp_last) {{ {final(name)}"
            f"__accopt_omp_copy(__omp_l_{name}, &{name}, sizeof {name}); }}"
        )


_IDENTITY = {"+": "0", "-": "0", "*": "1", "&": "~0", "|": "0", "^": "0", "&&": "1", "||": "0"}


def reductions(directive: OmpDirective, find: Find, out: SharingCode) -> None:
    """Makes copies that start with the operator's identity and are combined at the end, for `reduction`
    (2.15.3.6)."""
    clauses = (clause for clause in directive.clauses if clause.name == "reduction")
    combined = [_reduction(c, item, find(item), out) for c in clauses for item in c.items]
    if combined:
        out.end.append(f"__accopt_omp_combine(); {''.join(combined)} __accopt_omp_combined();")
        out.end += out.last


def _reduction(clause: OmpClause, item: OmpItem, decl: VarDecl, out: SharingCode) -> str:
    name, operator = item.name, clause.word
    element: CType = decl.type
    subscripts = ""
    if item.section is not None and isinstance(element, PointerType):
        element = element.pointee.type
    while isinstance(element, ArrayType):
        element = element.element.type
        subscripts += "[0]"
    one_dimension = isinstance(decl.type, ArrayType | PointerType) and subscripts == (
        "[0]" if isinstance(decl.type, ArrayType) else ""
    )
    if item.section is not None and not one_dimension:
        raise error(
            item.section.loc,
            f"a part of '{name}' in 'reduction', which has type '{decl.type}'",
            f"sections are supported for arrays and pointers of one dimension: name all of '{name}'",
        )
    is_number = isinstance(element, ComplexType) or is_scalar(element)
    if isinstance(element, PointerType) or not is_number:
        raise error(
            item.loc,
            f"a reduction of '{name}', which has type '{decl.type}'",
            "reduce numbers, or arrays of numbers that are declared as arrays",
        )
    if isinstance(element, FloatType) and operator in ("&", "|", "^"):
        raise error(item.loc, f"'{operator}' on '{name}' of type '{element}'", "use an integer")
    start = _IDENTITY.get(operator) or _extreme(element, largest=operator == "min")
    if not subscripts and item.section is None:
        out.before.append(f"__typeof__({name}) *__omp_r_{name} = &{name};")
        out.begin.append(f"__typeof__({name}) {name} = {start};")
        return _combine(operator, f"(*__omp_r_{name})", name)
    if item.section is not None:
        return _section_reduction(item, item.section, operator, start, out)
    kind, all_ = f"__typeof__({name}{subscripts})", f"sizeof {name} / sizeof {name}{subscripts}"
    loop = f"for (unsigned long __omp_x = 0; __omp_x < {all_}; __omp_x++)"
    out.before.append(f"{kind} *__omp_r_{name} = ({kind} *)&{name};")
    out.begin.append(f"__typeof__({name}) {name}; {loop} (({kind} *)&{name})[__omp_x] = {start};")
    mine = f"(({kind} *)&{name})[__omp_x]"
    return f"{loop} {{ {_combine(operator, f'__omp_r_{name}[__omp_x]', mine)} }}"


def _section_reduction(
    item: OmpItem, section: Section, operator: str, start: str, out: SharingCode
) -> str:
    """Makes a copy of the section, and a pointer with the variable's name, offset so that subscripts find
    their elements in the copy."""
    name = item.name
    low = section.lower.text if section.lower is not None else "0"
    if section.is_index:
        length = "1"
    elif section.length is not None:
        length = section.length.text
    else:
        length = f"sizeof {name} / sizeof {name}[0] - ({low})"
    kind, loop = (
        f"__typeof__({name}[0])",
        f"for (long __omp_x = 0; __omp_x < __omp_n_{name}; __omp_x++)",
    )
    out.before.append(
        f"long __omp_o_{name} = {low}, __omp_n_{name} = {length};"
        f"{kind} *__omp_r_{name} = &{name}[__omp_o_{name}];"
    )
    out.begin.append(
        f"{kind} *__omp_b_{name} = __accopt_omp_own(__omp_n_{name} * sizeof {name}[0]);"
        f"{loop} __omp_b_{name}[__omp_x] = {start};"
        f"{kind} *{name} = __omp_b_{name} - __omp_o_{name};"
    )
    out.last.append(f"__accopt_omp_disown(__omp_b_{name});")
    return (
        f"{loop} {{ {_combine(operator, f'__omp_r_{name}[__omp_x]', f'__omp_b_{name}[__omp_x]')} }}"
    )


def _combine(operator: str, whole: str, part: str) -> str:
    if operator in ("min", "max"):
        relation = "<" if operator == "min" else ">"
        return f"if ({part} {relation} {whole}) {whole} = {part};"
    operator = "+" if operator == "-" else operator
    return f"{whole} = {whole} {operator} {part};"


def _extreme(element: CType, *, largest: bool) -> str:
    if isinstance(element, IntType):
        bits = element.size * 8
        if not element.signed:
            return f"{(1 << bits) - 1}UL" if largest else "0"
        high = (1 << (bits - 1)) - 1
        return f"{high}L" if largest else f"(-{high}L - 1)"
    return "__builtin_inf()" if largest else "-__builtin_inf()"


def listed(directive: OmpDirective) -> set[str]:
    """The names of variables in the clauses of a directive."""
    return {
        item.name
        for clause in directive.clauses
        if clause.name != "depend"
        for item in clause.items
    }
