"""Initialisers become flat (offset, value) lists."""

import pytest
from accopt.compiler.c import ast
from accopt.compiler.c.sema import AddressConstant, constant_value
from sema_dump import body, check, items, variable

POINT = "struct p { int x, y; };"
NEST = "struct n { char c; struct { int a, b; } in; int v[2]; };"


@pytest.mark.parametrize(
    ("before", "declaration", "expected"),
    [
        ("", "int v = 3", [(0, "3")]),
        ("", "double v = 1", [(0, "1.0")]),
        ("", "int v = {5}", [(0, "5")]),
        ("", "int v[3] = {1, 2}", [(0, "1"), (4, "2")]),
        ("", "int v[] = {[3] = 1, 2, [0] = 4}", [(12, "1"), (16, "2"), (0, "4")]),
        ("", "int v[2][2] = {1, 2, 3}", [(0, "1"), (4, "2"), (8, "3")]),
        ("", "int v[2][2] = {{1}, {2, 3}}", [(0, "1"), (8, "2"), (12, "3")]),
        ("", "int v[2][2] = {[1] = {[1] = 7}}", [(12, "7")]),
        ("", "int v[2][2] = {[0][1] = 5, 6}", [(4, "5"), (8, "6")]),
        (POINT, "struct p v = {1, 2}", [(0, "1"), (4, "2")]),
        (POINT, "struct p v = {.y = 2, .x = 1}", [(4, "2"), (0, "1")]),
        (POINT, "struct p v[2] = {1, 2, 3, 4}", [(0, "1"), (4, "2"), (8, "3"), (12, "4")]),
        (POINT, "struct p v[2] = {[1].y = 3}", [(12, "3")]),
        (POINT, "struct p v[2] = {{1}, {.y = 2}}", [(0, "1"), (12, "2")]),
        (NEST, "struct n v = {1, 2, 3, 4, 5}",
         [(0, "1:char"), (4, "2"), (8, "3"), (12, "4"), (16, "5")]),
        (NEST, "struct n v = {.in.b = 2, 3, 4}", [(8, "2"), (12, "3"), (16, "4")]),
        (NEST, "struct n v = {.v[1] = 9, .c = 'a'}", [(16, "9"), (0, "97:char")]),
        ("", "union { int i; float f; } v = {1}", [(0, "1")]),
        ("", "union { int i; float f; } v = {.f = 1}", [(0, "1.0:float")]),
        ("", "struct { int a; union { int b; float c; }; int d; } v = {1, {2}, 3}",
         [(0, "1"), (4, "2"), (8, "3")]),
        ("", "struct { int a; union { int b; float c; }; int d; } v = {.c = 2, 3}",
         [(4, "2.0:float"), (8, "3")]),
        ("", 'char v[4] = "ab"', [(0, r"b'ab\x00'")]),
        ("", 'char v[2] = "ab"', [(0, "b'ab'")]),
        ("", 'char v[] = {"ab"}', [(0, r"b'ab\x00'")]),
        ("", 'char v[2][3] = {"a", {\'b\'}}', [(0, r"b'a\x00'"), (3, "98:char")]),
        ("", 'const char *v[] = {"a", 0}',
         [(0, r"const char *(decay(b'a\x00'))"), (8, "null(const char *)")]),
        ("int g[4];", "int *v = &g[2]", [(0, "&*ptradd(decay(g), 2)")]),
        ("int h(int);", "int (*v)(int) = h", [(0, "decay(h)")]),
        ("", "long v = sizeof(int) * 3 + (1 ? 2 : 5)", [(0, "14:long")]),
        ("enum { A = 3 };", "int v = A << 2", [(0, "12")]),
        ("", "int v[] = {1, 2,}", [(0, "1"), (4, "2")]),
    ],
)  # fmt: skip
def test_static(before: str, declaration: str, expected: list[tuple[int, str]]) -> None:
    assert items(variable(check(f"{before} {declaration};"), "v").init) == expected


def test_local_values_need_not_be_constant() -> None:
    (declared,) = body(
        f"{POINT} struct p g(void); void f(int n) {{ struct p v[2] = {{g(), n, n}}; }}"
    )
    assert isinstance(declared, ast.DeclStmt)
    init = declared.decls[0].init
    assert init is not None and init.zero_fill
    assert items(init) == [(0, "g()"), (8, "load(n)"), (12, "load(n)")]


def test_record_from_record_is_not_zeroed() -> None:
    (declared,) = body(f"{POINT} void f(struct p a) {{ struct p v = a; }}")
    assert isinstance(declared, ast.DeclStmt)
    init = declared.decls[0].init
    assert init is not None and not init.zero_fill and items(init) == [(0, "load(a)")]


def test_bit_fields_are_marked() -> None:
    init = variable(check("struct { int a : 3, b : 4; int c; } v = {1, 2, 3};"), "v").init
    assert init is not None
    assert items(init) == [(0, "1"), (0, "2"), (4, "3")]
    assert {i: (f.bit_offset, f.bit_width) for i, f in init.bit_fields.items()} == {
        0: (0, 3),
        1: (3, 4),
    }


def test_compound_literals() -> None:
    unit = check(f"{POINT} struct p *v = &(struct p){{1, 2}};")
    literal = next(v for v in unit.variables if v.name != "v")
    assert literal.symbol is not None and items(literal.init) == [(0, "1"), (4, "2")]
    init = variable(unit, "v").init
    assert init is not None
    assert constant_value(init.items[0][1]) == AddressConstant(literal, 0)


@pytest.mark.parametrize(
    ("text", "base", "offset"),
    [
        ("int g[4]; int *v = g + 3;", "g", 12),
        ("int g[4]; int *v = &g[3] - 1;", "g", 8),
        ("struct { int a; int b[3]; } g; int *v = &g.b[1];", "g", 8),
        ("int g[4]; char *v = (char *)g + 1;", "g", 1),
        ("int g[2][3]; int *v = g[1];", "g", 12),
        ("int g; long v = (long)&g;", "g", 0),
        ("int g(void); int (*v)(void) = &g;", "g", 0),
    ],
)
def test_address_constants(text: str, base: str, offset: int) -> None:
    init = variable(check(text), "v").init
    assert init is not None
    value = constant_value(init.items[0][1])
    assert isinstance(value, AddressConstant)
    assert not isinstance(value.base, ast.StringLiteral)
    assert (value.base.name, value.offset) == (base, offset)
