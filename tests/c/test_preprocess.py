"""The preprocessor: macros, conditionals, inclusion, pragmas, and where it says things stand."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink, Severity, SourceLoc
from accopt.compiler.c.preprocess import PreprocessOptions, preprocess, preprocess_text
from accopt.compiler.c.preprocess_lexer import LexedFile, Token
from accopt.compiler.c.program import preprocess_program

_MARKER = re.compile(r'# (\d+) "(.*)"')
_WORD = re.compile(r"\w+|[^\s\w]")


def run(text: str, *defines: str, undefines: tuple[str, ...] = ()) -> str:
    return preprocess_text(text, "f.c", PreprocessOptions((), defines, undefines)).text


def words(text: str) -> str:
    """The tokens of preprocessed text, single-spaced, without line markers."""
    lines = [line for line in text.split("\n") if not _MARKER.match(line)]
    return " ".join(_WORD.findall("\n".join(lines)))


def expand(text: str, *defines: str) -> str:
    return words(run(text, *defines))


def places(text: str) -> dict[str, SourceLoc]:
    """Where preprocessed text says each word stands (its first occurrence)."""
    found: dict[str, SourceLoc] = {}
    file, line = "", 0
    for row in text.split("\n"):
        if (marker := _MARKER.match(row)) is not None:
            file, line = marker[2], int(marker[1])
            continue
        for match in _WORD.finditer(row):
            found.setdefault(match.group(), SourceLoc(file, line, match.start() + 1))
        line += 1
    return found


def failure(text: str, **options: object) -> tuple[str, int, int, str]:
    """Message, line, column and remedy of the error `text` causes."""
    with pytest.raises(CompileError) as caught:
        preprocess_text(text, "f.c", PreprocessOptions(**options))  # type: ignore[arg-type]
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.message, diagnostic.loc.line, diagnostic.loc.column, diagnostic.remedy or ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("#define A 1\nA A_ B", "1 A_ B"),
        ("#define A B\n#define B A\nA B", "A B"),
        ("#define f(x) x + f\nf(1)(2)", "1 + f ( 2 )"),
        ("#define f(x) <x>\nf f (1) f\n(2)", "f < 1 > < 2 >"),
        ("#define f(x) x\nf(f)(1)", "f ( 1 )"),
        ("#define max(a,b) ((a)>(b)?(a):(b))\nmax(max(1,2),3)", None),
        ('#define s(x) #x\ns( a  + "b\\n" )', '" a + \\ " b \\ \\ n \\ " "'),
        ("#define c(a,b) a##b\nc(x,1) c(1,.5e) c(,y) c(x,)", "x1 1 . 5e y x"),
        ("#define c(a,b) a ## b\n#define d(a,b) c(a,b)\n#define n 4\nc(x,n) d(x,n)", "xn x4"),
        ("#define o x ## y\no", "xy"),
        ("#define v(a,...) g(a,##__VA_ARGS__)\nv(1) v(1,2,3)", "g ( 1 ) g ( 1 , 2 , 3 )"),
        ("#define v(...) g(__VA_ARGS__)\nv() v(1,(2,3))", "g ( ) g ( 1 , ( 2 , 3 ) )"),
        ("#define e()\ne() x e( )", "x"),
        ("#define neg -\n-neg-neg -neg 1", "- - - - - - 1"),
        ("#define E 2\n1.0E-5 1E5 0x1p-3 1e+E", "1 . 0E - 5 1E5 0x1p - 3 1e + E"),
        ('#define x 9\n\'x\' "x" L"x" x', '\' x \' " x " L" x " 9'),
        ("#define f(a,b) a b\nf((1,2),{3)", "( 1 , 2 ) { 3"),
        ("#define f(a) a\nf(1\n  2\n3)", "1 2 3"),
        ("#define lparen (\n#define f(x) [x]\nf lparen 1)", "f ( 1 )"),
        ("a/**/b /* c\n d */ e // f\ng", "a b e g"),
        ("a /***\n ***\n/*--- b\n/ c */ d /*/\n/ */ e /* *\\\n/ f", "a d e f"),
        ('a\\\nb "c\\\nd" // e \\\n f\ng', 'ab " cd " g'),
        ("%:x", "% : x"),
        ("__LINE__\n__LINE__ __LINE__\n\n__LINE__", "1 2 2 4"),
        ("#define L __LINE__\n\nL", "3"),
        ("__FILE__", '" f . c "'),
        ('#line 40 "g.c"\n__LINE__ __FILE__', '40 " g . c "'),
        ("#undef A\n#define A 1\n#undef A\nA", "A"),
        ("# /* null */\n#\n x", "x"),
        ('#ident "v1"\nx', "x"),
        ("x\r\ny\r\n", "x y"),
    ],
)
def test_text(source: str, expected: str | None) -> None:
    if expected is None:
        inner = "((1)>(2)?(1):(2))"
        expected = words(f"(({inner})>(3)?({inner}):(3))")
    if 'L" x' in expected:
        expected = words('\'x\' "x" L"x" 9')
    assert expand(source) == expected


def test_wide_literals_stay_one_token() -> None:
    assert 'L"x" u8"y" L\'c\'' in run('L"x" u8"y" L\'c\'')


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("1", True), ("0", False), ("A", False), ("defined A", False), ("defined(__x86_64__)", True),
        ("!defined B || B", True), ("_OPENACC >= 202506", True), ("_OPENACC == 202506", True),
        ("__STDC_VERSION__ >= 201112L", True), ("1 ? 0 : 1/0", False), ("0 && 1/0", False),
        ("1 || 1/0", True), ("-1 < 0", True), ("-1 < 0u", False), ("0xffffffffffffffff > 0", True),
        ("(2 + 3) * 4 == 20", True), ("2 + 3 * 4 == 14", True), ("7 / -2 == -3", True),
        ("-7 % 3 == -1", True), ("1 << 3 | 1 == 9", True), ("~0 == -1", True), ("'a' == 97", True),
        ("'\\n' == 10", True), ("'\\x41' == 65 && '\\101' == 65", True), ("010 == 8", True),
        ("10 - 4 - 3 == 3", True), ("1 ? 2 : 0 ? 3 : 4", True), ("! 0 == 1", True),
        ("(1 ? -1 : 0u) > 0", True), ("1 == 1 == 1", True), ("3 > 2 > 1", False),
        ("__SIZEOF_POINTER__ == 8 && __INT_MAX__ == 2147483647", True), ("+1 - -1 == 2", True),
    ],
)  # fmt: skip
def test_conditions(condition: str, value: bool) -> None:
    assert expand(f"#if {condition}\nyes\n#else\nno\n#endif") == ("yes" if value else "no")


def test_defined_from_macros() -> None:
    """`defined` that a macro brings asks about names, not about what they stand for."""
    source = """
