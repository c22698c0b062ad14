"""Headers that do again what they did: generated programs, whose files must be what each is by itself."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c.preprocess import PreprocessOptions, preprocess
from accopt.compiler.c.preprocess_again import Inclusions
from accopt.compiler.c.preprocess_headers import Inputs
from accopt.compiler.c.preprocess_sources import Headers

_NAMES = ("A", "B", "C", "AB", "F", "GUARD0", "GUARD1", "__FILE__", "SEEN")
_BODIES = ("", "1", "2", "B", "A + C", "A ## B", "__LINE__", "__COUNTER__", "F(B)", "AB", "x")
_PRAGMAS = ("weak f", "once", "pack(1)", "omp parallel", 'push_macro("A")', 'pop_macro("A")', "odd")


def _line(chosen: random.Random, headers: int, depth: int) -> str:
    name = chosen.choice(_NAMES)
    match chosen.randrange(13):
        case 0 | 1:
            name = chosen.choice(("A", "B", "C", "AB", "SEEN"))
            return f"#define {name} {chosen.choice(_BODIES)}"
        case 2:
            return "#define F(v) " + chosen.choice(("v", "v B", "v ## B", "#v", "A v"))
        case 3:
            return f"#undef {chosen.choice(_NAMES[:7])}"
        case 4 | 5 if depth < 3:
            word = chosen.choice(
                (f"ifdef {name}", f"ifndef {name}", "if A + 1 > 1", "if defined B")
            )
            inner = [_line(chosen, headers, depth + 1) for _ in range(chosen.randrange(3))]
            other = ["#else", _line(chosen, headers, depth + 1)] if chosen.random() < 0.4 else []
            return "\n".join([f"#{word}", *inner, *other, "#endif"])
        case 6 | 7 if headers:
            return f'#include "h{chosen.randrange(headers)}.h"'
        case 8 if chosen.random() < 0.4:
            return f"#pragma {chosen.choice(_PRAGMAS)}"
        case 9 if chosen.random() < 0.2:
            return chosen.choice(("#warning A", '#line 50 "else.h"', "#", "int y; F(\n1)"))
        case _:
            return f"int {name} F({chosen.choice(_NAMES)}) z;"


def _header(chosen: random.Random, number: int) -> str:
    lines = [_line(chosen, number, 0) for _ in range(chosen.randrange(7))]
    match chosen.randrange(4):
        case 0:
            lines = [f"#ifndef GUARD{number}", f"#define GUARD{number}", *lines, "#endif"]
        case 1:
            lines.insert(0, "#pragma once")
        case _:
            pass
    return "\n".join([*lines, ""])


def _result(path: Path, headers: Headers | None) -> object:
    sink, inputs = DiagnosticSink(), Inputs()
    try:
        source = preprocess(path, PreprocessOptions(defines=("C=3",)), sink, headers, inputs)
    except CompileError as e:
        return str(e)
    return source, inputs.read, inputs.absent, sink.diagnostics


def check_program(seed: int, folder: Path) -> None:
    """The files of a generated program together, and each by itself."""
    chosen = random.Random(seed)
    for number in range(4):
        (folder / f"h{number}.h").write_text(_header(chosen, number))
    together = Headers()
    for number in range(5):
        path = folder / f"{number}.c"
        path.write_text("".join(_line(chosen, 4, 0) + "\n" for _ in range(6)))
        for _ in range(2):
            assert _result(path, together) == _result(path, None), (seed, path)


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_files_are_what_they_are_alone(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Counter[bool] = Counter()

    def watched(self: Inclusions, *args, find=Inclusions.find):
        inclusion = find(self, *args)
        found[inclusion is not None] += 1
        return inclusion

    monkeypatch.setattr(Inclusions, "find", watched)
    for seed in range(first, first + 20):
        check_program(seed, tmp_path)
    assert found[True] > 40 < found[False]
