"""
Random loops over rows: tight nests of two or three loops, and rows beside other statements, called with
several row lengths, so that each version of a construct runs.

Iterations are independent, and all numbers are small integers (also as float and double), so that sums are
exact and gcc, which ignores the directives, prints the result.
"""

from __future__ import annotations

import random

LENGTHS = (0, 1, 3, 9, 20, 130)
ROWS = (1, 13)
MOST = 13 * 136
"""Elements of an array: the most rows, each with a few elements that no loop accesses."""
BEFORE = (
    "",
    "r[i] = i % 5;",
    "T w = c[i] > 2 ? c[i] : 1;",
    "T w = 0; if (c[i] > 2) w = c[i] * 2;",
    "T w = (T)fabs((double)c[i]);",
    "r[i] += c[i]; T w = r[i] % Q;",
)
"""Statements before the loops of a row; a `w` is a value of the row."""
STORES = (
    "a[AT] = F * b[AT];",
    "a[AT] = F + b[AT] * (T)(j % 3);",
    "if (b[AT] > 3) a[AT] += F;",
    "p[AT].x += p[AT].y + F;",
    "a[AT] = b[AT] + b[AT + 1] - F;",
)
SUMS = ("s += b[AT] * F;", "if (b[AT] > 2) s += j;", "s = b[AT] > s ? b[AT] : s;")
DIRECTIVES = (
    ("parallel loop", ""),
    ("parallel loop", "loop"),
    ("parallel loop gang", "loop vector"),
    ("parallel loop gang num_workers(4) vector_length(32)", "loop vector"),
    ("parallel loop gang worker num_workers(8) vector_length(16)", "loop vector"),
    ("parallel loop num_workers(16) vector_length(4)", "loop"),
    ("parallel loop gang vector", ""),
    ("kernels loop independent", "loop independent"),
)
"""Directives of the outermost loop and of the loops over rows (none: found to be parallel)."""


def _row(r: random.Random, stride: str, store: bool, value: str, inner: str) -> list[str]:
    """A loop over a row, with its directive; rows begin `stride` elements after one another."""
    at = f"i * {stride} + j"
    bounds = (("0", "m"), ("0", "m"), ("1", "m - 1"), ("first", "m"), ("0", "l"))
    low, high = ("0", "L") if stride == "L" else r.choice(bounds)
    body = r.choice(STORES if store else SUMS)
    operator = "max" if "b[AT] : s" in body else "+"
    kind = r.choice(("int", "int", "long"))
    loop = f"for ({kind} j = {low}; j < {high}; j++) {{ {body} }}"
    clause = "" if store or not inner else f" reduction({operator}:s)"
    text = [f"#pragma acc {inner}{clause}"] if inner else []
    return [*text, loop.replace("AT", at).replace("F", value)]


def _nest(r: random.Random, number: int) -> list[str]:
    """A function `f<number>`; `L` is a constant length of a row."""
    outer, inner = r.choice(DIRECTIVES)
    type_ = r.choice(("int", "float", "double"))
    before = r.choice(BEFORE)
    modulo = before.replace("r[i] % Q", "r[i]" if type_ != "int" else "r[i] % 7")
    value = "w" if " w = " in before else r.choice(("2", "c[i]"))
    stride = r.choice(("m", "m", "m", "(m + 3)", "L"))
    rows = [_row(r, stride, r.random() < 0.6, value, inner) for _ in range(r.choice((1, 1, 2)))]
    sums = any("s += " in line or "> s ?" in line for row in rows for line in row)
    begin = [modulo, *(["T s = 1;"] if sums else [])]
    end = ["r[i] = s;"] if sums else [r.choice(("", "", "r[i] += 2;"))]
    data = "copy(a[0:MOST], r[0:MOST], p[0:MOST]) copyin(b[0:MOST + 1], c[0:MOST])"
    heads = [f"#pragma acc {outer} {data}", "for (int i = 0; i < n; i++) {"]
    if r.random() < 0.2:
        own = inner.partition(" ")[0] and "loop" + (" independent" if "kernels" in outer else "")
        heads = [
            heads[0],
            "for (int k = 0; k < 2; k++)",
            *([f"#pragma acc {own}"] if own else []),
            "for (int i0 = 0; i0 < n / 2; i0++) { int i = k * (n / 2) + i0;",
        ]
    arguments = (
        "int n, int m, int l, int first, T *restrict a, T *restrict b, T *restrict c, T *restrict r"
    )
    return [
        f"#define T {type_}",
        f"#define L {r.choice((3, 9, 12, 30))}",
        f"struct s{number} {{ T x, y; }};",
        f"static void f{number}({arguments}, struct s{number} *restrict p) {{",
        *heads,
        *begin,
        *(line for row in rows for line in row),
        *end,
        "} }",
        f"static void run{number}(int n, int m) {{",
        f"static T a[MOST], b[MOST + 1], c[MOST], r[MOST]; static struct s{number} p[MOST];",
        "for (int k = 0; k < MOST; k++) {",
        "a[k] = k % 5; b[k] = k * 7 % 11; c[k] = k * 3 % 5; r[k] = k % 3; p[k].x = k % 4; p[k].y = k % 6; }",
        f"f{number}(n, m, m > 5 ? m - 5 : m, m > 2, a, b, c, r, p);",
        "double s = 0, t = 0;",
        "for (int k = 0; k < MOST; k++) {",
        "s += a[k] * (k % 17 + 1) + b[k] * (k % 13);",
        "t += r[k] * (k % 31 + 3) + p[k].x * (k % 7 + 1) + p[k].y; }",
        f'printf("{number} %d %d %.1f %.1f\\n", n, m, s, t); }}',
        "#undef T",
        "#undef L",
    ]


def make_rows(seed: int, count: int) -> str:
    """A program of `count` nests that prints a line for each, each length, and each number of rows."""
    r = random.Random(seed)
    nests = [line for number in range(count) for line in _nest(r, number)]
    calls = "".join(f"run{number}(n, m); " for number in range(count))
    return "\n".join(
        [
            "#include <math.h>",
            "#include <stdio.h>",
            f"#define MOST {MOST}",
            *(line for line in nests if line),
            "int main(void) {",
            f"static const int lengths[] = {{{', '.join(map(str, LENGTHS))}}};",
            f"static const int rows[] = {{{', '.join(map(str, ROWS))}}};",
            f"for (int x = 0; x < {len(LENGTHS)}; x++) for (int y = 0; y < {len(ROWS)}; y++) {{",
            f"int m = lengths[x], n = rows[y]; {calls} }} }}",
            "",
        ]
    )