#define X
#define Y f(1
#define BOTH (defined(X) && defined Y && defined ( BOTH ))
#define ASK(name) (defined(name) && !defined(no_##name))
#define NEITHER (defined Z || defined(W))
#if BOTH && !NEITHER && !ASK(q) && defined (X)
yes
#endif
"""
    assert expand(source) == "yes"


def test_conditional_groups() -> None:
    source = """
#if X == 1
one
#elif X == 2
two
# if Y
two-y
# else
two-n
# endif
#elif X == 2 || 1/Y
never
#else
other
#endif
#ifdef X
x
#endif
#ifndef X
n
#endif
"""
    assert expand(source, "X=1") == "one x"
    assert expand(source, "X=2", "Y") == "two two - y x"
    assert expand(source, "X=2") == "two two - n x"
    assert expand(source, "X=3", "Y=1") == "never x"
    assert expand(source, "Y=2") == "other n"


def test_skipped_text_need_not_be_c() -> None:
    assert (
        expand("#if 0\ndon't #bogus \" /* # endif\n*/\n#bogus\n#if 1\n#else\n#endif\n#endif\nx")
        == "x"
    )


def test_command_line_macros() -> None:
    assert expand("A B C f(3) U", "A", "B=x y", "C=", "f(x)=[x]", "U") == "1 x y [ 3 ] 1"
    assert words(run("U V", "U", undefines=("U", "V"))) == "U V"
    assert "not a macro name" in failure("x", defines=("2x",))[0]


def test_the_day_of_the_date_is_padded_with_a_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """C11 6.10.8.1."""
    day = time.struct_time((2024, 2, 3, 4, 5, 6, 5, 34, 0))
    monkeypatch.setattr(time, "localtime", lambda *_: day)
    text = run("__DATE__ __TIME__")
    assert '"Feb  3 2024"' in text and '"04:05:06"' in text


def test_inclusion(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "a.h").write_text('#pragma once\n#include "b.h"\nfrom_a\n')
    (tmp_path / "inc" / "b.h").write_text("#ifndef B\n#define B\nfrom_b\n#endif\n")
    (tmp_path / "b.h").write_text("wrong_b\n")
    main = tmp_path / "main.c"
    main.write_text('#define H <a.h>\n#include H\n#include "a.h"\n#include <b.h>\n  end __FILE__\n')
    options = PreprocessOptions((tmp_path / "inc",))
    text = preprocess(main, options).text
    assert words(text).startswith("from_b from_a end")
    where = places(text)
    assert where["from_b"] == SourceLoc(str(tmp_path / "inc" / "b.h"), 3, 1)
    assert where["from_a"] == SourceLoc(str(tmp_path / "inc" / "a.h"), 3, 1)
    assert where["end"] == SourceLoc(str(main), 5, 3)
    assert f'"{main}"' in text


def test_headers_are_lexed_once_for_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a header comes to depends on macros and `#line` every time."""
    headers = {
        "guarded.h": "/* first */\n#ifndef GUARD\n#define GUARD\nint guarded;\n#endif // GUARD\n",
        "half.h": "#ifndef HALF\n#define HALF\nint half;\n#else\nint other;\n#endif\n",
        "tail.h": "#ifndef TAIL\n#define TAIL\n#endif\nint tail;\n",
        "first.h": "int first;\n#ifndef FIRST\n#define FIRST\n#endif\n",
        "item.h": "ITEM",
        "moved.h": 'int before;\n#line 70 "else.c"\nint moved;\n',
    }
    for name, text in headers.items():
        (tmp_path / name).write_text(text)
    includes = "".join(f'#include "{name}"\n' for name in headers)
    (tmp_path / "a.c").write_text(
        f"#define ITEM 1 + 2\n{includes}{includes}#undef GUARD\n{includes}"
    )
    (tmp_path / "b.c").write_text(f"#define HALF\n#define GUARD\n{includes}")
    lexed: list[str] = []
    lex = LexedFile._logical_line

    def watched(self: LexedFile) -> list[Token]:
        lexed.append(self.file)
        return lex(self)

    monkeypatch.setattr(LexedFile, "_logical_line", watched)
    paths = [tmp_path / "a.c", tmp_path / "b.c"]
    together = [source.text for source in preprocess_program(paths, None, DiagnosticSink())]
    assert lexed.count(str(tmp_path / "guarded.h")) == 6
    assert together == [preprocess(path).text for path in paths]
    assert words(together[0]) == (
        "int guarded ; int half ; int tail ; int first ; 1 + 2 int before ; int moved ; "
        "int other ; int tail ; int first ; 1 + 2 int before ; int moved ; "
        "int guarded ; int other ; int tail ; int first ; 1 + 2 int before ; int moved ;"
    )
    assert words(together[1]) == (
        "int other ; int tail ; int first ; ITEM int before ; int moved ;"
    )
    assert together[0].count('# 70 "else.c"') == 3


