"""
Random nests of `kernels` and `loop auto` over pointers whose arrays overlap in part.

Nothing says that iterations are independent: elements that one iteration writes and another reads or writes
may be of the same array, or of arrays that overlap by some elements or rows, and each nest is called with
several such places. The reference is the same code without directives, so that the compiler must find out
before the launch, or keep the order. Values of integers stay small; numbers may become infinite.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

NESTS, CALLS = 6, 6
_DIRECTIVES = (
    "kernels",
    "kernels loop",
    "kernels loop auto",
    "parallel loop auto",
    "kernels loop gang vector",
    "kernels async(1)",
)
_TYPES = ("double", "double", "float", "int")
_COUNTERS = ("int", "int", "long", "unsigned", "size_t", "short")
_PLACES = (
    *("0", "1", "M", "N", "SPAN / 2", "SPAN", "2 * SPAN", "3 * SPAN", "N * M", "2 * N * M"),
    *("2", "3", "5", "7", "11"),
)
_LENGTHS = ("N", "N", "N", "0", "1", "2", "N - 1")
_START = """
enum {{ N = {n}, M = {m}, SPAN = N * M + 4 * M + 8, POOL = 6 * SPAN }};
static T device[POOL], host[POOL];

static void fill(T *p)
{{
    for (int i = 0; i < POOL; i++)
        p[i] = 1 + (i * 37 % 101) * (T)0.0625 + i % 3;
}}

