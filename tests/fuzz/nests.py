"""
Random nests of two or three parallel loops over arrays whose dimensions are in any order.

A program has some nests, each a function with random bounds (constants or parameters), counter types, steps
and directions, levels and `collapse` at random places, a reduction, and variables of an iteration. Iterations
are independent, and all numbers are integers, so that gcc, which ignores the directives, prints the result.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

EXTENTS = (1, 2, 3, 5, 7, 16, 33, 40)
MOST = 6000
TYPES = ("int", "int", "long", "unsigned long", "short")
LEVELS = ("", "", " gang", " gang worker", " gang num_workers(4) vector_length(32)")
LANES = (" gang vector", " vector", *LEVELS)


@dataclass(frozen=True)
class _Loop:
    """A loop of a nest: its variable, whether its extent is a parameter, and what the C text says."""

    name: str
    extent: int
    known: bool
    header: str


def _loop(r: random.Random, name: str, extent: int) -> _Loop:
    known, kind = r.random() < 0.4, r.choice(TYPES)
    end, low, step = str(extent) if known else f"n{name}", r.choice((0, 0, 1)), r.choice((1, 1, 2))
    header = f"for ({kind} {name} = {low}; {name} < {end}; {name} += {step})"
    if "unsigned" not in kind and r.random() < 0.15:
        header = f"for ({kind} {name} = {end} - 1; {name} >= {low}; {name} -= {step})"
    return _Loop(name, extent, known, header)


def _extents(r: random.Random, depth: int) -> list[int]:
    while True:
        extents = [r.choice(EXTENTS) for _ in range(depth)]
        product = 1
        for extent in extents:
            product *= extent
        if product < MOST:
            return extents


def _directives(r: random.Random, depth: int, clauses: str, data: str) -> list[str]:
    """A directive for each loop, outermost first; empty where there is none."""
    kernels, form = r.random() < 0.3, r.choice(("loops", "collapse", "outermost", "partial"))
    alone = form in ("collapse", "outermost")
    level = r.choice(LANES if alone else LEVELS)
    inner = r.choice(("", " vector")) if "gang" in level else ""
    construct = "kernels loop independent" if kernels else "parallel loop"
    if kernels:
        level = level.partition(" num_workers")[0]
    collapsed = {"collapse": depth, "partial": depth - 1}.get(form, 1)
    collapse = f" collapse({collapsed})" if collapsed > 1 else ""
    found = [f"#pragma acc {construct}{collapse}{level}{clauses}{data}"]
    for position in range(1, depth):
        lanes = inner if position == depth - 1 else ""
        own = " independent" if kernels else ""
        none = alone or position < collapsed
        found.append("" if none else f"#pragma acc loop{own}{lanes}{clauses}")
    return found


def _nest(r: random.Random, number: int) -> tuple[str, str]:
    """The function of a nest, and the statements that call it and print what it does."""
    depth = r.choice((2, 2, 3))
    loops = [_loop(r, v, n) for v, n in zip("ijk", _extents(r, depth), strict=False)]
    orders = [r.sample(loops, depth) for _ in "ab"]
    dimensions = ["".join(f"[{loop.extent + 2}]" for loop in order) for order in orders]
    written = f"a{number}" + "".join(f"[{loop.name}]" for loop in orders[0])
    shift = [r.choice(("", " + 1")) for _ in loops]
    read = f"b{number}" + "".join(f"[{o.name}{s}]" for o, s in zip(orders[1], shift, strict=True))
    reduces, own = r.random() < 0.3, r.choice(("none", "private", "between"))
    clauses = (" reduction(+:sum)" if reduces else "") + (" private(t)" if own == "private" else "")
    data = f" copy(a{number}) copyin(b{number})"
    directives = _directives(r, depth, clauses, data)
    between = own == "between" and "collapse" not in directives[0]
    text = [f"static int a{number}{dimensions[0]}, b{number}{dimensions[1]};"]
    text += [f"static long s{number};", f"static void f{number}("]
    text += [
        ", ".join(f"int n{loop.name}" for loop in loops) + ")",
        "{",
        "long sum = 0; int t = 0;",
    ]
    for position, (directive, loop) in enumerate(zip(directives, loops, strict=True)):
        text += [directive, loop.header + " {"]
        if position == 0 and between:
            text.append(f"int u = (int){loop.name} * 3 + 1;")
    some = r.choice(loops).name
    if own == "private":
        text.append(f"t = {read} * 2; {written} += t + (int){some};")
    else:
        text.append(
            f"{written} = {written} * 3 + {read} + {'u' if between else '2'} * (int){some};"
        )
    if reduces:
        text.append(f"sum += {written} % 17;")
    text += ["}" * depth, f"s{number} = sum; (void)t; }}"]
    call = f"f{number}({', '.join(str(loop.extent) for loop in loops)});"
    show = f'printf("{number} %lx %ld\\n", hash((int *)a{number}, sizeof a{number}), s{number});'
    fill = f"fill((int *)a{number}, sizeof a{number}, 13); fill((int *)b{number}, sizeof b{number}, 11);"
    return "\n".join(line for line in text if line), f"{fill} {call} {show}"


HEAD = """#include <stdio.h>
static void fill(int *x, long bytes, int m) { for (long z = 0; z < bytes / 4; z++) x[z] = z * 7 % m; }
static unsigned long hash(int *x, long bytes)
{
    unsigned long h = 5;
    for (long z = 0; z < bytes / 4; z++)
        h = h * 31 + x[z];
    return h;
}
"""


def make_nests(seed: int, count: int) -> str:
    """A program of `count` nests that prints a line for each."""
    r = random.Random(seed)
    parts = [_nest(r, number) for number in range(count)]
    calls = "\n".join(calls for _, calls in parts)
    return HEAD + "\n".join(text for text, _ in parts) + f"\nint main(void) {{\n{calls}\n}}\n"