def test_an_error_in_a_header_names_the_header(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("\n  #error no way\n")
    (tmp_path / "m.c").write_text('#include "a.h"\n')
    with pytest.raises(CompileError) as caught:
        preprocess(tmp_path / "m.c")
    assert caught.value.diagnostics[0].loc == SourceLoc(str(tmp_path / "a.h"), 2, 4)


def test_bytes_that_are_not_utf8_survive(tmp_path: Path) -> None:
    (tmp_path / "m.c").write_bytes(b'\xef\xbb\xbfchar *s = "\xe9\xff";\n')
    text = preprocess(tmp_path / "m.c").text
    assert b'"\xe9\xff"' in text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("source", "fragment", "line", "column"),
    [
        ("x\n  #include <no.h>", "cannot find the header 'no.h'", 2, 12),
        ('#include "no.h"', "cannot find the header 'no.h'", 1, 10),
        ("#include", "needs a file name", 1, 2),
        ("#include <no.h", "malformed #include", 1, 10),
        ("#include 3", "malformed #include", 1, 10),
        ("\n#if 1\nx", "unterminated #if", 2, 2),
        ("#ifdef A\n#else\n", "unterminated #ifdef", 1, 2),
        ("#endif", "#endif without #if", 1, 2),
        ("#else", "#else without #if", 1, 2),
        ("#if 0\n#else\n#elif 1\n#endif", "#elif after #else", 3, 2),
        ("#if 0\n#else\n#else\n#endif", "#else after #else", 3, 2),
        ("#if\n#endif", "#if needs an expression", 1, 2),
        ("#if 1 +\n#endif", "expected a value", 1, 7),
        ("#if 1 2\n#endif", "expected an operator before '2'", 1, 7),
        ("#if (1\n#endif", "expected ')'", 1, 6),
        ("#if 1/0\n#endif", "division by zero", 1, 6),
        ("#if f(1)\n#endif", "'f' is not a macro", 1, 5),
        ("#if 1.5\n#endif", "'1.5' is not an integer", 1, 5),
        ("#if 09\n#endif", "digits", 1, 5),
        ("#if 99999999999999999999\n#endif", "64 bits", 1, 5),
        ('#if "s"\n#endif', "expected a value before", 1, 5),
        ("#if defined\n#endif", "'defined' needs", 1, 5),
        ("#if defined(A\n#endif", "expected ')'", 1, 5),
        ("#ifdef 3\n#endif", "#ifdef needs the name", 1, 2),
        ("#error  stop   here", "#error stop here", 1, 2),
        ("#bogus", "unknown preprocessing directive '#bogus'", 1, 2),
        ("#define", "#define needs", 1, 2),
        ("#define 3 4", "'3' cannot be the name", 1, 9),
        ("#define defined 1", "cannot be the name", 1, 9),
        ("#define f(a, 2) a", "unexpected '2' among", 1, 14),
        ("#define f(a,,b) a", "unexpected ','", 1, 13),
        ("#define f(a b", "expected ')'", 1, 10),
        ("#define f(...,a) a", "unexpected '...'", 1, 11),
        ("#define A ## b", "'##' is not allowed", 1, 11),
        ('#define A"x"', "expected a space", 1, 10),
        ("#define f(a) a\nf(1,2)", "macro 'f' takes 1 arguments and is given 2", 2, 1),
        ("#define f(a) a\n  f(1", "not closed", 2, 3),
        ("#define f(...) __VA_OPT__(a\nf(1)", "'__VA_OPT__' is not closed", 1, 16),
        ("#undef", "#undef needs", 1, 2),
        ("#line x", "#line needs", 1, 2),
        ("a /* b\n", "unterminated comment", 1, 3),
        ("_Pragma(acc)", "_Pragma needs one string", 1, 1),
        ("_Pragma", "_Pragma needs one string", 1, 1),
        (
            "#pragma redefine_extname f g",
            "#pragma redefine_extname is not supported",
            1,
            9,
        ),
    ],
)
def test_errors(source: str, fragment: str, line: int, column: int) -> None:
    message, *place, _ = failure(source)
    assert fragment in message
    assert place == [line, column]


