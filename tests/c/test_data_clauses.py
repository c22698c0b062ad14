"""Several data clauses for one variable, sections in declare: one clause, one warning."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink, SourceLoc
from accopt.compiler.c.sema import check_text
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


TYPED = """enum {{ N = 4 }};
void f(int n, int *p) {{
int a[N][5], b[20], *rows[8];
#pragma acc data {}
{{ }} }}"""


@pytest.mark.parametrize(
    ("clauses", "told"),
    [
        (
            "create(a) copyout(a[0:N][0:5])",
            "'a' is in 'create' and in 'copyout': taken as 'copyout'",
        ),
        ("copyin(a[:]) copyout(a[0:4])", "'a' is in 'copyin' and in 'copyout': taken as 'copy'"),
        ("copyin(p[0:n]) copyout(p[:n])", "'p' is in 'copyin' and in 'copyout': taken as 'copy'"),
        (
            "create(b) copyin(b[3:n])",
            "'copyin' of a part of 'b' moves nothing: 'create' maps it already",
        ),
        (
            "copyin(b[2:9]) copy(b[3:8])",
            "'copy' of a part of 'b' moves nothing: 'copyin' maps it already",
        ),
        ("copyin(a[0:N][2:3]) copyout(a[1:2][3:1])", "'copyout' of a part of 'a' moves nothing"),
        ("copy(b) copyin(b[0:3])", None),
        ("copyin(b[0:10]) copyin(b[10:10])", None),
        ("copyin(b[0:10]) copyout(b[9:2])", None),
        ("copyin(p[0:n]) copyout(p[n:n])", None),
        ("create(rows) copyin(rows[0:8][0:n])", None),
    ],
)
def test_sections_are_compared_by_their_elements(clauses: str, told: str | None) -> None:
    sink = DiagnosticSink()
    check_text(TYPED.format(clauses), "f.c", sink)
    warnings = [
        d.message
        for d in sink.diagnostics
        if " moves nothing" in d.message or " taken as " in d.message
    ]
    assert (warnings == []) if told is None else (len(warnings) == 1 and told in warnings[0])
