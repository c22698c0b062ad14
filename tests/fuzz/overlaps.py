"""
Random nests whose functions are called with arrays that are apart, and with one array under several names.

Each iteration accesses elements of its own only, one to four of each array, in any order, so that loops are
independent whichever arrays are the same. The reference is the same code without directives.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

NESTS, CALLS = 6, 5
_DIRECTIVES = (
    "parallel loop",
    "parallel loop gang vector",
    "kernels loop independent",
    "parallel loop gang",
)
_MAIN = """
static void fill(double *p)
{
    for (int i = 0; i < POOL; i++)
        p[i] = 1 + (i * 37 % 101) * 0.0625;
}

static int differences(void)
{
    int wrong = 0;
    for (int i = 0; i < POOL; i++) {
        double x = device[i], y = host[i];
        wrong += !(x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * (1 + fabs(y)));
    }
    return wrong;
}
"""


@dataclass
class _Nest:
    """A nest of which each iteration has `width` elements of each array."""

    random: random.Random
    names: str
    width: int

    def place(self, inner: bool) -> str:
        if self.width == 1:
            return "i"
        if inner and self.random.random() < 0.6:
            return f"{self.width} * i + {self.random.choice(('k', f'{self.width - 1} - k'))}"
        return f"{self.width} * i + {self.random.randrange(self.width)}"

    def element(self, inner: bool) -> str:
        return f"{self.random.choice(self.names)}[{self.place(inner)}]"

    def value(self, inner: bool, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice([self.element(inner), self.element(inner), "t", "1.5"])
        left, right = self.value(inner, depth - 1), self.value(inner, depth - 1)
        return f"({left} {self.random.choice('+-*')} {right})"

    def statements(self, inner: bool = False, depth: int = 1) -> list[str]:
        found: list[str] = []
        for _ in range(self.random.randint(2, 5)):
            kind = self.random.random()
            value = f"{self.value(inner)} * 0.125"
            if kind < 0.15:
                found.append(f"t = {value};")
            elif kind < 0.3 and depth:
                some = " ".join(self.statements(inner, 0)[:2])
                found.append(f"if ({self.element(inner)} > 1.5) {{ {some} }}")
            elif kind < 0.5 and depth and self.width > 1 and not inner:
                some = " ".join(self.statements(True, 0)[:3])
                found.append(f"for (int k = 0; k < {self.width}; k++) {{ {some} }}")
            else:
                operator = self.random.choice(("=", "=", "+="))
                found.append(f"{self.element(inner)} {operator} {value};")
        return found


def make_program(seed: int) -> str:
    """The C source of the program for `seed`, which prints `ok` or the nests that differ."""
    chance = random.Random(seed)
    lines = ["#include <math.h>", "#include <stdio.h>"]
    lines.append(f"enum {{ N = {chance.choice((37, 101, 203))}, POOL = 32 * N }};")
    lines.append("static double device[POOL], host[POOL];" + _MAIN)
    main: list[str] = []
    for number in range(NESTS):
        nest = _Nest(chance, "abcd"[: chance.randint(2, 4)], chance.choice((1, 1, 2, 2, 3, 4)))
        body = nest.statements()
        counter = chance.choice(("int", "int", "long", "unsigned"))
        sections = ", ".join(f"{name}[0:{nest.width} * n]" for name in nest.names)
        clause = chance.choice(("default(present)", f"present({sections})"))
        parameters = ", ".join(f"double *{name}" for name in nest.names)
        for kind in ("acc", "plain"):
            lines.append(f"static void f{number}_{kind}({counter} n, {parameters})\n{{")
            if kind == "acc":
                lines.append(f"#pragma acc {chance.choice(_DIRECTIVES)} {clause}")
            lines.append(f"    for ({counter} i = 0; i < n; i++) {{\n        double t = 0.5;")
            lines += [f"        {statement}" for statement in body]
            lines.append("    }\n}")
        for _ in range(CALLS):
            places = [0]
            for _ in nest.names[1:]:
                places.append(chance.choice([*places, max(places) + 4, max(places) + 4]))
            chance.shuffle(places)
            device, host = (
                ", ".join(f"{pool} + {place} * N" for place in places)
                for pool in ("device", "host")
            )
            main += [
                "    fill(device), fill(host);\n#pragma acc data copy(device)",
                f"    f{number}_acc(N, {device});\n    f{number}_plain(N, {host});",
                f'    if (differences()) bad++, printf("f{number}: {places}\\n");',
            ]
    end = '    if (!bad)\n        printf("ok\\n");\n    return bad != 0;\n}'
    return "\n".join([*lines, "int main(void)\n{\n    int bad = 0;", *main, end]) + "\n"
