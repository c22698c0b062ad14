# ruff: noqa: E501 (lines of C read better whole)
"""
Random serial C programs without undefined behaviour: integers of every width, bit-fields, structs by value
and by pointer, every operator and every statement. They print their results, which are compared with those
of gcc.

Arithmetic that could overflow is done in unsigned types; divisors are odd constants; shift counts are
masked; loops count up to constants.
"""

from __future__ import annotations

import random

TYPES = (
    "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long",
    "unsigned long", "long long", "_Bool", "float", "double",
)  # fmt: skip
FIELDS = (("int", 5), ("unsigned", 3), ("unsigned", 17), ("int", 12), ("unsigned", 32), ("int", 1))


class SerialGenerator:
    """Makes one program from a seed."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.variables: list[tuple[str, str]] = []
        self.functions: list[tuple[str, str, int]] = []
        self.in_function = True
        """Functions write only what is their own: C leaves open which operand of an expression is first."""
        self.lines: list[str] = []
        self.indent = 1
        self.count = 0
        self.in_loop = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def constant(self) -> str:
        return self.pick(
            "0", "1", "-1", "7", "100", "255", "-128", "32767", "65536", "2147483647", "-2147483647",
            "4000000000u", "123456789012l", "0x8000000000000000ul", "'a'", "1.5", "-0.25f", "3e5",
            str(self.random.randint(-1000, 1000)),
        )  # fmt: skip

    def leaf(self) -> str:
        kind = self.random.randrange(8)
        if kind <= 4 and self.variables:
            return self.random.choice(self.variables)[0]
        if kind == 5:
            return self.pick(
                "r.a", "r.b", "r.c", "r.d", "r.e", "r.f", "pr->x", "pr->y", "pr->in.k[1]"
            )
        if kind == 6:
            return f"table[{self.wrapped(1)} & 7]"
        return self.constant()

    def wrapped(self, depth: int) -> str:
        """An unsigned long, whatever its parts are."""
        return f"(unsigned long)(long){self.bounded(depth)}"

    def bounded(self, depth: int) -> str:
        """A value that fits in a long also if it was a double."""
        return f"clip({self.expression(depth)})"

    def expression(self, depth: int) -> str:
        if depth <= 0:
            return self.leaf()
        kind = self.random.randrange(13)
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        match kind:
            case 0 | 1:
                return f"({self.wrapped(depth - 1)} {self.pick('+', '-', '*')} {self.wrapped(depth - 1)})"
            case 2:
                return f"((int)({self.wrapped(depth - 1)} {self.pick('/', '%')} {self.random.choice((3, 7, 11, 255))}u))"
            case 3:
                return f"((short){self.bounded(depth - 1)} {self.pick('/', '%')} {self.random.choice((-3, 5, 9))})"
            case 4:
                return f"({self.wrapped(depth - 1)} {self.pick('&', '|', '^')} {self.bounded(depth - 1)})"
            case 5:
                return f"({self.wrapped(depth - 1)} << ({self.wrapped(0)} & 31))"
            case 6:
                return f"((int){self.bounded(depth - 1)} >> ({self.wrapped(0)} & 15))"
            case 7:
                return f"({left} {self.pick('<', '>', '<=', '>=', '==', '!=')} {right})"
            case 8:
                return f"({left} {self.pick('&&', '||')} {right})"
            case 9:
                return f"({left} ? {right} : {self.expression(depth - 1)})"
            case 10:
                return f"{self.pick('!', '~', '-', '+')}({'unsigned' if self.random.random() < 0.5 else 'unsigned char'})({self.wrapped(depth - 1)})"
            case 11:
                type_ = self.random.choice([t for t in TYPES if t not in ("float", "double")])
                return f"(({type_}){self.bounded(depth - 1)})"
            case _:
                if self.functions:
                    name, _, count = self.random.choice(self.functions)
                    arguments = ", ".join(f"(int){self.bounded(depth - 1)}" for _ in range(count))
                    return f"{name}({arguments})"
                return f"(double)({left}) * 0.5"

    def target(self) -> tuple[str, str]:
        if self.random.random() < 0.3:
            own = (("r.a", "int"), ("r.b", "int"), ("r.c", "int"), ("r.d", "int"), ("r.e", "int"))
            others = (
                ("pr->x", "short"),
                ("pr->y", "long"),
                ("pr->in.k[2]", "int"),
                ("table[3]", "int"),
            )
            return self.random.choice(own if self.in_function else (*own, *others))
        return self.random.choice(self.variables)

    def statement(self, depth: int) -> None:
        kind = self.random.randrange(12)
        name, type_ = self.target()
        floating = type_ in ("float", "double")
        if kind <= 3 or depth <= 0:
            value = self.bounded(2)
            self.add(f"{name} = {value};" if not floating else f"{name} = {value} * 0.125;")
        elif kind == 4:
            if floating:
                self.add(f"{name} {self.pick('+=', '-=')} {self.bounded(1)} % 1000;")
            else:
                self.add(f"{name} {self.pick('&=', '|=', '^=')} {self.bounded(1)};")
        elif kind == 5:
            unsigned = [v for v, t in self.variables if t.startswith("unsigned")]
            self.add(
                f"{self.random.choice(unsigned)}{self.pick('++', '--', ' += 3', ' *= 5', ' <<= 1', ' >>= 2')};"
            )
        elif kind == 6:
            self.add(f"if ({self.expression(2)}) {{")
            self.nested(depth)
            if self.random.random() < 0.5:
                self.add("} else {")
                self.nested(depth)
            self.add("}")
        elif kind == 7:
            self.count += 1
            self.add(
                f"for (int i{self.count} = 0; i{self.count} < {self.random.randint(1, 6)}; i{self.count}++) {{"
            )
            self.in_loop += 1
            self.nested(depth)
            if self.random.random() < 0.4:
                self.indent += 1
                self.add(f"if ({self.expression(1)}) {self.pick('break', 'continue')};")
                self.indent -= 1
                self.nested(depth)
            self.in_loop -= 1
            self.add("}")
        elif kind == 8:
            self.add(f"switch ((int){self.bounded(1)} & 7) {{")
            for label in self.random.sample(range(8), self.random.randint(1, 5)):
                self.add(f"case {label}:")
                self.nested(depth)
                if self.random.random() < 0.6:
                    self.indent += 1
                    self.add("break;")
                    self.indent -= 1
            if self.random.random() < 0.6:
                self.add("default:")
                self.nested(depth)
            self.add("}")
        elif kind == 9:
            self.count += 1
            counter = f"n{self.count}"
            self.add("{")
            self.indent += 1
            self.add(f"int {counter} = {self.random.randint(1, 5)};")
            if self.random.random() < 0.5:
                self.add(f"while ({counter}-- > 0) {{")
                self.nested(depth)
                self.add("}")
            else:
                self.add("do {")
                self.nested(depth)
                self.add(f"}} while (--{counter} > 0);")
            self.indent -= 1
            self.add("}")
        elif kind == 10:
            self.add(f"r = change(r, (int){self.bounded(1)});")
        elif self.in_function:
            self.add("u++;")
        else:
            self.add(
                self.pick(
                    "*pr = other;", "other = *pr;", "pr = pr == &other ? &one : &other;", "steps++;"
                )
            )

    def nested(self, depth: int) -> None:
        self.indent += 1
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth - 1)
        self.indent -= 1

    def program(self) -> str:
        """The text; deterministic for the seed."""
        fields = "\n".join(
            f"    {t} {name} : {width};" for (t, width), name in zip(FIELDS, "abcdef", strict=True)
        )
        out = [
            "#include <stdio.h>",
            "struct inner { char c; int k[3]; };",
            f"struct record {{\n{fields}\n    double tail;\n}};",
            "struct plain { short x; long y; struct inner in; float z; };",
            "static int table[8] = {3, -1, 4, 1, -5, 9, 2, 6}, steps;",
            "static struct plain one = {1, 2, {'x', {3, 4, 5}}, 0.5f}, other = {.y = -9, .in.k[1] = 8};",
            "static struct plain *pr = &one;",
            "static long clip(double v)\n{\n    return v != v ? 0 : v > 1e9 ? 1000000000 : v < -1e9 ? -1000000000 : (long)v;\n}",
            "static struct record change(struct record r, int by)\n{\n    r.a = by & 7;\n"
            "    r.b ^= by;\n    r.tail = r.tail * 0.5 + (by & 15);\n    return r;\n}",
        ]
        for number in range(3):
            self.lines, self.variables, parameters = [], [], self.random.randint(1, 3)
            self.variables = [(f"p{k}", "int") for k in range(parameters)] + [("u", "unsigned")]
            self.add("unsigned u = 1;")
            self.add("struct record r = {1, 2, 3, 4, 5, 0, 0.25};")
            for _ in range(3):
                self.statement(1)
            self.add(f"return (int){self.bounded(2)} + (int)(u & 255) + r.a + r.c;")
            head = ", ".join(f"int p{k}" for k in range(parameters))
            out += [f"static int f{number}({head})\n{{", *self.lines, "}"]
            self.functions.append((f"f{number}", "int", parameters))
        self.lines, self.in_function = [], False
        self.variables = [(f"v{k}", t) for k, t in enumerate(TYPES)]
        for name, t in self.variables:
            self.add(f"{t} {name} = {self.random.randint(0, 100)};")
        self.add("struct record r = {-3, 5, 1000, -77, 99, 0, 1.5};")
        for _ in range(14):
            self.statement(3)
        for name, t in self.variables:
            if t in ("float", "double"):
                self.add(f'printf("{name} %.6g\\n", (double){name});')
            else:
                self.add(f'printf("{name} %llx\\n", (unsigned long long){name});')
        self.add('printf("%d %u %u %d %u %d %g\\n", r.a, r.b, r.c, r.d, r.e, r.f, r.tail);')
        self.add(
            'printf("%d %ld %d %d %g %d %d\\n", pr->x, pr->y, pr->in.k[1], other.in.k[2], one.z, table[3], steps);'
        )
        return "\n".join([*out, "int main(void)\n{", *self.lines, "    return 0;\n}"]) + "\n"


def make_serial_program(seed: int) -> str:
    """The text of the serial program of a seed."""
    return SerialGenerator(seed).program()
