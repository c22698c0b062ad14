"""
Random sequential loops of threads along lines of arrays: copies, recurrences, sweeps in both directions,
stages of transforms. Several iterations' loads come before stores there, so what counts is which elements may
be the same: of one array at other rows, through two pointers, at subscripts that are read or computed.

Each thread has a column of its own, in which it does anything. The reference is the same code without
directives; all values are integers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

LOOPS = 4
_ARRAYS = ("a", "b", "c", "d")
_ROWS = 24
_COLUMNS = 7
_SIZES = (0, 1, 3, 7, 8, 13, 20)
"""Values of `n`, at most the arrays' rows less the subscripts' distances."""
_KINDS = {
    "global": ("", "{x}[{row}][j]", ""),
    "rows": ("int n, int m, {rows}", "{x}[{row}][j]", "n, M, {arrays}"),
    "flat": ("int n, int m, {flat}", "{x}[({row}) * m + j]", "n, M, {pointers}"),
    "restrict": ("int n, int m, {fixed}", "{x}[({row}) * m + j]", "n, M, {pointers}"),
    "wide": ("long n, unsigned long m, {flat}", "{x}[({row}) * m + j]", "n, M, {pointers}"),
}
"""The parameters of a function, an element, and the arguments."""
_HEADS = (
    *(("for (int i = 0; i < n; i++)", "i"),) * 4,
    ("for (int i = 1; i <= n; i++)", "i"),
    ("for (int i = n - 1; i >= 0; i--)", "i"),
    ("for (int i = 0; i < n; i += 2)", "i"),
    ("for (int i = 2; i < n; i += 3)", "i"),
    ("for (int i = 0; i < 5; i++)", "i"),
    ("for (int i = 0; i < 2; i++)", "i"),
    ("for (unsigned i = 0; i < (unsigned)n; i++)", "i"),
    ("for (int p = 0; p < n / q; p++) for (int k = 0; k < q; k++)", "p * q + k"),
    ("for (int p = 0; p < n / 4; p++) for (int k = 0; k < 4; k++)", "p * 4 + k"),
    ("for (int p = 0; p < q; p++) for (int k = 0; k < p; k += 2)", "p + k"),
    ("for (int l = 1; l < n; l *= 2) for (int k = 0; k < l && k + l < n; k++)", "k + l"),
)
"""Loops, and the row that they are at."""
_START = """\
#include <stdio.h>
#include <string.h>

