"""Conversions and operators: each implicit conversion of C is a node of the typed tree."""

import pytest
from accopt.compiler.c import ast
from sema_dump import dump, expression, warnings

CONVERSIONS = [
    # usual arithmetic conversions
    ("char a, char b", "a + b", "(int(load(a)) + int(load(b)))", "int"),
    ("unsigned char a", "~a", "~int(load(a))", "int"),
    ("_Bool a", "-a", "-int(load(a))", "int"),
    ("int a, unsigned b", "a < b", "(unsigned int(load(a)) < load(b))", "int"),
    ("int a, unsigned b", "a * b", "(unsigned int(load(a)) * load(b))", "unsigned int"),
    ("unsigned a, long b", "a + b", "(long(load(a)) + load(b))", "long"),
    ("long a, unsigned long b", "a + b", "(unsigned long(load(a)) + load(b))", "unsigned long"),
    ("unsigned long a, long long b", "a + b",
     "(unsigned long long(load(a)) + unsigned long long(load(b)))", "unsigned long long"),
    ("short a, float b", "a / b", "(float(load(a)) / load(b))", "float"),
    ("float a", "a * 2.0", "(double(load(a)) * 2.0)", "double"),
    ("float a", "a * 2", "(load(a) * 2.0:float)", "float"),
    ("float a, double b", "a == b", "(double(load(a)) == load(b))", "int"),
    ("long double a, double b", "a - b", "(load(a) - long double(load(b)))", "long double"),
    ("unsigned char a", "+a", "int(load(a))", "int"),
    # shifts promote each side; the result has the left type
    ("char a, long b", "a << b", "(int(load(a)) << int(load(b)))", "int"),
    ("unsigned long a, int b", "a >> b", "(load(a) >> unsigned long(load(b)))", "unsigned long"),
    # logical operators keep their operands
    ("int *p, double d", "p && d", "(load(p) && load(d))", "int"),
    ("float x", "!x", "!load(x)", "int"),
    # assignment converts to the target
    ("char c, double d", "c = d", "c = char(load(d))", "char"),
    ("double d, int i", "d = i", "d = double(load(i))", "double"),
    ("_Bool b, int *p", "b = p", "b = _Bool(load(p))", "_Bool"),
    ("float f", "f = 0.1", "f = 0.10000000149011612:float", "float"),
    ("unsigned char c", "c = 200", "c = 200:unsigned char", "unsigned char"),
    # compound assignment states where it computes
    ("char c, int i", "c += i", "c +=[int] load(i)", "char"),
    ("float f, double d", "f *= d", "f *=[double] load(d)", "float"),
    ("int i, float f", "i += f", "i +=[float] load(f)", "int"),
    ("unsigned char c", "c <<= 2L", "c <<=[int] 2", "unsigned char"),
    ("int *p, short n", "p += n", "p +=[int *] int(load(n))", "int *"),
    # pointers
    ("int *p, char n", "p + n", "ptradd(load(p), int(load(n)))", "int *"),
    ("int *p, unsigned long n", "n + p", "ptradd(load(p), load(n))", "int *"),
    ("int *p", "p - 1", "ptrsub(load(p), 1)", "int *"),
    ("int *p, const int *q", "p - q", "ptrdiff(load(p), int *(load(q)))", "long"),
    ("int *p", "p == 0", "(load(p) == null(int *))", "int"),
    ("int *p, void *v", "v = p", "v = void *(load(p))", "void *"),
    ("int *p, void *v", "p = v", "p = int *(load(v))", "int *"),
    ("int *p", "p = (void *)0", "p = null(int *)", "int *"),
    ("int *p, int c", "c ? p : 0", "(load(c) ? load(p) : null(int *))", "int *"),
    ("int *p, void *v, int c", "c ? p : v", "(load(c) ? void *(load(p)) : load(v))", "void *"),
    ("int c, float f", "c ? 1 : f", "(load(c) ? 1.0:float : load(f))", "float"),
    ("int a[4]", "a[2]", "load(*ptradd(load(a), 2))", "int"),
    ("int *p", "2[p]", "load(*ptradd(load(p), 2))", "int"),
    ("double a[3][4]", "a[1][2]", "load(*ptradd(decay(*ptradd(load(a), 1)), 2))", "double"),
    ("double (*a)[4]", "&a[1]", "&*ptradd(load(a), 1)", "double (*)[4]"),
    ("int x", "x++", "x++", "int"),
    ("double *p", "--*p", "--*load(p)", "double"),
    ("int a, int b", "(a, b)", "(load(a), load(b))", "int"),
    ("long x", "(int)x", "int(load(x))", "int"),
    ("int x", "(void)x", "void(load(x))", "void"),
    ("int x", "sizeof x + sizeof(double[3])", "(4:unsigned long + 24:unsigned long)", "unsigned long"),
    ("int n", "sizeof(double[n])", "sizeof[double[*]]", "unsigned long"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "text", "expected", "type_name"), CONVERSIONS)
