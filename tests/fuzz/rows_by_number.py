"""
Random nests whose subscripts come from arithmetic on a counter, written as in C89 or C99.

Two kinds of function: loops over the elements of rows, whose variable is divided by lengths of any integer
type that are parameters, globals, members or computed in the construct; and loops that set a scalar which an
inner loop reduces, in branches or not, with counters declared at the top or in the loop. All numbers are
integers, so that gcc, which ignores the directives, prints the result.
"""

from __future__ import annotations

import random

from .nests import HEAD

COUNTERS = ("int", "int", "long", "unsigned", "size_t", "short")
LENGTHS = ("int", "size_t", "unsigned", "long", "long long", "short")
_GLOBALS = """#include <stdlib.h>
static long long wide = 150;
static struct shape { int n; size_t m; unsigned k; } g = {7, 160, 3};
static int x[4000], y[4000];
"""
_LEVELS = ("", "", " gang vector", " gang", " gang worker vector")


def _length(r: random.Random, kind: str) -> tuple[str, str]:
    """
    A length that is at least 1 for a width from 120 to 400, and a declaration in the loop that it needs.
    """
    found = r.choice(
        (
            "w",
            "w",
            "(w - 2)",
            "(w / 2 + 1)",
            "(w * 2)",
            "(w + k)",
            "(int)(w / 10 + 1)",
            "wide",
            "(wide + k)",
            "g.m",
            "(g.m - 1)",
            "(k * 128L)",
            "(1 << 7)",
            "(k > 2 ? w : w + 1)",
            "128u",
        )
    )
    if r.random() < 0.3:
        return "d", f"const {r.choice((kind, 'int', 'long'))} d = {found};"
    return found, ""


def _numbered(r: random.Random, number: int) -> tuple[str, str]:
    """A function with loops over elements of rows, and its call."""
    width, kind = r.randint(120, 400), r.choice(LENGTHS)
    size = width * r.randint(1, 9) + r.choice((0, 0, 0, 1))
    loops = r.choice((1, 1, 1, 2))
    data = f"copy(a[0:{size}], b[0:{size}])"
    construct = r.choice(("parallel", "parallel", "kernels"))
    text = [f"static void f{number}(int *restrict a, int *restrict b, int n, {kind} w, int k)", "{"]
    early = r.random() < 0.4
    counters = [r.choice(COUNTERS) for _ in range(loops)]
    if early:
        text += [f"{c} e{p};" for p, c in enumerate(counters)] + ["int t;"]
    combined = loops == 1 and r.random() < 0.6
    if not combined:
        text += [f"#pragma acc {construct} {data}", "{"]
    for position, counter in enumerate(counters):
        e, to = f"e{position}", "ab"[position]
        length, declared = _length(r, kind)
        level = r.choice(_LEVELS) + (" independent" if construct == "kernels" else "")
        level = level if construct == "parallel" else level.replace(" worker", "")
        head = (
            f"#pragma acc {construct} loop{level} {data}"
            if combined
            else f"#pragma acc loop{level}"
        )
        end = r.choice(("n", "n", str(size), "(n - 1)", "(w * (n / w))", "n / 2 * 2"))
        if r.random() < 0.2:
            length2 = f"({length} * 2)"
            value = f"{e} / {length2} * 7 + {e} / {length} % 2 * 3 + {e} % {length}"
        else:
            value = r.choice(
                (
                    "{e} % {d}",
                    "{e} / {d}",
                    "{e} / {d} * 3 + {e} % {d}",
                    "({e} % {d} == 0 ? 5 : {e} / {d})",
                    "{e} % {d} + {e} % 128",
                )
            ).format(e=e, d=length)
        own = "" if early else f"{counter} "
        inside = [declared, f"{to}[{e}] = (int)({value}) + {to}[{e}];"]
        if r.random() < 0.2:
            inside[1] = f"for (int q = 0; q < k; q++) {to}[{e}] += (int)({value}) * q;"
        if early and r.random() < 0.4:
            head += " private(t)"
            inside[1] = f"t = (int)({value}); {to}[{e}] += t;"
        text += [head, f"for ({own}{e} = 0; {e} < {end}; {e}++) {{", *inside, "}"]
    if not combined:
        text.append("}")
    text.append("}")
    call = f"f{number}(x, y, {size}, {width}, {r.randint(1, 4)});"
    return "\n".join(line for line in text if line), _shown(call, number, size)