enum {{ S = {rows}, M = {columns} }};
struct all {{ unsigned {arrays}; }};
static int at[S];
static unsigned {arrays};
static int n, q;
"""


@dataclass
class _Function:
    """A loop over columns around loops along them. `kind`: of `_KINDS`."""

    chance: random.Random
    kind: str

    def element(self, row: str) -> str:
        return _KINDS[self.kind][1].format(x=self.chance.choice(_ARRAYS), row=row)

    def row(self, here: str) -> str:
        near = (here,) * 5
        far = (
            f"{here} + 1",
            f"{here} + 2",
            f"({here} + 1) / 2",
            f"S - 1 - ({here})",
            "3",
            f"at[{here}]",
        )
        return self.chance.choice((*near, *far))

    def value(self, here: str, depth: int = 2) -> str:
        if depth == 0 or self.chance.random() < 0.3:
            known = ("2u", f"(unsigned)({here})", "s")
            return self.chance.choice((*(self.element(self.row(here)) for _ in range(5)), *known))
        left, right = (self.value(here, depth - 1) for _ in range(2))
        return f"({left} {self.chance.choice('+-+*^')} {right})"

    def statements(self, here: str) -> str:
        found: list[str] = []
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            if self.chance.random() < 0.2:
                found.append(f"s = {self.value(here)};")
                continue
            operator = self.chance.choice(("=", "=", "=", "+="))
            condition = f"if (s % 3 != {self.chance.choice('012')}) " * (
                self.chance.random() < 0.08
            )
            found.append(
                f"{condition}{self.element(self.row(here))} {operator} {self.value(here)};"
            )
        return " ".join(found)

    def body(self) -> list[str]:
        lines = [f"unsigned s = {self.element('0')};"]
        for _ in range(self.chance.randint(1, 3)):
            head, here = self.chance.choice(_HEADS)
            lines.append(f"{head} {{ {self.statements(here)} }}")
        return [*lines, f"{self.element('1')} += s;"]

    def functions(self, number: int) -> list[str]:
        """The loop with a directive, and the same without."""
        parameters, _, _ = _KINDS[self.kind]
        names = {
            "rows": ", ".join(f"unsigned {x}[S][m]" for x in _ARRAYS),
            "flat": ", ".join(f"unsigned *{x}" for x in _ARRAYS),
            "fixed": ", ".join(f"unsigned *restrict {x}" for x in _ARRAYS),
        }
        head = f"({parameters.format(**names) or 'void'})\n{{"
        size = "" if self.kind in ("global", "rows") else "[0:S * m]"
        present = ", ".join(f"{x}{size}" for x in _ARRAYS)
        levels = self.chance.choice(("", "gang vector", "vector_length(32)", "gang"))
        columns = "M" if self.kind == "global" else "m"
        loop = [
            f"    for (int j = 0; j < (int){columns}; j++) {{",
            *(f"        {line}" for line in self.body()),
            "    }",
            "}",
        ]
        return [
            f"static void f{number}_acc{head}",
            f"#pragma acc parallel loop {levels} present({present}, at)",
            *loop,
            f"static void f{number}_plain{head}",
            *loop,
        ]

    def arguments(self) -> str:
        """Plain pointers may be to parts of one array."""
        pointers = [f"&{x}[0][0]" for x in _ARRAYS]
        if self.kind in ("flat", "wide") and self.chance.random() < 0.4:
            one = self.chance.randrange(4)
            pointers[one - 1] = self.chance.choice((pointers[one], f"&{_ARRAYS[one]}[0][0]"))
        form = _KINDS[self.kind][2]
        return form.format(arrays=", ".join(_ARRAYS), pointers=", ".join(pointers))


def _whole() -> list[str]:
    """Functions that set the arrays, and keep what they have become."""
    lines = ["static void fill(void)\n{", "    for (int i = 0; i < S; i++) {"]
    lines += ["        at[i] = i * 5 % S;", "        for (int j = 0; j < M; j++) {"]
    lines += [f"            {x}[i][j] = i * {3 + k} + j * 5;" for k, x in enumerate(_ARRAYS)]
    lines += ["        }", "    }", "}", "static void keep(struct all *x)\n{"]
    return [*lines, *(f"    memcpy(x->{x}, {x}, sizeof {x});" for x in _ARRAYS), "}"]


def make_program(seed: int, loops: int = LOOPS) -> str:
    """The C source of the program for `seed`, which prints `ok` or the loops that differ."""
    chance = random.Random(seed)
    arrays = ", ".join(f"{x}[S][M]" for x in _ARRAYS)
    lines = [_START.format(rows=_ROWS, columns=_COLUMNS, arrays=arrays), *_whole()]
    names = ", ".join(_ARRAYS)
    main: list[str] = []
    for number in range(loops):
        function = _Function(chance, chance.choice(list(_KINDS)))
        lines += function.functions(number)
        arguments = function.arguments()
        size, stage = chance.choice(_SIZES), chance.choice((1, 2, 3, 5, 8))
        main += [
            f"    n = {size}, q = {stage};",
            "    fill();",
            f"#pragma acc data copy({names}) copyin(at)",
            f"    f{number}_acc({arguments});",
            "    keep(&x);",
            f"    fill(), f{number}_plain({arguments}), keep(&y);",
            f'    if (memcmp(&x, &y, sizeof x)) bad++, printf("f{number} differs\\n");',
        ]
    begin = "int main(void)\n{\n    static struct all x, y;\n    int bad = 0;"
    end = '    if (!bad)\n        printf("ok\\n");\n    return bad != 0;\n}'
    return "\n".join([*lines, begin, *main, end]) + "\n"