def test_remedies() -> None:
    assert "-I" in failure("#include <no_such_header.h>")[3]
    assert "'stdio.h'" in failure("#include <stdoi.h>")[3]
    assert "'#include'" in failure("#inlcude <a.h>")[3]
    assert "#endif" in failure("#if 1")[3]


def test_endless_inclusion_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "a.h"\n')
    with pytest.raises(CompileError, match="nests deeper"):
        preprocess(tmp_path / "a.h")


def test_warnings() -> None:
    sink = DiagnosticSink()
    source = "#warning  mind  this\n#define A 1\n#define A 1\n#define A 2\n"
    source += "#pragma omp parallel\n#pragma STDC X"
    preprocess_text(source, "f.c", sink=sink)
    assert [(d.severity, d.loc.line) for d in sink.diagnostics] == [
        (Severity.WARNING, 1),
        (Severity.WARNING, 4),
        (Severity.REMARK, 5),
        (Severity.REMARK, 6),
    ]


# Pragmas -------------------------------------------------------------------------------------


def pragmas(source: str) -> list[str]:
    return [line.strip() for line in run(source).split("\n") if "#pragma" in line]


def bare(pragma: str) -> str:
    return re.sub(r"/\*@.*?\*/", "", pragma)


def test_pragmas_stay_and_others_go() -> None:
    source = "#pragma acc parallel  loop\n#pragma omp simd\n  # pragma acc wait /* x */ // y\n"
    assert pragmas(source) == ["#pragma acc parallel  loop", "#pragma acc wait"]


