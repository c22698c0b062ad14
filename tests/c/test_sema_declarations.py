"""Declarations: types, layout, linkage, redeclaration, variable-length arrays, statements' flags."""

import pytest
from accopt.compiler.base.machine import target_machine
from accopt.compiler.c import ast
from accopt.compiler.c.types import ArrayType, PointerType, RecordType
from sema_dump import body, check, dump, function, items, variable, warnings


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("int *x[3]", "int *[3]"),
        ("int (*x)[3]", "int (*)[3]"),
        ("int (*x)(int, char *)", "int (*)(int, char *)"),
        ("int (*(*x)(int))[3]", "int (*(*)(int))[3]"),
        ("int (*x[2])(void)", "int (*[2])(void)"),
        ("const char *const x", "const char *"),
        ("char *const **x", "char *const **"),
        ("unsigned long int x", "unsigned long"),
        ("long unsigned x", "unsigned long"),
        ("short int x", "short"),
        ("signed char x", "signed char"),
        ("long long x", "long long"),
        ("enum { A, B } x", "unsigned int"),
        ("enum { M = -1, N } x", "int"),
        ("int x[] = {1, 2, 3}", "int[3]"),
        ('char x[] = "abc"', "char[4]"),
        ("int x[2][3]", "int[2][3]"),
        ("int x[sizeof(long) * 2]", "int[16]"),
    ],
)
def test_declarators(declaration: str, expected: str) -> None:
    assert str(variable(check(f"{declaration};"), "x").type) == expected


def test_typedef_qualifiers_reach_array_elements() -> None:
    t = variable(check("typedef int row[2]; const row x;"), "x").type
    assert isinstance(t, ArrayType) and t.element.const


@pytest.mark.parametrize(
    ("members", "size", "align"),
    [
        ("char c; int i;", 8, 4),
        ("char c; double d; char e;", 24, 8),
        ("char c[3]; short s;", 6, 2),
        ("long double d; char c;", 32, 16),
        ("int a : 3; int b : 30;", 8, 4),
        ("int a : 3; int : 0; char c;", 8, 4),
        ("char a : 3; int b : 10;", 4, 4),
        ("int n; double d[];", 8, 8),
        ("char c; union { int i; double d; };", 16, 8),
        ("struct { char a; short b; } x; char y;", 6, 2),
    ],
)
def test_struct_layout(members: str, size: int, align: int) -> None:
    t = variable(check(f"struct s {{ {members} }} x;"), "x").type
    assert (t.size, t.align) == (size, align)


def test_self_referential_and_shared_records() -> None:
    unit = check("struct n { struct n *next; int v; } a, b; struct n c;")
    a, b, c = (variable(unit, n).type for n in "abc")
    assert a is b is c
    assert isinstance(a, RecordType) and a.fields is not None
    pointer = a.fields[0].type.type
    assert isinstance(pointer, PointerType) and pointer.pointee.type is a


def test_tag_in_inner_scope_is_another_type() -> None:
    check("struct s { int a; }; void f(void) { struct s; struct s { int b; } x; x.b = 1; }")


def test_a_tag_in_a_result_is_of_the_scope_around_the_function() -> None:
    check(
        """
        struct T *first(struct T *); union U *(*table(int n))(struct T *);
        struct T { int v; }; union U { int i; };
        struct T *first(struct T *p) { p->v++; return p; }
        inline struct L *later(void); struct L *later(void);
        struct S { int v; } make(int v) { struct S s = {v}; return s; }
        int f(struct T *t) { struct B *block(void), *block(void);
            return first(t)->v + table(1)(t)->i + make(2).v; }
        """
    )


def test_globals_merge() -> None:
    unit = check(
        "extern int a[]; int a[4]; int t; int t; extern int e; static int s = 1; int t = 2;"
    )
    assert [v.name for v in unit.variables] == ["a", "t", "e", "s"]
    a, t, e, s = unit.variables
    assert str(a.type) == "int[4]" and a.is_defined
    assert items(t.init) == [(0, "2")]
    assert not e.is_defined
    assert s.storage is ast.Storage.STATIC_GLOBAL


