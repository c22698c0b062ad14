"""
The preprocessor against gcc's on generated programs, and against arbitrary text.

The comparison needs gcc and is skipped without it; the rest runs anywhere.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.c.preprocess import preprocess_text
from accopt.compiler.c.preprocess_lexer import tokenize
from hypothesis import given, settings
from hypothesis import strategies as st

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

_MARKER = re.compile(r"# \d+ .*")


def tokens_of(text: str) -> list[str]:
    """The tokens of preprocessed text, without line markers."""
    rows = [row for row in text.split("\n") if not _MARKER.match(row)]
    found: list[str] = []
    for row in rows:
        found += [t.value for t in tokenize(row, ("", 1, 1)) if not t.is_space]
    return found


def gcc(text: str, tmp_path: Path) -> str | None:
    """gcc's preprocessed text; None where it reports an error."""
    source = tmp_path / "t.c"
    source.write_text(text)
    command = ["gcc", "-E", "-std=c11", "-undef", "-w", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


class _Macros:
    """Random macro definitions and text that uses them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.objects = [f"O{i}" for i in range(4)]
        self.functions = {f"F{i}": self._random.randrange(4) for i in range(4)}

    def piece(self, parameters: list[str], depth: int = 0) -> str:
        pick = self._random.random()
        if pick < 0.25 and parameters:
            return self._random.choice(parameters)
        if pick < 0.4:
            return self._random.choice(self.objects)
        if pick < 0.65 and depth < 3:
            name = self._random.choice(list(self.functions))
            arguments = [self.body(parameters, depth + 1) for _ in range(self.functions[name])]
            space = self._random.choice(["", " ", "\t"])
            return f"{name}{space}({self._random.choice(['', ' '])}{', '.join(arguments)})"
        if pick < 0.7:
            return self._random.choice(list(self.functions))
        simple = ["x", "y1", "1", "2.5e-3", "+", "-", "*", "(z)", '"s\\n"', "'c'", ";", "<<", "->"]
        return self._random.choice(simple)

    def body(self, parameters: list[str], depth: int = 0) -> str:
        separator = self._random.choice([" ", " ", "  "])
        return separator.join(
            self.piece(parameters, depth) for _ in range(self._random.randrange(4))
        )

    def definition(self, name: str) -> str:
        if name in self.objects:
            return f"#define {name} {self.body([])}"
        parameters = [f"p{i}" for i in range(self.functions[name])]
        text = self.body(parameters)
        if len(parameters) > 0 and self._random.random() < 0.3:
            text += f" #{self._random.choice(parameters)}"
        if len(parameters) > 1 and self._random.random() < 0.3:
            text += f" a_{self._random.choice(['##', ' ## '])}{parameters[0]}"
        return f"#define {name}({', '.join(parameters)}) {text}"

    def program(self) -> str:
        lines = [self.definition(name) for name in (*self.objects, *self.functions)]
        for _ in range(6):
            lines.append(self.body([]) + self._random.choice(["", "\n", " // c", " /* c */"]))
        return "\n".join(lines) + "\n"


@needs_gcc
@pytest.mark.parametrize("seed", range(60))
def test_macros_like_gcc(seed: int, tmp_path: Path) -> None:
    text = _Macros(seed).program()
    expected = gcc(text, tmp_path)
    try:
        found = preprocess_text(text, "t.c").text
    except CompileError:
        assert expected is None, text
        return
    if expected is not None:
        assert tokens_of(found) == tokens_of(expected), text


def _condition(pick: random.Random, depth: int = 0) -> str:
    if depth > 3 or pick.random() < 0.2:
        leaf = [
            "0",
            "1",
            "2u",
            "7",
            "-3",
            "0x10UL",
            "'a'",
            "A",
            "B",
            "defined A",
            "defined(C)",
            "010",
        ]
        return pick.choice(leaf)
    kind = pick.random()
    first, second = _condition(pick, depth + 1), _condition(pick, depth + 1)
    if kind < 0.15:
        return f"({first} ? {second} : {_condition(pick, depth + 1)})"
    if kind < 0.3:
        return f"{pick.choice('!~-+')} ({first})"
    if kind < 0.4:
        return f"({first}) {pick.choice('/%')} ({second})"
    operators = ["+", "-", "*", "&", "|", "^", "&&", "||", "==", "!=", "<", ">", "<=", ">="]
    text = f"{first} {pick.choice(operators)} {second}"
    return f"({text})" if pick.random() < 0.5 else text


@needs_gcc
def test_conditions_like_gcc(tmp_path: Path) -> None:
    pick = random.Random(1)
    prefix = "#define A 1\n#define C B\n"
    compared = 0
    for _ in range(30):
        groups: list[str] = []
        for index in range(15):
            condition = _condition(pick)
            group = f"#if {condition}\nyes{index}\n#else\nno{index}\n#endif\n"
            try:
                preprocess_text(prefix + group, "t.c")
                groups.append(group)
            except CompileError as e:
                assert "division by zero" in str(e), condition
                assert gcc(prefix + group, tmp_path) is None, condition
        text = prefix + "".join(groups)
        expected = gcc(text, tmp_path)
        assert expected is not None, text
        assert tokens_of(preprocess_text(text, "t.c").text) == tokens_of(expected), text
        compared += len(groups)
    assert compared > 300


_LINES = st.lists(
    st.sampled_from(
        [
            "#define A B", "#define B(x) x #x x##x", "#define A", "#undef A", "#if A", "#if B(1)",
            "#elif 1", "#else", "#endif", "#ifdef A", "#ifndef B", "A B(A) B(", "B(1, 2) )", "B\n(1)",
            "#include <math.h>", "#pragma acc A B(copy)", '_Pragma("acc wait")', '_Pragma("',
            "#line 7", "\"", "'", "/*", "*/", "\\", "##", "#", "A \\", "#define C(...) __VA_ARGS__", "C()",
            "#if defined", "#pragma once", "__LINE__ __FILE__ __COUNTER__",
        ]
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=300)
@given(_LINES)
def test_any_lines(lines: list[str]) -> None:
    try:
        preprocess_text("\n".join(lines), "t.c")
    except CompileError as e:
        for diagnostic in e.diagnostics:
            assert diagnostic.loc.line > 0


@settings(max_examples=200)
@given(st.text(alphabet="#defineif()<>\"'\\/*\n\t AB1.,?:&|=+-_\u00e9", max_size=60))
def test_any_text(text: str) -> None:
    try:
        preprocess_text(text, "t.c")
    except CompileError as e:
        for diagnostic in e.diagnostics:
            assert diagnostic.loc.line > 0


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 12), st.integers(0, 12), st.sampled_from(["w", "LONG", "S", "F(w)"])
        ),
        max_size=12,
    )
)
def test_every_token_keeps_its_place(layout: list[tuple[int, int, str]]) -> None:
    """Unique words between macros of all lengths stand where they stood."""
    text = "#define LONG (aaaaaaaaaaaaaaa + 1)\n#define S\n#define F(x) x\n"
    for index, (newlines, spaces, filler) in enumerate(layout):
        text += "\n" * (newlines // 2 * (newlines > 8)) + " " * spaces + f"{filler} t{index}"
    expected = {
        m.group(): (text.count("\n", 0, m.start()) + 1, m.start() - text.rfind("\n", 0, m.start()))
        for m in re.finditer(r"\bt\d+", text)
    }
    found: dict[str, tuple[int, int]] = {}
    line = 0
    for row in preprocess_text(text, "t.c").text.split("\n"):
        if (marker := re.match(r"# (\d+) ", row)) is not None:
            line = int(marker[1])
            continue
        found |= {m.group(): (line, m.start() + 1) for m in re.finditer(r"\bt\d+", row)}
        line += 1
    assert found == expected