def test_conversion(parameters: str, text: str, expected: str, type_name: str) -> None:
    e = expression(parameters, text)
    assert dump(e) == expected
    assert str(e.type) == type_name


STRUCT = (
    "struct s { int a; const int k; struct { int b; union { int c; float d; }; }; int v[3];"
    " struct s *n; };"
)
CALLS = (
    "int g(double, char); int h(); int var(const char *, ...); typedef int (*fn)(int); int k(int);"
)


@pytest.mark.parametrize(
    ("parameters", "text", "expected"),
    [
        ("struct s x", "x.a", "load(x.a)"),
        ("struct s *p", "p->a", "load(*load(p).a)"),
        ("struct s *p", "p->n->n->a", "load(*load(*load(*load(p).n).n).a)"),
        ("struct s x", "x.b", "load(x.None.b)"),
        ("struct s *p", "p->d", "load(*load(p).None.None.d)"),
        ("struct s x", "x.v[1]", "load(*ptradd(decay(x.v), 1))"),
        ("struct s x", "&x.b", "&x.None.b"),
    ],
)
def test_member(parameters: str, text: str, expected: str) -> None:
    assert dump(expression(parameters, text, STRUCT)) == expected


@pytest.mark.parametrize(
    ("parameters", "text", "expected"),
    [
        ("int i", "g(i, i)", "g(double(load(i)), char(load(i)))"),
        ("float x, char c", "h(x, c)", "h(double(load(x)), int(load(c)))"),
        ("float x, _Bool b", 'var("a", x, b)',
         "var(const char *(decay(b'a\\x00')), double(load(x)), int(load(b)))"),
        ("fn p", "p(1)", "load(p)(1)"),
        ("fn p", "(*p)(1)", "load(p)(1)"),
        ("fn p", "p = k", "p = decay(k)"),
        ("fn p", "p = &k", "p = decay(k)"),
        ("int i", "(&k)(i)", "k(load(i))"),
        ("int f(int)", "f(1)", "load(f)(1)"),
    ],
)  # fmt: skip
def test_call(parameters: str, text: str, expected: str) -> None:
    assert dump(expression(parameters, text, CALLS)) == expected


def test_bit_fields_promote_to_int_when_they_fit() -> None:
    before = "struct b { unsigned a : 3; unsigned b : 32; int c : 5; };"
    assert dump(expression("struct b x", "x.a - 4", before)) == "(int(load(x.a)) - 4)"
    assert dump(expression("struct b x", "x.b - 4", before)) == "(load(x.b) - 4:unsigned int)"
    assert dump(expression("struct b x", "x.a += 1", before)) == "x.a +=[int] 1"


def test_volatile_is_on_the_access() -> None:
    load = expression("volatile int *p", "*p")
    assert isinstance(load, ast.Load) and load.volatile
    store = expression("volatile int *p", "*p = 1")
    assert isinstance(store, ast.Assign) and store.volatile
    member = expression("volatile struct s *p", "p->a++", STRUCT)
    assert isinstance(member, ast.IncDec) and member.volatile


def test_address_taken() -> None:
    from sema_dump import check, function

    unit = check(
        "void use(int *); void f(int a, int b, int c) { int v[2]; struct { int x, y; } s, t;"
        " use(&a); b = c; v[0] = 1; s.x = 1; t = s; }"
    )
    f = function(unit, "f")
    assert [p.address_taken for p in f.params] == [True, False, False]
    assert f.body is not None
    locals_ = {v.name: v for s in f.body.body if isinstance(s, ast.DeclStmt) for v in s.decls}
    assert locals_["v"].address_taken and locals_["s"].address_taken


@pytest.mark.parametrize(
    ("text", "value", "type_name"),
    [
        ("2147483647", 2147483647, "int"),
        ("2147483648", 2147483648, "long"),
        ("0x80000000", 0x80000000, "unsigned int"),
        ("0xffffffffffffffff", 0xFFFFFFFFFFFFFFFF, "unsigned long"),
        ("1u", 1, "unsigned int"),
        ("1ULL", 1, "unsigned long long"),
        ("0b101", 5, "int"),
        ("017", 15, "int"),
        ("'a'", 97, "int"),
        (r"'\xff'", -1, "int"),
        (r"'\0'", 0, "int"),
        ("L'\u03b1'", 0x3B1, "int"),
        ("'ab'", 0x6162, "int"),
        ("1.5", 1.5, "double"),
        ("1e3f", 1000.0, "float"),
        ("0x1.8p-1", 0.75, "double"),
        ("0x1p-149f", 2.0**-149, "float"),
    ],
)
def test_constants(text: str, value: float, type_name: str) -> None:
    e = expression("void", text)
    assert isinstance(e, ast.IntConst | ast.FloatConst)
    assert (e.value, str(e.type)) == (value, type_name)


