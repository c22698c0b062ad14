"""
Random loops whose iterations depend on each other in parts, as around several sums: products as rows that are
added to a result, sums over an outer loop, statements that need what others have stored.

In kernels constructs and `loop auto`, a loop accesses any elements of any array, and the compiler must find
out what may be divided, turned or run in parallel. In `parallel loop`, an iteration stores to rows of its
own, and its inner loops are sequential. Some functions have the arrays as parameters; they are called with
arrays that do not overlap, and with some that do, in memory that is on the device. The reference is the same
code without directives; all values are integers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

LOOPS = 4
_LENGTH = 20
_VECTORS = ("t", "u", "v", "w")
_MATRICES = ("a", "b", "g")
_SIZES = ((9, 7, 5), (6, 6, 6), (13, 4, 3), (5, 11, 4))
"""`N`, `M` and `L` of programs, below the arrays' length `S` by more than the subscripts' distances."""
_HEADS = (
    *("for (int i = 0; i < N; i++)",) * 3,
    "for (int i = 1; i < N - 1; i += 2)",
    "for (int i = N - 1; i >= 0; i--)",
)
_OPEN = ("kernels", "kernels", "kernels loop", "parallel loop auto")
_FORMS = ("fixed", "variable", "flat", "flat", "flat of n")
"""How parameters are declared: matrices with rows of constant or variable length, or as one row."""
_CLAUSES = ("", "", "present({sections})", "present({sections})", "copy({sections})")
_START = """\
#include <stdio.h>
#include <string.h>