def test_macros_expand_in_pragmas_but_omp_is_untouched() -> None:
    source = "#define N 10\n#define C(x) copy(x[0:N])\n#pragma acc parallel num_gangs(N) C(a)\n"
    assert bare(pragmas(source)[0]) == "#pragma acc parallel num_gangs(10) copy(a[0:10])"


def test_continued_pragma_is_one_line_with_anchors() -> None:
    source = "#pragma acc parallel \\\n   copy(a) \\\n\tif(x)\nint y;\n"
    assert pragmas(source) == ["#pragma acc parallel /*@2:4*/copy(a) /*@3:2*/if(x)"]
    assert places(run(source))["y"] == SourceLoc("f.c", 4, 5)


@pytest.mark.parametrize(
    "source",
    [
        '#define P(x) _Pragma(#x)\nP(acc parallel copy(a[0:n]) bind("x\\n"))',
        '#define P(x) _Pragma(#x)\n#define Q P(acc parallel copy(a[0:n]) bind("x\\n"))\nQ',
        '_Pragma("acc parallel copy(a[0:n]) bind(\\"x\\\\n\\")")',
        '#define n n\n_Pragma ( "acc parallel copy(a[0:n]) bind(\\"x\\\\n\\")" )',
    ],
)
def test_pragma_operator(source: str) -> None:
    text = run(source + " int z;")
    lines = [bare(line).strip() for line in text.split("\n") if "#pragma" in line]
    assert lines == ['#pragma acc parallel copy(a[0:n]) bind("x\\n")']
    assert places(text)["z"].line == source.count("\n") + 1


def test_pragma_operator_knows_its_place() -> None:
    text = run('  _Pragma("acc wait(q)") x;')
    assert "#pragma acc wait(q)" in text
    assert places(text)["q"] == SourceLoc("f.c", 1, 21)
    assert places(text)["x"] == SourceLoc("f.c", 1, 26)


def test_pragma_in_a_skipped_group() -> None:
    assert pragmas("#ifdef NO\n#pragma acc wait\n#endif\n") == []