def test_float_constants_round_once() -> None:
    # Halfway between two floats plus less than a double can show: rounding twice gives the even one.
    e = expression("void", "1.00000005960464477540f")
    assert isinstance(e, ast.FloatConst)
    assert e.value == 1.0 + 2.0**-23
    e = expression("void", "1.00000005960464477539f")  # just below halfway
    assert isinstance(e, ast.FloatConst)
    assert e.value == 1.0


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('"a" "b"', b"ab\0"),
        (r'"\x1" "a"', b"\x01a\0"),
        (r'"\101\n\\\""', b'A\n\\"\0'),
        ('"\u00e9"', b"\xc3\xa9\0"),
        ('L"a"', b"a\0\0\0\0\0\0\0"),
        ('""', b"\0"),
    ],
)
def test_strings(text: str, data: bytes) -> None:
    e = expression("const void *p", f"p = {text}")
    assert isinstance(e, ast.Assign)
    assert repr(data) in dump(e)


def test_generic_chooses_by_type() -> None:
    text = "_Generic(x, float: 1, double: 2, default: 3)"
    assert [dump(expression(f"{t} x", text)) for t in ("float", "double", "int")] == ["1", "2", "3"]


def test_func_names_the_function() -> None:
    assert dump(expression("const char *p", "p = __func__")) == "p = decay(b'f\\x00')"


def test_builtin_constants_and_library_spellings() -> None:
    assert dump(expression("double x", "x = __builtin_huge_val()")) == "x = inf"
    assert dump(expression("float x", "x = __builtin_inff()")) == "x = inf:float"
    before = "double fabs(double);"
    assert dump(expression("double x", "__builtin_fabs(x)", before)) == "fabs(load(x))"
    before = "struct s { char c; struct { int x[4]; } in; };"
    e = expression("void", "__builtin_offsetof(struct s, in.x[2])", before)
    assert dump(e) == "12:unsigned long"


def test_variadic_functions() -> None:
    from sema_dump import body

    stmts = body(
        "typedef __builtin_va_list va_list; int f(int n, ...) { va_list a; __builtin_va_start(a, n);"
        " va_list b; __builtin_va_copy(b, a); int x = __builtin_va_arg(a, int);"
        " double d = __builtin_va_arg(b, double); __builtin_va_end(a); return x + (int)d; }"
    )
    start, end = stmts[1], stmts[6]
    assert isinstance(start, ast.ExprStmt) and dump(start.expr) == "va_start(decay(a))"
    assert isinstance(end, ast.ExprStmt) and dump(end.expr) == "va_end(decay(a))"
    declared = stmts[4]
    assert isinstance(declared, ast.DeclStmt) and declared.decls[0].init is not None
    assert dump(declared.decls[0].init.items[0][1]) == "va_arg(decay(a), int)"


def test_va_list_parameter_is_a_pointer() -> None:
    e = expression("__builtin_va_list a", "__builtin_va_arg(a, int)")
    assert dump(e) == "va_arg(load(a), int)"


def test_constants_beyond_their_type() -> None:
    assert not warnings(
        "long double a = 1e4000L, b = 1e-4000L, c = 0.0L, d = 0x0p+9000L, e = 0x1p-9000L;"
    )
    assert not warnings(
        "float a = 0.0f, b = 0e9F, c = 0x0p0f, d = 0x0.0P9F; double e = 0., f = 0x0p9;"
    )
    text = "long double a = 1e5000L, b = 1e-5000L, c = 0x1p-99999L; double d = 1e400; float e = 1e-90f;"
    told = [w.message.partition(" is ")[0] for w in warnings(text)]
    assert told == ["'1e5000L'", "'1e-5000L'", "'0x1p-99999L'", "'1e400'", "'1e-90f'"]


def test_constants_that_their_object_has_no_room_for() -> None:
    fine = "signed char b = 200; unsigned char c = -1; int d = 0xffffffff; short e = 65535; char f = '\\xff';"
    assert not warnings(f"void g(unsigned char); void h(void) {{ {fine} g((unsigned char)300); }}")
    text = (
        "void g(unsigned char); short h(void) { unsigned char c = 300, d = -200; g(1000); int i = 1e10;"
        " unsigned long m = 1e30; unsigned char n[2] = {1, 256}; return 70000; }"
    )
    told = warnings(text)
    assert [w.option for w in told] == ["overflow"] * 7
    assert "300 is beyond the range of 'unsigned char', which gets 44" in told[0].message
