"""Declarations of headers: parsed once for all files, with the trees and messages of each file by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from accopt.compiler.base.diagnostics import CompileError, Diagnostic, DiagnosticSink
from accopt.compiler.c.ast import TranslationUnit
from accopt.compiler.c.program import load_program
from accopt.compiler.c.shared_declarations import known_declarations, shared_declarations
from accopt.compiler.c.syntax_recovery import parse_what_can_be
from pycparser import c_ast

_HEADER = """# 1 "lib.h"
typedef int number; struct point { number x, y; }; enum kind { ONE, TWO = 2 };
extern number
# 5 "lib.h"
   length(struct point p), width;
static inline int twice(x) { return 2 * x; } int after;
#pragma pack(push, 1)
struct packed { char c; int i; };
#pragma pack(pop)
int f(a) int a; { return a; }
"""


def _plain(tree: Any) -> Any:
    if isinstance(tree, list | tuple):
        return [_plain(each) for each in tree]
    if not isinstance(tree, c_ast.Node):
        return tree
    slots = {slot for c in type(tree).__mro__ for slot in getattr(c, "__slots__", ())}
    values = [_plain(getattr(tree, s, None)) for s in sorted(slots - {"coord", "__weakref__"})]
    return type(tree).__name__, str(tree.coord), values


def _parsed(texts: Sequence[str]) -> list[Any]:
    found = [parse_what_can_be(text, "main.c") for text in texts]
    return [(_plain(p.tree and p.tree.ext), p.mistakes, p.lost) for p in found]


@pytest.mark.parametrize(
    "before, after",
    [
        ("", "number n = TWO;"),
        (
            "typedef long number;",
            "number n;",
        ),  # a name that is a type where the header declares one
        ("int point, kind;", "int n = ONE;"),
        ("", "int n = ;"),
        ("", "nonumber n; number m"),
        ("", "number f(int number) { return number + after; }"),
        ("int number;", ""),  # what the header declares as a type is a variable
        ("static int x;", "int y = twice(3);"),
    ],
)
def test_files_have_the_trees_that_they_have_by_themselves(before: str, after: str) -> None:
    def text(before: str, after: str) -> str:
        return f'# 1 "main.c"\n{before}\n{_HEADER}# 3 "main.c"\n{after}\n'

    texts = [text("", "int g;"), text(before, after), text("", "number h;"), text(before, after)]
    alone = _parsed(texts)
    with shared_declarations():
        assert _parsed(texts) == alone
        known = known_declarations()
        assert known is not None and len(known) >= 3


def test_shared_declarations_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    header = '# 1 "lib.h"\n' + "".join(f"int f{k}(int, double);\n" for k in range(100))
    texts = [header + f'# 1 "main.c"\nint g{k};\n' for k in range(3)]
    count = 0
    original: Callable[..., Any] = c_ast.FuncDecl.__init__

    def counted(self: c_ast.FuncDecl, *args: Any, **kwargs: Any) -> None:
        nonlocal count
        count += 1
        original(self, *args, **kwargs)

    monkeypatch.setattr(c_ast.FuncDecl, "__init__", counted)
    with shared_declarations():
        _parsed(texts)
    assert count == 100


def _loaded(folder: Path, **files: str) -> tuple[list[TranslationUnit], list[Diagnostic]]:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    sink = DiagnosticSink()
    paths = [folder / name.replace("_", ".") for name in files if name.endswith("_c")]
    return load_program(paths, None, sink), sink.diagnostics


def test_functions_that_a_file_does_not_name_are_not_checked(tmp_path: Path) -> None:
    """But for those that a directive, or a definition elsewhere in the file, is about."""
    units, messages = _loaded(
        tmp_path,
        lib_h="int idle(int), called(int);\n#pragma acc routine seq\nint device(int);\nint made(int);\n"
        "struct s *maker(void);\n",
        a_c='#include "lib.h"\nint made(int k) { return called(k); }\n',
    )
    (unit,) = units
    assert not messages
    assert {f.name for f in unit.functions} == {"called", "device", "made", "maker"}
    assert [f.name for f in unit.functions if f.directives] == ["device"]


def test_messages_know_the_functions_that_are_not_named(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        _loaded(
            tmp_path,
            lib_h="int measured_length(int);\n",
            a_c='#include "lib.h"\nint n(void) { return (*measured_lenght)(1); }\n',
        )
    assert "measured_length" in (caught.value.diagnostics[0].remedy or "")


def test_definitions_without_prototype_do_not_change_what_is_shared(tmp_path: Path) -> None:
    """Each file gives the parameters of an old definition their types."""
    header = (
        "static int old(a) { return a; } int after;\nstatic int f(x) float x; { return x + x; }\n"
    )
    text = '#include "lib.h"\nint {name}(void) {{ return old(3) + f(2.5); }}\n'
    units, _ = _loaded(tmp_path, lib_h=header, a_c=text.format(name="g"), b_c=text.format(name="h"))
    for unit in units:
        old = next(f for f in unit.functions if f.name == "old")
        assert not old.type.prototyped
        assert [str(p.type) for p in old.params] == ["int"]
