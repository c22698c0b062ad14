"""
Random nests of the shapes that `promote-cache-to-shared` transforms: reductions and private variables on
any of the loops, code between them, bounds that depend on other loops, several sections of an array,
accesses to none of them, launch shapes by the user.

Every program defines `f(n, a, b, w, out)` on `int`s: `a` is read through directives, `b` written, `w` used
between the loops, and `out[0]` what is reduced. -DNO_CACHE compiles it without the directives.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

COLUMNS = 150
ROWS = 20

HEADER = """
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef NO_CACHE
#define CACHE(...)
#else
#define CACHE(...) PRAGMA(acc cache(__VA_ARGS__))
#endif
"""

CLAUSES = {
    "plain": "",
    "private": "private(t)",
    "sum": "reduction(+:s)",
    "maximum": "reduction(max:s)",
}
ENDS = {
    "plain": "{0} += t;",
    "private": "{0} = t + 1;",
    "sum": "s += t; {0} = t;",
    "maximum": "if (t > s) s = t; {0} = t;",
}
SHAPES = ("", "num_gangs(3)", "vector_length(64)", "vector_length(32) num_workers(2)")
INNER = ("", "#pragma acc loop seq", "#pragma acc loop seq reduction(+:t)")


@dataclass(frozen=True)
class Section:
    """`length` elements of a row from `j + offset`, in rows `i - around` to `i + around`."""

    offset: int
    length: int
    around: int

    def text(self, rows: bool) -> str:
        columns = f"[j{self.offset:+d}:{self.length}]"
        if not rows:
            return f"a{columns}"
        return f"a[i-{self.around}:{2 * self.around + 1}]{columns}"


def _sections(rng: random.Random, rows: bool) -> list[Section]:
    around = rng.choice((0, 0, 1, 2)) if rows else 0
    found = [Section(-rng.randint(0, 6), rng.randint(1, 9), around)]
    if rng.random() < 0.5:
        found.append(Section(rng.randint(7, 12), rng.randint(1, 5), around))
    return found


def _directives(rng: random.Random, sections: list[Section], rows: bool) -> str:
    texts = [section.text(rows) for section in sections]
    if rng.random() < 0.5:
        return f"CACHE({', '.join(texts)})"
    return "\n".join(f"CACHE({text})" for text in texts)


def _reads(rng: random.Random, sections: list[Section], rows: bool, inner: str) -> str:
    lines: list[str] = []
    for section in sections:
        row = f"[i{rng.randint(-section.around, section.around):+d}]" if rows else ""
        element = f"a{row}[j{section.offset:+d}+k]"
        lines += [inner, f"for (int k = 0; k < {section.length}; k++) t += {element} * (k + 1);"]
    if rng.random() < 0.3:
        lines.append(f"t += a{'[i]' if rows else ''}[(j * 7 + 3) % {COLUMNS}];")
    return "\n".join(lines)


def _loops(rng: random.Random, rows: bool, clause: str) -> tuple[str, str]:
    """The loops around the directives, and what closes them."""
    shape, step = rng.choice(SHAPES), rng.choice((1, 1, 1, 2, 3))
    data = "copyin(a[0:n]) copy(b[0:n], w[0:n])"
    columns = f"for (int j = 8; j < {COLUMNS - 20}; j += {step}) {{"
    outer = "for (int i = 2; i < 12; i++)"
    if not rows:
        return f"#pragma acc parallel loop {clause} {shape} {data}\n{columns}", "}"
    free = f"#pragma acc parallel loop {clause} {shape} {data}\n{outer} {{"
    gang = f"#pragma acc parallel loop gang {clause} {shape} {data}\n{outer} {{"
    match rng.choice(("collapse", "nest", "reads", "triangle", "writes")):
        case "collapse":
            first = f"#pragma acc parallel loop collapse(2) {clause} {shape} {data}"
            return f"{first}\n{outer}\n{columns}", "}"
        case "nest":
            return f"{free}\n#pragma acc loop {clause}\n{columns}", "}}"
        case "reads":
            end = columns.replace(f"{COLUMNS - 20};", f"{COLUMNS - 20} - q % 3;")
            return f"{free}\nint q = w[i] * 2;\n#pragma acc loop {clause}\n{end}", "}}"
        case "triangle":
            start = columns.replace("j = 8;", "j = 8 + i;")
            return f"{gang}\n#pragma acc loop vector {clause}\n{start}", "}}"
        case _:
            inside = f"w[i] = w[i] + 3;\n#pragma acc loop vector {clause}\n{columns}"
            return f"{gang}\n{inside}", "}\nw[i] *= 2; }"


def program(seed: int) -> tuple[str, bool]:
    """A program, and whether its arrays have rows."""
    rng = random.Random(seed)
    rows = rng.random() < 0.6
    kind = rng.choice(tuple(CLAUSES))
    inner = rng.choice(
        INNER[:2] if kind == "private" else (*INNER, "#pragma acc loop reduction(+:t)")
    )
    sections = _sections(rng, rows)
    loops, ends = _loops(rng, rows, CLAUSES[kind])
    array = f"(*restrict {{}})[{COLUMNS}]" if rows else "*restrict {}"
    parameters = ", ".join(f"int {array.format(name)}" for name in "ab")
    body = "\n".join(
        (
            loops,
            _directives(rng, sections, rows),
            "t = 0;" if kind == "private" else "int t = 0;",
            _reads(rng, sections, rows, inner),
            ENDS[kind].format("b[i][j]" if rows else "b[j]"),
            ends,
        )
    )
    declared = "int s = 5, t;" if kind == "private" else "int s = 5;"
    head = f"void f(int n, {parameters}, int *restrict w, int *restrict out)"
    return f"{HEADER}\n{head}\n{{\n{declared}\n{body}\nout[0] = s;\n}}\n", rows