enum {{ N = {n}, M = {m}, L = {l}, S = {length} }};
struct all {{ int {arrays}; }};
static int r[S];
static int {arrays};
enum {{ POOL = {pool} }};
static int pool[POOL];
"""


@dataclass
class _Loop:
    """
    A loop over `i`. `own`: iterations store to rows `i` of matrices only, and read no other rows. `form`: how
    the arrays are declared, if they are parameters.
    """

    chance: random.Random
    own: bool
    form: str = ""

    def matrix(self, name: str, row: str, column: str) -> str:
        if self.form.startswith("flat"):
            length = "n" if self.form == "flat of n" else "S"
            return f"{name}[({row}) * {length} + {column}]"
        return f"{name}[{row}][{column}]"

    def subscript(self, variable: str) -> str:
        near = (variable, variable, variable, f"{variable} + 1", f"{variable} + 2")
        return self.chance.choice((*near, f"(S - 1 - {variable})"))

    def element(self, variables: Sequence[str]) -> str:
        choice = self.chance.choice
        if self.own:
            return self.matrix(choice(_MATRICES), "i", self.subscript(choice(variables)))
        if len(variables) < 2 or self.chance.random() < 0.55:
            return f"{choice(_VECTORS)}[{self.subscript(choice(variables))}]"
        pair = ("i", "j") if self.chance.random() < 0.5 else self.chance.sample(list(variables), 2)
        rows, columns = map(self.subscript, pair)
        return self.matrix(choice(_MATRICES), rows, columns)

    def read(self, variables: Sequence[str]) -> str:
        if self.own and self.chance.random() < 0.4:
            return (
                f"{self.chance.choice(_VECTORS)}[{self.subscript(self.chance.choice(variables))}]"
            )
        return self.element(variables)

    def value(self, variables: Sequence[str], depth: int = 2) -> str:
        if depth == 0 or self.chance.random() < 0.35:
            known = (f"r[{self.chance.choice(variables)}]", "2")
            return self.chance.choice((self.read(variables), self.read(variables), *known))
        left, right = (self.value(variables, depth - 1) for _ in range(2))
        return f"({left} {self.chance.choice('+-+*')} {right})"

    def statement(self, variables: Sequence[str]) -> str:
        condition = ""
        if self.chance.random() < 0.15:
            condition = f"if (r[{self.chance.choice(variables)}] > {self.chance.choice('012')}) "
        operator, depth = self.chance.choice((("+=", 1), ("=", 2)))
        return (
            f"{condition}{self.element(variables)} {operator} {self.value(variables, depth)} % 97;"
        )

    def body(self) -> list[str]:
        lines: list[str] = []
        kept: list[str] = []
        for _ in range(self.chance.randint(1, 4)):
            kind = self.chance.random()
            if kind < 0.3:
                lines.append(self.statement("i"))
            elif kind < 0.45:
                kept.append(f"q{len(kept)}")
                lines.append(f"const int {kept[-1]} = {self.read('i')};")
                lines.append(f"{self.element('i')} = {kept[-1]} + {self.value('i', 1)} % 97;")
            elif kind < 0.8:
                inner = [self.statement("ij") for _ in range(self.chance.choice((1, 1, 1, 2, 3)))]
                if kept and self.chance.random() < 0.4:
                    inner.append(f"{self.element('ij')} += {self.chance.choice(kept)} + r[j];")
                low = self.chance.choice("0001")
                high = self.chance.choice(("M", "M", "M", "N", "M - 1", "i % M"))
                lines.append(f"for (int j = {low}; j < {high}; j++) {{ {' '.join(inner)} }}")
            else:
                heads = ["for (int k = 0; k < L; k++)", "for (int j = 0; j < M; j++)"]
                self.chance.shuffle(heads)
                lines.append(f"{' '.join(heads)} {self.statement('ijk')}")
        return lines

    def functions(self, number: int) -> list[str]:
        """The loop with a directive, and the same without."""
        directive = "parallel loop" if self.own else self.chance.choice(_OPEN)
        copied = ", ".join((*_VECTORS, *_MATRICES))
        clauses = f"copy({copied}) copyin(r)"
        if self.form:
            length = "n * n" if self.form == "flat of n" else "S * S"
            rows = f"0:{length}" if self.form.startswith("flat") else "0:S"
            sections = [f"{x}[0:S]" for x in _VECTORS] + [f"{x}[{rows}]" for x in _MATRICES]
            if not self.form.startswith("flat"):
                sections = [x + "[0:S]" if x[0] in _MATRICES else x for x in sections]
            clauses = self.chance.choice(_CLAUSES).format(sections=", ".join(sections))
        head = self.chance.choice(_HEADS)
        loop = [f"    {head} {{", *(f"        {line}" for line in self.body()), "    }", "}"]
        return [
            *(
                f"static void f{number}_acc({self.parameters()})\n{{",
                f"#pragma acc {directive} {clauses}",
            ),
            *loop,
            *(f"static void f{number}_plain({self.parameters()})\n{{", *loop),
        ]

    def parameters(self) -> str:
        matrix = {"": "", "fixed": "int (*{})[S]", "variable": "int {}[n][n]"}.get(
            self.form, "int *{}"
        )
        names = [*(f"int *{x}" for x in _VECTORS), *(matrix.format(x) for x in _MATRICES)]
        return ", ".join(("int n", *names)) if self.form else "void"

    def arguments(self, *, apart: bool) -> str:
        """Places in the pool, some of which overlap others unless they must be `apart`."""
        names, sizes = (*_VECTORS, *_MATRICES), [_LENGTH] * 4 + [_LENGTH**2] * 3
        places = {x: sum(sizes[:k]) for k, x in enumerate(names)}
        for _ in range(0 if apart else self.chance.choice((1, 1, 2))):
            one, other = self.chance.sample(names, 2)
            half = sizes[names.index(one)] // 2
            places[other] = max(0, places[one] + self.chance.choice((0, 0, 1, -1, half)))
        pointers = [f"pool + {place}" for place in places.values()]
        if not self.form.startswith("flat"):
            pointers[4:] = [f"(int (*)[S])({pointer})" for pointer in pointers[4:]]
        return ", ".join(("S", *pointers))


def _whole() -> list[str]:
    """Functions that set the arrays, and keep what they have become."""
    names = (*_VECTORS, *_MATRICES)
    lines = ["static void fill(void)\n{", "    for (int i = 0; i < S; i++) {"]
    lines.append("        r[i] = i * 3 % 5;")
    lines += [f"        {name}[i] = (i * {7 + k}) % 11;" for k, name in enumerate(_VECTORS)]
    lines.append("        for (int j = 0; j < S; j++) {")
    lines += [
        f"            {n}[i][j] = (i * {3 + k} + j * 5) % 13;" for k, n in enumerate(_MATRICES)
    ]
    lines += ["        }", "    }", "}", "static void keep(struct all *x)\n{"]
    lines += [f"    memcpy(x->{name}, {name}, sizeof {name});" for name in names]
    refill = "for (int i = 0; i < POOL; i++) pool[i] = i * 7 % 13;"
    return [*lines, "}", f"static void refill(void)\n{{\n    {refill}\n}}"]


def _calls(loop: _Loop, number: int) -> list[str]:
    """Calls of both functions, and the comparison of what they have made."""
    if not loop.form:
        return [
            f"    fill(), f{number}_acc(), keep(&x);",
            f"    fill(), f{number}_plain(), keep(&y);",
            f'    if (memcmp(&x, &y, sizeof x)) bad++, printf("f{number} differs\\n");',
        ]
    lines: list[str] = []
    for apart in (True, False, False):
        given = loop.arguments(apart=apart)
        how = "apart" if apart else given.replace("(int (*)[S])", "")
        lines += [
            *("    refill();", "    #pragma acc data copy(pool) copyin(r)"),
            f"    f{number}_acc({given});",
            f"    memcpy(kept, pool, sizeof pool), refill(), f{number}_plain({given});",
            "    if (memcmp(kept, pool, sizeof pool))",
            f'        bad++, printf("f{number} differs: {how}\\n");',
        ]
    return lines


def make_program(seed: int, loops: int = LOOPS) -> str:
    """The C source of the program for `seed`, which prints `ok` or the loops that differ."""
    chance = random.Random(seed)
    n, m, l = chance.choice(_SIZES)  # noqa: E741
    arrays = ", ".join((*(f"{x}[S]" for x in _VECTORS), *(f"{x}[S][S]" for x in _MATRICES)))
    pool = 4 * _LENGTH + 5 * _LENGTH**2
    lines = [_START.format(n=n, m=m, l=l, arrays=arrays, pool=pool, length=_LENGTH), *_whole()]
    main: list[str] = []
    for number in range(loops):
        own = chance.random() < 0.35
        form = "" if own or chance.random() < 0.4 else chance.choice(_FORMS)
        loop = _Loop(chance, own, form)
        lines += loop.functions(number)
        main += _calls(loop, number)
    begin = "int main(void)\n{\n    static struct all x, y;\n    static int kept[POOL];\n    int bad = 0;"
    end = '    if (!bad)\n        printf("ok\\n");\n    return bad != 0;\n}'
    return "\n".join([*lines, begin, *main, end]) + "\n"