def test_block_extern_is_the_global() -> None:
    unit = check("void f(void) { extern int g; g = 1; } int g = 3;")
    assert [v.name for v in unit.variables] == ["g"]
    assert unit.variables[0].is_defined


def test_static_locals_have_symbols_of_their_own() -> None:
    unit = check("int f(void) { static int n = 1; { static int n; return n; } }")
    symbols = [v.symbol or "" for v in unit.variables]
    assert all(s.startswith("f.n.") for s in symbols) and len(set(symbols)) == 2


def test_inline_functions_belong_to_the_file() -> None:
    unit = check("inline int f(int x) { return x; } extern inline int g(void) { return 1; }")
    assert [f.is_static for f in unit.functions] == [True, False]


def test_prototype_then_definition_is_one_function() -> None:
    unit = check("int f(int); int f(int x) { return f(x - 1); } int f(int);")
    assert len(unit.functions) == 1
    assert [p.name for p in unit.functions[0].params] == ["x"]
    assert unit.functions[0].loc.column == 17


def test_scopes_shadow() -> None:
    stmts = body("typedef int T; int f(void) { int x = 1; { float x = 2; x; } T T = 3; return T; }")
    block = stmts[1]
    assert isinstance(block, ast.Compound)
    use = block.body[1]
    assert isinstance(use, ast.ExprStmt) and str(use.expr.type) == "float"


def test_vla_parameters_and_locals() -> None:
    f = function(
        check("void f(int n, int m, double a[n][m]) { double b[n + 1], (*p)[m] = a; p[0][1]; }"),
        "f",
    )
    t = f.params[2].type
    assert isinstance(t, PointerType) and isinstance(t.pointee.type, ArrayType)
    length = t.pointee.type.length
    assert isinstance(length, ast.Expr) and dump(length) == "long(load(m))"
    assert isinstance(length, ast.Cast) and isinstance(length.operand, ast.Load)
    assert (
        isinstance(length.operand.lvalue, ast.VarRef) and length.operand.lvalue.decl is f.params[1]
    )
    assert f.body is not None
    first = f.body.body[0]
    assert isinstance(first, ast.DeclStmt)
    b = first.decls[0].type
    assert isinstance(b, ArrayType) and isinstance(b.length, ast.Expr)
    assert dump(b.length) == "long((load(n) + 1))"


def test_vla_typedef_fixes_its_length_where_it_stands() -> None:
    hidden, _, declared = body("void f(int n) { typedef double row[n]; n++; row r; }")
    assert isinstance(hidden, ast.DeclStmt) and isinstance(declared, ast.DeclStmt)
    t = declared.decls[0].type
    assert isinstance(t, ArrayType) and isinstance(t.length, ast.Load)
    assert isinstance(t.length.lvalue, ast.VarRef) and t.length.lvalue.decl is hidden.decls[0]
    assert items(hidden.decls[0].init) == [(0, "long(load(n))")]


def test_alignas() -> None:
    unit = check(
        "_Alignas(64) float a[4]; _Alignas(double) char c; _Alignas(8) _Alignas(16) int i;"
    )
    assert [v.alignment for v in unit.variables] == [64, 8, 16]


def test_types_with_an_alignment_align_their_variables() -> None:
    """Where a typedef has it, in GNU C: through other typedefs and arrays, not through pointers."""
    unit = check(
        "typedef int wide __attribute__((aligned(32)));\n"
        "typedef wide again; typedef double vec[4] __attribute__((aligned(64)));\n"
        "wide a; again b; vec c; wide *d; vec e[2]; _Alignas(128) wide f; int g;"
    )
    assert [v.alignment for v in unit.variables] == [32, 32, 64, None, 64, 128, None]


def test_members_of_types_with_an_alignment() -> None:
    unit = check(
        "typedef int wide __attribute__((aligned(32))); typedef int loose __attribute__((aligned(1)));\n"
        "struct s { char c; wide x; char d; loose y; char e; };\nstruct s v;"
    )
    record = unit.variables[0].type
    assert isinstance(record, RecordType) and record.fields is not None
    assert [field.offset for field in record.fields] == [0, 32, 36, 37, 41]
    assert (record.size, record.align, record.is_packed) == (64, 32, True)