# Places --------------------------------------------------------------------------------------


def test_tokens_behind_expansions_keep_their_columns() -> None:
    source = "#define LONG (aaaaaaaaaa + 1)\n#define F(x) x\n  u = LONG + v; F(w) z\n"
    where = places(run(source))
    lines = source.split("\n")
    for name in "uvz":
        assert where[name] == SourceLoc("f.c", 3, lines[2].index(name) + 1)
    assert where["w"].line == 3


def test_text_without_macros_is_left_alone() -> None:
    source = "int main(int c, char **v) {\n  return -(-c) + *v[0]++ - - 1;\n}\n"
    assert run(source).removeprefix('# 1 "f.c"\n').strip() == source.strip()


def test_arguments_on_other_lines_keep_their_places() -> None:
    source = "#define BLOCK(x, y) { x; y; }\nBLOCK(a = 1,\n      b = LINE(2)) end\n"
    text = run(source)
    assert words(text) == "{ a = 1 ; b = LINE ( 2 ) ; } end"
    where = places(text)
    assert where["a"].line == where["}"].line == 2
    assert where["b"] == SourceLoc("f.c", 3, 7)
    assert where["LINE"] == SourceLoc("f.c", 3, 11)
    assert where["end"] == SourceLoc("f.c", 3, 20)


def test_line_directive_moves_places() -> None:
    assert places(run('#line 100 "gen.y"\n  x\n'))["x"] == SourceLoc("gen.y", 100, 3)


def test_preprocessed_text_can_be_preprocessed_again() -> None:
    source = "#define LONG (a + 1)\n  u = LONG + v;\n"
    once = run(source)
    assert places(run(once))["v"] == places(once)["v"] == SourceLoc("f.c", 2, 14)


def test_system_preprocessor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = tmp_path / "m.c"
    main.write_text(
        '#define N 4\n#include <openacc.h>\n_Pragma("acc wait(N)")\nint v = _OPENACC;\n'
    )
    options = PreprocessOptions(use_system_cpp=True)
    monkeypatch.setenv("CC", "no-such-compiler -x")
    with pytest.raises(CompileError, match="no C compiler 'no-such-compiler'"):
        preprocess(main, options)
    monkeypatch.delenv("CC")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here")
    text = preprocess(main, options).text
    assert "#pragma acc wait(4)" in text
    assert "202506" in text
    assert "acc_memcpy_d2d" in text
    main.write_text("#error stop\n")
    with pytest.raises(CompileError, match="stop"):
        preprocess(main, options)


def test_missing_file() -> None:
    with pytest.raises(CompileError, match="cannot find the C file"):
        preprocess(Path("/no/such.c"))


def test_usual_headers_are_quick() -> None:
    source = "".join(
        f"#include <{h}.h>\n" for h in ("stdio", "stdlib", "math", "string", "openacc")
    )
    best = 1.0
    for _ in range(5):
        start = time.process_time()
        run(source)
        best = min(best, time.process_time() - start)
    assert best < 0.15


def test_pragmas_of_other_compilers() -> None:
    """Texts are told, `error` is one, and what is about messages or speed says nothing."""
    text = """#pragma GCC diagnostic ignored "-Wfoo"
#pragma clang diagnostic pop
#pragma message("soon")
#pragma GCC warning "careful"
#pragma GCC optimize("O3")
#pragma GCC error "stop"
"""
    sink = DiagnosticSink()
    with pytest.raises(CompileError) as caught:
        preprocess_text(text, "f.c", None, sink)
    assert caught.value.diagnostics[0].message == '#pragma GCC error "stop"'
    assert [(d.severity, d.loc.line, d.message) for d in sink.diagnostics] == [
        (Severity.REMARK, 3, '#pragma message ("soon")'),
        (Severity.WARNING, 4, '#pragma GCC warning "careful"'),
        (Severity.REMARK, 5, "#pragma GCC optimize is ignored"),
    ]