def _shown(call: str, number: int, size: int) -> str:
    """The statements that make a call and print what it does to two arrays of ints."""
    fill = f"fill(x, 4 * {size}, 19); fill(y, 4 * {size}, 11);"
    show = f'printf("{number} %lx %lx\\n", hash(x, 4 * {size}), hash(y, 4 * {size}));'
    return f"{fill} {call} {show}"


_UPDATES = {
    "+": ("s += {v};", "s = s + {v};", "if ({v} > 3) s += {v};"),
    "max": ("if (s < {v}) s = {v};", "s = s > {v} ? s : {v};"),
    "min": ("if (s > {v}) s = {v};", "s = {v} < s ? {v} : s;"),
    "|": ("s |= {v};", "if ({v} & 1) s |= {v};"),
    "": ("s = s * 3 + {v};", "if (s < {v}) s = {v} - s;", "if ({v} > s) { s = {v}; b[o] = j; }"),
}


def _reduced(r: random.Random, number: int) -> tuple[str, str]:
    """A function with a loop that sets a scalar which an inner loop reduces, and its call."""
    operator = r.choice(tuple(_UPDATES))
    kind, counter = r.choice(("long", "int", "unsigned", "short")), r.choice(COUNTERS)
    rows, length = r.choice((1, 5, 25, 33, 70)), r.choice((3, 8, 23, 40))
    size = rows * length + 80
    early = r.random() < 0.7
    place = r.choice(
        (
            f"i * {length} + j",
            f"i + j * {rows}",
            "i * 1 + j * 7 % 9",
            "i * m + j",
            "j * p + i",
            "i + j",
        )
    )
    value = r.choice(
        (f"a[{place}]", f"a[{place}] * (int)j", f"(a[{place}] + a[i])", f"a[{place}] % 7")
    )
    update = r.choice(_UPDATES[operator]).replace("{v}", value)
    clause = f" reduction({operator}:s)" if operator else " seq"
    construct = r.choice(("parallel", "kernels"))
    data = f"copyin(a[0:{size}]) copy(b[0:{size}])"
    free = " independent" if construct == "kernels" and r.random() < 0.5 else ""
    private = " private(s, j)" if early and r.random() < 0.4 else ""
    text = [
        f"static void f{number}(const int *restrict a, int *restrict b, int n, int m, int p)",
        "{",
    ]
    text += [f"{kind} s = 3; {counter} i, j;"] if early else []
    combined = r.random() < 0.4
    if combined:
        text.append(f"#pragma acc {construct} loop{free}{private} {data}")
    else:
        text += [f"#pragma acc {construct} {data}", "{", f"#pragma acc loop{free}{private}"]
    own = "" if early else f"{counter} "
    step = r.choice(("i++", "i++", "i += 2"))
    text.append(f"for ({own}i = 0; i < {r.choice(('n', str(rows)))}; {step}) {{")
    text.append("s = 2;" if early else f"{kind} s = 2;")
    guard = r.choice(("", "", "", "if (a[i] > 2) "))
    text.append("const int o = (int)i;")
    for _ in range(r.choice((1, 1, 2))):
        text += ["{" if guard == "" else guard + "{"]
        text.append(f"#pragma acc loop{clause}" if r.random() < 0.6 else "")
        text.append(
            f"for ({own}j = 0; j < {r.choice(('m', str(length), 'm - 1'))}; j++) {{ {update} }} }}"
        )
    text.append(r.choice(("b[o] = s;", "b[o] += s % 91;", "b[i] = s * 3 + a[i];")))
    text += ["}"] + ([] if combined else ["}"]) + ["}"]
    call = f"f{number}(x, y, {rows}, {length}, {rows});"
    return "\n".join(line for line in text if line), _shown(call, number, size)


def make_numbered(seed: int, count: int) -> str:
    """A program of `count` functions that prints a line for each."""
    r = random.Random(seed)
    parts = [r.choice((_numbered, _reduced))(r, number) for number in range(count)]
    calls = "\n".join(calls for _, calls in parts)
    text = "\n".join(text for text, _ in parts)
    return f"{HEAD}{_GLOBALS}{text}\nint main(void) {{\n{calls}\n}}\n"
