"""Several data clauses for one variable, sections in declare: one clause, one warning."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink, SourceLoc
from accopt.compiler.c.sema.data_clauses import merge_data_clauses
from accopt.compiler.directives.parser import parse_directive
from accopt.compiler.directives.records import VarListClause


def merged(text: str) -> tuple[str, list[str]]:
    """The directive's clauses after merging, and the warnings."""
    sink = DiagnosticSink()
    directive = parse_directive(text, SourceLoc("t.c", 1, 1), sink)
    merge_data_clauses(directive, sink)
    clauses = [c for c in directive.clauses if isinstance(c, VarListClause)]
    shown = [
        f"{c.name}({''.join(f'{m}:' for m in c.modifiers)}{','.join(_shown(i) for i in c.items)})"
        for c in clauses
    ]
    return " ".join(shown), [d.message for d in sink.diagnostics]


def _shown(item) -> str:
    parts = [f"[{s.lower.text}:{s.length.text}]" for s in item.sections]
    return item.name + "".join(parts)


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("copyout(t) copy(t)", "copy(t)"),
        ("copyin(t) copyout(t)", "copy(t)"),
        ("create(t) copyin(t)", "copyin(t)"),
        ("create(zero: t) copyout(t)", "copyout(zero:t)"),
        ("create(zero: t) copyin(t)", "copyin(t)"),
        ("copyin(readonly: t) create(t)", "copyin(t)"),
        ("copyin(readonly: t) copyin(readonly: t)", "copyin(readonly:t)"),
        ("copy(always: t) create(t)", "copy(always:t)"),
        ("present(t) copy(t)", "present(t)"),
        ("no_create(t) copyin(t)", "copyin(t)"),
        ("no_create(t) no_create(t)", "no_create(t)"),
        ("copy(t, u) copyin(v, t)", "copy(t) copy(u) copyin(v)"),
        ("copy(t, t)", "copy(t)"),
        ("copyin(p) copyout(p[0:n])", "copy(p[0:n])"),
        ("copyin(t) copyout(u)", None),
        ("copy(t) attach(t)", None),
        ("copy(t) private(t)", None),
    ],
)
def test_one_clause_does_what_all_do(clauses: str, expected: str | None) -> None:
    before = f"parallel {clauses}"
    found, warnings = merged(before)
    if expected is None:
        assert found == clauses and not warnings
    else:
        assert found == expected and len(warnings) == 1


def test_sections_apart_stay_apart_on_data() -> None:
    assert merged("data copyin(a[0:4]) copyin(a[8:4])") == ("copyin(a[0:4]) copyin(a[8:4])", [])
    found, warnings = merged("data copyin(a[0:4]) create(a[ 0 : 4 ]) copyin(a[8:4])")
    assert found == "copyin(a[0:4]) copyin(a[8:4])"
    assert warnings == ["'a' is in 'copyin' and in 'create': taken as 'copyin'"]


def test_exits_are_merged_too() -> None:
    assert merged("exit data delete(t) copyout(t)")[0] == "copyout(t)"