static int differences(void)
{{
    int wrong = 0;
    for (int i = 0; i < POOL; i++) {{
        double x = device[i], y = host[i];
        wrong += !(x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-4 * (1 + fabs(y)));
    }}
    return wrong;
}}
"""


@dataclass
class _Nest:
    """A loop over `i`, and maybe one over `j` in it, whose statements access any elements of any array."""

    chance: random.Random
    type: str
    names: str = field(init=False)
    counter: str = field(init=False)
    two: bool = field(init=False)
    rows: str = field(init=False)
    """How the text names the length of a row: a constant or the parameter."""

    def __post_init__(self) -> None:
        self.names = "abcd"[: self.chance.randint(2, 4)]
        self.counter = self.chance.choice(_COUNTERS)
        self.two = self.chance.random() < 0.65
        self.rows = self.chance.choice(("M", "m"))
        down = self.chance.random() < 0.2
        low, step = self.chance.choice("0012"), self.chance.choice((1, 1, 1, 2, 3))
        self.last = "n - 1 - i"
        if down and self.counter in ("unsigned", "size_t"):
            self.last = "n - i"
            self.head = f"(i = n; i > {low}; i -= 1)"
        elif down:
            self.head = f"(i = n - 1; i >= {low}; i -= {step})"
        else:
            self.head = f"(i = {low}; i < n; i += {step})"

    def place(self, inner: bool) -> str:
        m = self.rows
        if inner:
            linear = (f"i * {m} + j", f"i * {m} + j", f"i * {m} + j + 1", f"(i + 1) * {m} + j")
            others = ("j * n + i", f"i * {m} + ({m} - 1 - j)", "i", "j", f"i * {m}")
            return self.chance.choice(linear + others)
        if self.chance.random() < 0.1:
            return "0"
        return self.chance.choice(("i", "i", "i", "i + 1", "i + M", f"{m} * i", "2 * i", self.last))

    def element(self, inner: bool) -> str:
        return f"{self.chance.choice(self.names)}[{self.place(inner)}]"

    def value(self, inner: bool, depth: int = 2) -> str:
        if depth == 0 or self.chance.random() < 0.3:
            return self.chance.choice([self.element(inner), self.element(inner), "(T)2", "t"])
        left, right = self.value(inner, depth - 1), self.value(inner, depth - 1)
        return f"({left} {self.chance.choice('+-+-*')} {right})"

    def stored(self, value: str, factor: str = "0.125") -> str:
        return f"{value} % 97" if self.type == "int" else f"{value} * (T){factor}"

    def statement(self, inner: bool, depth: int = 1) -> str:
        kind = self.chance.random()
        if kind < 0.2:
            return f"t = {self.stored(self.value(inner))};"
        if kind < 0.42 and depth:
            some = f"if ({self.element(inner)} > {self.chance.choice('24')}) {{ {self.statement(inner, 0)} }}"
            return some if kind < 0.35 else f"{some} else {{ {self.statement(inner, 0)} }}"
        if kind < 0.5:
            return f"{self.element(inner)} = {self.element(inner)};"
        operator = "=" if self.type == "int" else self.chance.choice(("=", "=", "+="))
        return f"{self.element(inner)} {operator} {self.stored(self.value(inner))};"

    def statements(self, inner: bool, most: int) -> list[str]:
        return [self.statement(inner) for _ in range(self.chance.randint(1, most))]

    def body(self) -> list[str]:
        if not self.two:
            return self.statements(False, 4)
        lengths = [self.rows, self.rows, f"{self.rows} - 1"]
        lengths += [] if self.counter == "short" else ["i % M"]
        counter = self.chance.choice((self.counter, "int"))
        bound = f"j < ({counter})({self.chance.choice(lengths)})"
        head = f"for ({counter} j = {self.chance.choice('001')}; {bound}; j++)"
        kind = self.chance.random()
        if kind < 0.3:
            product = f"{self.element(True)} * {self.element(True)}"
            factor = "" if self.type == "int" else " * (T)0.125"
            store = f"{self.element(False)} = {self.stored('t', '0.25')};"
            return ["t = 0;", f"{head} t += {product}{factor};", store]
        if kind < 0.45:
            search = f"{{ if ({self.element(True)} > 6) break; t += {self.element(True)}; }}"
            return [f"{head} {search}", f"{self.element(False)} = {self.stored('t', '1')};"]
        if kind < 0.55:
            greatest = f"if ({self.element(True)} > t) t = {self.element(True)};"
            return [f"{head} {greatest}", f"{self.element(False)} = t;"]
        before, after = (
            [self.statement(False)] if self.chance.random() < 0.3 else [] for _ in range(2)
        )
        return [*before, f"{head} {{", *self.statements(True, 3), "}", *after]

    def functions(self, number: int) -> list[str]:
        """The nest with a directive, and the same without."""
        directive, outside = self.chance.choice(_DIRECTIVES), self.chance.random() < 0.5
        parameters = ", ".join(f"T *{name}" for name in self.names)
        body = [f"        {statement}" for statement in self.body()]
        lines: list[str] = []
        for kind in ("acc", "plain"):
            lines.append(f"static void f{number}_{kind}({self.counter} n, int m, {parameters})\n{{")
            if outside:
                lines.append(f"    {self.counter} i;\n    T t = 1;")
            if kind == "acc":
                lines.append(f"#pragma acc {directive} default(present)")
            head = self.head if outside else self.head.replace("(i", f"({self.counter} i", 1)
            lines += [
                f"    for {head} {{",
                f"        {'' if outside else 'T '}t = 1;",
                *body,
                "    }",
            ]
            if kind == "acc" and "async" in directive:
                lines.append("#pragma acc wait")
            lines.append("}")
        return lines


def make_program(seed: int, nests: int = NESTS) -> str:
    """The C source of the program for `seed`, which prints `ok` or the nests that differ, with places."""
    chance = random.Random(seed)
    type_ = chance.choice(_TYPES)
    lines = ["#include <math.h>", "#include <stddef.h>", "#include <stdio.h>"]
    lines.append(f"typedef {type_} T;")
    lines.append(_START.format(n=chance.choice((7, 19, 33)), m=chance.choice((2, 3, 4, 5, 8, 16))))
    main: list[str] = []
    for number in range(nests):
        nest = _Nest(chance, type_)
        lines += nest.functions(number)
        for _ in range(CALLS):
            places = [chance.choice(_PLACES) for _ in nest.names]
            length = chance.choice(_LENGTHS)
            device, host = (
                ", ".join(f"{pool} + {place}" for place in places) for pool in ("device", "host")
            )
            main += [
                "    fill(device), fill(host);\n#pragma acc data copy(device)",
                f"    f{number}_acc({length}, M, {device});\n    f{number}_plain({length}, M, {host});",
                f'    if (differences()) bad++, printf("f{number}: {length} {places}\\n");',
            ]
    end = '    if (!bad)\n        printf("ok\\n");\n    return bad != 0;\n}'
    return "\n".join([*lines, "int main(void)\n{\n    int bad = 0;", *main, end]) + "\n"
