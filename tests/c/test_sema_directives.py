"""Directives: what statement each takes, and what the names in clauses become."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c import ast
from accopt.compiler.c.sema.checker import new_unit
from accopt.compiler.directives.records import (
    Clause,
    DirectiveKind,
    ExprClause,
    GangClause,
    ReductionClause,
    VarListClause,
    VarRefItem,
    WaitClause,
)
from pycparser.c_ast import Pragma
from pycparser.c_parser import Coord
from sema_dump import body, check, dump, function, mistake, warnings

LOOP = "for (int i = 0; i < n; i++) ;"


def acc(text: str, name: str = "f") -> ast.AccStmt:
    """The first directive statement of a function."""
    return next(s for s in body(text, name) if isinstance(s, ast.AccStmt))


def items_of(stmt: ast.AccStmt) -> dict[str, VarRefItem]:
    def all_items() -> Iterator[VarRefItem]:
        for clause in stmt.directive.clauses:
            if isinstance(clause, VarListClause | ReductionClause):
                yield from clause.items

    return {item.name: item for item in all_items()}


def test_parallel_loop_takes_the_loop() -> None:
    stmts = body(f"void f(int n) {{\n#pragma acc parallel loop\n{LOOP} n = 1; }}")
    assert isinstance(stmts[0], ast.AccStmt) and isinstance(stmts[0].body, ast.For)
    assert isinstance(stmts[1], ast.ExprStmt)
    assert str(stmts[0].loc) == "t.c:2:13"


def test_directives_nest_without_braces() -> None:
    outer = acc(f"void f(int n) {{\n#pragma acc parallel\n#pragma acc loop\n{LOOP} }}")
    assert outer.directive.kind is DirectiveKind.PARALLEL
    assert isinstance(outer.body, ast.AccStmt) and isinstance(outer.body.body, ast.For)


def test_standalone_directives_take_nothing() -> None:
    stmts = body("void f(int n) {\n#pragma acc update self(n)\nn = 1;\n#pragma acc wait\n}")
    assert [type(s).__name__ for s in stmts] == ["AccStmt", "ExprStmt", "AccStmt"]
    assert isinstance(stmts[0], ast.AccStmt) and stmts[0].body is None


def test_other_pragmas_are_ignored() -> None:
    stmts = body(f"void f(int n) {{\n#pragma acc loop\n#pragma unroll\n{LOOP}\n#pragma ivdep x\n}}")
    assert len(stmts) == 1


def test_directive_as_unbraced_body() -> None:
    (choice,) = body(f"void f(int n) {{ if (n)\n#pragma acc parallel loop\n{LOOP} else n = 1; }}")
    assert isinstance(choice, ast.If) and isinstance(choice.then, ast.AccStmt)
    assert isinstance(choice.otherwise, ast.ExprStmt)


def test_directive_in_case_and_after_label() -> None:
    switch, label = body(
        f"void f(int n) {{ switch (n) {{ case 1:\n#pragma acc parallel loop\n{LOOP} break; }}\nl:\n"
        f"#pragma acc parallel loop\n{LOOP} }}"
    )
    assert isinstance(switch, ast.Switch) and isinstance(switch.body, ast.Compound)
    case = switch.body.body[0]
    assert isinstance(case, ast.Case) and isinstance(case.body, ast.AccStmt)
    assert isinstance(switch.body.body[1], ast.Break)
    assert isinstance(label, ast.Label) and isinstance(label.body, ast.AccStmt)


def test_atomic_takes_statement_or_block() -> None:
    stmts = body(
        "void f(int x, int v) {\n#pragma acc atomic\nx++;\n#pragma acc atomic capture\n{ v = x; x++; } }"
    )
    first, second = stmts
    assert isinstance(first, ast.AccStmt) and isinstance(first.body, ast.ExprStmt)
    assert isinstance(second, ast.AccStmt) and isinstance(second.body, ast.Compound)


def test_list_items_are_lvalues_and_sections_values() -> None:
    stmt = acc(
        "struct s { float *x; int n; }; double m[8][16];"
        "void f(int n, float *a, struct s v, struct s *p) {\n"
        "#pragma acc parallel copy(a[n/2:n], m[1:2][0:16], v.x[0:p->n]) present(p->x[:n]) create(n)\n;}"
    )
    items = items_of(stmt)
    bases = {name: item.base.expr for name, item in items.items()}
    assert {name: dump(e) for name, e in bases.items() if e} == {
        "a": "a", "m": "m", "v.x": "v.x", "p->x": "*load(p).x", "n": "n",
    }  # fmt: skip
    section = items["a"].sections[0]
    assert section.lower and section.lower.expr and dump(section.lower.expr) == "(load(n) / 2)"
    assert section.length and section.length.expr and dump(section.length.expr) == "load(n)"
    inner = items["v.x"].sections[0].length
    assert inner and inner.expr and dump(inner.expr) == "load(*load(p).n)"
    assert inner.expr.loc.line == 2


def _clause(stmt: ast.AccStmt, name: str) -> Clause:
    return next(c for c in stmt.directive.clauses if c.name == name)


def test_clause_arguments_are_values_and_constants_folded() -> None:
    stmt = acc(
        "enum { W = 4 }; typedef long T; int g(void); void f(int n, double d) {\n"
        "#pragma acc parallel num_gangs(n / W) num_workers(W) vector_length(sizeof(T) * 16) if(d > 1)"
        " async(g()) wait(n, 2)\n;}"
    )
    expected = {
        "num_gangs": "(load(n) / 4)",
        "num_workers": "4",
        "vector_length": "128:unsigned long",
        "if": "(load(d) > 1.0)",
        "async": "g()",
    }
    for name, text in expected.items():
        clause = _clause(stmt, name)
        assert isinstance(clause, ExprClause)
        e = clause.args[0].expr
        assert e is not None and dump(e) == text
    waits = _clause(stmt, "wait")
    assert isinstance(waits, WaitClause)
    assert [dump(q.expr) for q in waits.queues if q.expr] == ["load(n)", "2"]


def test_gang_and_reduction_arguments() -> None:
    stmt = acc(
        f"void f(int n, double s) {{\n#pragma acc parallel loop gang(static:n+1) reduction(+:s)\n{LOOP} }}"
    )
    gang = _clause(stmt, "gang")
    assert isinstance(gang, GangClause) and gang.static and gang.static.expr
    assert dump(gang.static.expr) == "(load(n) + 1)"
    assert items_of(stmt)["s"].base.expr is not None


def test_names_resolve_outside_the_construct() -> None:
    stmt = acc(
        "int i; void f(int n) {\n#pragma acc parallel loop num_gangs(i)\nfor (int i = 0; i < n; i++) ; }"
    )
    clause = _clause(stmt, "num_gangs")
    assert isinstance(clause, ExprClause)
    e = clause.args[0].expr
    assert isinstance(e, ast.Load) and isinstance(e.lvalue, ast.VarRef)
    assert e.lvalue.decl.storage is ast.Storage.GLOBAL


def test_routine_before_and_by_name() -> None:
    unit = check(
        "#pragma acc routine seq\nint f(int);\nint g(int x) { return x; }\n#pragma acc routine(g) vector\n"
        "#pragma acc routine worker\nvoid h(void) { }"
    )
    f, g, h = (function(unit, n) for n in "fgh")
    assert [len(x.directives) for x in (f, g, h)] == [1, 1, 1]
    assert [d.routine_name for x in (f, g, h) for d in x.directives] == [None, "g", None]
    assert unit.directives == g.directives


def test_declare_at_file_and_block_scope() -> None:
    unit = check(
        "float g[8];\n#pragma acc declare create(g)\nvoid f(int n) { float a[4];\n"
        "#pragma acc declare copyin(a)\n}"
    )
    assert [d.kind for d in unit.directives] == [DirectiveKind.DECLARE]
    f = function(unit, "f")
    assert f.body is not None and isinstance(f.body.body[-1], ast.AccStmt)


def test_pragma_operator() -> None:
    stmt = acc(f'void f(int n) {{ _Pragma("acc parallel loop") {LOOP} }}')
    assert isinstance(stmt.body, ast.For)


def test_loops_inside_constructs_may_break() -> None:
    check(
        "void f(int n) {\n#pragma acc parallel\n{ for (;;) { if (n) break; continue; }"
        " switch (n) { case 1: break; } }"
        "\n#pragma acc loop seq\nfor (int i = 0; i < n; i++) { if (i) continue; break; } }"
    )


def test_pointer_without_section_is_a_warning() -> None:
    (warning,) = warnings("void f(float *a) {\n#pragma acc parallel copyin(a)\n;}")
    assert warning.message.startswith("'a' is a pointer: 'copyin' moves the pointer")
    assert str(warning.loc) == "t.c:2:29" and "a[0:n]" in (warning.remedy or "")
    assert not warnings("void f(float *a) {\n#pragma acc parallel present(a) \n;}")


def test_a_pointer_to_a_structure_without_section_is_the_structure() -> None:
    start = (
        "struct s { double *x; };\nvoid f(struct s *p, struct s **q, struct t *r) {\n#pragma acc "
    )
    (warning,) = warnings(start + "enter data copyin(p)\n}")
    assert warning.message == (
        "'p' points to a structure: 'copyin' takes that structure, p[0:1], not the pointer"
    )
    assert str(warning.loc) == "t.c:3:31" and "p[0:n]" in (warning.remedy or "")
    (warning,) = warnings(start + "update self(p->x[0:2], p)\n}")
    assert warning.message.startswith("'p' points to a structure: 'self'")
    for pointer_is_meant in ("copyin(q)", "copyin(r)", "copyin(p) attach(p)", "create(p, p[0:4])"):
        for warning in warnings(start + f"enter data {pointer_is_meant}\n}}"):
            assert "moves the pointer" in warning.message
    declared = "struct s { int i; } *p;\n#pragma acc declare create(p)\nvoid f() {\n"
    assert not warnings(declared + "#pragma acc update device(p)\n}")


def test_a_section_of_a_variable_that_is_no_array_is_all_of_it() -> None:
    (warning,) = warnings("void f(double d) {\n#pragma acc parallel copyin(d[0:1])\n;}")
    assert warning.message.startswith("'d' has type 'double', which has no elements: all of it")
    assert warnings("struct s { int a; };\nvoid f(struct s t) {\n#pragma acc data copy(t[:1])\n;}")


CONTEXT = "float g[10]; extern float u[]; struct s { int b : 3; }; "


@pytest.mark.parametrize(
    ("directive", "rest", "column", "message", "remedy"),
    [
        ("parallel copy(b[0:n])", ";", 27, "'b' is not declared", "declare it"),
        ("parallel copy(arr[0:n])", ";", 27, "'arr' is not declared", "did you mean 'array'?"),
        ("parallel copy(a[0:m+1])", ";", 31, "'m' is not declared", ""),
        ("parallel num_gangs(n + acc_x)", ";", 36, "'acc_x' is not declared", "openacc.h"),
        ("parallel num_gangs(n+)", ";", 34, "the expression ends too early", "operand"),
        ("parallel num_gangs(n n)", ";", 34, "", ""),
        ("parallel copy(a[2:])", ";", 28, "'a' has unknown size", "write a[2:n]"),
        ("parallel copy(u)", ";", 27, "'u' is an array of unknown size", "write u[0:n]"),
        ("parallel copy(n[0:3])", ";", 28, "'n' has type 'int', which has no elements", "remove"),
        (
            "parallel copy(g[4:7])",
            ";",
            28,
            "section [4:7] of 'g' is outside its 10 elements",
            "[lower:length]",
        ),
        ("parallel copyin(g[0:2]) copy(g[3:2])", ";", 42, "two sections of 'g'", "covers both"),
        ("parallel copy(a[0:-1])", ";", 31, "negative length -1", "length"),
        ("parallel copy(a[0:x])", ";", 31, "a section bound of 'a' has type 'double'", "integer"),
        ("parallel copy(v[0:3])", ";", 27, "'v' points to void", "cast"),
        ("parallel copy(t.b)", ";", 27, "bit-field 't.b'", "structure"),
        (
            "parallel loop",
            "n++;",
            13,
            "'parallel loop' is not followed by a 'for' loop",
            "'for' loop",
        ),
        ("loop", "", 13, "'loop' has no statement after it", "'for' loop"),
        ("data copy(n)", "", 13, "'data' has no statement after it", "block"),
        ("atomic", "while (1) ;", 13, "'atomic' is not followed by an assignment", "update"),
    ],
)
def test_error_at_the_directive(
    directive: str, rest: str, column: int, message: str, remedy: str
) -> None:
    d = mistake(
        CONTEXT
        + "void f(int n, float *a, double x, void *v, struct s t, int array) {\n"
        + f"#pragma acc {directive}\n{rest}\n}}"
    )
    assert message in d.message
    assert remedy in (d.remedy or "")
    assert (d.loc.line, d.loc.column) == (2, column)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (
            "void f(int n) {\n#pragma acc parallel\nint x;\n}",
            "3:5",
            "a declaration cannot be the body of 'parallel'",
        ),
        (
            "void f(int n) { if (n)\n#pragma acc update self(n)\nn++; }",
            "2:13",
            "'update' cannot be the body of an 'if'",
        ),
        ("#pragma acc parallel\nint x;", "1:13", "'parallel' outside a function"),
        ("#pragma acc routine seq\nint x;", "1:13", "'routine' is not followed by a function"),
        ("#pragma acc routine seq\n", "1:13", "'routine' is not followed by a function"),
        ("#pragma acc routine(g) seq\n", "1:13", "function 'g' is not declared"),
        ("#pragma acc routine(g) seq\nint g;\n", "1:13", "function 'g' is not declared"),
        ("int g;\n#pragma acc routine(g) seq\n", "2:13", "'g' is not a function"),
        ("struct s {\n#pragma acc loop\nint x; };", "2:13", "'loop' inside a struct or union"),
        (
            "int f(void) {\n#pragma acc parallel\n{ return 1; }\n}",
            "3:3",
            "'return' leaves the 'parallel' construct",
        ),
        (
            "void f(int n) { for (;;) {\n#pragma acc data copy(n)\n{ break; } } }",
            "3:3",
            "'break' leaves the 'data'",
        ),
        (
            "void f(int n) {\n#pragma acc data copy(n)\n{ goto x; }\nx: ; }",
            "3:3",
            "goto 'x' crosses the boundary",
        ),
        (
            "void f(int n) { goto x;\n#pragma acc data copy(n)\n{ x: ; } }",
            "1:17",
            "goto 'x' crosses the boundary",
        ),
    ],
)
def test_misplaced(text: str, place: str, message: str) -> None:
    d = mistake(text)
    assert message in d.message and d.remedy
    assert f"{d.loc.line}:{d.loc.column}" == place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "void f(int n, float *a) {\n#pragma acc declare copy(a[0:n])\n}",
            "until the end of the block",
        ),
        ("float g[9];\n#pragma acc declare create(g[0:9])", "all of 'g' is meant"),
        (
            "int n;\n#pragma acc declare create(n)\n#pragma acc update device(n)",
            "taken as 'declare copyin(n)'",
        ),
        ("int n;\n#pragma acc update self(n)", "nothing is moved here"),
    ],
)
def test_beyond_the_letter(text: str, message: str) -> None:
    (warning,) = warnings(text)
    assert message in warning.message and warning.remedy


def test_a_section_of_a_global_pointer_cannot_be_declared() -> None:
    found = mistake("float *p;\n#pragma acc declare create(p[0:9])")
    assert "what a global pointer points to" in found.message and "enter data" in (
        found.remedy or ""
    )


def test_section_in_use_device() -> None:
    text = "void f(int *x) {\n#pragma acc host_data use_device(x[0:3])\n{ } }"
    assert "takes names of variables" in warnings(text)[0].message


def test_pragmas_that_are_made_and_dropped_keep_apart():
    """Nodes come from templates, too, and another may have the address of one that is gone."""
    unit = new_unit("t.c", DiagnosticSink())
    lines = []
    for line in range(1, 100):
        node = Pragma("acc barrier" if line % 2 else "acc wait", Coord("t.c", line))
        with suppress(CompileError):
            directive = unit.directives.parse(node)
            lines.append(directive.loc.line)
        del node
    assert lines == list(range(2, 100, 2))


def test_private_sections_of_kernels_need_a_loop_directive():
    text = "void f(int n, double *a, double *p) {\n#pragma acc kernels private(p[0:4])\n"
    text += "for (int i = 0; i < n; i++) { p[i % 4] = i; a[i] = p[i % 4]; }\n}"
    found = mistake(text)
    assert found.message.startswith("'p' is private to no loop") and found.loc.line == 2
