"""
Random nests of the kinds that passes transform as a whole: products of small matrices, sums in order,
products and loops under triangular conditions, arrays of counters, extremes with their positions, private
arrays, checkerboards, records, recurrences along columns, and stencils.

Each kind is written in many ways: directives on some or all loops, `kernels` and `parallel`, counters of any
type declared in the loop or before it, arrays as C arrays, pointers to rows, linear pointers, or pointers
that move. gcc, which ignores the directives, prints the result. Numbers are small integers where the order of
additions is free, and fractions where it is the program's.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

SIZES = (0, 1, 5, 41)
"""What each nest is called with: the number of rows, matrices or points along a side."""
COUNTERS = ("int", "int", "long", "unsigned", "size_t")
NUMBERS = ("int", "float", "double")
FORMS = ("array", "rows", "linear", "parts", "vla", "moved")
"""How the text names an element; `moved`: from a pointer to the part of the outermost subscript."""
CONSTRUCTS = (
    "parallel loop",
    "parallel loop",
    "parallel loop gang",
    "parallel loop gang vector",
    "parallel loop gang vector_length(64)",
    "kernels loop independent",
    "kernels",
)


@dataclass
class Array:
    """An array of a nest: its extents (the first may be `n`), and how the text names its elements."""

    name: str
    type: str
    extents: tuple[str, ...]
    form: str
    written: bool = False

    @property
    def elements(self) -> str:
        return " * ".join(self.extents)

    @property
    def parameter(self) -> str:
        inner = "".join(f"[{e}]" for e in self.extents[1:])
        match self.form:
            case "array":
                return ""
            case "rows":
                return (
                    f"{self.type} (*{self.name}){inner}" if inner else f"{self.type} *{self.name}"
                )
            case "vla":
                return f"{self.type} {self.name}[{self.extents[0]}]{inner}"
            case _:
                return f"{self.type} *{self.name}"

    @property
    def section(self) -> str:
        if self.form == "array":
            return self.name
        extent = self.elements if self.form in ("linear", "parts", "moved") else self.extents[0]
        return f"{self.name}[0:{extent}]"

    def at(self, *subscripts: str) -> str:
        """The element with these subscripts."""
        if self.form in ("array", "rows", "vla"):
            return self.name + "".join(f"[{s}]" for s in subscripts)
        first = 1 if self.form == "moved" else 0
        name = f"{self.name}_" if self.form == "moved" else self.name
        if self.form == "parts":
            terms = [
                " * ".join([f"({s})", *self.extents[place + 1 :]])
                for place, s in enumerate(subscripts)
            ]
            return f"{name}[{' + '.join(terms)}]"
        linear = f"({subscripts[first]})" if len(subscripts) > first else "0"
        for s, extent in zip(subscripts[first + 1 :], self.extents[first + 1 :], strict=True):
            linear = f"({linear} * {extent} + {s})"
        return f"{name}[{linear}]"


@dataclass
class Nest:
    """The text of a nest that is being written."""

    r: random.Random
    number: int
    type: str = "double"
    arrays: list[Array] = field(default_factory=list[Array])
    early: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.counter = self.r.choice(COUNTERS)
        self.declared = self.r.random() < 0.3
        self.construct = self.r.choice(CONSTRUCTS)
        self.inner = self.r.choice(("", "", "all", "next"))
        self.explicit = self.r.random() < 0.6
        self.restrict = self.r.random() < 0.5

    def array(self, name: str, *extents: int | str, type: str = "", written: bool = False) -> Array:
        form = self.r.choice(FORMS)
        if form == "moved" and len(extents) < 2:
            form = "linear"
        found = Array(
            f"{name}{self.number}", type or self.type, tuple(map(str, extents)), form, written
        )
        self.arrays.append(found)
        return found

    def loop(self, variable: str, low: str, high: str, step: int = 1) -> str:
        """The head of a loop; it sometimes counts down."""
        name = f"{variable}"
        kind = "" if self.declared else f"{self.counter} "
        if self.declared:
            self.early.append(f"{self.counter} {name};")
        change = f"{name}++" if step == 1 else f"{name} += {step}"
        if step == 1 and self.counter in ("int", "long") and self.r.random() < 0.1:
            return f"for ({kind}{name} = {high} - 1; {name} >= {low}; {name}--) {{"
        end = self.r.choice(("<", "<", "<=")) if high.isdigit() and self.counter != "x" else "<"
        high = str(int(high) - 1) if end == "<=" else high
        return f"for ({kind}{name} = {low}; {name} {end} {high}; {change}) {{"

    def inner_directive(self, depth: int, clauses: str = "") -> list[str]:
        """The directive of a parallel loop inside of others, or none."""
        if not self.inner or (self.inner == "next" and depth > 1):
            return []
        own = " independent" if "kernels" in self.construct else ""
        lanes = " vector" if self.construct.endswith("gang") and depth == 1 else ""
        return [f"#pragma acc loop{own}{lanes}{clauses}"]

    def outer(self, variable: str, high: str, clauses: str = "") -> list[str]:
        """The construct and its outermost loop, with the pointers that move with it."""
        data = ""
        if self.explicit:
            kinds = {True: "copy", False: "copyin"}
            data = "".join(f" {kinds[a.written]}({a.section})" for a in self.arrays)
        head = self.loop(variable, "0", high)
        if self.construct == "kernels":
            start = [f"#pragma acc kernels{data}", "{"]
            start += [f"#pragma acc loop independent{clauses}"] if clauses else []
        else:
            start = [f"#pragma acc {self.construct}{clauses}{data}"]
        moved = [a for a in self.arrays if a.form == "moved"]
        return [
            *start,
            head,
            *(
                f"{a.type} *{a.name}_ = {a.name} + {variable} * {' * '.join(a.extents[1:])};"
                for a in moved
            ),
        ]

    def close(self, loops: int) -> None:
        self.lines.append("}" * (loops + (self.construct == "kernels")))

    def text(self) -> list[str]:
        """The function, and one that fills its arrays, calls it, and prints them."""
        word = "restrict " if self.restrict else ""
        parameters = [a.parameter for a in self.arrays if a.form != "array"]
        parameters = [p.replace("*", f"*{word}", 1) if "*" in p else p for p in parameters]
        statics = [
            f"static {a.type} {a.name if a.form == 'array' else 'm_' + a.name}"
            + "".join(f"[{re.sub(r'[a-z]+', 'MOST', e)}]" for e in a.extents)
            + ";"
            for a in self.arrays
        ]
        stored = [a.name if a.form == "array" else f"m_{a.name}" for a in self.arrays]
        passed = [f"(void *)m_{a.name}" for a in self.arrays if a.form != "array"]
        return [
            *statics,
            f"static void f{self.number}({', '.join(['int n', *parameters])}) {{",
            *dict.fromkeys(self.early),
            *self.lines,
            "}",
            f"static void run{self.number}(int n) {{",
            *(
                f"fill_{_fill(a.type)}((void *){s}, sizeof {s} / {_bytes(a.type)}, {7 + k});"
                for k, (a, s) in enumerate(zip(self.arrays, stored, strict=True))
            ),
            f"f{self.number}({', '.join(['n', *passed])});",
            f'printf("{self.number} %d"'
            + ' " %lx"' * len(stored)
            + ' "\\n", n'
            + "".join(f", hash((void *){s}, sizeof {s})" for s in stored)
            + "); }",
        ]


def _fill(type_: str) -> str:
    """The suffix of the function that fills arrays of a type; structures consist of floats."""
    return {"int": "i", "double": "d"}.get(type_, "f")


def _bytes(type_: str) -> int:
    return 8 if type_ == "double" else 4


def _sides(r: random.Random, count: int) -> list[int]:
    return [r.randint(2, 8) for _ in range(count)]


def small_products(nest: Nest) -> None:
    """Products of many small matrices, with the rows and columns of the result in any order."""
    r = nest.r
    nest.type = r.choice(NUMBERS)
    rows, columns, terms = _sides(r, 3)
    across = r.random() < 0.3
    a = nest.array("a", "n", rows, terms)
    b = (
        nest.array("b", "n", terms, columns)
        if r.random() < 0.7
        else nest.array("b", terms, columns)
    )
    c = nest.array("c", "n", *((columns, rows) if across else (rows, columns)), written=True)
    if len(b.extents) == 2 and b.form == "moved":
        b.form = "linear"
    one = [("i", rows), ("j", columns)]
    if r.random() < 0.3:
        one.reverse()
    nest.lines = nest.outer("m", "n")
    for depth, (name, extent) in enumerate(one, 1):
        nest.lines += [*nest.inner_directive(depth), nest.loop(name, "0", str(extent))]
    factor = b.at("m", "k", "j") if len(b.extents) == 3 else b.at("k", "j")
    term = f"{a.at('m', 'i', 'k')} * {factor}"
    result = c.at("m", *(("j", "i") if across else ("i", "j")))
    if r.random() < 0.6:
        nest.lines += [f"{nest.type} s = {r.choice(('0', result))};"]
        nest.lines += [nest.loop("k", "0", str(terms)), f"s += {term};", "}"]
        nest.lines += [f"{result} {r.choice(('=', '+='))} s;"]
    else:
        nest.lines += [
            f"{result} = 0;",
            nest.loop("k", "0", str(terms)),
            f"{result} += {term};",
            "}",
        ]
    nest.close(3)


def triangles(nest: Nest) -> None:
    """Products and sums of a part of a matrix, by a condition or by the bounds of loops."""
    r = nest.r
    nest.type = r.choice(("int", "double"))
    a, b = nest.array("a", "n", "n"), nest.array("b", "n", "n")
    c = nest.array("c", "n", "n", written=True)
    a.form, b.form, c.form = (r.choice(("linear", "parts", "vla", "rows")) for _ in "abc")
    condition = r.choice(("i <= j", "j < i", "i != j", "(i + j) % 2 == 0", "i + j < n", ""))
    low, high = ("0", "n") if condition else r.choice((("i", "n"), ("0", "i + 1"), ("i + 1", "n")))
    second = r.choice((a.at("i", "k"), a.at("k", "i"))), r.choice((b.at("k", "j"), b.at("j", "k")))
    nest.lines = nest.outer("i", "n")
    nest.lines += [*nest.inner_directive(1), nest.loop("j", low, high)]
    inside = [
        f"{nest.type} s = 0;",
        nest.loop("k", *r.choice((("0", "n"), ("0", "i + 1"), ("j", "n")))),
    ]
    if r.random() < 0.2:
        inside.append(f"if (k != {r.choice('ij')})")
    inside += [
        f"s += {second[0]} * {second[1]};",
        "}",
        f"{c.at('i', 'j')} {r.choice(('=', '+='))} s;",
    ]
    nest.lines += [f"if ({condition}) {{", *inside, "}"] if condition else inside
    nest.close(2)


def counters(nest: Nest) -> None:
    """Arrays that atomic updates change, of constant sizes or of sizes known at run time."""
    r = nest.r
    keys = nest.array("k", "n", 6, type="int")
    found = [
        nest.array(f"h{position}", size, type=r.choice(("int", "float")), written=True)
        for position, size in enumerate(
            r.choice(("4", "3 * n + 1", "n + 1", "64")) for _ in range(r.randint(1, 3))
        )
    ]
    for each in found:
        each.form = "array" if each.extents[0].isdigit() else "linear"
    nest.explicit = True
    nest.lines = nest.outer("i", "n")
    nest.lines += [
        *nest.inner_directive(1),
        nest.loop("q", "0", "6"),
        f"int v = {keys.at('i', 'q')};",
    ]
    for each in found:
        update = r.choice(("{} += v;", "{}++;", "{} -= 2;", "{} += v * 2 + 1;"))
        guard = r.choice(("", "", "if (v > 3) ", "if (i != 2) "))
        target = f"{each.name}[v * 5 % ({each.extents[0]})]"
        nest.lines += [f"{guard}{{", "#pragma acc atomic update", update.format(target), "}"]
    nest.close(2)


def extremes(nest: Nest) -> None:
    """The largest or smallest element of each row, where it is, and how many there are."""
    r = nest.r
    nest.type = r.choice(NUMBERS)
    a = (
        nest.array("a", "n", "n")
        if r.random() < 0.5
        else nest.array("a", "n", r.choice((3, 7, 40)))
    )
    if a.extents[1] == "n":
        a.form = r.choice(("linear", "parts", "vla", "rows"))
    best = nest.array("b", "n", written=True)
    where = nest.array("p", "n", type="int", written=True)
    order = r.choice((">", "<", ">=", "<="))
    start = r.choice((a.at("i", "0"), "3", "-1"))
    nest.lines = nest.outer("i", "n")
    nest.lines += [f"{nest.type} e = {start};", f"int at = {r.choice(('0', '-1'))};"]
    nest.lines.append(nest.loop("j", r.choice(("0", "1")), a.extents[1]))
    element = a.at("i", "j")
    form = r.randrange(4)
    if form == 0:
        nest.lines.append(f"if ({element} {order} e) {{ e = {element}; at = j; }}")
    elif form == 1:
        nest.lines += [
            f"{nest.type} x = {element} * 2 - 5;",
            f"if (e {order} x) {{ at = (int)j; e = x; }}",
        ]
    elif form == 2:
        nest.lines.append(
            f"at = {element} {order} e ? j : at; e = {element} {order} e ? {element} : e;"
        )
    else:
        nest.lines.append(f"e = {element} {order} e ? {element} : e; at += {element} == e;")
    nest.lines += ["}", f"{best.at('i')} = e; {where.at('i')} = at;"]
    nest.close(1)


def ordered_sums(nest: Nest) -> None:
    """Several loops over each row whose sums depend on the order of additions."""
    r = nest.r
    nest.type = r.choice(("float", "double"))
    length = r.choice(("n", 33, 70, 6))
    a = nest.array("a", "n", length, written=True)
    if length == "n":
        a.form = r.choice(("linear", "parts", "vla", "rows"))
    b, result = nest.array("b", "n"), nest.array("s", "n", written=True)
    t = nest.type
    nest.lines = nest.outer("i", "n")
    nest.lines += [f"{t} s = 0, q = {b.at('i')};", nest.loop("j", "0", str(length))]
    element = a.at("i", "j")
    nest.lines += [f"s += {element} / 3;", r.choice(("", f"q += {element} * {element};")), "}"]
    if r.random() < 0.7:
        nest.lines += [f"{t} mean = s / ({length} + 1);", nest.loop("j", "0", str(length))]
        nest.lines += [
            r.choice(
                (
                    f"q += ({element} - mean) * ({element} - mean);",
                    f"if ({element} > mean) q -= {element} / 7;",
                )
            ),
            "}",
        ]
    if r.random() < 0.6:
        nest.lines += [nest.loop("j", "0", str(length))]
        nest.lines += [r.choice((f"{element} = ({element} - s) / 3;", f"{element} += q / 5;")), "}"]
    nest.lines += [f"{result.at('i')} = {r.choice(('s + q', 'q', 's'))};"]
    nest.close(1)


def private_arrays(nest: Nest) -> None:
    """A small array of each iteration: filled, changed in place by loops, and used."""
    r = nest.r
    nest.type = t = r.choice(NUMBERS)
    size = r.randint(2, 9)
    a = nest.array("a", "n", size)
    c = nest.array("c", "n", size, written=True)
    outside = r.random() < 0.4
    nest.lines = nest.outer("i", "n", " private(w)" if outside else "")
    if outside:
        nest.early.append(f"{t} w[{size}];")
    else:
        nest.lines.append(f"{t} w[{size}];")
    nest.lines += [nest.loop("j", "0", str(size)), f"w[j] = {a.at('i', 'j')};", "}"]
    change = r.randrange(4)
    if change == 0:  # sorts
        nest.lines += [
            nest.loop("j", "1", str(size)),
            f"{t} x = w[j]; int z = j - 1;",
            "while (z >= 0 && w[z] > x) { w[z + 1] = w[z]; z--; }",
            "w[z + 1] = x;",
            "}",
        ]
    elif change == 1:  # prefix sums
        nest.lines += [nest.loop("j", "1", str(size)), "w[j] += w[j - 1];", "}"]
    elif change == 2:  # rotates
        nest.lines += [
            f"{t} x = w[0];",
            nest.loop("j", "0", str(size - 1)),
            "w[j] = w[j + 1];",
            "}",
            f"w[{size - 1}] = x;",
        ]
    else:  # a subscript that is known at run time
        nest.lines += [f"w[i % {size}] += 3;", f"w[(i + 1) % {size}] = w[{size - 1}] * 2;"]
    nest.lines += [
        nest.loop("j", "0", str(size)),
        f"{c.at('i', 'j')} {r.choice(('=', '+='))} w[j] + w[{size - 1} - j];",
        "}",
    ]
    nest.close(1)


def checkerboards(nest: Nest) -> None:
    """Points of one colour are changed in place from those of the other one."""
    r = nest.r
    nest.type = r.choice(("int", "double"))
    a = nest.array("a", "n", "n", written=True)
    a.form = r.choice(("linear", "parts", "vla", "rows"))
    nest.counter = r.choice(("int", "long"))
    colour = r.randrange(2)
    if nest.construct == "kernels":
        nest.construct = "kernels loop independent"
    strided = r.random() < 0.5
    nest.explicit = nest.explicit or strided  # where rows begin is not known outside of the loop
    nest.lines = nest.outer("y", "n - 2")
    nest.lines[-1:] = [nest.lines[-1], f"{nest.counter} i = y + 1;"]
    directive = nest.inner_directive(1)
    near = " + ".join(
        a.at(*s) for s in (("i - 1", "j"), ("i + 1", "j"), ("i", "j - 1"), ("i", "j + 1"))
    )
    change = f"{a.at('i', 'j')} = {a.at('i', 'j')} * 2 + {near};"
    if strided:
        nest.lines += [*directive, nest.loop("j", f"1 + (i + {colour}) % 2", "n - 1", 2), change]
    else:
        nest.lines += [
            *directive,
            nest.loop("j", "1", "n - 1"),
            f"if ((i + j) % 2 == {colour})",
            change,
        ]
    nest.close(2)


def records(nest: Nest) -> None:
    """Arrays of structures, structures as variables, and functions of structures."""
    r = nest.r
    nest.type = "float"
    name = "struct v"
    a = nest.array("a", "n", 3, type=name)
    c = nest.array("c", "n", 3, type=name, written=True)
    operation = r.choice(("add", "twist"))
    nest.lines = nest.outer("i", "n")
    nest.lines += [*nest.inner_directive(1), nest.loop("j", "0", "3")]
    element, result = a.at("i", "j"), c.at("i", "j")
    form = r.randrange(4)
    if form == 0:
        nest.lines.append(f"{result} = {operation}({element}, {result});")
    elif form == 1:
        nest.lines += [
            f"{name} t = {element};",
            f"t.x += {result}.y; t.z[1] = t.x * 2;",
            f"{result} = t;",
        ]
    elif form == 2:
        nest.lines += [
            f"{name} *p = &{result};",
            f"p->x = {element}.x * 3; p->z[i % 2] += {element}.y;",
        ]
    else:
        nest.lines += [
            f"{name} s = {{0, 1, {{2, 3}}}};",
            nest.loop("q", "0", "3"),
            f"s = {operation}(s, {a.at('i', 'q')});",
            "}",
            f"{result} = s;",
        ]
    nest.close(2)


def recurrences(nest: Nest) -> None:
    """Recurrences along the rows or columns of a matrix, one for each parallel iteration."""
    r = nest.r
    nest.type = r.choice(("float", "double"))
    a, b = nest.array("a", "n", "n", written=True), nest.array("b", "n", "n")
    c = nest.array("c", "n", "n", written=True)
    for each in (a, b, c):
        each.form = r.choice(("linear", "parts", "vla", "rows"))
    nest.counter = r.choice(("int", "long"))

    def at(array: Array, step: str, *, turned: bool = r.random() < 0.5) -> str:
        return array.at("i", step) if turned else array.at(step, "i")

    nest.lines = nest.outer("i", "n")
    nest.lines += [nest.loop("k", "1", "n").replace("n - 1; k >= 1; k--", "1; k < n; k++")]
    nest.lines += [
        f"{nest.type} f = {at(b, 'k')} / 4;",
        f"{at(c, 'k')} = f - {at(c, 'k - 1')} / 3;",
    ]
    nest.lines += [
        f"{at(a, 'k')} = {at(a, 'k - 1')} * f + {r.choice((at(b, 'k - 1'), at(c, 'k')))};",
        "}",
    ]
    if r.random() < 0.5:
        nest.lines += [
            "for (int z = n - 2; z >= 0; z--)",
            f"{at(a, 'z')} -= {at(c, 'z')} * {at(a, 'z + 1')} / 8;",
        ]
    nest.close(1)


def stencils(nest: Nest) -> None:
    """Stencils on a grid, with loops over a neighbourhood of constant size, in two or three dimensions."""
    r = nest.r
    nest.type = r.choice(NUMBERS)
    deep = r.random() < 0.4
    extents = ("n + 2", "n + 2", "7") if deep else ("n + 2", "n + 2")
    a, c = nest.array("a", *extents), nest.array("c", *extents, written=True)
    for each in (a, c):
        each.form = r.choice(("vla", "vla", "rows"))
        each.extents = tuple("MOST" if e == "n + 2" else e for e in extents)
    near = r.randint(2, 3)
    last = ["h"] if deep else []

    def at(array: Array, i: str, j: str) -> str:
        return array.at(i, j, *last)

    nest.lines = [*nest.outer("i", "n"), *nest.inner_directive(1), nest.loop("j", "0", "n")]
    nest.lines += [*nest.inner_directive(2), nest.loop("h", "0", "7")] if deep else []
    if r.random() < 0.5:
        loops = f"for (int p = 0; p < {near}; p++) for (int q = 0; q < {near}; q++)"
        nest.lines += [f"{nest.type} s = 0;", loops]
        nest.lines += [
            f"s += {at(a, 'i + p', 'j + q')} * (p + 2 * q - 1);",
            f"{at(c, 'i', 'j')} = s;",
        ]
    else:
        value = f"{at(a, 'i + 2', 'j')} + {at(a, 'i', 'j + 1')} - {at(c, 'i', 'j')}"
        nest.lines.append(f"{at(c, 'i', 'j')} = {value};")
    nest.close(3 if deep else 2)


Kind = Callable[[Nest], None]

KINDS: tuple[Kind, ...] = (
    small_products,
    triangles,
    counters,
    extremes,
    ordered_sums,
    private_arrays,
    checkerboards,
    records,
    recurrences,
    stencils,
)

HEAD = """#include <stdio.h>
#include <stddef.h>
#define MOST 44
struct v { float x, y, z[2]; };
static inline struct v add(struct v a, struct v b) { a.x += b.x; a.y -= b.z[0]; a.z[1] = b.y; return a; }
static struct v twist(struct v a, struct v b) { struct v c = {b.y, a.x * 2, {a.z[1], b.z[0] + 1}}; return c; }
static void fill_i(int *x, long n, int m) { for (long z = 0; z < n; z++) x[z] = z * 7 % m; }
static void fill_f(float *x, long n, int m) { for (long z = 0; z < n; z++) x[z] = z * 7 % m; }
static void fill_d(double *x, long n, int m) { for (long z = 0; z < n; z++) x[z] = z * 7 % m; }
static unsigned long hash(const unsigned char *x, long bytes)
{
    unsigned long h = 5;
    for (long z = 0; z < bytes; z++) h = h * 31 + x[z];
    return h;
}
"""


def make_kinds(seed: int, count: int, only: Kind | None = None) -> str:
    """A program of `count` nests of all kinds, or of one, that prints a line for each size of each."""
    r = random.Random(seed)
    text: list[str] = [HEAD]
    for number in range(count):
        nest = Nest(r, number)
        (only or KINDS[number % len(KINDS)])(nest)
        text += nest.text()
    calls = " ".join(f"run{number}(n);" for number in range(count))
    sizes = ", ".join(map(str, SIZES))
    return "\n".join(
        [
            *(line for line in text if line),
            "int main(void) {",
            f"static const int sizes[] = {{{sizes}}};",
            f"for (int x = 0; x < {len(SIZES)}; x++) {{ int n = sizes[x]; {calls} }}",
            "}",
            "",
        ]
    )