def test_static_assert_passes() -> None:
    check('_Static_assert(sizeof(long) == 8, "x"); void f(void) { _Static_assert(1, "y"); }')


@pytest.mark.parametrize(
    ("text", "expected"),
    [("goto l; l: ;", {"l"}), ("m: switch (1) { }", set()), ("goto l; { l: ; } m: goto l;", {"l"})],
)
def test_jump_targets(text: str, expected: set[str]) -> None:
    assert function(check(f"void f(void) {{ {text} }}"), "f").jump_targets == expected


def test_switch_cases_keep_their_statements() -> None:
    (switch,) = body(
        "void f(int x) { switch (x) { case 1: case 2: x = 1; x = 2; break; default: { x = 3; } } }"
    )
    assert isinstance(switch, ast.Switch) and isinstance(switch.body, ast.Compound)
    kinds = [type(s).__name__ for s in switch.body.body]
    assert kinds == ["Case", "Case", "ExprStmt", "Break", "Case"]
    assert [s.value for s in switch.body.body if isinstance(s, ast.Case)] == [1, 2, None]


def test_case_values_take_the_type_switched_on() -> None:
    (switch,) = body("void f(unsigned x) { switch (x) { case -1: ; } }")
    assert isinstance(switch, ast.Switch) and isinstance(switch.body, ast.Compound)
    case = switch.body.body[0]
    assert isinstance(case, ast.Case) and case.value == 0xFFFFFFFF


def test_for_declares_several_variables() -> None:
    (loop,) = body("void f(void) { for (int i = 0, *p = 0; i < 3; i++, p++) ; }")
    assert isinstance(loop, ast.For) and isinstance(loop.init, ast.DeclStmt)
    assert [d.name for d in loop.init.decls] == ["i", "p"]


def test_locations() -> None:
    (statement,) = body("void f(int *a,\n       int n) {\n  a[0] = -n;\n}")
    assert isinstance(statement, ast.ExprStmt) and isinstance(statement.expr, ast.Assign)
    assert str(statement.loc) == "t.c:3:3"
    assert str(statement.expr.value.loc) == "t.c:3:10"


def test_rows_of_a_constant_structure_are_constant() -> None:
    """The qualifiers of an array are those of its elements."""
    check(
        "struct s { double a[3][4]; }; double g(const double (*)[4]);"
        " double f(const struct s *p) { const double (*r)[4] = p->a; return g(p->a) + (*r)[0]; }"
        " _Bool h(const double (*a)[4], double (*b)[4]) { return a == b; }"
    )


def test_line_markers_name_the_file() -> None:
    unit = check('# 7 "lib.h"\nint f(void);\n# 3 "main.c"\nint g(void) { return f(); }')
    assert [str(f.loc) for f in unit.functions] == ["lib.h:7:5", "main.c:3:5"]


