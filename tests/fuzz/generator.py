# ruff: noqa: E501 (lines of C read better whole)
"""
Random OpenACC C programs with a known serial meaning: each construct is generated twice, once without its
directives, and the program compares the results in memory.

`parallel` constructs are legal by construction. Every array is, within one construct, either only read (any
subscript) or *owned*: accessed through one subscript pattern that is injective in the parallel loop
variables around. Scalars are temporaries, reductions, or only read; memory that several iterations update
is updated atomically. `kernels` constructs and `auto` loops contain arbitrary loops, with dependences,
which the compiler must find. Integers stay small (stored values are reduced modulo 1009), so that no signed
overflow occurs; no condition depends on floating-point values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .model import HISTOGRAM, SCALARS, Construct, Loop
from .statements import Statements


class Generator(Statements):
    """Makes one program from a seed."""

    def bounds(self, extent: int) -> tuple[int, int]:
        low = self.random.randint(0, 3)
        return low, self.random.randint(low, extent - 1)

    def head(self, c: Construct, extent: int, *, parallel: bool, rectangular: bool = True) -> str:
        """A `for` head over values in 0 … extent-1; pushes the loop."""
        c.count += 1
        name = f"i{c.count}"
        low, high = self.bounds(extent)
        step = self.random.choice((1, 1, 1, 1, 2, 3))
        type_ = self.random.choice(("int", "int", "int", "long", "unsigned", "size_t", "short"))
        signed = type_ in ("int", "long", "short")
        declare = f"{type_} {name}"
        if self.chance(0.4):
            c.declared.append(f"{type_} {name};")
            declare = name
        inner = c.loops[-1] if c.loops else None
        c.loops.append(Loop(name, low, high, parallel))
        advance = f"{name} += {step}" if step > 1 else self.pick(f"{name}++", f"++{name}")
        if inner is not None and not rectangular and inner.high < extent and self.chance(0.5):
            c.loops[-1] = Loop(name, min(inner.low, low), extent - 1, parallel)
            cast = "" if type_ == "int" else f"({type_})"
            if self.chance(0.5):
                c.loops[-1].low = inner.low
                return f"for ({declare} = {cast}{inner.name}; {name} < {extent}; {advance})"
            c.loops[-1].low, c.loops[-1].high = 0, inner.high
            return f"for ({declare} = 0; {name} <= {cast}{inner.name}; {advance})"
        shape = self.random.randrange(5)
        if shape == 0 and signed:
            retreat = f"{name} -= {step}" if step > 1 else f"{name}--"
            return f"for ({declare} = {high}; {name} >= {low}; {retreat})"
        if shape == 1:
            return f"for ({declare} = {low}; {name} <= {high}; {advance})"
        if shape == 2 and step == 1:
            return f"for ({declare} = {low}; {name} != {high + 1}; {advance})"
        if shape == 3 and signed:
            return f"for ({declare} = {low}; {high + 1} > {name}; {advance})"
        limit = (
            f"n - {self.extents[0] - high - 1}" if signed and self.chance(0.4) else str(high + 1)
        )
        return f"for ({declare} = {low}; {name} < {limit}; {advance})"

    def sequential_loop(self, c: Construct, depth: int) -> None:
        if len(c.loops) >= 4:
            return
        before = list(c.temporaries)
        extent = self.random.choice((self.extents[3], self.extents[1], self.extents[2]))
        head = self.head(c, extent, parallel=False, rectangular=False)
        with c.block(head):
            if self.chance(0.15):
                c.add(f"if {self.condition(c)} {self.pick('break', 'continue')};")
            for _ in range(self.random.randint(1, 2)):
                self.statement(c, depth - 1)
        c.loops.pop()
        c.temporaries = list(before)

    def body(self, c: Construct) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(c, 2)

    def parallel(self, c: Construct) -> str:
        """A nest of partitioned loops; returns the construct's directive."""
        shape = self.random.choice(("1", "1", "2", "2", "2c", "3", "3c", "2t", "1+1", "r+r"))
        clauses: list[str] = []
        c.reduction = self.reduction() if self.chance(0.4) else None
        reduction = f" reduction({c.reduction})" if c.reduction else ""
        levels = {
            "1": [self.pick("", "gang", "gang vector", "gang worker vector", "vector", "worker")],
            "2": [self.pick("", "gang", "gang worker"), self.pick("", "vector")],
            "3": [self.pick("", "gang"), self.pick("", "worker"), self.pick("", "vector")],
            "1+1": ["gang", self.pick("vector", "worker vector", "worker", "")],
            "r+r": ["gang", self.pick("vector", "worker vector")],
        }
        if shape in levels:
            names = levels[shape]
            with self.nest(c, names[0], self.extents[len(names) > 1], reduction, first=True):
                if len(names) == 1:
                    self.body(c)
                elif shape == "r+r":
                    self.inner_reduction(c, names[1])
                else:
                    if self.chance(0.4):
                        self.statement(c, 1)
                    with self.nest(c, names[1], self.extents[2], reduction):
                        if len(names) == 3:
                            with self.nest(c, names[2], self.extents[2], reduction):
                                self.body(c)
                        else:
                            self.body(c)
                    if shape == "1+1":
                        with self.nest(c, names[1], self.extents[2], reduction):
                            self.body(c)
        else:
            depth = int(shape[0])
            word = f"tile({', '.join(self.pick('2', '3', '4', '*') for _ in range(depth))})"
            clause = word if shape[1] == "t" else f"collapse({depth})"
            extents = (
                (self.extents[1], self.extents[2])
                if depth == 2
                else (self.extents[3], self.extents[1], self.extents[2])
            )
            clauses.append(clause)
            heads = [self.head(c, e, parallel=True) for e in extents]
            for head in heads:
                c.add(head)
            with c.block(""):
                self.body(c)
            del c.loops[-depth:]
            clauses.append(self.pick("", "gang", "gang vector", "gang worker vector"))
            if shape[1] == "t":
                clauses[-1] = self.pick("", "gang")
        outer = levels[shape][0] if shape in levels else ""
        return self.directive(c, "parallel loop", [*clauses, outer], reduction)

    @contextmanager
    def nest(
        self, c: Construct, levels: str, extent: int, reduction: str, *, first: bool = False
    ) -> Iterator[None]:
        head = self.head(c, extent, parallel=True, rectangular=first or self.chance(0.6))
        if not first:
            c.add(f"#pragma acc loop {levels}{reduction}".rstrip())
        before = list(c.temporaries)
        with c.block(head):
            yield
        c.temporaries = list(before)
        c.loops.pop()

    def inner_reduction(self, c: Construct, levels: str) -> None:
        """A sum over an inner loop that the outer iteration then uses."""
        c.count += 1
        name = f"sum{c.count}"
        c.add(f"int {name} = {self.random.randint(0, 9)};")
        outer, c.reduction = c.reduction, None
        c.add(f"#pragma acc loop {levels} reduction(+:{name})")
        head = self.head(c, self.extents[2], parallel=True, rectangular=self.chance(0.5))
        before = list(c.temporaries)
        with c.block(head):
            if self.chance(0.5):
                self.statement(c, 1)
            c.add(f"{name} += ({self.integer(c)}) % 1009;")
        c.temporaries = [*before, name]
        c.loops.pop()
        c.reduction = outer
        c.add(f"{name} %= 1009;")
        self.statement(c, 1)
        self.assignment(c)

    def reduction(self) -> str:
        name = self.random.choice(list(SCALARS))
        operators = {
            "s0": ("+", "max", "min", "&&", "||", "|", "&", "^"),
            "s1": ("+", "max", "min", "^"),
            "s2": ("+", "*", "|", "&", "^"),
            "s3": ("+", "max", "min"),
        }
        return f"{self.random.choice(operators[name])}:{name}"

    def directive(self, c: Construct, kind: str, clauses: list[str], reduction: str) -> str:
        words = [kind, *clauses, reduction.strip()]
        # What is not shared among gangs, all gangs that the user asks for do redundantly.
        shared = "auto" not in kind and not any(w in ("vector", "worker") for w in clauses)
        if self.chance(0.25) and shared:
            words.append(f"num_gangs({self.random.randint(1, 7)})")
        if self.chance(0.2):
            words.append(f"num_workers({self.random.choice((1, 2, 4))})")
        if self.chance(0.25):
            words.append(f"vector_length({self.random.choice((1, 32, 64, 128))})")
        if self.chance(0.1) and not c.in_data:
            words.append(f"if(n > {self.random.choice((5, 500))})")
        words += self.data_clauses(c)
        if self.chance(0.2):
            words.append("async(2)")
        return "#pragma acc " + " ".join(word for word in words if word)

    def data_clauses(self, c: Construct) -> list[str]:
        text = "\n".join(c.lines)
        words: list[str] = []
        for array in (*self.arrays, HISTOGRAM):
            if f"{array.name}[" not in text:
                continue
            written = c.free or c.serial or array.name in c.owned or array is HISTOGRAM
            if array.heap or self.chance(0.4):
                words.append(
                    f"{'copy' if written else self.pick('copy', 'copyin')}({array.section})"
                )
        return words

    # Whole constructs

    def function(self, index: int) -> tuple[str, str]:
        """The function with directives, and without."""
        c = Construct(in_data=self.chance(0.25))
        kind = self.random.randrange(10)
        if kind <= 5:
            first = self.parallel(c)
        elif kind <= 7:
            c.free = True
            for _ in range(self.random.randint(1, 3)):
                self.free_loop(c)
            first = self.directive(c, "kernels", [], "")
        elif kind == 8:
            c.free = True
            head = self.head(
                c, self.extents[0] if self.chance(0.5) else self.extents[2], parallel=False
            )
            with c.block(head):
                self.body(c)
            c.loops.pop()
            first = self.directive(c, "parallel loop auto", [], "")
        else:
            c.serial = True
            head = self.head(c, self.extents[2], parallel=False)
            with c.block(head):
                self.body(c)
            c.loops.pop()
            words = ["serial", *self.data_clauses(c)]
            first = "#pragma acc " + " ".join(words)
        body = c.lines
        if not first.startswith("#pragma acc parallel loop") and not first.startswith(
            "#pragma acc serial loop"
        ):
            body = ["    {", *body, "    }"]
        used = [a for a in (*self.arrays, HISTOGRAM) if f"{a.name}[" in "\n".join(c.lines)]
        wrapped = [first, *body]
        if c.in_data and used:
            names = ", ".join(a.section for a in used)
            wrapped = [f"#pragma acc data copy({names})", "    {", *wrapped]
            wrapped += ["#pragma acc wait", "    }"]
        wrapped.append("#pragma acc wait")
        parameters = "(int n, int *p, double *q)"
        text = "\n".join(
            [
                f"static void f{index}{parameters}",
                "{",
                *(f"    {d}" for d in c.declared),
                *wrapped,
                "}",
            ]
        )
        serial = "\n".join(line for line in text.splitlines() if not line.startswith("#pragma"))
        return text, serial.replace(f"f{index}(", f"g{index}(", 1)

    def free_loop(self, c: Construct) -> None:
        head = self.head(
            c, self.extents[0] if self.chance(0.5) else self.extents[1], parallel=False
        )
        with c.block(head):
            if self.chance(0.4) and c.loops[-1].high < self.extents[2]:
                inner = self.head(c, self.extents[2], parallel=False, rectangular=False)
                with c.block(inner):
                    self.body(c)
                c.loops.pop()
            else:
                self.body(c)
        c.temporaries = []
        c.loops.pop()

    def program(self) -> str:
        """The whole program; it prints `ok`, or every place that differs, and exits with 0 or 1."""
        parts = [
            "#include <math.h>",
            "#include <stdio.h>",
            "#include <stdlib.h>",
            "#include <string.h>",
        ]
        everything = [*self.arrays, HISTOGRAM]
        for array in everything:
            extents = "".join(f"[{e}]" for e in array.shape)
            if array.heap:
                parts.append(f"static {array.type} saved_{array.name}[{array.shape[0]}];")
            else:
                parts.append(
                    f"static {array.type} {array.name}{extents}, saved_{array.name}{extents};"
                )
        parts += [f"static {t} {name}, saved_{name};" for name, t in SCALARS.items()]
        for index in range(self.constructs):
            parts += self.function(index)
        parts.append("static void init(int *p, double *q)\n{\n    int i;")
        for number, array in enumerate(everything):
            total = 1
            for extent in array.shape:
                total *= extent
            place = array.name if len(array.shape) == 1 else f"(({array.type} *){array.name})"
            value = f"(i * {7 + number} + {number}) % {31 + number}"
            if array.floating:
                value = f"({value}) * 0.125"
            parts.append(f"    for (i = 0; i < {total}; i++)\n        {place}[i] = {value};")
        parts.append("    s0 = 1, s1 = 4, s2 = 5, s3 = 0.5;\n}")
        parts.append("static void save(int *p, double *q)\n{")
        for array in everything:
            size = f"sizeof saved_{array.name}"
            parts.append(f"    memcpy(saved_{array.name}, {array.name}, {size});")
        parts += [f"    saved_{name} = {name};" for name in SCALARS]
        parts.append("}")
        parts.append("static int compare(int f, int *p, double *q)\n{\n    int i, wrong = 0;")
        for array in everything:
            total = 1
            for extent in array.shape:
                total *= extent
            one, other = (
                f"(({array.type} *){array.name})[i]",
                f"(({array.type} *)saved_{array.name})[i]",
            )
            parts.append(f"    for (i = 0; i < {total}; i++)")
            parts += self.comparison(one, other, f"{array.name}[%d]", "i, ", array.floating)
        for name, type_ in SCALARS.items():
            parts += self.comparison(name, f"saved_{name}", f"{name}", "", type_ == "double")
        parts.append("    return wrong;\n}")
        parts.append(
            f"int main(void)\n{{\n    int wrong = 0, *p = malloc({self.extents[0]} * sizeof(int));"
        )
        parts.append(f"    double *q = malloc({self.extents[0]} * sizeof(double));")
        for index in range(self.constructs):
            parts.append(
                f"    init(p, q);\n    g{index}({self.extents[0]}, p, q);\n    save(p, q);\n    init(p, q);\n"
                f"    f{index}({self.extents[0]}, p, q);\n    wrong += compare({index}, p, q);"
            )
        parts.append("    free(p);\n    free(q);")
        parts.append('    if (!wrong)\n        printf("ok\\n");\n    return wrong != 0;\n}')
        return "\n".join(parts) + "\n"

    @staticmethod
    def comparison(one: str, other: str, name: str, index: str, floating: bool) -> list[str]:
        differ = f"{one} != {other}"
        if floating:
            differ = f"!(fabs({one} - {other}) <= 1e-4 * (1 + fabs({other})))"
        return [
            f"        if ({differ} && wrong++ < 4)",
            f'            printf("f%d: {name} is %.9g, not %.9g\\n", f, {index}(double){one}, (double){other});',
        ]


def make_program(seed: int, constructs: int = 6) -> str:
    """The text of the program of a seed."""
    return Generator(seed, constructs).program()
