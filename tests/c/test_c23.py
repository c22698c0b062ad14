"""What C23 adds to C11, under `-std=c23` alone: keywords, constants, enumerations of a type, `#embed`."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c.preprocess import PreprocessOptions, preprocess_text
from accopt.compiler.c.sema.checker import check_text
from accopt.compiler.drivers.customary_options import translate

PROGRAM = """
#include <stddef.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdckdint.h>
static_assert(__STDC_VERSION__ == 202311L && true);
#if !true || false || !__has_embed("bytes") || __has_embed("nothing") || __has_embed("bytes" limit(0)) != 2
#error conditions
#endif
constexpr int n = 4;
const unsigned char bytes[] = {
#embed "bytes"
};
const unsigned char some[] = {
#embed "bytes" limit(1 + 1) prefix(1, 2,) suffix(, 3)
};
const unsigned char none[] = { 7,
#embed "bytes" limit(0) if_empty(8, 9)
};
static_assert(sizeof bytes == 5 && sizeof some == 5 && sizeof none == 3);
enum small : unsigned char { A, B = 200 };
static_assert(sizeof(enum small) == 1 && _Generic(B, unsigned char: 1, default: 0));
[[nodiscard]] int unnamed(int) { return 1; }
int none_at_all();
int any(...) { va_list list; va_start(list); int x = va_arg(list, int); va_end(list); return x; }
int f(int i)
{
    bool yes = true, no = false;
    int *p = nullptr;
    nullptr_t null = nullptr;
    auto real = 3.5;
    const auto whole = 1'000'000 + 0b1010 + 0x1'0;
    typeof_unqual(const char) letter = 'a';
    alignas(16) char aligned[16];
    static thread_local int own = 3;
    int zeros[5] = {};
    static_assert(_Generic(true, bool: 1, default: 0) && _Generic(real, double: 1, default: 0));
    static_assert(1'000'000 + 0b1010 + 0x1'0 == 1000026, "separators");
    static_assert(alignof(aligned) == 16 && alignof(double) == 8);
    if (p == nullptr && null == nullptr && !no) ckd_add(&own, i, 1);
#pragma acc parallel loop if(true) copy(zeros)
    for (int k = 0; k < 5; k++) zeros[k] = k;
    switch (i) { case 1: [[fallthrough]]; default: }
end:
    letter = 'b';
    return yes + whole + letter + zeros[0] + any(3) + unnamed(4);
last:
}
"""


def check(text: str, folder: Path, *, c23: bool = True) -> None:
    source = preprocess_text(text, str(folder / "t.c"), PreprocessOptions(c23=c23))
    check_text(source.text, source.file, DiagnosticSink())


def test_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\0\xff\n'\"")
    check(PROGRAM, tmp_path)


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("void f(); void g(void) { f(1); }", "arguments", 26),
        ("enum e : char { A = 300 };", "300, the value of 'A', does not fit into 'char'", 17),
        ("enum e : double { A };", "an enum cannot be of type 'double'", 1),
        ("int bool = 1;", "'bool' is a keyword of C23", 5),
        ("typedef int bool;", "'bool' is a keyword of C23", 13),
        ('char a[] = {\n#embed "none"\n};', "cannot find the file 'none'", 2),
        ('char a[] = {\n#embed "none" size(3)\n};', "#embed has no parameter 'size'", 15),
    ],
)
def test_mistakes(text: str, message: str, column: int, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        check(text, tmp_path)
    found = caught.value.diagnostics[0]
    assert message in found.message and found.loc.column == column, found


def test_other_standards_do_without(tmp_path: Path) -> None:
    check(
        "int bool = 1, nullptr, alignas, constexpr; void f(); void g(void) { f(1); }",
        tmp_path,
        c23=False,
    )
    with pytest.raises(CompileError) as caught:
        check("enum e : char { A };", tmp_path, c23=False)
    assert caught.value.diagnostics[0].remedy == "compile with -std=c23"
    for given in ("-std=c2x", "-std=gnu23", "-c23"):
        assert translate([given]) == ["--c23"]
    assert translate(["-std=gnu11"]) == translate(["-ansi"]) == ["--no-c23"]