def test_gnu_spellings_keep_columns() -> None:
    unit = check(
        "__extension__ static __inline__ int f(int *__restrict p) __attribute__((unused, nonnull(1)));"
        " static int f(int *restrict p) { return *p; }"
    )
    assert unit.functions[0].is_inline
    assert unit.functions[0].loc.column == 106


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "void f(int *p, float *q) { p = q; }",
            "assigning to 'p': 'float *' and 'int *' are incompatible",
        ),
        (
            "void f(int *p, const int *q) { p = q; }",
            "assigning to 'p': the conversion drops 'const'",
        ),
        (
            "struct s { double a[3][4]; }; double g(double (*)[4]);"
            " double f(const struct s *p) { return g(p->a); }",
            "argument 1 of 'g': the conversion drops 'const'",
        ),
        (
            "struct s { int a[3][4]; }; void f(volatile struct s *p) { int (*r)[4] = p->a; (*r)[0] = 1; }",
            "initialising 'r': the conversion drops 'volatile'",
        ),
        ("int f(int x) { return x << 40; }", "'<<' of 'int' by 40 is undefined"),
        ("int f(int x) { return x / 0; }", "'/' by zero"),
        ("int a[];", "array 'a' has no length"),
        ('char s[2] = "abc";', "initialising 's': the string is longer"),
        ("void f(int *p, char *q) { if (p == q) ; }", "comparison of incompatible pointers"),
        ("int f(int k) { return k == (void *)0; }", "comparison of 'int' with 'void *', a pointer"),
        ("int f(char *p) { return 7 < p; }", "comparison of 'int' with 'char *', a pointer with"),
        ("int f(void) { return; }", "'return' without a value in 'f', which returns 'int'"),
        ("void f(void) { return 1; }", "'f' returns void but this returns a value"),
        ("extern size;", "the type is missing: taken as int"),
        ("static s = 3;", "the type is missing: taken as int"),
        ("const k = 3, *l = &k;", "the type is missing: taken as int"),
        ("x = 3;", "the type is missing: taken as int"),
        ("f();", "the type is missing: taken as int"),
        ("void f(void) { register i = 0; i++; }", "the type is missing: taken as int"),
        ("int f(register n) { return n; }", "the type is missing: taken as int"),
        ("f(void) { return 1; }", "the type is missing: taken as int"),
        ("static f(void) { return 1; }", "the type is missing: taken as int"),
        ("int f(n) { return n; }", "the type is missing: taken as int"),
        ("int f(a, b);", "parameter names without types say nothing"),
        ("void f(void) {\n#pragma acc data\n;}", "'data' without data clauses moves nothing"),
        (
            "void f(int *a) {\n#pragma acc parallel loop\n{ for (int i = 0; i < 4; i++) a[i] = i; }}",
            "'parallel loop' is followed by a block: taken for the 'for' loop in it",
        ),
    ],
)
def test_warnings(text: str, message: str) -> None:
    (warning,) = warnings(text)
    assert warning.message.startswith(message)
    assert warning.loc.line > 0 and warning.loc.column > 0 and warning.remedy


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('printf("%d", 1)', "function 'printf' is not declared"),
        ("g = sqrt(2)", "function 'sqrt' is not declared"),
        ("elsewhere(1, 2.0f)", "function 'elsewhere' is not declared: taken to return int"),
        ("later(3)", "function 'later' is not declared: taken to return int"),
        ("read(0, &g, 8)", "function 'read' is not declared"),
        ("truncate(0, 1)", "function 'truncate' is not declared"),
        ("acc_get_num_devices(4)", "function 'acc_get_num_devices' is not declared"),
    ],
)
def test_functions_nobody_declares(call: str, message: str) -> None:
    (warning,) = warnings(f"double g; void f(void) {{ {call}; }} int later(int x) {{ return x; }}")
    assert warning.message == message and warning.remedy


def test_host_headers_may_use_what_only_their_compiler_has() -> None:
    unit = check(
        '# 1 "/usr/include/x.h"\nextern int scan(int) __asm__("" "__isoc99_scan");\n'
        "struct m { char c; } __attribute__((aligned(8)));\n"
        "static __inline int swap(int x) { return __builtin_ia32_swap(x); }\n"
        '# 1 "main.c"\nint f(void) { return scan(1); }\n'
    )
    assert [(g.name, g.body is not None) for g in unit.functions] == [
        ("scan", False), ("swap", False), ("f", True),
    ]  # fmt: skip


@pytest.mark.skipif(target_machine() != "x86_64", reason="long double has 128 bits elsewhere")
@pytest.mark.parametrize("name", ["_Float128", "__float128"])
def test_a_type_of_128_bits_has_fewer(name: str) -> None:
    (warning,) = warnings(f"{name} x;")
    assert warning.message == f"'{name}' is taken as 'long double', with 64 binary digits, not 113"
    assert not warnings(
        f'# 1 "/usr/include/stdlib.h"\nextern {name} strtof128(const char *, char **);'
    )
    assert not warnings("_Float64x x; _Float32 y;")


def test_a_half_is_not_promoted() -> None:
    decl = function(check("void g(int, ...); void f(_Float16 h) { g(1, h); }"), "f")
    assert isinstance(decl.body, ast.Compound)
    assert "Cast" not in repr(decl.body.body[0]).split("args=")[1]
